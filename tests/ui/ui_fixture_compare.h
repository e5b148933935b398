/* ui_fixture_compare.h -- two runs side by side, for the screens' fixture. */
#pragma once
#include "ui/models.h"

enum lab_status fixture_load_compare(void *user, const int64_t run[2],
                                     const struct lab_compare_row **rows,
                                     int64_t *count, struct lab_doc *facts);
/* struct lab_runs_model.hint of a program that was called with --db. */
void fixture_hint(void *user, const char *const *words, struct lab_str *out);
