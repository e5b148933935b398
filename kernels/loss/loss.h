/* kernels/loss/loss.h -- the losses. N samples.
 *
 * softmax_cross_entropy: z (R, C) logits, labels y (R) in 0..C-1.
 *   softmax, loss       probs = softmax(z) over the last axis
 *     out[0] probs (R, C)     in[0] z
 *   sample, loss        sample[r] = log(sum_c exp(z[r,c] - max)) + max - z[r,y]
 *                       (from the logits: finite where probs underflows)
 *     out[0] sample (R)       in[0] z   in[1] y (R) i32
 *   mean, loss          loss = sum_r sample[r] / R
 *     out[0] loss ()          in[0] sample (R)
 *   softmax, backward   dz[r,c] = (probs[r,c] - (c == y[r])) / R
 *     out[0] dz (R, C)        in[0] probs  in[1] y
 *
 * mse: h (N, ...) the network's output, y like h, E = elements per sample,
 * params: lab_mse_params.
 *   sample, loss        mean: sample[n] = sum_e (h - y)^2 / E;
 *                       else: sample[n] = 1/2 sum_e (h - y)^2
 *     out[0] sample (N)       in[0] h   in[1] y
 *   reduce, loss        loss = sum_n sample[n], over N unless half_sum
 *     out[0] loss ()          in[0] sample
 *   sample, backward    dh = s (h - y), s = 2/(N E), 1 or 1/N
 *     out[0] dh               in[0] h   in[1] y
 *
 * weighted_sum: a probe: its gradient is y itself.
 *   sample, loss        sample[n] = sum_e y[n,e] h[n,e]
 *     out[0] sample (N)       in[0] h   in[1] y
 *   reduce, loss        loss = sum_n sample[n]
 *     out[0] loss ()          in[0] sample
 *   sample, backward    dh = y
 *     out[0] dh               in[0] y
 *
 * In a 1-D h every element is a sample (N = count, E = 1). */
#pragma once
#include "common/kernel.h"

enum lab_mse_reduction {
    LAB_MSE_MEAN,
    LAB_MSE_HALF_SUM,
    LAB_MSE_HALF_SUM_PER_SAMPLE
};

struct lab_mse_params {
    enum lab_mse_reduction reduction;
};
