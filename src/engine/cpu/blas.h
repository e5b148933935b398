/* cpu/blas.h -- what the files that call OpenBLAS share. Private. */
#pragma once
#include "cpu/cpu_sets.h"

/* Before any call of BLAS: keeps it to one thread, and refuses sides that its
 * 32-bit sizes do not hold (LAB_E_RANGE). */
enum lab_status lab_blas_check(int64_t N, int64_t K, int64_t M);

/* blas_recurrent.c */
enum { LAB_BLAS_RECURRENT = 4 };
extern const struct lab_variant lab_blas_lstm[LAB_BLAS_RECURRENT];
extern const struct lab_variant lab_blas_rnn[LAB_BLAS_RECURRENT];
