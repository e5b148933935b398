/* The products of a convolution by OpenBLAS: the windows are laid out as the
 * rows of a matrix ("image to columns"), a piece at a time, in a buffer that
 * stays in the cache. Nothing is allocated, and the matrix, which would be
 * KH*KW times as large as the image, is never whole.
 *
 *   windows (P, K)   row p: the K numbers under the kernel at place p, in the
 *                    order in which the weights lie in memory
 *   nhwc   conv (P, M) = windows Wt             Wt (K, M)
 *   nchw   conv_n (M, P) = Wt windows^T         Wt (M, K)
 * An image at a time. dx adds what comes back for each window to where it was
 * read, in order: one thread, the same bits at every run. */
#include <cblas.h>
#include <limits.h>
#include <string.h>

#include "conv2d/conv2d.h"
#include "blas_priv.h"

enum { BUFFER = 1 << 16 };
static _Thread_local float windows[BUFFER];

struct job {
    struct lab_conv2d s;
    int64_t K;      /* numbers of a window */
    int64_t M;      /* filters */
    int64_t places; /* of one image */
    int64_t room;   /* windows that the buffer holds */
};

/* Places first .. first + count - 1 of image n. */
struct piece {
    int64_t n;
    int64_t first;
    int64_t count;
};

static enum lab_status job_of(const struct lab_call *call,
                              const struct lab_view *x,
                              const struct lab_view *conv, struct job *j)
{
    j->s = lab_conv2d_of(call, x, conv);
    j->K = j->s.KH * j->s.KW * j->s.x.C;
    j->M = j->s.y.C;
    j->places = j->s.y.H * j->s.y.W;
    j->room = BUFFER / j->K;
    lab_blas_start();
    if (j->room < 1)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "conv2d blas: a window of %lld numbers is larger than "
                        "its buffer of %d; another variant has no such limit",
                        (long long)j->K, BUFFER);
    if (j->places > INT_MAX || j->M > INT_MAX)
        return lab_fail(LAB_E_RANGE, "conv2d blas: a side is more than its "
                                     "32-bit sizes hold");
    return LAB_OK;
}

static bool next_piece(const struct job *j, struct piece *p)
{
    p->first += p->count;
    if (p->first >= j->places) {
        p->first = 0;
        p->n++;
    }
    p->count = j->room < j->places - p->first ? j->room : j->places - p->first;
    return p->n < j->s.y.N;
}

/* The part lo..hi-1 of 0..size-1 for which first + i lies in 0..limit-1. */
static void clip(int64_t first, int64_t size, int64_t limit, int64_t *lo,
                 int64_t *hi)
{
    *lo = first < 0 ? -first : 0;
    *hi = limit - first < size ? limit - first : size;
    if (*lo > size)
        *lo = size;
    if (*hi < *lo)
        *hi = *lo;
}

/* One window out of the image, or (back) added into it. */
static void move_window(const struct lab_conv2d *s, float *image, float *row,
                        int64_t top, int64_t left, bool back)
{
    int64_t h0, h1, w0, w1;
    clip(top, s->KH, s->x.H, &h0, &h1);
    clip(left, s->KW, s->x.W, &w0, &w1);
    /* A run of numbers that lie together both in the image and in the row. */
    int64_t planes = s->win.nhwc ? 1 : s->x.C;
    int64_t each = s->win.nhwc ? s->x.C : 1;
    for (int64_t c = 0; c < planes; c++) {
        for (int64_t kh = h0; kh < h1; kh++) {
            float *in = image + c * s->x.sc + (top + kh) * s->x.sh +
                        (left + w0) * s->x.sw;
            float *at = row + ((c * s->KH + kh) * s->KW + w0) * each;
            int64_t run = (w1 - w0) * each;
            if (back)
                for (int64_t i = 0; i < run; i++)
                    in[i] += at[i];
            else
                memcpy(at, in, (size_t)run * sizeof(float));
        }
    }
}

static void move_windows(const struct job *j, const struct piece *p,
                         float *image, bool back)
{
    const struct lab_conv2d *s = &j->s;
    if (!back) /* the padding */
        memset(windows, 0, (size_t)(p->count * j->K) * sizeof(float));
    for (int64_t i = 0; i < p->count; i++) {
        int64_t place = p->first + i;
        int64_t top = place / s->y.W * s->win.stride[0] - s->win.pad[0];
        int64_t left = place % s->y.W * s->win.stride[1] - s->win.pad[1];
        move_window(s, image, windows + i * j->K, top, left, back);
    }
}

