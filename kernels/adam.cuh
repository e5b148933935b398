/* kernels/adam.cuh -- what adam and adamw share: the two running means and the
 * step, for one parameter.
 *
 * The corrections 1/(1 - beta^t) are the same for every parameter, so the host
 * works them out once, in double; beta^t in float would be wrong in the first
 * steps, where it matters. */
#pragma once
#include <math.h>
#include "launch.cuh"
#include "optimizer.h"

struct adam_factors {
    float lr;
    float beta1;
    float beta2;
    float rest1; /* 1 - beta1, rounded once: 1 - 0.999f is 1.3e-5 off */
    float rest2;
    float correct1; /* 1/(1 - beta1^t) */
    float correct2;
    float eps;
    float weight_decay;
    float shrink; /* adamw: 1 - lr weight_decay */
};

static inline struct adam_factors adam_factors_of(const struct lab_call *call)
{
    const auto *p = lab_params<lab_adam_params>(call);
    double t = (double)call->iteration + 1.0;
    return {(float)p->lr,
            (float)p->beta1,
            (float)p->beta2,
            (float)(1.0 - p->beta1),
            (float)(1.0 - p->beta2),
            (float)(1.0 / (1.0 - pow(p->beta1, t))),
            (float)(1.0 / (1.0 - pow(p->beta2, t))),
            (float)p->eps,
            (float)p->weight_decay,
            (float)(1.0 - p->lr * p->weight_decay)};
}

/* Moves m and v by the gradient d; returns lr mhat / (sqrt(vhat) + eps). */
static __device__ inline float adam_step(float *m, float *v, float d,
                                         const struct adam_factors &f)
{
    *m = f.beta1 * *m + f.rest1 * d;
    *v = f.beta2 * *v + f.rest2 * d * d;
    float mhat = *m * f.correct1;
    float vhat = *v * f.correct2;
    return f.lr * mhat / (sqrtf(vhat) + f.eps);
}
