/* kernels/divergence/divergence.h -- the recurrence of all its variants,
 * v = A v + C(branch), STEPS times, and the launchers of the CUDA ones. */
#pragma once
#include "labs/sweep.h"

enum {
    LAB_DIVERGENCE_BRANCHES = 32, /* at most: a warp's threads */
    LAB_DIVERGENCE_STEPS = 512,
    LAB_DIVERGENCE_BLOCK = 1024 /* by_warp: a block holds all 32 branches */
};
/* Near 1: after 512 steps a third of x is still there. */
#define LAB_DIVERGENCE_A 0.998f
#define LAB_DIVERGENCE_C(branch) ((float)((branch) + 1) / 1024.0f)
