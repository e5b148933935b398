/* The mean of the rows of every sequence. Their order is lost: two sequences
 * with the same rows in another order have the same mean. */
#include "common/ref.h"
#include "sequence_mean/sequence_mean.h"

#define LAB_REF_FILE "kernels/sequence_mean/sequence_mean_ref.c"

/* y[n,d] = (sum_t x[n,t,d]) / T */
static enum lab_status sequence_mean_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    int64_t D = lab_view_cols(&call->in[0]);
    int64_t T = call->in[0].dim[1];
    for (int64_t i = 0; i < call->out[0].count; i++) {
        const real *first = x + i / D * T * D + i % D;
        double sum = 0;
        for (int64_t t = 0; t < T; t++)
            sum += first[t * D];
        y[i] = (real)(sum / (double)T);
    }
    return LAB_OK;
}

/* dx[n,t,d] = dy[n,d] / T: every place had the same share. */
static enum lab_status sequence_mean_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    real *dx = call->out[0].data;
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t T = call->out[0].dim[1];
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = (real)(dy[i / (T * D) * D + i % D] / (double)T);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("mean", LAB_FORWARD, sequence_mean_forward),
    LAB_REF_ROW("mean", LAB_BACKWARD, sequence_mean_backward),
};

LAB_REF_SET(sequence_mean, variants);
