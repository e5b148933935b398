/* kernels/fusion/cpu.c -- y = residual + gelu(x + bias) on one thread of a
 * CPU.
 *
 * three  a loop for each operation, with the step between in memory.
 * rows   the same three loops, row by row: the step between stays in the cache.
 * one    one loop. erf is what takes the time here, not memory. */
#include <math.h>

#include "common/kernel.h"

#define SOURCE "kernels/fusion/cpu.c"

static float gelu(float z)
{
    return z * 0.5f * erfcf(-z * 0.70710678118654752f);
}

static void add_bias(float *to, const float *x, const float *bias, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        to[c] = x[c] + bias[c];
}

static void take_gelu(float *at, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        at[c] = gelu(at[c]);
}

static void add(float *y, const float *x, const float *residual, int64_t C)
{
    for (int64_t c = 0; c < C; c++)
        y[c] = residual[c] + x[c];
}

static enum lab_status cpu_three(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *between = call->out[1].data;
    const int64_t C = call->in[0].dim[1];
    const int64_t count = call->in[0].count;
    for (int64_t i = 0; i < count; i += C)
        add_bias(between + i, x + i, call->in[1].data, C);
    take_gelu(between, count);
    add(call->out[0].data, between, call->in[2].data, count);
    return LAB_OK;
}

static enum lab_status cpu_rows(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    const float *residual = call->in[2].data;
    float *y = call->out[0].data;
    float *between = call->out[1].data; /* one row of it */
    const int64_t C = call->in[0].dim[1];
    for (int64_t i = 0; i < call->in[0].count; i += C) {
        add_bias(between, x + i, call->in[1].data, C);
        take_gelu(between, C);
        add(y + i, between, residual + i, C);
    }
    return LAB_OK;
}

static enum lab_status cpu_one(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    const float *bias = call->in[1].data;
    const float *residual = call->in[2].data;
    float *y = call->out[0].data;
    const int64_t C = call->in[0].dim[1];
    for (int64_t i = 0; i < call->in[0].count; i += C) {
        for (int64_t c = 0; c < C; c++)
            y[i + c] = residual[i + c] + gelu(x[i + c] + bias[c]);
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_fusion[] = {
    {.name = "three",
     .idea = "a loop for each operation, the step between in memory",
     .run = cpu_three,
     .source = SOURCE,
     .model = {.traffic = 28.0 / 12}},
    {.name = "rows",
     .idea = "row by row: the step between stays in the cache",
     .run = cpu_rows,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "one",
     .idea = "one loop for all of it",
     .run = cpu_one,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
