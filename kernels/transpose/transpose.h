/* kernels/transpose/transpose.h -- the transpose of a matrix: the launchers of the
 * CUDA variants. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_transpose_plain, lab_transpose_tile, lab_transpose_padded,
    lab_transpose_rows, lab_transpose_large, lab_transpose_down,
    lab_transpose_fours;
LAB_C_END
