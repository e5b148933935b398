/* kernels/gemm_full/gemm_full.h -- BLAS's whole product, C = alpha op(A) op(B) +
 * beta C: a size is M, N, K, TA, TB and P.
 *
 *   in[0] A   M rows of K numbers; TA 2: K rows of M, and op(A) is its transpose
 *   in[1] B   K rows of N numbers; TB 2: N rows of K
 *   out[0] C  M rows of N numbers, read and written
 * TA and TB 1: as they are. A leading dimension is the row's length, made a multiple
 * of P; what is behind a row is no part of the matrix. fp32, row-major. */
#pragma once
#include "common/kernel.h"
#include "labs/sweep.h"

#define LAB_GEMM_FULL_ALPHA 1.5
#define LAB_GEMM_FULL_BETA 0.5

/* op(A)[i,k] is a[i * a_row + k * a_col]: transposing swaps the two. */
struct lab_gemm_full {
    const float *a;
    const float *b;
    float *c;
    int64_t M, N, K;
    int64_t a_row, a_col;
    int64_t b_row, b_col;
    int64_t lda, ldb, ldc;
};

/* `row` numbers and what is behind them. */
static inline int64_t lab_gemm_full_ld(int64_t row, int64_t P)
{
    return (row + P - 1) / P * P;
}

LAB_C_BEGIN
lab_kernel_fn lab_gemm_full_plain, lab_gemm_full_tile, lab_gemm_full_cublas;
LAB_C_END

static inline struct lab_gemm_full lab_gemm_full_of(const struct lab_call *call)
{
    struct lab_gemm_full g;
    bool ta = lab_bench_dim(call, 3) == 2;
    bool tb = lab_bench_dim(call, 4) == 2;
    int64_t P = lab_bench_dim(call, 5);
    g.a = (const float *)call->in[0].data;
    g.b = (const float *)call->in[1].data;
    g.c = (float *)call->out[0].data;
    g.M = lab_bench_dim(call, 0);
    g.N = lab_bench_dim(call, 1);
    g.K = lab_bench_dim(call, 2);
    g.lda = lab_gemm_full_ld(ta ? g.M : g.K, P);
    g.ldb = lab_gemm_full_ld(tb ? g.K : g.N, P);
    g.a_row = ta ? 1 : g.lda;
    g.a_col = ta ? g.lda : 1;
    g.b_row = tb ? 1 : g.ldb;
    g.b_col = tb ? g.ldb : 1;
    g.ldc = lab_gemm_full_ld(g.N, P);
    return g;
}
