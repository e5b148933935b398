/* kernels/conv2d/conv2d_tf32x3_sm90.h -- the products of a convolution by tf32x3 on compute
 * capability 9.0, straight from the images. */
#pragma once
#include "conv2d/conv2d.h"

struct geometry;

/* Does it serve the sizes of `call`? `g` is conv2d_geometry_of() it. */
bool conv2d_tf32x3_fits(const struct lab_call *call, const struct geometry *g);
/* The step forward; of the step backward dWt, and dx, where the stride is 1. All take the
 * whole workspace. */
enum lab_status conv2d_tf32x3_conv(const struct lab_call *call,
                                   const struct geometry *g);
enum lab_status conv2d_tf32x3_dW(const struct lab_call *call,
                                 const struct geometry *g);
enum lab_status conv2d_tf32x3_dx(const struct lab_call *call,
                                 const struct geometry *g);
