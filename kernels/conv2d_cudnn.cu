/* kernels/conv2d_cudnn.cu -- the convolution by NVIDIA's cuDNN, with its
 * algorithm found or chosen by hand.
 *
 *   cudnn                      cuDNN's own order of what it expects to be fast,
 *                              the first that fits: from the shape alone, so
 *                              that the same shape gets the same one every time
 *   cudnn_implicit_gemm        a product whose matrix is never laid out
 *   cudnn_precomp_gemm         the same with the places computed beforehand
 *   cudnn_gemm                 the matrix laid out, then a product
 *   cudnn_fft, cudnn_fft_tiling         products of the Fourier transforms
 *   cudnn_winograd, cudnn_winograd_nonfused   3 x 3 (and 5 x 5) with fewer
 *                              multiplies and more additions (A. Lavin, S. Gray,
 *                              arXiv:1509.09308)
 *
 * Backward has fewer: the three products share cuDNN's algorithm 1. Its
 * algorithms 0 and 3 add with atomics, in another order every time, and are
 * never taken: a step that is run again must give the same bits.
 *
 * cuDNN pads both sides alike. Where ours are uneven, x goes through a copy
 * that has its padding (conv2d_stage), and so do x and the result where cuDNN
 * does not serve nhwc. The weights of nhwc stand as (KH, KW, C, M) here and as
 * (M, KH, KW, C) there: they are turned on the way in, and dW on the way out. */
#include <stdio.h>

#include "conv2d_cuda.cuh"
#include "cudnn_entry.cuh"
#include "image.cuh"

enum direction { FORWARD, DATA, FILTER };
enum wish {
    FOUND,
    IMPLICIT,
    PRECOMP,
    GEMM,
    FFT,
    FFT_TILING,
    WINOGRAD,
    NONFUSED
};

/* cuDNN's numbers, by wish and direction. */
static const int numbers[][3] = {{-1, -1, -1}, {0, 1, 1}, {1, 1, 1}, {2, 1, 1},
                                 {4, 2, 2},    {5, 3, 6}, {6, 4, 5}, {7, 5, 5}};
static const char *const names[] = {"conv2d cudnn",
                                    "conv2d cudnn_implicit_gemm",
                                    "conv2d cudnn_precomp_gemm",
                                    "conv2d cudnn_gemm",
                                    "conv2d cudnn_fft",
                                    "conv2d cudnn_fft_tiling",
                                    "conv2d cudnn_winograd",
                                    "conv2d cudnn_winograd_nonfused"};

/* How the tensors are handed over. */
enum mode { AS_IT_IS, AS_NHWC, STAGED };

/* A box of N x C images of H x W, packed, that starts at input (-top, -left). */
struct stage {
    int64_t H;
    int64_t W;
    int64_t top;
    int64_t left;
};

struct plan {
    enum mode mode;
    int algorithm;
    size_t algorithm_bytes;
    struct stage box;
    size_t x_at; /* bytes into the workspace, when it is copied */
    size_t y_at;
    size_t w_at;
    size_t total;
};

enum { X, Y, W, CONV };

struct job {
    const struct lab_call *call;
    struct lab_conv2d s;
    enum direction dir;
    enum wish wish;
    struct lab_cudnn *dnn;
    struct lab_cudnn_entry *entry;
    struct plan *plan;
};

/* ---- copies ---- */

static __global__ void conv2d_stage(float *box, const float *x,
                                    struct lab_image image, struct stage b,
                                    int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t h = i / b.W % b.H - b.top;
    int64_t w = i % b.W - b.left;
    int64_t c = i / (b.W * b.H) % image.C;
    int64_t n = i / (b.W * b.H) / image.C;
    bool inside = h >= 0 && h < image.H && w >= 0 && w < image.W;
    box[i] = inside ? x[pixel_at(image, n, c, h, w)] : 0.0f;
}

/* Inputs that no window reads lie outside of the box: 0. */
static __global__ void conv2d_unstage(float *x, const float *box,
                                      struct lab_image image, struct stage b,
                                      int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel p = pixel_of(image, i);
    int64_t h = p.h + b.top;
    int64_t w = p.w + b.left;
    bool inside = h < b.H && w < b.W;
    x[i] = inside ? box[((p.n * image.C + p.c) * b.H + h) * b.W + w] : 0.0f;
}

