/* sigmoid: squeezes any number into (0, 1).
 *
 * Two formulas are the same on paper and not in a machine:
 *     1/(1 + exp(-x))   overflows for x = -100: exp(100) is inf in float
 *     exp(x)/(1+exp(x)) overflows for x = +100
 * Each side takes the one with an exp of a negative argument: lab_real_sigmoid
 * in ref.h. The gradient is taken from y, y (1 - y), which needs no exp at
 * all: the form exp(-x)/(1 + exp(-x))^2 gives inf/inf = NaN at x = -100. */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/sigmoid_ref.c"

/* y = 1/(1 + exp(-x)) */
static enum lab_status sigmoid_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = lab_real_sigmoid(x[i]);
    return LAB_OK;
}

/* dy/dx = y (1 - y) */
static enum lab_status sigmoid_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *y = call->in[2].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = dy[i] * (y[i] * (1 - y[i]));
    return LAB_OK;
}

/* The derivative as the quotient rule gives it, from x: exp(-x) / (1 + exp(-x))^2.
 * In float the square overflows below -44.36, which gives 0, and exp itself below
 * -88.72, which gives NaN. */
static enum lab_status sigmoid_backward_direct(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        real e = real_exp(-x[i]);
        real square = (1 + e) * (1 + e);
        dx[i] = dy[i] * (e / square);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("sigmoid", LAB_FORWARD, sigmoid_forward),
    LAB_REF_ROW("sigmoid", LAB_BACKWARD, sigmoid_backward),
    LAB_REF_WRONG_ROW("direct", "sigmoid", LAB_BACKWARD,
                      sigmoid_backward_direct, "exp(-x) overflows"),
};

LAB_REF_SET(sigmoid, variants);
