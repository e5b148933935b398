/* local_response_norm: the squares of the nearest channels are summed at each place
 * anew; a running sum would save work and lose digits. */
#include "local_response_norm/local_response_norm.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/local_response_norm/local_response_norm_ref.c"

static enum lab_status normalize_forward(const struct lab_call *call)
{
    const struct lab_local_response_norm_params *p = call->params;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    real *scale = call->out[1].data;
    for (int64_t i = 0; i < call->in[0].count; i++) {
        int64_t first;
        int64_t last;
        double sum = 0;
        lab_local_response_norm_window(p, i, &first, &last);
        for (int64_t j = first; j <= last; j += p->inner)
            sum += (double)x[j] * x[j];
        double s = p->k + p->alpha / (double)p->size * sum;
        scale[i] = (real)s;
        y[i] = (real)(x[i] * pow(s, -p->beta));
    }
    return LAB_OK;
}

static enum lab_status normalize_backward(const struct lab_call *call)
{
    const struct lab_local_response_norm_params *p = call->params;
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    const real *y = call->in[2].data;
    const real *scale = call->in[3].data;
    real *dx = call->out[0].data;
    double factor = 2 * p->alpha * p->beta / (double)p->size;
    for (int64_t i = 0; i < call->in[0].count; i++) {
        int64_t first;
        int64_t last;
        double sum = 0;
        lab_local_response_norm_window(p, i, &first, &last);
        for (int64_t j = first; j <= last; j += p->inner)
            sum += (double)dy[j] * y[j] / scale[j];
        dx[i] = (real)(dy[i] * pow(scale[i], -p->beta) - factor * x[i] * sum);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("normalize", LAB_FORWARD, normalize_forward),
    LAB_REF_ROW("normalize", LAB_BACKWARD, normalize_backward),
};

LAB_REF_SET(local_response_norm, variants);
