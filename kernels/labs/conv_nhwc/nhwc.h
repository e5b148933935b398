/* kernels/labs/conv_nhwc/nhwc.h -- the convolution with channels last: the
 * launchers of our own CUDA rungs. Tensors: labs/conv/conv.h. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_conv_nhwc_direct;
LAB_C_END
