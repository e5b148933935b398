/* kernels/recurrent/rnn.h -- a plain recurrent layer, h = tanh(x Wx + hp Wh + b).
 *
 * N = samples, T = time steps, D = features, H = hidden units.
 * input, return: see sequence.h.
 *
 * sum, forward      z[n,j] = sum_d x[n,d] Wx[d,j] + sum_k hp[n,k] Wh[k,j] + b[j]
 *   out[0] z (N, H)   in[0] x (N, D) of this step   in[1] hp (N, H), the h of
 *   the step before (h0 at first)   in[2] Wx (D, H)   in[3] Wh (H, H)
 *   in[4] b (H), NULL without bias
 * tanh, forward     h = tanh(z)
 *   out[0] h (N, H)   in[0] z (N, H)
 *
 * Backward runs from the last step to the first.
 *
 * tanh, backward    dh = dr + ds,  dz = dh (1 - h^2)
 *   out[0] dz (N, H)  out[1] dh (N, H)
 *   in[0] dr, what comes back from the layer's result; NULL where it does not
 *   use this step   in[1] ds, what comes back from the next step's sum; NULL at
 *   the last step   in[2] h
 * sum, backward     dhp[n,k] = sum_j dz[n,j] Wh[k,j]
 *   out[0] dhp (N, H)   in[0] dz (N, H)   in[1] Wh
 * weights, backward dWx[d,j] = sum_t sum_n xs[t,n,d] dz[t,n,j]
 *                   dWh[k,j] = sum_t sum_n h[t-1,n,k] dz[t,n,j], h[-1] = h0
 *                   db[j]    = sum_t sum_n dz[t,n,j]
 *   out[0] dWx  out[1] dWh  out[2] db, NULL without bias
 *   in[0] dz (T, N, H)   in[1] xs (T, N, D)   in[2] h (T, N, H)   in[3] h0
 * input, backward   dx[n,t,d] = sum_j dz[t,n,j] Wx[d,j]
 *   out[0] dx (N, T, D)   in[0] dz (T, N, H)   in[1] Wx (D, H) */
#pragma once
#include "recurrent/sequence.h"
