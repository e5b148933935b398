/* kernels/warps_fma/rungs.cu -- the CUDA rungs. */
#include "common/kernel.h"
#include "warps_fma/warps_fma.h"

#define SOURCE "kernels/warps_fma/chains.cu"

extern const struct lab_variant lab_cuda_rungs_warps_fma[] = {
    {.name = "one",
     .idea = "one chain a thread: each step waits four cycles",
     .run = lab_warps_fma_one,
     .source = SOURCE,
     .prepare = lab_warps_fma_one_prepare,
     .note = lab_warps_fma_one_note},
    {.name = "two",
     .idea = "two chains a thread",
     .run = lab_warps_fma_two,
     .source = SOURCE,
     .prepare = lab_warps_fma_two_prepare,
     .note = lab_warps_fma_two_note},
    {.name = "four",
     .idea = "four chains a thread",
     .run = lab_warps_fma_four,
     .source = SOURCE,
     .prepare = lab_warps_fma_four_prepare,
     .note = lab_warps_fma_four_note},
    {},
};
