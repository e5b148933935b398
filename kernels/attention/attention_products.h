/* kernels/attention/attention_products.h -- the products of attention
 * (common/product.h): one a head. A head is a matrix with H*E numbers from row to row, so nothing
 * is copied to separate heads. */
#include <string.h>

#include "attention/attention.h"
#include "base/parallel.h"
#include "common/product.h"
#include "common/vector.h"

/* Head h of sample n, of a tensor (N, T, H, width) ... */
static struct lab_matrix head_of(const struct lab_view *x, int64_t n, int64_t h,
                                 int64_t T, int64_t H, int64_t width)
{
    return (struct lab_matrix){(float *)x->data + (n * T * H + h) * width,
                               H * width};
}

/* ... and of the scores (N, H, Tq, Tk). */
static struct lab_matrix scores_of(const struct lab_view *x, int64_t n,
                                   int64_t h,
                                   const struct lab_attention_dims *d)
{
    return (struct lab_matrix){
        (float *)x->data + (n * d->H + h) * d->Tq * d->Tk, d->Tk};
}

static struct lab_matrix flip(struct lab_matrix m)
{
    m.flip = true;
    return m;
}

/* BLAS counts in int: also the steps from row to row. */
static enum lab_status open_call(const struct lab_call *call,
                                 const struct lab_view *q,
                                 const struct lab_view *k,
                                 const struct lab_view *v,
                                 struct lab_attention_dims *d)
{
    const struct lab_attention_params *p = call->params;
    *d = lab_attention_sizes(q, k, v, p->heads);
    enum lab_status st = LAB_CHECK_SIDES(d->Tq, d->H * d->E, d->Tk);
    return st ? st : LAB_CHECK_SIDES(d->Tq, d->H * d->F, d->Tk);
}

static float scale_of(const struct lab_attention_dims *d)
{
    return (float)(1 / sqrt((double)d->E));
}

/* What a step does for head h of sample n. */
typedef void head_fn(const struct lab_call *call,
                     const struct lab_attention_dims *d, int64_t n, int64_t h);

struct heads {
    const struct lab_call *call;
    struct lab_attention_dims d;
    head_fn *run;
};

static void some_heads(const void *arg, int64_t from, int64_t to)
{
    const struct heads *a = arg;
    for (int64_t i = from; i < to; i++)
        a->run(a->call, &a->d, i / a->d.H, i % a->d.H);
}

/* All heads, on all threads. */
static enum lab_status each_head(const struct lab_call *call,
                                 const struct lab_view *q,
                                 const struct lab_view *k,
                                 const struct lab_view *v, head_fn *run)
{
    struct heads all = {.call = call, .run = run};
    enum lab_status st = open_call(call, q, k, v, &all.d);
    if (!st)
        lab_parallel(all.d.N * all.d.H, 1, some_heads, &all);
    return st;
}

static void head_scores(const struct lab_call *call,
                        const struct lab_attention_dims *d, int64_t n,
                        int64_t h)
{
    LAB_MULTIPLY(scores_of(&call->out[0], n, h, d),
                 head_of(&call->in[0], n, h, d->Tq, d->H, d->E),
                 flip(head_of(&call->in[1], n, h, d->Tk, d->H, d->E)), d->Tq,
                 d->Tk, d->E, scale_of(d), 0);
}

static enum lab_status scores_forward(const struct lab_call *call)
{
    return each_head(call, &call->in[0], &call->in[1], NULL, head_scores);
}

/* Where the mask hides half of the keys, a sum over the keys or over the queries of
 * a key goes without them: a band of queries has no keys behind its last one, and a
 * band of keys no queries before its first. */
enum { BAND = 32 };

static int64_t band_of(const struct lab_call *call,
                       const struct lab_attention_dims *d)
{
    const struct lab_attention_params *p = call->params;
    return p->causal && d->Tq == d->Tk ? BAND : d->Tq + d->Tk;
}

static struct lab_matrix rows_from(struct lab_matrix m, int64_t row)
{
    m.data += row * m.ld;
    return m;
}

/* to (Tq, width) = alpha s from; s (Tq, Tk) is 0 where it is hidden. */
static void sum_over_keys(const struct lab_call *call,
                          const struct lab_attention_dims *d,
                          struct lab_matrix to, struct lab_matrix s,
                          struct lab_matrix from, int64_t width, float alpha)
{
    int64_t band = band_of(call, d);
    for (int64_t i = 0; i < d->Tq; i += band) {
        int64_t end = i + band < d->Tq ? i + band : d->Tq;
        LAB_MULTIPLY(rows_from(to, i), rows_from(s, i), from, end - i, width,
                     band == BAND ? end : d->Tk, alpha, 0);
    }
}

/* to (Tk, width) = alpha s^T from */
static void sum_over_queries(const struct lab_call *call,
                             const struct lab_attention_dims *d,
                             struct lab_matrix to, struct lab_matrix s,
                             struct lab_matrix from, int64_t width, float alpha)
{
    int64_t band = band_of(call, d);
    for (int64_t j = 0; j < d->Tk; j += band) {
        int64_t end = j + band < d->Tk ? j + band : d->Tk;
        int64_t first = band == BAND ? j : 0;
        struct lab_matrix some = rows_from(s, first);
        some.data += j;
        LAB_MULTIPLY(rows_from(to, j), flip(some), rows_from(from, first),
                     end - j, width, d->Tq - first, alpha, 0);
    }
}

