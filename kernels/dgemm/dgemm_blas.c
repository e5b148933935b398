/* kernels/dgemm/dgemm_blas.c -- the product in fp64 by OpenBLAS, on one core and
 * on all. */
#include "library/blas.h"
#include "library/openblas.h"

static enum lab_status blas_dgemm(const struct lab_call *call)
{
    int64_t M = call->in[0].dim[0];
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    enum lab_status st = lab_blas_check(M, K, N);
    if (!st)
        lab_openblas()->dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)M,
                              (int)N, (int)K, 1.0, call->in[0].data, (int)K,
                              call->in[1].data, (int)N, 0.0, call->out[0].data,
                              (int)N);
    return st;
}

static enum lab_status blas_dgemm_threads(const struct lab_call *call)
{
    return lab_blas_all_cores(blas_dgemm, call);
}

#define VARIANT(label, text, fn)                                               \
    {                                                                          \
        .name = label, .idea = text, .run = fn,                                \
        .source = "kernels/dgemm/dgemm_blas.c", .model = {.library = true},    \
        .precision = LAB_FP64                                                  \
    }

const struct lab_variant lab_blas_variants_dgemm[] = {
    VARIANT("openblas", "the library, one thread", blas_dgemm),
    VARIANT("threads", "the library, all cores", blas_dgemm_threads),
    {0},
};
