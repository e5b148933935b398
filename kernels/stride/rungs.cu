/* kernels/stride/rungs.cu -- the CUDA rungs; a traffic of 2 says that all
 * of x is read (operation.c). */
#include "common/kernel.h"
#include "stride/stride.h"

#define SOURCE "kernels/stride/reads.cu"

extern const struct lab_variant lab_cuda_rungs_stride[] = {
    {.name = "plain",
     .idea = "a thread for each result",
     .run = lab_stride_plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = lab_stride_note},
    {.name = "several",
     .idea = "four results a thread: four sectors on their way at once",
     .run = lab_stride_several,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = lab_stride_note},
    {.name = "whole",
     .idea = "reads everything, 16 bytes a load, keeps what is wanted",
     .run = lab_stride_whole,
     .source = SOURCE,
     .model = {.traffic = 2}},
    {},
};
