/* cmd.h -- the commands: one cmd_<name>.c each, which ends with its row. */
#pragma once
#include "report/exit.h"

struct lab_cmd {
    const char *name;
    /* argv[0] is the name. Returns an exit code of docs/design.md section 8. */
    int (*run)(int argc, char **argv);
    const char *help; /* what follows the name, in --help */
};

extern const struct lab_cmd lab_cmd_config, lab_cmd_course, lab_cmd_doctor,
    lab_cmd_lab, lab_cmd_lesson, lab_cmd_profile, lab_cmd_run, lab_cmd_sim,
    lab_cmd_step, lab_cmd_table;

/* The screens: home, or the lesson that is named; with --plain, and for the
 * bare program without a terminal, lines of text. `nearest`: the command that a
 * word may have been meant to be, or NULL. */
int lab_cmd_open(int argc, char **argv,
                 const char *(*nearest)(const char *word));
