/* kernels/dense/dense_blas.c -- the products of a dense layer by OpenBLAS. */
#include "library/blas.h"

/* xW (N, M) = x (N, K) W (K, M) */
static enum lab_status dense_matmul_forward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->out[0]);
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    struct lab_blas_matrix xW = {call->out[0].data, M};
    struct lab_blas_matrix x = {call->in[0].data, K};
    struct lab_blas_matrix W = {call->in[1].data, M};
    enum lab_status st = lab_blas_check(N, K, M);
    if (!st)
        lab_blas_multiply(xW, x, W, N, M, K, 1, 0);
    return st;
}

/* dW (K, M) = x^T dxW,  dx (N, K) = dxW W^T */
static enum lab_status dense_matmul_backward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    struct lab_blas_matrix dxW = {call->in[0].data, M};
    struct lab_blas_matrix xT = {call->in[1].data, K, .flip = true};
    struct lab_blas_matrix WT = {call->in[2].data, M, .flip = true};
    struct lab_blas_matrix dW = {call->out[0].data, M};
    struct lab_blas_matrix dx = {call->out[1].data, K};
    enum lab_status st = lab_blas_check(N, K, M);
    if (st)
        return st;
    lab_blas_multiply(dW, xT, dxW, K, M, N, 1, 0);
    if (dx.data)
        lab_blas_multiply(dx, dxW, WT, N, K, M, 1, 0);
    return LAB_OK;
}

#define ROW(phase_id, fn)                                                      \
    {                                                                          \
        .name = "blas", .step = "matmul", .phase = phase_id, .run = fn,        \
        .source = "kernels/dense/dense_blas.c", .symbol = #fn,                 \
        .preferred = true                                                      \
    }

static const struct lab_variant rows[] = {
    ROW(LAB_FORWARD, dense_matmul_forward),
    ROW(LAB_BACKWARD, dense_matmul_backward),
};

const struct lab_kernel_set lab_blas_dense = {"dense", rows, 2};
