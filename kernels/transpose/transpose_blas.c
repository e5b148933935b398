/* kernels/transpose/transpose_blas.c -- the transpose by OpenBLAS, which has one
 * beside what BLAS asks for. */
#include "library/blas.h"
#include "library/openblas.h"

static enum lab_status blas_transpose(const struct lab_call *call)
{
    int64_t R = call->in[0].dim[0];
    int64_t C = call->in[0].dim[1];
    enum lab_status st = lab_blas_check(R, C, 1);
    if (!st)
        lab_openblas()->somatcopy(CblasRowMajor, CblasTrans, (int)R, (int)C,
                                  1.0f, call->in[0].data, (int)C,
                                  call->out[0].data, (int)R);
    return st;
}

const struct lab_variant lab_blas_variants_transpose[] = {
    {.name = "openblas",
     .idea = "the library, one thread",
     .run = blas_transpose,
     .source = "kernels/transpose/transpose_blas.c",
     .model = {.library = true}},
    {0},
};
