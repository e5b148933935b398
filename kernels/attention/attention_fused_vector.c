/* kernels/attention/attention_fused_vector.c -- attention as one step each way, after
 * FlashAttention (T. Dao et al., arXiv:2205.14135).
 *
 * Step by step, matrices of Tq x Tk for each head are written and read again, which no
 * cache holds for a whole layer. Forward, one head at a time is finished: its scores
 * become shares where they are written, for the way back, and meet the values while
 * they are in a cache. Backward, some queries meet some keys at a time, and
 *     dp = dctx v^T,  ds = p (dp - delta),  delta[i] = sum_f dctx[i,f] ctx[i,f]
 * is used up while it is in a cache. delta is what the softmax takes off: the sum of
 * dp p over the keys. The shares p are those that the way forward has written.
 *
 * Where attention is causal, a band of queries has no keys behind its last one, and a
 * band of keys no queries before its first: the others are left out. */
#include <string.h>

#include "attention/attention.h"
#include "cpu/product.h"
#include "cpu/vector.h"
#include "softmax/softmax.h"

/* A tile has SIDE queries and SIDE keys, and is worked on in bands; a factor of WIDE
 * columns at most is turned once for all of its bands. */
enum { SIDE = 128, BAND = 32, WIDE = 128 };

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

/* `dctx`, and the views of dq, dk and dv, are those of the way back, else NULL. */
struct attend {
    const struct lab_view *qkv;
    const struct lab_view *ctx;
    const struct lab_view *p;
    const struct lab_view *dctx;
    const struct lab_view *dqkv;
    void (*one)(const struct attend *a, const struct head *h);
    struct lab_attention_dims d;
    bool causal; /* of as many keys as queries: bands are left out */
    bool masks;  /* later keys */
    float scale;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
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

/* m^T of some rows and `width` columns, in `room` where they fit. */
static struct lab_matrix turned(struct lab_matrix m, int64_t rows,
                                int64_t width, float room[WIDE * SIDE])
{
    if (width > WIDE)
        return flip(m);
    lab_turn(room, SIDE, m.data, m.ld, rows, width);
    return (struct lab_matrix){room, SIDE};
}

/* Queries i.. and keys j.. */
struct tile {
    int64_t i;
    int64_t j;
    int64_t rows;
    int64_t cols;
};

/* The first of the tile's queries that sees key `key` of it, or one after that. */
static int64_t first_query(const struct attend *a, const struct tile *t,
                           int64_t key)
{
    int64_t first = a->causal ? t->j + key - t->i : 0;
    return first > 0 ? first : 0;
}

/* Behind the last of the tile's keys that queries up to `query` of it see. */
static int64_t keys_end(const struct attend *a, const struct tile *t,
                        int64_t query)
{
    return a->causal ? least(t->cols, t->i + query + 1 - t->j) : t->cols;
}

/* ds of the tile, in `room`; 0 is not written where the mask hides whole bands. */
static void score_gradients(const struct attend *a, const struct head *h,
                            const struct tile *t, struct lab_matrix v_turned,
                            float room[SIDE * SIDE])
{
    for (int64_t i = 0; i < t->rows; i += BAND) {
        int64_t rows = least(t->rows - i, BAND);
        int64_t cols = keys_end(a, t, i + rows - 1);
        struct lab_matrix dctx = part(h->dctx, t->i + i, 0);
        struct lab_matrix ctx = part(h->ctx, t->i + i, 0);
        struct lab_matrix p = part(h->p, t->i + i, t->j);
        float *ds = room + i * SIDE;
        lab_vector_multiply((struct lab_matrix){ds, SIDE}, dctx, v_turned, rows,
                            cols, a->d.F, 1, 0);
        for (int64_t r = 0; r < rows; r++) {
            float delta =
                dot(dctx.data + r * dctx.ld, ctx.data + r * ctx.ld, a->d.F);
            through_softmax(ds + r * SIDE, p.data + r * p.ld, delta, cols);
        }
    }
}

/* to[j..] += alpha s^T from[i..], s being the tile's. */
static void add_to_keys(const struct attend *a, const struct tile *t,
                        struct lab_matrix to, struct lab_matrix s,
                        struct lab_matrix from, int64_t width, float alpha)
{
    bool is_first = t->i == (a->causal ? t->j : 0);
    for (int64_t j = 0; j < t->cols; j += BAND) {
        int64_t i = first_query(a, t, j);
        lab_vector_multiply(part(to, t->j + j, 0), flip(part(s, i, j)),
                            part(from, t->i + i, 0), least(t->cols - j, BAND),
                            width, t->rows - i, alpha, is_first ? 0 : 1);
    }
}

/* Of some queries and some keys: their part of all gradients. */
static void tile_back(const struct attend *a, const struct head *h,
                      const struct tile *t, struct lab_matrix v_turned)
{
    float room[SIDE * SIDE];
    struct lab_matrix ds = {room, SIDE};
    if (h->dq.data || h->dk.data)
        score_gradients(a, h, t, v_turned, room);
    /* After it has read p row by row, which is faster where no cache has it. */
    if (h->dv.data)
        add_to_keys(a, t, h->dv, part(h->p, t->i, t->j), h->dctx, a->d.F, 1);
    for (int64_t i = 0; h->dq.data && i < t->rows; i += BAND) {
        int64_t rows = least(t->rows - i, BAND);
        lab_vector_multiply(part(h->dq, t->i + i, 0), part(ds, i, 0),
                            part(h->k, t->j, 0), rows, a->d.E,
                            keys_end(a, t, i + rows - 1), a->scale, t->j > 0);
    }
    if (h->dk.data)
        add_to_keys(a, t, h->dk, ds, h->q, a->d.E, a->scale);
}

static void head_back(const struct attend *a, const struct head *h)
{
    _Alignas(64) float room[WIDE * SIDE];
    struct tile t;
    for (t.j = 0; t.j < a->d.Tk; t.j += SIDE) {
        t.cols = least(a->d.Tk - t.j, SIDE);
        struct lab_matrix v = turned(part(h->v, t.j, 0), t.cols, a->d.F, room);
        for (t.i = a->causal ? t.j : 0; t.i < a->d.Tq; t.i += SIDE) {
            t.rows = least(a->d.Tq - t.i, SIDE);
            tile_back(a, h, &t, v);
        }
    }
}

/* ---- forward ---- */

/* Scores where the shares will be. */
static void head_scores(const struct attend *a, const struct head *h)
{
    _Alignas(64) float room[WIDE * SIDE];
    struct tile t = {.rows = a->d.Tq};
    for (t.j = 0; t.j < a->d.Tk; t.j += SIDE) {
        t.cols = least(a->d.Tk - t.j, SIDE);
        struct lab_matrix k = turned(part(h->k, t.j, 0), t.cols, a->d.E, room);
        for (int64_t i = first_query(a, &t, 0); i < a->d.Tq; i += BAND) {
            int64_t rows = least(a->d.Tq - i, BAND);
            lab_vector_multiply(part(h->p, i, t.j), part(h->q, i, 0), k, rows,
                                keys_end(a, &t, i + rows - 1), a->d.E, a->scale,
                                0);
        }
    }
}

static void head_forward(const struct attend *a, const struct head *h)
{
    head_scores(a, h);
    for (int64_t i = 0; i < a->d.Tq; i += BAND) {
        int64_t rows = least(a->d.Tq - i, BAND);
        for (int64_t r = i; r < i + rows; r++) {
            float *p = h->p.data + r * h->p.ld;
            int64_t seen = a->masks ? least(r + 1, a->d.Tk) : a->d.Tk;
            lab_softmax_shares(p, p, seen, a->d.Tk);
        }
        lab_vector_multiply(part(h->ctx, i, 0), part(h->p, i, 0), h->v, rows,
                            a->d.F, a->causal ? i + rows : a->d.Tk, 1, 0);
    }
}

/* ---- both ways ---- */

/* Columns h of x from row `first` on; x may be NULL, or not wanted. */
static struct lab_matrix head_of(const struct lab_view *x, int64_t first,
                                 int64_t H, int64_t h, int64_t width)
{
    float *data = x ? x->data : NULL;
    if (data)
        data += (first * H + h) * width;
    return (struct lab_matrix){data, H * width};
}

static struct head head_at(const struct attend *a, int64_t at)
{
    const struct lab_attention_dims *d = &a->d;
    const struct lab_view *to = a->dqkv;
    int64_t h = at % d->H;
    int64_t query = at / d->H * d->Tq;
    int64_t key = at / d->H * d->Tk;
    return (struct head){
        .dctx = head_of(a->dctx, query, d->H, h, d->F),
        .q = head_of(&a->qkv[0], query, d->H, h, d->E),
        .k = head_of(&a->qkv[1], key, d->H, h, d->E),
        .v = head_of(&a->qkv[2], key, d->H, h, d->F),
        .ctx = head_of(a->ctx, query, d->H, h, d->F),
        .p = {(float *)a->p->data + at * d->Tq * d->Tk, d->Tk},
        .dq = head_of(to ? &to[0] : NULL, query, d->H, h, d->E),
        .dk = head_of(to ? &to[1] : NULL, key, d->H, h, d->E),
        .dv = head_of(to ? &to[2] : NULL, key, d->H, h, d->F),
    };
}

static void some_heads(const void *arg, int64_t from, int64_t to)
{
    const struct attend *a = arg;
    for (int64_t at = from; at < to; at++) {
        const struct head head = head_at(a, at);
        a->one(a, &head);
    }
}

static enum lab_status all_heads(const struct lab_call *call, struct attend *a)
{
    const struct lab_attention_params *p = call->params;
    a->d = lab_attention_sizes(&a->qkv[0], &a->qkv[1], &a->qkv[2], p->heads);
    a->masks = p->causal;
    a->causal = p->causal && a->d.Tq == a->d.Tk;
    a->scale = (float)(1 / sqrt((double)a->d.E));
    lab_parallel(a->d.N * a->d.H, 1, some_heads, a);
    return LAB_OK;
}

static enum lab_status attention_fused_forward(const struct lab_call *call)
{
    struct attend a = {.qkv = &call->in[0],
                       .ctx = &call->out[0],
                       .p = &call->out[1],
                       .one = head_forward};
    return all_heads(call, &a);
}

static enum lab_status attention_fused_backward(const struct lab_call *call)
{
    struct attend a = {.dctx = &call->in[0],
                       .qkv = &call->in[1],
                       .ctx = &call->in[4],
                       .p = &call->in[5],
                       .dqkv = &call->out[0],
                       .one = head_back};
    return all_heads(call, &a);
}

static const struct lab_variant rows[] = {
    {.name = "fused",
     .phase = LAB_FORWARD,
     .run = attention_fused_forward,
     .source = "kernels/attention/attention_fused_vector.c",
     .symbol = "attention_fused_forward",
     .one_way = true,
     .steps_first = true},
    {.name = "fused",
     .phase = LAB_BACKWARD,
     .run = attention_fused_backward,
     .source = "kernels/attention/attention_fused_vector.c",
     .symbol = "attention_fused_backward",
     .one_way = true},
};
const struct lab_kernel_set lab_vector_attention_fused = {"attention", rows, 2};
const struct lab_kernel_set lab_vector_scaled_dot_attention_fused = {
    "scaled_dot_attention", rows, 2};
