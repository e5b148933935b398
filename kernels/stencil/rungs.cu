/* kernels/stencil/rungs.cu -- the CUDA rungs. */
#include "common/kernel.h"
#include "stencil/stencil.h"

#define SOURCE "kernels/stencil/sums.cu"

extern const struct lab_variant lab_cuda_rungs_stencil[] = {
    {.name = "global",
     .idea = "seven loads a result: L1 answers most",
     .run = lab_stencil_global,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "no_barrier",
     .idea = "a tile in shared memory, and nobody waits for it",
     .run = lab_stencil_no_barrier,
     .source = SOURCE,
     .wrong_on_purpose = "a warp adds what the next has not loaded yet"},
    {.name = "shared",
     .idea = "a tile with its halo in shared memory, and a barrier",
     .run = lab_stencil_shared,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "four results a thread from three loads of 16 bytes",
     .run = lab_stencil_fours,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {},
};