/* Between (KH, KW, C, M) and (M, C, KH, KW), or (M, KH, KW, C): `theirs` counts
 * along the latter. */
static __global__ void conv2d_turn(float *to, const float *from,
                                   struct lab_conv2d s, bool nhwc, bool back,
                                   int64_t count)
{
    int64_t theirs = lab_element();
    if (theirs >= count)
        return;
    int64_t c = nhwc ? theirs % s.x.C : theirs / (s.KH * s.KW) % s.x.C;
    int64_t kw = nhwc ? theirs / s.x.C % s.KW : theirs % s.KW;
    int64_t kh = nhwc ? theirs / (s.x.C * s.KW) % s.KH : theirs / s.KW % s.KH;
    int64_t m = theirs / (s.KH * s.KW * s.x.C);
    int64_t ours = kh * s.w_kh + kw * s.w_kw + c * s.w_c + m * s.w_m;
    to[back ? ours : theirs] = from[back ? theirs : ours];
}

static void copy_in(const struct job *j, float *box, const float *x,
                    const struct lab_image &image, const struct stage &b)
{
    int64_t count = image.N * image.C * b.H * b.W;
    conv2d_stage<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        box, x, image, b, count);
}

static void copy_out(const struct job *j, float *x, const float *box,
                     const struct lab_image &image, const struct stage &b)
{
    int64_t count = image.N * image.sn;
    conv2d_unstage<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        x, box, image, b, count);
}

static int64_t weights_of(const struct job *j)
{
    return j->s.KH * j->s.KW * j->s.x.C * j->s.y.C;
}

static void turn(const struct job *j, float *to, const float *from, bool back)
{
    int64_t count = weights_of(j);
    conv2d_turn<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        to, from, j->s, j->plan->mode == AS_NHWC, back, count);
}

/* ---- a shape, once ---- */

/* Does cuDNN's padding, the same on both sides, give as many windows? */
static bool pads_alike(const struct lab_conv2d &s)
{
    int64_t h = s.x.H + 2 * s.win.pad[0] - s.KH;
    int64_t w = s.x.W + 2 * s.win.pad[1] - s.KW;
    return h >= 0 && w >= 0 && h / s.win.stride[0] + 1 == s.y.H &&
           w / s.win.stride[1] + 1 == s.y.W;
}

static int describe_image(const struct job *j, int which,
                          const struct lab_image &i, const struct stage *box)
{
    int64_t H = box ? box->H : i.H;
    int64_t W = box ? box->W : i.W;
    void *d = j->entry->descriptor[which];
    if (box)
        return j->dnn->tensor_4d(d, LAB_CUDNN_FLOAT, (int)i.N, (int)i.C, (int)H,
                                 (int)W, (int)(i.C * H * W), (int)(H * W),
                                 (int)W, 1);
    return j->dnn->tensor_4d(d, LAB_CUDNN_FLOAT, (int)i.N, (int)i.C, (int)H,
                             (int)W, (int)i.sn, (int)i.sc, (int)i.sh,
                             (int)i.sw);
}

static struct stage whole(const struct lab_image &i)
{
    return {i.H, i.W, 0, 0};
}

static enum lab_status describe(const struct job *j)
{
    const struct lab_conv2d &s = j->s;
    const struct plan *p = j->plan;
    bool staged = p->mode == STAGED;
    struct stage y = whole(s.y);
    void **d = j->entry->descriptor;
    int status = describe_image(j, X, s.x, staged ? &p->box : nullptr);
    if (!status)
        status = describe_image(j, Y, s.y, staged ? &y : nullptr);
    if (!status)
        status = j->dnn->filter_4d(
            d[W], LAB_CUDNN_FLOAT,
            p->mode == AS_NHWC ? LAB_CUDNN_NHWC : LAB_CUDNN_NCHW, (int)s.y.C,
            (int)s.x.C, (int)s.KH, (int)s.KW);
    if (!status)
        status =
            j->dnn->conv_2d(d[CONV], staged ? 0 : (int)s.win.pad[0],
                            staged ? 0 : (int)s.win.pad[1],
                            (int)s.win.stride[0], (int)s.win.stride[1], 1, 1,
                            LAB_CUDNN_CROSS_CORRELATION, LAB_CUDNN_FLOAT);
    if (!status)
        status = j->dnn->conv_math(d[CONV], LAB_CUDNN_FMA);
    return cudnn_judge(j->call, status, names[j->wish]);
}

