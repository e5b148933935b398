/* kernels/launch/rungs.cu -- the CUDA rungs. */
#include "launch/launch.h"
#include "common/kernel.h"

#define SOURCE "kernels/launch/copies.cu"

extern const struct lab_variant lab_cuda_rungs_launch[] = {
    {.name = "plain",
     .idea = "a thread for each number",
     .run = lab_launch_plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = lab_launch_plain_prepare,
     .note = lab_launch_plain_note},
    {.name = "fours",
     .idea = "16 bytes a thread: fewer warps have as much on its way",
     .run = lab_launch_fours,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = lab_launch_fours_prepare,
     .note = lab_launch_fours_note},
    {},
};
