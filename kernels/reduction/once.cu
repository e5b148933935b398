/* kernels/reduction/once.cu -- one kernel for the whole sum.
 *
 * The idea: the second kernel of `several` adds a few hundred numbers, and
 * takes as long as a kernel takes to start and to end. Here the blocks count
 * themselves, and the one that finds itself to be the last adds the blocks'
 * sums, always in the same order: the same bits every time, whoever is last. A
 * block writes its sum before it counts itself (__threadfence), so that the
 * last one finds all of them.
 *
 * A block has pieces of 32 KiB that lie side by side, 512 threads with four
 * loads of 16 bytes on their way, which is more than memory's rate times its
 * delay asks for. What is read once is not worth a place in L2 (__ldcs).
 *
 * The counter is left at zero for the next call; calls on one stream follow
 * each other. */
#include "reduction/reduction.h"
#include "common/launch.cuh"

enum { THREADS = 512, EACH = 4, BLOCKS_EACH = 4 };

static __device__ unsigned arrived; /* blocks with their sum in `part` */

/* The sum over the threads of a block, in all threads of its first warp. */
static __device__ float sum_of_block(float v)
{
    __shared__ float of_warp[THREADS / 32];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, lane);
    __syncthreads(); /* the readers of an earlier call are done */
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < THREADS / 32 ? of_warp[threadIdx.x] : 0.0f;
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, lane);
    return v;
}

static __device__ __forceinline__ float sum_of_four(float4 f)
{
    return (f.x + f.y) + (f.z + f.w);
}

/* This thread's share of x; n up to three numbers past the last four go to the
 * first threads of the grid. */
static __device__ float sum_of_thread(const float *x, int64_t n)
{
    const float4 *fours = reinterpret_cast<const float4 *>(x);
    const int64_t piece = THREADS * EACH;
    const int64_t whole = n / 4;
    float v[EACH] = {};
    for (int64_t at = blockIdx.x * piece; at < whole; at += gridDim.x * piece) {
        float4 f[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            int64_t i = at + threadIdx.x + k * THREADS;
            f[k] = i < whole ? __ldcs(fours + i)
                             : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[k] += sum_of_four(f[k]);
    }
    int64_t last = whole * 4 + threadIdx.x;
    if (blockIdx.x == 0 && last < n)
        v[1] += x[last];
    return (v[0] + v[1]) + (v[2] + v[3]);
}

static __global__ void __launch_bounds__(THREADS, BLOCKS_EACH)
    sum_once(float *s, float *part, const float *x, int64_t n)
{
    __shared__ bool last;
    float v = sum_of_block(sum_of_thread(x, n));
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence(); /* what the others wrote before they counted */
    v = 0.0f;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS)
        v += __ldcg(part + i); /* not through L1, which knows no other SM */
    v = sum_of_block(v);
    if (threadIdx.x == 0) {
        *s = v;
        arrived = 0;
    }
}

enum lab_status lab_sum_once(const struct lab_call *call)
{
    const int64_t n = call->in[0].count;
    int64_t most = static_cast<int64_t>(call->exec->sm_count) * BLOCKS_EACH;
    if (most > LAB_SUM_SCRATCH)
        most = LAB_SUM_SCRATCH;
    unsigned blocks = lab_blocks(n, 4 * THREADS * EACH);
    if (blocks == 0 || blocks > most)
        blocks = static_cast<unsigned>(most);
    sum_once<<<blocks, THREADS, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), n);
    return lab_launched("sum_once");
}
