/* A learned row for every place of a sequence, added to what is there. */
#include "embedding/positional_embedding.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/embedding/positional_embedding_ref.c"

/* Elements of one sequence: T rows of D. */
static int64_t sequence(const struct lab_view *x)
{
    return x->dim[x->rank - 2] * x->dim[x->rank - 1];
}

/* out[n,t,d] = x[n,t,d] + W[t,d] */
static enum lab_status position_add_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *W = call->in[1].data;
    real *out = call->out[0].data;
    int64_t TD = sequence(&call->in[0]);
    for (int64_t i = 0; i < call->out[0].count; i++)
        out[i] = x[i] + W[i % TD];
    return LAB_OK;
}

/* dW[t,d] = sum_n dout[n,t,d] */
static enum lab_status position_add_backward(const struct lab_call *call)
{
    const real *dout = call->in[0].data;
    real *dW = call->out[0].data;
    int64_t TD = sequence(&call->in[0]);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        double sum = 0;
        for (int64_t at = i; i < TD && at < call->in[0].count; at += TD)
            sum += dout[at];
        dW[i] = (real)sum;
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("add", LAB_FORWARD, position_add_forward),
    LAB_REF_ROW("add", LAB_BACKWARD, position_add_backward),
};

LAB_REF_SET(positional_embedding, variants);
