/* kernels/multiply/multiply.h -- the product of two tensors of one shape, element by
 * element.
 *
 * multiply, forward    y[i] = a[i] b[i]
 *   out[0] y     in[0] a   in[1] b
 * multiply, backward   da = dy b, db = dy a
 *   out[0] da, or NULL   out[1] db, or NULL   in[0] dy   in[1] a   in[2] b */
#pragma once
#include "common/kernel.h"
