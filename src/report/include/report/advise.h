/* advise.h -- the rules of profiler/advice.h on a step of the walk, and on one of a
 * recorded run. */
#pragma once
#include "engine/snapshot.h"
#include "profiler/advice.h"
#include "report/roofline.h"
#include "store/live.h"

/* Calls `each` for the advice on kernel `kernel` of step `index` as it last ran, the
 * weightiest first; not when the kernel's record is not known. */
void lab_advise_kernel(struct lab_live *live, const struct lab_snapshot *snap,
                       int index, int kernel,
                       void (*each)(void *to, const char *text), void *to);
/* The same of a kernel of the run of `r`, in its step: all but what is of the time that
 * the host sees, which a run has no record of. */
void lab_advise_sum(const struct lab_roofline *r,
                    const struct lab_time_sum *step,
                    const struct lab_time_sum *kernel,
                    void (*each)(void *to, const char *text), void *to);
