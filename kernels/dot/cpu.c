/* kernels/dot/cpu.c -- x . y in double precision on one thread.
 *
 * plain  one sum: every addition waits for the last.
 * lanes  8 sums that do not wait for each other. */
#include "common/kernel.h"

#define SOURCE "kernels/dot/cpu.c"

enum { LANES = 8 };

static double dot_plain_of(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static enum lab_status dot_plain(const struct lab_call *call)
{
    *(double *)call->out[0].data =
        dot_plain_of(call->in[0].data, call->in[1].data, call->in[0].count);
    return LAB_OK;
}

static enum lab_status dot_lanes(const struct lab_call *call)
{
    const double *x = call->in[0].data;
    const double *y = call->in[1].data;
    int64_t n = call->in[0].count;
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int l = 0; l < LANES; l++)
            lane[l] += x[i + l] * y[i + l];
    }
    for (int l = 1; l < LANES; l++)
        lane[0] += lane[l];
    *(double *)call->out[0].data = lane[0] + dot_plain_of(x + i, y + i, n - i);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_dot[] = {
    {.name = "plain",
     .idea = "one sum: every addition waits for the last",
     .run = dot_plain,
     .source = SOURCE,
     .model = {.traffic = 1},
     .precision = LAB_FP64},
    {.name = "lanes",
     .idea = "8 sums that do not wait for each other",
     .run = dot_lanes,
     .source = SOURCE,
     .model = {.traffic = 1},
     .precision = LAB_FP64},
    {0},
};
