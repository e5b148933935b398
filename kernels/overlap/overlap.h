/* kernels/overlap/overlap.h -- copy, compute, copy back: the recurrence of
 * all its variants, v = A v + C, and the launchers of the CUDA ones. */
#pragma once
#include "labs/sweep.h"

#define LAB_OVERLAP_A 0.998f
#define LAB_OVERLAP_C 0.001f
enum { LAB_OVERLAP_STEPS = 65536, LAB_OVERLAP_STREAMS = 8 /* at most */ };

/* How the note of a variant begins: what each part takes alone. `number` is "%.3f" to
 * write it, "%lf" to read it. */
#define LAB_OVERLAP_ALONE(number)                                              \
    "alone: in " number " + kernel " number " + out " number " ms"
