/* kernels/labs/warps_fma/chains.cu -- chains of multiply-adds with WARPS warps
 * a multiprocessor and no more.
 *
 * y[i] = x[i] after LAB_CHAIN_STEPS times v = A v + C: every step waits for the
 * one before, four cycles on this hardware. A multiprocessor has four
 * schedulers, each of which starts an instruction of a warp every cycle: with
 * one chain in each thread, 16 warps keep it busy; with four chains, 4.
 *
 * one, two, four   so many elements at a time in each thread: so many chains
 *                  that do not wait for each other. */
#include "labs/lab.cuh"
#include "labs/warps_fma/warps_fma.h"

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

template <int EACH> static enum lab_status prepare(const struct lab_call *call)
{
    return lab_lab_take_warps(call,
                              reinterpret_cast<const void *>(warps_fma<EACH>),
                              lab_lab_dim(call, 1));
}

template <int EACH> static enum lab_status chains(const struct lab_call *call)
{
    struct lab_resident r = lab_lab_resident(call, lab_lab_dim(call, 1));
    warps_fma<EACH><<<r.blocks, r.threads, r.shared, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->out[0].count);
    return lab_launched("warps_fma");
}

template <int EACH>
static void note(const struct lab_call *call, struct lab_rung_note *out)
{
    double chains = static_cast<double>(lab_lab_dim(call, 1)) * EACH / 4;
    snprintf(out->text, sizeof(out->text), "%.4g chains a scheduler", chains);
}

#define RUNG(name, each)                                                       \
    enum lab_status lab_warps_fma_##name##_prepare(                            \
        const struct lab_call *call)                                           \
    {                                                                          \
        return prepare<each>(call);                                            \
    }                                                                          \
    enum lab_status lab_warps_fma_##name(const struct lab_call *call)          \
    {                                                                          \
        return chains<each>(call);                                             \
    }                                                                          \
    void lab_warps_fma_##name##_note(const struct lab_call *call,              \
                                     struct lab_rung_note *out)                \
    {                                                                          \
        note<each>(call, out);                                                 \
    }

RUNG(one, 1)
RUNG(two, 2)
RUNG(four, 4)
