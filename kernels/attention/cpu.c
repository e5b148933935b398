/* kernels/attention/cpu.c -- attention on one thread of a CPU, in fp32.
 *
 * naive is the definition: for each query the largest score, then the sum, then
 * the mixing. It keeps no scores, so it makes each of them three times. online
 * makes each once, and shrinks what it has when a larger one comes. */
#include <math.h>

#include "attention/operation.h"

/* One head and the rows in it. */
struct head {
    const float *q;
    const float *k;
    const float *v;
    float *o;
    int64_t T;
    int64_t D;
    float scale;
};

static float score(const struct head *h, int64_t i, int64_t j)
{
    const float *q = h->q + i * h->D;
    const float *k = h->k + j * h->D;
    float sum = 0;
    for (int64_t e = 0; e < h->D; e++)
        sum += q[e] * k[e];
    return sum * h->scale;
}

static void add_value(const struct head *h, float *restrict o, int64_t j,
                      float share)
{
    const float *v = h->v + j * h->D;
    for (int64_t e = 0; e < h->D; e++)
        o[e] += share * v[e];
}

static void multiply(float *o, int64_t D, float by)
{
    for (int64_t e = 0; e < D; e++)
        o[e] *= by;
}

static void row_naive(const struct head *h, int64_t i, int64_t keys)
{
    float *o = h->o + i * h->D;
    float top = -INFINITY;
    float sum = 0;
    for (int64_t j = 0; j < keys; j++)
        top = fmaxf(top, score(h, i, j));
    for (int64_t j = 0; j < keys; j++)
        sum += expf(score(h, i, j) - top);
    for (int64_t e = 0; e < h->D; e++)
        o[e] = 0;
    for (int64_t j = 0; j < keys; j++)
        add_value(h, o, j, expf(score(h, i, j) - top) / sum);
}

static void row_online(const struct head *h, int64_t i, int64_t keys)
{
    float *o = h->o + i * h->D;
    float top = -INFINITY;
    float sum = 0;
    for (int64_t e = 0; e < h->D; e++)
        o[e] = 0;
    for (int64_t j = 0; j < keys; j++) {
        float s = score(h, i, j);
        if (s > top) {
            float shrink = expf(top - s);
            multiply(o, h->D, shrink);
            sum *= shrink;
            top = s;
        }
        float share = expf(s - top);
        sum += share;
        add_value(h, o, j, share);
    }
    multiply(o, h->D, 1 / sum);
}

typedef void row_fn(const struct head *h, int64_t i, int64_t keys);

static enum lab_status all_rows(const struct lab_call *call, row_fn *row,
                                bool causal)
{
    const struct lab_view *q = &call->in[0];
    int64_t T = q->dim[2];
    int64_t D = q->dim[3];
    for (int64_t at = 0; at < q->count; at += T * D) {
        struct head h = {(const float *)q->data + at,
                         (const float *)call->in[1].data + at,
                         (const float *)call->in[2].data + at,
                         (float *)call->out[0].data + at,
                         T,
                         D,
                         1 / sqrtf((float)D)};
        for (int64_t i = 0; i < T; i++)
            row(&h, i, causal ? i + 1 : T);
    }
    return LAB_OK;
}

enum lab_status lab_attention_cpu_naive(const struct lab_call *call)
{
    return all_rows(call, row_naive, false);
}

enum lab_status lab_attention_causal_cpu_naive(const struct lab_call *call)
{
    return all_rows(call, row_naive, true);
}

enum lab_status lab_attention_cpu_online(const struct lab_call *call)
{
    return all_rows(call, row_online, false);
}

enum lab_status lab_attention_causal_cpu_online(const struct lab_call *call)
{
    return all_rows(call, row_online, true);
}

/* naive does 4 products where online does 2. */
#define VARIANTS(OP)                                                           \
    {.name = "naive",                                                          \
     .idea = "largest score, sum, mixing: three passes over the keys",         \
     .run = OP##_cpu_naive,                                                    \
     .source = "kernels/attention/cpu.c",                                      \
     .model = {.traffic = 1}},                                                 \
    {                                                                          \
        .name = "online",                                                      \
        .idea = "one pass: what was added shrinks when a larger score comes",  \
        .run = OP##_cpu_online, .source = "kernels/attention/cpu.c",           \
        .model = {.traffic = 1}, .gain = 2                                     \
    }

const struct lab_variant lab_cpu_variants_attention[] = {
    VARIANTS(lab_attention),
    {0},
};

const struct lab_variant lab_cpu_variants_attention_causal[] = {
    VARIANTS(lab_attention_causal),
    {0},
};
