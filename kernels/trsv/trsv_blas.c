/* kernels/trsv/trsv_blas.c -- forward substitution by OpenBLAS, which solves in
 * place: b is copied first. */
#include <string.h>

#include "library/blas.h"
#include "library/openblas.h"

static enum lab_status blas_trsv(const struct lab_call *call)
{
    int64_t n = call->in[1].count;
    enum lab_status st = lab_blas_check(n, 1, 1);
    if (st)
        return st;
    memcpy(call->out[0].data, call->in[1].data, (size_t)n * sizeof(double));
    lab_openblas()->dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit,
                          (int)n, call->in[0].data, (int)n, call->out[0].data,
                          1);
    return LAB_OK;
}

const struct lab_variant lab_blas_variants_trsv[] = {
    {.name = "openblas",
     .idea = "the library, one thread",
     .run = blas_trsv,
     .source = "kernels/trsv/trsv_blas.c",
     .model = {.library = true},
     .precision = LAB_FP64},
    {0},
};
