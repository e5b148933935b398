/* kernels/dense/dense_products.h -- the products of a dense layer
 * (common/product.h). */
#include "common/product.h"

/* xW (N, M) = x (N, K) W (K, M) */
static enum lab_status dense_matmul_forward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->out[0]);
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    struct lab_matrix xW = {call->out[0].data, M};
    struct lab_matrix x = {call->in[0].data, K};
    struct lab_matrix W = {call->in[1].data, M};
    enum lab_status st = LAB_CHECK_SIDES(N, K, M);
    if (!st)
        LAB_MULTIPLY(xW, x, W, N, M, K, 1, 0);
    return st;
}

/* dW (K, M) = x^T dxW,  dx (N, K) = dxW W^T */
static enum lab_status dense_matmul_backward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    struct lab_matrix dxW = {call->in[0].data, M};
    struct lab_matrix xT = {call->in[1].data, K, .flip = true};
    struct lab_matrix WT = {call->in[2].data, M, .flip = true};
    struct lab_matrix dW = {call->out[0].data, M};
    struct lab_matrix dx = {call->out[1].data, K};
    enum lab_status st = LAB_CHECK_SIDES(N, K, M);
    if (st)
        return st;
    LAB_MULTIPLY(dW, xT, dxW, K, M, N, 1, 0);
    if (dx.data)
        LAB_MULTIPLY(dx, dxW, WT, N, K, M, 1, 0);
    return LAB_OK;
}

#define ROW(phase_id, fn)                                                      \
    LAB_PRODUCT_ROW("kernels/dense/dense_products.h", "matmul", phase_id, fn,  \
                    #fn)

static const struct lab_variant dense_products[] = {
    ROW(LAB_FORWARD, dense_matmul_forward),
    ROW(LAB_BACKWARD, dense_matmul_backward),
};
#undef ROW
