/* kernels/labs/conv/element.h -- what an element of a convolution may be off. */
#pragma once
#include "labs/conv/conv.h"
#include "labs/operation.h"

/* Transforms (Winograd's, Fourier's) mix the numbers of a whole tile, so that
 * the error of an element at the edge is that of its neighbours, and they add
 * errors of their own: up to 100 times those of the plain sum, for Winograd's
 * larger tiles. So the tolerance is that of a full window of random numbers,
 * whose products have a mean square of 1 / 144, four times over. A term that is
 * left out is 0.06 on average, still 200 times as much for 1,000 terms. */
static inline struct lab_ladder_element conv_element(const struct conv_shape *s,
                                                     double value,
                                                     enum lab_precision p,
                                                     enum lab_dtype dtype)
{
    double terms = (double)conv_depth(s);
    const struct lab_lab_sum window = {
        .value = value, .squares = terms / 144, .terms = terms};
    struct lab_ladder_element e = lab_lab_sum_element(&window, p, dtype);
    e.allowed *= 4;
    return e;
}