/* The functions of a direction, and its tensors: two in, one out. */
struct calls {
    lab_cudnn_conv_list_fn *list;
    lab_cudnn_conv_size_fn *size;
    lab_cudnn_conv_run_fn *run;
    int a;
    int b;
    int c;
};

static struct calls calls_of(const struct job *j)
{
    const struct lab_cudnn *dnn = j->dnn;
    if (j->dir == FORWARD)
        return {
            dnn->forward_list, dnn->forward_size, dnn->forward_run, X, W, Y};
    if (j->dir == DATA)
        return {dnn->data_list, dnn->data_size, dnn->data_run, W, Y, X};
    return {dnn->filter_list, dnn->filter_size, dnn->filter_run, X, Y, W};
}

static bool try_algorithm(const struct job *j, int algorithm)
{
    struct calls f = calls_of(j);
    void **d = j->entry->descriptor;
    size_t bytes = 0;
    if (f.size(j->dnn->handle, d[f.a], d[f.b], d[CONV], d[f.c], algorithm,
               &bytes) != 0 ||
        bytes > cudnn_workspace_limit())
        return false;
    j->plan->algorithm = algorithm;
    j->plan->algorithm_bytes = bytes;
    return true;
}

/* The first of cuDNN's list that gives the same bits every time and fits. */
static bool find_algorithm(const struct job *j)
{
    enum { MOST = 16 };
    struct lab_cudnn_algorithm found[MOST];
    struct calls f = calls_of(j);
    void **d = j->entry->descriptor;
    int count = 0;
    if (f.list(j->dnn->handle, d[f.a], d[f.b], d[CONV], d[f.c], MOST, &count,
               found) != 0)
        return false;
    for (int i = 0; i < count; i++) {
        if (found[i].status == 0 &&
            found[i].determinism == LAB_CUDNN_DETERMINISTIC &&
            try_algorithm(j, found[i].algorithm))
            return true;
    }
    return try_algorithm(j, numbers[IMPLICIT][j->dir]);
}

static enum lab_status choose(const struct job *j, enum mode mode)
{
    j->plan->mode = mode;
    enum lab_status st = describe(j);
    if (st)
        return st;
    bool found = j->wish == FOUND ? find_algorithm(j)
                                  : try_algorithm(j, numbers[j->wish][j->dir]);
    if (found)
        return LAB_OK;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "%s: cuDNN does not serve a kernel of %lld x %lld with "
                    "stride %lld x %lld on images of %lld x %lld",
                    names[j->wish], (long long)j->s.KH, (long long)j->s.KW,
                    (long long)j->s.win.stride[0],
                    (long long)j->s.win.stride[1], (long long)j->s.x.H,
                    (long long)j->s.x.W);
}

static void lay_out(const struct job *j)
{
    struct plan *p = j->plan;
    const struct lab_conv2d &s = j->s;
    bool staged = p->mode == STAGED;
    size_t x = (size_t)(s.x.N * s.x.C * p->box.H * p->box.W);
    size_t y = (size_t)(s.y.N * s.y.sn);
    p->x_at = cudnn_round(p->algorithm_bytes);
    p->y_at = p->x_at + (staged ? cudnn_round(x * sizeof(float)) : 0);
    p->w_at = p->y_at + (staged ? cudnn_round(y * sizeof(float)) : 0);
    p->total = p->w_at + (size_t)weights_of(j) * sizeof(float);
}

