/* kernels/reduction/reduction.h -- the sum of a vector: the launchers of
 * the CUDA variants. */
#pragma once
#include "common/kernel.h"

/* Numbers of the scratch vector: the most blocks that add at once. */
enum { LAB_SUM_SCRATCH = 4096 };

LAB_C_BEGIN
lab_kernel_fn lab_sum_atomic, lab_sum_tree, lab_sum_shuffle, lab_sum_fours,
    lab_sum_several, lab_sum_once;
LAB_C_END
