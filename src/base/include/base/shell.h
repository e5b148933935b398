/* base/shell.h -- words as a shell reads them, in commands that people copy
 * from the screen. Threads: any. */
#pragma once
#include <stdbool.h>
#include "base/str.h"

LAB_C_BEGIN
/* Appends a word that sh, bash and zsh take for `word`: as it is where nothing
 * in it is special, else in single quotes. What a terminal would not show as it
 * is (control characters, bytes that are no UTF-8, with `ascii` all beyond
 * ASCII) is written as $'\ooo', which bash, zsh, ksh and busybox read, dash
 * not. */
void lab_shell_add_word(struct lab_str *out, const char *word, bool ascii);
LAB_C_END
