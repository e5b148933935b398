/* layer norm: every row is moved and stretched to mean 0 and variance 1, and
 * then to a mean (beta) and a width (gamma) that are learned.
 *
 * The variance takes a second pass over the row, sum (x - mean)^2. The
 * one-pass form, sum x^2/D - mean^2, subtracts two large numbers that are
 * nearly equal: for a row like 10000.1, 10000.2 nothing is left in float. */
#include "layer_norm/layer_norm.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/layer_norm/layer_norm_ref.c"

static double row_mean(const real *x, int64_t D)
{
    double sum = 0;
    for (int64_t d = 0; d < D; d++)
        sum += x[d];
    return sum / (double)D;
}

/* rstd = 1/sqrt(variance + eps); eps keeps a constant row from dividing by 0 */
static enum lab_status layer_norm_stats_forward(const struct lab_call *call)
{
    const struct lab_layer_norm_params *p = call->params;
    const real *x = call->in[0].data; /* (R, D) */
    real *mean = call->out[0].data;   /* (R) */
    real *rstd = call->out[1].data;   /* (R) */
    int64_t D = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        double mu = row_mean(x + r * D, D);
        double squares = 0;
        for (int64_t d = 0; d < D; d++) {
            double off = x[r * D + d] - mu;
            squares += off * off;
        }
        mean[r] = (real)mu;
        rstd[r] = (real)(1 / sqrt(squares / (double)D + p->eps));
    }
    return LAB_OK;
}

/* xhat = (x - mean) rstd */
static enum lab_status layer_norm_normalize_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *mean = call->in[1].data;
    const real *rstd = call->in[2].data;
    real *xhat = call->out[0].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t i = 0; i < call->out[0].count; i++)
        xhat[i] = (x[i] - mean[i / D]) * rstd[i / D];
    return LAB_OK;
}

/* y = xhat gamma + beta */
static enum lab_status layer_norm_scale_forward(const struct lab_call *call)
{
    const real *xhat = call->in[0].data;
    const real *gamma = call->in[1].data;
    const real *beta = call->in[2].data;
    real *y = call->out[0].data;
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = xhat[i] * gamma[i % D] + beta[i % D];
    return LAB_OK;
}

/* dgamma = sum_r dy xhat,  dbeta = sum_r dy,  dxhat = dy gamma: the parameters
 * are shared by all rows, so their gradients are sums over the rows. */
static enum lab_status layer_norm_scale_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;    /* (R, D) */
    const real *xhat = call->in[1].data;  /* (R, D) */
    const real *gamma = call->in[2].data; /* (D) */
    real *dxhat = call->out[0].data;
    real *dgamma = call->out[1].data;
    real *dbeta = call->out[2].data;
    int64_t D = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t d = 0; d < D; d++) {
        double sum_gamma = 0;
        double sum_beta = 0;
        for (int64_t r = 0; r < R; r++) {
            int64_t i = r * D + d;
            sum_gamma += (double)dy[i] * xhat[i];
            sum_beta += dy[i];
            dxhat[i] = dy[i] * gamma[d];
        }
        dgamma[d] = (real)sum_gamma;
        dbeta[d] = (real)sum_beta;
    }
    return LAB_OK;
}

/* dx = rstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat)). The two means are
 * what comes back through `mean` and `rstd`, which every x of the row moves. */
static enum lab_status
layer_norm_normalize_backward(const struct lab_call *call)
{
    const real *dxhat = call->in[0].data;
    const real *xhat = call->in[1].data;
    const real *rstd = call->in[2].data;
    real *dx = call->out[0].data;
    int64_t D = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        double through_mean = row_mean(dxhat + r * D, D);
        double through_rstd = 0;
        for (int64_t i = r * D; i < (r + 1) * D; i++)
            through_rstd += (double)dxhat[i] * xhat[i];
        through_rstd /= (double)D;
        for (int64_t i = r * D; i < (r + 1) * D; i++)
            dx[i] = (real)(rstd[r] *
                           (dxhat[i] - through_mean - xhat[i] * through_rstd));
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("stats", LAB_FORWARD, layer_norm_stats_forward),
    LAB_REF_ROW("normalize", LAB_FORWARD, layer_norm_normalize_forward),
    LAB_REF_ROW("scale", LAB_FORWARD, layer_norm_scale_forward),
    LAB_REF_ROW("scale", LAB_BACKWARD, layer_norm_scale_backward),
    LAB_REF_ROW("normalize", LAB_BACKWARD, layer_norm_normalize_backward),
};

LAB_REF_SET(layer_norm, variants);
