/* kernels/precision/cpu.c -- what fewer bits cost, on one thread of a CPU.
 *
 * There is nothing to win here: a CPU without 16-bit arithmetic rounds by hand
 * and multiplies in fp32. The errors are those that a tensor core makes, and
 * they can be seen without a GPU. */
#include "precision/precision.h"

#include "common/number.h"

#define SOURCE "kernels/precision/cpu.c"

static enum lab_status plain(const struct lab_call *call)
{
    const float *a = call->in[0].data;
    const float *b = call->in[1].data;
    float *c = call->out[0].data;
    int64_t M = call->in[0].dim[0];
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    for (int64_t i = 0; i < M; i++) {
        for (int64_t j = 0; j < N; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < K; k++)
                sum += a[i * K + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
    }
    return LAB_OK;
}

/* The number that 16 bits keep of v, and the bits. */
static float rounded(float v, enum lab_dtype t, uint16_t *bits)
{
    *bits = t == LAB_BFLOAT16 ? lab_bf16_of(v) : lab_f16_of(v);
    return t == LAB_BFLOAT16 ? lab_bf16_value(*bits) : lab_f16_value(*bits);
}

static float value(const struct lab_view *v, int part, int64_t row, int64_t col)
{
    const uint16_t *at = v->data;
    uint16_t bits = at[(part * v->dim[1] + row) * v->dim[2] + col];
    return v->dtype == LAB_BFLOAT16 ? lab_bf16_value(bits)
                                    : lab_f16_value(bits);
}

/* from (rows, cols) into parts (2, rows, pitch). */
static void take_apart(const struct lab_view *from, const struct lab_view *to)
{
    const float *x = from->data;
    uint16_t *part = to->data;
    int64_t pitch = to->dim[2];
    int64_t next = to->dim[1] * pitch;
    for (int64_t i = 0; i < from->count; i++) {
        int64_t at = i / from->dim[1] * pitch + i % from->dim[1];
        float first = rounded(x[i], to->dtype, &part[at]);
        (void)rounded(x[i] - first, to->dtype, &part[at + next]);
    }
}

static void split(const struct lab_call *call, int products)
{
    const struct lab_view *a = &call->out[1];
    const struct lab_view *b = &call->out[2];
    float *c = call->out[0].data;
    int64_t M = call->in[0].dim[0];
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    take_apart(&call->in[0], a);
    take_apart(&call->in[1], b);
    for (int64_t e = 0; e < M * N; e++) {
        float sum = 0.0f;
        for (int p = products - 1; p >= 0; p--) { /* the small ones first */
            for (int64_t k = 0; k < K; k++)
                sum += value(a, p / 2, e / N, k) * value(b, p % 2, k, e % N);
        }
        c[e] = sum;
    }
}

#define SPLIT(n)                                                               \
    static enum lab_status split_##n(const struct lab_call *call)              \
    {                                                                          \
        split(call, n);                                                        \
        return LAB_OK;                                                         \
    }
SPLIT(1)
SPLIT(2)
SPLIT(3)
SPLIT(4)

#define VARIANT(N, PRECISION, IDEA)                                            \
    {                                                                          \
        .name = "split_" #N, .idea = IDEA, .run = split_##N, .source = SOURCE, \
        .precision = PRECISION                                                 \
    }
#define VARIANTS(PRECISION)                                                    \
    VARIANT(1, PRECISION, "A1 B1: both rounded to 16 bits"),                   \
        VARIANT(2, PRECISION, "+ A1 B2: the rest of B"),                       \
        VARIANT(3, PRECISION, "+ A2 B1: the rest of A"),                       \
        VARIANT(4, PRECISION, "+ A2 B2: the product of the rests")

const struct lab_variant lab_cpu_variants_precision[] = {
    {.name = "fp32",
     .idea = "fp32, a sum after the other",
     .run = plain,
     .source = SOURCE},
    VARIANTS(LAB_BF16),
    VARIANTS(LAB_FP16),
    {0},
};
