/* OpenBLAS beside the CPU's own rungs, on one thread as they are. */
#include <cblas.h>
#include <limits.h>
#include <string.h>

#include "blas_labs.h"
#include "blas_priv.h"
#include "cpu_sets.h"
#include "common/kernel.h"
#include "labs/saxpy/saxpy.h"

#define SOURCE "src/engine/backend/cpu/blas_rungs.c"

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

#define LABS "src/engine/backend/cpu/blas_labs.c"
#define RUNG(label, text, fn, file, arithmetic)                                \
    {                                                                          \
        .name = label, .idea = text, .run = fn, .source = file,                \
        .model = {.library = true}, .precision = arithmetic                    \
    }
#define BLAS_RUNG(fn)                                                          \
    RUNG("openblas", "the library, one thread", fn, SOURCE, LAB_FP32)
#define LABS_RUNG(label, text, fn, arithmetic)                                 \
    RUNG(label, text, fn, LABS, arithmetic)

static const struct {
    const char *operation;
    struct lab_variant rung;
} rungs[] = {
    {"saxpy", BLAS_RUNG(blas_saxpy)},
    {"transpose", BLAS_RUNG(blas_transpose)},
    {"gemm",
     LABS_RUNG("openblas", "the library, one thread", lab_blas_gemm, LAB_FP32)},
    {"gemm", LABS_RUNG("threads", "the library, all cores",
                       lab_blas_gemm_threads, LAB_FP32)},
    {"gemv",
     LABS_RUNG("openblas", "the library, one thread", lab_blas_gemv, LAB_FP32)},
    {"dgemm", LABS_RUNG("openblas", "the library, one thread", lab_blas_dgemm,
                        LAB_FP64)},
    {"dgemm", LABS_RUNG("threads", "the library, all cores",
                        lab_blas_dgemm_threads, LAB_FP64)},
    {"batched_gemm", LABS_RUNG("openblas", "the library, a product at a time",
                               lab_blas_batched, LAB_FP32)},
    {"conv", LABS_RUNG("openblas", "the windows laid out, then the library",
                       lab_blas_conv, LAB_FP32)},
    {"lu", LABS_RUNG("lapack", "the library's dgetrf, one thread",
                     lab_lapack_lu, LAB_FP64)},
    {"gesv", LABS_RUNG("lapack", "the library's dgetrf and dgetrs",
                       lab_lapack_gesv, LAB_FP64)},
};

const struct lab_variant *lab_blas_rung(const char *operation, int i)
{
    for (size_t r = 0; r < sizeof(rungs) / sizeof(rungs[0]); r++) {
        if (strcmp(rungs[r].operation, operation) == 0 && i-- == 0)
            return &rungs[r].rung;
    }
    return NULL;
}
