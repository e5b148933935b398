/* blas_rungs.c -- OpenBLAS beside the CPU's own rungs. One thread, as everything else
 * here; `threads` takes all cores for the time of a call. LAPACK is looked for at
 * run time: an OpenBLAS may be built without. */
#include <cblas.h>
#include <dlfcn.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "blas_priv.h"
#include "conv2d/conv.h"
#include "cpu_sets.h"
#include "common/kernel.h"
#include "saxpy/saxpy.h"

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

static enum lab_status blas_gemv(const struct lab_call *call)
{
    int64_t M = call->in[0].dim[0];
    int64_t N = call->in[0].dim[1];
    enum lab_status st = lab_blas_check(M, N, 1);
    if (!st)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)M, (int)N, 1.0f,
                    call->in[0].data, (int)N, call->in[1].data, 1, 0.0f,
                    call->out[0].data, 1);
    return st;
}

static enum lab_status blas_dgemm(const struct lab_call *call)
{
    int64_t M = call->in[0].dim[0];
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    enum lab_status st = lab_blas_check(M, K, N);
    if (!st)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)M, (int)N,
                    (int)K, 1.0, call->in[0].data, (int)K, call->in[1].data,
                    (int)N, 0.0, call->out[0].data, (int)N);
    return st;
}

static enum lab_status blas_batched(const struct lab_call *call)
{
    int64_t n = call->in[0].dim[1];
    enum lab_status st = lab_blas_check(n, n, n);
    for (int64_t b = 0; !st && b < call->in[0].dim[0]; b++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)n,
                    (int)n, 1.0f, (const float *)call->in[0].data + b * n * n,
                    (int)n, (const float *)call->in[1].data + b * n * n, (int)n,
                    0.0f, (float *)call->out[0].data + b * n * n, (int)n);
    return st;
}

/* The windows of an image laid out, then y = w X. */
static enum lab_status blas_conv(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of(call);
    int64_t places = s.P * s.Q;
    int64_t depth = conv_depth(&s);
    enum lab_status st = lab_blas_check(places, s.K, depth);
    for (int64_t n = 0; !st && n < s.N; n++) {
        lab_cpu_conv_windows(call, n);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s.K,
                    (int)places, (int)depth, 1.0f, call->in[1].data, (int)depth,
                    call->out[1].data, (int)places, 0.0f,
                    (float *)call->out[0].data + n * s.K * places, (int)places);
    }
    return st;
}

/* ---- all cores ---- */

static void take_all_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    openblas_set_num_threads(cores > 1 ? (int)cores : 1);
}

static enum lab_status blas_gemm_threads(const struct lab_call *call)
{
    lab_blas_start(); /* before, or it would undo it */
    take_all_cores();
    enum lab_status st = blas_gemm(call);
    openblas_set_num_threads(1);
    return st;
}

static enum lab_status blas_dgemm_threads(const struct lab_call *call)
{
    lab_blas_start();
    take_all_cores();
    enum lab_status st = blas_dgemm(call);
    openblas_set_num_threads(1);
    return st;
}

/* ---- LAPACK ---- */

/* Fortran's: everything by address, matrices by columns. */
typedef void dgetrf_fn(const int *m, const int *n, double *a, const int *lda,
                       int *pivots, int *info);
typedef void dgetrs_fn(const char *op, const int *n, const int *nrhs,
                       const double *a, const int *lda, const int *pivots,
                       double *b, const int *ldb, int *info, size_t op_length);

static enum lab_status find(const char *name, void *fn)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    *(void **)fn = address;
    return address ? LAB_OK
                   : lab_fail(LAB_E_UNSUPPORTED,
                              "this OpenBLAS was built without LAPACK: it has "
                              "no %s",
                              name);
}

static enum lab_status judge(int info, const char *name)
{
    return info == 0 ? LAB_OK
                     : lab_fail(LAB_E_CHECK, "%s: info %d", name, info);
}

