/* kernels/read_levels/levels.h -- what its variants share, and the launchers
 * of the CUDA ones. */
#pragma once
#include "labs/sweep.h"

/* Bytes that a size may read in all, rounds included: a few seconds of a GPU's
 * caches, minutes of a CPU's. */
#define LAB_LEVELS_BYTES ((int64_t)1 << 42)

enum {
    LAB_LEVELS_CHUNK = 16384, /* bytes that a block reads at a time */
    LAB_LEVELS_SCRATCH = 4096 /* a number for each block */
};

/* Chunks that a size reads in all: dim is BYTES, TIMES. At most 2^28. */
static inline int64_t lab_levels_chunks(const int64_t *dim)
{
    return dim[0] / LAB_LEVELS_CHUNK * dim[1];
}
