/* adamw: adam with the weight decay apart from the gradient. In adam a decayed
 * weight with large gradients is divided by a large sqrt(v) and hardly decays;
 * here every weight shrinks by the same share, and m and v see the gradient
 * alone. */
#include "optimizer/optimizer.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/optimizer/adamw_ref.c"

/* p *= 1 - lr weight_decay
 * m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
 * p -= lr mhat / (sqrt(vhat) + eps) */
static enum lab_status adamw_update(const struct lab_call *call)
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
    real rest1 = (real)(1 - params->beta1);
    real rest2 = (real)(1 - params->beta2);
    real correct1 = (real)(1 / (1 - pow(params->beta1, t)));
    real correct2 = (real)(1 / (1 - pow(params->beta2, t)));
    real eps = (real)params->eps;
    real scale = lab_ref_clip(call, params->clip);
    real shrink = (real)(1 - params->lr * params->weight_decay);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        real d = scale * g[i];
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * d * d;
        real mhat = m[i] * correct1;
        real vhat = v[i] * correct2;
        p[i] = shrink * p[i] - lr * mhat / (real_sqrt(vhat) + eps);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("update", LAB_UPDATE, adamw_update),
};

LAB_REF_SET(adamw, variants);
