/* kernels/gemv/cpu.c -- y = A x on one thread of a CPU.
 *
 * plain  one sum a row: every addition waits for the last.
 * lanes  16 sums a row that do not wait for each other. */
#include "common/kernel.h"

#define SOURCE "kernels/gemv/cpu.c"

enum { LANES = 16 };

static float dot(const float *a, const float *x, int64_t n)
{
    float sum = 0.0f;
    for (int64_t j = 0; j < n; j++)
        sum += a[j] * x[j];
    return sum;
}

static float dot_lanes(const float *a, const float *x, int64_t n)
{
    float lane[LANES] = {0};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] += a[j + l] * x[j + l];
    }
    for (int l = 1; l < LANES; l++)
        lane[0] += lane[l];
    return lane[0] + dot(a + j, x + j, n - j);
}

static enum lab_status gemv_plain(const struct lab_call *call)
{
    const float *a = call->in[0].data;
    int64_t N = call->in[0].dim[1];
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->in[0].dim[0]; i++)
        y[i] = dot(a + i * N, call->in[1].data, N);
    return LAB_OK;
}

static enum lab_status gemv_lanes(const struct lab_call *call)
{
    const float *a = call->in[0].data;
    int64_t N = call->in[0].dim[1];
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->in[0].dim[0]; i++)
        y[i] = dot_lanes(a + i * N, call->in[1].data, N);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_gemv[] = {
    {.name = "plain",
     .idea = "one sum a row: every addition waits for the last",
     .run = gemv_plain,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "lanes",
     .idea = "16 sums that do not wait for each other",
     .run = gemv_lanes,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
