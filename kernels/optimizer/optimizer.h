/* kernels/optimizer/optimizer.h -- parameter updates, elementwise, in place.
 * g = gradient, p = parameter, t = call->iteration + 1.
 *
 * sgd      update     params: lab_sgd_params
 *   d = g + weight_decay p
 *   momentum 0:  p -= lr d
 *   else         velocity = momentum velocity + d
 *                p -= lr velocity, or with nesterov lr (d + momentum velocity)
 *   out[0] p inout   out[1] velocity inout, NULL when momentum is 0
 *   in[0] g
 * adam     update     params: lab_adam_params   (D. Kingma, J. Ba, 2014)
 *   d = g + weight_decay p
 *   m = beta1 m + (1-beta1) d,  v = beta2 v + (1-beta2) d^2
 *   p -= lr mhat/(sqrt(vhat) + eps), mhat = m/(1-beta1^t), vhat = v/(1-beta2^t)
 * adamw    update     the decay is apart (I. Loshchilov, F. Hutter, 2017)
 *   p *= 1 - lr weight_decay, then as adam with d = g
 *   both: out[0] p inout   out[1] m inout   out[2] v inout   in[0] g
 *
 * Clipping: where `clip` is above 0, in[1] is the norm of all gradients
 * (grad_sum/grad_sum.h), and g is the gradient times lab_clip_scale().
 *
 * The step of a parameter is named after it (`fc1.W`); the kernel row of all
 * of them has step "update". Bias corrections are computed in double. */
#pragma once
#include "common/kernel.h"

/* 1, or less: so that gradients whose norm is above `clip` get that norm. */
static inline LAB_HOST_DEVICE double lab_clip_scale(double norm, double clip)
{
    return clip > 0 && norm > clip ? clip / norm : 1;
}

/* The learning rate comes first in both: each iteration's is put there without
 * knowing which of them it is (engine/plan.h). A captured kernel runs again in
 * later iterations and reads it on the device (update.cuh). */
struct lab_sgd_params {
    double lr;
    double momentum;
    double weight_decay;
    bool nesterov;
    double clip;
};

struct lab_adam_params {
    double lr;
    double beta1;
    double beta2;
    double eps;
    double weight_decay;
    double clip;
};
