/* kernels/layout/rungs.cu -- the CUDA rungs. plain reads 32 bytes for 4 and
 * writes 4: 36 for 8. */
#include "layout/layout.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_rungs_layout[] = {
    {.name = "plain",
     .idea = "a thread for each element of the result",
     .run = lab_layout_plain,
     .source = "kernels/layout/layout.cu",
     .model = {.traffic = 4.5}},
    {.name = "pixels",
     .idea = "a thread for each pixel: for few channels",
     .run = lab_layout_pixels,
     .source = "kernels/layout/layout.cu",
     .model = {.traffic = 1}},
    {.name = "tile",
     .idea = "turned in shared memory: whole lines are read and written",
     .run = lab_layout_tile,
     .source = "kernels/layout/turn.cuh",
     .model = {.traffic = 1}},
    {.name = "large",
     .idea = "tiles of 64 x 64: 16 loads a thread on their way",
     .run = lab_layout_large,
     .source = "kernels/layout/turn.cuh",
     .model = {.traffic = 1}},
    {.name = "half",
     .idea = "the same with elements of 2 bytes",
     .run = lab_layout_tile_half,
     .source = "kernels/layout/layout.cu",
     .model = {.traffic = 1},
     .precision = LAB_FP16},
    {},
};
