/* kernels/layout/layout.cu -- from NCHW to NHWC, which is no arithmetic.
 *
 * plain  a thread for each element of y. Neighbouring threads have neighbouring
 *        channels, which lie H W numbers apart in x: each load is a piece of 32
 *        bytes for 4.
 * tile   through shared memory (turn.cuh), 32 x 32: whole lines on both sides.
 *        With fewer than 32 channels a part of every tile is empty.
 * pixels a thread for each pixel: it reads a number of each channel, whole lines
 *        for a warp, and writes its C numbers side by side. For few channels: a
 *        warp's writes are C lines, one after the other; with many its lines
 *        leave the cache before they are full.
 * large  tiles of 64 x 64: 16 loads a thread on their way at once.
 * half   the same with elements of 2 bytes: half of the bytes. */
#include "common/kernel.h"
#include "layout/turn.cuh"

static __global__ void layout_plain(float *y, const float *x, int64_t C,
                                    int64_t pixels, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t c = i % C;
    int64_t pixel = i / C % pixels;
    int64_t n = i / C / pixels;
    y[i] = x[(n * C + c) * pixels + pixel];
}

static enum lab_status plain(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    layout_plain<<<lab_blocks(x->count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), x->dim[1], x->dim[2] * x->dim[3],
        x->count);
    return lab_launched("layout_plain");
}

static __global__ void layout_pixels(float *y, const float *x, int64_t C,
                                     int64_t pixels, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    const float *from = x + i / pixels * C * pixels + i % pixels;
    for (int64_t c = 0; c < C; c++)
        y[i * C + c] = from[c * pixels];
}

static enum lab_status pixels(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    int64_t pixels = x->dim[2] * x->dim[3];
    int64_t count = x->dim[0] * pixels;
    layout_pixels<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), x->dim[1], pixels, count);
    return lab_launched("layout_pixels");
}

static enum lab_status tile(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    return lab_turn_in<32>(call, lab_out(call, 0), lab_in(call, 0), x->dim[0],
                           x->dim[1], x->dim[2] * x->dim[3]);
}

static enum lab_status large(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    return lab_turn_in<64>(call, lab_out(call, 0), lab_in(call, 0), x->dim[0],
                           x->dim[1], x->dim[2] * x->dim[3]);
}

/* Bits are moved, not numbers: an integer type of the same size does. */
static enum lab_status tile_half(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    return lab_turn_in<64>(call, static_cast<uint16_t *>(call->out[0].data),
                           static_cast<const uint16_t *>(x->data), x->dim[0],
                           x->dim[1], x->dim[2] * x->dim[3]);
}

/* plain reads 32 bytes for 4 and
 * writes 4: 36 for 8. */
extern const struct lab_variant lab_cuda_variants_layout[] = {
    {.name = "plain",
     .idea = "a thread for each element of the result",
     .run = plain,
     .source = "kernels/layout/layout.cu",
     .model = {.traffic = 4.5}},
    {.name = "pixels",
     .idea = "a thread for each pixel: for few channels",
     .run = pixels,
     .source = "kernels/layout/layout.cu",
     .model = {.traffic = 1}},
    {.name = "tile",
     .idea = "turned in shared memory: whole lines are read and written",
     .run = tile,
     .source = "kernels/layout/turn.cuh",
     .model = {.traffic = 1}},
    {.name = "large",
     .idea = "tiles of 64 x 64: 16 loads a thread on their way",
     .run = large,
     .source = "kernels/layout/turn.cuh",
     .model = {.traffic = 1}},
    {.name = "half",
     .idea = "the same with elements of 2 bytes",
     .run = tile_half,
     .source = "kernels/layout/layout.cu",
     .model = {.traffic = 1},
     .precision = LAB_FP16},
    {},
};
