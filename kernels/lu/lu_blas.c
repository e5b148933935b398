/* kernels/lu/lu_blas.c -- the LU factorisation by the LAPACK inside OpenBLAS. */
#include <string.h>

#include "library/blas.h"

/* Fortran's: everything by address, matrices by columns. */
typedef void dgetrf_fn(const int *m, const int *n, double *a, const int *lda,
                       int *pivots, int *info);

enum lab_status lab_lapack_factor(double *a, int *pivots, int64_t n)
{
    dgetrf_fn *getrf;
    int side = (int)n;
    int info = 0;
    enum lab_status st = lab_blas_check(n, n, n);
    if (!st)
        st = lab_lapack_find("dgetrf_", &getrf);
    if (st)
        return st;
    getrf(&side, &side, a, &side, pivots, &info);
    return lab_lapack_judge(info, "dgetrf");
}

static enum lab_status lapack_lu(const struct lab_call *call)
{
    memcpy(call->out[0].data, call->in[0].data,
           (size_t)call->in[0].count * sizeof(double));
    return lab_lapack_factor(call->out[0].data, call->out[1].data,
                             call->in[0].dim[0]);
}

static enum lab_status lapack_lu_threads(const struct lab_call *call)
{
    return lab_blas_all_cores(lapack_lu, call);
}

const struct lab_variant lab_blas_variants_lu[] = {
    {.name = "lapack",
     .idea = "the library's dgetrf, one thread",
     .run = lapack_lu,
     .source = "kernels/lu/lu_blas.c",
     .model = {.library = true},
     .precision = LAB_FP64},
    {.name = "threads",
     .idea = "the library's dgetrf, all cores",
     .run = lapack_lu_threads,
     .source = "kernels/lu/lu_blas.c",
     .model = {.library = true},
     .precision = LAB_FP64},
    {0},
};
