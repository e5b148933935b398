/* kernels/conv2d/conv.h -- the convolution of the labs, and its shape.
 *
 *   y[n,k,p,q] = sum over c,r,s of x[n,c,p+r-pad,q+s-pad] w[k,c,r,s]
 *
 * which is the cross-correlation that networks call a convolution. x (N,C,H,W),
 * w (K,C,R,R), y (N,K,P,Q), dense; stride 1 and pad = (R - 1) / 2 zeros on all
 * sides, so that an odd R keeps H x W: 1 for the course's 3 x 3. The scratch
 * (C R R, P Q) takes the windows of one image side by side.
 *
 * The operation conv_nhwc is the same with channels last: x (N,H,W,C), w
 * (K,R,R,C), y (N,P,Q,K), no scratch.
 *
 * The operations conv_data and conv_filter are its two gradients, NCHW:
 *
 *   dx[n,c,h,v] = sum over k,r,s of dy[n,k,h-r+pad,v-s+pad] w[k,c,r,s]
 *   dw[k,c,r,s] = sum over n,p,q of x[n,c,p+r-pad,q+s-pad] dy[n,k,p,q] */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "common/kernel.h"

struct conv_shape {
    int64_t N;
    int64_t C;
    int64_t H;
    int64_t W;
    int64_t K;
    int64_t R;
    int64_t pad;
    int64_t P; /* rows of y */
    int64_t Q; /* columns of y */
};

/* dim: N, C, H, W, K, R. P or Q below 1: no window fits. */
static inline struct conv_shape conv_shape_of_dims(const int64_t *dim)
{
    struct conv_shape s;
    s.N = dim[0];
    s.C = dim[1];
    s.H = dim[2];
    s.W = dim[3];
    s.K = dim[4];
    s.R = dim[5];
    s.pad = (s.R - 1) / 2;
    s.P = s.H + 2 * s.pad - s.R + 1;
    s.Q = s.W + 2 * s.pad - s.R + 1;
    return s;
}

static inline struct conv_shape conv_shape_of(const struct lab_call *call)
{
    const int64_t *x = call->in[0].dim;
    const int64_t *w = call->in[1].dim;
    const int64_t dim[6] = {x[0], x[1], x[2], x[3], w[0], w[2]};
    return conv_shape_of_dims(dim);
}

static inline struct conv_shape conv_shape_of_nhwc(const struct lab_call *call)
{
    const int64_t *x = call->in[0].dim;
    const int64_t *w = call->in[1].dim;
    const int64_t dim[6] = {x[0], x[3], x[1], x[2], w[0], w[1]};
    return conv_shape_of_dims(dim);
}

/* Of a call of conv_data, dy and w to dx, and of conv_filter, x and dy to dw. */
static inline struct conv_shape conv_shape_of_data(const struct lab_call *call)
{
    const int64_t *x = call->out[0].dim;
    const int64_t *w = call->in[1].dim;
    const int64_t dim[6] = {x[0], x[1], x[2], x[3], w[0], w[2]};
    return conv_shape_of_dims(dim);
}

static inline struct conv_shape
conv_shape_of_filter(const struct lab_call *call)
{
    const int64_t *x = call->in[0].dim;
    const int64_t *w = call->out[0].dim;
    const int64_t dim[6] = {x[0], x[1], x[2], x[3], w[0], w[2]};
    return conv_shape_of_dims(dim);
}

/* Numbers that a window has: the inner side of the product. */
static inline int64_t conv_depth(const struct conv_shape *s)
{
    return s->C * s->R * s->R;
}

/* Can the numbers of x, w, y and the windows be counted, and the sides of an
 * image with its zeros? Ask before conv_shape_of_dims(). */
static inline bool conv_counts(const int64_t *dim)
{
    int64_t area = 0;
    int64_t n = 0;
    if (dim[2] > INT64_MAX / 4 || dim[3] > INT64_MAX / 4 ||
        dim[5] > INT32_MAX ||
        __builtin_mul_overflow(dim[2] + 1, dim[3] + 1, &area) ||
        __builtin_mul_overflow(dim[0], dim[1], &n) ||
        __builtin_mul_overflow(n, area, &n) ||
        __builtin_mul_overflow(dim[0], dim[4], &n) ||
        __builtin_mul_overflow(n, area, &n) ||
        __builtin_mul_overflow(dim[5] * dim[5], dim[1], &n))
        return false;
    return !__builtin_mul_overflow(n, dim[4], &area);
}

LAB_C_BEGIN
/* The CPU's scratch <- the windows of image n. */
void lab_cpu_conv_windows(const struct lab_call *call, int64_t n);
LAB_C_END
