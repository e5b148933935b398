/* kernels/labs/layer_norm/layer_norm.h -- every row to mean 0 and variance 1,
 * then scaled: the launchers of the CUDA rungs. */
#pragma once
#include "common/kernel.h"

/* y[r,c] = (x[r,c] - mean_r) / sqrt(variance_r + EPS) gamma[c] + beta[c] */
#define LAB_LAYER_NORM_EPS 1e-5f

LAB_C_BEGIN
lab_kernel_fn lab_layer_norm_naive, lab_layer_norm_block,
    lab_layer_norm_welford, lab_layer_norm_registers, lab_layer_norm_vector;
LAB_C_END
