/* kernels/dgemm/dgemm.h -- C = A B in double precision: the launchers of
 * the CUDA variants. A (M,K), B (K,N) in, C (M,N) out, row-major, fp64. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_dgemm_tile, lab_dgemm_block, lab_dgemm_mma, lab_dgemm_cublas;
LAB_C_END
