/* kernels/stencil/stencil.h -- a sum of seven neighbours: what all variants
 * share, and the launchers of the CUDA ones. */
#pragma once
#include "common/kernel.h"

/* Numbers in a sum: radius 3 on both sides and the middle. */
enum { LAB_STENCIL_RADIUS = 3, LAB_STENCIL_WIDTH = 2 * LAB_STENCIL_RADIUS + 1 };
