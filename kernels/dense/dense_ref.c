/* A dense layer, written as its formula reads: out = x W + b, and the two
 * products that carry a gradient back through it. Three loops each; the sum is
 * kept in a double and rounded once, when it is stored. */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/dense/dense_ref.c"

/* xW[n,m] = sum_k x[n,k] W[k,m] */
static enum lab_status dense_matmul_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data; /* (N, K) */
    const real *W = call->in[1].data; /* (K, M) */
    real *xW = call->out[0].data;     /* (N, M) */
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    int64_t N = lab_view_rows(&call->out[0]);
    for (int64_t n = 0; n < N && !lab_stopped(call); n++) {
        for (int64_t m = 0; m < M; m++) {
            double sum = 0;
            for (int64_t k = 0; k < K; k++)
                sum += (double)x[n * K + k] * W[k * M + m];
            xW[n * M + m] = (real)sum;
        }
    }
    return LAB_OK;
}

/* out[n,m] = xW[n,m] + b[m] */
static enum lab_status dense_bias_forward(const struct lab_call *call)
{
    const real *xW = call->in[0].data;
    const real *b = call->in[1].data;
    real *out = call->out[0].data;
    int64_t M = call->in[1].count;
    for (int64_t i = 0; i < call->out[0].count; i++)
        out[i] = xW[i] + b[i % M];
    return LAB_OK;
}

/* db[m] = sum_n dout[n,m] */
static enum lab_status dense_bias_backward(const struct lab_call *call)
{
    const real *dout = call->in[0].data;
    real *db = call->out[0].data;
    int64_t M = call->out[0].count;
    int64_t N = lab_view_rows(&call->in[0]);
    for (int64_t m = 0; m < M; m++) {
        double sum = 0;
        for (int64_t n = 0; n < N; n++)
            sum += dout[n * M + m];
        db[m] = (real)sum;
    }
    return LAB_OK;
}

/* dW[k,m] = sum_n x[n,k] dxW[n,m] */
static void weight_gradient(const struct lab_call *call, real *dW,
                            const real *x, const real *dxW, int64_t N,
                            int64_t K, int64_t M)
{
    for (int64_t k = 0; k < K && !lab_stopped(call); k++) {
        for (int64_t m = 0; m < M; m++) {
            double sum = 0;
            for (int64_t n = 0; n < N; n++)
                sum += (double)x[n * K + k] * dxW[n * M + m];
            dW[k * M + m] = (real)sum;
        }
    }
}

/* dx[n,k] = sum_m dxW[n,m] W[k,m] */
static void input_gradient(const struct lab_call *call, real *dx,
                           const real *dxW, const real *W, int64_t N, int64_t K,
                           int64_t M)
{
    for (int64_t n = 0; n < N && !lab_stopped(call); n++) {
        for (int64_t k = 0; k < K; k++) {
            double sum = 0;
            for (int64_t m = 0; m < M; m++)
                sum += (double)dxW[n * M + m] * W[k * M + m];
            dx[n * K + k] = (real)sum;
        }
    }
}

static enum lab_status dense_matmul_backward(const struct lab_call *call)
{
    const real *dxW = call->in[0].data;
    const real *x = call->in[1].data;
    const real *W = call->in[2].data;
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t N = lab_view_rows(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    weight_gradient(call, call->out[0].data, x, dxW, N, K, M);
    if (call->out[1].data)
        input_gradient(call, call->out[1].data, dxW, W, N, K, M);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("matmul", LAB_FORWARD, dense_matmul_forward),
    LAB_REF_ROW("bias", LAB_FORWARD, dense_bias_forward),
    LAB_REF_ROW("bias", LAB_BACKWARD, dense_bias_backward),
    LAB_REF_ROW("matmul", LAB_BACKWARD, dense_matmul_backward),
};

LAB_REF_SET(dense, variants);
