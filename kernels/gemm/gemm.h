/* kernels/gemm/gemm.h -- the matrix product: the launchers of the CUDA
 * rungs. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_gemm_even;
/* How many tiles were cut, and the workspace that the pieces take. */
void lab_gemm_even_note(const struct lab_call *call,
                        struct lab_variant_note *out);

lab_kernel_fn lab_gemm_naive, lab_gemm_coalesced, lab_gemm_tile,
    lab_gemm_thread_1d, lab_gemm_thread_2d, lab_gemm_vector, lab_gemm_warp,
    lab_gemm_double, lab_gemm_wide, lab_gemm_cublas;

/* bf16, fp16 and, with fp32 tensors, tf32: the tensors' type says which. */
lab_kernel_fn lab_gemm_wmma, lab_gemm_mma, lab_gemm_wgmma, lab_gemm_persistent,
    lab_gemm_cublas_tensor, lab_gemm_cublaslt;
lab_kernel_fn lab_gemm_cublaslt_prepare;
void lab_gemm_cublaslt_note(const struct lab_call *call,
                            struct lab_variant_note *out);
/* For the rungs that the TMA unit feeds (operands.cuh). */
lab_kernel_fn lab_gemm_operands_prepare, lab_gemm_operands_release;
void lab_gemm_operands_note(const struct lab_call *call,
                            struct lab_variant_note *out);
LAB_C_END
