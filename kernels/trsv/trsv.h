/* kernels/trsv/trsv.h -- L x = b, L lower triangular: in[0] L (n, n) row-major, in[1] b
 * (n), in[2] the x that made b, for the check alone; out[0] x (n). fp64. Above the
 * diagonal L has numbers that a solver must not read: NaN. */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_trsv_columns, lab_trsv_blocked;
LAB_C_END
