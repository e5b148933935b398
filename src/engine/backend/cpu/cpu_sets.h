/* cpu/cpu_sets.h -- the CPU's kernel tables of oneDNN, and its ceilings. (Those of
 * OpenBLAS are linked in: library/blas.h.)
 *
 * Rows have the variant name "onednn". They work on LAB_F32 views only and give
 * the same bits at every run: oneDNN is kept to one thread. Threads: any; calls
 * into oneDNN wait for each other. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
/* oneDNN: opens the module lapenna-lab-onednn.so at the first call (libdnnl
 * is 40 MB: slow from a cold disk) and remembers the answer. The tables live
 * until the program ends.
 * LAB_E_NOTFOUND      the module is not installed
 * LAB_E_UNSUPPORTED   it cannot be loaded, or is of another version
 * LAB_E_DEVICE        oneDNN itself refuses to start
 * On failure *sets is NULL and *count 0, and lab_error() has the reason, at
 * later calls too. */
enum lab_status lab_onednn_open(const struct lab_kernel_set *const **sets,
                                int *count);

/* `steps` times v = v / 2 + 1 in LAB_CPU_CHAINS chains, which begin with
 * 0, 1, 2 ... and end in `last`, in the widest registers that the processor has.
 * Returns the FLOPs of it, two a step and chain. */
enum { LAB_CPU_CHAINS = 192 };
double lab_cpu_multiply_adds(int64_t steps, float last[LAB_CPU_CHAINS]);
LAB_C_END
