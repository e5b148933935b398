/* kernels/warps_fma/warps_fma.h -- the recurrence of all its variants, and
 * their launchers: v = A v + C, STEPS times. */
#pragma once
#include "labs/sweep.h"

enum { LAB_CHAIN_STEPS = 2048, LAB_CHAIN_WARPS = 64 /* at most */ };
#define LAB_CHAIN_A 0.9995f
#define LAB_CHAIN_C 0.00025f
