/* kernels/saxpy/cpu.c -- y = 2 x + y on one thread of a CPU: the loop that
 * one writes; the compiler makes vector instructions of it, and memory is the
 * limit. */
#include "saxpy/saxpy.h"
#include "common/kernel.h"

#define SOURCE "kernels/saxpy/cpu.c"

static void saxpy(float *restrict y, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = LAB_SAXPY_A * x[i] + y[i];
}

static enum lab_status cpu_saxpy(const struct lab_call *call)
{
    saxpy(call->out[0].data, call->in[0].data, call->out[0].count);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_saxpy[] = {
    {.name = "plain",
     .idea = "one loop",
     .run = cpu_saxpy,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
