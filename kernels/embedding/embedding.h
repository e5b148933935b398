/* kernels/embedding/embedding.h -- a row of a table for every id: the product of a
 * one-hot matrix with W, without the matrix. R ids, V rows of D numbers.
 *
 * gather, forward      out[r,:] = W[ids[r],:]
 *   out[0] out (R, D)    in[0] ids (R) i32   in[1] W (V, D)
 *   An id outside 0..V-1 gives a row of NaN.
 * gather, backward     dW[v,:] = sum over the r with ids[r] = v of dout[r,:]
 *   out[0] dW (V, D)     in[0] dout (R, D)   in[1] ids (R) i32
 *   Added in the order of r: the same bits at every run. */
#pragma once
#include "common/kernel.h"
