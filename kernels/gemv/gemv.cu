/* kernels/gemv/gemv.cu -- a matrix times a vector: 2 operations for each
 * number of A, and each number of A is wanted once.
 *
 * plain  a thread a row. Neighbouring threads read numbers that lie a whole row
 *        apart: 32 pieces of memory a load.
 * warp   a warp a row: its loads are lines, and five shuffles add the 32 sums.
 * fours  a warp a row, 16 bytes a load, four loads on their way at once. Rows
 *        that do not start on 16 bytes go number by number.
 * block  a block of 256 threads a row: for few and long rows. With many short
 *        ones most threads have nothing to do but wait at the barrier. */
#include "gemv/gemv.h"
#include "common/launch.cuh"

enum { WARP = 32, AHEAD = 4 };

static __global__ void gemv_plain(float *y, const float *a, const float *x,
                                  int64_t M, int64_t N)
{
    int64_t row = lab_element();
    if (row >= M)
        return;
    float sum = 0.0f;
    for (int64_t j = 0; j < N; j++)
        sum += a[row * N + j] * x[j];
    y[row] = sum;
}

/* The sum over the 32 threads of a warp, in its thread 0. */
static __device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int down = WARP / 2; down > 0; down /= 2)
        v += __shfl_down_sync(0xffffffffu, v, down);
    return v;
}

static __global__ void gemv_warp(float *y, const float *a, const float *x,
                                 int64_t M, int64_t N)
{
    int64_t row = lab_element() / WARP;
    int lane = threadIdx.x % WARP;
    if (row >= M) /* a whole warp leaves */
        return;
    float sum = 0.0f;
    for (int64_t j = lane; j < N; j += WARP)
        sum += a[row * N + j] * x[j];
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

static __device__ __forceinline__ float dot4(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}

static __global__ void gemv_fours(float *y, const float *a, const float *x,
                                  int64_t M, int64_t N)
{
    int64_t row = lab_element() / WARP;
    int lane = threadIdx.x % WARP;
    if (row >= M)
        return;
    const float4 *a4 = reinterpret_cast<const float4 *>(a + row * N);
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    int64_t fours = N / 4;
    int64_t j = lane;
    float sum = 0.0f;
    for (; j + (AHEAD - 1) * WARP < fours; j += AHEAD * WARP) {
        float4 v[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            v[i] = a4[j + i * WARP];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            sum += dot4(v[i], x4[j + i * WARP]);
    }
    for (; j < fours; j += WARP)
        sum += dot4(a4[j], x4[j]);
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

static __global__ void __launch_bounds__(LAB_BLOCK)
    gemv_block(float *y, const float *a, const float *x, int64_t N)
{
    __shared__ float sums[LAB_BLOCK / WARP];
    int64_t row = blockIdx.x;
    float sum = 0.0f;
    for (int64_t j = threadIdx.x; j < N; j += LAB_BLOCK)
        sum += a[row * N + j] * x[j];
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0)
        sums[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x >= WARP)
        return;
    sum = warp_sum(threadIdx.x < LAB_BLOCK / WARP ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0)
        y[row] = sum;
}

enum lab_status lab_gemv_plain(const struct lab_call *call)
{
    const struct lab_view *a = &call->in[0];
    gemv_plain<<<lab_blocks(a->dim[0]), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), a->dim[0],
        a->dim[1]);
    return lab_launched("gemv_plain");
}

enum lab_status lab_gemv_warp(const struct lab_call *call)
{
    const struct lab_view *a = &call->in[0];
    gemv_warp<<<lab_blocks(a->dim[0] * WARP), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), a->dim[0],
        a->dim[1]);
    return lab_launched("gemv_warp");
}

enum lab_status lab_gemv_fours(const struct lab_call *call)
{
    const struct lab_view *a = &call->in[0];
    if (a->dim[1] % 4 != 0)
        return lab_gemv_warp(call);
    gemv_fours<<<lab_blocks(a->dim[0] * WARP), LAB_BLOCK, 0,
                 lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                     lab_in(call, 1), a->dim[0], a->dim[1]);
    return lab_launched("gemv_fours");
}

enum lab_status lab_gemv_block(const struct lab_call *call)
{
    const struct lab_view *a = &call->in[0];
    gemv_block<<<lab_blocks(a->dim[0], 1), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), a->dim[1]);
    return lab_launched("gemv_block");
}
