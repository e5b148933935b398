/* kernels/divergence/branches.cu -- B branches: as many paths as there are
 * threads of a warp, or one path a warp.
 *
 * y[i] = x[i] after LAB_DIVERGENCE_STEPS times v = a v + c[i % B]. Each branch
 * has code of its own for its constant. A warp has one program counter a path:
 * it walks all paths that any of its threads takes, one after another, and on
 * each the other threads wait.
 *
 * by_lane  thread i makes element i: neighbours take different branches, and a
 *          warp walks min(B, 32) of them.
 * by_warp  the same elements, dealt out so that all threads of a warp take the
 *          same branch: a warp walks one. The price is that a warp reads B
 *          numbers apart; L1 holds the lines until the other warps come.
 * chosen   no branch at all: the constant differs, the code does not. */
#include "common/kernel.h"
#include <stdio.h>

#include "divergence/divergence.h"
#include "common/launch.cuh"

enum { UNROLL = 8 };

/* The loop of one branch. The instruction is in assembly so that the
 * compiler cannot make one loop of the 32. */
template <int BRANCH> static __device__ float walk(float v)
{
    const float c = LAB_DIVERGENCE_C(BRANCH);
#pragma unroll 1
    for (int s = 0; s < LAB_DIVERGENCE_STEPS / UNROLL; s++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            asm volatile("fma.rn.f32 %0, %0, %1, %2;"
                         : "+f"(v)
                         : "f"(LAB_DIVERGENCE_A), "f"(c));
    }
    return v;
}

template <int BRANCH> static __device__ float branch(int wanted, float v)
{
    if constexpr (BRANCH < LAB_DIVERGENCE_BRANCHES) {
        if (wanted == BRANCH)
            return walk<BRANCH>(v);
        return branch<BRANCH + 1>(wanted, v);
    } else {
        return v;
    }
}

static __global__ void diverge_by_lane(float *y, const float *x, int branches,
                                       int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        y[i] = branch<0>(static_cast<int>(i % branches), x[i]);
}

static enum lab_status diverge_by_lane(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    diverge_by_lane<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0),
        static_cast<int>(lab_bench_dim(call, 1)), n);
    return lab_launched("diverge_by_lane");
}

/* B warps take 32 B elements: warp w of them those of branch w. */
static __global__ void diverge_by_warp(float *y, const float *x, int branches,
                                       int64_t n)
{
    int64_t warp = lab_element() / 32;
    int lane = threadIdx.x % 32;
    int which = static_cast<int>(warp % branches);
    int64_t i = (warp / branches * 32 + lane) * branches + which;
    if (i < n)
        y[i] = branch<0>(which, x[i]);
}

static enum lab_status diverge_by_warp(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    int branches = static_cast<int>(lab_bench_dim(call, 1));
    int64_t group = 32 * static_cast<int64_t>(branches);
    int64_t threads = (n + group - 1) / group * group;
    diverge_by_warp<<<lab_blocks(threads, LAB_DIVERGENCE_BLOCK),
                      LAB_DIVERGENCE_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), branches, n);
    return lab_launched("diverge_by_warp");
}

static __global__ void diverge_chosen(float *y, const float *x, int branches,
                                      int64_t n)
{
    int64_t i = lab_element();
    if (i >= n)
        return;
    float v = x[i];
    const float c = LAB_DIVERGENCE_C(static_cast<int>(i % branches));
#pragma unroll 1
    for (int s = 0; s < LAB_DIVERGENCE_STEPS / UNROLL; s++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            v = fmaf(v, LAB_DIVERGENCE_A, c);
    }
    y[i] = v;
}

static enum lab_status diverge_chosen(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    diverge_chosen<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0),
        static_cast<int>(lab_bench_dim(call, 1)), n);
    return lab_launched("diverge_chosen");
}

static void note(const struct lab_call *call, bool diverges,
                 struct lab_variant_note *out)
{
    long long branches = static_cast<long long>(lab_bench_dim(call, 1));
    snprintf(out->text, sizeof(out->text), "%lld path%s a warp",
             diverges ? branches : 1LL, diverges && branches > 1 ? "s" : "");
}

static void diverge_by_lane_note(const struct lab_call *call,
                                 struct lab_variant_note *out)
{
    note(call, true, out);
}

static void diverge_by_warp_note(const struct lab_call *call,
                                 struct lab_variant_note *out)
{
    note(call, false, out);
}

static void diverge_chosen_note(const struct lab_call *call,
                                struct lab_variant_note *out)
{
    note(call, false, out);
}

#define SOURCE "kernels/divergence/branches.cu"

extern const struct lab_variant lab_cuda_variants_divergence[] = {
    {.name = "by_lane",
     .idea = "neighbouring threads take different branches",
     .run = diverge_by_lane,
     .source = SOURCE,
     .note = diverge_by_lane_note},
    {.name = "by_warp",
     .idea = "all threads of a warp take the same branch",
     .run = diverge_by_warp,
     .source = SOURCE,
     .note = diverge_by_warp_note},
    {.name = "chosen",
     .idea = "no branch: the constant differs, the code does not",
     .run = diverge_chosen,
     .source = SOURCE,
     .note = diverge_chosen_note},
    {},
};
