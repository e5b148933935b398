/* kernels/concat/concat.h -- tensors side by side. A row is what lies together in
 * memory from the axis of the channels on: an image in nchw, a pixel in nhwc.
 * params: lab_concat_params.
 *
 * copy, forward    y = the rows of in[0], in[1] ... one after the other
 *   out[0] y (R, row)     in[k] x_k (R, width[k])
 * copy, backward   dx_k = its part of dy
 *   out[k] dx_k, or NULL  in[0] dy */
#pragma once
#include "common/kernel.h"

enum { LAB_CONCAT_INPUTS = 7 };

struct lab_concat_params {
    int n; /* inputs */
    int64_t width[LAB_CONCAT_INPUTS];
    int64_t row; /* their sum */
};
