/* profile_compare.h -- a comparison of two runs, printed. */
#pragma once
#include "profile_cmd.h"
#include "store/compare.h"
#include "report/text_table.h"

/* Which iterations they are; and why parts are not known: for each reason a
 * line, and one with the parts it is of. */
void lab_compare_wall_notes(const struct lab_comparison *c,
                            struct lab_str *out);
/* Second minus first; NaN: one is not known. */
double lab_compare_wall_difference(int64_t a, int64_t b);
