/* kernels/labs/vectors_cpu.c -- vectors and turning on one thread of a CPU.
 *
 * saxpy, vector_add: the loop that one writes; the compiler makes vector
 * instructions of it, and memory is the limit.
 * transpose plain reads rows and writes columns; blocked turns squares of 16 x
 * 16, one line of memory wide, that stay in the cache.
 * reduction plain adds to one number, and every addition waits for the one
 * before; lanes has 16 sums that do not wait for each other. */
#include "labs/cpu_rungs.h"

enum { SQUARE = 16, LANES = 16 };

static void add(float *restrict c, const float *restrict a,
                const float *restrict b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

enum lab_status lab_cpu_add(const struct lab_call *call)
{
    add(call->out[0].data, call->in[0].data, call->in[1].data,
        call->out[0].count);
    return LAB_OK;
}

static void saxpy(float *restrict y, const float *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = LAB_SAXPY_A * x[i] + y[i];
}

enum lab_status lab_cpu_saxpy(const struct lab_call *call)
{
    saxpy(call->out[0].data, call->in[0].data, call->out[0].count);
    return LAB_OK;
}

enum lab_status lab_cpu_transpose(const struct lab_call *call)
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

enum lab_status lab_cpu_transpose_blocked(const struct lab_call *call)
{
    int64_t R = call->in[0].dim[0];
    int64_t C = call->in[0].dim[1];
    for (int64_t r = 0; r < R; r += SQUARE) {
        for (int64_t c = 0; c < C; c += SQUARE)
            turn_square(call->out[0].data, call->in[0].data, R, C, r, c);
    }
    return LAB_OK;
}

enum lab_status lab_cpu_sum(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float sum = 0.0f;
    for (int64_t i = 0; i < call->in[0].count; i++)
        sum += x[i];
    *(float *)call->out[0].data = sum;
    return LAB_OK;
}

enum lab_status lab_cpu_sum_lanes(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    int64_t n = call->in[0].count;
    float lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l];
    }
    for (; i < n; i++)
        lane[0] += x[i];
    float sum = 0.0f;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    *(float *)call->out[0].data = sum;
    return LAB_OK;
}
