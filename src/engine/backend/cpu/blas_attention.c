/* The products of attention by OpenBLAS: one call a head. A head is a matrix
 * whose rows lie H*E numbers apart, so nothing is copied to separate heads. */
#include <cblas.h>
#include <limits.h>
#include <string.h>

#include "attention/attention.h"
#include "blas_priv.h"

/* A matrix of one head: rows, numbers from row to row. */
struct head {
    float *data;
    int64_t ld;
};

static struct head head_of(const void *x, int64_t n, int64_t h, int64_t T,
                           int64_t H, int64_t width)
{
    return (struct head){(float *)x + (n * T * H + h) * width, H * width};
}

static struct head scores_of(const void *x, int64_t n, int64_t h,
                             const struct lab_attention_dims *d)
{
    return (struct head){(float *)x + (n * d->H + h) * d->Tq * d->Tk, d->Tk};
}

/* c (rows, cols) = factor op(a) op(b), summed over `inner`. */
static void multiply(struct head c, struct head a, CBLAS_TRANSPOSE flip_a,
                     struct head b, CBLAS_TRANSPOSE flip_b, int64_t rows,
                     int64_t cols, int64_t inner, double factor)
{
    if (rows > 0 && cols > 0)
        cblas_sgemm(CblasRowMajor, flip_a, flip_b, (int)rows, (int)cols,
                    (int)inner, (float)factor, a.data, (int)a.ld, b.data,
                    (int)b.ld, 0.0f, c.data, (int)c.ld);
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
    enum lab_status st = lab_blas_check(d->Tq, d->H * d->E, d->Tk);
    return st ? st : lab_blas_check(d->Tq, d->H * d->F, d->Tk);
}

static enum lab_status scores_forward(const struct lab_call *call)
{
    struct lab_attention_dims d;
    enum lab_status st = open_call(call, &call->in[0], &call->in[1], NULL, &d);
    for (int64_t i = 0; !st && i < d.N * d.H; i++) {
        int64_t n = i / d.H;
        int64_t h = i % d.H;
        multiply(scores_of(call->out[0].data, n, h, &d),
                 head_of(call->in[0].data, n, h, d.Tq, d.H, d.E), CblasNoTrans,
                 head_of(call->in[1].data, n, h, d.Tk, d.H, d.E), CblasTrans,
                 d.Tq, d.Tk, d.E, 1 / sqrt((double)d.E));
    }
    return st;
}

static enum lab_status context_forward(const struct lab_call *call)
{
    struct lab_attention_dims d;
    enum lab_status st = open_call(call, &call->out[0], NULL, &call->in[1], &d);
    for (int64_t i = 0; !st && i < d.N * d.H; i++) {
        int64_t n = i / d.H;
        int64_t h = i % d.H;
        multiply(head_of(call->out[0].data, n, h, d.Tq, d.H, d.F),
                 scores_of(call->in[0].data, n, h, &d), CblasNoTrans,
                 head_of(call->in[1].data, n, h, d.Tk, d.H, d.F), CblasNoTrans,
                 d.Tq, d.F, d.Tk, 1);
    }
    return st;
}

static enum lab_status context_backward(const struct lab_call *call)
{
    struct lab_attention_dims d;
    enum lab_status st = open_call(call, &call->in[0], NULL, &call->in[2], &d);
    for (int64_t i = 0; !st && i < d.N * d.H; i++) {
        int64_t n = i / d.H;
        int64_t h = i % d.H;
        struct head dctx = head_of(call->in[0].data, n, h, d.Tq, d.H, d.F);
        if (call->out[0].data)
            multiply(scores_of(call->out[0].data, n, h, &d), dctx, CblasNoTrans,
                     head_of(call->in[2].data, n, h, d.Tk, d.H, d.F),
                     CblasTrans, d.Tq, d.Tk, d.F, 1);
        if (call->out[1].data)
            multiply(head_of(call->out[1].data, n, h, d.Tk, d.H, d.F),
                     scores_of(call->in[1].data, n, h, &d), CblasTrans, dctx,
                     CblasNoTrans, d.Tk, d.F, d.Tq, 1);
    }
    return st;
}

static enum lab_status scores_backward(const struct lab_call *call)
{
    struct lab_attention_dims d;
    enum lab_status st = open_call(call, &call->in[1], &call->in[2], NULL, &d);
    double scale = 1 / sqrt((double)d.E);
    for (int64_t i = 0; !st && i < d.N * d.H; i++) {
        int64_t n = i / d.H;
        int64_t h = i % d.H;
        struct head ds = scores_of(call->in[0].data, n, h, &d);
        if (call->out[0].data)
            multiply(head_of(call->out[0].data, n, h, d.Tq, d.H, d.E), ds,
                     CblasNoTrans,
                     head_of(call->in[2].data, n, h, d.Tk, d.H, d.E),
                     CblasNoTrans, d.Tq, d.E, d.Tk, scale);
        if (call->out[1].data)
            multiply(head_of(call->out[1].data, n, h, d.Tk, d.H, d.E), ds,
                     CblasTrans,
                     head_of(call->in[1].data, n, h, d.Tq, d.H, d.E),
                     CblasNoTrans, d.Tk, d.E, d.Tq, scale);
    }
    return st;
}

/* y (R, M) = x (R, K) W (K, M) + b */
static enum lab_status project_forward(const struct lab_call *call)
{
    const float *b = call->in[2].data;
    float *y = call->out[0].data;
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    enum lab_status st = lab_blas_check(R, K, M);
    if (st)
        return st;
    for (int64_t r = 0; b && r < R; r++)
        memcpy(y + r * M, b, (size_t)M * sizeof(*y));
    if (R > 0 && M > 0)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)R, (int)M,
                    (int)K, 1.0f, call->in[0].data, K > 0 ? (int)K : 1,
                    call->in[1].data, (int)M, b ? 1.0f : 0.0f, y, (int)M);
    return LAB_OK;
}

static void bias_gradient(float *db, const float *dy, int64_t R, int64_t M)
{
    for (int64_t m = 0; m < M; m++) {
        double sum = 0;
        for (int64_t r = 0; r < R; r++)
            sum += dy[r * M + m];
        db[m] = (float)sum;
    }
}

/* dW (K, M) = x^T dy,  db = columns of dy added,  dx (R, K) = dy W^T */
static enum lab_status project_backward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    struct head dy = {call->in[0].data, M};
    struct head x = {call->in[1].data, K};
    struct head W = {call->in[2].data, M};
    enum lab_status st = lab_blas_check(R, K, M);
    if (st)
        return st;
    multiply((struct head){call->out[0].data, M}, x, CblasTrans, dy,
             CblasNoTrans, K, M, R, 1);
    if (call->out[1].data)
        bias_gradient(call->out[1].data, dy.data, R, M);
    if (call->out[2].data)
        multiply((struct head){call->out[2].data, K}, dy, CblasNoTrans, W,
                 CblasTrans, R, K, M, 1);
    return LAB_OK;
}

#define ROW(step_name, phase_id, fn)                                           \
    {                                                                          \
        .name = "blas", .step = step_name, .phase = phase_id, .run = fn,       \
        .source = "src/engine/backend/cpu/blas_attention.c", .symbol = #fn,    \
        .preferred = true                                                      \
    }

/* The first four are those of scaled_dot_attention too. */
const struct lab_variant lab_blas_attention[] = {
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
