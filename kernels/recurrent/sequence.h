/* kernels/recurrent/sequence.h -- what every recurrent layer does with its sequences.
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
 * No arithmetic: 0 flop.
 *
 * The group: a variant may do all of a layer's steps of a phase in one, forward
 * and backward. It leaves the parts of the single time steps unwritten, but for
 * h. H = hidden units; the weights are those of lstm.h or rnn.h.
 * (group), forward
 *   out[0] out (N, T, H), or (N, H) where the last step alone returns
 *   out[1] h (T, N, H)
 *   in[0] x (N, T, D)   in[1] W or Wx   in[2] U or Wh   in[3] b, or NULL
 *   in[4] h0 (N, H)     in[5] c0 (N, H), NULL in an rnn
 * (group), backward
 *   out[0] dx (N, T, D), or NULL   out[1] dW or dWx   out[2] dU or dWh
 *   out[3] db, or NULL   out[4] dh0 (N, H)   out[5] dc0 (N, H), NULL in an rnn
 *   in[0] dout, like out   in[1..6] as forward's in[0..5]   in[7] h (T, N, H)
 *
 * A group that keeps parts (struct lab_variant) leaves all but z, and serves a layer
 * that another starts from:
 * forward of lstm also has   out[2..6] a, i, f, o, c (T, N, H)
 * and, where it is one way,  out[7] xs (T, N, D)
 * backward also has   out[6] dz (T, N, 4H)   in[8..12] a, i, f, o, c
 *   in[13], in[14] dh, dc (N, H) that a layer left which starts from the last state,
 *   or NULL; in[0] may be NULL then */
#pragma once
#include "common/kernel.h"
