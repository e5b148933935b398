/* kernels/fusion/fusion.h -- y = residual + gelu(x + bias), in three
 * kernels, in two, in one: the launchers of the CUDA rungs. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_fusion_three, lab_fusion_two, lab_fusion_one,
    lab_fusion_vector;
LAB_C_END
