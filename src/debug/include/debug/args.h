/* args.h -- the values of options, read alike for all commands. A wrong one ends
 * the program with LAB_EXIT_USAGE and says what is needed. */
#pragma once
#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* argp_parse() for the command `name` ("lapenna-lab run"), which messages and
 * --help then name as people have to type it: base/command.h. A wrong option
 * ends the program. Afterwards `argv` is in the order in which it was read,
 * options first; a parser keeps nothing of state->argv but its words. Not while
 * another one runs. Its messages show control characters
 * of the words and do not send them. Returns 0; without memory the program
 * ends with LAB_EXIT_MACHINE. */
int lab_args_parse(const struct argp *argp, int argc, char **argv,
                   const char *name, void *input);

/* A whole number of [least, most]; most INT64_MAX: no bound is told. */
int64_t lab_arg_number(const char *text, const char *option, int64_t least,
                       int64_t most, struct argp_state *state);
/* A GPU's number. */
int lab_arg_device(const char *text, struct argp_state *state);
/* A whole number of 64 bits. */
uint64_t lab_arg_seed(const char *text, struct argp_state *state);
/* One of the names, two or three, NULL behind them; returns `text`. */
const char *lab_arg_one_of(const char *text, const char *const *names,
                           const char *option, struct argp_state *state);
/* auto, cpu or cuda; returns `text`. */
const char *lab_arg_backend(const char *text, struct argp_state *state);
/* off, basic or full; returns `text`. */
const char *lab_arg_counters(const char *text, struct argp_state *state);
/* The same as a number from 0, where the caller says what is wrong. */
bool lab_arg_is_number(const char *text, int64_t *out);
