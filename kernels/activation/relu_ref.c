/* relu: the simplest non-linearity. What is negative becomes zero, and where
 * it was zero no gradient comes back. */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/relu_ref.c"

static enum lab_status relu_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = x[i] < 0 ? 0 : x[i]; /* a NaN stays a NaN */
    return LAB_OK;
}

static enum lab_status relu_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = x[i] > 0 ? dy[i] : 0;
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("relu", LAB_FORWARD, relu_forward),
    LAB_REF_ROW("relu", LAB_BACKWARD, relu_backward),
};

LAB_REF_SET(relu, variants);
