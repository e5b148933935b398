/* kernels/layer_norm/cpu.c -- layer norm of rows on one thread of a CPU.
 *
 * plain    three walks over a row that is in the cache: the mean, the variance,
 *          the result. Each of the sums waits for its last addition.
 * welford  mean and variance in one walk: a division for every number, and the
 *          next number waits for it.
 * lanes    three walks with 16 sums that do not wait for each other. */
#include <math.h>

#include "layer_norm/layer_norm.h"
#include "common/kernel.h"

#define SOURCE "kernels/layer_norm/cpu.c"

enum { LANES = 16 };

struct moments {
    float mean;
    float variance;
};

typedef struct moments moments_fn(const float *x, int64_t C);

static struct moments plain(const float *x, int64_t C)
{
    float sum = 0.0f;
    float squares = 0.0f;
    for (int64_t c = 0; c < C; c++)
        sum += x[c];
    float mean = sum / (float)C;
    for (int64_t c = 0; c < C; c++)
        squares += (x[c] - mean) * (x[c] - mean);
    return (struct moments){mean, squares / (float)C};
}

static struct moments welford(const float *x, int64_t C)
{
    float mean = 0.0f;
    float squares = 0.0f;
    for (int64_t c = 0; c < C; c++) {
        float before = x[c] - mean;
        mean += before / (float)(c + 1);
        squares += before * (x[c] - mean);
    }
    return (struct moments){mean, squares / (float)C};
}

static float sum_lanes(const float *x, int64_t C, float off, int power)
{
    float lane[LANES] = {0};
    float sum = 0.0f;
    int64_t c = 0;
    for (; c + LANES <= C; c += LANES) {
        for (int l = 0; l < LANES; l++) {
            float v = x[c + l] - off;
            lane[l] += power == 2 ? v * v : v;
        }
    }
    for (; c < C; c++)
        lane[0] += power == 2 ? (x[c] - off) * (x[c] - off) : x[c] - off;
    for (int l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

static struct moments lanes(const float *x, int64_t C)
{
    float mean = sum_lanes(x, C, 0.0f, 1) / (float)C;
    return (struct moments){mean, sum_lanes(x, C, mean, 2) / (float)C};
}

static enum lab_status rows(const struct lab_call *call, moments_fn *moments_of)
{
    const float *x = call->in[0].data;
    const float *gamma = call->in[1].data;
    const float *beta = call->in[2].data;
    float *y = call->out[0].data;
    const int64_t C = call->in[0].dim[1];
    for (int64_t i = 0; i < call->in[0].count; i += C) {
        struct moments m = moments_of(x + i, C);
        float scale = 1.0f / sqrtf(m.variance + LAB_LAYER_NORM_EPS);
        for (int64_t c = 0; c < C; c++)
            y[i + c] = (x[i + c] - m.mean) * scale * gamma[c] + beta[c];
    }
    return LAB_OK;
}

static enum lab_status cpu_plain(const struct lab_call *call)
{
    return rows(call, plain);
}

static enum lab_status cpu_welford(const struct lab_call *call)
{
    return rows(call, welford);
}

static enum lab_status cpu_lanes(const struct lab_call *call)
{
    return rows(call, lanes);
}

const struct lab_variant lab_cpu_variants_layer_norm[] = {
    {.name = "plain",
     .idea = "three walks over a row that is in the cache",
     .run = cpu_plain,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "welford",
     .idea = "mean and variance in one walk, a division for each number",
     .run = cpu_welford,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "lanes",
     .idea = "16 sums that do not wait for each other",
     .run = cpu_lanes,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
