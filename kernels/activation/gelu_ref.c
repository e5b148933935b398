/* gelu: x times the probability that a normal variable is below x. Far right
 * it is x, far left 0, and smooth between, where relu has its corner.
 *
 * exact   Phi(x) = (1 + erf(x/sqrt 2))/2, written with erfc, which keeps its
 *         digits where 1 + erf would cancel
 * tanh    Phi(x) ~ (1 + tanh u)/2, u = sqrt(2/pi) (x + 0.044715 x^3) */
#include "activation/activation.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/gelu_ref.c"

#define SQRT_HALF 0.70710678118654752440    /* sqrt(1/2) */
#define SQRT_2_BY_PI 0.79788456080286535588 /* sqrt(2/pi) */
#define INV_SQRT_2PI 0.39894228040143267794 /* 1/sqrt(2 pi) */
#define CUBIC 0.044715

/* x Phi(x) */
static real gelu_erf(real x)
{
    return x * ((real)0.5 * real_erfc(-x * (real)SQRT_HALF));
}

/* Phi(x) + x phi(x), phi(x) = exp(-x^2/2)/sqrt(2 pi) */
static real gelu_erf_slope(real x)
{
    real Phi = (real)0.5 * real_erfc(-x * (real)SQRT_HALF);
    real phi = (real)INV_SQRT_2PI * real_exp(-(real)0.5 * x * x);
    return Phi + x * phi;
}

/* x/2 (1 + tanh u) */
static real gelu_tanh(real x)
{
    real u = (real)SQRT_2_BY_PI * (x + (real)CUBIC * x * x * x);
    return (real)0.5 * x * (1 + real_tanh(u));
}

/* (1 + t)/2 + x/2 (1 - t^2) du/dx,  t = tanh u. Where t has reached 1 or -1
 * the second term is 0, however large du/dx: not 0 * inf. */
static real gelu_tanh_slope(real x)
{
    real u = (real)SQRT_2_BY_PI * (x + (real)CUBIC * x * x * x);
    real du = (real)SQRT_2_BY_PI * (1 + 3 * (real)CUBIC * x * x);
    real t = real_tanh(u);
    real dt = (1 - t) * (1 + t);
    return (real)0.5 * (1 + t) + (dt == 0 ? 0 : (real)0.5 * x * dt * du);
}

static enum lab_status gelu_forward(const struct lab_call *call)
{
    const struct lab_gelu_params *p = call->params;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = p->tanh ? gelu_tanh(x[i]) : gelu_erf(x[i]);
    return LAB_OK;
}

static enum lab_status gelu_backward(const struct lab_call *call)
{
    const struct lab_gelu_params *p = call->params;
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] =
            dy[i] * (p->tanh ? gelu_tanh_slope(x[i]) : gelu_erf_slope(x[i]));
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("gelu", LAB_FORWARD, gelu_forward),
    LAB_REF_ROW("gelu", LAB_BACKWARD, gelu_backward),
};

LAB_REF_SET(gelu, variants);
