/* kernels/pointer_chase/chase.cu -- at = next[at], over and over.
 *
 * One thread, and every access waits for the one before: nothing hides the
 * latency, and time / accesses is the latency of whatever level of memory holds
 * the footprint, with the two or three instructions of the loop.
 *
 * The caches are emptied before each repeat. A first kernel therefore reads the
 * footprint once with all multiprocessors, into L2; then the block of the chase
 * reads it once, into its L1. That is a few microseconds, against thousands of
 * accesses.
 *
 * global    plain loads: L1 while the footprint fits there, then L2, then DRAM.
 * l2        loads that pass L1 by (ld.global.cg): what L1 was worth.
 * shared    the footprint copied into shared memory, which is the same RAM as
 *           L1, without looking up whether it is there.
 * constant  the footprint copied into constant memory: 64 KiB behind a cache of
 *           their own, made for all threads reading the same word. */
#include "common/kernel.h"
#include "pointer_chase/chase.h"
#include "labs/lab.cuh"

enum { CHASE_BLOCK = 1024 };

static __global__ void chase_warm(float *sink, const int *next, int64_t lines)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    int sum = 0;
    for (int64_t i = lab_element(); i < lines; i += step)
        sum += __ldcg(next + i * LAB_CHASE_LINE);
    if (sum == -1) /* never: indices are not negative, nor is their sum odd */
        *sink = 0.0f;
}

/* Lines in L2, as far as they fit. */
static void warm(const struct lab_call *call, int64_t lines)
{
    unsigned blocks = static_cast<unsigned>(call->exec->sm_count) * 2;
    chase_warm<<<blocks, CHASE_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_labels(call, 0), lines);
}

template <bool L1>
static __global__ void chase_global(float *y, const int *next, int64_t lines,
                                    int64_t accesses, bool fits)
{
    __shared__ int sink;
    if (L1 && fits) {
        int sum = 0;
        for (int64_t i = threadIdx.x; i < lines; i += blockDim.x)
            sum += next[i * LAB_CHASE_LINE];
        if (sum == -1)
            sink = sum;
        __syncthreads();
    }
    if (threadIdx.x != 0)
        return;
    int at = 0;
#pragma unroll 1
    for (int64_t k = 0; k < accesses; k++)
        at = L1 ? next[at] : __ldcg(next + at);
    *y = static_cast<float>(at / LAB_CHASE_LINE);
}

template <bool L1> static enum lab_status chase(const struct lab_call *call)
{
    int64_t lines = call->in[0].count / LAB_CHASE_LINE;
    bool fits = lines * LAB_CHASE_LINE * 4 <= LAB_CHASE_L1;
    warm(call, lines);
    chase_global<L1><<<1, CHASE_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_labels(call, 0), lines, lab_bench_dim(call, 1),
        fits);
    return lab_launched("chase_global");
}

static enum lab_status chase_global(const struct lab_call *call)
{
    return chase<true>(call);
}

static enum lab_status chase_l2(const struct lab_call *call)
{
    return chase<false>(call);
}

static __global__ void chase_shared(float *y, const int *next, int64_t lines,
                                    int64_t accesses)
{
    extern __shared__ int copy[];
    for (int64_t i = threadIdx.x; i < lines; i += blockDim.x)
        copy[i * LAB_CHASE_LINE] = next[i * LAB_CHASE_LINE];
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    int at = 0;
#pragma unroll 1
    for (int64_t k = 0; k < accesses; k++)
        at = copy[at];
    *y = static_cast<float>(at / LAB_CHASE_LINE);
}

static enum lab_status chase_shared_prepare(const struct lab_call *call)
{
    return lab_bench_take_shared(call,
                                 reinterpret_cast<const void *>(chase_shared),
                                 call->in[0].count * 4);
}

static enum lab_status chase_shared(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    warm(call, count / LAB_CHASE_LINE);
    chase_shared<<<1, CHASE_BLOCK, static_cast<size_t>(count) * 4,
                   lab_stream(call)>>>(lab_out(call, 0), lab_labels(call, 0),
                                       count / LAB_CHASE_LINE,
                                       lab_bench_dim(call, 1));
    return lab_launched("chase_shared");
}

static __constant__ int constant_copy[LAB_CHASE_CONSTANT / 4];

static __global__ void chase_constant(float *y, int64_t accesses)
{
    int at = 0;
#pragma unroll 1
    for (int64_t k = 0; k < accesses; k++)
        at = constant_copy[at];
    *y = static_cast<float>(at / LAB_CHASE_LINE);
}

static enum lab_status chase_constant_prepare(const struct lab_call *call)
{
    long long bytes = static_cast<long long>(call->in[0].count) * 4;
    if (bytes <= LAB_CHASE_CONSTANT)
        return LAB_OK;
    return lab_fail(
        LAB_E_UNSUPPORTED,
        "[launch.constant] constant memory holds %d bytes, not %lld",
        LAB_CHASE_CONSTANT, bytes);
}

static enum lab_status chase_constant(const struct lab_call *call)
{
    cudaError_t err =
        cudaMemcpyToSymbolAsync(constant_copy, lab_labels(call, 0),
                                static_cast<size_t>(call->in[0].count) * 4, 0,
                                cudaMemcpyDeviceToDevice, lab_stream(call));
    if (err != cudaSuccess)
        return lab_fail(LAB_E_DEVICE, "cannot copy to constant memory: %s",
                        cudaGetErrorString(err));
    chase_constant<<<1, 1, 0, lab_stream(call)>>>(lab_out(call, 0),
                                                  lab_bench_dim(call, 1));
    return lab_launched("chase_constant");
}

#define SOURCE "kernels/pointer_chase/chase.cu"

extern const struct lab_variant lab_cuda_variants_pointer_chase[] = {
    {.name = "l2",
     .idea = "loads that pass L1 by",
     .run = chase_l2,
     .source = SOURCE},
    {.name = "global",
     .idea = "plain loads: L1 first",
     .run = chase_global,
     .source = SOURCE},
    {.name = "shared",
     .idea = "the footprint in shared memory",
     .run = chase_shared,
     .source = SOURCE,
     .prepare = chase_shared_prepare},
    {.name = "constant",
     .idea = "the footprint in constant memory, behind its own cache",
     .run = chase_constant,
     .source = SOURCE,
     .prepare = chase_constant_prepare},
    {},
};
