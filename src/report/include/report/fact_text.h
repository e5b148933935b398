/* report/fact_text.h -- a table of facts as text, JSON and CSV. Threads: one. */
#pragma once
#include <jansson.h>
#include "store/fact_table.h"

LAB_C_BEGIN
/* The rows as a grid of at most `width` columns: as it is; else turned, a line
 * a column; else in blocks, each with the key. Width 0: as long as they are. Heads are
 * bold where standard output is a terminal that may have styles. */
enum lab_status lab_fact_grid(const struct lab_fact_table *t, const int *shown,
                              int count, size_t width, struct lab_str *out);
/* Below it: formulas, what was changed, long texts, sources; lines to be
 * wrapped. */
void lab_fact_notes(const struct lab_fact_table *t, const int *shown, int count,
                    struct lab_str *out);
/* A sentence for the end of a lesson's text: the tables that are of it; nothing where
 * there is none. LAB_E_NOMEM. */
enum lab_status lab_fact_of_lesson_text(const char *lesson,
                                        struct lab_str *out);
/* {"type":"row","table":...}; NULL: no memory. */
json_t *lab_fact_json(const struct lab_fact_table *t, int row);
/* The head, and the rows. */
void lab_fact_csv(const struct lab_fact_table *t, const int *shown, int count,
                  struct lab_str *out);
LAB_C_END
