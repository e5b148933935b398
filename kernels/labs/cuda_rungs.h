/* kernels/labs/cuda_rungs.h -- the launchers of all CUDA rungs, and the table
 * of them (cuda_rungs.cu). */
#pragma once
#include "labs/rung.h"

LAB_C_BEGIN
lab_kernel_fn lab_gemm_naive, lab_gemm_coalesced, lab_gemm_tile,
    lab_gemm_thread_1d, lab_gemm_thread_2d, lab_gemm_vector, lab_gemm_warp,
    lab_gemm_double, lab_gemm_wide, lab_gemm_cublas;
lab_kernel_fn lab_add_plain, lab_add_fours;
lab_kernel_fn lab_saxpy_one_block, lab_saxpy_plain, lab_saxpy_stride,
    lab_saxpy_fours;
lab_kernel_fn lab_transpose_plain, lab_transpose_tile, lab_transpose_padded,
    lab_transpose_rows, lab_transpose_large;
lab_kernel_fn lab_sum_atomic, lab_sum_tree, lab_sum_shuffle, lab_sum_fours,
    lab_sum_several;

extern const struct lab_rung lab_cuda_rungs[];
extern const int lab_cuda_rung_count;
LAB_C_END
