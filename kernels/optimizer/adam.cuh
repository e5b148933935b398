/* kernels/optimizer/adam.cuh -- what adam and adamw share: the two running means and the
 * step, for one parameter.
 *
 * The corrections 1/(1 - beta^t) are the same for every parameter: one thread of
 * a block works them out for the others, in double; beta^t in float would be
 * wrong in the first steps, where it matters. The power is taken by squaring,
 * as many products as t has bits.
 *
 * A block has several rounds of parameters, so that the corrections are worked
 * out a few times only. */
#pragma once
#include <math.h>
#include "common/launch.cuh"
#include "optimizer/update.cuh"

struct adam_factors {
    double beta1;
    double beta2;
    struct lab_iteration_ref when;
    struct rate_ref rate;
    double decay_rate; /* adamw: weight_decay in double, for the shrinking */
    double clip;
    float rest1; /* 1 - beta1, rounded once: 1 - 0.999f is 1.3e-5 off */
    float rest2;
    float eps;
    float weight_decay;
};

static inline struct adam_factors adam_factors_of(const struct lab_call *call)
{
    const auto *p = lab_params<lab_adam_params>(call);
    return {p->beta1,
            p->beta2,
            lab_iteration_ref_of(call),
            rate_ref_of(call, p->lr),
            p->weight_decay,
            p->clip,
            (float)(1.0 - p->beta1),
            (float)(1.0 - p->beta2),
            (float)p->eps,
            (float)p->weight_decay};
}

/* 1/(1 - beta^t) */
static __device__ inline float adam_correction(double beta, uint64_t t)
{
    double power = 1.0;
    for (double square = beta; t > 0; t /= 2) {
        if (t % 2 == 1)
            power *= square;
        square *= square;
    }
    return (float)(1.0 / (1.0 - power));
}

struct adam_corrections {
    float one;
    float two;
};

/* Every thread of the block calls it. */
static __device__ inline adam_corrections
adam_corrections_of(const struct adam_factors &f)
{
    __shared__ float correct[2];
    if (threadIdx.x < 2)
        correct[threadIdx.x] = adam_correction(
            threadIdx.x == 0 ? f.beta1 : f.beta2, lab_iteration(f.when) + 1);
    __syncthreads();
    return {correct[0], correct[1]};
}

/* adamw: what is left of a parameter, 1 - lr weight_decay; no fused step, as on
 * the CPU. */
static __device__ inline float adam_shrink(const struct adam_factors &f)
{
    return (float)__dsub_rn(1.0, __dmul_rn(rate_of(f.rate), f.decay_rate));
}

/* Blocks for `count` parameters: a few for each multiprocessor, no more. */
static inline unsigned adam_blocks(const struct lab_call *call, int64_t count)
{
    unsigned blocks = lab_blocks(count);
    unsigned most = (unsigned)call->exec->sm_count * 8;
    return blocks < most || most == 0 ? blocks : most;
}

/* Moves m and v by the gradient d; returns lr mhat / (sqrt(vhat) + eps). */
static __device__ inline float adam_step(float *m, float *v, float d,
                                         const struct adam_factors &f,
                                         const struct adam_corrections &c)
{
    *m = (float)f.beta1 * *m + f.rest1 * d;
    *v = (float)f.beta2 * *v + f.rest2 * d * d;
    float mhat = *m * c.one;
    float vhat = *v * c.two;
    return (float)rate_of(f.rate) * mhat / (sqrtf(vhat) + f.eps);
}
