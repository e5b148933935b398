/* kernels/layout/cpu.c -- NCHW to NHWC on one thread of a CPU.
 *
 * plain    reads along the image, writes C numbers apart.
 * blocked  squares of 16 x 16, one line of memory wide, that stay in the cache. */
#include "common/kernel.h"

#define SOURCE "kernels/layout/cpu.c"

enum { SQUARE = 16 };

/* to[p, c] = from[c, p] for a square of channels and pixels. */
static void turn(float *to, const float *from, int64_t C, int64_t pixels,
                 int64_t c0, int64_t p0, int64_t side)
{
    for (int64_t c = c0; c < c0 + side && c < C; c++) {
        for (int64_t p = p0; p < p0 + side && p < pixels; p++)
            to[p * C + c] = from[c * pixels + p];
    }
}

static enum lab_status turn_all(const struct lab_call *call, int64_t side)
{
    const struct lab_view *x = &call->in[0];
    int64_t C = x->dim[1];
    int64_t pixels = x->dim[2] * x->dim[3];
    for (int64_t n = 0; n < x->dim[0]; n++) {
        const float *from = (const float *)x->data + n * C * pixels;
        float *to = (float *)call->out[0].data + n * C * pixels;
        for (int64_t c = 0; c < C; c += side) {
            for (int64_t p = 0; p < pixels; p += side)
                turn(to, from, C, pixels, c, p, side);
        }
    }
    return LAB_OK;
}

static enum lab_status layout_plain(const struct lab_call *call)
{
    return turn_all(call, INT32_MAX);
}

static enum lab_status layout_blocked(const struct lab_call *call)
{
    return turn_all(call, SQUARE);
}

const struct lab_variant lab_cpu_variants_layout[] = {
    {.name = "plain",
     .idea = "reads along the image, writes C numbers apart",
     .run = layout_plain,
     .source = SOURCE,
     .model = {.traffic = 16.5}},
    {.name = "blocked",
     .idea = "squares of one line of memory a side",
     .run = layout_blocked,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
