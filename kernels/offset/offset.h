/* kernels/offset/offset.h -- reads that begin elsewhere: the launchers of
 * the CUDA rungs. */
#pragma once
#include "labs/sweep.h"

LAB_C_BEGIN
lab_kernel_fn lab_offset_plain, lab_offset_single, lab_offset_shifted;
lab_variant_note_fn lab_offset_plain_note, lab_offset_single_note,
    lab_offset_shifted_note;
LAB_C_END