static enum lab_status factor(double *a, int *pivots, int64_t n)
{
    dgetrf_fn *getrf;
    int side = (int)n;
    int info = 0;
    enum lab_status st = lab_blas_check(n, n, n);
    if (!st)
        st = find("dgetrf_", &getrf);
    if (st)
        return st;
    getrf(&side, &side, a, &side, pivots, &info);
    return judge(info, "dgetrf");
}

static enum lab_status lapack_lu(const struct lab_call *call)
{
    memcpy(call->out[0].data, call->in[0].data,
           (size_t)call->in[0].count * sizeof(double));
    return factor(call->out[0].data, call->out[1].data, call->in[0].dim[0]);
}

static enum lab_status lapack_gesv(const struct lab_call *call)
{
    dgetrs_fn *getrs;
    int n = (int)call->in[0].dim[0];
    int r = (int)call->in[1].dim[1];
    int info = 0;
    enum lab_status st = find("dgetrs_", &getrs);
    if (st)
        return st;
    memcpy(call->out[1].data, call->in[0].data,
           (size_t)call->in[0].count * sizeof(double));
    memcpy(call->out[0].data, call->in[1].data,
           (size_t)call->in[1].count * sizeof(double));
    st = factor(call->out[1].data, call->out[2].data, n);
    if (st)
        return st;
    getrs("N", &n, &r, call->out[1].data, &n, call->out[2].data,
          call->out[0].data, &n, &info, 1);
    return judge(info, "dgetrs");
}

/* OpenBLAS beside the CPU's own rungs, on one thread as they are. */

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

#define RUNG(label, text, fn, file, arithmetic)                                \
    {                                                                          \
        .name = label, .idea = text, .run = fn, .source = file,                \
        .model = {.library = true}, .precision = arithmetic                    \
    }
#define BLAS_RUNG(fn)                                                          \
    RUNG("openblas", "the library, one thread", fn, SOURCE, LAB_FP32)
#define LABS_RUNG(label, text, fn, arithmetic)                                 \
    RUNG(label, text, fn, SOURCE, arithmetic)

static const struct {
    const char *operation;
    struct lab_variant rung;
} rungs[] = {
    {"saxpy", BLAS_RUNG(blas_saxpy)},
    {"transpose", BLAS_RUNG(blas_transpose)},
    {"gemm",
     LABS_RUNG("openblas", "the library, one thread", blas_gemm, LAB_FP32)},
    {"gemm", LABS_RUNG("threads", "the library, all cores", blas_gemm_threads,
                       LAB_FP32)},
    {"gemv",
     LABS_RUNG("openblas", "the library, one thread", blas_gemv, LAB_FP32)},
    {"dgemm",
     LABS_RUNG("openblas", "the library, one thread", blas_dgemm, LAB_FP64)},
    {"dgemm", LABS_RUNG("threads", "the library, all cores", blas_dgemm_threads,
                        LAB_FP64)},
    {"batched_gemm", LABS_RUNG("openblas", "the library, a product at a time",
                               blas_batched, LAB_FP32)},
    {"conv",
     {.name = "openblas",
      .idea = "the windows laid out, then the library",
      .run = blas_conv,
      .source = SOURCE,
      .model = {.library = true},
      .scratch = true}},
    {"lu", LABS_RUNG("lapack", "the library's dgetrf, one thread", lapack_lu,
                     LAB_FP64)},
    {"gesv", LABS_RUNG("lapack", "the library's dgetrf and dgetrs", lapack_gesv,
                       LAB_FP64)},
};

const struct lab_variant *lab_blas_rung(const char *operation, int i)
{
    for (size_t r = 0; r < sizeof(rungs) / sizeof(rungs[0]); r++) {
        if (strcmp(rungs[r].operation, operation) == 0 && i-- == 0)
            return &rungs[r].rung;
    }
    return NULL;
}
