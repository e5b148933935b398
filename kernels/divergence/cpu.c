/* kernels/divergence/cpu.c -- a branch for each element, on one thread of
 * a CPU. A core has no warps: it takes one path at a time, and guesses it.
 *
 * plain  an element after the other: 512 steps of which each waits for the one
 *        before.
 * lanes  16 elements side by side with a constant each, as a warp without
 *        branches has it: vector instructions, and no waiting. */

#include "divergence/divergence.h"
#include "common/kernel.h"

#define SOURCE "kernels/divergence/cpu.c"

static enum lab_status plain(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t branches = lab_bench_dim(call, 1);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        float v = x[i];
        float c = LAB_DIVERGENCE_C((int)(i % branches));
        for (int s = 0; s < LAB_DIVERGENCE_STEPS; s++)
            v = v * LAB_DIVERGENCE_A + c;
        y[i] = v;
    }
    return LAB_OK;
}

enum { LANES = 16 };

static void walk(float *restrict v, const float *restrict c)
{
    for (int s = 0; s < LAB_DIVERGENCE_STEPS; s++) {
        for (int l = 0; l < LANES; l++)
            v[l] = v[l] * LAB_DIVERGENCE_A + c[l];
    }
}

static enum lab_status lanes(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    int64_t branches = lab_bench_dim(call, 1);
    for (int64_t i = 0; i < n; i += LANES) {
        float v[LANES] = {0};
        float c[LANES];
        int many = n - i < LANES ? (int)(n - i) : LANES;
        for (int l = 0; l < LANES; l++)
            c[l] = LAB_DIVERGENCE_C((int)((i + l) % branches));
        for (int l = 0; l < many; l++)
            v[l] = x[i + l];
        walk(v, c);
        for (int l = 0; l < many; l++)
            y[i + l] = v[l];
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_divergence[] = {
    {.name = "plain",
     .idea = "one element after the other",
     .run = plain,
     .source = SOURCE},
    {.name = "lanes",
     .idea = "16 elements side by side, a constant each",
     .run = lanes,
     .source = SOURCE},
    {0},
};
