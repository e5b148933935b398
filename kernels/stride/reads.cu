/* kernels/stride/reads.cu -- y[i] = x[i S]: one number out of every S.
 *
 * Caches answer in sectors of 32 bytes, eight numbers, whoever asks for how
 * many of them: of each sector that is fetched, 1 in S numbers is used, and
 * from S = 8 on 4 bytes of 32. DRAM answers in bursts of 64 bytes, two sectors:
 * from S = 16 on it reads 64 bytes for 4.
 *
 * plain    a thread for each result. A warp asks for 32 numbers S apart.
 * several  four results a thread, a whole grid apart: four sectors on their
 *          way at once. Not a byte less is fetched.
 * whole    reads all of x in 16 bytes a load and keeps what is wanted: up to
 *          S = 16 the same bytes come from DRAM as before; beyond, it fetches
 *          what the others skip. Every number costs instructions. */
#include "common/kernel.h"
#include <stdio.h>

#include "common/launch.cuh"

static __global__ void stride_plain(float *y, const float *x, int64_t stride,
                                    int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        y[i] = x[i * stride];
}

static enum lab_status plain(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    stride_plain<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->in[0].count / n, n);
    return lab_launched("stride_plain");
}

enum { EACH = 4 };

static __global__ void stride_several(float *y, const float *x, int64_t stride,
                                      int64_t n)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    float v[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int64_t i = lab_element() + k * step;
        v[k] = i < n ? x[i * stride] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        int64_t i = lab_element() + k * step;
        if (i < n)
            y[i] = v[k];
    }
}

static enum lab_status several(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    stride_several<<<lab_blocks(n, EACH * LAB_BLOCK), LAB_BLOCK, 0,
                     lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                         call->in[0].count / n, n);
    return lab_launched("stride_several");
}

/* INDEX: 32 bits where they are enough, for the division. */
template <typename INDEX>
static __global__ void stride_whole(float *y, const float *x, INDEX stride,
                                    int64_t total)
{
    int64_t i = 4 * lab_element();
    if (i >= total)
        return;
    float v[4] = {};
    if (i + 3 < total) {
        float4 f = *reinterpret_cast<const float4 *>(x + i);
        v[0] = f.x;
        v[1] = f.y;
        v[2] = f.z;
        v[3] = f.w;
    } else {
        for (int k = 0; i + k < total; k++)
            v[k] = x[i + k];
    }
    INDEX first = static_cast<INDEX>(i) / stride;
    INDEX left = static_cast<INDEX>(i) - first * stride;
    int64_t at = first + (left != 0); /* the first result at or after i */
    left = left ? stride - left : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (static_cast<INDEX>(k) == left && i + k < total) {
            y[at++] = v[k];
            left += stride;
        }
    }
}

static enum lab_status whole(const struct lab_call *call)
{
    int64_t total = call->in[0].count;
    int64_t stride = total / call->out[0].count;
    unsigned blocks = lab_blocks(total, 4 * LAB_BLOCK);
    if (total <= INT32_MAX)
        stride_whole<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), static_cast<uint32_t>(stride),
            total);
    else
        stride_whole<<<blocks, LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), static_cast<uint64_t>(stride),
            total);
    return lab_launched("stride_whole");
}

/* Numbers of 4 bytes in sectors of 32. */
static void note(const struct lab_call *call, struct lab_variant_note *out)
{
    int64_t stride = call->in[0].count / call->out[0].count;
    snprintf(out->text, sizeof(out->text),
             "%.1f %% of each sector of 32 bytes is used",
             100.0 / static_cast<double>(stride < 8 ? stride : 8));
}

/* c). */
#define SOURCE "kernels/stride/reads.cu"

extern const struct lab_variant lab_cuda_variants_stride[] = {
    {.name = "plain",
     .idea = "a thread for each result",
     .run = plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = note},
    {.name = "several",
     .idea = "four results a thread: four sectors on their way at once",
     .run = several,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = note},
    {.name = "whole",
     .idea = "reads everything, 16 bytes a load, keeps what is wanted",
     .run = whole,
     .source = SOURCE,
     .model = {.traffic = 2}},
    {},
};
