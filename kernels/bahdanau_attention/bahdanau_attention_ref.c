/* Additive attention, step by step: compare a state with every row, score,
 * softmax, weighted sum. */
#include "bahdanau_attention/bahdanau_attention.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/bahdanau_attention/bahdanau_attention_ref.c"

/* u[n,t,a] = sum_i s[n,i] Ws[i,a] + sum_d h[n,t,d] Wh[d,a] + b[a] */
static enum lab_status bahdanau_u_forward(const struct lab_call *call)
{
    const real *s = call->in[0].data;
    const real *h = call->in[1].data;
    const real *Ws = call->in[2].data;
    const real *Wh = call->in[3].data;
    const real *b = call->in[4].data;
    real *u = call->out[0].data;
    struct lab_bahdanau_dims d =
        lab_bahdanau_sizes(&call->in[1], &call->in[0], &call->in[2]);
    for (int64_t i = 0; i < call->out[0].count && !lab_stopped_at(call, i, d.A);
         i++) {
        int64_t a = i % d.A;
        int64_t row = i / d.A;
        double sum = b[a];
        for (int64_t k = 0; k < d.S; k++)
            sum += (double)s[row / d.T * d.S + k] * Ws[k * d.A + a];
        for (int64_t k = 0; k < d.D; k++)
            sum += (double)h[row * d.D + k] * Wh[k * d.A + a];
        u[i] = (real)sum;
    }
    return LAB_OK;
}

static enum lab_status bahdanau_t_forward(const struct lab_call *call)
{
    const real *u = call->in[0].data;
    real *t = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        t[i] = real_tanh(u[i]);
    return LAB_OK;
}

/* e[n,t] = sum_a t[n,t,a] v[a] */
static enum lab_status bahdanau_e_forward(const struct lab_call *call)
{
    const real *t = call->in[0].data;
    const real *v = call->in[1].data;
    real *e = call->out[0].data;
    int64_t A = call->in[1].count;
    for (int64_t row = 0; row < call->out[0].count; row++) {
        double sum = 0;
        for (int64_t a = 0; a < A; a++)
            sum += (double)t[row * A + a] * v[a];
        e[row] = (real)sum;
    }
    return LAB_OK;
}

/* a[n,:] = softmax(e[n,:]) */
static enum lab_status bahdanau_a_forward(const struct lab_call *call)
{
    int64_t T = lab_view_cols(&call->in[0]);
    for (int64_t n = 0; n < lab_view_rows(&call->in[0]); n++) {
        const real *e = (const real *)call->in[0].data + n * T;
        real *a = (real *)call->out[0].data + n * T;
        real max = e[0];
        double sum = 0;
        for (int64_t t = 1; t < T; t++)
            max = e[t] > max ? e[t] : max;
        for (int64_t t = 0; t < T; t++)
            sum += real_exp(e[t] - max);
        for (int64_t t = 0; t < T; t++)
            a[t] = (real)(real_exp(e[t] - max) / sum);
    }
    return LAB_OK;
}

/* out[n,d] = sum_t a[n,t] h[n,t,d] */
static enum lab_status bahdanau_context_forward(const struct lab_call *call)
{
    const real *a = call->in[0].data;
    const real *h = call->in[1].data;
    real *out = call->out[0].data;
    struct lab_bahdanau_dims d = lab_bahdanau_sizes(&call->in[1], NULL, NULL);
    for (int64_t i = 0; i < d.N * d.D; i++) {
        int64_t n = i / d.D;
        double sum = 0;
        for (int64_t t = 0; t < d.T; t++)
            sum += (double)a[n * d.T + t] * h[(n * d.T + t) * d.D + i % d.D];
        out[i] = (real)sum;
    }
    return LAB_OK;
}

/* da[n,t] = sum_d dout[n,d] h[n,t,d];  dh[n,t,d] = a[n,t] dout[n,d] */
static enum lab_status bahdanau_context_backward(const struct lab_call *call)
{
    const real *dout = call->in[0].data;
    const real *a = call->in[1].data;
    const real *h = call->in[2].data;
    real *da = call->out[0].data;
    real *dh = call->out[1].data;
    struct lab_bahdanau_dims d = lab_bahdanau_sizes(&call->in[2], NULL, NULL);
    for (int64_t row = 0; row < d.N * d.T; row++) {
        const real *g = dout + row / d.T * d.D;
        double sum = 0;
        for (int64_t k = 0; k < d.D; k++) {
            sum += (double)g[k] * h[row * d.D + k];
            if (dh)
                dh[row * d.D + k] = a[row] * g[k];
        }
        da[row] = (real)sum;
    }
    return LAB_OK;
}

