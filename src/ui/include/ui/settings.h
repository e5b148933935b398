/* ui/settings.h -- what the configuration file sets of the screens: the
 * sizes of the stepper's panes, keys, colours. Threads: the UI's. */
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "report/role.h"

enum { LAB_KEYS_SET_MOST = 64 };

struct lab_setting; /* debug/config.h */

struct lab_pane_sizes {
    int steps;  /* columns of the list of steps */
    int text;   /* of what is right of it, % for the lesson and the kernels */
    int tensor; /* % of the height for the tensor */
    int focus;  /* % that the pane in focus grows to; 0: it does not */
};

struct lab_ui_settings {
    struct lab_pane_sizes panes; /* 0: as they are without a file */
    struct lab_key_setting {
        int from;           /* this key ... */
        int to;             /* ... means that one */
        const char *screen; /* on the screen of that name; NULL: on all */
        const struct lab_setting *by; /* the line of the file */
    } keys[LAB_KEYS_SET_MOST];
    int n_keys;
    int colors[LAB_ROLE_COUNT]; /* 0xRRGGBB; -1: as the theme has them */
};

LAB_C_BEGIN
/* From the configuration file. LAB_E_PARSE with file and line. */
enum lab_status lab_ui_settings_read(struct lab_ui_settings *out);
/* The names that the function above reads, with what they are without a file;
 * NULL after the last. Names "key.X" and "color.X" come beside
 * them. */
const char *lab_ui_setting_name(int i, const char **without);
/* Whether it reads that name. */
bool lab_ui_setting_known(const char *name);
/* Names of the screens that have keys to set, "run", by number; NULL after the last. */
const char *lab_ui_setting_screen(int i);
/* What is set of a key on the screen of that name: for it alone before for all. NULL:
 * nothing. */
const struct lab_key_setting *
lab_ui_setting_key(const struct lab_ui_settings *s, const char *screen,
                   int key);
LAB_C_END
