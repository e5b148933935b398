/* cpu/blas_labs.h -- OpenBLAS's rungs of the labs on linear algebra; the table
 * of them is in blas_rungs.c. Tensors: kernels/labs/<operation>/. LAB_E_RANGE:
 * a side is more than BLAS's 32 bits; LAB_E_UNSUPPORTED: an OpenBLAS without
 * LAPACK. */
#pragma once
#include "common/kernel.h"

lab_kernel_fn lab_blas_gemm, lab_blas_gemm_threads, lab_blas_gemv,
    lab_blas_dgemm, lab_blas_dgemm_threads, lab_blas_batched, lab_blas_conv,
    lab_lapack_lu, lab_lapack_gesv;
