/* The products of a dense layer by OpenBLAS, and the table of all the rows.
 * BLAS speaks of columns first, but its C interface takes row-major matrices as
 * they are; a transposed factor is a flag, not a copy. */
#include <cblas.h>
#include <limits.h>
#include <pthread.h>

#include "blas_priv.h"

static void use_one_thread(void)
{
    openblas_set_num_threads(1);
}

void lab_blas_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_one_thread);
}

enum lab_status lab_blas_check(int64_t N, int64_t K, int64_t M)
{
    lab_blas_start();
    if (N > INT_MAX || K > INT_MAX || M > INT_MAX)
        return lab_fail(LAB_E_RANGE,
                        "blas: a side of %lld x %lld x %lld is more than its "
                        "32-bit sizes hold",
                        (long long)N, (long long)K, (long long)M);
    return LAB_OK;
}

/* C (rows, cols) = op(A) op(B), summed over `inner`. BLAS wants a leading
 * dimension of at least 1 even for an empty matrix. */
static void multiply(float *C, const float *A, CBLAS_TRANSPOSE flip_a,
                     const float *B, CBLAS_TRANSPOSE flip_b, int64_t rows,
                     int64_t cols, int64_t inner)
{
    int64_t lda = flip_a == CblasTrans ? rows : inner;
    int64_t ldb = flip_b == CblasTrans ? inner : cols;
    if (rows == 0 || cols == 0)
        return;
    cblas_sgemm(CblasRowMajor, flip_a, flip_b, (int)rows, (int)cols, (int)inner,
                1.0f, A, (int)(lda > 0 ? lda : 1), B, (int)(ldb > 0 ? ldb : 1),
                0.0f, C, (int)cols);
}

/* xW (N, M) = x (N, K) W (K, M) */
static enum lab_status dense_matmul_forward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->out[0]);
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    enum lab_status st = lab_blas_check(N, K, M);
    if (st)
        return st;
    multiply(call->out[0].data, call->in[0].data, CblasNoTrans,
             call->in[1].data, CblasNoTrans, N, M, K);
    return LAB_OK;
}

/* dW (K, M) = x^T dxW,  dx (N, K) = dxW W^T */
static enum lab_status dense_matmul_backward(const struct lab_call *call)
{
    const float *dxW = call->in[0].data;
    int64_t N = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    enum lab_status st = lab_blas_check(N, K, M);
    if (st)
        return st;
    multiply(call->out[0].data, call->in[1].data, CblasTrans, dxW, CblasNoTrans,
             K, M, N);
    if (call->out[1].data)
        multiply(call->out[1].data, dxW, CblasNoTrans, call->in[2].data,
                 CblasTrans, N, K, M);
    return LAB_OK;
}

#define BLAS_ROW(step_name, phase_id, fn)                                      \
    {                                                                          \
        .name = "blas", .step = step_name, .phase = phase_id, .run = fn,       \
        .source = "src/engine/backend/cpu/blas.c", .symbol = #fn,              \
        .preferred = true                                                      \
    }

static const struct lab_variant dense_variants[] = {
    BLAS_ROW("matmul", LAB_FORWARD, dense_matmul_forward),
    BLAS_ROW("matmul", LAB_BACKWARD, dense_matmul_backward),
};

const struct lab_kernel_set lab_blas_sets[] = {
    {"dense", dense_variants, 2},
    {"conv2d", lab_blas_conv2d, LAB_BLAS_CONV2D},
    {"rnn", lab_blas_rnn, LAB_BLAS_RECURRENT},
    {"lstm", lab_blas_lstm, LAB_BLAS_RECURRENT},
    {"attention", lab_blas_attention, LAB_BLAS_ATTENTION},
    {"scaled_dot_attention", lab_blas_attention, LAB_BLAS_SCALED_DOT},
};
const int lab_blas_set_count = sizeof(lab_blas_sets) / sizeof(lab_blas_sets[0]);
