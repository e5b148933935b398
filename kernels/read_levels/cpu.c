/* kernels/read_levels/cpu.c -- a footprint read over and over on one
 * thread of a CPU: the bandwidth of the cache that holds it.
 *
 * plain  one largest number: every comparison waits for the one before.
 * lanes  64 of them that do not wait for each other. */
#include <math.h>

#include "read_levels/levels.h"

#define SOURCE "kernels/read_levels/cpu.c"

static float largest(const float *x, int64_t n, float v)
{
    for (int64_t i = 0; i < n; i++)
        v = x[i] > v ? x[i] : v;
    return v;
}

/* The loop's rounds, each the footprint, in chunks. */
static void say_rounds(const struct lab_call *call, int64_t rounds)
{
    const int64_t dim[] = {call->in[0].count * 4, rounds};
    *(int32_t *)call->out[1].data = (int32_t)lab_levels_chunks(dim);
}

static enum lab_status plain(const struct lab_call *call)
{
    float v = -INFINITY;
    int64_t t = 0;
    for (; t < lab_bench_dim(call, 1); t++)
        v = largest(call->in[0].data, call->in[0].count, v);
    *(float *)call->out[0].data = v;
    say_rounds(call, t);
    return LAB_OK;
}

enum { LANES = 64 };

static void largest_lanes(float *restrict lane, const float *restrict x,
                          int64_t n)
{
    for (int64_t i = 0; i < n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
    }
}

/* A footprint is a multiple of 16 KiB, and so of LANES numbers. */
static enum lab_status lanes(const struct lab_call *call)
{
    float lane[LANES];
    for (int l = 0; l < LANES; l++)
        lane[l] = -INFINITY;
    int64_t t = 0;
    for (; t < lab_bench_dim(call, 1); t++)
        largest_lanes(lane, call->in[0].data, call->in[0].count);
    *(float *)call->out[0].data = largest(lane, LANES, -INFINITY);
    say_rounds(call, t);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_read_levels[] = {
    {.name = "plain",
     .idea = "one largest number",
     .run = plain,
     .source = SOURCE},
    {.name = "lanes",
     .idea = "64 largest numbers that do not wait for each other",
     .run = lanes,
     .source = SOURCE},
    {0},
};
