/* kernels/labs/transpose/pieces.h -- the pieces of 16 bytes that cover a part of a
 * row which starts anywhere. For a kernel and for a test without a GPU. */
#pragma once
#include "kernel.h"

struct lab_pieces {
    int64_t first; /* element, a multiple of 4 */
    int before; /* elements of the first piece in front of the part: 0 to 3 */
    int count;
};

/* How far element `begin` is behind 16 bytes. */
LAB_HOST_DEVICE static inline int lab_pieces_before(int64_t begin)
{
    return (int)(begin & 3);
}

/* Of elements begin .. begin + length - 1. */
LAB_HOST_DEVICE static inline struct lab_pieces lab_pieces_of(int64_t begin,
                                                              int length)
{
    int before = lab_pieces_before(begin);
    struct lab_pieces p = {begin - before, before, (before + length + 3) / 4};
    return p;
}
