/* kernels/flatten/flatten.h -- [N, ...] to [N, rest]; params: lab_flatten_params.
 *
 * flatten, forward    out[0] y (N, P)   in[0] x (N, ...)
 * flatten, backward   out[0] dx (N, ...)   in[0] dy (N, P)
 * row_major keeps the order of memory. channel_first writes an image that is
 * stored [N, H, W, C] in the order of [N, C, H, W]: y[n, (c*H + h)*W + w] =
 * x[n, h, w, c]; a stored [N, C, H, W] is in that order already. */
#pragma once
#include "common/kernel.h"

struct lab_flatten_params {
    bool permute; /* channel_first over an [N, H, W, C] input */
};
