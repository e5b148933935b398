/* kernels/offset/rungs.cu -- the CUDA rungs. */
#include "offset/offset.h"
#include "common/kernel.h"

#define SOURCE "kernels/offset/reads.cu"

extern const struct lab_variant lab_cuda_rungs_offset[] = {
    {.name = "plain",
     .idea = "a thread for each number",
     .run = lab_offset_plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = lab_offset_plain_note},
    {.name = "single",
     .idea = "four numbers a thread, each loaded on its own",
     .run = lab_offset_single,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = lab_offset_single_note},
    {.name = "shifted",
     .idea = "aligned loads of 16 bytes, shifted in registers",
     .run = lab_offset_shifted,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = lab_offset_shifted_note},
    {},
};
