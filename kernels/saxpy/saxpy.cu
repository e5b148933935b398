/* kernels/saxpy/saxpy.cu -- y = 2 x + y, 12 bytes for 2 operations.
 *
 * one_block  256 threads walk over everything: one multiprocessor works, and
 *            the others look on.
 * plain      a thread for each element.
 * stride     as many threads as the GPU holds, each walks over the vector in
 *            steps of the whole grid: no block has to be started twice.
 * fours      a thread for four elements, 16 bytes a load. */
#include "saxpy/saxpy.h"
#include "common/kernel.h"
#include "common/launch.cuh"

static __global__ void saxpy_stride(float *y, const float *x, float a,
                                    int64_t n)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = lab_element(); i < n; i += step)
        y[i] = a * x[i] + y[i];
}

static enum lab_status one_block(const struct lab_call *call)
{
    saxpy_stride<<<1, LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), LAB_SAXPY_A, call->out[0].count);
    return lab_launched("saxpy_stride");
}

static enum lab_status stride(const struct lab_call *call)
{
    const int blocks_each = 8; /* of 256 threads: 64 warps a multiprocessor */
    int64_t n = call->out[0].count;
    unsigned most = static_cast<unsigned>(call->exec->sm_count * blocks_each);
    unsigned blocks = lab_blocks(n);
    if (blocks == 0 || blocks > most)
        blocks = most;
    saxpy_stride<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), LAB_SAXPY_A, n);
    return lab_launched("saxpy_stride");
}

static __global__ void saxpy_plain(float *y, const float *x, float a, int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        y[i] = a * x[i] + y[i];
}

static enum lab_status plain(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    saxpy_plain<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), LAB_SAXPY_A, n);
    return lab_launched("saxpy_plain");
}

static __global__ void saxpy_fours(float *y, const float *x, float a, int64_t n)
{
    int64_t i = 4 * lab_element();
    if (i + 3 < n) {
        float4 p = *reinterpret_cast<const float4 *>(x + i);
        float4 q = *reinterpret_cast<const float4 *>(y + i);
        *reinterpret_cast<float4 *>(y + i) = make_float4(
            a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
        return;
    }
    for (; i < n; i++)
        y[i] = a * x[i] + y[i];
}

static enum lab_status fours(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    saxpy_fours<<<lab_blocks(n, 4 * LAB_BLOCK), LAB_BLOCK, 0,
                  lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                      LAB_SAXPY_A, n);
    return lab_launched("saxpy_fours");
}

extern const struct lab_variant lab_cuda_variants_saxpy[] = {
    {.name = "one_block",
     .idea = "one block of 256 threads walks over everything",
     .run = one_block,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1, .share = 1}},
    {.name = "plain",
     .idea = "a thread for each element",
     .run = plain,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1}},
    {.name = "stride",
     .idea = "as many threads as the GPU holds, in steps of the grid",
     .run = stride,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "four elements a thread, 16 bytes a load",
     .run = fours,
     .source = "kernels/saxpy/saxpy.cu",
     .model = {.traffic = 1}},
    {},
};
