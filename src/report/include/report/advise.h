/* advise.h -- the rules of profiler/advice.h on a step of the walk. */
#pragma once
#include "engine/snapshot.h"
#include "profiler/advice.h"
#include "store/live.h"

/* Advice on kernel `kernel` of step `index` as it last ran; returns how many,
 * 0 too when the kernel's record is not known. */
int lab_advise_kernel(struct lab_live *live, const struct lab_snapshot *snap,
                      int index, int kernel,
                      struct lab_advice out[LAB_ADVICE_COUNT]);
