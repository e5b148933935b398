/* kernels/gesv/gesv.h -- A X = B by the factors of A, in double precision:
 * the launchers of the CUDA rungs.
 *
 * A (n,n) and B (n,r) in, columns first; the third input is the X that B was
 * made of, for the check. X (n,r) out; scratch: the factors (n,n), the pivots
 * (n), LAPACK's info (1) behind them: (n + 1). */
#pragma once
#include "common/kernel.h"

LAB_C_BEGIN
lab_kernel_fn lab_gesv_cusolver, lab_gesv_cusolver_prepare;
LAB_C_END
