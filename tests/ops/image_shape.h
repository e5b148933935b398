/* image_shape.h -- a convolution or pooling over images, for the tests of the CPU's and
 * of the GPU's kernels. */
#pragma once
#include "pool/pool.h"

struct shape {
    int64_t N, C, H, W, M;
    int64_t size[2], stride[2], pad[2];
    int64_t out[2];
    int64_t dilation; /* 0 as 1 */
    int64_t groups;   /* 0 as 1 */
};

static inline struct lab_window window_of(const struct shape *s, bool nhwc)
{
    struct lab_window w = {.nhwc = nhwc};
    for (int i = 0; i < 2; i++) {
        w.size[i] = s->size[i];
        w.stride[i] = s->stride[i];
        w.pad[i] = s->pad[i];
    }
    return w;
}
