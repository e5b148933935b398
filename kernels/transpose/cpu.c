/* kernels/transpose/cpu.c -- the transpose of a matrix on one thread of a CPU.
 *
 * plain reads rows and writes columns: a line of 64 bytes is fetched and
 * written for 4, 132 bytes for 8. blocked turns squares of 16 x 16, one line of
 * memory wide, that stay in the cache. */
#include "common/kernel.h"

#define SOURCE "kernels/transpose/cpu.c"

enum { SQUARE = 16 };

static enum lab_status cpu_transpose(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t R = call->in[0].dim[0];
    int64_t C = call->in[0].dim[1];
    for (int64_t r = 0; r < R; r++) {
        for (int64_t c = 0; c < C; c++)
            y[c * R + r] = x[r * C + c];
    }
    return LAB_OK;
}

static void turn_square(float *y, const float *x, int64_t R, int64_t C,
                        int64_t r0, int64_t c0)
{
    for (int64_t c = c0; c < c0 + SQUARE && c < C; c++) {
        for (int64_t r = r0; r < r0 + SQUARE && r < R; r++)
            y[c * R + r] = x[r * C + c];
    }
}

static enum lab_status cpu_transpose_blocked(const struct lab_call *call)
{
    int64_t R = call->in[0].dim[0];
    int64_t C = call->in[0].dim[1];
    for (int64_t r = 0; r < R; r += SQUARE) {
        for (int64_t c = 0; c < C; c += SQUARE)
            turn_square(call->out[0].data, call->in[0].data, R, C, r, c);
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_transpose[] = {
    {.name = "plain",
     .idea = "reads along rows, writes down columns",
     .run = cpu_transpose,
     .source = SOURCE,
     .model = {.traffic = 16.5}},
    {.name = "blocked",
     .idea = "squares of one line of memory a side",
     .run = cpu_transpose_blocked,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
