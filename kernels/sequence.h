/* kernels/sequence.h -- what every recurrent layer does with its sequences.
 *
 * N = samples, T = time steps, D = features. Lessons write [N,T,D]; the layer
 * works step by step on (N, D), so it keeps its own copy with time outermost,
 * (T, N, D), where one step's rows lie together.
 *
 * input, forward     xs[t,n,d] = x[n,t,d]
 *   out[0] xs (T, N, D)   in[0] x (N, T, D)
 * return, forward    out[n,t,j] = h[t,n,j]; of the last step alone: a copy
 *   out[0] out (N, T, H) or (N, H)   in[0] h (T, N, H) or (N, H)
 * return, backward   dh[t,n,j] = dout[n,t,j]   (of the whole sequence only)
 *   out[0] dh (T, N, H)   in[0] dout (N, T, H)
 *
 * No arithmetic: 0 flop. */
#pragma once
#include "kernel.h"
