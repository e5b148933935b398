/* kernels/common/image.h -- images and windows over them, in either layout.
 *
 * An image tensor is [N, C, H, W] (nchw) or [N, H, W, C] (nhwc). Kernels that
 * serve both find an element by its strides: n*sn + c*sc + h*sh + w*sw.
 *
 * A window of size[0] x size[1] starts for output row oh at input row
 * oh*stride[0] - pad[0], for output column ow at ow*stride[1] - pad[1]. What
 * lies outside of the image is padding; the padding below and to the right is
 * what is left over, so that pad[] need not be even on both sides. */
#pragma once
#include "common/kernel.h"

struct lab_image {
    int64_t N;
    int64_t C;
    int64_t H;
    int64_t W;
    int64_t sn; /* strides, in elements */
    int64_t sc;
    int64_t sh;
    int64_t sw;
};

struct lab_window {
    bool nhwc;
    int64_t size[2];
    int64_t stride[2];
    int64_t pad[2]; /* above, to the left */
};

static inline struct lab_image lab_image_of(const int64_t *dim, bool nhwc)
{
    struct lab_image i;
    i.N = dim[0];
    i.C = dim[nhwc ? 3 : 1];
    i.H = dim[nhwc ? 1 : 2];
    i.W = dim[nhwc ? 2 : 3];
    i.sn = i.C * i.H * i.W;
    i.sc = nhwc ? 1 : i.H * i.W;
    i.sh = nhwc ? i.W * i.C : i.W;
    i.sw = nhwc ? i.C : 1;
    return i;
}
