/* kernels/attention/attention.cu -- the projections of attention, x W + b, and the table.
 *
 * A projection is a dense layer, and the same kernels do it, a variant each: what
 * is new is that product and bias are one step. `naive`, `fused` and `cublas` (by
 * cuBLASLt, where it can) add the bias in the product's kernel; `tiled` and
 * `blocked` add it in a second one, in place. Between the projections:
 * scaled_dot_attention.cu, attention_cublas.cu and attention_fused.cu. */
#include "attention/attention_cuda.cuh"
#include "common/columns.cuh"
#include "dense/dense_cuda.cuh"
#include "tf32x3/tf32x3.h"

/* y[r,m] = sum_k x[r,k] W[k,m] + b[m], a thread an element. */
static __global__ void attention_project_fwd(float *y, const float *x,
                                             const float *W, const float *b,
                                             int64_t R, int64_t K, int64_t M)
{
    int64_t i = lab_element();
    if (i >= R * M)
        return;
    float sum = b ? b[i % M] : 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += x[i / M * K + k] * W[k * M + i % M];
    y[i] = sum;
}

/* dW[k,m] = sum_r x[r,k] dy[r,m], a thread an element. */
static __global__ void attention_project_dW(float *dW, const float *x,
                                            const float *dy, int64_t R,
                                            int64_t K, int64_t M)
{
    int64_t i = lab_element();
    if (i >= K * M)
        return;
    float sum = 0.0f;
    for (int64_t r = 0; r < R; r++)
        sum += x[r * K + i / M] * dy[r * M + i % M];
    dW[i] = sum;
}

/* dx[r,k] = sum_m dy[r,m] W[k,m], a thread an element. */
static __global__ void attention_project_dx(float *dx, const float *dy,
                                            const float *W, int64_t R,
                                            int64_t K, int64_t M)
{
    int64_t i = lab_element();
    if (i >= R * K)
        return;
    float sum = 0.0f;
    for (int64_t m = 0; m < M; m++)
        sum += dy[i / K * M + m] * W[i % K * M + m];
    dx[i] = sum;
}

/* db[m] = sum_r dy[r,m], a thread a column. */
static __global__ void attention_project_db(float *db, const float *dy,
                                            int64_t R, int64_t M)
{
    int64_t m = lab_element();
    if (m >= M)
        return;
    double sum = 0.0;
    for (int64_t r = 0; r < R; r++)
        sum += dy[r * M + m];
    db[m] = (float)sum;
}

static enum lab_status project_forward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    attention_project_fwd<<<lab_blocks(s.N * s.M), LAB_BLOCK, 0,
                            lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        s.N, s.K, s.M);
    return lab_launched("attention_project_fwd");
}

/* The product by a variant of the dense layer, then the bias. */
template <lab_kernel_fn *PRODUCT>
static enum lab_status project_forward_by(const struct lab_call *call)
{
    enum lab_status st = PRODUCT(call);
    float *y = lab_out(call, 0);
    const float *b = lab_in(call, 2);
    return st || !b ? st : dense_add_bias(call, y, y, b);
}

/* dense_fused takes the parameters of a dense layer, or none. */
static enum lab_status project_forward_fused(const struct lab_call *call)
{
    struct lab_call plain = *call;
    plain.params = nullptr;
    return dense_fused_forward(&plain);
}

static enum lab_status bias_gradient(const struct lab_call *call, bool naive)
{
    float *db = lab_out(call, 1);
    int64_t M = lab_view_cols(&call->in[2]);
    int64_t R = lab_view_rows(&call->in[1]);
    if (!db)
        return LAB_OK;
    if (naive)
        attention_project_db<<<lab_blocks(M), LAB_BLOCK, 0, lab_stream(call)>>>(
            db, lab_in(call, 0), R, M);
    else
        columns_sum(call, columns_plain{db, lab_in(call, 0)}, R, M);
    return lab_launched("attention_project_db");
}

static enum lab_status project_backward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[1], &call->in[2]);
    const float *dy = lab_in(call, 0);
    attention_project_dW<<<lab_blocks(s.K * s.M), LAB_BLOCK, 0,
                           lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 1), dy, s.N, s.K, s.M);
    if (lab_out(call, 2)) {
        attention_project_dx<<<lab_blocks(s.N * s.K), LAB_BLOCK, 0,
                               lab_stream(call)>>>(
            lab_out(call, 2), dy, lab_in(call, 2), s.N, s.K, s.M);
    }
    enum lab_status st = lab_launched("attention_project_bwd");
    return st ? st : bias_gradient(call, true);
}

/* dW and dx by a variant of the dense layer, which has them side by side. */
template <lab_kernel_fn *PRODUCTS>
static enum lab_status project_backward_by(const struct lab_call *call)
{
    struct lab_view out[2] = {call->out[0], call->out[2]};
    struct lab_call products = *call;
    products.out = out;
    products.n_out = 2;
    products.params = nullptr;
    enum lab_status st = PRODUCTS(&products);
    return st ? st : bias_gradient(call, false);
}

static const char source[] = "kernels/attention/attention.cu";
static const char tf32x3[] = "kernels/tf32x3/tf32x3_sm90.cuh";

#define PROJECTION_ROWS(step)                                                  \
    lab_row("naive", step, LAB_FORWARD, project_forward, source,               \
            "attention_project_fwd"),                                          \
        lab_row("tiled", step, LAB_FORWARD,                                    \
                project_forward_by<dense_tiled_forward>, source,               \
                "project_forward_by"),                                         \
        lab_row("blocked", step, LAB_FORWARD,                                  \
                project_forward_by<dense_blocked_forward>, source,             \
                "project_forward_by"),                                         \
        lab_prefer(lab_row("cublas", step, LAB_FORWARD, dense_cublas_layer,    \
                           "kernels/dense/dense_cublas.cu",                    \
                           "dense_cublas_layer")),                             \
        lab_row("fused", step, LAB_FORWARD, project_forward_fused, source,     \
                "project_forward_fused"),                                      \
        lab_row("tf32x3", step, LAB_FORWARD, dense_tf32x3_layer, tf32x3,       \
                "gemm_tf32x3", false, lab_tf32x3_prepare),                     \
        lab_row("naive", step, LAB_BACKWARD, project_backward, source,         \
                "attention_project_dW"),                                       \
        lab_row("tiled", step, LAB_BACKWARD,                                   \
                project_backward_by<dense_tiled_backward>, source,             \
                "project_backward_by"),                                        \
        lab_row("blocked", step, LAB_BACKWARD,                                 \
                project_backward_by<dense_blocked_backward>, source,           \
                "project_backward_by"),                                        \
        lab_apart(                                                             \
            lab_prefer(lab_row("cublas", step, LAB_BACKWARD,                   \
                               project_backward_by<dense_cublas_backward>,     \
                               source, "project_backward_by"))),               \
        lab_apart(lab_row("tf32x3", step, LAB_BACKWARD,                        \
                          project_backward_by<dense_tf32x3_backward>, tf32x3,  \
                          "gemm_tf32x3", false, lab_tf32x3_prepare)),          \
        lab_row("fused", step, LAB_BACKWARD,                                   \
                project_backward_by<dense_blocked_backward>, source,           \
                "project_backward_by")

static const struct lab_variant variants[] = {
    PROJECTION_ROWS("q"), PROJECTION_ROWS("k"),      PROJECTION_ROWS("v"),
    ATTEND_CUDA_ROWS,     PROJECTION_ROWS("output"),
};

const struct lab_kernel_set lab_cuda_attention = lab_set("attention", variants);
