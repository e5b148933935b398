/* kernels/recurrent/rnn.cu -- a plain recurrent layer on the GPU.
 *
 * The first variant follows the formulas of rnn.h: one thread an element of
 * the result.
 *
 *   sum     neighbours differ in j: Wx and Wh are read a line at a time, x[n,d]
 *           and hp[n,k] are the same for all
 *   tanh    neighbours read and write whole lines; bound by memory
 *
 * cuBLAS takes the products over (sequence_cublas.cu). */
#include "recurrent/rnn.h"
#include "recurrent/sequence.cuh"

/* z[n,j] = sum_d x[n,d] Wx[d,j] + sum_k hp[n,k] Wh[k,j] + b[j] */
static __global__ void rnn_sum_fwd_naive(float *z, const float *x,
                                         const float *hp, const float *Wx,
                                         const float *Wh, const float *b,
                                         int64_t N, int64_t D, int64_t H)
{
    int64_t e = lab_element();
    if (e >= N * H)
        return;
    int64_t n = e / H;
    int64_t j = e % H;
    float sum = b ? b[j] : 0.0f;
    for (int64_t d = 0; d < D; d++)
        sum += x[n * D + d] * Wx[d * H + j];
    for (int64_t k = 0; k < H; k++)
        sum += hp[n * H + k] * Wh[k * H + j];
    z[e] = sum;
}

/* h = tanh(z) */
static __global__ void rnn_tanh_fwd(float *h, const float *z, int64_t count)
{
    int64_t e = lab_element();
    if (e < count)
        h[e] = tanhf(z[e]);
}

/* dh = dr + ds, dz = dh (1 - h^2); dr or ds may be NULL */
static __global__ void rnn_tanh_bwd(float *dz, float *dh, const float *dr,
                                    const float *ds, const float *h,
                                    int64_t count)
{
    int64_t e = lab_element();
    if (e >= count)
        return;
    float sum = (dr ? dr[e] : 0.0f) + (ds ? ds[e] : 0.0f);
    dh[e] = sum;
    dz[e] = sum * (1.0f - h[e] * h[e]);
}

/* dhp[n,k] = sum_j dz[n,j] Wh[k,j] */
static __global__ void rnn_sum_bwd_naive(float *dhp, const float *dz,
                                         const float *Wh, int64_t N, int64_t H)
{
    int64_t e = lab_element();
    if (e >= N * H)
        return;
    const float *row = dz + e / H * H;
    float sum = 0.0f;
    for (int64_t j = 0; j < H; j++)
        sum += row[j] * Wh[e % H * H + j];
    dhp[e] = sum;
}

/* dx[n,t,d] = sum_j dz[t,n,j] Wx[d,j] */
static __global__ void rnn_input_bwd_naive(float *dx, const float *dz,
                                           const float *Wx, int64_t T,
                                           int64_t N, int64_t H, int64_t D)
{
    int64_t e = lab_element();
    if (e >= N * T * D)
        return;
    int64_t t = e / D % T;
    int64_t n = e / D / T;
    const float *row = dz + (t * N + n) * H;
    float sum = 0.0f;
    for (int64_t j = 0; j < H; j++)
        sum += row[j] * Wx[e % D * H + j];
    dx[e] = sum;
}

/* ---- launchers ---- */

static enum lab_status rnn_sum_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    rnn_sum_fwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        lab_in(call, 3), lab_in(call, 4), call->out[0].dim[0],
        lab_view_cols(&call->in[0]), call->out[0].dim[1]);
    return lab_launched("rnn_sum_fwd_naive");
}

static enum lab_status rnn_tanh_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    rnn_tanh_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("rnn_tanh_fwd");
}

static enum lab_status rnn_tanh_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    rnn_tanh_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), lab_in(call, 1),
        lab_in(call, 2), count);
    return lab_launched("rnn_tanh_bwd");
}

static enum lab_status rnn_sum_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    rnn_sum_bwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), call->out[0].dim[0],
        call->out[0].dim[1]);
    return lab_launched("rnn_sum_bwd_naive");
}

static enum lab_status rnn_weights_backward(const struct lab_call *call)
{
    struct sequence_shape s = sequence_shape_of(call);
    const float *dz = lab_in(call, 0);
    sequence_dW_naive<<<lab_blocks(s.D * s.K), LAB_BLOCK, 0,
                        lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 1),
                                            s.D, dz, s.K, s.rows);
    sequence_dU_naive<<<lab_blocks(s.H * s.K), LAB_BLOCK, 0,
                        lab_stream(call)>>>(lab_out(call, 1), lab_in(call, 3),
                                            lab_in(call, 2), dz, s.H, s.K, s.N,
                                            s.rows, true);
    sequence_sum_rows(call, &s);
    return lab_launched("rnn_weights_bwd_naive");
}

static enum lab_status rnn_input_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    const int64_t *dz = call->in[0].dim; /* (T, N, H) */
    rnn_input_bwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), dz[0], dz[1], dz[2],
        call->out[0].dim[2]);
    return lab_launched("rnn_input_bwd_naive");
}

static enum lab_status rnn_sum_forward_cublas(const struct lab_call *call)
{
    return sequence_cublas_forward(call, false);
}

static enum lab_status rnn_sum_backward_cublas(const struct lab_call *call)
{
    return sequence_cublas_backward(call, true);
}

static enum lab_status rnn_weights_cublas(const struct lab_call *call)
{
    return sequence_cublas_weights(call, false);
}

static enum lab_status rnn_input_cublas(const struct lab_call *call)
{
    return sequence_cublas_input(call, true);
}

static const char turn[] = "kernels/recurrent/sequence.cuh";
static const char own[] = "kernels/recurrent/rnn.cu";
static const char cublas[] = "kernels/recurrent/sequence_cublas.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "input", LAB_FORWARD, sequence_turn_naive, turn,
            "sequence_turn"),
    lab_row("naive", "sum", LAB_FORWARD, rnn_sum_forward, own,
            "rnn_sum_fwd_naive"),
    lab_prefer(lab_row("cublas", "sum", LAB_FORWARD, rnn_sum_forward_cublas,
                       cublas, "sequence_cublas_forward")),
    lab_row("naive", "tanh", LAB_FORWARD, rnn_tanh_forward, own,
            "rnn_tanh_fwd"),
    lab_row("naive", "return", LAB_FORWARD, sequence_turn_naive, turn,
            "sequence_turn"),
    lab_row("naive", "return", LAB_BACKWARD, sequence_turn_naive, turn,
            "sequence_turn"),
    lab_row("naive", "tanh", LAB_BACKWARD, rnn_tanh_backward, own,
            "rnn_tanh_bwd"),
    lab_row("naive", "sum", LAB_BACKWARD, rnn_sum_backward, own,
            "rnn_sum_bwd_naive"),
    lab_prefer(lab_row("cublas", "sum", LAB_BACKWARD, rnn_sum_backward_cublas,
                       cublas, "sequence_cublas_backward")),
    lab_row("naive", "weights", LAB_BACKWARD, rnn_weights_backward, turn,
            "sequence_dW_naive"),
    lab_apart(lab_prefer(lab_row("cublas", "weights", LAB_BACKWARD,
                                 rnn_weights_cublas, cublas,
                                 "sequence_cublas_weights"))),
    lab_row("naive", "input", LAB_BACKWARD, rnn_input_backward, own,
            "rnn_input_bwd_naive"),
    lab_prefer(lab_row("cublas", "input", LAB_BACKWARD, rnn_input_cublas,
                       cublas, "sequence_cublas_input")),
};

const struct lab_kernel_set lab_cuda_rnn = lab_set("rnn", variants);
