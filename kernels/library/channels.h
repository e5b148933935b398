/* kernels/library/channels.h -- the elements of one channel of a tensor seen as (outer,
 * C, inner): inner is H*W in nchw and 1 where the channel is the last axis.
 * For kernels and for a test without a GPU. 32 bits: at most 2^31 - 1 elements.
 */
#pragma once
#include "common/kernel.h"

/* A walk over the elements k, k + step ... of a channel: element k is number j of
 * plane n. No division but at the start. */
struct lab_channel_walk {
    uint32_t inner;
    uint32_t n;
    uint32_t j;
    uint32_t step_n;
    uint32_t step_j;
};

LAB_HOST_DEVICE static inline struct lab_channel_walk
lab_channel_walk_from(uint32_t inner, uint32_t k, uint32_t step)
{
    struct lab_channel_walk w = {inner, k / inner, k % inner, step / inner,
                                 step % inner};
    return w;
}

LAB_HOST_DEVICE static inline void
lab_channel_walk_on(struct lab_channel_walk *w)
{
    w->n += w->step_n;
    w->j += w->step_j;
    if (w->j >= w->inner) {
        w->j -= w->inner;
        w->n++;
    }
}

/* The flat index of where the walk is, in channel c of C. */
LAB_HOST_DEVICE static inline int64_t
lab_channel_index(const struct lab_channel_walk *w, int64_t C, int64_t c)
{
    return ((int64_t)w->n * C + c) * w->inner + w->j;
}

/* The channel of a flat index. */
LAB_HOST_DEVICE static inline uint32_t
lab_channel_of(uint32_t i, uint32_t inner, uint32_t C)
{
    return inner == 1 ? i % C : i / inner % C;
}
