/* sgd: a step against the gradient. With momentum the step remembers the ones
 * before it, like a ball that rolls; nesterov looks one step ahead. Weight
 * decay pulls every parameter towards 0. */
#include "optimizer/optimizer.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/optimizer/sgd_ref.c"

/* d = g + weight_decay p
 * velocity = momentum velocity + d
 * p -= lr d,  lr velocity,  or with nesterov lr (d + momentum velocity) */
static enum lab_status sgd_update(const struct lab_call *call)
{
    const struct lab_sgd_params *params = call->params;
    const real *g = call->in[0].data;
    real *p = call->out[0].data;
    real *velocity = call->out[1].data; /* NULL without momentum */
    real lr = (real)params->lr;
    real momentum = (real)params->momentum;
    real decay = (real)params->weight_decay;
    real scale = lab_ref_clip(call, params->clip);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        real d = scale * g[i] + decay * p[i];
        real step = d;
        if (velocity) {
            velocity[i] = momentum * velocity[i] + d;
            step = params->nesterov ? d + momentum * velocity[i] : velocity[i];
        }
        p[i] -= lr * step;
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("update", LAB_UPDATE, sgd_update),
};

LAB_REF_SET(sgd, variants);
