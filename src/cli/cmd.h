/* cmd.h -- the subcommands: one cmd_<name>.c each. Every one takes its own
 * argc and argv (argv[0] is its name) and returns an exit code of
 * docs/design.md section 8. */
#pragma once
#include "report/exit.h"

int lab_cmd_course(int argc, char **argv);
int lab_cmd_config(int argc, char **argv);
int lab_cmd_doctor(int argc, char **argv);
int lab_cmd_lab(int argc, char **argv);
int lab_cmd_lesson(int argc, char **argv);
int lab_cmd_profile(int argc, char **argv);
int lab_cmd_run(int argc, char **argv);
int lab_cmd_sim(int argc, char **argv);
int lab_cmd_step(int argc, char **argv);
int lab_cmd_table(int argc, char **argv);
/* The screens: home, or the lesson that is named; with --plain, and for the
 * bare program without a terminal, lines of text. */
/* `nearest`: the command that a word may have been meant to be, or NULL. */
int lab_cmd_open(int argc, char **argv,
                 const char *(*nearest)(const char *word));
