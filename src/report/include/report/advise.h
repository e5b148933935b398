/* advise.h -- the rules of profiler/advice.h on a step of the walk. */
#pragma once
#include "engine/snapshot.h"
#include "profiler/advice.h"
#include "store/live.h"

/* Calls `each` for the advice on kernel `kernel` of step `index` as it last ran, the
 * weightiest first; not when the kernel's record is not known. */
void lab_advise_kernel(struct lab_live *live, const struct lab_snapshot *snap,
                       int index, int kernel,
                       void (*each)(void *to, const char *text), void *to);
