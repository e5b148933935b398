/* kernels/dot/dot.cu -- x . y in double precision, 16 bytes for two operations:
 * memory limits it.
 *
 * atomic  threads walk over the vectors, a warp adds its 32 sums in registers, and
 *         its first lane adds that to the result (a GPU before 6.0 has no such
 *         addition). The order is the hardware's: the last bits differ from run to
 *         run.
 * blocks  the warps' sums meet in shared memory, a block's sum goes into the
 *         scratch vector, and a second kernel of one block adds those: the same
 *         order, and the same bits, every time. */
#include "common/launch.cuh"
#include "dot/dot.h"

enum { WARPS = LAB_BLOCK / 32 };

static __device__ double dot_mine(const double *x, const double *y, int64_t n)
{
    double sum = 0.0;
    int64_t step = static_cast<int64_t>(gridDim.x) * LAB_BLOCK;
    for (int64_t i = lab_element(); i < n; i += step)
        sum += x[i] * y[i];
    return sum;
}

static __device__ double dot_warp(double v)
{
#pragma unroll
    for (int down = 16; down > 0; down /= 2)
        v += __shfl_down_sync(0xffffffffu, v, down);
    return v;
}

static __device__ double dot_block(double v)
{
    __shared__ double of_warp[WARPS];
    v = dot_warp(v);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    v = threadIdx.x < WARPS ? of_warp[threadIdx.x] : 0.0;
    return threadIdx.x < 32 ? dot_warp(v) : 0.0;
}

static __global__ void dot_atomic(double *s, const double *x, const double *y,
                                  int64_t n)
{
    double sum = dot_warp(dot_mine(x, y, n));
    if (threadIdx.x % 32 == 0)
        atomicAdd(s, sum);
}

static __global__ void dot_parts(double *part, const double *x, const double *y,
                                 int64_t n)
{
    double sum = dot_block(dot_mine(x, y, n));
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

static __global__ void dot_sum(double *s, const double *part, int count)
{
    double sum = 0.0;
    for (int i = threadIdx.x; i < count; i += LAB_BLOCK)
        sum += part[i];
    sum = dot_block(sum);
    if (threadIdx.x == 0)
        *s = sum;
}

static int blocks_for(const struct lab_call *call)
{
    int64_t all = (call->in[0].count + LAB_BLOCK - 1) / LAB_BLOCK;
    return static_cast<int>(all < LAB_DOT_BLOCKS ? all : LAB_DOT_BLOCKS);
}

enum lab_status lab_dot_atomic(const struct lab_call *call)
{
    double *s = static_cast<double *>(call->out[0].data);
    cudaError_t err = cudaMemsetAsync(s, 0, sizeof(*s), lab_stream(call));
    if (err != cudaSuccess)
        return lab_fail(LAB_E_DEVICE, "cannot clear the sum: %s",
                        cudaGetErrorString(err));
    dot_atomic<<<blocks_for(call), LAB_BLOCK, 0, lab_stream(call)>>>(
        s, static_cast<const double *>(call->in[0].data),
        static_cast<const double *>(call->in[1].data), call->in[0].count);
    return lab_launched("dot_atomic");
}

enum lab_status lab_dot_blocks(const struct lab_call *call)
{
    double *part = static_cast<double *>(call->out[1].data);
    int blocks = blocks_for(call);
    dot_parts<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
        part, static_cast<const double *>(call->in[0].data),
        static_cast<const double *>(call->in[1].data), call->in[0].count);
    enum lab_status st = lab_launched("dot_parts");
    if (st)
        return st;
    dot_sum<<<1, LAB_BLOCK, 0, lab_stream(call)>>>(
        static_cast<double *>(call->out[0].data), part, blocks);
    return lab_launched("dot_sum");
}

extern const struct lab_variant lab_cuda_variants_dot[] = {
    {.name = "atomic",
     .idea = "a warp's sum is added to the result",
     .run = lab_dot_atomic,
     .source = "kernels/dot/dot.cu",
     .model = {.traffic = 1},
     .precision = LAB_FP64},
    {.name = "blocks",
     .idea = "a sum a block, and a second kernel: the same bits every time",
     .run = lab_dot_blocks,
     .source = "kernels/dot/dot.cu",
     .model = {.traffic = 1},
     .precision = LAB_FP64},
    {},
};
