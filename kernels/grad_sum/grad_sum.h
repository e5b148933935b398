/* kernels/grad_sum/grad_sum.h -- sums over gradients.
 *
 * Where one tensor feeds several nodes, its gradient is the sum of what comes back
 * along each path (the chain rule).
 *
 * sum, backward   dx[i] = sum_k in[k][i]
 *   out[0] dx   in[0..n_in-1] one contribution a reader, same count
 *
 * The length of a parameter's gradient, and of all gradients up to it: what
 * clipping by the global norm compares with its limit.
 *
 * norm, update   norm = sqrt(sum_i g[i]^2)
 *                to_here = sqrt(before^2 + norm^2)
 *   out[0] norm   out[1] to_here   in[0] g   in[1] before, optional: none before
 *   norm, to_here and before are scalars. Sums are kept in a double. */
#pragma once
#include "common/kernel.h"
