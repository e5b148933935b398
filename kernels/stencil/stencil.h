/* kernels/stencil/stencil.h -- a sum of seven neighbours: what all rungs
 * share, and the launchers of the CUDA ones. */
#pragma once
#include "common/kernel.h"

/* Numbers in a sum: radius 3 on both sides and the middle. */
enum { LAB_STENCIL_RADIUS = 3, LAB_STENCIL_WIDTH = 2 * LAB_STENCIL_RADIUS + 1 };

LAB_C_BEGIN
lab_kernel_fn lab_stencil_global, lab_stencil_no_barrier, lab_stencil_shared,
    lab_stencil_fours;
LAB_C_END
