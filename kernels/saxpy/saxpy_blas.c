/* kernels/saxpy/saxpy_blas.c -- y = 2 x + y by OpenBLAS. */
#include "library/blas.h"
#include "library/openblas.h"
#include "saxpy/saxpy.h"

static enum lab_status blas_saxpy(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    enum lab_status st = lab_blas_check(n, 1, 1);
    if (!st)
        lab_openblas()->saxpy((int)n, LAB_SAXPY_A, call->in[0].data, 1,
                              call->out[0].data, 1);
    return st;
}

const struct lab_variant lab_blas_variants_saxpy[] = {
    {.name = "openblas",
     .idea = "the library, one thread",
     .run = blas_saxpy,
     .source = "kernels/saxpy/saxpy_blas.c",
     .model = {.library = true}},
    {0},
};
