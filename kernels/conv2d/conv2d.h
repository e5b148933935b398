/* kernels/conv2d/conv2d.h -- the convolution of images (cross-correlation: the kernel
 * is not turned over). params: lab_conv2d_params for every step.
 *
 *   nhwc   x (N, H, W, C)   Wt (KH, KW, C, M)   conv, out (N, OH, OW, M)
 *   nchw   x (N, C, H, W)   Wt (M, C, KH, KW)   conv, out (N, M, OH, OW)
 *
 * With h = oh*stride[0] - pad[0] + kh, w = ow*stride[1] - pad[1] + kw, and x
 * zero outside of the image:
 *
 * conv, forward    conv[n,oh,ow,m] = sum_{kh,kw,c} x[n,h,w,c] Wt[kh,kw,c,m]
 *   out[0] conv      in[0] x   in[1] Wt
 * bias, forward    out[n,oh,ow,m] = conv[n,oh,ow,m] + b[m]
 *   out[0] out       in[0] conv   in[1] b (M)
 * bias, backward   db[m] = sum_{n,oh,ow} dout; dconv is dout itself, and
 *                  out[1] is its memory: kernels leave it alone
 *   out[0] db (M)    out[1] dconv, or NULL   in[0] dout
 * conv, backward   dWt[kh,kw,c,m] = sum_{n,oh,ow} x[n,h,w,c] dconv[n,oh,ow,m]
 *                  dx[n,h,w,c] = sum over the (oh,ow,m) that read it of
 *                                dconv[n,oh,ow,m] Wt[kh,kw,c,m]
 *   out[0] dWt   out[1] dx, or NULL   in[0] dconv   in[1] x   in[2] Wt */
#pragma once
#include "common/image.h"

struct lab_conv2d_params {
    struct lab_window window; /* size: KH, KW */
};

/* The sizes of a call and the strides of its three tensors. */
struct lab_conv2d {
    struct lab_image x;
    struct lab_image y; /* conv: C is the number of filters */
    int64_t KH;
    int64_t KW;
    int64_t w_kh; /* strides of Wt */
    int64_t w_kw;
    int64_t w_c;
    int64_t w_m;
    struct lab_window win;
};

static inline struct lab_conv2d lab_conv2d_of(const struct lab_call *call,
                                              const struct lab_view *x,
                                              const struct lab_view *conv)
{
    const struct lab_conv2d_params *p =
        (const struct lab_conv2d_params *)call->params;
    struct lab_conv2d s;
    s.win = p->window;
    s.x = lab_image_of(x->dim, p->window.nhwc);
    s.y = lab_image_of(conv->dim, p->window.nhwc);
    s.KH = p->window.size[0];
    s.KW = p->window.size[1];
    s.w_m = p->window.nhwc ? 1 : s.x.C * s.KH * s.KW;
    s.w_c = p->window.nhwc ? s.y.C : s.KH * s.KW;
    s.w_kw = p->window.nhwc ? s.x.C * s.y.C : 1;
    s.w_kh = s.KW * s.w_kw;
    return s;
}
