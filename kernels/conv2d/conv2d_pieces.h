/* kernels/conv2d/conv2d_pieces.h -- how conv2d_im2col.cu cuts a batch: positions first ..
 * first + count - 1, counted over all images, so that their windows fit the
 * workspace.
 *
 * In nhwc the positions of a batch follow each other in memory, and a piece is as
 * many as fit. In nchw every image has its positions for each channel: a piece is
 * some whole images, one product each in one batched call, or a part of one
 * image that is too large. Plain C: a test without a GPU reads it. */
#pragma once
#include "common/kernel.h"

struct lab_conv_cut {
    bool nhwc;
    int64_t images;
    int64_t places; /* of one image */
    int64_t room;   /* places that fit the workspace, at least 1 */
};

struct lab_conv_piece {
    int64_t first;
    int64_t count; /* 0: there is no more */
};

/* The piece after `last`; the first one is after {0, 0}. */
static inline struct lab_conv_piece lab_conv_next(const struct lab_conv_cut *c,
                                                  struct lab_conv_piece last)
{
    struct lab_conv_piece p = {last.first + last.count, c->room};
    int64_t end = c->images * c->places;
    if (!c->nhwc && c->room >= c->places)
        p.count = c->room / c->places * c->places;
    else if (!c->nhwc)
        end = (p.first / c->places + 1) * c->places;
    if (p.first >= c->images * c->places)
        p.count = 0;
    else if (p.count > end - p.first)
        p.count = end - p.first;
    return p;
}

/* The images of a piece in nchw, each with its own product; 1 for a part. */
static inline int64_t lab_conv_images(const struct lab_conv_cut *c,
                                      struct lab_conv_piece p)
{
    return p.count > c->places ? p.count / c->places : 1;
}

/* Rows of a channel, nchw: element i of an (M, count) matrix whose row m is
 * channel m of `count` places, image after image, is this element of the (images,
 * M, places) tensor. i below 2^32. */
LAB_HOST_DEVICE static inline int64_t
lab_conv_channel_at(uint32_t i, uint32_t count, uint32_t places, int64_t M)
{
    uint32_t m = i / count;
    uint32_t place = i - m * count;
    uint32_t n = place / places;
    return (n * M + m) * places + (place - n * places);
}
