/* kernels/stride/cpu.c -- one number out of every S on one thread of a
 * CPU; its memory answers in lines of 64 bytes: 16 numbers.
 *
 * plain  the loop that one writes.
 * whole  reads all of x and keeps what is wanted: what the hardware does anyway
 *        up to S = 16, and far too much beyond. */
#include "common/kernel.h"

#define SOURCE "kernels/stride/cpu.c"

static enum lab_status plain(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    int64_t stride = call->in[0].count / n;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i * stride];
    return LAB_OK;
}

static enum lab_status whole(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t total = call->in[0].count;
    int64_t stride = total / call->out[0].count;
    int64_t at = 0;
    int64_t left = 0; /* numbers to pass by */
    for (int64_t i = 0; i < total; i++) {
        float v = x[i];
        if (left == 0) {
            y[at++] = v;
            left = stride;
        }
        left--;
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_stride[] = {
    {.name = "plain",
     .idea = "one loop, S numbers apart",
     .run = plain,
     .source = SOURCE},
    {.name = "whole",
     .idea = "reads everything, keeps what is wanted",
     .run = whole,
     .source = SOURCE},
    {0},
};
