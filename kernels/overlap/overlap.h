/* kernels/overlap/overlap.h -- copy, compute, copy back: the recurrence of
 * all its rungs, v = A v + C, and the launchers of the CUDA ones. */
#pragma once
#include "labs/sweep.h"

#define LAB_OVERLAP_A 0.998f
#define LAB_OVERLAP_C 0.001f
enum { LAB_OVERLAP_STEPS = 65536, LAB_OVERLAP_STREAMS = 8 /* at most */ };

LAB_C_BEGIN
lab_kernel_fn lab_overlap_whole, lab_overlap_streams_2, lab_overlap_streams_4,
    lab_overlap_streams_8;
lab_kernel_fn lab_overlap_pageable_prepare, lab_overlap_pinned_prepare,
    lab_overlap_release;
lab_variant_note_fn lab_overlap_whole_note, lab_overlap_note_2,
    lab_overlap_note_4, lab_overlap_note_8;
LAB_C_END
