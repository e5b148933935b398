/* kernels/labs/sweep.h -- labs with a parameter in their sizes: a stride, a
 * size of block, a number of branches. */
#pragma once
#include "common/kernel.h"

/* Number `i` of the size that a variant is called with; a call's params are its
 * size (common/kernel.h). */
static inline int64_t lab_bench_dim(const struct lab_call *call, int i)
{
    return ((const int64_t *)call->params)[i];
}
