/* kernels/embedding/positional_embedding.h -- the place in the sequence, added: row t of
 * a learned table to element t of every sequence. N sequences of T rows of D;
 * the table has L >= T rows.
 *
 * add, forward       out[n,t,d] = x[n,t,d] + W[t,d]
 *   out[0] out (N, T, D)   in[0] x (N, T, D)   in[1] W (L, D)
 * add, backward      dW[t,d] = sum_n dout[n,t,d], 0 for t >= T
 *   out[0] dW (L, D)       in[0] dout (N, T, D)
 *   (dx = dout: the plan shares the memory, nothing is copied) */
#pragma once
#include "common/kernel.h"
