/* kernels/conv2d/conv2d_blas.c -- the products of a convolution by OpenBLAS: the
 * windows are laid out as the rows of a matrix ("image to columns"), a piece at
 * a time, in a buffer that stays in the cache. Nothing is allocated, and the
 * matrix, which would be KH*KW times as large as the image, is never whole. (The
 * lab's row, at the end, lays out the whole of it, as its other rows do.)
 *
 *   windows (P, K)   row p: the K numbers under the kernel at place p, in the
 *                    order in which the weights lie in memory
 *   nhwc   conv (P, M) = windows Wt             Wt (K, M)
 *   nchw   conv_n (M, P) = Wt windows^T         Wt (M, K)
 * An image at a time. dx adds what comes back for each window to where it was
 * read, in order: one thread, the same bits at every run. */
#include <limits.h>
#include <string.h>

#include "conv2d/conv.h"
#include "conv2d/conv2d.h"
#include "base/parallel.h"
#include "library/blas.h"

enum { BUFFER = 1 << 16 };
static _Thread_local float windows[BUFFER];

struct job {
    struct lab_conv2d s;
    int64_t lo; /* rows of the kernel that are laid out, in nchw channels: */
    int64_t hi; /* lo .. hi-1, neighbours in memory */
    int64_t K;  /* numbers of a window between these */
    int64_t M;  /* filters */
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
    j->lo = 0;
    j->hi = j->s.win.nhwc ? j->s.KH : j->s.x.C;
    j->M = j->s.y.C;
    j->places = j->s.y.H * j->s.y.W;
    j->room = BUFFER / j->K;
    if (j->room < 1)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.blas-window] conv2d blas: a window of %lld "
                        "numbers is larger than "
                        "its buffer of %d; another variant has no such limit",
                        (long long)j->K, BUFFER);
    if (j->places > INT_MAX || j->M > INT_MAX)
        return lab_fail(
            LAB_E_RANGE,
            "[launch.blas-side] conv2d blas: a side is more than its "
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
static void move_window(const struct job *j, float *image, float *row,
                        int64_t top, int64_t left, bool back)
{
    const struct lab_conv2d *s = &j->s;
    bool nhwc = s->win.nhwc;
    int64_t h0, h1, w0, w1;
    clip(top, s->KH, s->x.H, &h0, &h1);
    clip(left, s->KW, s->x.W, &w0, &w1);
    if (nhwc) {
        h0 = h0 > j->lo ? h0 : j->lo;
        h1 = h1 < j->hi ? h1 : j->hi;
    }
    /* A run of numbers that lie together both in the image and in the row. */
    int64_t each = nhwc ? s->x.C : 1;
    int64_t run = (w1 - w0) * each;
    for (int64_t c = nhwc ? 0 : j->lo; c < (nhwc ? 1 : j->hi); c++) {
        for (int64_t kh = h0; kh < h1; kh++) {
            int64_t line = nhwc ? kh - j->lo : (c - j->lo) * s->KH + kh;
            float *in = image + c * s->x.sc + (top + kh) * s->x.sh +
                        (left + w0) * s->x.sw;
            float *at = row + (line * s->KW + w0) * each;
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
        move_window(j, image, windows + i * j->K, top, left, back);
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

/* A piece's part of conv or of its gradient: (count, M), or nchw (M, count). */
static struct lab_matrix part_of(const struct job *j, const struct piece *p,
                                 const struct lab_view *conv)
{
    return (struct lab_matrix){(float *)conv->data + start_of(j, p),
                               j->s.win.nhwc ? j->M : j->places};
}

/* What the threads share out. */
struct shared {
    struct job j;
    const struct lab_call *call;
};

/* Before the first piece of image n. */
static struct piece before_image(const struct job *j, int64_t n)
{
    return (struct piece){.n = n - 1, .first = j->places};
}

static void images_forward(const void *arg, int64_t from, int64_t to)
{
    const struct job *j = &((const struct shared *)arg)->j;
    const struct lab_call *call = ((const struct shared *)arg)->call;
    struct lab_matrix Wt = {call->in[1].data, j->s.win.nhwc ? j->M : j->K};
    struct piece p = before_image(j, from);
    while (next_piece(j, &p) && p.n < to) {
        struct lab_matrix conv = part_of(j, &p, &call->out[0]);
        struct lab_matrix laid = {windows, j->K, .flip = !j->s.win.nhwc};
        lay_out(j, &p, call->in[0].data);
        if (j->s.win.nhwc)
            lab_blas_multiply(conv, laid, Wt, p.count, j->M, j->K, 1, 0);
        else
            lab_blas_multiply(conv, Wt, laid, j->M, p.count, j->K, 1, 0);
    }
}

static enum lab_status conv2d_conv_forward(const struct lab_call *call)
{
    struct shared s = {.call = call};
    enum lab_status st = job_of(call, &call->in[0], &call->out[0], &s.j);
    if (!st)
        lab_parallel(s.j.s.y.N, 1, images_forward, &s);
    return st;
}

/* Rows of the kernel, or channels, from .. to-1 of dWt: a sum over all pieces. */
static void weights_back(const void *arg, int64_t from, int64_t to)
{
    struct job j = ((const struct shared *)arg)->j;
    const struct lab_call *call = ((const struct shared *)arg)->call;
    bool nhwc = j.s.win.nhwc;
    int64_t each = j.K / j.hi; /* numbers of one of them */
    struct lab_matrix dWt = {call->out[0].data, nhwc ? j.M : j.K};
    dWt.data += from * each * (nhwc ? j.M : 1);
    j.lo = from;
    j.hi = to;
    j.K = (to - from) * each;
    j.room = BUFFER / j.K;
    struct lab_matrix laid = {windows, j.K, .flip = nhwc};
    struct piece p = before_image(&j, 0);
    for (float beta = 0; next_piece(&j, &p); beta = 1) {
        struct lab_matrix dconv = part_of(&j, &p, &call->in[0]);
        lay_out(&j, &p, call->in[1].data);
        if (nhwc)
            lab_blas_multiply(dWt, laid, dconv, j.K, j.M, p.count, 1, beta);
        else
            lab_blas_multiply(dWt, dconv, laid, j.M, j.K, p.count, 1, beta);
    }
}

static void images_back(const void *arg, int64_t from, int64_t to)
{
    const struct job *j = &((const struct shared *)arg)->j;
    const struct lab_call *call = ((const struct shared *)arg)->call;
    struct lab_matrix Wt = {call->in[2].data, j->s.win.nhwc ? j->M : j->K,
                            .flip = j->s.win.nhwc};
    struct lab_matrix laid = {windows, j->K};
    float *dx = call->out[1].data;
    struct piece p = before_image(j, from);
    memset(dx + from * j->s.x.sn, 0,
           (size_t)((to - from) * j->s.x.sn) * sizeof(*dx));
    while (next_piece(j, &p) && p.n < to) {
        struct lab_matrix dconv = part_of(j, &p, &call->in[0]);
        dconv.flip = !j->s.win.nhwc;
        lab_blas_multiply(laid, dconv, Wt, p.count, j->K, j->M, 1, 0);
        move_windows(j, &p, dx + p.n * j->s.x.sn, true);
    }
}

static enum lab_status conv2d_conv_backward(const struct lab_call *call)
{
    struct shared s = {.call = call};
    enum lab_status st = job_of(call, &call->in[1], &call->in[0], &s.j);
    if (st)
        return st;
    int64_t threads = lab_threads();
    lab_parallel(s.j.hi, (s.j.hi + threads - 1) / threads, weights_back, &s);
    if (call->out[1].data)
        lab_parallel(s.j.s.y.N, 1, images_back, &s);
    return LAB_OK;
}

#define ROW(phase_id, fn)                                                      \
    {                                                                          \
        .name = "blas", .step = "conv", .phase = phase_id, .run = fn,          \
        .source = "kernels/conv2d/conv2d_blas.c", .symbol = #fn,               \
        .prepare = lab_conv2d_plain, .preferred = true                         \
    }

static const struct lab_variant rows[] = {
    ROW(LAB_FORWARD, conv2d_conv_forward),
    ROW(LAB_BACKWARD, conv2d_conv_backward),
};

const struct lab_kernel_set lab_blas_conv2d = {"conv2d", rows, 2};

/* ---- the lab ---- */

/* The windows of an image laid out, then y = w X. */
static enum lab_status blas_conv(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of(call);
    int64_t places = s.P * s.Q;
    int64_t depth = conv_depth(&s);
    struct lab_matrix w = {call->in[1].data, depth};
    struct lab_matrix X = {call->out[1].data, places};
    struct lab_matrix y = {call->out[0].data, places};
    enum lab_status st = lab_blas_check(places, s.K, depth);
    for (int64_t n = 0; !st && n < s.N; n++) {
        lab_cpu_conv_windows(call, n);
        lab_blas_multiply(y, w, X, s.K, places, depth, 1, 0);
        y.data += s.K * places;
    }
    return st;
}

const struct lab_variant lab_blas_variants_conv[] = {
    {.name = "openblas",
     .idea = "the windows laid out, then the library",
     .run = blas_conv,
     .source = "kernels/conv2d/conv2d_blas.c",
     .symbol = "blas_conv",
     .model = {.library = true},
     .scratch = true},
    {0},
};
