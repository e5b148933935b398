/* kernels/dense/dense.cu -- a dense layer, the first variant: one thread an element.
 *
 * The naive products follow the formula. A thread owns one element of the
 * result, walks the common dimension, and reads both factors from global memory
 * at every step: 2 loads for 2 flop. Nothing is shared on purpose; what saves
 * the day is that neighbouring threads ask for the same or for neighbouring
 * addresses and the caches answer. The tiled kernels make that sharing
 * explicit.
 *
 *   xW[n,m] = sum_k x[n,k] W[k,m]     neighbours differ in m: W is read in one
 *                                     transaction, x[n,k] is the same for all
 *   dW[k,m] = sum_n x[n,k] dxW[n,m]   the same picture
 *   dx[n,k] = sum_m dxW[n,m] W[k,m]   neighbours differ in k: they read W a row
 *                                     apart, 32 transactions where one would do
 *
 * Memory, without caches: 8 bytes for 2 flop, a quarter of a flop a byte. */
#include "common/columns.cuh"
#include "dense/dense_cuda.cuh"
#include "tf32x3/tf32x3.h"
#include "common/vector.cuh"

static __global__ void dense_matmul_fwd_naive(float *xW, const float *x,
                                              const float *W, int64_t N,
                                              int64_t K, int64_t M)
{
    int64_t i = lab_element();
    if (i >= N * M)
        return;
    int64_t n = i / M;
    int64_t m = i % M;
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += x[n * K + k] * W[k * M + m];
    xW[i] = sum;
}

static __global__ void dense_matmul_dW_naive(float *dW, const float *x,
                                             const float *dxW, int64_t N,
                                             int64_t K, int64_t M)
{
    int64_t i = lab_element();
    if (i >= K * M)
        return;
    int64_t k = i / M;
    int64_t m = i % M;
    float sum = 0.0f;
    for (int64_t n = 0; n < N; n++)
        sum += x[n * K + k] * dxW[n * M + m];
    dW[i] = sum;
}

static __global__ void dense_matmul_dx_naive(float *dx, const float *dxW,
                                             const float *W, int64_t N,
                                             int64_t K, int64_t M)
{
    int64_t i = lab_element();
    if (i >= N * K)
        return;
    int64_t n = i / K;
    int64_t k = i % K;
    float sum = 0.0f;
    for (int64_t m = 0; m < M; m++)
        sum += dxW[n * M + m] * W[k * M + m];
    dx[i] = sum;
}

/* Thread -> element: one each. 8 bytes an element, and the M numbers of b,
 * which stay in the cache. */
static __global__ void dense_bias_fwd(float *out, const float *xW,
                                      const float *b, int64_t count, int64_t M)
{
    int64_t i = lab_element();
    if (i < count)
        out[i] = xW[i] + b[i % M];
}

/* db[m] = sum_n dout[n,m], a thread a column. Neighbouring threads have
 * neighbouring columns, so that every row is read in whole transactions; but a
 * layer of 16 units keeps 16 threads busy, on a chip with 200,000 places. */
static __global__ void dense_bias_bwd_naive(float *db, const float *dout,
                                            int64_t N, int64_t M)
{
    int64_t m = lab_element();
    if (m >= M)
        return;
    double sum = 0.0;
    for (int64_t n = 0; n < N; n++)
        sum += dout[n * M + m];
    db[m] = (float)sum;
}

/* The same with 32 threads a column: thread (tx, ty) adds rows ty, ty + 32 ...
 * of column tx, and the 32 partial sums of a column are added in shared memory,
 * in halves, always the same pairs: no atomics, the same bits at every run. */
static __global__ void dense_bias_bwd_block(float *db, const float *dout,
                                            int64_t N, int64_t M)
{
    __shared__ double part[32][32];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int64_t m = static_cast<int64_t>(blockIdx.x) * 32 + tx;
    double sum = 0.0;
    if (m < M) {
        for (int64_t n = ty; n < N; n += 32)
            sum += dout[n * M + m];
    }
    part[ty][tx] = sum;
    for (int half = 16; half > 0; half /= 2) {
        __syncthreads();
        if (ty < half)
            part[ty][tx] += part[ty + half][tx];
    }
    if (ty == 0 && m < M)
        db[m] = (float)part[0][tx];
}

static enum lab_status dense_naive_forward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    dense_matmul_fwd_naive<<<lab_blocks(s.N * s.M), LAB_BLOCK, 0,
                             lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), s.N, s.K, s.M);
    return lab_launched("dense_matmul_fwd_naive");
}

static enum lab_status dense_naive_backward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    const float *dxW = lab_in(call, 0);
    dense_matmul_dW_naive<<<lab_blocks(s.K * s.M), LAB_BLOCK, 0,
                            lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 1), dxW, s.N, s.K, s.M);
    if (lab_out(call, 1)) {
        dense_matmul_dx_naive<<<lab_blocks(s.N * s.K), LAB_BLOCK, 0,
                                lab_stream(call)>>>(
            lab_out(call, 1), dxW, lab_in(call, 2), s.N, s.K, s.M);
    }
    return lab_launched("dense_matmul_bwd_naive");
}

