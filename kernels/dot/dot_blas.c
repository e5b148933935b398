/* kernels/dot/dot_blas.c -- x . y by OpenBLAS. */
#include "library/blas.h"
#include "library/openblas.h"

static enum lab_status blas_dot(const struct lab_call *call)
{
    enum lab_status st = lab_blas_check(call->in[0].count, 1, 1);
    if (!st)
        *(double *)call->out[0].data = lab_openblas()->ddot(
            (int)call->in[0].count, call->in[0].data, 1, call->in[1].data, 1);
    return st;
}

const struct lab_variant lab_blas_variants_dot[] = {
    {.name = "openblas",
     .idea = "the library, one thread",
     .run = blas_dot,
     .source = "kernels/dot/dot_blas.c",
     .model = {.library = true},
     .precision = LAB_FP64},
    {0},
};
