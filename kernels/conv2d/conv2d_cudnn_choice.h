/* kernels/conv2d/conv2d_cudnn_choice.h -- which of the algorithms that cuDNN lists for
 * a convolution the variant `cudnn` may take.
 *
 * It takes the first in cuDNN's order that passes, so that the same seed gives
 * the same bits in every process: no measured time decides. Plain C, so that a test
 * without a GPU reads it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* One line of cuDNN's list, in cuDNN's numbers, for a kernel of KH x KW. */
struct lab_conv_offer {
    int direction; /* 0 forward, 1 dx, 2 dW */
    int algorithm;
    int status;      /* 0: it serves the shape */
    int determinism; /* 1: the same bits every time */
    int math;        /* cudnnMathType_t */
    int64_t KH;
    int64_t KW;
};

/* Winograd's transforms for kernels larger than 3 x 3 multiply by numbers so
 * large that fp32 is off by more than our tolerance. */
static inline bool lab_conv_too_coarse(int direction, int algorithm, int64_t KH,
                                       int64_t KW)
{
    bool winograd = direction == 0 ? algorithm == 6 || algorithm == 7
                                   : algorithm == 4 || algorithm == 5;
    return winograd && (KH != 3 || KW != 3);
}

/* False for what fails, what adds in another order every time, what multiplies
 * on tensor cores (math 1 and 2: tf32), what is too coarse, and for Winograd in
 * dW, which sums over a whole batch. */
static inline bool lab_conv_may_choose(const struct lab_conv_offer *o)
{
    bool fp32 = o->math == 0 || o->math == 3;
    bool winograd_dw =
        o->direction == 2 && (o->algorithm == 4 || o->algorithm == 5);
    return o->status == 0 && o->determinism == 1 && fp32 && !winograd_dw &&
           !lab_conv_too_coarse(o->direction, o->algorithm, o->KH, o->KW);
}
