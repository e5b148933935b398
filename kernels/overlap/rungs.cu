/* kernels/overlap/rungs.cu -- the CUDA rungs. */
#include "overlap/overlap.h"
#include "common/kernel.h"

#define SOURCE "kernels/overlap/streams.cu"

extern const struct lab_variant lab_cuda_rungs_overlap[] = {
    {.name = "pageable",
     .idea = "one after another, from memory as malloc gives it",
     .run = lab_overlap_whole,
     .source = SOURCE,
     .prepare = lab_overlap_pageable_prepare,
     .release = lab_overlap_release,
     .note = lab_overlap_whole_note},
    {.name = "pinned",
     .idea = "page-locked memory: the GPU fetches it itself",
     .run = lab_overlap_whole,
     .source = SOURCE,
     .prepare = lab_overlap_pinned_prepare,
     .release = lab_overlap_release,
     .note = lab_overlap_whole_note},
    {.name = "streams_2",
     .idea = "two halves in two streams: copies beside kernels",
     .run = lab_overlap_streams_2,
     .source = SOURCE,
     .prepare = lab_overlap_pinned_prepare,
     .release = lab_overlap_release,
     .note = lab_overlap_note_2},
    {.name = "streams_4",
     .idea = "four parts: both copies and the kernel at once",
     .run = lab_overlap_streams_4,
     .source = SOURCE,
     .prepare = lab_overlap_pinned_prepare,
     .release = lab_overlap_release,
     .note = lab_overlap_note_4},
    {.name = "streams_8",
     .idea = "eight parts: shorter ends",
     .run = lab_overlap_streams_8,
     .source = SOURCE,
     .prepare = lab_overlap_pinned_prepare,
     .release = lab_overlap_release,
     .note = lab_overlap_note_8},
    {},
};
