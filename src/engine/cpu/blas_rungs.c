/* OpenBLAS beside the CPU's own rungs, on one thread as they are. */
#include <cblas.h>
#include <limits.h>

#include "cpu/blas_priv.h"
#include "cpu/cpu_sets.h"
#include "labs/rung.h"

#define SOURCE "src/engine/cpu/blas_rungs.c"

static enum lab_status blas_saxpy(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    enum lab_status st = lab_blas_check(n, 1, 1);
    if (!st)
        cblas_saxpy((int)n, LAB_SAXPY_A, call->in[0].data, 1, call->out[0].data,
                    1);
    return st;
}

static enum lab_status blas_transpose(const struct lab_call *call)
{
    int64_t R = call->in[0].dim[0];
    int64_t C = call->in[0].dim[1];
    enum lab_status st = lab_blas_check(R, C, 1);
    if (!st)
        cblas_somatcopy(CblasRowMajor, CblasTrans, (int)R, (int)C, 1.0f,
                        call->in[0].data, (int)C, call->out[0].data, (int)R);
    return st;
}

static enum lab_status blas_gemm(const struct lab_call *call)
{
    int64_t M = call->in[0].dim[0];
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    enum lab_status st = lab_blas_check(M, K, N);
    if (!st)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)M, (int)N,
                    (int)K, 1.0f, call->in[0].data, (int)K, call->in[1].data,
                    (int)N, 0.0f, call->out[0].data, (int)N);
    return st;
}

#define BLAS_RUNG(ladder, fn)                                                  \
    {                                                                          \
        ladder, "openblas", "the library, one thread", NULL, fn, SOURCE,       \
        {                                                                      \
            .library = true                                                    \
        }                                                                      \
    }

const struct lab_rung lab_blas_rungs[] = {
    BLAS_RUNG("saxpy", blas_saxpy),
    BLAS_RUNG("transpose", blas_transpose),
    BLAS_RUNG("gemm", blas_gemm),
};
const int lab_blas_rung_count =
    sizeof(lab_blas_rungs) / sizeof(lab_blas_rungs[0]);
