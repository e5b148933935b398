/* kernels/pointer_chase/rungs.cu -- the CUDA rungs. */
#include "pointer_chase/chase.h"
#include "common/kernel.h"

#define SOURCE "kernels/pointer_chase/chase.cu"

extern const struct lab_variant lab_cuda_rungs_pointer_chase[] = {
    {.name = "l2",
     .idea = "loads that pass L1 by",
     .run = lab_chase_l2,
     .source = SOURCE},
    {.name = "global",
     .idea = "plain loads: L1 first",
     .run = lab_chase_global,
     .source = SOURCE},
    {.name = "shared",
     .idea = "the footprint in shared memory",
     .run = lab_chase_shared,
     .source = SOURCE,
     .prepare = lab_chase_shared_prepare},
    {.name = "constant",
     .idea = "the footprint in constant memory, behind its own cache",
     .run = lab_chase_constant,
     .source = SOURCE,
     .prepare = lab_chase_constant_prepare},
    {},
};