static void lay_out(const struct job *j, const struct piece *p, const float *x)
{
    /* Read only: `back` is what writes. */
    move_windows(j, p, (float *)(uintptr_t)(x + p->n * j->s.x.sn), false);
}

/* Where a piece's results start. */
static int64_t start_of(const struct job *j, const struct piece *p)
{
    return p->n * j->s.y.sn + p->first * (j->s.win.nhwc ? j->M : 1);
}

static void multiply(CBLAS_TRANSPOSE flip_a, CBLAS_TRANSPOSE flip_b, int64_t m,
                     int64_t n, int64_t k, const float *a, int64_t lda,
                     const float *b, int64_t ldb, bool more, float *c,
                     int64_t ldc)
{
    cblas_sgemm(CblasRowMajor, flip_a, flip_b, (int)m, (int)n, (int)k, 1.0f, a,
                (int)lda, b, (int)ldb, more ? 1.0f : 0.0f, c, (int)ldc);
}

static enum lab_status conv2d_conv_forward(const struct lab_call *call)
{
    struct job j;
    struct piece p = {0};
    const float *Wt = call->in[1].data;
    enum lab_status st = job_of(call, &call->in[0], &call->out[0], &j);
    if (st)
        return st;
    p.first = j.places;
    p.n = -1;
    while (next_piece(&j, &p)) {
        float *conv = (float *)call->out[0].data + start_of(&j, &p);
        lay_out(&j, &p, call->in[0].data);
        if (j.s.win.nhwc)
            multiply(CblasNoTrans, CblasNoTrans, p.count, j.M, j.K, windows,
                     j.K, Wt, j.M, false, conv, j.M);
        else
            multiply(CblasNoTrans, CblasTrans, j.M, p.count, j.K, Wt, j.K,
                     windows, j.K, false, conv, j.places);
    }
    return LAB_OK;
}

/* dWt, a sum over all the pieces. */
static void weight_gradient(const struct job *j, const struct lab_call *call)
{
    struct piece p = {.n = -1, .first = j->places};
    float *dWt = call->out[0].data;
    bool more = false;
    for (; next_piece(j, &p); more = true) {
        const float *dconv = (const float *)call->in[0].data + start_of(j, &p);
        lay_out(j, &p, call->in[1].data);
        if (j->s.win.nhwc)
            multiply(CblasTrans, CblasNoTrans, j->K, j->M, p.count, windows,
                     j->K, dconv, j->M, more, dWt, j->M);
        else
            multiply(CblasNoTrans, CblasNoTrans, j->M, j->K, p.count, dconv,
                     j->places, windows, j->K, more, dWt, j->K);
    }
}

static void input_gradient(const struct job *j, const struct lab_call *call)
{
    struct piece p = {.n = -1, .first = j->places};
    const float *Wt = call->in[2].data;
    float *dx = call->out[1].data;
    memset(dx, 0, (size_t)call->out[1].count * sizeof(float));
    while (next_piece(j, &p)) {
        const float *dconv = (const float *)call->in[0].data + start_of(j, &p);
        if (j->s.win.nhwc)
            multiply(CblasNoTrans, CblasTrans, p.count, j->K, j->M, dconv, j->M,
                     Wt, j->M, false, windows, j->K);
        else
            multiply(CblasTrans, CblasNoTrans, p.count, j->K, j->M, dconv,
                     j->places, Wt, j->K, false, windows, j->K);
        move_windows(j, &p, dx + p.n * j->s.x.sn, true);
    }
}

static enum lab_status conv2d_conv_backward(const struct lab_call *call)
{
    struct job j;
    enum lab_status st = job_of(call, &call->in[1], &call->in[0], &j);
    if (st)
        return st;
    weight_gradient(&j, call);
    if (call->out[1].data)
        input_gradient(&j, call);
    return LAB_OK;
}

#define ROW(phase_id, fn)                                                      \
    {                                                                          \
        .name = "blas", .step = "conv", .phase = phase_id, .run = fn,          \
        .source = "src/engine/backend/cpu/blas_conv2d.c", .symbol = #fn,       \
        .preferred = true                                                      \
    }

const struct lab_variant lab_blas_conv2d[LAB_BLAS_CONV2D] = {
    ROW(LAB_FORWARD, conv2d_conv_forward),
    ROW(LAB_BACKWARD, conv2d_conv_backward),
};
