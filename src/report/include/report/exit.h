/* report/exit.h -- exit codes (docs/design.md, section 8) and messages on
 * standard error. Threads: one. */
#pragma once
#include <stdbool.h>
#include "base/error.h"

enum {
    LAB_EXIT_DONE = 0,
    LAB_EXIT_CHECK = 1,   /* a check or comparison failed */
    LAB_EXIT_USAGE = 2,   /* wrong usage */
    LAB_EXIT_INPUT = 3,   /* bad input: lesson, data, database */
    LAB_EXIT_MACHINE = 4, /* the machine lacks what was asked for */
    LAB_EXIT_SIGNAL = 128 /* plus the signal's number */
};

int lab_exit_code(enum lab_status st);
/* "COMMAND: <lab_error()>" on stderr, made safe for a terminal; returns the
 * exit code of `st`. Prints nothing when the reader of our output has gone. With
 * LAPENNA_LAB_ERRORS=json in the environment it is a line of JSON (docs/errors.md). */
int lab_exit_error(enum lab_status st);
/* The same with an exit code of the caller's, which it returns. */
int lab_exit_with(int code);
/* Does LAPENNA_LAB_ERRORS ask for JSON? */
bool lab_errors_are_json(void);
/* Prints the line of JSON; false: that is not asked for. */
bool lab_error_json(int code);
/* Which command the next messages are from: "lapenna-lab run". They begin with
 * it as base/command.h spells it, like those of argp: "./lab run: ...". */
void lab_warn_as(const char *name);
/* "COMMAND: ..." as a line on stderr. */
void lab_warn(const char *fmt, ...) LAB_PRINTF(1, 2);
/* The same for each line of a text. */
void lab_warn_lines(const char *text);
