/* kernels/recurrent/lstm.cu -- a long short-term memory layer on the GPU.
 *
 * The first rung does what the formulas of lstm.h say. A thread owns one
 * element: of z, and walks a row of W and one of U; of the cell, and computes
 * all of it, four gates, the state and the result, from four elements of z:
 * nothing of the cell is written and read again on the way.
 *
 *   gates   neighbours differ in k: they read W and U a row apart, 32
 *           transactions where one would do, while x[n,d] is the same for all
 *   cell    neighbours differ in j: every read and write is of whole lines;
 *           bound by memory, 4 reads and 6 writes an element
 *
 * cuBLAS takes the products over (sequence_cublas.cu); the cell stays ours. */
#include "activation/activation.cuh"
#include "recurrent/lstm.h"
#include "recurrent/sequence.cuh"

/* z[n,k] = sum_d x[n,d] W[k,d] + sum_j hp[n,j] U[k,j] + b[k] */
static __global__ void lstm_gates_fwd_naive(float *z, const float *x,
                                            const float *hp, const float *W,
                                            const float *U, const float *b,
                                            int64_t N, int64_t D, int64_t H)
{
    int64_t e = lab_element();
    if (e >= N * 4 * H)
        return;
    int64_t n = e / (4 * H);
    int64_t k = e % (4 * H);
    float sum = b[k];
    for (int64_t d = 0; d < D; d++)
        sum += x[n * D + d] * W[k * D + d];
    for (int64_t j = 0; j < H; j++)
        sum += hp[n * H + j] * U[k * H + j];
    z[e] = sum;
}

struct lstm_cell {
    float *a;
    float *i;
    float *f;
    float *o;
    float *c;
    float *h;
};

/* a, i, f, o from z; c = a i + f cp; h = tanh(c) o */
static __global__ void lstm_cell_fwd(struct lstm_cell out, const float *z,
                                     const float *cp, int64_t count, int64_t H)
{
    int64_t e = lab_element();
    if (e >= count)
        return;
    const float *of = z + e / H * 4 * H + e % H;
    float a = tanhf(of[0]);
    float i = sigmoid_value(of[H]);
    float f = sigmoid_value(of[2 * H]);
    float o = sigmoid_value(of[3 * H]);
    float c = a * i + f * cp[e];
    out.a[e] = a;
    out.i[e] = i;
    out.f[e] = f;
    out.o[e] = o;
    out.c[e] = c;
    out.h[e] = tanhf(c) * o;
}

/* Inputs of the cell, backward, as lstm.h has them; dr to fn may be NULL. */
struct lstm_cell_in {
    const float *dr;
    const float *dg;
    const float *dcn;
    const float *fn;
    const float *a;
    const float *i;
    const float *f;
    const float *o;
    const float *c;
    const float *cp;
};

struct lstm_cell_grad {
    float *dz;
    float *dh;
    float *dc;
    float *dcp; /* may be NULL */
};

static __global__ void lstm_cell_bwd(struct lstm_cell_grad out,
                                     struct lstm_cell_in in, int64_t count,
                                     int64_t H)
{
    int64_t e = lab_element();
    if (e >= count)
        return;
    float a = in.a[e];
    float i = in.i[e];
    float f = in.f[e];
    float o = in.o[e];
    float shown = tanhf(in.c[e]);
    float dh = (in.dr ? in.dr[e] : 0.0f) + (in.dg ? in.dg[e] : 0.0f);
    float dc = dh * o * (1.0f - shown * shown);
    if (in.dcn)
        dc += in.fn ? in.dcn[e] * in.fn[e] : in.dcn[e];
    float *dz = out.dz + e / H * 4 * H + e % H;
    dz[0] = dc * i * (1.0f - a * a);
    dz[H] = dc * a * i * (1.0f - i);
    dz[2 * H] = dc * in.cp[e] * f * (1.0f - f);
    dz[3 * H] = dh * shown * o * (1.0f - o);
    out.dh[e] = dh;
    out.dc[e] = dc;
    if (out.dcp)
        out.dcp[e] = dc * f;
}

/* dhp[n,j] = sum_k dz[n,k] U[k,j] */
static __global__ void lstm_gates_bwd_naive(float *dhp, const float *dz,
                                            const float *U, int64_t N,
                                            int64_t H)
{
    int64_t e = lab_element();
    if (e >= N * H)
        return;
    const float *row = dz + e / H * 4 * H;
    float sum = 0.0f;
    for (int64_t k = 0; k < 4 * H; k++)
        sum += row[k] * U[k * H + e % H];
    dhp[e] = sum;
}

/* dx[n,t,d] = sum_k dz[t,n,k] W[k,d] */
static __global__ void lstm_input_bwd_naive(float *dx, const float *dz,
                                            const float *W, int64_t T,
                                            int64_t N, int64_t K, int64_t D)
{
    int64_t e = lab_element();
    if (e >= N * T * D)
        return;
    int64_t t = e / D % T;
    int64_t n = e / D / T;
    const float *row = dz + (t * N + n) * K;
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += row[k] * W[k * D + e % D];
    dx[e] = sum;
}

/* ---- launchers ---- */

