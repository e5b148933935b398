/* kernels/attention/attention.h -- scaled dot product attention, alone and with its
 * projections (A. Vaswani et al., arXiv:1706.03762).
 *
 * N sequences, H heads, Tq queries, Tk keys, each head E wide for queries and
 * keys and F for values. Head h owns columns h*E .. h*E+E-1 of q and k and
 * columns h*F .. of v. Causal: query i sees keys j <= i.
 *
 * scores, forward      scores[n,h,i,j] = sum_e q[n,i,h,e] k[n,j,h,e] / sqrt(E)
 *                      all of them, also those that the mask hides
 *   out[0] scores (N, H, Tq, Tk)   in[0] q (N, Tq, H*E)  in[1] k (N, Tk, H*E)
 * softmax, forward     probs[..,j] = exp(scores[..,j] - max) / sum over the
 *                      keys that are seen; 0 where the mask hides
 *   out[0] probs (N, H, Tq, Tk)    in[0] scores
 *   in[1] mask (N, Tk), may be left out: a key is seen where it is above 0.
 *   A query that sees no key has the share 0 everywhere.
 * context, forward     ctx[n,i,h,f] = sum_j probs[n,h,i,j] v[n,j,h,f]
 *   out[0] ctx (N, Tq, H*F)        in[0] probs           in[1] v (N, Tk, H*F)
 * context, backward    dprobs[n,h,i,j] = sum_f dctx[n,i,h,f] v[n,j,h,f],
 *                      dv[n,j,h,f] = sum_i probs[n,h,i,j] dctx[n,i,h,f]
 *   out[0] dprobs  out[1] dv       in[0] dctx  in[1] probs  in[2] v
 * softmax, backward    dscores = probs (dprobs - sum_j dprobs probs)
 *   out[0] dscores                 in[0] dprobs  in[1] probs
 * scores, backward     dq[n,i,h,e] = sum_j dscores[n,h,i,j] k[n,j,h,e]/sqrt(E),
 *                      dk[n,j,h,e] = sum_i dscores[n,h,i,j] q[n,i,h,e]/sqrt(E)
 *   out[0] dq  out[1] dk           in[0] dscores  in[1] q  in[2] k
 *   Any of dprobs, dv, dq, dk may be unwanted.
 *
 * group (`fused`): scores, softmax and context in one kernel that writes no matrix of
 * Tq x Tk but probs, where that is wanted.
 *   forward   out[0] ctx  out[1] probs or none   in[0] q  in[1] k  in[2] v
 *   backward  out[0] dq  out[1] dk  out[2] dv
 *             in[0] dctx  in[1] q  in[2] k  in[3] v  in[4] ctx  in[5] probs or none
 *
 * All of these take struct lab_attention_params. Only the op `attention` has:
 *
 * q, k, v, output, forward     y[r,m] = sum_k x[r,k] W[k,m] + b[m]
 *   out[0] y (R, M)   in[0] x (R, K)  in[1] W (K, M)  in[2] b (M) or unwanted
 * q, k, v, output, backward    dW = x^T dy, db[m] = sum_r dy[r,m], dx = dy W^T
 *   out[0] dW  out[1] db or unwanted  out[2] dx or unwanted
 *   in[0] dy   in[1] x  in[2] W */
#pragma once
#include <math.h>
#include "common/kernel.h"

struct lab_attention_params {
    int64_t heads;
    bool causal;
    bool masked; /* softmax, forward, has a mask */
};

/* The sizes above, from views of q, k and v. */
struct lab_attention_dims {
    int64_t N;
    int64_t H;
    int64_t Tq;
    int64_t Tk;
    int64_t E;
    int64_t F;
};

static inline int64_t lab_attention_rows(const struct lab_view *x)
{
    return x->rank > 1 ? x->dim[x->rank - 2] : 1;
}

/* Either of k and v may be NULL: its sizes are then those of the other. */
static inline struct lab_attention_dims
lab_attention_sizes(const struct lab_view *q, const struct lab_view *k,
                    const struct lab_view *v, int64_t heads)
{
    const struct lab_view *keys = k ? k : v;
    struct lab_attention_dims d;
    d.H = heads;
    d.Tq = lab_attention_rows(q);
    d.Tk = lab_attention_rows(keys);
    d.E = lab_view_cols(q) / heads;
    d.F = v ? lab_view_cols(v) / heads : d.E;
    int64_t each = d.Tq * lab_view_cols(q);
    d.N = each > 0 ? q->count / each : 0;
    return d;
}
