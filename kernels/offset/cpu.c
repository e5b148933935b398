/* kernels/offset/cpu.c -- reads that begin elsewhere, on one thread of a
 * CPU: the loop that one writes. Its vector loads cross a line of 64 bytes now
 * and then, and hardware takes that nearly for free. */
#include "common/kernel.h"

static void copy(float *restrict y, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
}

static enum lab_status plain(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    int64_t n = call->out[0].count;
    copy(call->out[0].data, x + (call->in[0].count - n), n);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_offset[] = {
    {.name = "plain",
     .idea = "one loop",
     .run = plain,
     .source = "kernels/offset/cpu.c",
     .model = {.traffic = 1}},
    {0},
};
