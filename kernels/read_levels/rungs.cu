/* kernels/read_levels/rungs.cu -- the CUDA rungs. */
#include "read_levels/levels.h"
#include "common/kernel.h"

#define SOURCE "kernels/read_levels/reads.cu"

extern const struct lab_variant lab_cuda_rungs_read_levels[] = {
    {.name = "l2",
     .idea = "loads that pass L1 by",
     .run = lab_levels_l2,
     .source = SOURCE},
    {.name = "global",
     .idea = "plain loads: L1 first",
     .run = lab_levels_global,
     .source = SOURCE},
    {.name = "shared",
     .idea = "the footprint in each multiprocessor's shared memory",
     .run = lab_levels_shared,
     .source = SOURCE,
     .prepare = lab_levels_shared_prepare},
    {},
};
