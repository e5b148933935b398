/* kernels/saxpy/rungs.cu -- the CUDA rungs in the order in which a learner
 * climbs them. */
#include "saxpy/saxpy.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_rungs_saxpy[] = {
    {.name = "one_block",
     .idea = "one block of 256 threads walks over everything",
     .run = lab_saxpy_one_block,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1, .share = 1}},
    {.name = "plain",
     .idea = "a thread for each element",
     .run = lab_saxpy_plain,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1}},
    {.name = "stride",
     .idea = "as many threads as the GPU holds, in steps of the grid",
     .run = lab_saxpy_stride,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "four elements a thread, 16 bytes a load",
     .run = lab_saxpy_fours,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1}},
    {},
};