static enum lab_status make(const struct job *j)
{
    const struct lab_conv2d &s = j->s;
    struct lab_cudnn *dnn = j->dnn;
    struct lab_cudnn_entry *e = j->entry;
    enum lab_status st = LAB_E_UNSUPPORTED;
    int64_t rows = (s.y.H - 1) * s.win.stride[0] + s.KH;
    int64_t cols = (s.y.W - 1) * s.win.stride[1] + s.KW;
    const int64_t sizes[] = {s.x.N * s.x.sn, s.y.N * s.y.sn, weights_of(j),
                             s.x.N * s.x.C * rows * cols};
    if (!cudnn_fits(sizes, 4))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "%s: cuDNN counts to 2^31 - 1 numbers", names[j->wish]);
    if (!cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->filter_create, dnn->filter_destroy) ||
        !cudnn_descriptor(e, dnn->conv_create, dnn->conv_destroy))
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    j->plan->box = {rows, cols, s.win.pad[0], s.win.pad[1]};
    if (pads_alike(s))
        st = choose(j, s.win.nhwc ? AS_NHWC : AS_IT_IS);
    if (st == LAB_E_UNSUPPORTED && (s.win.nhwc || !pads_alike(s)))
        st = choose(j, STAGED);
    if (!st)
        lay_out(j);
    return st;
}

static enum lab_status job_of(const struct lab_call *call,
                              const struct lab_view *x,
                              const struct lab_view *y, enum direction dir,
                              enum wish wish, struct job *j)
{
    struct cudnn_key key = {{CUDNN_CONV, dir, wish}};
    *j = {};
    j->call = call;
    j->s = lab_conv2d_of(call, x, y);
    j->dir = dir;
    j->wish = wish;
    j->dnn = call->exec->cudnn;
    const struct lab_conv2d &s = j->s;
    const int64_t parts[] = {
        s.win.nhwc,      s.x.N,           s.x.C,        s.x.H,       s.x.W,
        s.y.C,           s.y.H,           s.y.W,        s.KH,        s.KW,
        s.win.stride[0], s.win.stride[1], s.win.pad[0], s.win.pad[1]};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        key.part[3 + i] = parts[i];
    enum lab_status st =
        cudnn_entry_of(call, key, sizeof(struct plan), &j->entry);
    if (st)
        return st;
    j->plan = static_cast<struct plan *>(j->entry->plan);
    if (!j->entry->ready)
        st = cudnn_entry_made(call, j->entry, make(j));
    return st ? st : cudnn_workspace(call, j->plan->total);
}

/* ---- a step ---- */

static float *room(const struct job *j, size_t at)
{
    return reinterpret_cast<float *>(static_cast<char *>(j->dnn->workspace) +
                                     at);
}

static enum lab_status run(const struct job *j, const float *a, const float *b,
                           float *c)
{
    struct calls f = calls_of(j);
    void **d = j->entry->descriptor;
    return cudnn_judge(j->call,
                       f.run(j->dnn->handle, &cudnn_one, d[f.a], a, d[f.b], b,
                             d[CONV], j->plan->algorithm, j->dnn->workspace,
                             j->plan->algorithm_bytes, &cudnn_zero, d[f.c], c),
                       names[j->wish]);
}

/* The tensor as cuDNN is to find it: itself, or a copy. */
static const float *given_x(const struct job *j, const float *x)
{
    if (j->plan->mode != STAGED)
        return x;
    copy_in(j, room(j, j->plan->x_at), x, j->s.x, j->plan->box);
    return room(j, j->plan->x_at);
}

static const float *given_y(const struct job *j, const float *y)
{
    if (j->plan->mode != STAGED || !j->s.win.nhwc)
        return y;
    copy_in(j, room(j, j->plan->y_at), y, j->s.y, whole(j->s.y));
    return room(j, j->plan->y_at);
}

static const float *given_w(const struct job *j, const float *w)
{
    if (!j->s.win.nhwc)
        return w;
    turn(j, room(j, j->plan->w_at), w, false);
    return room(j, j->plan->w_at);
}

template <enum wish WISH>
static enum lab_status forward(const struct lab_call *call)
{
    struct job j;
    enum lab_status st =
        job_of(call, &call->in[0], &call->out[0], FORWARD, WISH, &j);
    if (st)
        return st;
    bool copy = j.plan->mode == STAGED && j.s.win.nhwc;
    float *y = copy ? room(&j, j.plan->y_at) : lab_out(call, 0);
    const float *x = given_x(&j, lab_in(call, 0));
    st = run(&j, x, given_w(&j, lab_in(call, 1)), y);
    if (!st && copy)
        copy_out(&j, lab_out(call, 0), y, j.s.y, whole(j.s.y));
    return st ? st : lab_launched("conv2d_cudnn");
}

