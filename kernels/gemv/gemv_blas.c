/* kernels/gemv/gemv_blas.c -- a matrix times a vector by OpenBLAS. */
#include "library/blas.h"
#include "library/openblas.h"

static enum lab_status blas_gemv(const struct lab_call *call)
{
    int64_t M = call->in[0].dim[0];
    int64_t N = call->in[0].dim[1];
    enum lab_status st = lab_blas_check(M, N, 1);
    if (!st)
        lab_openblas()->sgemv(CblasRowMajor, CblasNoTrans, (int)M, (int)N, 1.0f,
                              call->in[0].data, (int)N, call->in[1].data, 1,
                              0.0f, call->out[0].data, 1);
    return st;
}

const struct lab_variant lab_blas_variants_gemv[] = {
    {.name = "openblas",
     .idea = "the library, one thread",
     .run = blas_gemv,
     .source = "kernels/gemv/gemv_blas.c",
     .model = {.library = true}},
    {0},
};
