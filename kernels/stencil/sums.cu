/* kernels/stencil/sums.cu -- y[i] = x[i] + ... + x[i + 6]: radius 3.
 *
 * x has a halo of three numbers at each end, so that every result has seven.
 *
 * global      seven loads a result, and six of them were a neighbour's too: L1
 *             answers most of them.
 * no_barrier  WRONG ON PURPOSE. As `shared`, without __syncthreads(): the last
 *             six threads of a warp read what the next warp may not have
 *             written yet, and add what an earlier block left there.
 * shared      a block brings its 256 numbers and six of halo into shared memory
 *             once, waits until all of them are there, and adds from there.
 * fours       four results a thread: the ten numbers that they need come in
 *             three loads of 16 bytes and stay in registers. Neither shared
 *             memory nor a barrier. */
#include "common/kernel.h"
#include "stencil/stencil.h"
#include "common/launch.cuh"

static __global__ void stencil_global(float *y, const float *x, int64_t n)
{
    int64_t i = lab_element();
    if (i >= n)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < LAB_STENCIL_WIDTH; k++)
        sum += x[i + k];
    y[i] = sum;
}

static enum lab_status global(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    stencil_global<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), n);
    return lab_launched("stencil_global");
}

template <bool BARRIER>
static __global__ void stencil_shared(float *y, const float *x, int64_t n)
{
    __shared__ float tile[LAB_BLOCK + LAB_STENCIL_WIDTH - 1];
    int64_t i = lab_element();
    int64_t total = n + LAB_STENCIL_WIDTH - 1;
    if (i < total)
        tile[threadIdx.x] = x[i];
    if (threadIdx.x < LAB_STENCIL_WIDTH - 1 && i + LAB_BLOCK < total)
        tile[threadIdx.x + LAB_BLOCK] = x[i + LAB_BLOCK];
    if (BARRIER)
        __syncthreads();
    if (i >= n)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < LAB_STENCIL_WIDTH; k++)
        sum += tile[threadIdx.x + k];
    y[i] = sum;
}

static enum lab_status shared(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    stencil_shared<true><<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), n);
    return lab_launched("stencil_shared");
}

static enum lab_status no_barrier(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    stencil_shared<false><<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), n);
    return lab_launched("stencil_shared without its barrier");
}

static __global__ void stencil_fours(float *y, const float *x, int64_t n)
{
    enum { LOADED = 12 };
    int64_t i = 4 * lab_element();
    if (i + LOADED <= n + LAB_STENCIL_WIDTH - 1) {
        float v[LOADED];
#pragma unroll
        for (int k = 0; k < LOADED; k += 4) {
            float4 f = *reinterpret_cast<const float4 *>(x + i + k);
            v[k] = f.x;
            v[k + 1] = f.y;
            v[k + 2] = f.z;
            v[k + 3] = f.w;
        }
        float sum[4] = {};
#pragma unroll
        for (int r = 0; r < 4; r++) {
#pragma unroll
            for (int k = 0; k < LAB_STENCIL_WIDTH; k++)
                sum[r] += v[r + k];
        }
        *reinterpret_cast<float4 *>(y + i) =
            make_float4(sum[0], sum[1], sum[2], sum[3]);
        return;
    }
    for (int r = 0; r < 4 && i + r < n; r++) {
        float sum = 0.0f;
        for (int k = 0; k < LAB_STENCIL_WIDTH; k++)
            sum += x[i + r + k];
        y[i + r] = sum;
    }
}

static enum lab_status fours(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    stencil_fours<<<lab_blocks(n, 4 * LAB_BLOCK), LAB_BLOCK, 0,
                    lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0), n);
    return lab_launched("stencil_fours");
}

#define SOURCE "kernels/stencil/sums.cu"

extern const struct lab_variant lab_cuda_variants_stencil[] = {
    {.name = "global",
     .idea = "seven loads a result: L1 answers most",
     .run = global,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "no_barrier",
     .idea = "a tile in shared memory, and no thread waits for it",
     .run = no_barrier,
     .source = SOURCE,
     .wrong_on_purpose = "a warp adds what the next has not loaded yet"},
    {.name = "shared",
     .idea = "a tile with its halo in shared memory, and a barrier",
     .run = shared,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "four results a thread from three loads of 16 bytes",
     .run = fours,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {},
};
