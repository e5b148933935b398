/* blas_priv.h -- the OpenBLAS tables of the other files, and its start. */
#pragma once
#include "cpu_sets.h"

/* One thread: the order of the additions, and so the last bit of the result,
 * must not depend on how many cores are free. Any thread, any number of times.
 */
void lab_blas_start(void);
/* The same, and refuses sides that BLAS's 32-bit sizes do not hold
 * (LAB_E_RANGE). */
enum lab_status lab_blas_check(int64_t N, int64_t K, int64_t M);

enum { LAB_BLAS_CONV2D = 2 };
extern const struct lab_variant lab_blas_conv2d[LAB_BLAS_CONV2D];

enum { LAB_BLAS_RECURRENT = 4 };
extern const struct lab_variant lab_blas_lstm[LAB_BLAS_RECURRENT];
extern const struct lab_variant lab_blas_rnn[LAB_BLAS_RECURRENT];

/* The first LAB_BLAS_SCALED_DOT are those of scaled_dot_attention too. */
enum { LAB_BLAS_SCALED_DOT = 4, LAB_BLAS_ATTENTION = 12 };
extern const struct lab_variant lab_blas_attention[LAB_BLAS_ATTENTION];
