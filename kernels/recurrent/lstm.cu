/* kernels/recurrent/lstm.cu -- a long short-term memory layer on the GPU.
 *
 * The first variant follows the formulas of lstm.h. A thread owns one
 * element: of z, and walks a row of W and one of U; of the cell, and computes
 * all of it, four gates, the state and the result, from four elements of z:
 * nothing of the cell is written and read again on the way.
 *
 *   gates   neighbours differ in k: they read W and U a row apart, 32
 *           transactions where one would do, while x[n,d] is the same for all
 *   cell    neighbours differ in j: every read and write is of whole lines;
 *           bound by memory, 5 reads and 6 writes an element
 *
 * cuBLAS takes the products over (sequence_cublas.cu); the cell stays ours. The
 * last row, cublas_seq, does the forward pass as a whole: the product with x, which
 * waits for no time step, is taken out of the loop: where x is as wide as h, half of the
 * loop's work. */
#include "activation/activation.cuh"
#include "library/cublas_exec.h"
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

/* The four gates' parts of z: a row of each is `ld` numbers from one to the next.
 * They may lie where the gates go. */
struct lstm_sums {
    const float *a;
    const float *i;
    const float *f;
    const float *o;
    int64_t ld;
};

/* a, i, f, o from z; c = a i + f cp; h = tanh(c) o */
static __global__ void lstm_cell_fwd(struct lstm_cell out, struct lstm_sums z,
                                     const float *cp, int64_t count, int64_t H)
{
    int64_t e = lab_element();
    if (e >= count)
        return;
    int64_t at = e / H * z.ld + e % H;
    float a = tanhf(z.a[at]);
    float i = sigmoid_value(z.i[at]);
    float f = sigmoid_value(z.f[at]);
    float o = sigmoid_value(z.o[at]);
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
    int64_t H = lab_view_cols(&call->in[1]);
    const float *z = lab_in(call, 0);
    lstm_cell_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        out, lstm_sums{z, z + H, z + 2 * H, z + 3 * H, 4 * H}, lab_in(call, 1),
        count, H);
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

/* ---- all time steps of the forward pass in one ---- */

struct lstm_layer {
    const struct lab_call *call;
    int64_t N;
    int64_t T;
    int64_t D;
    int64_t H;
    float *gate[4]; /* a, i, f, o (T, N, H): first their parts of z */
    float *c;
    float *h;
    float *xs; /* (T, N, D) */
};

/* cuBLASLt takes its matrices and the bias to start at multiples of so many bytes;
 * a gate's part of W and of b does where a row of a gate has as many. */
enum { LT_ALIGNED = 256 };

/* Each gate's part of z is xs W^T + b: x does not wait for h, so that the products
 * of all time steps are one. */
static enum lab_status lstm_input_products(const struct lstm_layer *l)
{
    const struct lab_exec *exec = l->call->exec;
    const struct lab_cublas *blas = exec->cublas;
    int64_t H = l->H;
    int64_t D = l->D;
    int64_t rows = l->T * l->N;
    enum lab_status st = LAB_OK;
    for (int k = 0; k < 4 && !st; k++) {
        const float *W = lab_in(l->call, 1) + k * H * D;
        const float *b = lab_in(l->call, 3) + k * H;
        if (blas->sgemm_bias && H * sizeof(float) % LT_ALIGNED == 0 &&
            blas->sgemm_bias(exec, LAB_CUBLAS_T, LAB_CUBLAS_N, (int)H,
                             (int)rows, (int)D, W, (int)D, l->xs, (int)D, b,
                             l->gate[k], (int)H) == 0)
            continue;
        int64_t count = rows * H;
        sequence_start<<<lab_blocks(count), LAB_BLOCK, 0,
                         lab_stream(l->call)>>>(l->gate[k], b, count, H);
        const struct lab_cublas_product p = {
            rows, H, D, l->xs, D, false, W, D, true, 1.0f, l->gate[k], H};
        st = lab_launched("sequence_start");
        if (!st)
            st = lab_cublas_multiply(l->call, &p);
    }
    return st;
}

