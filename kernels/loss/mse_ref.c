/* mse: squared error, in the three forms that books use. They differ by a
 * constant factor only, and that factor is in the gradient: a learning rate
 * that suits one is wrong for another.
 *
 *     mean                 sum (h - y)^2 / (N E)       dh = 2 (h - y)/(N E)
 *     half_sum             1/2 sum (h - y)^2           dh = h - y
 *     half_sum_per_sample  1/2 sum (h - y)^2 / N       dh = (h - y)/N      */
#include "loss/loss.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/loss/mse_ref.c"

/* In a 1-D h every element is a sample. */
static int64_t sample_count(const struct lab_view *h)
{
    return h->rank > 1 ? h->dim[0] : h->count;
}

/* sample = sum_e (h - y)^2 / E, or 1/2 sum_e (h - y)^2 */
static enum lab_status mse_sample(const struct lab_call *call)
{
    const struct lab_mse_params *p = call->params;
    const real *h = call->in[0].data;
    const real *y = call->in[1].data;
    real *sample = call->out[0].data;
    int64_t N = sample_count(&call->in[0]);
    int64_t E = N > 0 ? call->in[0].count / N : 0;
    double factor = p->reduction == LAB_MSE_MEAN ? 1 / (double)E : 0.5;
    for (int64_t n = 0; n < N; n++) {
        double sum = 0;
        for (int64_t i = n * E; i < (n + 1) * E; i++) {
            double off = (double)h[i] - y[i];
            sum += off * off;
        }
        sample[n] = (real)(factor * sum);
    }
    return LAB_OK;
}

/* loss = sum_n sample, over N unless half_sum */
static enum lab_status mse_reduce(const struct lab_call *call)
{
    const struct lab_mse_params *p = call->params;
    const real *sample = call->in[0].data;
    real *loss = call->out[0].data;
    int64_t N = call->in[0].count;
    double sum = 0;
    for (int64_t n = 0; n < N; n++)
        sum += sample[n];
    bool whole = p->reduction == LAB_MSE_HALF_SUM;
    loss[0] = (real)(whole ? sum : sum / (double)N);
    return LAB_OK;
}

/* dh = s (h - y),  s = 2/(N E), 1 or 1/N */
static enum lab_status mse_backward(const struct lab_call *call)
{
    const struct lab_mse_params *p = call->params;
    const real *h = call->in[0].data;
    const real *y = call->in[1].data;
    real *dh = call->out[0].data;
    double s = 1;
    if (p->reduction == LAB_MSE_MEAN)
        s = 2 / (double)call->in[0].count;
    else if (p->reduction == LAB_MSE_HALF_SUM_PER_SAMPLE)
        s = 1 / (double)sample_count(&call->in[0]);
    for (int64_t i = 0; i < call->out[0].count; i++)
        dh[i] = (real)s * (h[i] - y[i]);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("sample", LAB_LOSS, mse_sample),
    LAB_REF_ROW("reduce", LAB_LOSS, mse_reduce),
    LAB_REF_ROW("sample", LAB_BACKWARD, mse_backward),
};

LAB_REF_SET(mse, variants);
