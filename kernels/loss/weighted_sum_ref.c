/* weighted_sum: loss = sum y h. Not a loss to learn with: a probe. Its gradient
 * is y itself, so that y = 1 at one place and 0 elsewhere brings back the
 * gradient of that one output. */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/loss/weighted_sum_ref.c"

/* sample[n] = sum_e y[n,e] h[n,e] */
static enum lab_status weighted_sum_sample(const struct lab_call *call)
{
    const real *h = call->in[0].data;
    const real *y = call->in[1].data;
    real *sample = call->out[0].data;
    int64_t N = call->out[0].count;
    int64_t E = N > 0 ? call->in[0].count / N : 0;
    for (int64_t n = 0; n < N; n++) {
        double sum = 0;
        for (int64_t i = n * E; i < (n + 1) * E; i++)
            sum += (double)y[i] * h[i];
        sample[n] = (real)sum;
    }
    return LAB_OK;
}

/* loss = sum_n sample[n] */
static enum lab_status weighted_sum_reduce(const struct lab_call *call)
{
    const real *sample = call->in[0].data;
    real *loss = call->out[0].data;
    double sum = 0;
    for (int64_t n = 0; n < call->in[0].count; n++)
        sum += sample[n];
    loss[0] = (real)sum;
    return LAB_OK;
}

/* dh = y */
static enum lab_status weighted_sum_backward(const struct lab_call *call)
{
    const real *y = call->in[0].data;
    real *dh = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dh[i] = y[i];
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("sample", LAB_LOSS, weighted_sum_sample),
    LAB_REF_ROW("reduce", LAB_LOSS, weighted_sum_reduce),
    LAB_REF_ROW("sample", LAB_BACKWARD, weighted_sum_backward),
};

LAB_REF_SET(weighted_sum, variants);
