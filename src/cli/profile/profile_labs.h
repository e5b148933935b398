/* profile_labs.h -- what a run of kind lab measured, as `profile show` has it:
 * the rungs of a ladder and what was expected of them, what a tuning found
 * fastest, or the rows of a sweep. Nothing for other runs. */
#pragma once
#include "profile_print.h"

enum lab_status lab_profile_print_labs(const struct lab_profile_print *p,
                                       int64_t run);
