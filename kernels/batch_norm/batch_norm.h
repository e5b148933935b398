/* kernels/batch_norm/batch_norm.h -- batch norm over channels (S. Ioffe, C. Szegedy,
 * arXiv:1502.03167). params: lab_batch_norm_params for every step.
 *
 * Every tensor is seen as (outer, C, inner): inner is 1 where the channel is
 * the last axis, H*W in nchw. E = outer*inner elements a channel, E >= 2.
 *
 * stats, forward       in training
 *                        mean[c] = sum x / E,  var = sum (x - mean)^2 / E,
 *                        rstd[c] = 1/sqrt(var + eps),
 *                        running_mean = (1-m) running_mean + m mean,
 *                        running_var  = (1-m) running_var + m var E/(E-1)
 *                      outside of it (call->training false)
 *                        mean = running_mean, rstd = 1/sqrt(running_var + eps)
 *                        and the running statistics stay as they are
 *   out[0] mean (C)  out[1] rstd (C)  out[2] running_mean (C) inout
 *   out[3] running_var (C) inout      in[0] x
 * normalize, forward   xhat = (x - mean[c]) rstd[c]
 *   out[0] xhat      in[0] x   in[1] mean   in[2] rstd
 * scale, forward       y = xhat gamma[c] + beta[c]
 *   out[0] y         in[0] xhat   in[1] gamma (C)   in[2] beta (C)
 * scale, backward      dxhat = dy gamma[c], dgamma[c] = sum dy xhat,
 *                      dbeta[c] = sum dy
 *   out[0] dxhat, or NULL   out[1] dgamma (C)   out[2] dbeta (C)
 *   in[0] dy   in[1] xhat   in[2] gamma
 * normalize, backward  dx = rstd[c] (dxhat - mean(dxhat)
 *                                    - xhat mean(dxhat xhat))
 *   out[0] dx        in[0] dxhat   in[1] xhat   in[2] rstd
 *   (through mean and rstd as well: the step covers `stats`)
 *
 * group: all of a phase in one, both phases or none; xhat and dxhat are left
 * unwritten.
 *   forward   out[0] y   out[1] mean   out[2] rstd   out[3] running_mean inout
 *             out[4] running_var inout   in[0] x   in[1] gamma   in[2] beta
 *   backward  out[0] dx, or NULL   out[1] dgamma   out[2] dbeta
 *             in[0] dy   in[1] x   in[2] gamma   in[3] mean   in[4] rstd */
#pragma once
#include "common/kernel.h"

struct lab_batch_norm_params {
    double eps;
    double momentum;
    int64_t inner;
};
