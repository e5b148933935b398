/* kernels/warps_copy/warps_copy.h -- the launchers of its rungs. */
#pragma once
#include "labs/sweep.h"

enum { LAB_COPY_WARPS = 64 /* at most */ };

LAB_C_BEGIN
lab_kernel_fn lab_warps_copy_one, lab_warps_copy_two, lab_warps_copy_four;
lab_kernel_fn lab_warps_copy_one_prepare, lab_warps_copy_two_prepare,
    lab_warps_copy_four_prepare;
lab_variant_note_fn lab_warps_copy_one_note, lab_warps_copy_two_note,
    lab_warps_copy_four_note;
LAB_C_END
