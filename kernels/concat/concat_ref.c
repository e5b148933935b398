/* concat: the rows of several tensors, one after the other; backward each takes its
 * part of the gradient. Nothing is computed. */
#include "concat/concat.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/concat/concat_ref.c"

static enum lab_status concat_forward(const struct lab_call *call)
{
    const struct lab_concat_params *p = call->params;
    real *y = call->out[0].data;
    int64_t rows = call->out[0].count / p->row;
    for (int k = 0; k < p->n; k++) {
        const real *x = call->in[k].data;
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < p->width[k]; i++)
                y[r * p->row + i] = x[r * p->width[k] + i];
        y += p->width[k];
    }
    return LAB_OK;
}

static enum lab_status concat_backward(const struct lab_call *call)
{
    const struct lab_concat_params *p = call->params;
    const real *dy = call->in[0].data;
    int64_t rows = call->in[0].count / p->row;
    for (int k = 0; k < p->n; k++) {
        real *dx = call->out[k].data;
        for (int64_t r = 0; dx && r < rows; r++)
            for (int64_t i = 0; i < p->width[k]; i++)
                dx[r * p->width[k] + i] = dy[r * p->row + i];
        dy += p->width[k];
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("copy", LAB_FORWARD, concat_forward),
    LAB_REF_ROW("copy", LAB_BACKWARD, concat_backward),
};

LAB_REF_SET(concat, variants);
