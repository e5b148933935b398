/* kernels/layer_norm/layer_norm.h -- layer norm over the last axis (J. Ba, J. Kiros,
 * G. Hinton, arXiv:1607.06450). R rows, D columns, biased variance.
 *
 * stats, forward       mean[r] = sum_d x[r,d] / D,
 *                      rstd[r] = 1/sqrt(sum_d (x[r,d] - mean[r])^2 / D + eps)
 *   out[0] mean (R)  out[1] rstd (R)   in[0] x (R, D)
 *   params: lab_layer_norm_params
 * normalize, forward   xhat[r,d] = (x[r,d] - mean[r]) rstd[r]
 *   out[0] xhat (R, D)   in[0] x   in[1] mean   in[2] rstd
 * scale, forward       y[r,d] = xhat[r,d] gamma[d] + beta[d]
 *   out[0] y (R, D)      in[0] xhat   in[1] gamma (D)   in[2] beta (D)
 * scale, backward      dgamma[d] = sum_r dy xhat, dbeta[d] = sum_r dy,
 *                      dxhat[r,d] = dy[r,d] gamma[d]
 *   out[0] dxhat (R, D)  out[1] dgamma (D)  out[2] dbeta (D)
 *   in[0] dy  in[1] xhat  in[2] gamma
 * normalize, backward  dx[r,d] = rstd[r] (dxhat[r,d] - mean_d dxhat
 *                                 - xhat[r,d] mean_d(dxhat xhat))
 *   out[0] dx (R, D)     in[0] dxhat  in[1] xhat  in[2] rstd
 *   (through mean and rstd as well: the step covers `stats`) */
#pragma once
#include "common/kernel.h"

struct lab_layer_norm_params {
    double eps;
};

/* y[r,c] = (x[r,c] - mean_r) / sqrt(variance_r + EPS) gamma[c] + beta[c] */
#define LAB_LAYER_NORM_EPS 1e-5f

LAB_C_BEGIN
lab_kernel_fn lab_layer_norm_naive, lab_layer_norm_block,
    lab_layer_norm_welford, lab_layer_norm_registers, lab_layer_norm_vector;
LAB_C_END
