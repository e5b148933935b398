/* kernels/warps_fma/warps_fma.h -- the recurrence of all its rungs, and
 * their launchers: v = A v + C, STEPS times. */
#pragma once
#include "labs/sweep.h"

enum { LAB_CHAIN_STEPS = 2048, LAB_CHAIN_WARPS = 64 /* at most */ };
#define LAB_CHAIN_A 0.9995f
#define LAB_CHAIN_C 0.00025f

LAB_C_BEGIN
lab_kernel_fn lab_warps_fma_one, lab_warps_fma_two, lab_warps_fma_four;
lab_kernel_fn lab_warps_fma_one_prepare, lab_warps_fma_two_prepare,
    lab_warps_fma_four_prepare;
lab_variant_note_fn lab_warps_fma_one_note, lab_warps_fma_two_note,
    lab_warps_fma_four_note;
LAB_C_END
