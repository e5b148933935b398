/* lesson_print.h -- how `lapenna-lab lesson` prints. Threads: one. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include "debug/options.h"
#include "lesson/markdown.h"

/* Prints and drops `object`, one record a line. LAB_E_NOMEM also when it is
 * NULL. */
enum lab_status lab_lesson_put_json(const struct lab_options *o,
                                    json_t *object);
/* Text, in ASCII where that is asked for. */
void lab_lesson_put_text(const struct lab_options *o, FILE *out,
                         const char *text);
/* Wrapped at the terminal's width, or $COLUMNS; lines of more than 100 columns
 * are hard to read. */
enum lab_status lab_lesson_put_doc(const struct lab_options *o,
                                   const struct lab_md *doc);
enum lab_status lab_lesson_put_heading(const struct lab_options *o,
                                       const char *text, int level);
int lab_lesson_columns(void);
