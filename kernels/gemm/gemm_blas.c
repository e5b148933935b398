/* kernels/gemm/gemm_blas.c -- the product by OpenBLAS, on one core and on all. */
#include "library/blas.h"

static enum lab_status blas_gemm(const struct lab_call *call)
{
    int64_t M = call->in[0].dim[0];
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    struct lab_matrix A = {call->in[0].data, K};
    struct lab_matrix B = {call->in[1].data, N};
    struct lab_matrix C = {call->out[0].data, N};
    enum lab_status st = lab_blas_check(M, K, N);
    if (!st)
        lab_blas_multiply(C, A, B, M, N, K, 1, 0);
    return st;
}

static enum lab_status blas_gemm_threads(const struct lab_call *call)
{
    return lab_blas_all_cores(blas_gemm, call);
}

#define VARIANT(label, text, fn)                                               \
    {                                                                          \
        .name = label, .idea = text, .run = fn,                                \
        .source = "kernels/gemm/gemm_blas.c", .model = {                       \
            .library = true                                                    \
        }                                                                      \
    }

const struct lab_variant lab_blas_variants_gemm[] = {
    VARIANT("openblas", "the library, one thread", blas_gemm),
    VARIANT("threads", "the library, all cores", blas_gemm_threads),
    {0},
};
