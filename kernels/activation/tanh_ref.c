/* tanh: a sigmoid stretched to (-1, 1), so that its outputs centre on zero:
 * tanh(x) = 2 sigmoid(2x) - 1. The library's tanh is accurate everywhere and
 * never overflows. */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/tanh_ref.c"

/* y = tanh x */
static enum lab_status tanh_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = real_tanh(x[i]);
    return LAB_OK;
}

/* dy/dx = 1 - y^2, as (1 - y)(1 + y): near y = 1 it keeps more digits */
static enum lab_status tanh_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *y = call->in[2].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = dy[i] * ((1 - y[i]) * (1 + y[i]));
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("tanh", LAB_FORWARD, tanh_forward),
    LAB_REF_ROW("tanh", LAB_BACKWARD, tanh_backward),
};

LAB_REF_SET(tanh, variants);
