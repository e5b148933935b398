/* grad_sum: a tensor that feeds several nodes moves the loss along several
 * paths. Its gradient is the sum of what each path brings back. */
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

static const struct lab_variant variants[] = {
    LAB_REF_ROW("sum", LAB_BACKWARD, grad_sum_backward),
};

const struct lab_kernel_set LAB_REF(grad_sum) = {"grad_sum", variants,
                                                 LAB_COUNT_OF(variants)};
