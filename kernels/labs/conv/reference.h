/* kernels/labs/conv/reference.h -- what operation.c of conv and of conv_nhwc
 * share; dim is N, C, H, W, K, R. */
#pragma once
#include "labs/conv/conv.h"
#include "labs/operation.h"

/* The shape of a size. False: the size has no meaning, lab_fail() says why. */
bool lab_conv_shape_check(const int64_t *dim, struct conv_shape *out);
double lab_conv_flop(const int64_t *dim);
double lab_conv_bytes(const int64_t *dim, enum lab_precision p);
/* Transforms (Winograd's, Fourier's) mix the numbers of a whole tile, so that
 * the error of an element at the edge is that of its neighbours, and they add
 * errors of their own: up to 100 times those of the plain sum, for Winograd's
 * larger tiles. So the tolerance is that of a full window of random numbers,
 * whose products have a mean square of 1 / 144, four times over. A term that is
 * left out is 0.06 on average, still 200 times as much for 1,000 terms. */
struct lab_ladder_element lab_conv_element(const struct conv_shape *s,
                                           double value, enum lab_precision p,
                                           enum lab_dtype dtype);
extern const char *const lab_conv_checks[];
