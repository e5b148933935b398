/* kernels/dot/dot.h -- s = x . y: in[0] x (N), in[1] y (N), out[0] s (1), out[1]
 * scratch for the blocks' sums (LAB_DOT_BLOCKS); all fp64. */
#pragma once
#include "common/kernel.h"

enum { LAB_DOT_BLOCKS = 1024 };

LAB_C_BEGIN
lab_kernel_fn lab_dot_atomic, lab_dot_blocks;
LAB_C_END
