/* cpu/cpu_sets.h -- the CPU backend's kernel sets besides the reference. */
#pragma once
#include "kernel.h"

/* OpenBLAS, one thread: the same bits at every run. */
extern const struct lab_kernel_set lab_blas_sets[];
extern const int lab_blas_set_count;

/* oneDNN's sets when its module can be loaded, else *count = 0; the first call
 * loads it. Threads: any. */
const struct lab_kernel_set *lab_onednn_load(int *count);
/* Why it could not be loaded; "" when it was. */
const char *lab_onednn_missing(void);
