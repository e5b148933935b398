/* kernels/layout/layout.h -- NCHW to NHWC: the launchers of the CUDA rungs.
 *
 * x (N,C,H,W) in, y (N,H,W,C) out; elements of 4 bytes or of 2. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_layout_plain, lab_layout_pixels, lab_layout_tile,
    lab_layout_large, lab_layout_tile_half;
LAB_C_END
