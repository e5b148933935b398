/* profile_compare.h -- a comparison of two runs, printed. */
#pragma once
#include "profile_cmd.h"
#include "store/compare.h"
#include "report/text_table.h"

/* Whether --sort can be done. Errors: LAB_E_USAGE. */
enum lab_status lab_profile_compare_check(const struct lab_profile_options *o);
/* Tables of at most 80 columns: what differs, the iteration, nodes, steps,
 * kernels, and how to read them. */
enum lab_status lab_profile_compare_text(const struct lab_profile_options *o,
                                         const struct lab_comparison *c);
/* One "compare", a "difference" for each fact that differs, a "wall" for each
 * part of an iteration's wall time, a "comparison" for each row. */
enum lab_status lab_profile_compare_lines(const struct lab_comparison *c);

/* The table and what stands above it, on stdout; releases it. */
enum lab_status lab_compare_put(struct lab_text_table *t, const char *above,
                                bool ascii);
/* "+12.3 us", "-0.45 ms", in at most eight characters; NaN: "-". */
void lab_compare_add_difference(struct lab_text_table *t, double ns);

/* profile_compare_wall.c: where the wall time of an iteration goes, as a table
 * and as lines of JSON. */
enum lab_status lab_compare_wall_text(const struct lab_comparison *c,
                                      bool ascii);
enum lab_status lab_compare_wall_lines(const struct lab_comparison *c);
/* Which iterations they are; and why parts are not known: for each reason a
 * line, and one with the parts it is of. */
void lab_compare_wall_notes(const struct lab_comparison *c,
                            struct lab_str *out);
/* Second minus first; NaN: one is not known. */
double lab_compare_wall_difference(int64_t a, int64_t b);
