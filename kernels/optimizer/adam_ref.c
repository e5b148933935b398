/* adam: every parameter has its own step size, from two running means: m of
 * the gradient, v of its square. m/sqrt(v) is near 1 where the gradient keeps
 * its sign and near 0 where it only jitters.
 *
 * Both means start at 0 and are too small at first; dividing by 1 - beta^t
 * mends that. Here weight decay is added to the gradient and so goes through m
 * and v as well; adamw_ref.c keeps it apart. */
#include "optimizer/optimizer.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/optimizer/adam_ref.c"

/* d = g + weight_decay p
 * m = beta1 m + (1 - beta1) d,  v = beta2 v + (1 - beta2) d^2
 * p -= lr mhat / (sqrt(vhat) + eps) */
static enum lab_status adam_update(const struct lab_call *call)
{
    const struct lab_adam_params *params = call->params;
    const real *g = call->in[0].data;
    real *p = call->out[0].data;
    real *m = call->out[1].data;
    real *v = call->out[2].data;
    double t = (double)call->iteration + 1;
    real lr = (real)params->lr;
    real beta1 = (real)params->beta1;
    real beta2 = (real)params->beta2;
    real rest1 = (real)(1 - params->beta1); /* not 1 - (float)beta: 0.999 */
    real rest2 = (real)(1 - params->beta2); /* rounded would be 1.3e-5 off */
    real correct1 = (real)(1 / (1 - pow(params->beta1, t)));
    real correct2 = (real)(1 / (1 - pow(params->beta2, t)));
    real eps = (real)params->eps;
    real scale = lab_ref_clip(call, params->clip);
    real decay = (real)params->weight_decay;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        real d = scale * g[i] + decay * p[i];
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * d * d;
        real mhat = m[i] * correct1;
        real vhat = v[i] * correct2;
        p[i] -= lr * mhat / (real_sqrt(vhat) + eps);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("update", LAB_UPDATE, adam_update),
};

LAB_REF_SET(adam, variants);
