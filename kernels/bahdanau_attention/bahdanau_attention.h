/* kernels/bahdanau_attention/bahdanau_attention.h -- additive attention (D. Bahdanau, K. Cho,
 * Y. Bengio, arXiv:1409.0473). N states s of S numbers, each with T rows h of D
 * numbers, compared in A dimensions.
 *
 * u, forward         u[n,t,a] = sum_i s[n,i] Ws[i,a] + sum_d h[n,t,d] Wh[d,a]
 *                    + b[a]
 *   out[0] u (N, T, A)  in[0] s (N, S)  in[1] h (N, T, D)  in[2] Ws (S, A)
 *   in[3] Wh (D, A)     in[4] b (A)
 * t, forward         t = tanh(u)              out[0] t   in[0] u
 * e, forward         e[n,t] = sum_a t[n,t,a] v[a]
 *   out[0] e (N, T)     in[0] t   in[1] v (A)
 * a, forward         a[n,:] = softmax(e[n,:])   out[0] a (N, T)   in[0] e
 * context, forward   out[n,d] = sum_t a[n,t] h[n,t,d]
 *   out[0] out (N, D)   in[0] a   in[1] h
 * context, backward  da[n,t] = sum_d dout[n,d] h[n,t,d],
 *                    dh[n,t,d] = a[n,t] dout[n,d]
 *   out[0] da  out[1] dh or unwanted   in[0] dout  in[1] a  in[2] h
 * a, backward        de = a (da - sum_t da a)   out[0] de  in[0] da  in[1] a
 * e, backward        dt[n,t,a] = de[n,t] v[a],  dv[a] = sum_nt de[n,t] t[n,t,a]
 *   out[0] dt  out[1] dv    in[0] de  in[1] t  in[2] v
 * t, backward        du = dt (1 - t^2)        out[0] du  in[0] dt  in[1] t
 * u, backward        dWs = sum_nt s du, dWh = sum_nt h du, db = sum_nt du,
 *                    ds = sum_t du Ws^T, dh = du Wh^T
 *   out[0] dWs  out[1] dWh  out[2] db  out[3] ds or unwanted
 *   out[4] dh or unwanted   in[0] du  in[1] s  in[2] h  in[3] Ws  in[4] Wh */
#pragma once
#include "common/kernel.h"

struct lab_bahdanau_dims {
    int64_t N;
    int64_t T;
    int64_t S;
    int64_t D;
    int64_t A;
};

/* Ws NULL: A is not wanted; s NULL: S is not. */
static inline struct lab_bahdanau_dims
lab_bahdanau_sizes(const struct lab_view *h, const struct lab_view *s,
                   const struct lab_view *Ws)
{
    struct lab_bahdanau_dims d;
    d.D = lab_view_cols(h);
    d.T = h->rank > 1 ? h->dim[h->rank - 2] : 1;
    d.N = d.D * d.T > 0 ? h->count / (d.D * d.T) : 0;
    d.S = s ? lab_view_cols(s) : 0;
    d.A = Ws ? lab_view_cols(Ws) : 0;
    return d;
}