static enum lab_status weight_gradient(const struct lab_call *call,
                                       enum wish wish)
{
    struct job j;
    enum lab_status st =
        job_of(call, &call->in[1], &call->in[0], FILTER, wish, &j);
    if (st)
        return st;
    bool copy = j.s.win.nhwc;
    float *dW = copy ? room(&j, j.plan->w_at) : lab_out(call, 0);
    const float *x = given_x(&j, lab_in(call, 1));
    st = run(&j, x, given_y(&j, lab_in(call, 0)), dW);
    if (!st && copy)
        turn(&j, lab_out(call, 0), dW, true);
    return st ? st : lab_launched("conv2d_cudnn");
}

static enum lab_status input_gradient(const struct lab_call *call,
                                      enum wish wish)
{
    struct job j;
    enum lab_status st =
        job_of(call, &call->in[1], &call->in[0], DATA, wish, &j);
    if (st)
        return st;
    bool copy = j.plan->mode == STAGED;
    float *dx = copy ? room(&j, j.plan->x_at) : lab_out(call, 1);
    const float *w = given_w(&j, lab_in(call, 2));
    st = run(&j, w, given_y(&j, lab_in(call, 0)), dx);
    if (!st && copy)
        copy_out(&j, lab_out(call, 1), dx, j.s.x, j.plan->box);
    return st ? st : lab_launched("conv2d_cudnn");
}

template <enum wish WISH>
static enum lab_status backward(const struct lab_call *call)
{
    enum lab_status st = weight_gradient(call, WISH);
    return st || !lab_out(call, 1) ? st : input_gradient(call, WISH);
}

template <enum wish WISH>
static enum lab_status prepare_forward(const struct lab_call *call)
{
    struct job j;
    return job_of(call, &call->in[0], &call->out[0], FORWARD, WISH, &j);
}

template <enum wish WISH>
static enum lab_status prepare_backward(const struct lab_call *call)
{
    struct job j;
    enum lab_status st =
        job_of(call, &call->in[1], &call->in[0], FILTER, WISH, &j);
    if (!st && call->out[1].count > 0)
        st = job_of(call, &call->in[1], &call->in[0], DATA, WISH, &j);
    return st;
}

/* ---- table ---- */

static const char source[] = "kernels/conv2d_cudnn.cu";

template <enum wish WISH>
static constexpr struct lab_variant forward_row(const char *name)
{
    return lab_row(name, "conv", LAB_FORWARD, forward<WISH>, source,
                   "conv2d_stage", false, prepare_forward<WISH>);
}

template <enum wish WISH>
static constexpr struct lab_variant backward_row(const char *name)
{
    return lab_row(name, "conv", LAB_BACKWARD, backward<WISH>, source,
                   "weight_gradient", false, prepare_backward<WISH>);
}

static const struct lab_variant variants[] = {
    forward_row<FOUND>("cudnn"),
    forward_row<IMPLICIT>("cudnn_implicit_gemm"),
    forward_row<PRECOMP>("cudnn_precomp_gemm"),
    forward_row<GEMM>("cudnn_gemm"),
    forward_row<FFT>("cudnn_fft"),
    forward_row<FFT_TILING>("cudnn_fft_tiling"),
    forward_row<WINOGRAD>("cudnn_winograd"),
    forward_row<NONFUSED>("cudnn_winograd_nonfused"),
    backward_row<FOUND>("cudnn"),
    backward_row<IMPLICIT>("cudnn_implicit_gemm"),
    backward_row<PRECOMP>("cudnn_precomp_gemm"),
    backward_row<GEMM>("cudnn_gemm"),
    backward_row<FFT>("cudnn_fft"),
    backward_row<FFT_TILING>("cudnn_fft_tiling"),
    backward_row<WINOGRAD>("cudnn_winograd"),
    backward_row<NONFUSED>("cudnn_winograd_nonfused"),
};

const struct lab_kernel_set lab_cudnn_conv2d = lab_set("conv2d", variants);
