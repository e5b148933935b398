/* kernels/attention/attention_fused_vector.c -- the way back through attention as one
 * step, after FlashAttention (T. Dao et al., arXiv:2205.14135).
 *
 * Step by step, context writes dprobs, softmax reads it and writes dscores, and scores
 * reads that twice: matrices of Tq x Tk for each head, which no cache holds for a whole
 * layer. Here some queries meet some keys at a time, and
 *     dp = dctx v^T,  ds = p (dp - delta),  delta[i] = sum_f dctx[i,f] ctx[i,f]
 * is used up while it is in the first cache. delta is what the softmax takes off: the
 * sum of dp p over the keys. Keys that causal attention hides from all of the queries
 * are left out. The shares p are those that the forward steps have written. */
#include <string.h>

#include "attention/attention.h"
#include "cpu/product.h"
#include "cpu/vector.h"

enum { QUERIES = 32, KEYS = 128 };

/* What belongs to one head; a matrix that is not wanted has no data. */
struct head {
    struct lab_matrix dctx;
    struct lab_matrix q;
    struct lab_matrix k;
    struct lab_matrix v;
    struct lab_matrix ctx;
    struct lab_matrix p;
    struct lab_matrix dq;
    struct lab_matrix dk;
    struct lab_matrix dv;
};

struct back {
    const struct lab_call *call;
    struct lab_attention_dims d;
    bool causal; /* of as many keys as queries */
    float scale;
};

static struct lab_matrix head_of(const struct lab_view *x, int64_t first,
                                 int64_t H, int64_t h, int64_t width)
{
    float *data = x->data;
    if (data)
        data += (first * H + h) * width;
    return (struct lab_matrix){data, H * width};
}

static struct lab_matrix part(struct lab_matrix m, int64_t row, int64_t col)
{
    if (m.data)
        m.data += row * m.ld + col;
    return m;
}

static struct lab_matrix flip(struct lab_matrix m)
{
    m.flip = true;
    return m;
}

LAB_VECTOR static float dot(const float *a, const float *b, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* x[j] = p[j] (x[j] - delta) */
LAB_VECTOR static void through_softmax(float *x, const float *p, float delta,
                                       int64_t n)
{
#pragma omp simd
    for (int64_t j = 0; j < n; j++)
        x[j] = p[j] * (x[j] - delta);
}

/* Queries i .. i+rows-1 and keys j .. j+cols-1: their part of all gradients. */
static void add_tile(const struct back *b, const struct head *h,
                     const float *delta, int64_t i, int64_t rows, int64_t j,
                     int64_t cols)
{
    const struct lab_attention_dims *d = &b->d;
    float room[QUERIES * KEYS];
    struct lab_matrix ds = {room, KEYS};
    struct lab_matrix dctx = part(h->dctx, i, 0);
    struct lab_matrix p = part(h->p, i, j);
    if (h->dv.data)
        lab_vector_multiply(part(h->dv, j, 0), flip(p), dctx, cols, d->F, rows,
                            1, 1);
    if (!h->dq.data && !h->dk.data)
        return;
    lab_vector_multiply(ds, dctx, flip(part(h->v, j, 0)), rows, cols, d->F, 1,
                        0);
    for (int64_t r = 0; r < rows; r++)
        through_softmax(room + r * KEYS, p.data + r * p.ld, delta[r], cols);
    if (h->dq.data)
        lab_vector_multiply(part(h->dq, i, 0), ds, part(h->k, j, 0), rows, d->E,
                            cols, b->scale, j > 0);
    if (h->dk.data)
        lab_vector_multiply(part(h->dk, j, 0), flip(ds), part(h->q, i, 0), cols,
                            d->E, rows, b->scale, 1);
}

static void clear(struct lab_matrix m, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows && m.data; r++)
        memset(m.data + r * m.ld, 0, (size_t)cols * sizeof(float));
}

static void one_head(const struct back *b, const struct head *h)
{
    const struct lab_attention_dims *d = &b->d;
    clear(h->dk, d->Tk, d->E);
    clear(h->dv, d->Tk, d->F);
    for (int64_t i = 0; i < d->Tq; i += QUERIES) {
        int64_t rows = d->Tq - i < QUERIES ? d->Tq - i : QUERIES;
        int64_t end = b->causal ? i + rows : d->Tk;
        float delta[QUERIES];
        for (int64_t r = 0; r < rows; r++)
            delta[r] = dot(h->dctx.data + (i + r) * h->dctx.ld,
                           h->ctx.data + (i + r) * h->ctx.ld, d->F);
        for (int64_t j = 0; j < end; j += KEYS)
            add_tile(b, h, delta, i, rows, j, end - j < KEYS ? end - j : KEYS);
    }
}

static void some_heads(const void *arg, int64_t from, int64_t to)
{
    const struct back *b = arg;
    const struct lab_attention_dims *d = &b->d;
    const struct lab_view *in = b->call->in;
    const struct lab_view *out = b->call->out;
    for (int64_t at = from; at < to; at++) {
        int64_t h = at % d->H;
        int64_t query = at / d->H * d->Tq;
        int64_t key = at / d->H * d->Tk;
        struct head head = {
            .dctx = head_of(&in[0], query, d->H, h, d->F),
            .q = head_of(&in[1], query, d->H, h, d->E),
            .k = head_of(&in[2], key, d->H, h, d->E),
            .v = head_of(&in[3], key, d->H, h, d->F),
            .ctx = head_of(&in[4], query, d->H, h, d->F),
            .p = {(float *)in[5].data + at * d->Tq * d->Tk, d->Tk},
            .dq = head_of(&out[0], query, d->H, h, d->E),
            .dk = head_of(&out[1], key, d->H, h, d->E),
            .dv = head_of(&out[2], key, d->H, h, d->F),
        };
        one_head(b, &head);
    }
}

static enum lab_status attention_fused_backward(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    struct back b = {.call = call,
                     .d = lab_attention_sizes(&call->in[1], &call->in[2],
                                              &call->in[3], p->heads)};
    b.causal = p->causal && b.d.Tq == b.d.Tk;
    b.scale = (float)(1 / sqrt((double)b.d.E));
    lab_parallel(b.d.N * b.d.H, 1, some_heads, &b);
    return LAB_OK;
}

static const struct lab_variant rows[] = {
    {.name = "fused",
     .phase = LAB_BACKWARD,
     .run = attention_fused_backward,
     .source = "kernels/attention/attention_fused_vector.c",
     .symbol = "attention_fused_backward",
     .one_way = true},
};
const struct lab_kernel_set lab_vector_attention_fused = {"attention", rows, 1};
const struct lab_kernel_set lab_vector_scaled_dot_attention_fused = {
    "scaled_dot_attention", rows, 1};
