/* kernels/divergence/rungs.cu -- the CUDA rungs. */
#include "divergence/divergence.h"
#include "common/kernel.h"

#define SOURCE "kernels/divergence/branches.cu"

extern const struct lab_variant lab_cuda_rungs_divergence[] = {
    {.name = "by_lane",
     .idea = "neighbouring threads take different branches",
     .run = lab_diverge_by_lane,
     .source = SOURCE,
     .note = lab_diverge_by_lane_note},
    {.name = "by_warp",
     .idea = "all threads of a warp take the same branch",
     .run = lab_diverge_by_warp,
     .source = SOURCE,
     .note = lab_diverge_by_warp_note},
    {.name = "chosen",
     .idea = "no branch: the constant differs, the code does not",
     .run = lab_diverge_chosen,
     .source = SOURCE,
     .note = lab_diverge_chosen_note},
    {},
};
