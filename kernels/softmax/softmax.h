/* kernels/softmax/softmax.h -- softmax over the last axis. R rows, C columns.
 *
 * softmax, forward    y[r,c] = exp(x[r,c] - max_r) / sum_c exp(x[r,c] - max_r)
 *   out[0] y (R, C)    in[0] x (R, C)
 * softmax, backward   dx[r,c] = y[r,c] (dy[r,c] - sum_k dy[r,k] y[r,k])
 *   out[0] dx (R, C)   in[0] dy (R, C)   in[1] y (R, C)
 * A row of only -inf gives NaN. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_softmax_naive, lab_softmax_block, lab_softmax_online,
    lab_softmax_registers, lab_softmax_vector;
/* The first column of the largest of C numbers, on this thread; -1: one is NaN. */
int64_t lab_softmax_largest(const float *x, int64_t C);
/* y = softmax of the first `seen` of C numbers, 0 for the others, on this thread. y may
 * be x; `seen` is 1 at least. */
void lab_softmax_shares(float *y, const float *x, int64_t seen, int64_t C);
LAB_C_END
