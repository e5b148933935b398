/* kernels/conv2d/conv2d.h -- the convolution of images (cross-correlation: the kernel
 * is not turned over). params: lab_conv2d_params for every step.
 *
 *   nhwc   x (N, H, W, C)   Wt (KH, KW, C, M)   conv, out (N, OH, OW, M)
 *   nchw   x (N, C, H, W)   Wt (M, C, KH, KW)   conv, out (N, M, OH, OW)
 *
 * With h = oh*stride[0] - pad[0] + kh*dilation[0], w = ow*stride[1] - pad[1] +
 * kw*dilation[1], and x zero outside of the image:
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
 *   out[0] dWt   out[1] dx, or NULL   in[0] dconv   in[1] x   in[2] Wt
 *
 * With G groups the channels and the filters are cut into G parts: filter m reads
 * the C/G channels of its part alone, and C in the shape of Wt and in the sums
 * is C/G. A dilation above 1 comes with a stride of 1. */
#pragma once
#include "common/image.h"

struct lab_conv2d_params {
    struct lab_window window; /* size: KH, KW */
    int64_t dilation[2]; /* from one row of the kernel to the next; 0 as 1 */
    int64_t groups;      /* 0 as 1 */
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
    int64_t dilation[2];
    int64_t groups;
    int64_t C; /* channels that a filter reads: x.C / groups */
    int64_t M; /* filters of a group */
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
    s.dilation[0] = p->dilation[0] > 1 ? p->dilation[0] : 1;
    s.dilation[1] = p->dilation[1] > 1 ? p->dilation[1] : 1;
    s.groups = p->groups > 1 ? p->groups : 1;
    s.C = s.x.C / s.groups;
    s.M = s.y.C / s.groups;
    s.w_m = p->window.nhwc ? 1 : s.C * s.KH * s.KW;
    s.w_c = p->window.nhwc ? s.y.C : s.KH * s.KW;
    s.w_kw = p->window.nhwc ? s.C * s.y.C : 1;
    s.w_kh = s.KW * s.w_kw;
    return s;
}

/* For the rows that know neither dilation nor groups: refuses them. */
static inline enum lab_status lab_conv2d_plain(const struct lab_call *call)
{
    const struct lab_conv2d_params *p =
        (const struct lab_conv2d_params *)call->params;
    if (p->dilation[0] <= 1 && p->dilation[1] <= 1 && p->groups <= 1)
        return LAB_OK;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "conv2d: this variant serves neither dilation nor groups; "
                    "naive does");
}
