/* softplus: log(1 + exp x), a relu without the corner; its slope is the
 * sigmoid. As written it overflows at x = 100; taking max(x, 0) out of the log
 * leaves an exp of a number that is never positive:
 *     log(1 + exp x) = max(x, 0) + log(1 + exp(-|x|)) */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/softplus_ref.c"

/* y = max(x, 0) + log1p(exp(-|x|)) */
static enum lab_status softplus_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = (x[i] > 0 ? x[i] : 0) + real_log1p(real_exp(-real_fabs(x[i])));
    return LAB_OK;
}

/* dy/dx = sigmoid(x) */
static enum lab_status softplus_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = dy[i] * lab_real_sigmoid(x[i]);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("softplus", LAB_FORWARD, softplus_forward),
    LAB_REF_ROW("softplus", LAB_BACKWARD, softplus_backward),
};

LAB_REF_SET(softplus, variants);
