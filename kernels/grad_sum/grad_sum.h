/* kernels/grad_sum/grad_sum.h -- where one tensor feeds several nodes, its gradient is
 * the sum of what comes back along each path (the chain rule).
 *
 * sum, backward   dx[i] = sum_k in[k][i]
 *   out[0] dx   in[0..n_in-1] one contribution a reader, same count */
#pragma once
#include "common/kernel.h"
