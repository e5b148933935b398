/* add: two tensors of one shape, element by element. Backward there is nothing
 * to compute: moving either side by one moves the sum by one. */
#include "add/add.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/add/add_ref.c"

static enum lab_status add_forward(const struct lab_call *call)
{
    const real *a = call->in[0].data;
    const real *b = call->in[1].data;
    real *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = a[i] + b[i];
    return LAB_OK;
}

static enum lab_status add_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    for (int side = 0; side < 2; side++) {
        real *d = call->out[side].data;
        for (int64_t i = 0; d && i < call->in[0].count; i++)
            d[i] = dy[i];
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("add", LAB_FORWARD, add_forward),
    LAB_REF_ROW("add", LAB_BACKWARD, add_backward),
};

LAB_REF_SET(add, variants);
