/* lab_vocabulary_words.h -- `lapenna-lab lab WORD` where WORD is no ladder. */
#pragma once
#include <stdbool.h>

/* A line of `lab --list`: a name, what it takes, what it is. */
#define LAB_BENCH_LINE "%-16s %-14s %s\n"

/* Such a line for each word that is no operation, tune and the sweeps too. */
void lab_bench_words_list(void);

/* Runs the command of argv[1], or of `conv --calls`; *code is its exit code.
 * false: argv[1] is no such word, and nothing has been done. */
bool lab_bench_word(int argc, char **argv, int *code);
