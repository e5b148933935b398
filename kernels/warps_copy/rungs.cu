/* kernels/warps_copy/rungs.cu -- the CUDA rungs. */
#include "common/kernel.h"
#include "warps_copy/warps_copy.h"

#define SOURCE "kernels/warps_copy/copies.cu"

extern const struct lab_variant lab_cuda_rungs_warps_copy[] = {
    {.name = "one",
     .idea = "one load of 4 bytes a thread at a time",
     .run = lab_warps_copy_one,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = lab_warps_copy_one_prepare,
     .note = lab_warps_copy_one_note},
    {.name = "two",
     .idea = "two loads before the first is used",
     .run = lab_warps_copy_two,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = lab_warps_copy_two_prepare,
     .note = lab_warps_copy_two_note},
    {.name = "four",
     .idea = "four loads before the first is used",
     .run = lab_warps_copy_four,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = lab_warps_copy_four_prepare,
     .note = lab_warps_copy_four_note},
    {},
};
