/* kernels/gesv/gesv_blas.c -- linear equations by the LAPACK inside OpenBLAS: the
 * factors, then both triangles solved. */
#include <string.h>

#include "library/blas.h"

/* Fortran's: everything by address, matrices by columns. */
typedef void dgetrs_fn(const char *op, const int *n, const int *nrhs,
                       const double *a, const int *lda, const int *pivots,
                       double *b, const int *ldb, int *info, size_t op_length);

static enum lab_status lapack_gesv(const struct lab_call *call)
{
    dgetrs_fn *getrs;
    int n = (int)call->in[0].dim[0];
    int r = (int)call->in[1].dim[1];
    int info = 0;
    enum lab_status st = lab_lapack_find("dgetrs_", &getrs);
    if (st)
        return st;
    memcpy(call->out[1].data, call->in[0].data,
           (size_t)call->in[0].count * sizeof(double));
    memcpy(call->out[0].data, call->in[1].data,
           (size_t)call->in[1].count * sizeof(double));
    st = lab_lapack_factor(call->out[1].data, call->out[2].data, n);
    if (st)
        return st;
    getrs("N", &n, &r, call->out[1].data, &n, call->out[2].data,
          call->out[0].data, &n, &info, 1);
    return lab_lapack_judge(info, "dgetrs");
}

const struct lab_variant lab_blas_variants_gesv[] = {
    {.name = "lapack",
     .idea = "the library's dgetrf and dgetrs",
     .run = lapack_gesv,
     .source = "kernels/gesv/gesv_blas.c",
     .model = {.library = true},
     .precision = LAB_FP64},
    {0},
};
