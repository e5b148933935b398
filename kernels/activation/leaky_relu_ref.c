/* leaky_relu: relu with a small slope on the left, so that a unit with an input
 * that is always negative still gets a gradient and can come back. */
#include "activation/activation.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/leaky_relu_ref.c"

/* y = x if x > 0, else slope x */
static enum lab_status leaky_relu_forward(const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    real slope = (real)p->slope;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = x[i] > 0 ? x[i] : slope * x[i]; /* a NaN stays a NaN */
    return LAB_OK;
}

/* dy/dx = 1 if x > 0, else slope */
static enum lab_status leaky_relu_backward(const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    real slope = (real)p->slope;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = x[i] > 0 ? dy[i] : slope * dy[i];
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("leaky_relu", LAB_FORWARD, leaky_relu_forward),
    LAB_REF_ROW("leaky_relu", LAB_BACKWARD, leaky_relu_backward),
};

LAB_REF_SET(leaky_relu, variants);
