/* kernels/gemm_full/gemm_full_blas.c -- C = alpha op(A) op(B) + beta C by OpenBLAS:
 * its arguments are the size's. */
#include "gemm_full/gemm_full.h"
#include "library/blas.h"
#include "library/openblas.h"

static enum lab_status blas_full(const struct lab_call *call)
{
    struct lab_gemm_full g = lab_gemm_full_of(call);
    bool ta = lab_bench_dim(call, 3) == 2;
    bool tb = lab_bench_dim(call, 4) == 2;
    enum lab_status st = lab_blas_check(g.M, g.K, g.ldc);
    if (!st)
        st = lab_blas_check(g.lda, g.ldb, g.ldc);
    if (!st)
        lab_openblas()->sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
                              tb ? CblasTrans : CblasNoTrans, (int)g.M,
                              (int)g.N, (int)g.K, (float)LAB_GEMM_FULL_ALPHA,
                              g.a, (int)g.lda, g.b, (int)g.ldb,
                              (float)LAB_GEMM_FULL_BETA, g.c, (int)g.ldc);
    return st;
}

const struct lab_variant lab_blas_variants_gemm_full[] = {
    {.name = "openblas",
     .idea = "the library, one thread",
     .run = blas_full,
     .source = "kernels/gemm_full/gemm_full_blas.c",
     .model = {.library = true}},
    {0},
};
