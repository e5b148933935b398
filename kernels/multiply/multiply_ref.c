/* multiply: two tensors of one shape, element by element. */
#include "multiply/multiply.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/multiply/multiply_ref.c"

static enum lab_status multiply_forward(const struct lab_call *call)
{
    const real *a = call->in[0].data;
    const real *b = call->in[1].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = a[i] * b[i];
    return LAB_OK;
}

/* The gradient of a side is the other side times dy. */
static enum lab_status multiply_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    for (int side = 0; side < 2; side++) {
        real *d = call->out[side].data;
        const real *other = call->in[2 - side].data;
        for (int64_t i = 0; d && i < call->in[0].count; i++)
            d[i] = dy[i] * other[i];
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("multiply", LAB_FORWARD, multiply_forward),
    LAB_REF_ROW("multiply", LAB_BACKWARD, multiply_backward),
};

LAB_REF_SET(multiply, variants);
