/* kernels/conv2d/conv2d_cuda.cuh -- the launchers of the convolution, one file a variant:
 *   conv2d.cu         a thread a result, the bias, and the table of all of them
 *   conv2d_tile.cu    implicit GEMM: tiles of a product that is never laid out
 *   conv2d_im2col.cu  the windows laid out as a matrix, and NVIDIA's product or tf32x3
 *   conv2d_tf32x3_sm90.cu  tf32x3, the windows found in the image */
#pragma once
#include "conv2d/conv2d.h"
#include "common/launch.cuh"

lab_kernel_fn conv2d_tile_forward;
lab_kernel_fn conv2d_tile_backward;
lab_kernel_fn conv2d_im2col_forward;
lab_kernel_fn conv2d_im2col_backward;
lab_kernel_fn conv2d_tf32x3_forward;
lab_kernel_fn conv2d_tf32x3_backward;
lab_kernel_fn conv2d_tf32x3_prepare;

/* dx alone, for launchers that have no way of their own for a size. */
enum lab_status conv2d_tile_dx(const struct lab_call *call);
