/* kernels/sequence_mean/sequence_mean.h -- the mean over the places of a sequence: N
 * sequences of T rows of D become N rows. NaN and infinity pass on.
 *
 * mean, forward     y[n,d] = (sum_t x[n,t,d]) / T
 *   out[0] y (N, D)        in[0] x (N, T, D)
 * mean, backward    dx[n,t,d] = dy[n,d] / T
 *   out[0] dx (N, T, D)    in[0] dy (N, D) */
#pragma once
#include "common/kernel.h"
