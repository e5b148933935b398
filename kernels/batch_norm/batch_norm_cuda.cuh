/* kernels/batch_norm/batch_norm_cuda.cuh -- the launchers of batch norm, one file a way:
 *   batch_norm.cu         a thread, a warp or a block a channel, and the table
 *   batch_norm_split.cu   every channel cut into slices; 16 bytes an access */
#pragma once
#include "batch_norm/batch_norm.h"
#include "common/launch.cuh"

lab_kernel_fn batch_norm_stats_split;
lab_kernel_fn batch_norm_normalize_vector;
lab_kernel_fn batch_norm_scale_vector;
lab_kernel_fn batch_norm_scale_split;     /* backward */
lab_kernel_fn batch_norm_normalize_split; /* backward */
/* For what those do not serve: more than 2^31 - 1 elements. */
lab_kernel_fn batch_norm_normalize_plain;
lab_kernel_fn batch_norm_scale_plain;
lab_kernel_fn batch_norm_stats_block;
lab_kernel_fn batch_norm_scale_block;
lab_kernel_fn batch_norm_normalize_block;