static enum lab_status dense_bias_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    dense_bias_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count,
        call->in[1].count);
    return lab_launched("dense_bias_fwd");
}

enum lab_status dense_add_bias(const struct lab_call *call, float *out,
                               const float *xW, const float *b)
{
    int64_t count = call->out[0].count;
    int64_t M = lab_view_cols(&call->out[0]);
    if (vector_rows_fit(call, count, M)) {
        vector_run(call, out, xW, nullptr, vector_bias{b, (unsigned)M}, count);
        return lab_launched("vector_map");
    }
    dense_bias_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        out, xW, b, count, M);
    return lab_launched("dense_bias_fwd");
}

static enum lab_status dense_bias_forward_vector(const struct lab_call *call)
{
    return dense_add_bias(call, lab_out(call, 0), lab_in(call, 0),
                          lab_in(call, 1));
}

static enum lab_status dense_bias_backward_naive(const struct lab_call *call)
{
    int64_t M = call->out[0].count;
    dense_bias_bwd_naive<<<lab_blocks(M), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->in[0].count / M, M);
    return lab_launched("dense_bias_bwd_naive");
}

static enum lab_status dense_bias_backward_block(const struct lab_call *call)
{
    if (!lab_out(call, 0))
        return LAB_OK;
    int64_t M = call->out[0].count;
    dense_bias_bwd_block<<<lab_blocks(M, 32), dim3(32, 32), 0,
                           lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->in[0].count / M, M);
    return lab_launched("dense_bias_bwd_block");
}

static enum lab_status dense_bias_backward_split(const struct lab_call *call)
{
    if (!lab_out(call, 0))
        return LAB_OK;
    int64_t M = call->out[0].count;
    columns_sum(call, columns_plain{lab_out(call, 0), lab_in(call, 0)},
                call->in[0].count / M, M);
    return lab_launched("columns_slice");
}

static const char naive[] = "kernels/dense/dense.cu";
static const char tiled[] = "kernels/dense/dense_tiled.cu";
static const char blocked[] = "kernels/dense/dense_blocked.cu";
static const char cublas[] = "kernels/dense/dense_cublas.cu";
static const char tf32x3[] = "kernels/tf32x3/tf32x3_sm90.cuh";

static const struct lab_variant variants[] = {
    lab_row("naive", "matmul", LAB_FORWARD, dense_naive_forward, naive,
            "dense_matmul_fwd_naive"),
    lab_row("tiled", "matmul", LAB_FORWARD, dense_tiled_forward, tiled,
            "dense_tiled"),
    lab_row("blocked", "matmul", LAB_FORWARD, dense_blocked_forward, blocked,
            "dense_blocked"),
    lab_prefer(lab_row("cublas", "matmul", LAB_FORWARD, dense_cublas_forward,
                       cublas, "dense_cublas_forward")),
    lab_row("tf32x3", "matmul", LAB_FORWARD, dense_tf32x3_forward, tf32x3,
            "gemm_tf32x3", false, lab_tf32x3_prepare),
    lab_row("naive", "bias", LAB_FORWARD, dense_bias_forward, naive,
            "dense_bias_fwd"),
    lab_prefer(lab_row("vector", "bias", LAB_FORWARD, dense_bias_forward_vector,
                       naive, "dense_bias_forward_vector")),
    lab_row("naive", "bias", LAB_BACKWARD, dense_bias_backward_naive, naive,
            "dense_bias_bwd_naive"),
    lab_apart(lab_row("block", "bias", LAB_BACKWARD, dense_bias_backward_block,
                      naive, "dense_bias_bwd_block")),
    lab_apart(lab_prefer(
        lab_row("split", "bias", LAB_BACKWARD, dense_bias_backward_split,
                "kernels/common/columns.cuh", "columns_slice"))),
    lab_row("naive", "matmul", LAB_BACKWARD, dense_naive_backward, naive,
            "dense_matmul_dW_naive"),
    lab_row("tiled", "matmul", LAB_BACKWARD, dense_tiled_backward, tiled,
            "dense_tiled"),
    lab_row("blocked", "matmul", LAB_BACKWARD, dense_blocked_backward, blocked,
            "dense_blocked"),
    lab_apart(lab_prefer(lab_row("cublas", "matmul", LAB_BACKWARD,
                                 dense_cublas_backward, cublas,
                                 "dense_cublas_backward"))),
    lab_apart(lab_row("tf32x3", "matmul", LAB_BACKWARD, dense_tf32x3_backward,
                      tf32x3, "gemm_tf32x3", false, lab_tf32x3_prepare)),
    lab_row("fused", nullptr, LAB_FORWARD, dense_fused_forward,
            "kernels/dense/dense_fused.cu", "dense_fused", true),
    lab_row("cublas_lt", nullptr, LAB_FORWARD, dense_cublas_layer, cublas,
            "dense_cublas_layer"),
    lab_row("tf32x3_bias", nullptr, LAB_FORWARD, dense_tf32x3_layer, tf32x3,
            "gemm_tf32x3", false, lab_tf32x3_prepare),
};

const struct lab_kernel_set lab_cuda_dense = lab_set("dense", variants);
