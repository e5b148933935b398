/* kernels/dropout/dropout.h -- inverted dropout (N. Srivastava et al., JMLR 15, 2014).
 *
 * dropout, forward    mask[i] = u(i) >= p ? 1/(1-p) : 0,  y[i] = x[i] mask[i]
 *   out[0] y   out[1] mask   in[0] x     params: lab_dropout_params
 * dropout, backward   dx[i] = dy[i] mask[i]
 *   out[0] dx  in[0] dy   in[1] mask
 * u(i) = lab_random_unit(lab_random_word(seed, node, (uint32_t)iteration, i)):
 * the mask is a function of the call, the same on every backend and replay.
 * With call->training false the mask is all ones. */
#pragma once
#include "common/kernel.h"

struct lab_dropout_params {
    double p; /* share that is dropped, 0 <= p < 1 */
};
