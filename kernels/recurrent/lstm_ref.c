/* A long short-term memory layer (S. Hochreiter, J. Schmidhuber, 1997; the
 * forget gate: F. Gers, J. Schmidhuber, F. Cummins, 2000).
 *
 * The cell's state c is the memory. What enters it is a candidate a times an
 * input gate i; what stays of it is its old value times a forget gate f; what
 * the layer shows of it is tanh(c) times an output gate o. Back through time,
 * c's gradient meets f alone, one factor an element and no matrix: that is why
 * it need not vanish. */
#include "recurrent/lstm.h"
#include "recurrent/sequence_ref.h"

#define LAB_REF_FILE "kernels/recurrent/lstm_ref.c"

/* sum_k a[k * step_a] b[k * step_b] */
static double lstm_dot(const real *a, int64_t step_a, const real *b,
                       int64_t step_b, int64_t count)
{
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += (double)a[k * step_a] * b[k * step_b];
    return sum;
}

/* z[n,k] = sum_d x[n,d] W[k,d] + sum_j hp[n,j] U[k,j] + b[k] */
static enum lab_status lstm_gates_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *hp = call->in[1].data;
    const real *W = call->in[2].data;
    const real *U = call->in[3].data;
    const real *b = call->in[4].data;
    real *z = call->out[0].data;
    int64_t D = lab_view_cols(&call->in[2]);
    int64_t H = lab_view_cols(&call->in[3]);
    int64_t N = lab_view_rows(&call->out[0]);
    for (int64_t n = 0; n < N && !lab_stopped(call); n++) {
        for (int64_t k = 0; k < 4 * H; k++)
            z[n * 4 * H + k] =
                (real)(lstm_dot(x + n * D, 1, W + k * D, 1, D) +
                       lstm_dot(hp + n * H, 1, U + k * H, 1, H) + b[k]);
    }
    return LAB_OK;
}

/* a, i, f, o from z; c = a i + f cp; h = tanh(c) o */
static enum lab_status lstm_cell_forward(const struct lab_call *call)
{
    const real *z = call->in[0].data;
    const real *cp = call->in[1].data;
    int64_t H = lab_view_cols(&call->in[1]);
    for (int64_t e = 0; e < call->in[1].count; e++) {
        const real *of = z + e / H * 4 * H + e % H;
        real a = real_tanh(of[0]);
        real i = lab_real_sigmoid(of[H]);
        real f = lab_real_sigmoid(of[2 * H]);
        real o = lab_real_sigmoid(of[3 * H]);
        real c = a * i + f * cp[e];
        ((real *)call->out[0].data)[e] = a;
        ((real *)call->out[1].data)[e] = i;
        ((real *)call->out[2].data)[e] = f;
        ((real *)call->out[3].data)[e] = o;
        ((real *)call->out[4].data)[e] = c;
        ((real *)call->out[5].data)[e] = real_tanh(c) * o;
    }
    return LAB_OK;
}

/* An optional input: 0 where it is left out. */
static real lstm_or_zero(const struct lab_view *v, int64_t e)
{
    return v->data ? ((const real *)v->data)[e] : 0;
}

/* The gradients of h and c, and through the four gates to z. */
static enum lab_status lstm_cell_backward(const struct lab_call *call)
{
    const struct lab_view *in = call->in;
    int64_t H = lab_view_cols(&in[4]);
    for (int64_t e = 0; e < in[4].count; e++) {
        real a = ((const real *)in[4].data)[e];
        real i = ((const real *)in[5].data)[e];
        real f = ((const real *)in[6].data)[e];
        real o = ((const real *)in[7].data)[e];
        real shown = real_tanh(((const real *)in[8].data)[e]);
        real cp = ((const real *)in[9].data)[e];
        real dh = lstm_or_zero(&in[0], e) + lstm_or_zero(&in[1], e);
        real later = lstm_or_zero(&in[2], e);
        if (in[3].data)
            later *= ((const real *)in[3].data)[e];
        real dc = dh * o * (1 - shown * shown) + later;
        real *dz = (real *)call->out[0].data + e / H * 4 * H + e % H;
        dz[0] = dc * i * (1 - a * a);
        dz[H] = dc * a * i * (1 - i);
        dz[2 * H] = dc * cp * f * (1 - f);
        dz[3 * H] = dh * shown * o * (1 - o);
        ((real *)call->out[1].data)[e] = dh;
        ((real *)call->out[2].data)[e] = dc;
        if (call->out[3].data)
            ((real *)call->out[3].data)[e] = dc * f;
    }
    return LAB_OK;
}

