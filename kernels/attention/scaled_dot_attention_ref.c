/* Scaled dot product attention as its formulas read: how well every query fits
 * every key, weights of sum 1 from that, and the weighted sum of the values. The
 * op `attention` runs these same functions with more than one head. */
#include "attention/attention_ref.h"

/* The columns of head h in row t of sequence n: `width` numbers. */
static int64_t head_at(int64_t n, int64_t t, int64_t h, int64_t T, int64_t H,
                       int64_t width)
{
    return ((n * T + t) * H + h) * width;
}

static int64_t seen(const struct lab_attention_params *p, int64_t i, int64_t Tk)
{
    return p->causal && i + 1 < Tk ? i + 1 : Tk;
}

/* scores[n,h,i,j] = sum_e q[n,i,h,e] k[n,j,h,e] / sqrt(E) */
enum lab_status attend_scores_forward(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    const real *q = call->in[0].data;
    const real *k = call->in[1].data;
    real *scores = call->out[0].data;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->in[0], &call->in[1], NULL, p->heads);
    double scale = 1 / sqrt((double)d.E);
    for (int64_t row = 0; row < d.N * d.H * d.Tq && !lab_stopped(call); row++) {
        int64_t i = row % d.Tq;
        int64_t h = row / d.Tq % d.H;
        int64_t n = row / d.Tq / d.H;
        for (int64_t j = 0; j < d.Tk; j++) {
            const real *qi = q + head_at(n, i, h, d.Tq, d.H, d.E);
            const real *kj = k + head_at(n, j, h, d.Tk, d.H, d.E);
            double sum = 0;
            for (int64_t e = 0; e < d.E; e++)
                sum += (double)qi[e] * kj[e];
            scores[row * d.Tk + j] = (real)(sum * scale);
        }
    }
    return LAB_OK;
}

/* Does the mask, where there is one, show key j to this row? */
static bool shown(const struct lab_call *call, int64_t row, int64_t j)
{
    const struct lab_attention_params *p = call->params;
    if (!p->masked)
        return true;
    int64_t Tk = lab_view_cols(&call->in[1]);
    int64_t each = lab_view_rows(&call->in[0]) / lab_view_rows(&call->in[1]);
    return ((const real *)call->in[1].data)[row / each * Tk + j] > 0;
}

/* probs[..,j] = exp(scores[..,j] - max) / sum, over the keys that are seen */
enum lab_status attend_softmax_forward(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    int64_t Tk = lab_view_cols(&call->in[0]);
    int64_t Tq = lab_attention_rows(&call->in[0]);
    for (int64_t row = 0; row < lab_view_rows(&call->in[0]); row++) {
        const real *x = (const real *)call->in[0].data + row * Tk;
        real *y = (real *)call->out[0].data + row * Tk;
        int64_t n = seen(p, row % Tq, Tk);
        real max = -(real)INFINITY;
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            max = x[j] > max && shown(call, row, j) ? x[j] : max;
        for (int64_t j = 0; j < n; j++)
            sum += shown(call, row, j) ? real_exp(x[j] - max) : 0;
        for (int64_t j = 0; j < Tk; j++)
            y[j] = j < n && shown(call, row, j)
                       ? (real)(real_exp(x[j] - max) / sum)
                       : 0;
    }
    return LAB_OK;
}

/* ctx[n,i,h,f] = sum_j probs[n,h,i,j] v[n,j,h,f] */
enum lab_status attend_context_forward(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    const real *probs = call->in[0].data;
    const real *v = call->in[1].data;
    real *ctx = call->out[0].data;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->out[0], NULL, &call->in[1], p->heads);
    for (int64_t row = 0; row < d.N * d.H * d.Tq && !lab_stopped(call); row++) {
        int64_t i = row % d.Tq;
        int64_t h = row / d.Tq % d.H;
        int64_t n = row / d.Tq / d.H;
        for (int64_t f = 0; f < d.F; f++) {
            double sum = 0;
            for (int64_t j = 0; j < d.Tk; j++)
                sum += (double)probs[row * d.Tk + j] *
                       v[head_at(n, j, h, d.Tk, d.H, d.F) + f];
            ctx[head_at(n, i, h, d.Tq, d.H, d.F) + f] = (real)sum;
        }
    }
    return LAB_OK;
}

