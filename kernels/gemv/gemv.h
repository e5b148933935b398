/* kernels/gemv/gemv.h -- y = A x: the launchers of the CUDA variants.
 *
 * A (M,N) row-major and x (N) in, y (M) out, fp32. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_gemv_plain, lab_gemv_warp, lab_gemv_fours, lab_gemv_block,
    lab_gemv_cublas;
LAB_C_END
