/* kernels/warps_fma/cpu.c -- chains of multiply-adds on one thread of a
 * CPU, which has no warps; the number of them in the size means nothing to it.
 *
 * one   an element after the other: each step waits for the one before.
 * many  32 elements side by side: vector instructions, and while one waits the
 *       next is started. */
#include "warps_fma/warps_fma.h"

#define SOURCE "kernels/warps_fma/cpu.c"

static float chain(float v)
{
    for (int s = 0; s < LAB_CHAIN_STEPS; s++)
        v = v * LAB_CHAIN_A + LAB_CHAIN_C;
    return v;
}

static enum lab_status one(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = chain(x[i]);
    return LAB_OK;
}

enum { MANY = 32 };

static void chains(float *v)
{
    for (int s = 0; s < LAB_CHAIN_STEPS; s++) {
        for (int l = 0; l < MANY; l++)
            v[l] = v[l] * LAB_CHAIN_A + LAB_CHAIN_C;
    }
}

static enum lab_status many(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    int64_t i = 0;
    for (; i + MANY <= n; i += MANY) {
        float v[MANY];
        for (int l = 0; l < MANY; l++)
            v[l] = x[i + l];
        chains(v);
        for (int l = 0; l < MANY; l++)
            y[i + l] = v[l];
    }
    for (; i < n; i++)
        y[i] = chain(x[i]);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_warps_fma[] = {
    {.name = "one",
     .idea = "one chain: each step waits for the one before",
     .run = one,
     .source = SOURCE},
    {.name = "many",
     .idea = "32 chains side by side",
     .run = many,
     .source = SOURCE},
    {0},
};