static enum lab_status lstm_gates_forward(const struct lab_call *call)
{
    int64_t D = lab_view_cols(&call->in[0]);
    int64_t H = lab_view_cols(&call->in[1]);
    int64_t count = call->out[0].count;
    lstm_gates_fwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        lab_in(call, 3), lab_in(call, 4), call->out[0].dim[0], D, H);
    return lab_launched("lstm_gates_fwd_naive");
}

static enum lab_status lstm_cell_forward(const struct lab_call *call)
{
    struct lstm_cell out = {lab_out(call, 0), lab_out(call, 1),
                            lab_out(call, 2), lab_out(call, 3),
                            lab_out(call, 4), lab_out(call, 5)};
    int64_t count = call->in[1].count;
    lstm_cell_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        out, lab_in(call, 0), lab_in(call, 1), count,
        lab_view_cols(&call->in[1]));
    return lab_launched("lstm_cell_fwd");
}

static enum lab_status lstm_cell_backward(const struct lab_call *call)
{
    struct lstm_cell_in in = {lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
                              lab_in(call, 3), lab_in(call, 4), lab_in(call, 5),
                              lab_in(call, 6), lab_in(call, 7), lab_in(call, 8),
                              lab_in(call, 9)};
    struct lstm_cell_grad out = {lab_out(call, 0), lab_out(call, 1),
                                 lab_out(call, 2), lab_out(call, 3)};
    int64_t count = call->in[4].count;
    lstm_cell_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        out, in, count, lab_view_cols(&call->in[4]));
    return lab_launched("lstm_cell_bwd");
}

static enum lab_status lstm_gates_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    lstm_gates_bwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), call->out[0].dim[0],
        call->out[0].dim[1]);
    return lab_launched("lstm_gates_bwd_naive");
}

static enum lab_status lstm_weights_backward(const struct lab_call *call)
{
    struct sequence_shape s = sequence_shape_of(call);
    const float *dz = lab_in(call, 0);
    sequence_dW_naive<<<lab_blocks(s.K * s.D), LAB_BLOCK, 0,
                        lab_stream(call)>>>(lab_out(call, 0), dz, s.K,
                                            lab_in(call, 1), s.D, s.rows);
    sequence_dU_naive<<<lab_blocks(s.K * s.H), LAB_BLOCK, 0,
                        lab_stream(call)>>>(lab_out(call, 1), lab_in(call, 3),
                                            lab_in(call, 2), dz, s.H, s.K, s.N,
                                            s.rows, false);
    sequence_sum_rows(call, &s);
    return lab_launched("lstm_weights_bwd_naive");
}

static enum lab_status lstm_input_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    const int64_t *dz = call->in[0].dim; /* (T, N, 4H) */
    lstm_input_bwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), dz[0], dz[1], dz[2],
        call->out[0].dim[2]);
    return lab_launched("lstm_input_bwd_naive");
}

static enum lab_status lstm_gates_forward_cublas(const struct lab_call *call)
{
    return sequence_cublas_forward(call, true);
}

static enum lab_status lstm_gates_backward_cublas(const struct lab_call *call)
{
    return sequence_cublas_backward(call, false);
}

static enum lab_status lstm_weights_cublas(const struct lab_call *call)
{
    return sequence_cublas_weights(call, true);
}

static enum lab_status lstm_input_cublas(const struct lab_call *call)
{
    return sequence_cublas_input(call, false);
}

static const char turn[] = "kernels/recurrent/sequence.cuh";
static const char own[] = "kernels/recurrent/lstm.cu";
static const char cublas[] = "kernels/recurrent/sequence_cublas.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "input", LAB_FORWARD, sequence_turn_naive, turn,
            "sequence_turn"),
    lab_row("naive", "gates", LAB_FORWARD, lstm_gates_forward, own,
            "lstm_gates_fwd_naive"),
    lab_prefer(lab_row("cublas", "gates", LAB_FORWARD,
                       lstm_gates_forward_cublas, cublas,
                       "sequence_cublas_forward")),
    lab_row("naive", "cell", LAB_FORWARD, lstm_cell_forward, own,
            "lstm_cell_fwd"),
    lab_row("naive", "return", LAB_FORWARD, sequence_turn_naive, turn,
            "sequence_turn"),
    lab_row("naive", "return", LAB_BACKWARD, sequence_turn_naive, turn,
            "sequence_turn"),
    lab_row("naive", "cell", LAB_BACKWARD, lstm_cell_backward, own,
            "lstm_cell_bwd"),
    lab_row("naive", "gates", LAB_BACKWARD, lstm_gates_backward, own,
            "lstm_gates_bwd_naive"),
    lab_prefer(lab_row("cublas", "gates", LAB_BACKWARD,
                       lstm_gates_backward_cublas, cublas,
                       "sequence_cublas_backward")),
    lab_row("naive", "weights", LAB_BACKWARD, lstm_weights_backward, turn,
            "sequence_dW_naive"),
    lab_prefer(lab_row("cublas", "weights", LAB_BACKWARD, lstm_weights_cublas,
                       cublas, "sequence_cublas_weights")),
    lab_row("naive", "input", LAB_BACKWARD, lstm_input_backward, own,
            "lstm_input_bwd_naive"),
    lab_prefer(lab_row("cublas", "input", LAB_BACKWARD, lstm_input_cublas,
                       cublas, "sequence_cublas_input")),
};

const struct lab_kernel_set lab_cuda_lstm = lab_set("lstm", variants);
