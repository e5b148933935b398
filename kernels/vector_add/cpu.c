/* kernels/vector_add/cpu.c -- C = A + B on one thread of a CPU: the loop
 * that one writes; the compiler makes vector instructions of it, and memory is
 * the limit. */
#include "common/kernel.h"

#define SOURCE "kernels/vector_add/cpu.c"

static void add(float *restrict c, const float *restrict a,
                const float *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

static enum lab_status cpu_add(const struct lab_call *call)
{
    add(call->out[0].data, call->in[0].data, call->in[1].data,
        call->out[0].count);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_vector_add[] = {
    {.name = "plain",
     .idea = "one loop",
     .run = cpu_add,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
