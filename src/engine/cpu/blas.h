/* cpu/blas.h -- what the files that call OpenBLAS share. */
#pragma once
#include "kernel.h"

/* Keeps OpenBLAS to one thread. LAB_E_RANGE: a side is more than an int. */
enum lab_status lab_blas_check_size(int64_t N, int64_t K, int64_t M);

/* blas_attention.c: the steps of attention; the first
 * LAB_BLAS_SCALED_DOT are those of scaled_dot_attention too. */
enum { LAB_BLAS_SCALED_DOT = 4, LAB_BLAS_ATTENTION = 12 };
extern const struct lab_variant lab_blas_attention[];
