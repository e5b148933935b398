/* kernels/pool/pool.h -- max_pool2d and avg_pool2d; params: lab_pool_params.
 * x (N, H, W, C) and y (N, OH, OW, C), or the same as nchw.
 *
 * max_pool2d
 *   pool, forward    y = the largest x of the window, argmax = its flat index
 *                    in x; the first one, row by row, where several are equal.
 *                    Padding never wins. The first NaN of a window wins it.
 *     out[0] y   out[1] argmax i32, like y   in[0] x
 *   pool, backward   dx[i] = sum of dy over the windows whose argmax is i
 *     out[0] dx  in[0] dy  in[1] argmax
 *   (group): the same without argmax, both phases or none
 *     forward    out[0] y    in[0] x
 *     backward   out[0] dx   in[0] dy   in[1] x   in[2] y
 * avg_pool2d
 *   pool, forward    y = the mean of the window's elements inside the image:
 *                    padding is not counted
 *     out[0] y   in[0] x
 *   pool, backward   dx = sum over the windows that hold it of dy / elements
 *     out[0] dx  in[0] dy
 * Every window holds at least one element of the image. */
#pragma once
#include "common/image.h"

struct lab_pool_params {
    struct lab_window window;
};
