/* grad_sum: a tensor that feeds several nodes moves the loss along several
 * paths. Its gradient is the sum of what each path brings back. norm: how long a
 * parameter's gradient is. The parameters take turns, and each adds its square: the
 * last one has the length of all gradients seen as one vector. */
#include "grad_sum/grad_sum.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/grad_sum/grad_sum_ref.c"

/* dx[i] = sum_k in[k][i] */
static enum lab_status grad_sum_backward(const struct lab_call *call)
{
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        double sum = 0;
        for (int k = 0; k < call->n_in; k++)
            sum += ((const real *)call->in[k].data)[i];
        dx[i] = (real)sum;
    }
    return LAB_OK;
}

/* norm = sqrt(sum_i g[i]^2),  to_here = sqrt(before^2 + norm^2) */
static enum lab_status grad_norm_update(const struct lab_call *call)
{
    const real *g = call->in[0].data;
    const real *before = call->n_in > 1 ? call->in[1].data : NULL;
    real *norm = call->out[0].data;
    real *to_here = call->out[1].data;
    double sum = 0;
    for (int64_t i = 0; i < call->in[0].count; i++)
        sum += (double)g[i] * (double)g[i];
    *norm = (real)sqrt(sum);
    if (before)
        sum += (double)*before * (double)*before;
    *to_here = (real)sqrt(sum);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("sum", LAB_BACKWARD, grad_sum_backward),
    LAB_REF_ROW("norm", LAB_UPDATE, grad_norm_update),
};

LAB_REF_SET(grad_sum, variants);
