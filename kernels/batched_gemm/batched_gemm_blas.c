/* kernels/batched_gemm/batched_gemm_blas.c -- many small products by OpenBLAS,
 * one after the other. */
#include "library/blas.h"

static enum lab_status blas_batched(const struct lab_call *call)
{
    int64_t n = call->in[0].dim[1];
    struct lab_matrix A = {call->in[0].data, n};
    struct lab_matrix B = {call->in[1].data, n};
    struct lab_matrix C = {call->out[0].data, n};
    enum lab_status st = lab_blas_check(n, n, n);
    for (int64_t b = 0; !st && b < call->in[0].dim[0]; b++) {
        lab_blas_multiply(C, A, B, n, n, n, 1, 0);
        A.data += n * n;
        B.data += n * n;
        C.data += n * n;
    }
    return st;
}

const struct lab_variant lab_blas_variants_batched_gemm[] = {
    {.name = "openblas",
     .idea = "the library, a product at a time",
     .run = blas_batched,
     .source = "kernels/batched_gemm/batched_gemm_blas.c",
     .model = {.library = true}},
    {0},
};
