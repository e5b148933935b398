/* kernels/local_response_norm/local_response_norm.h -- each number over a power of the
 * squares of its neighbours along the channels. params:
 * lab_local_response_norm_params for both steps. Elements that are neighbours along
 * the channels are `inner` apart: H*W in nchw, 1 in nhwc and [N,C].
 *
 * With j over the `size` channels around i, those that there are, at one place:
 *
 * normalize, forward    scale[i] = k + alpha/size sum_j x[j]^2
 *                       y[i] = x[i] scale[i]^-beta
 *   out[0] y   out[1] scale     in[0] x, all of one shape
 * normalize, backward   dx[i] = dy[i] scale[i]^-beta
 *                         - 2 alpha beta/size x[i] sum_j dy[j] y[j] / scale[j]
 *   out[0] dx     in[0] dy   in[1] x   in[2] y   in[3] scale */
#pragma once
#include "common/kernel.h"

struct lab_local_response_norm_params {
    int64_t size; /* odd */
    double alpha;
    double beta;
    double k;
    int64_t channels;
    int64_t inner;
};

/* The first and the last of the window around element i; `inner` apart. */
LAB_HOST_DEVICE static inline void
lab_local_response_norm_window(const struct lab_local_response_norm_params *p,
                               int64_t i, int64_t *first, int64_t *last)
{
    int64_t c = i / p->inner % p->channels;
    int64_t reach = p->size / 2;
    int64_t before = c < reach ? c : reach;
    int64_t after = p->channels - 1 - c;
    after = after < reach ? after : reach;
    *first = i - before * p->inner;
    *last = i + after * p->inner;
}