/* Adds h U^T of one time step to the four parts of z, which lie the same distance
 * from one to the next, or do not. */
static enum lab_status lstm_state_products(const struct lstm_layer *l,
                                           int64_t at, const float *h)
{
    int64_t H = l->H;
    int64_t next = l->gate[1] - l->gate[0];
    bool even =
        l->gate[2] - l->gate[1] == next && l->gate[3] - l->gate[2] == next;
    enum lab_status st = LAB_OK;
    for (int k = 0; k < (even ? 1 : 4) && !st; k++) {
        const struct lab_cublas_product p = {l->N,
                                             H,
                                             H,
                                             h,
                                             H,
                                             false,
                                             lab_in(l->call, 2) + k * H * H,
                                             H,
                                             true,
                                             1.0f,
                                             l->gate[k] + at,
                                             H};
        st =
            lab_cublas_multiply_many(l->call, &p, even ? 4 : 1, 0, H * H, next);
    }
    return st;
}

static enum lab_status lstm_forward_cublas(const struct lab_call *call)
{
    const int64_t *x = call->in[0].dim;
    struct lstm_layer l = {call, x[0], x[1], x[2], call->in[2].dim[1]};
    const int64_t sides[] = {l.T * l.N, l.D, l.H};
    enum lab_status st = lab_cublas_ask(call->exec->cublas, sides, 3);
    if (st)
        return st;
    for (int k = 0; k < 4; k++)
        l.gate[k] = lab_out(call, 2 + k);
    l.h = lab_out(call, 1);
    l.c = lab_out(call, 6);
    l.xs = lab_out(call, 7);
    sequence_turn_run(call, l.xs, lab_in(call, 0), l.N, l.T, l.D);
    st = lab_launched("sequence_turn");
    if (!st)
        st = lstm_input_products(&l);
    int64_t each = l.N * l.H;
    for (int64_t t = 0; t < l.T && !st; t++) {
        int64_t at = t * each;
        st = lstm_state_products(&l, at,
                                 t > 0 ? l.h + at - each : lab_in(call, 4));
        if (st)
            return st;
        struct lstm_cell cell = {l.gate[0] + at, l.gate[1] + at, l.gate[2] + at,
                                 l.gate[3] + at, l.c + at,       l.h + at};
        lstm_cell_fwd<<<lab_blocks(each), LAB_BLOCK, 0, lab_stream(call)>>>(
            cell, lstm_sums{cell.a, cell.i, cell.f, cell.o, l.H},
            t > 0 ? l.c + at - each : lab_in(call, 5), each, l.H);
        st = lab_launched("lstm_cell_fwd");
    }
    if (st)
        return st;
    if (call->out[0].rank == 3)
        sequence_turn_run(call, lab_out(call, 0), l.h, l.T, l.N, l.H);
    else
        sequence_turn_run(call, lab_out(call, 0), l.h + (l.T - 1) * each, 1, 1,
                          each);
    return lab_launched("sequence_turn");
}

static constexpr struct lab_variant lstm_one_way(struct lab_variant row)
{
    row.keeps_parts = true;
    row.one_way = true;
    return row;
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
    lab_apart(lab_prefer(lab_row("cublas", "weights", LAB_BACKWARD,
                                 lstm_weights_cublas, cublas,
                                 "sequence_cublas_weights"))),
    lab_row("naive", "input", LAB_BACKWARD, lstm_input_backward, own,
            "lstm_input_bwd_naive"),
    lab_prefer(lab_row("cublas", "input", LAB_BACKWARD, lstm_input_cublas,
                       cublas, "sequence_cublas_input")),
    lstm_one_way(lab_row("cublas_seq", nullptr, LAB_FORWARD,
                         lstm_forward_cublas, own, "lstm_forward_cublas")),
};

const struct lab_kernel_set lab_cuda_lstm = lab_set("lstm", variants);
