/* profile_compare.h -- a comparison of two runs, printed. */
#pragma once
#include "profile_cmd.h"
#include "store/compare.h"

/* Whether --sort can be done. Errors: LAB_E_USAGE. */
enum lab_status lab_profile_compare_check(const struct lab_profile_options *o);
/* Tables of at most 80 columns: what differs, the iteration, nodes, steps,
 * kernels, and how to read them. */
enum lab_status lab_profile_compare_text(const struct lab_profile_options *o,
                                         const struct lab_comparison *c);
/* One "compare", a "difference" for each fact that differs, a "comparison" for
 * each row. */
enum lab_status lab_profile_compare_lines(const struct lab_comparison *c);
