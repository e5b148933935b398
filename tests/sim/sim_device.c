/* sim_device.c -- stands in for src/cuda where the tests of tests/gpu run on a
 * simulated GPU: opens it, and has no library of NVIDIA's. */
#include "cuda_priv.h"
#include "library/cudnn_exec.h"
#include "sim/gpu.h"
#include "simcuda_priv.h"
#include "gpu_harness.h"

static struct lab_sim_gpu *gpu;

enum lab_status lab_cuda_select(int device)
{
    (void)device;
    if (simcuda_broken()[0])
        return lab_fail(LAB_E_UNSUPPORTED, "the build holds %s",
                        simcuda_broken());
    simcuda_host = &lab_sim_host;
    enum lab_status st = gpu ? LAB_OK : lab_sim_gpu_open(NULL, &gpu);
    if (!st)
        lab_sim_gpu_enter(gpu);
    return st;
}

/* The blocks' warps take their turns in another order. */
void gpu_other_order(void)
{
    lab_sim_gpu_options(gpu)->seed += UINT64_C(0x9E3779B97F4A7C15);
}

int gpu_end(void)
{
    lab_sim_gpu_close(gpu);
    gpu = NULL;
    return 0;
}

/* ---- cuBLAS: products by the host, so that the kernels beside them run ---- */

static float at(const float *a, int op, int ld, int row, int col)
{
    return op == LAB_CUBLAS_N ? a[(int64_t)col * ld + row]
                              : a[(int64_t)row * ld + col];
}

static int sgemm(void *handle, int op_a, int op_b, int m, int n, int k,
                 const float *alpha, const float *a, int lda, const float *b,
                 int ldb, const float *beta, float *c, int ldc)
{
    (void)handle;
    for (int col = 0; col < n; col++) {
        float *to = c + (int64_t)col * ldc;
        for (int row = 0; row < m; row++) {
            double sum = 0;
            for (int i = 0; i < k; i++)
                sum +=
                    (double)at(a, op_a, lda, row, i) * at(b, op_b, ldb, i, col);
            to[row] = (float)(*alpha * sum +
                              (*beta != 0 ? (double)*beta * to[row] : 0));
        }
        if (lab_sim_written(lab_sim_gpu_memory(gpu), to,
                            (size_t)m * sizeof(*to)))
            return 1;
    }
    return 0;
}

static int sgemm_strided(void *handle, int op_a, int op_b, int m, int n, int k,
                         const float *alpha, const float *a, int lda,
                         long long stride_a, const float *b, int ldb,
                         long long stride_b, const float *beta, float *c,
                         int ldc, long long stride_c, int count)
{
    int status = 0;
    for (int i = 0; i < count && !status; i++)
        status = sgemm(handle, op_a, op_b, m, n, k, alpha, a + i * stride_a,
                       lda, b + i * stride_b, ldb, beta, c + i * stride_c, ldc);
    return status;
}

static int sgemm_batched(void *handle, int op_a, int op_b, int m, int n, int k,
                         const float *alpha, const float *const *a, int lda,
                         const float *const *b, int ldb, const float *beta,
                         float *const *c, int ldc, int count)
{
    int status = 0;
    for (int i = 0; i < count && !status; i++)
        status = sgemm(handle, op_a, op_b, m, n, k, alpha, a[i], lda, b[i], ldb,
                       beta, c[i], ldc);
    return status;
}

static int sgemv(void *handle, int op, int m, int n, const float *alpha,
                 const float *a, int lda, const float *x, int incx,
                 const float *beta, float *y, int incy)
{
    const int rows = op == LAB_CUBLAS_N ? m : n;
    /* x and y as matrices of one row, so that a step is from column to column. */
    return sgemm(handle, LAB_CUBLAS_N,
                 op == LAB_CUBLAS_N ? LAB_CUBLAS_T : LAB_CUBLAS_N, 1, rows,
                 op == LAB_CUBLAS_N ? n : m, alpha, x, incx, a, lda, beta, y,
                 incy);
}

bool lab_cublas_available(const char **why)
{
    *why = NULL;
    return true;
}

enum lab_status lab_cublas_open(struct lab_cublas *out,
                                struct CUstream_st *stream, void *workspace,
                                size_t workspace_bytes)
{
    (void)stream;
    (void)workspace;
    (void)workspace_bytes;
    *out = (struct lab_cublas){.sgemm = sgemm,
                               .sgemm_strided_batched = sgemm_strided,
                               .sgemm_batched = sgemm_batched,
                               .sgemv = sgemv};
    return LAB_OK;
}

void lab_cublas_close(struct lab_cublas *cublas)
{
    (void)cublas;
}

bool lab_cudnn_available(const char **report)
{
    *report = "a library's kernels are not simulated";
    return false;
}

bool lab_cudnn_open(struct lab_cudnn *out)
{
    (void)out;
    return false;
}
