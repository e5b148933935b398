/* kernels/labs/softmax/softmax.h -- softmax of the rows of a matrix: the
 * launchers of the CUDA rungs. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_softmax_naive, lab_softmax_block, lab_softmax_online,
    lab_softmax_registers, lab_softmax_vector;
LAB_C_END
