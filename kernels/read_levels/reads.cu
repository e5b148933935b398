/* kernels/read_levels/reads.cu -- the largest number of a footprint that
 * is read TIMES times over, by all multiprocessors: the bandwidth of a level.
 *
 * A multiprocessor has one block of 1,024 threads, which walks around the
 * footprint from a place of its own. A footprint that L1 holds is read from
 * there after the first round; a larger one has left L1 when the block comes
 * round again, and comes from L2; one that is larger than L2 comes from DRAM
 * every time. (Several blocks a multiprocessor would walk behind each other,
 * and find in L1 what the one before has just fetched.)
 *
 * global  plain loads of 16 bytes, four on their way at once in each thread.
 * l2      the same loads past L1 (ld.global.cg). Of a footprint so small that
 *         multiprocessors ask for the same line at the same time, one answer
 *         may serve several of them: look at 1 MiB and more.
 * shared  the footprint copied into each multiprocessor's shared memory, and
 *         read there.
 *
 * The largest number does not depend on how often or in which order numbers are
 * read, so that every variant must give the same bits. The rounds of the loop are
 * given beside it, in chunks: each block writes down how far its loop counter
 * has come, and the last kernel adds them up. That finds a wrong number of
 * rounds; loads that the compiler had moved out of the loop would not show in
 * it. */
#include "common/kernel.h"
#include <math_constants.h>

#include "read_levels/levels.h"
#include "labs/lab.cuh"

enum { EACH = 4, READ_BLOCK = 1024 };
static_assert(READ_BLOCK * 16 == LAB_LEVELS_CHUNK, "16 bytes a thread");

static __device__ float largest_of(float4 f, float v)
{
    return fmaxf(fmaxf(fmaxf(f.x, f.y), fmaxf(f.z, f.w)), v);
}

/* The block's largest number, in thread 0. */
static __device__ float largest_of_block(float v)
{
    __shared__ float of_warp[32];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        v = fmaxf(v, __shfl_down_sync(0xffffffffu, v, lane));
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    for (int w = 0; w < blockDim.x / 32; w++)
        v = fmaxf(v, of_warp[w]);
    return v;
}

template <bool L1>
static __global__ void levels_global(float *part, int *read, const float4 *x,
                                     int chunks, int rounds)
{
    int at =
        static_cast<int>(blockIdx.x * static_cast<int64_t>(chunks) / gridDim.x);
    float v = -CUDART_INF_F;
    int r = 0;
    for (; r < rounds; r++) {
        float4 f[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const float4 *from =
                x + static_cast<int64_t>(at) * READ_BLOCK + threadIdx.x;
            f[k] = L1 ? *from : __ldcg(from);
            at = at + 1 < chunks ? at + 1 : 0;
        }
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v = largest_of(f[k], v);
    }
    v = largest_of_block(v);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v;
        read[blockIdx.x] = r * EACH;
    }
}

/* At most `wanted` chunks are reported: blocks round their shares up. */
static __global__ void levels_last(float *y, int *reported, const float *part,
                                   const int *read, int n, int64_t wanted)
{
    __shared__ unsigned long long all;
    float v = -CUDART_INF_F;
    if (threadIdx.x == 0)
        all = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        v = fmaxf(v, part[i]);
        atomicAdd(&all, static_cast<unsigned long long>(read[i]));
    }
    v = largest_of_block(v); /* and everybody has added */
    if (threadIdx.x == 0) {
        int64_t chunks = static_cast<int64_t>(all);
        *y = v;
        *reported = static_cast<int>(chunks < wanted ? chunks : wanted);
    }
}

/* ---- the scratch vectors, a number of each a block ---- */

static float *part_of(const struct lab_call *call)
{
    return lab_out(call, 2);
}

static int *read_of(const struct lab_call *call)
{
    return static_cast<int *>(call->out[3].data);
}

