/* kernels/launch/launch.h -- any size of block: the launchers of the CUDA
 * rungs. */
#pragma once
#include "labs/sweep.h"

LAB_C_BEGIN
lab_kernel_fn lab_launch_plain, lab_launch_fours;
lab_kernel_fn lab_launch_plain_prepare, lab_launch_fours_prepare;
lab_variant_note_fn lab_launch_plain_note, lab_launch_fours_note;
LAB_C_END
