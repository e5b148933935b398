/* dropout: while training, each element is set to 0 with probability p, so
 * that no unit can rely on another one being there. What is kept is divided by
 * 1 - p ("inverted" dropout): the expected value stays, and evaluation needs
 * no correction.
 *
 * The random number of element i is computed from (seed, node, iteration, i)
 * and not drawn from a generator: a step that is run again drops the same. */
#include "dropout/dropout.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/dropout/dropout_ref.c"

/* mask[i] = u(i) >= p ? 1/(1-p) : 0,  y[i] = x[i] mask[i]. u and p are
 * compared as floats in both builds: the double build must drop the same. */
static enum lab_status dropout_forward(const struct lab_call *call)
{
    const struct lab_dropout_params *params = call->params;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    real *mask = call->out[1].data;
    float p = (float)params->p;
    real kept = (real)(1 / (1 - params->p));
    for (int64_t i = 0; i < call->out[0].count; i++) {
        if (call->training) {
            uint32_t word = lab_random_word(
                call->seed, call->node, (uint32_t)call->iteration, (uint64_t)i);
            mask[i] = lab_random_unit(word) >= p ? kept : 0;
        } else {
            mask[i] = 1;
        }
        y[i] = x[i] * mask[i];
    }
    return LAB_OK;
}

/* dx[i] = dy[i] mask[i]: what was dropped gets no gradient */
static enum lab_status dropout_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const real *mask = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = dy[i] * mask[i];
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("dropout", LAB_FORWARD, dropout_forward),
    LAB_REF_ROW("dropout", LAB_BACKWARD, dropout_backward),
};

LAB_REF_SET(dropout, variants);
