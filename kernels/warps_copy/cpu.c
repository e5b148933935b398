/* kernels/warps_copy/cpu.c -- a copy on one thread of a CPU, which has no
 * warps: it finds its parallelism ahead in the one program, and the number of
 * warps in the size means nothing to it. */
#include "common/kernel.h"

static void copy(float *restrict y, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
}

static enum lab_status plain(const struct lab_call *call)
{
    copy(call->out[0].data, call->in[0].data, call->out[0].count);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_warps_copy[] = {
    {.name = "plain",
     .idea = "one loop; a CPU has no warps",
     .run = plain,
     .source = "kernels/warps_copy/cpu.c",
     .model = {.traffic = 1}},
    {0},
};
