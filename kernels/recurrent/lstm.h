/* kernels/recurrent/lstm.h -- a long short-term memory layer, time step by time step.
 *
 * N = samples, T = time steps, D = features, H = hidden units. The gates stand
 * in the order a (the candidate), i (input), f (forget), o (output), each H
 * rows of W (4H, D), U (4H, H) and b (4H).
 *
 * input, return: see sequence.h.
 *
 * gates, forward    z[n,k] = sum_d x[n,d] W[k,d] + sum_j hp[n,j] U[k,j] + b[k]
 *   out[0] z (N, 4H)   in[0] x (N, D) of this step   in[1] hp (N, H), the h of
 *   the step before (h0 at first)   in[2] W   in[3] U   in[4] b
 * cell, forward     a = tanh(z_a), i, f, o = sigmoid(z_i, z_f, z_o),
 *                   c = a i + f cp,  h = tanh(c) o
 *   out[0..5] a, i, f, o, c, h, all (N, H)
 *   in[0] z (N, 4H)    in[1] cp (N, H), the c of the step before (c0 at first)
 *
 * Backward runs from the last step to the first.
 *
 * cell, backward    dh = dr + dg
 *                   dc = dh o (1 - tanh(c)^2) + dcn fn
 *                   dz = [dc i (1-a^2), dc a i(1-i), dc cp f(1-f),
 *                         dh tanh(c) o(1-o)]
 *                   dcp = dc f   (of c0, at the first step only)
 *   out[0] dz (N, 4H)  out[1] dh  out[2] dc  out[3] dcp, NULL but at the first
 *   in[0] dr, what comes back from the layer's result; NULL where it does not
 *   use this step      in[1] dg, what comes back from the next step's gates
 *   in[2] dcn, the next step's dc   in[3] fn, its f   (in[1..3] NULL at the
 *   last step; where another layer starts from this one's last state, dg and
 *   dcn come from there, and fn NULL means 1)
 *   in[4..8] a, i, f, o, c of this step   in[9] cp
 * gates, backward   dhp[n,j] = sum_k dz[n,k] U[k,j]
 *   out[0] dhp (N, H)  in[0] dz (N, 4H)   in[1] U (4H, H)
 * weights, backward dW[k,d] = sum_t sum_n dz[t,n,k] xs[t,n,d]
 *                   dU[k,j] = sum_t sum_n dz[t,n,k] h[t-1,n,j], h[-1] = h0
 *                   db[k]   = sum_t sum_n dz[t,n,k]
 *   out[0] dW  out[1] dU  out[2] db
 *   in[0] dz (T, N, 4H)   in[1] xs (T, N, D)   in[2] h (T, N, H)   in[3] h0
 * input, backward   dx[n,t,d] = sum_k dz[t,n,k] W[k,d]
 *   out[0] dx (N, T, D)   in[0] dz (T, N, 4H)   in[1] W (4H, D) */
#pragma once
#include "recurrent/sequence.h"
