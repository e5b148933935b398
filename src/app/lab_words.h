/* lab_words.h -- `lapenna-lab lab WORD` where WORD is no ladder. */
#pragma once
#include <stdbool.h>

/* Runs the command of argv[1], or of `conv --calls`; *code is its exit code.
 * false: argv[1] is no such word, and nothing has been done. */
bool lab_lab_word(int argc, char **argv, int *code);
