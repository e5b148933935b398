/* kernels/conv2d/conv.cuh -- the CUDA variants of the convolution. */
#pragma once
#include "conv2d/conv.h"
#include "common/kernel.h"
#include "common/launch.cuh"

LAB_C_BEGIN
lab_kernel_fn lab_conv_direct, lab_conv_tile, lab_conv_kernels, lab_conv_im2col,
    lab_conv_implicit, lab_conv_nhwc_direct, lab_conv_turned,
    lab_conv_turned_prepare, lab_conv_data_direct, lab_conv_filter_direct,
    lab_conv_filter_block;
void lab_conv_turned_note(const struct lab_call *call,
                          struct lab_variant_note *out);
void lab_conv_im2col_note(const struct lab_call *call,
                          struct lab_variant_note *out);
LAB_C_END
