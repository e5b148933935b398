/* kernels/warps_copy/copies.cu -- y = x with WARPS warps a multiprocessor
 * and no more.
 *
 * A warp that has asked memory for something waits hundreds of cycles; what a
 * multiprocessor does meanwhile is to let others run. By Little's law the rate
 * is what is on its way over how long the way is:
 *     bytes a second = WARPS x 32 x 4 x (loads a thread) / latency
 * until memory has no more to give.
 *
 * one, two, four   so many independent loads of 4 bytes in each thread before
 *                  the first is used: a thread's own parallelism (ILP)
 *                  replaces warps. */
#include "common/kernel.h"
#include "labs/warps.cuh"

template <int EACH>
static __global__ void warps_copy(float *y, const float *x, int64_t n)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    int64_t i = lab_element();
#pragma unroll 1
    for (; i + (EACH - 1) * step < n; i += EACH * step) {
        float v[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[k] = x[i + k * step];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            y[i + k * step] = v[k];
    }
    for (; i < n; i += step)
        y[i] = x[i];
}

template <int EACH>
static void note(const struct lab_call *call, struct lab_variant_note *out)
{
    long long warps = static_cast<long long>(lab_bench_dim(call, 1));
    snprintf(out->text, sizeof(out->text),
             "%lld bytes on their way a multiprocessor, at most",
             warps * 32 * 4 * EACH);
}

LAB_WARPS_VARIANT(one, warps_copy, 1, note)
LAB_WARPS_VARIANT(two, warps_copy, 2, note)
LAB_WARPS_VARIANT(four, warps_copy, 4, note)

#define SOURCE "kernels/warps_copy/copies.cu"

extern const struct lab_variant lab_cuda_variants_warps_copy[] = {
    {.name = "one",
     .idea = "one load of 4 bytes a thread at a time",
     .run = one,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = one_prepare,
     .note = one_note},
    {.name = "two",
     .idea = "two loads before the first is used",
     .run = two,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = two_prepare,
     .note = two_note},
    {.name = "four",
     .idea = "four loads before the first is used",
     .run = four,
     .source = SOURCE,
     .model = {.traffic = 1},
     .prepare = four_prepare,
     .note = four_note},
    {},
};
