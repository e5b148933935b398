/* kernels/fusion/rungs.cu -- the CUDA rungs in the order in which a
 * learner climbs them. Bytes an element: 8 for a kernel of one tensor, 12 for
 * the sum of two. */
#include <stdio.h>
#include "fusion/fusion.h"
#include "common/kernel.h"

#define SOURCE "kernels/fusion/fusion.cu"

/* Launches, and bytes that the kernels read and write, as they are written. */
template <int LAUNCHES, int BYTES>
static void note(const struct lab_call *call, struct lab_variant_note *out)
{
    double mib = static_cast<double>(call->in[0].count) * BYTES / (1 << 20);
    snprintf(out->text, sizeof(out->text), "%d launch%s, %.4g MiB moved",
             LAUNCHES, LAUNCHES == 1 ? "" : "es", mib);
    /* What lies between two kernels is memory that one kernel saves. */
    out->workspace_bytes = LAUNCHES > 1 ? call->in[0].count * 4 : 0;
}

extern const struct lab_variant lab_cuda_rungs_fusion[] = {
    {.name = "three",
     .idea = "a kernel for each operation",
     .run = lab_fusion_three,
     .source = SOURCE,
     .model = {.traffic = 28.0 / 12},
     .note = note<3, 28>},
    {.name = "two",
     .idea = "bias and gelu in one kernel",
     .run = lab_fusion_two,
     .source = SOURCE,
     .model = {.traffic = 20.0 / 12},
     .note = note<2, 20>},
    {.name = "one",
     .idea = "all of it in one kernel: nothing between goes to memory",
     .run = lab_fusion_one,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = note<1, 12>},
    {.name = "vector",
     .idea = "16 bytes a load, two loads of each tensor on their way",
     .run = lab_fusion_vector,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = note<1, 12>},
    {},
};
