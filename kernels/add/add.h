/* kernels/add/add.h -- the sum of two tensors of one shape (a residual).
 *
 * add, forward    y[i] = a[i] + b[i]
 *   out[0] y     in[0] a   in[1] b
 * add, backward   da = dy, db = dy: a sum passes its gradient to both sides
 *   out[0] da, or NULL   out[1] db, or NULL   in[0] dy */
#pragma once
#include "common/kernel.h"
