/* kernels/launch/cpu.c -- a grid of blocks simulated on one thread of a
 * CPU: a loop over blocks around a loop over threads. What a small block costs
 * here is a loop that ends early; nothing is resident, and shared memory that
 * is asked for is not used, as on the GPU. */
#include "labs/sweep.h"

static void run_block(float *restrict y, const float *restrict x,
                      int64_t threads)
{
    for (int64_t t = 0; t < threads; t++)
        y[t] = x[t];
}

static enum lab_status blocks(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    int64_t block = lab_bench_dim(call, 1);
    for (int64_t first = 0; first < n; first += block)
        run_block(y + first, x + first, n - first < block ? n - first : block);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_launch[] = {
    {.name = "blocks",
     .idea = "block after block, thread after thread",
     .run = blocks,
     .source = "kernels/launch/cpu.c",
     .model = {.traffic = 1}},
    {0},
};
