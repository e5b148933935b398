/* kernels/vector_add/vector_add.h -- C = A + B: the launchers of the CUDA
 * rungs. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_add_plain, lab_add_fours;
LAB_C_END
