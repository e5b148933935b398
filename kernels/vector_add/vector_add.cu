/* kernels/vector_add/vector_add.cu -- C = A + B, the first kernel of the
 * course.
 *
 * plain  a thread for each element, 256 a block: 50,000 elements take 196
 *        blocks, and 176 threads of the last one have nothing to do.
 * fours  a thread for four: one load of 16 bytes in the place of four of 4, a
 *        quarter of the instructions for the same bytes. */
#include "common/kernel.h"
#include "common/launch.cuh"

static __global__ void add_plain(float *c, const float *a, const float *b,
                                 int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        c[i] = a[i] + b[i];
}

static enum lab_status add_plain(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    add_plain<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), n);
    return lab_launched("add_plain");
}

static __global__ void add_fours(float *c, const float *a, const float *b,
                                 int64_t n)
{
    int64_t i = 4 * lab_element();
    if (i + 3 < n) {
        float4 x = *reinterpret_cast<const float4 *>(a + i);
        float4 y = *reinterpret_cast<const float4 *>(b + i);
        *reinterpret_cast<float4 *>(c + i) =
            make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        return;
    }
    for (; i < n; i++) /* the last one to three */
        c[i] = a[i] + b[i];
}

static enum lab_status add_fours(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    add_fours<<<lab_blocks(n, 4 * LAB_BLOCK), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), n);
    return lab_launched("add_fours");
}

extern const struct lab_variant lab_cuda_variants_vector_add[] = {
    {.name = "plain",
     .idea = "a thread for each element",
     .run = add_plain,
     .source = "kernels/vector_add/vector_add.cu",
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "four elements a thread, 16 bytes a load",
     .run = add_fours,
     .source = "kernels/vector_add/vector_add.cu",
     .model = {.traffic = 1}},
    {},
};
