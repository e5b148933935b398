/* kernels/local_contrast_norm/local_contrast_norm.h -- each pixel of a channel less
 * the mean of its neighbourhood, over the neighbourhood's standard deviation.
 * params: lab_local_contrast_norm_params for both steps. Elements that are
 * neighbours along a row are `inner` apart: 1 in nchw, C in nhwc.
 *
 * With j over the size by size pixels around i, those that there are, n[i] of them:
 *
 * normalize, forward    mean[i] = 1/n[i] sum_j x[j]
 *                       rstd[i] = 1 / sqrt(1/n[i] sum_j (x[j] - mean[i])^2 + eps)
 *                       y[i] = (x[i] - mean[i]) rstd[i]
 *   out[0] y   out[1] mean   out[2] rstd     in[0] x, all of one shape
 * normalize, backward   dx[i] = dy[i] rstd[i]
 *                         - sum_j rstd[j]/n[j] dy[j]
 *                           (1 + (x[j] - mean[j]) (x[i] - mean[j]) rstd[j]^2)
 *   out[0] dx     in[0] dy   in[1] x   in[2] mean   in[3] rstd */
#pragma once
#include "common/kernel.h"

struct lab_local_contrast_norm_params {
    int64_t size; /* odd */
    double eps;
    int64_t height;
    int64_t width;
    int64_t inner;
};

/* The pixels around one: `rows` by `cols` of them from `first` on; two rows are
 * `down` apart and two columns `inner`. */
struct lab_local_contrast_norm_window {
    int64_t first;
    int64_t rows;
    int64_t cols;
    int64_t down;
};

LAB_HOST_DEVICE static inline struct lab_local_contrast_norm_window
lab_local_contrast_norm_around(const struct lab_local_contrast_norm_params *p,
                               int64_t i)
{
    struct lab_local_contrast_norm_window w;
    int64_t reach = p->size / 2;
    int64_t col = i / p->inner % p->width;
    int64_t row = i / p->inner / p->width % p->height;
    int64_t left = col < reach ? col : reach;
    int64_t right = p->width - 1 - col < reach ? p->width - 1 - col : reach;
    int64_t up = row < reach ? row : reach;
    int64_t below = p->height - 1 - row < reach ? p->height - 1 - row : reach;
    w.down = p->inner * p->width;
    w.first = i - left * p->inner - up * w.down;
    w.rows = up + 1 + below;
    w.cols = left + 1 + right;
    return w;
}
