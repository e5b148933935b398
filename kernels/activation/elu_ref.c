/* elu: x on the right, alpha (exp(x) - 1) on the left. expm1 keeps the digits of a
 * small x, of which exp(x) - 1 would lose most. */
#include "activation/activation.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/activation/elu_ref.c"

#ifdef LAB_REAL_F64
#define real_expm1 expm1
#else
#define real_expm1 expm1f
#endif

/* y = x if x > 0, else alpha (exp(x) - 1) */
static enum lab_status elu_forward(const struct lab_call *call)
{
    const struct lab_elu_params *p = call->params;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = x[i] > 0 ? x[i] : (real)p->alpha * real_expm1(x[i]);
    return LAB_OK;
}

/* dy/dx = 1 if x > 0, else alpha exp(x), which is y + alpha */
static enum lab_status elu_backward(const struct lab_call *call)
{
    const struct lab_elu_params *p = call->params;
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = x[i] > 0 ? dy[i] : dy[i] * ((real)p->alpha * real_exp(x[i]));
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("elu", LAB_FORWARD, elu_forward),
    LAB_REF_ROW("elu", LAB_BACKWARD, elu_backward),
};

LAB_REF_SET(elu, variants);
