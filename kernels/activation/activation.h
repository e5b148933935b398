/* kernels/activation/activation.h -- relu, leaky_relu, elu, sigmoid, tanh, gelu,
 * softplus, swish: one step each, named like the op, elementwise over any shape.
 *
 * forward    out[0] y        in[0] x
 * backward   out[0] dx       in[0] dy   in[1] x   in[2] y
 *
 * All tensors have the same count. Formulas (y and dy/dx):
 *   relu        max(0, x)                        1 if x > 0 else 0
 *   leaky_relu  x if x > 0 else slope*x          1 if x > 0 else slope
 *   elu         x if x > 0 else alpha (exp(x) - 1)  1 if x > 0 else y + alpha
 *   sigmoid     1/(1 + exp(-x))                  y (1 - y)
 *   tanh        tanh x                           1 - y^2
 *   gelu erf    x/2 (1 + erf(x/sqrt 2))          Phi(x) + x phi(x)
 *   gelu tanh   x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3)
 *   softplus    log(1 + exp(x))                  sigmoid(x)
 *   swish       x s, s = sigmoid(x)              s + x s (1 - s)
 * exp is never taken of a large positive number: sigmoid(-100) is 3.7e-44, not
 * a division by infinity. NaN in gives NaN out, forward. gelu and swish of
 * -inf are NaN too (inf times 0); no finite x gives NaN in either direction.
 * GELU: D. Hendrycks, K. Gimpel, arXiv:1606.08415; swish: P. Ramachandran,
 * B. Zoph, Q. Le, arXiv:1710.05941. */
#pragma once
#include "common/kernel.h"

struct lab_leaky_relu_params {
    double slope;
};

struct lab_elu_params {
    double alpha;
};

struct lab_gelu_params {
    bool tanh; /* the approximation; false: the exact form with erf */
};
