/* A plain recurrent layer (J. Elman, 1990): the same weights at every time
 * step, and the layer's own last result as a second input. Back through time
 * the gradient passes Wh and a factor 1 - h^2 below 1 at every step: over many
 * steps it vanishes, or, with a large Wh, explodes. */
#include "recurrent/rnn.h"
#include "recurrent/sequence_ref.h"

#define LAB_REF_FILE "kernels/recurrent/rnn_ref.c"

/* sum_k a[k * step_a] b[k * step_b] */
static double rnn_dot(const real *a, int64_t step_a, const real *b,
                      int64_t step_b, int64_t count)
{
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += (double)a[k * step_a] * b[k * step_b];
    return sum;
}

/* z[n,j] = sum_d x[n,d] Wx[d,j] + sum_k hp[n,k] Wh[k,j] + b[j] */
static enum lab_status rnn_sum_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *hp = call->in[1].data;
    const real *Wx = call->in[2].data;
    const real *Wh = call->in[3].data;
    const real *b = call->in[4].data;
    real *z = call->out[0].data;
    int64_t D = call->in[2].dim[0];
    int64_t H = call->in[2].dim[1];
    for (int64_t e = 0; e < call->out[0].count && !lab_stopped_at(call, e, H);
         e++) {
        int64_t n = e / H;
        int64_t j = e % H;
        z[e] = (real)(rnn_dot(x + n * D, 1, Wx + j, H, D) +
                      rnn_dot(hp + n * H, 1, Wh + j, H, H) + (b ? b[j] : 0));
    }
    return LAB_OK;
}

/* h = tanh(z) */
static enum lab_status rnn_tanh_forward(const struct lab_call *call)
{
    const real *z = call->in[0].data;
    real *h = call->out[0].data;
    for (int64_t e = 0; e < call->out[0].count; e++)
        h[e] = real_tanh(z[e]);
    return LAB_OK;
}

/* dh = dr + ds, dz = dh (1 - h^2) */
static enum lab_status rnn_tanh_backward(const struct lab_call *call)
{
    const real *dr = call->in[0].data;
    const real *ds = call->in[1].data;
    const real *h = call->in[2].data;
    real *dz = call->out[0].data;
    real *dh = call->out[1].data;
    for (int64_t e = 0; e < call->out[0].count; e++) {
        real sum = (dr ? dr[e] : 0) + (ds ? ds[e] : 0);
        dh[e] = sum;
        dz[e] = sum * (1 - h[e] * h[e]);
    }
    return LAB_OK;
}

/* dhp[n,k] = sum_j dz[n,j] Wh[k,j] */
static enum lab_status rnn_sum_backward(const struct lab_call *call)
{
    const real *dz = call->in[0].data;
    const real *Wh = call->in[1].data;
    real *dhp = call->out[0].data;
    int64_t H = call->in[1].dim[0];
    for (int64_t e = 0; e < call->out[0].count && !lab_stopped_at(call, e, H);
         e++)
        dhp[e] = (real)rnn_dot(dz + e / H * H, 1, Wh + e % H * H, 1, H);
    return LAB_OK;
}

/* Every time step used the same weights: their gradient is the sum over the
 * steps. The h that step t read is that of step t-1: h0, then h without its
 * last step. */
static enum lab_status rnn_weights_backward(const struct lab_call *call)
{
    const real *dz = call->in[0].data;
    const real *xs = call->in[1].data;
    const real *h = call->in[2].data;
    const real *h0 = call->in[3].data;
    real *dWx = call->out[0].data;
    real *dWh = call->out[1].data;
    real *db = call->out[2].data;
    int64_t N = call->in[0].dim[1];
    int64_t H = call->in[0].dim[2];
    int64_t D = call->in[1].dim[2];
    int64_t rows = call->in[0].dim[0] * N;
    for (int64_t j = 0; j < H && !lab_stopped(call); j++) {
        for (int64_t d = 0; d < D; d++)
            dWx[d * H + j] = (real)rnn_dot(xs + d, D, dz + j, H, rows);
        for (int64_t k = 0; k < H; k++)
            dWh[k * H + j] =
                (real)(rnn_dot(h0 + k, H, dz + j, H, N) +
                       rnn_dot(h + k, H, dz + N * H + j, H, rows - N));
        double sum = 0;
        for (int64_t r = 0; r < rows; r++)
            sum += dz[r * H + j];
        if (db)
            db[j] = (real)sum;
    }
    return LAB_OK;
}

/* dx[n,t,d] = sum_j dz[t,n,j] Wx[d,j] */
static enum lab_status rnn_input_backward(const struct lab_call *call)
{
    const real *dz = call->in[0].data;
    const real *Wx = call->in[1].data;
    real *dx = call->out[0].data;
    int64_t T = call->in[0].dim[0];
    int64_t N = call->in[0].dim[1];
    int64_t D = call->in[1].dim[0];
    int64_t H = call->in[1].dim[1];
    for (int64_t e = 0; e < call->out[0].count && !lab_stopped_at(call, e, D);
         e++) {
        int64_t t = e / D % T;
        int64_t n = e / D / T;
        dx[e] = (real)rnn_dot(dz + (t * N + n) * H, 1, Wx + e % D * H, 1, H);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_SEQUENCE_ROWS,
    LAB_REF_ROW("sum", LAB_FORWARD, rnn_sum_forward),
    LAB_REF_ROW("tanh", LAB_FORWARD, rnn_tanh_forward),
    LAB_REF_ROW("tanh", LAB_BACKWARD, rnn_tanh_backward),
    LAB_REF_ROW("sum", LAB_BACKWARD, rnn_sum_backward),
    LAB_REF_ROW("weights", LAB_BACKWARD, rnn_weights_backward),
    LAB_REF_ROW("input", LAB_BACKWARD, rnn_input_backward),
};

LAB_REF_SET(rnn, variants);