/* dprobs[n,h,i,j] = sum_f dctx[n,i,h,f] v[n,j,h,f] */
static void shares_gradient(const struct lab_call *call, real *dprobs,
                            const real *dctx, const real *v,
                            const struct lab_attention_dims *d)
{
    for (int64_t row = 0; row < d->N * d->H * d->Tq && !lab_stopped(call);
         row++) {
        int64_t i = row % d->Tq;
        int64_t h = row / d->Tq % d->H;
        int64_t n = row / d->Tq / d->H;
        for (int64_t j = 0; j < d->Tk; j++) {
            const real *g = dctx + head_at(n, i, h, d->Tq, d->H, d->F);
            const real *vj = v + head_at(n, j, h, d->Tk, d->H, d->F);
            double sum = 0;
            for (int64_t f = 0; f < d->F; f++)
                sum += (double)g[f] * vj[f];
            dprobs[row * d->Tk + j] = (real)sum;
        }
    }
}

/* y[n,j,h,w] = scale * sum_i m[n,h,i,j] x[n,i,h,w]: columns of m choose. */
static void mix_columns(const struct lab_call *call, real *y, const real *m,
                        const real *x, int64_t width, double scale,
                        const struct lab_attention_dims *d)
{
    for (int64_t at = 0;
         at < d->N * d->Tk * d->H * width && !lab_stopped_at(call, at, width);
         at++) {
        int64_t w = at % width;
        int64_t h = at / width % d->H;
        int64_t j = at / width / d->H % d->Tk;
        int64_t n = at / width / d->H / d->Tk;
        double sum = 0;
        for (int64_t i = 0; i < d->Tq; i++)
            sum += (double)m[((n * d->H + h) * d->Tq + i) * d->Tk + j] *
                   x[head_at(n, i, h, d->Tq, d->H, width) + w];
        y[at] = (real)(sum * scale);
    }
}

enum lab_status attend_context_backward(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    const real *dctx = call->in[0].data;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->in[0], NULL, &call->in[2], p->heads);
    if (call->out[0].data)
        shares_gradient(call, call->out[0].data, dctx, call->in[2].data, &d);
    if (call->out[1].data)
        mix_columns(call, call->out[1].data, call->in[1].data, dctx, d.F, 1,
                    &d);
    return LAB_OK;
}

/* dscores = probs (dprobs - sum_j dprobs probs); 0 where the mask hides */
enum lab_status attend_softmax_backward(const struct lab_call *call)
{
    int64_t Tk = lab_view_cols(&call->in[1]);
    for (int64_t row = 0; row < lab_view_rows(&call->in[1]); row++) {
        const real *dy = (const real *)call->in[0].data + row * Tk;
        const real *y = (const real *)call->in[1].data + row * Tk;
        real *dx = (real *)call->out[0].data + row * Tk;
        double dot = 0;
        for (int64_t j = 0; j < Tk; j++)
            dot += (double)dy[j] * y[j];
        for (int64_t j = 0; j < Tk; j++)
            dx[j] = (real)(y[j] * (dy[j] - dot));
    }
    return LAB_OK;
}

/* dq[n,i,h,e] = sum_j dscores[n,h,i,j] k[n,j,h,e] / sqrt(E) */
static void query_gradient(const struct lab_call *call, real *dq,
                           const real *dscores, const real *k,
                           const struct lab_attention_dims *d)
{
    double scale = 1 / sqrt((double)d->E);
    for (int64_t at = 0;
         at < d->N * d->Tq * d->H * d->E && !lab_stopped_at(call, at, d->E);
         at++) {
        int64_t e = at % d->E;
        int64_t h = at / d->E % d->H;
        int64_t i = at / d->E / d->H % d->Tq;
        int64_t n = at / d->E / d->H / d->Tq;
        double sum = 0;
        for (int64_t j = 0; j < d->Tk; j++)
            sum += (double)dscores[((n * d->H + h) * d->Tq + i) * d->Tk + j] *
                   k[head_at(n, j, h, d->Tk, d->H, d->E) + e];
        dq[at] = (real)(sum * scale);
    }
}

enum lab_status attend_scores_backward(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    const real *dscores = call->in[0].data;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->in[1], &call->in[2], NULL, p->heads);
    if (call->out[0].data)
        query_gradient(call, call->out[0].data, dscores, call->in[2].data, &d);
    if (call->out[1].data)
        mix_columns(call, call->out[1].data, dscores, call->in[1].data, d.E,
                    1 / sqrt((double)d.E), &d);
    return LAB_OK;
}

static const struct lab_variant variants[] = {ATTEND_ROWS};

LAB_REF_SET(scaled_dot_attention, variants);