/* dhp[n,j] = sum_k dz[n,k] U[k,j] */
static enum lab_status lstm_gates_backward(const struct lab_call *call)
{
    const real *dz = call->in[0].data;
    const real *U = call->in[1].data;
    real *dhp = call->out[0].data;
    int64_t K = call->in[1].dim[0];
    int64_t H = call->in[1].dim[1];
    for (int64_t e = 0; e < call->out[0].count && !lab_stopped_at(call, e, H);
         e++)
        dhp[e] = (real)lstm_dot(dz + e / H * K, 1, U + e % H, H, K);
    return LAB_OK;
}

/* Every time step used the same weights: their gradient is the sum over the
 * steps. The h that step t read is that of step t-1, so the rows of h are one
 * step of N behind those of dz, and h0 is before them. */
static enum lab_status lstm_weights_backward(const struct lab_call *call)
{
    const real *dz = call->in[0].data;
    const real *xs = call->in[1].data;
    const real *h = call->in[2].data;
    const real *h0 = call->in[3].data;
    real *dW = call->out[0].data;
    real *dU = call->out[1].data;
    real *db = call->out[2].data;
    int64_t N = call->in[0].dim[1];
    int64_t K = call->in[0].dim[2];
    int64_t D = call->in[1].dim[2];
    int64_t H = call->in[2].dim[2];
    int64_t rows = call->in[0].dim[0] * N;
    for (int64_t k = 0; k < K && !lab_stopped(call); k++) {
        for (int64_t d = 0; d < D; d++)
            dW[k * D + d] = (real)lstm_dot(dz + k, K, xs + d, D, rows);
        for (int64_t j = 0; j < H; j++)
            dU[k * H + j] =
                (real)(lstm_dot(dz + k, K, h0 + j, H, N) +
                       lstm_dot(dz + N * K + k, K, h + j, H, rows - N));
        double sum = 0;
        for (int64_t r = 0; r < rows; r++)
            sum += dz[r * K + k];
        db[k] = (real)sum;
    }
    return LAB_OK;
}

/* dx[n,t,d] = sum_k dz[t,n,k] W[k,d] */
static enum lab_status lstm_input_backward(const struct lab_call *call)
{
    const real *dz = call->in[0].data;
    const real *W = call->in[1].data;
    real *dx = call->out[0].data;
    int64_t T = call->in[0].dim[0];
    int64_t N = call->in[0].dim[1];
    int64_t K = call->in[1].dim[0];
    int64_t D = call->in[1].dim[1];
    for (int64_t e = 0; e < call->out[0].count && !lab_stopped_at(call, e, D);
         e++) {
        int64_t t = e / D % T;
        int64_t n = e / D / T;
        dx[e] = (real)lstm_dot(dz + (t * N + n) * K, 1, W + e % D, D, K);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_SEQUENCE_ROWS,
    LAB_REF_ROW("gates", LAB_FORWARD, lstm_gates_forward),
    LAB_REF_ROW("cell", LAB_FORWARD, lstm_cell_forward),
    LAB_REF_ROW("cell", LAB_BACKWARD, lstm_cell_backward),
    LAB_REF_ROW("gates", LAB_BACKWARD, lstm_gates_backward),
    LAB_REF_ROW("weights", LAB_BACKWARD, lstm_weights_backward),
    LAB_REF_ROW("input", LAB_BACKWARD, lstm_input_backward),
};

LAB_REF_SET(lstm, variants);
