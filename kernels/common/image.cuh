/* kernels/common/image.cuh -- an image's elements on the device: see image.h. */
#pragma once
#include "common/image.h"
#include "common/launch.cuh"

struct pixel {
    int64_t n;
    int64_t c;
    int64_t h;
    int64_t w;
};

/* The coordinates of flat index i. */
static __device__ inline struct pixel pixel_of(const struct lab_image &image,
                                               int64_t i)
{
    return {i / image.sn, i / image.sc % image.C, i / image.sh % image.H,
            i / image.sw % image.W};
}

static __device__ inline int64_t pixel_at(const struct lab_image &image,
                                          int64_t n, int64_t c, int64_t h,
                                          int64_t w)
{
    return n * image.sn + c * image.sc + h * image.sh + w * image.sw;
}

/* The windows along one axis that hold input `at`: first .. last, none when
 * first > last. */
static __device__ inline void window_readers(const struct lab_window &win,
                                             int axis, int64_t at,
                                             int64_t limit, int64_t *first,
                                             int64_t *last)
{
    int64_t reach = at + win.pad[axis];
    int64_t skip = reach - win.size[axis] + 1;
    int64_t stride = win.stride[axis];
    *last = reach / stride < limit ? reach / stride : limit - 1;
    *first = skip <= 0 ? 0 : (skip + stride - 1) / stride;
}