/* de = a (da - sum_t da a) */
static enum lab_status bahdanau_a_backward(const struct lab_call *call)
{
    int64_t T = lab_view_cols(&call->in[1]);
    for (int64_t n = 0; n < lab_view_rows(&call->in[1]); n++) {
        const real *da = (const real *)call->in[0].data + n * T;
        const real *a = (const real *)call->in[1].data + n * T;
        real *de = (real *)call->out[0].data + n * T;
        double dot = 0;
        for (int64_t t = 0; t < T; t++)
            dot += (double)da[t] * a[t];
        for (int64_t t = 0; t < T; t++)
            de[t] = (real)(a[t] * (da[t] - dot));
    }
    return LAB_OK;
}

/* dt[n,t,a] = de[n,t] v[a];  dv[a] = sum_nt de[n,t] t[n,t,a] */
static enum lab_status bahdanau_e_backward(const struct lab_call *call)
{
    const real *de = call->in[0].data;
    const real *t = call->in[1].data;
    const real *v = call->in[2].data;
    real *dt = call->out[0].data;
    real *dv = call->out[1].data;
    int64_t A = call->in[2].count;
    for (int64_t i = 0; i < call->in[1].count; i++)
        dt[i] = de[i / A] * v[i % A];
    for (int64_t a = 0; a < A; a++) {
        double sum = 0;
        for (int64_t row = 0; row < call->in[0].count; row++)
            sum += (double)de[row] * t[row * A + a];
        dv[a] = (real)sum;
    }
    return LAB_OK;
}

/* du = dt (1 - t^2) */
static enum lab_status bahdanau_t_backward(const struct lab_call *call)
{
    const real *dt = call->in[0].data;
    const real *t = call->in[1].data;
    real *du = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        du[i] = dt[i] * (1 - t[i] * t[i]);
    return LAB_OK;
}

/* y[k,a] = sum_row x[row / each, k] du[row,a] */
static void outer_sum(const struct lab_call *call, real *y, const real *x,
                      const real *du, int64_t rows, int64_t each, int64_t K,
                      int64_t A)
{
    for (int64_t i = 0; i < K * A && !lab_stopped_at(call, i, A); i++) {
        double sum = 0;
        for (int64_t row = 0; row < rows; row++)
            sum += (double)(x ? x[row / each * K + i / A] : 1) *
                   du[row * A + i % A];
        y[i] = (real)sum;
    }
}

/* y[m,k] = sum over `each` rows of sum_a du[row,a] W[k,a] */
static void back_sum(const struct lab_call *call, real *y, const real *du,
                     const real *W, int64_t M, int64_t each, int64_t K,
                     int64_t A)
{
    for (int64_t i = 0; i < M * K && !lab_stopped_at(call, i, K); i++) {
        double sum = 0;
        for (int64_t row = i / K * each; row < (i / K + 1) * each; row++) {
            for (int64_t a = 0; a < A; a++)
                sum += (double)du[row * A + a] * W[i % K * A + a];
        }
        y[i] = (real)sum;
    }
}

static enum lab_status bahdanau_u_backward(const struct lab_call *call)
{
    const real *du = call->in[0].data;
    struct lab_bahdanau_dims d =
        lab_bahdanau_sizes(&call->in[2], &call->in[1], &call->in[3]);
    int64_t rows = d.N * d.T;
    outer_sum(call, call->out[0].data, call->in[1].data, du, rows, d.T, d.S,
              d.A);
    outer_sum(call, call->out[1].data, call->in[2].data, du, rows, 1, d.D, d.A);
    outer_sum(call, call->out[2].data, NULL, du, rows, 1, 1, d.A);
    if (call->out[3].data)
        back_sum(call, call->out[3].data, du, call->in[3].data, d.N, d.T, d.S,
                 d.A);
    if (call->out[4].data)
        back_sum(call, call->out[4].data, du, call->in[4].data, rows, 1, d.D,
                 d.A);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("u", LAB_FORWARD, bahdanau_u_forward),
    LAB_REF_ROW("t", LAB_FORWARD, bahdanau_t_forward),
    LAB_REF_ROW("e", LAB_FORWARD, bahdanau_e_forward),
    LAB_REF_ROW("a", LAB_FORWARD, bahdanau_a_forward),
    LAB_REF_ROW("context", LAB_FORWARD, bahdanau_context_forward),
    LAB_REF_ROW("context", LAB_BACKWARD, bahdanau_context_backward),
    LAB_REF_ROW("a", LAB_BACKWARD, bahdanau_a_backward),
    LAB_REF_ROW("e", LAB_BACKWARD, bahdanau_e_backward),
    LAB_REF_ROW("t", LAB_BACKWARD, bahdanau_t_backward),
    LAB_REF_ROW("u", LAB_BACKWARD, bahdanau_u_backward),
};

LAB_REF_SET(bahdanau_attention, variants);