static void head_context(const struct lab_call *call,
                         const struct lab_attention_dims *d, int64_t n,
                         int64_t h)
{
    sum_over_keys(call, d, head_of(&call->out[0], n, h, d->Tq, d->H, d->F),
                  scores_of(&call->in[0], n, h, d),
                  head_of(&call->in[1], n, h, d->Tk, d->H, d->F), d->F, 1);
}

static enum lab_status context_forward(const struct lab_call *call)
{
    return each_head(call, &call->out[0], NULL, &call->in[1], head_context);
}

static void head_context_back(const struct lab_call *call,
                              const struct lab_attention_dims *d, int64_t n,
                              int64_t h)
{
    struct lab_matrix dctx = head_of(&call->in[0], n, h, d->Tq, d->H, d->F);
    if (call->out[0].data)
        LAB_MULTIPLY(scores_of(&call->out[0], n, h, d), dctx,
                     flip(head_of(&call->in[2], n, h, d->Tk, d->H, d->F)),
                     d->Tq, d->Tk, d->F, 1, 0);
    if (call->out[1].data)
        sum_over_queries(call, d,
                         head_of(&call->out[1], n, h, d->Tk, d->H, d->F),
                         scores_of(&call->in[1], n, h, d), dctx, d->F, 1);
}

static enum lab_status context_backward(const struct lab_call *call)
{
    return each_head(call, &call->in[0], NULL, &call->in[2], head_context_back);
}

static void head_scores_back(const struct lab_call *call,
                             const struct lab_attention_dims *d, int64_t n,
                             int64_t h)
{
    struct lab_matrix ds = scores_of(&call->in[0], n, h, d);
    if (call->out[0].data)
        sum_over_keys(call, d, head_of(&call->out[0], n, h, d->Tq, d->H, d->E),
                      ds, head_of(&call->in[2], n, h, d->Tk, d->H, d->E), d->E,
                      scale_of(d));
    if (call->out[1].data)
        sum_over_queries(
            call, d, head_of(&call->out[1], n, h, d->Tk, d->H, d->E), ds,
            head_of(&call->in[1], n, h, d->Tq, d->H, d->E), d->E, scale_of(d));
}

static enum lab_status scores_backward(const struct lab_call *call)
{
    return each_head(call, &call->in[1], &call->in[2], NULL, head_scores_back);
}

/* y (R, M) = x (R, K) W (K, M) + b */
static enum lab_status project_forward(const struct lab_call *call)
{
    const float *b = call->in[2].data;
    float *y = call->out[0].data;
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    enum lab_status st = LAB_CHECK_SIDES(R, K, M);
    if (st)
        return st;
    for (int64_t r = 0; b && r < R; r++)
        memcpy(y + r * M, b, (size_t)M * sizeof(*y));
    LAB_MULTIPLY(
        (struct lab_matrix){y, M}, (struct lab_matrix){call->in[0].data, K},
        (struct lab_matrix){call->in[1].data, M}, R, M, K, 1, b ? 1 : 0);
    return LAB_OK;
}

/* dW (K, M) = x^T dy,  db = columns of dy added,  dx (R, K) = dy W^T */
static enum lab_status project_backward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    struct lab_matrix dy = {call->in[0].data, M};
    struct lab_matrix x = {call->in[1].data, K};
    struct lab_matrix W = {call->in[2].data, M};
    struct lab_matrix dW = {call->out[0].data, M};
    struct lab_matrix dx = {call->out[2].data, K};
    enum lab_status st = LAB_CHECK_SIDES(R, K, M);
    if (st)
        return st;
    LAB_MULTIPLY(dW, flip(x), dy, K, M, R, 1, 0);
    if (call->out[1].data)
        lab_column_sums(call->out[1].data, dy.data, R, M);
    if (dx.data)
        LAB_MULTIPLY(dx, dy, flip(W), R, K, M, 1, 0);
    return LAB_OK;
}

#define ROW(step_name, phase_id, fn)                                           \
    LAB_PRODUCT_ROW("kernels/attention/attention_products.h", step_name,       \
                    phase_id, fn, #fn)

/* The first four are those of scaled_dot_attention too. */
static const struct lab_variant attention_products[] = {
    ROW("scores", LAB_FORWARD, scores_forward),
    ROW("context", LAB_FORWARD, context_forward),
    ROW("context", LAB_BACKWARD, context_backward),
    ROW("scores", LAB_BACKWARD, scores_backward),
    ROW("q", LAB_FORWARD, project_forward),
    ROW("k", LAB_FORWARD, project_forward),
    ROW("v", LAB_FORWARD, project_forward),
    ROW("output", LAB_FORWARD, project_forward),
    ROW("output", LAB_BACKWARD, project_backward),
    ROW("v", LAB_BACKWARD, project_backward),
    ROW("k", LAB_BACKWARD, project_backward),
    ROW("q", LAB_BACKWARD, project_backward),
};
#undef ROW
