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
 * The step of a parameter is named after it (`fc1.W`); the kernel row of all
 * of them has step "update". Bias corrections are computed in double. */
#pragma once
#include "common/kernel.h"

/* The learning rate comes first in both: it is changed without knowing which
 * of them it is (engine/plan.h). */
struct lab_sgd_params {
    double lr;
    double momentum;
    double weight_decay;
    bool nesterov;
};

struct lab_adam_params {
    double lr;
    double beta1;
    double beta2;
    double eps;
    double weight_decay;
};
