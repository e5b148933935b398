/* kernels/saxpy/saxpy.h -- y = 2 x + y: the launchers of the CUDA rungs. */
#pragma once
#include "common/kernel.h"

#define LAB_SAXPY_A 2.0f

LAB_C_BEGIN
lab_kernel_fn lab_saxpy_one_block, lab_saxpy_plain, lab_saxpy_stride,
    lab_saxpy_fours;
LAB_C_END
