/* kernels/reduction/reduction.cu -- the sum of a vector, 4 bytes an addition.
 *
 * atomic   every thread adds its element to one address: they queue there.
 * tree     a block adds 256 elements in shared memory, half of the threads
 *          dropping out at each of 8 levels; a second kernel adds the blocks'.
 * shuffle  threads walk over the vector first, so that few sums are left, and
 *          a warp adds its 32 in registers, without a barrier.
 * fours    the same with 16 bytes a load.
 * several  four such loads a turn, each with a sum of its own.
 *
 * The sums of the blocks go through the scratch vector, always in the same
 * order: all but the first give the same bits every time. */
#include "reduction/reduction.h"
#include "common/launch.cuh"

enum { WARPS = LAB_BLOCK / 32 };

static __global__ void sum_atomic(float *s, const float *x, int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        atomicAdd(s, x[i]);
}

enum lab_status lab_sum_atomic(const struct lab_call *call)
{
    int64_t n = call->in[0].count;
    cudaError_t err =
        cudaMemsetAsync(lab_out(call, 0), 0, sizeof(float), lab_stream(call));
    if (err != cudaSuccess)
        return lab_fail(LAB_E_DEVICE, "cannot clear the sum: %s",
                        cudaGetErrorString(err));
    sum_atomic<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), n);
    return lab_launched("sum_atomic");
}

/* Blocks take pieces of 256 in turn, one addition in the tree each. */
static __global__ void sum_tree(float *part, const float *x, int64_t n)
{
    __shared__ float sum[LAB_BLOCK];
    float mine = 0.0f;
    int64_t step = static_cast<int64_t>(gridDim.x) * LAB_BLOCK;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * LAB_BLOCK; at < n;
         at += step) {
        int64_t i = at + threadIdx.x;
        sum[threadIdx.x] = i < n ? x[i] : 0.0f;
        __syncthreads();
        for (int half = LAB_BLOCK / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                sum[threadIdx.x] += sum[threadIdx.x + half];
            __syncthreads();
        }
        mine += sum[0];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = mine;
}

static __device__ float sum_of_block(float v)
{
    __shared__ float of_warp[WARPS];
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2)
        v += __shfl_down_sync(0xffffffffu, v, lane);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < WARPS ? of_warp[threadIdx.x] : 0.0f;
    if (threadIdx.x < 32) {
#pragma unroll
        for (int lane = WARPS / 2; lane > 0; lane /= 2)
            v += __shfl_down_sync(0xffffffffu, v, lane);
    }
    return v; /* thread 0's is the sum */
}

static __global__ void sum_shuffle(float *part, const float *x, int64_t n)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * LAB_BLOCK;
    float v = 0.0f;
    for (int64_t i = lab_element(); i < n; i += step)
        v += x[i];
    v = sum_of_block(v);
    if (threadIdx.x == 0)
        part[blockIdx.x] = v;
}

static __global__ void sum_fours(float *part, const float *x, int64_t n)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * LAB_BLOCK;
    float v = 0.0f;
    const float4 *fours = reinterpret_cast<const float4 *>(x);
    for (int64_t i = lab_element(); i < n / 4; i += step) {
        float4 f = fours[i];
        v += (f.x + f.y) + (f.z + f.w);
    }
    int64_t last = n / 4 * 4 + lab_element();
    if (last < n)
        v += x[last];
    v = sum_of_block(v);
    if (threadIdx.x == 0)
        part[blockIdx.x] = v;
}

static __global__ void sum_several(float *part, const float *x, int64_t n)
{
    enum { EACH = 4 };
    int64_t step = static_cast<int64_t>(gridDim.x) * LAB_BLOCK;
    const float4 *fours = reinterpret_cast<const float4 *>(x);
    float v[EACH] = {};
    int64_t i = lab_element();
    for (; i + (EACH - 1) * step < n / 4; i += EACH * step) {
        float4 f[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            f[k] = fours[i + k * step];
#pragma unroll
        for (int k = 0; k < EACH; k++)
            v[k] += (f[k].x + f[k].y) + (f[k].z + f[k].w);
    }
    for (; i < n / 4; i += step)
        v[0] += (fours[i].x + fours[i].y) + (fours[i].z + fours[i].w);
    int64_t last = n / 4 * 4 + lab_element();
    if (last < n)
        v[1] += x[last];
    float sum = sum_of_block((v[0] + v[1]) + (v[2] + v[3]));
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

/* 64 warps a multiprocessor, and no more sums than the scratch vector holds. */
static unsigned blocks_for(const struct lab_call *call)
{
    unsigned most = static_cast<unsigned>(call->exec->sm_count) * 8;
    if (most > LAB_SUM_SCRATCH)
        most = LAB_SUM_SCRATCH;
    unsigned blocks = lab_blocks(call->in[0].count);
    return blocks && blocks < most ? blocks : most;
}

typedef void sum_kernel(float *part, const float *x, int64_t n);

static enum lab_status twice(const struct lab_call *call, sum_kernel *first,
                             const char *name)
{
    unsigned blocks = blocks_for(call);
    first<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 1), lab_in(call, 0), call->in[0].count);
    sum_shuffle<<<1, LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), blocks);
    return lab_launched(name);
}

enum lab_status lab_sum_tree(const struct lab_call *call)
{
    return twice(call, sum_tree, "sum_tree");
}

enum lab_status lab_sum_shuffle(const struct lab_call *call)
{
    return twice(call, sum_shuffle, "sum_shuffle");
}

enum lab_status lab_sum_fours(const struct lab_call *call)
{
    return twice(call, sum_fours, "sum_fours");
}

enum lab_status lab_sum_several(const struct lab_call *call)
{
    return twice(call, sum_several, "sum_several");
}
