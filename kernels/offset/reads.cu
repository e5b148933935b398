/* kernels/offset/reads.cu -- y[i] = x[i + O]: reads that begin elsewhere.
 *
 * A warp's 32 numbers are 128 bytes: four sectors of 32 where they begin at a
 * multiple of 8 numbers, five where they do not. The fifth is the next warp's
 * first, and lies in L1 when that one asks: what is wasted is accesses, not
 * memory's bytes.
 *
 * plain    a thread for each result.
 * single   four results a thread, 16 bytes a store, but four loads of 4 bytes:
 *          a load of 16 must begin at a multiple of 16 bytes, and O need not.
 *          Each of the four touches all 16 sectors of the warp's 512 bytes.
 * shifted  the two aligned 16 bytes around the four numbers, and the shift is
 *          done in registers. The second half is the neighbour's first: L1 has
 *          it. Where O is a multiple of 4 one load is enough. */
#include "common/kernel.h"
#include <stdio.h>

#include "common/launch.cuh"

static __global__ void offset_plain(float *y, const float *x, int64_t n)
{
    int64_t i = lab_element();
    if (i < n)
        y[i] = x[i];
}

static enum lab_status plain(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    offset_plain<<<lab_blocks(n), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0) + (call->in[0].count - n), n);
    return lab_launched("offset_plain");
}

static __global__ void offset_single(float *y, const float *x, int64_t n)
{
    int64_t i = 4 * lab_element();
    if (i + 3 < n) {
        *reinterpret_cast<float4 *>(y + i) =
            make_float4(x[i], x[i + 1], x[i + 2], x[i + 3]);
        return;
    }
    for (; i < n; i++)
        y[i] = x[i];
}

static enum lab_status single(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    offset_single<<<lab_blocks(n, 4 * LAB_BLOCK), LAB_BLOCK, 0,
                    lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0) + (call->in[0].count - n), n);
    return lab_launched("offset_single");
}

/* Numbers SHIFT to SHIFT + 3 of the eight in a and b. */
template <int SHIFT> static __device__ float4 middle(float4 a, float4 b)
{
    if (SHIFT == 1)
        return make_float4(a.y, a.z, a.w, b.x);
    if (SHIFT == 2)
        return make_float4(a.z, a.w, b.x, b.y);
    if (SHIFT == 3)
        return make_float4(a.w, b.x, b.y, b.z);
    return a;
}

/* `x` begins SHIFT numbers before the first that is wanted, at a multiple of
 * 16 bytes; it holds `total` numbers. */
template <int SHIFT>
static __global__ void offset_shifted(float *y, const float *x, int64_t total)
{
    int64_t n = total - SHIFT;
    int64_t i = 4 * lab_element();
    if (i + (SHIFT ? 7 : 3) < total) {
        float4 a = *reinterpret_cast<const float4 *>(x + i);
        float4 b = a;
        if (SHIFT)
            b = *reinterpret_cast<const float4 *>(x + i + 4);
        *reinterpret_cast<float4 *>(y + i) = middle<SHIFT>(a, b);
        return;
    }
    for (int k = 0; k < 4 && i + k < n; k++)
        y[i + k] = x[i + k + SHIFT];
}

static enum lab_status shifted(const struct lab_call *call)
{
    int64_t n = call->out[0].count;
    int64_t offset = call->in[0].count - n;
    const float *x = lab_in(call, 0) + offset / 4 * 4;
    int64_t total = n + offset % 4;
    unsigned blocks = lab_blocks(n, 4 * LAB_BLOCK);
    float *y = lab_out(call, 0);
    cudaStream_t stream = lab_stream(call);
    switch (offset % 4) {
    case 1:
        offset_shifted<1><<<blocks, LAB_BLOCK, 0, stream>>>(y, x, total);
        break;
    case 2:
        offset_shifted<2><<<blocks, LAB_BLOCK, 0, stream>>>(y, x, total);
        break;
    case 3:
        offset_shifted<3><<<blocks, LAB_BLOCK, 0, stream>>>(y, x, total);
        break;
    default:
        offset_shifted<0><<<blocks, LAB_BLOCK, 0, stream>>>(y, x, total);
    }
    return lab_launched("offset_shifted");
}

/* Sectors that a warp's loads touch, and those that its numbers fill. */
static void note(struct lab_variant_note *out, int touched, int filled)
{
    snprintf(out->text, sizeof(out->text),
             "a warp's loads touch %d sectors for the bytes of %d", touched,
             filled);
}

static int offset_of(const struct lab_call *call)
{
    return static_cast<int>((call->in[0].count - call->out[0].count) % 8);
}

static void plain_note(const struct lab_call *call,
                       struct lab_variant_note *out)
{
    note(out, offset_of(call) ? 5 : 4, 4);
}

/* Load k of thread t reads number O + 4 t + k: 32 of them, 16 bytes apart, in
 * 16 sectors, or in 17 where the first lies in the second half of one and the
 * last does too. */
static void single_note(const struct lab_call *call,
                        struct lab_variant_note *out)
{
    int touched = 0;
    for (int k = 0; k < 4; k++) {
        int first = (offset_of(call) + k) / 8;
        int last = (offset_of(call) + k + 31 * 4) / 8;
        touched += last - first + 1;
    }
    note(out, touched, 16);
}

/* One load of 512 bytes, or two where the shift needs the next 16. */
static void shifted_note(const struct lab_call *call,
                         struct lab_variant_note *out)
{
    int offset = offset_of(call);
    int one = offset / 4 ? 17 : 16; /* begins in the middle of a sector */
    int other = offset / 4 ? 16 : 17;
    note(out, offset % 4 ? one + other : one, 16);
}

#define SOURCE "kernels/offset/reads.cu"

extern const struct lab_variant lab_cuda_variants_offset[] = {
    {.name = "plain",
     .idea = "a thread for each number",
     .run = plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = plain_note},
    {.name = "single",
     .idea = "four numbers a thread, each loaded on its own",
     .run = single,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = single_note},
    {.name = "shifted",
     .idea = "aligned loads of 16 bytes, shifted in registers",
     .run = shifted,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = shifted_note},
    {},
};
