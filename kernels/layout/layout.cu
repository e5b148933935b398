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
#include "layout/layout.h"
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

enum lab_status lab_layout_plain(const struct lab_call *call)
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

enum lab_status lab_layout_pixels(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    int64_t pixels = x->dim[2] * x->dim[3];
    int64_t count = x->dim[0] * pixels;
    layout_pixels<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), x->dim[1], pixels, count);
    return lab_launched("layout_pixels");
}

enum lab_status lab_layout_tile(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    return lab_turn_in<32>(call, lab_out(call, 0), lab_in(call, 0), x->dim[0],
                           x->dim[1], x->dim[2] * x->dim[3]);
}

enum lab_status lab_layout_large(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    return lab_turn_in<64>(call, lab_out(call, 0), lab_in(call, 0), x->dim[0],
                           x->dim[1], x->dim[2] * x->dim[3]);
}

/* Bits are moved, not numbers: an integer type of the same size does. */
enum lab_status lab_layout_tile_half(const struct lab_call *call)
{
    const struct lab_view *x = &call->in[0];
    return lab_turn_in<64>(call, static_cast<uint16_t *>(call->out[0].data),
                           static_cast<const uint16_t *>(x->data), x->dim[0],
                           x->dim[1], x->dim[2] * x->dim[3]);
}
