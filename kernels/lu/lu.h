/* kernels/lu/lu.h -- P A = L U in double precision: the launchers of the
 * CUDA variants.
 *
 * A (n,n) in, columns first; LU (n,n) out, both factors in one matrix, and the
 * pivots (n) of LAPACK, from 1; scratch (1): an integer, LAPACK's info, 0 when
 * all is well. The second input is the witness (witness.h): not the kernels'. */
#pragma once
#include "common/kernel.h"

struct lab_variant_note;

LAB_C_BEGIN
lab_kernel_fn lab_lu_unblocked, lab_lu_blocked, lab_lu_cusolver,
    lab_lu_cusolver_prepare;
void lab_lu_cusolver_note(const struct lab_call *call,
                          struct lab_variant_note *out);
LAB_C_END