static enum lab_status finish(const struct lab_call *call, unsigned blocks)
{
    const int64_t dim[] = {call->in[0].count * 4, lab_bench_dim(call, 1)};
    levels_last<<<1, READ_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), static_cast<int *>(call->out[1].data), part_of(call),
        read_of(call), static_cast<int>(blocks), lab_levels_chunks(dim));
    return lab_launched("levels_last");
}

/* One a multiprocessor, and no more than the scratch holds. */
static unsigned blocks_of(const struct lab_call *call)
{
    int blocks = call->exec->sm_count;
    return static_cast<unsigned>(
        blocks < LAB_LEVELS_SCRATCH ? blocks : LAB_LEVELS_SCRATCH);
}

/* Rounds of EACH chunks, so that all blocks read the footprint TIMES times; a
 * size has at most 2^28 chunks to read. */
static int rounds_of(const struct lab_call *call, unsigned blocks)
{
    int64_t chunks = call->in[0].count * 4 / LAB_LEVELS_CHUNK;
    int64_t each = static_cast<int64_t>(blocks) * EACH;
    return static_cast<int>((chunks * lab_bench_dim(call, 1) + each - 1) /
                            each);
}

template <bool L1> static enum lab_status read(const struct lab_call *call)
{
    unsigned blocks = blocks_of(call);
    levels_global<L1><<<blocks, READ_BLOCK, 0, lab_stream(call)>>>(
        part_of(call), read_of(call),
        static_cast<const float4 *>(call->in[0].data),
        static_cast<int>(call->in[0].count * 4 / LAB_LEVELS_CHUNK),
        rounds_of(call, blocks));
    enum lab_status st = lab_launched("levels_global");
    return st ? st : finish(call, blocks);
}

static enum lab_status levels_global(const struct lab_call *call)
{
    return read<true>(call);
}

static enum lab_status levels_l2(const struct lab_call *call)
{
    return read<false>(call);
}

static __global__ void levels_shared(float *part, int *read, const float4 *x,
                                     int chunks, int rounds)
{
    extern __shared__ float4 copy[];
    float v = -CUDART_INF_F;
    for (int c = 0; c < chunks; c++)
        copy[c * READ_BLOCK + threadIdx.x] = x[c * READ_BLOCK + threadIdx.x];
    __syncthreads();
    int at = 0;
    int r = 0;
    for (; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            v = largest_of(copy[at * READ_BLOCK + threadIdx.x], v);
            at = at + 1 < chunks ? at + 1 : 0;
        }
    }
    v = largest_of_block(v);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v;
        read[blockIdx.x] = r * EACH;
    }
}

static enum lab_status levels_shared_prepare(const struct lab_call *call)
{
    return lab_bench_take_shared(call,
                                 reinterpret_cast<const void *>(levels_shared),
                                 call->in[0].count * 4);
}

/* Each block reads the footprint TIMES / blocks times, once at least. */
static enum lab_status levels_shared(const struct lab_call *call)
{
    int chunks = static_cast<int>(call->in[0].count * 4 / LAB_LEVELS_CHUNK);
    unsigned blocks = blocks_of(call);
    int once = (chunks + EACH - 1) / EACH;
    int rounds = rounds_of(call, blocks);
    levels_shared<<<blocks, READ_BLOCK,
                    static_cast<size_t>(call->in[0].count) * 4,
                    lab_stream(call)>>>(
        part_of(call), read_of(call),
        static_cast<const float4 *>(call->in[0].data), chunks,
        rounds > once ? rounds : once);
    enum lab_status st = lab_launched("levels_shared");
    return st ? st : finish(call, blocks);
}

#define SOURCE "kernels/read_levels/reads.cu"

extern const struct lab_variant lab_cuda_variants_read_levels[] = {
    {.name = "l2",
     .idea = "loads that pass L1 by",
     .run = levels_l2,
     .source = SOURCE},
    {.name = "global",
     .idea = "plain loads: L1 first",
     .run = levels_global,
     .source = SOURCE},
    {.name = "shared",
     .idea = "the footprint in each multiprocessor's shared memory",
     .run = levels_shared,
     .source = SOURCE,
     .prepare = levels_shared_prepare},
    {},
};
