/* kernels/stride/stride.h -- one number out of every S: the launchers of
 * the CUDA rungs. */
#pragma once
#include "labs/sweep.h"

LAB_C_BEGIN
lab_kernel_fn lab_stride_plain, lab_stride_several, lab_stride_whole;
lab_variant_note_fn lab_stride_note;
LAB_C_END
