/* swish (also called silu): x sigmoid(x). Like gelu it follows x on the right,
 * goes to 0 on the left, and dips below 0 in between. */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/swish_ref.c"

/* y = x s,  s = sigmoid(x) */
static enum lab_status swish_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = x[i] * lab_real_sigmoid(x[i]);
    return LAB_OK;
}

/* dy/dx = s + x s (1 - s), with 1 - s = sigmoid(-x), which does not cancel */
static enum lab_status swish_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        real s = lab_real_sigmoid(x[i]);
        dx[i] = dy[i] * (s + x[i] * s * lab_real_sigmoid(-x[i]));
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("swish", LAB_FORWARD, swish_forward),
    LAB_REF_ROW("swish", LAB_BACKWARD, swish_backward),
};

LAB_REF_SET(swish, variants);
