/* kernels/labs/gemm/gemm.h -- the matrix product: the launchers of the CUDA rungs. */
#pragma once
#include "kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_gemm_naive, lab_gemm_coalesced, lab_gemm_tile,
    lab_gemm_thread_1d, lab_gemm_thread_2d, lab_gemm_vector, lab_gemm_warp,
    lab_gemm_double, lab_gemm_wide, lab_gemm_cublas;
LAB_C_END
