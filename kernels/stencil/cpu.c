/* kernels/stencil/cpu.c -- sums of seven neighbours on a CPU.
 *
 * plain       seven additions a result, on one thread.
 * no_barrier  WRONG ON PURPOSE: what a GPU may do where __syncthreads() is
 *             missing, simulated on one thread. A block's eight warps run one
 *             after another, each from load to store, so that the last six
 *             threads of each add what the block before left in the tile.
 * eights      eight results at a time, added neighbour by neighbour: the same
 *             sums, in an order that the compiler makes vector instructions
 *             of. */
#include "common/kernel.h"
#include "stencil/stencil.h"

#define SOURCE "kernels/stencil/cpu.c"

static float sum_of(const float *x)
{
    float sum = 0.0f;
    for (int k = 0; k < LAB_STENCIL_WIDTH; k++)
        sum += x[k];
    return sum;
}

static enum lab_status plain(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = sum_of(x + i);
    return LAB_OK;
}

enum { BLOCK = 256, WARP = 32, HALO = LAB_STENCIL_WIDTH - 1 };

/* The warp with the first element `first`: it loads its part of the tile, and
 * does not wait for the others before it adds. */
static void run_warp(const struct lab_call *call, float *tile, int64_t first)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    for (int lane = 0; lane < WARP; lane++) {
        int thread = (int)(first % BLOCK) + lane;
        int64_t i = first + lane;
        if (i < n + HALO)
            tile[thread] = x[i];
        if (thread < HALO && i + BLOCK < n + HALO)
            tile[thread + BLOCK] = x[i + BLOCK];
    }
    for (int lane = 0; lane < WARP; lane++) {
        if (first + lane < n)
            y[first + lane] = sum_of(tile + first % BLOCK + lane);
    }
}

static enum lab_status no_barrier(const struct lab_call *call)
{
    float tile[BLOCK + HALO] = {0};
    for (int64_t i = 0; i < call->out[0].count; i += WARP)
        run_warp(call, tile, i);
    return LAB_OK;
}

enum { EIGHT = 8 };

static void add_eight(float *restrict y, const float *restrict x)
{
    float sum[EIGHT] = {0};
    for (int k = 0; k < LAB_STENCIL_WIDTH; k++) {
        for (int r = 0; r < EIGHT; r++)
            sum[r] += x[r + k];
    }
    for (int r = 0; r < EIGHT; r++)
        y[r] = sum[r];
}

static enum lab_status eights(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    int64_t i = 0;
    for (; i + EIGHT <= n; i += EIGHT)
        add_eight(y + i, x + i);
    for (; i < n; i++)
        y[i] = sum_of(x + i);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_stencil[] = {
    {.name = "plain",
     .idea = "seven additions a result",
     .run = plain,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "no_barrier",
     .idea = "warps that do not wait for each other, simulated",
     .run = no_barrier,
     .source = SOURCE,
     .wrong_on_purpose = "a warp adds what the next has not loaded yet"},
    {.name = "eights",
     .idea = "eight results at a time: vector instructions",
     .run = eights,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
