/* debug/config.h -- the configuration file, $XDG_CONFIG_HOME/lapenna-lab/config:
 * lines `name = value`, and lines that begin with '#'.
 *
 * A name is that of an option that options.def calls a setting, `theme`, a size of
 * a pane, or `key.NEW`, with the key that NEW means. What reads a setting
 * checks it: options.c, report/palette.h, ui/settings.h. Read once, kept until the
 * program ends. Threads: one. */
#pragma once
#include "base/status.h"

struct lab_setting {
    const char *name;
    const char *value;
    int line;
    int name_at; /* columns in the line, from 1, in bytes */
    int value_at;
};

struct lab_config {
    const char *path; /* "": there is no place for one */
    const struct lab_setting *list;
    int n; /* 0 where there is no file */
};

LAB_C_BEGIN
/* Errors: LAB_E_PARSE a line that is none, with file and line; LAB_E_IO a file
 * that cannot be read; LAB_E_NOMEM. */
enum lab_status lab_config_get(const struct lab_config **out);
/* The last setting of a name; NULL. */
const struct lab_setting *lab_config_find(const struct lab_config *config,
                                          const char *name);
/* LAB_E_PARSE: puts "FILE:LINE:COLUMN: ", of the value, before this thread's last
 * error. */
enum lab_status lab_config_fail_at(const struct lab_setting *setting);
/* LAB_E_PARSE with "FILE:LINE:COLUMN: TEXT", of the value, or of the name. */
enum lab_status lab_config_fail(const struct lab_setting *setting,
                                const char *fmt, ...) LAB_PRINTF(2, 3);
enum lab_status lab_config_fail_name(const struct lab_setting *setting,
                                     const char *fmt, ...) LAB_PRINTF(2, 3);
LAB_C_END
