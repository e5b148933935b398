/* batch norm: every channel is moved and stretched to mean 0 and variance 1
 * over the whole batch, and then to a mean (beta) and a width (gamma) that are
 * learned. Outside of training there may be no batch to measure; the running
 * statistics, gathered in training, stand in for it.
 *
 * The variance takes a second pass, sum (x - mean)^2: the one-pass form
 * subtracts two large numbers that are nearly equal. */
#include "batch_norm/batch_norm.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/batch_norm/batch_norm_ref.c"

/* A tensor seen as (outer, C, inner). */
struct view3 {
    int64_t outer;
    int64_t C;
    int64_t inner;
    double elements; /* of a channel */
};

static struct view3 view3_of(const struct lab_call *call,
                             const struct lab_view *x, int64_t C)
{
    const struct lab_batch_norm_params *p = call->params;
    struct view3 v = {.C = C, .inner = p->inner};
    v.outer = x->count / (C * p->inner);
    v.elements = (double)(v.outer * v.inner);
    return v;
}

/* sum (x - mean) (y - mean), or of x - mean alone when y is NULL */
static double channel_sum(const struct view3 *v, int64_t c, const real *x,
                          const real *y, double mean)
{
    double sum = 0;
    for (int64_t o = 0; o < v->outer; o++) {
        int64_t first = (o * v->C + c) * v->inner;
        for (int64_t i = first; i < first + v->inner; i++)
            sum += y ? (x[i] - mean) * (y[i] - mean) : x[i] - mean;
    }
    return sum;
}

static enum lab_status batch_norm_stats_forward(const struct lab_call *call)
{
    const struct lab_batch_norm_params *p = call->params;
    const real *x = call->in[0].data;
    real *mean = call->out[0].data;
    real *rstd = call->out[1].data;
    real *running_mean = call->out[2].data;
    real *running_var = call->out[3].data;
    struct view3 v = view3_of(call, &call->in[0], call->out[0].count);
    for (int64_t c = 0; c < v.C; c++) {
        double mu = running_mean[c];
        double var = running_var[c];
        if (call->training) {
            mu = channel_sum(&v, c, x, NULL, 0) / v.elements;
            var = channel_sum(&v, c, x, x, mu) / v.elements;
            double unbiased = var * v.elements / (v.elements - 1);
            running_mean[c] =
                (real)((1 - p->momentum) * running_mean[c] + p->momentum * mu);
            running_var[c] = (real)((1 - p->momentum) * running_var[c] +
                                    p->momentum * unbiased);
        }
        mean[c] = (real)mu;
        rstd[c] = (real)(1 / sqrt(var + p->eps));
    }
    return LAB_OK;
}

static enum lab_status batch_norm_normalize_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *mean = call->in[1].data;
    const real *rstd = call->in[2].data;
    real *xhat = call->out[0].data;
    struct view3 v = view3_of(call, &call->in[0], call->in[1].count);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t c = i / v.inner % v.C;
        xhat[i] = (x[i] - mean[c]) * rstd[c];
    }
    return LAB_OK;
}

static enum lab_status batch_norm_scale_forward(const struct lab_call *call)
{
    const real *xhat = call->in[0].data;
    const real *gamma = call->in[1].data;
    const real *beta = call->in[2].data;
    real *y = call->out[0].data;
    struct view3 v = view3_of(call, &call->in[0], call->in[1].count);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t c = i / v.inner % v.C;
        y[i] = xhat[i] * gamma[c] + beta[c];
    }
    return LAB_OK;
}

static enum lab_status batch_norm_scale_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *xhat = call->in[1].data;
    const real *gamma = call->in[2].data;
    real *dxhat = call->out[0].data;
    real *dgamma = call->out[1].data;
    real *dbeta = call->out[2].data;
    struct view3 v = view3_of(call, &call->in[0], call->in[2].count);
    for (int64_t c = 0; c < v.C; c++) {
        dgamma[c] = (real)channel_sum(&v, c, dy, xhat, 0);
        dbeta[c] = (real)channel_sum(&v, c, dy, NULL, 0);
    }
    for (int64_t i = 0; dxhat && i < call->in[0].count; i++)
        dxhat[i] = dy[i] * gamma[i / v.inner % v.C];
    return LAB_OK;
}

/* The two means are what comes back through `mean` and `rstd`, which every x
 * of the channel moves. */
static enum lab_status
batch_norm_normalize_backward(const struct lab_call *call)
{
    const real *dxhat = call->in[0].data;
    const real *xhat = call->in[1].data;
    const real *rstd = call->in[2].data;
    real *dx = call->out[0].data;
    struct view3 v = view3_of(call, &call->in[0], call->in[2].count);
    for (int64_t c = 0; c < v.C; c++) {
        double through_mean = channel_sum(&v, c, dxhat, NULL, 0) / v.elements;
        double through_rstd = channel_sum(&v, c, dxhat, xhat, 0) / v.elements;
        for (int64_t o = 0; o < v.outer; o++) {
            int64_t first = (o * v.C + c) * v.inner;
            for (int64_t i = first; i < first + v.inner; i++)
                dx[i] = (real)(rstd[c] * (dxhat[i] - through_mean -
                                          xhat[i] * through_rstd));
        }
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("stats", LAB_FORWARD, batch_norm_stats_forward),
    LAB_REF_ROW("normalize", LAB_FORWARD, batch_norm_normalize_forward),
    LAB_REF_ROW("scale", LAB_FORWARD, batch_norm_scale_forward),
    LAB_REF_ROW("scale", LAB_BACKWARD, batch_norm_scale_backward),
    LAB_REF_ROW("normalize", LAB_BACKWARD, batch_norm_normalize_backward),
};

LAB_REF_SET(batch_norm, variants);
