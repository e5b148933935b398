/* kernels/warps_fma/chains.cu -- chains of multiply-adds with WARPS warps
 * a multiprocessor and no more.
 *
 * y[i] = x[i] after LAB_CHAIN_STEPS times v = A v + C: every step waits for the
 * one before, four cycles on this hardware. A multiprocessor has four
 * schedulers, each of which starts an instruction of a warp every cycle: with
 * one chain in each thread, 16 warps keep it busy; with four chains, 4.
 *
 * one, two, four   so many elements at a time in each thread: so many chains
 *                  that do not wait for each other. */
#include "common/kernel.h"
#include "labs/warps.cuh"
#include "warps_fma/warps_fma.h"

enum { UNROLL = 16 };

template <int EACH>
static __global__ void warps_fma(float *y, const float *x, int64_t n)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
#pragma unroll 1
    for (int64_t i = lab_element(); i < n; i += EACH * step) {
        float v[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[k] = i + k * step < n ? x[i + k * step] : 0.0f;
#pragma unroll 1
        for (int s = 0; s < LAB_CHAIN_STEPS / UNROLL; s++) {
#pragma unroll
            for (int u = 0; u < UNROLL; u++) {
#pragma unroll
                for (int k = 0; k < EACH; k++)
                    v[k] = fmaf(v[k], LAB_CHAIN_A, LAB_CHAIN_C);
            }
        }
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (i + k * step < n)
                y[i + k * step] = v[k];
        }
    }
}

template <int EACH>
static void note(const struct lab_call *call, struct lab_variant_note *out)
{
    double chains = static_cast<double>(lab_bench_dim(call, 1)) * EACH / 4;
    snprintf(out->text, sizeof(out->text), "%.4g chains a scheduler", chains);
}

LAB_WARPS_VARIANT(one, warps_fma, 1, note)
LAB_WARPS_VARIANT(two, warps_fma, 2, note)
LAB_WARPS_VARIANT(four, warps_fma, 4, note)

#define SOURCE "kernels/warps_fma/chains.cu"

extern const struct lab_variant lab_cuda_variants_warps_fma[] = {
    {.name = "one",
     .idea = "one chain a thread: each step waits four cycles",
     .run = one,
     .source = SOURCE,
     .prepare = one_prepare,
     .note = one_note},
    {.name = "two",
     .idea = "two chains a thread",
     .run = two,
     .source = SOURCE,
     .prepare = two_prepare,
     .note = two_note},
    {.name = "four",
     .idea = "four chains a thread",
     .run = four,
     .source = SOURCE,
     .prepare = four_prepare,
     .note = four_note},
    {},
};
