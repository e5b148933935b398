/* onednn/onednn_rows.h -- the functions that stand in the module's tables
 * (onednn_ops.c) and live in files of their own. */
#pragma once
#include "common/kernel.h"

/* onednn_pool.c */
bool onednn_all_finite(const struct lab_view *v);
lab_kernel_fn onednn_max_pool_forward;
lab_kernel_fn onednn_max_pool_backward;
lab_kernel_fn onednn_avg_pool_forward;
lab_kernel_fn onednn_avg_pool_backward;

/* onednn_norm.c */
lab_kernel_fn onednn_batch_norm_forward;
lab_kernel_fn onednn_batch_norm_backward;
lab_kernel_fn onednn_layer_norm_forward;
lab_kernel_fn onednn_layer_norm_backward;

/* onednn_recurrent.c: the groups of rnn and lstm. */
lab_kernel_fn onednn_recurrent_forward;
lab_kernel_fn onednn_recurrent_backward;
