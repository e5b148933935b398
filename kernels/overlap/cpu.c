/* kernels/overlap/cpu.c -- copy, compute, copy back, where all of it is
 * one memory: nothing runs beside anything else on one thread, and yet parts
 * are worth something.
 *
 * whole  each of the three over the whole vector: it goes through memory three
 *        times.
 * parts  the three over 4,096 elements at a time, which stay in the cache. */
#include <string.h>

#include "overlap/overlap.h"

#define SOURCE "kernels/overlap/cpu.c"

enum { PART = 4096, LANES = 16 };

static void walk(float *v, int64_t steps)
{
    for (int64_t s = 0; s < steps; s++) {
        for (int l = 0; l < LANES; l++)
            v[l] = v[l] * LAB_OVERLAP_A + LAB_OVERLAP_C;
    }
}

static void compute(float *x, int64_t n, int64_t steps)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        walk(x + i, steps);
    for (; i < n; i++) {
        for (int64_t s = 0; s < steps; s++)
            x[i] = x[i] * LAB_OVERLAP_A + LAB_OVERLAP_C;
    }
}

static void copy_compute_copy(const struct lab_call *call, int64_t first,
                              int64_t n)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    float *there = call->out[1].data;
    size_t bytes = (size_t)n * sizeof(*x);
    memcpy(there + first, x + first, bytes);
    compute(there + first, n, lab_bench_dim(call, 1));
    memcpy(y + first, there + first, bytes);
}

static enum lab_status whole(const struct lab_call *call)
{
    copy_compute_copy(call, 0, call->in[0].count);
    return LAB_OK;
}

static enum lab_status parts(const struct lab_call *call)
{
    int64_t n = call->in[0].count;
    for (int64_t i = 0; i < n; i += PART)
        copy_compute_copy(call, i, n - i < PART ? n - i : PART);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_overlap[] = {
    {.name = "whole",
     .idea = "copy, compute, copy, each over everything",
     .run = whole,
     .source = SOURCE},
    {.name = "parts",
     .idea = "4096 elements at a time stay in the cache",
     .run = parts,
     .source = SOURCE},
    {0},
};
