/* kernels/reduction/cpu.c -- the sum of a vector on one thread of a CPU.
 *
 * plain adds to one number, and every addition waits for the one before; lanes
 * has 16 sums that do not wait for each other. */
#include "common/kernel.h"

#define SOURCE "kernels/reduction/cpu.c"

enum { LANES = 16 };

static enum lab_status cpu_sum(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float sum = 0.0f;
    for (int64_t i = 0; i < call->in[0].count; i++)
        sum += x[i];
    *(float *)call->out[0].data = sum;
    return LAB_OK;
}

static enum lab_status cpu_sum_lanes(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    int64_t n = call->in[0].count;
    float lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    }
    for (; i < n; i++)
        lane[0] += x[i];
    float sum = 0.0f;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    *(float *)call->out[0].data = sum;
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_reduction[] = {
    {.name = "plain",
     .idea = "one sum: every addition waits for the last",
     .run = cpu_sum,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "lanes",
     .idea = "16 sums that do not wait for each other",
     .run = cpu_sum_lanes,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
