/* kernels/softmax/cpu.c -- softmax of rows on one thread of a CPU.
 *
 * plain   three walks over a row: the largest, the sum of the exps, which are
 *         kept in the place of the result, the quotient.
 * online  the largest and the sum in one walk, as the GPU's variant does it: here
 *         a row is in the cache, a walk costs little and an exp much, and this
 *         takes two of them for each number. */
#include <math.h>

#include "common/kernel.h"

#define SOURCE "kernels/softmax/cpu.c"

static void row_plain(float *restrict y, const float *restrict x, int64_t C)
{
    float largest = x[0];
    float sum = 0.0f;
    for (int64_t c = 1; c < C; c++)
        largest = x[c] > largest ? x[c] : largest;
    for (int64_t c = 0; c < C; c++) {
        y[c] = expf(x[c] - largest);
        sum += y[c];
    }
    for (int64_t c = 0; c < C; c++)
        y[c] /= sum;
}

static void row_online(float *restrict y, const float *restrict x, int64_t C)
{
    float largest = x[0];
    float sum = 1.0f;
    for (int64_t c = 1; c < C; c++) {
        if (x[c] > largest) {
            sum *= expf(largest - x[c]);
            largest = x[c];
        }
        sum += expf(x[c] - largest);
    }
    for (int64_t c = 0; c < C; c++)
        y[c] = expf(x[c] - largest) / sum;
}

static enum lab_status cpu_plain(const struct lab_call *call)
{
    const int64_t C = call->in[0].dim[1];
    for (int64_t i = 0; i < call->in[0].count; i += C)
        row_plain((float *)call->out[0].data + i,
                  (const float *)call->in[0].data + i, C);
    return LAB_OK;
}

static enum lab_status cpu_online(const struct lab_call *call)
{
    const int64_t C = call->in[0].dim[1];
    for (int64_t i = 0; i < call->in[0].count; i += C)
        row_online((float *)call->out[0].data + i,
                   (const float *)call->in[0].data + i, C);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_softmax[] = {
    {.name = "plain",
     .idea = "three walks over a row that is in the cache",
     .run = cpu_plain,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "online",
     .idea = "the largest and the sum in one walk, for twice the exps",
     .run = cpu_online,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {0},
};
