/* kernels/conv2d/conv2d_cudnn.cu -- the convolution by NVIDIA's cuDNN, with its
 * algorithm found or chosen by hand.
 *
 *   cudnn                      found: the first of cuDNN's list, which it orders by
 *                              what it expects to be fast, that
 *                              conv2d_cudnn_choice.h lets pass: the same one in
 *                              every process
 *   cudnn_implicit_gemm        a product without the matrix in memory
 *   cudnn_precomp_gemm         the same with the places computed beforehand
 *   cudnn_gemm                 the matrix laid out, then a product
 *   cudnn_fft, cudnn_fft_tiling               products of Fourier transforms
 *   cudnn_winograd, cudnn_winograd_nonfused   3 x 3 with fewer multiplies and
 *                              more additions (A. Lavin, S. Gray,
 *                              arXiv:1509.09308), in one kernel or in several
 *
 * Backward has fewer: the three products share cuDNN's algorithm 1, and where
 * tiles or a single kernel are not to be had, the plain kind serves.
 *
 * cuDNN pads both sides alike. Where ours are uneven, x goes through a copy
 * that has its padding (conv2d_stage); in nhwc x and the result may go through
 * copies that are nchw. The weights of nhwc are (KH, KW, C, M) here and as
 * (M, KH, KW, C) or (M, C, KH, KW) there: they are turned on the way in, and dW
 * on the way out. */
#include <string.h>

#include "common/image.cuh"
#include "conv2d/conv2d_cuda.cuh"
#include "conv2d/conv2d_cudnn_choice.h"
#include "library/cudnn_entry.cuh"

enum conv_direction { CONV_FORWARD, CONV_DATA, CONV_FILTER };

enum conv_wish {
    CONV_FOUND,
    CONV_IMPLICIT,
    CONV_PRECOMP,
    CONV_GEMM,
    CONV_FFT,
    CONV_FFT_TILING,
    CONV_WINOGRAD,
    CONV_NONFUSED
};

/* How the tensors are handed over: as they are, as nhwc, or copied. */
enum conv_mode { CONV_AS_IT_IS, CONV_AS_NHWC, CONV_STAGED };

/* A box of N x C images of H x W, packed, that starts at input (-top, -left). */
struct conv_box {
    int64_t H;
    int64_t W;
    int64_t top;
    int64_t left;
};

struct conv_plan {
    enum conv_mode mode;
    int algorithm;
    size_t algorithm_bytes;
    struct conv_box box;
    size_t x_at; /* bytes into the workspace, where it is copied */
    size_t y_at;
    size_t w_at;
    size_t total;
};

/* Descriptors of an entry. */
enum { CONV_X, CONV_Y, CONV_W, CONV_SELF };

struct conv_job {
    const struct lab_call *call;
    struct lab_conv2d s;
    enum conv_direction dir;
    enum conv_wish wish;
    struct lab_cudnn *dnn;
    struct lab_cudnn_entry *entry;
    struct conv_plan *plan;
};

/* A way to do it: how the tensors are handed over, and cuDNN's number. */
struct conv_candidate {
    enum conv_mode mode;
    int algorithm;
};
enum { CONV_CANDIDATES = 32 };

/* The functions of a direction, and its tensors: two in, one out. */
struct conv_calls {
    lab_cudnn_conv_list_fn *list;
    lab_cudnn_conv_size_fn *size;
    lab_cudnn_conv_run_fn *run;
    int a;
    int b;
    int c;
};

static struct conv_box conv_whole(const struct lab_image &i)
{
    return {i.H, i.W, 0, 0};
}

static int64_t conv_weights(const struct conv_job *j)
{
    return j->s.KH * j->s.KW * j->s.x.C * j->s.y.C;
}

/* ---- a shape, once: how cuDNN is to have it, and which algorithm ---- */

/* cuDNN's numbers, by wish and direction: the first, or else the second. Of its
 * algorithms 0 and 3 of the weights' gradient, and 0 of the input's, the sums
 * come in another order every time: they are never taken. */
static const int numbers[][3][2] = {
    {{0, 0}, {1, 1}, {1, 1}}, {{0, 0}, {1, 1}, {1, 1}},
    {{1, 1}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}},
    {{4, 4}, {2, 2}, {2, 2}}, {{5, 5}, {3, 2}, {6, 2}},
    {{6, 6}, {4, 5}, {5, 5}}, {{7, 7}, {5, 5}, {5, 5}}};

enum { MOST = CONV_CANDIDATES / 2 };

/* "conv2d cudnn_fft", for messages. */
static const char *conv_name(enum conv_wish wish)
{
    static const char *const names[] = {"conv2d cudnn",
                                        "conv2d cudnn_implicit_gemm",
                                        "conv2d cudnn_precomp_gemm",
                                        "conv2d cudnn_gemm",
                                        "conv2d cudnn_fft",
                                        "conv2d cudnn_fft_tiling",
                                        "conv2d cudnn_winograd",
                                        "conv2d cudnn_winograd_nonfused"};
    return names[wish];
}

/* Does cuDNN's padding, the same on both sides, give as many windows? */
static bool pads_alike(const struct lab_conv2d &s)
{
    int64_t h = s.x.H + 2 * s.win.pad[0] - s.KH;
    int64_t w = s.x.W + 2 * s.win.pad[1] - s.KW;
    return h >= 0 && w >= 0 && h / s.win.stride[0] + 1 == s.y.H &&
           w / s.win.stride[1] + 1 == s.y.W;
}

static int describe_image(const struct conv_job *j, int which,
                          const struct lab_image &i, const struct conv_box *box)
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

static enum lab_status describe(const struct conv_job *j)
{
    const struct lab_conv2d &s = j->s;
    const struct conv_plan *p = j->plan;
    bool staged = p->mode == CONV_STAGED;
    struct conv_box y = conv_whole(s.y);
    void **d = j->entry->descriptor;
    int status = describe_image(j, CONV_X, s.x, staged ? &p->box : nullptr);
    if (!status)
        status = describe_image(j, CONV_Y, s.y, staged ? &y : nullptr);
    if (!status)
        status = j->dnn->filter_4d(
            d[CONV_W], LAB_CUDNN_FLOAT,
            p->mode == CONV_AS_NHWC ? LAB_CUDNN_NHWC : LAB_CUDNN_NCHW,
            (int)s.y.C, (int)s.x.C, (int)s.KH, (int)s.KW);
    if (!status)
        status =
            j->dnn->conv_2d(d[CONV_SELF], staged ? 0 : (int)s.win.pad[0],
                            staged ? 0 : (int)s.win.pad[1],
                            (int)s.win.stride[0], (int)s.win.stride[1], 1, 1,
                            LAB_CUDNN_CROSS_CORRELATION, LAB_CUDNN_FLOAT);
    if (!status)
        status = j->dnn->conv_math(d[CONV_SELF], LAB_CUDNN_FMA);
    return cudnn_judge(j->call, status, conv_name(j->wish));
}

static struct conv_calls conv_calls_of(const struct conv_job *j)
{
    const struct lab_cudnn *dnn = j->dnn;
    if (j->dir == CONV_FORWARD)
        return {dnn->forward_list,
                dnn->forward_size,
                dnn->forward_run,
                CONV_X,
                CONV_W,
                CONV_Y};
    if (j->dir == CONV_DATA)
        return {dnn->data_list, dnn->data_size, dnn->data_run,
                CONV_W,         CONV_Y,         CONV_X};
    return {dnn->filter_list, dnn->filter_size, dnn->filter_run,
            CONV_X,           CONV_Y,           CONV_W};
}

static bool try_algorithm(const struct conv_job *j, int algorithm)
{
    struct conv_calls f = conv_calls_of(j);
    void **d = j->entry->descriptor;
    size_t bytes = 0;
    if (lab_conv_too_coarse(j->dir, algorithm, j->s.KH, j->s.KW) ||
        f.size(j->dnn->handle, d[f.a], d[f.b], d[CONV_SELF], d[f.c], algorithm,
               &bytes) != 0 ||
        bytes > cudnn_workspace_limit())
        return false;
    j->plan->algorithm = algorithm;
    j->plan->algorithm_bytes = bytes;
    return true;
}

static void lay_out(const struct conv_job *j)
{
    struct conv_plan *p = j->plan;
    const struct lab_conv2d &s = j->s;
    bool staged = p->mode == CONV_STAGED;
    size_t x = (size_t)(s.x.N * s.x.C * p->box.H * p->box.W);
    size_t y = (size_t)(s.y.N * s.y.sn);
    p->x_at = cudnn_round(p->algorithm_bytes);
    p->y_at = p->x_at + (staged ? cudnn_round(x * sizeof(float)) : 0);
    p->w_at = p->y_at + (staged ? cudnn_round(y * sizeof(float)) : 0);
    p->total = p->w_at + (size_t)conv_weights(j) * sizeof(float);
}

/* The plan is that candidate; false: it does not serve the shape. */
static bool conv_take(const struct conv_job *j, const struct conv_candidate &c)
{
    j->plan->mode = c.mode;
    if (describe(j) || !try_algorithm(j, c.algorithm))
        return false;
    lay_out(j);
    return true;
}

/* ---- what cuDNN lists ---- */

/* The ways to hand the tensors over, the one without copies first. */
static int modes_of(const struct conv_job *j, enum conv_mode modes[2])
{
    int n = 0;
    if (pads_alike(j->s))
        modes[n++] = j->s.win.nhwc ? CONV_AS_NHWC : CONV_AS_IT_IS;
    if (j->s.win.nhwc || n == 0)
        modes[n++] = CONV_STAGED;
    return n;
}

static int list_mode(const struct conv_job *j, enum conv_mode mode,
                     struct conv_candidate *out)
{
    struct lab_cudnn_algorithm listed[MOST];
    struct conv_calls f = conv_calls_of(j);
    void **d = j->entry->descriptor;
    int count = 0;
    int n = 0;
    j->plan->mode = mode;
    if (describe(j) || f.list(j->dnn->handle, d[f.a], d[f.b], d[CONV_SELF],
                              d[f.c], MOST, &count, listed) != 0)
        return 0;
    for (int i = 0; i < count; i++) {
        const struct lab_conv_offer offer = {
            j->dir,           listed[i].algorithm,
            listed[i].status, listed[i].determinism,
            listed[i].math,   j->s.KH,
            j->s.KW};
        if (lab_conv_may_choose(&offer) &&
            try_algorithm(j, listed[i].algorithm))
            out[n++] = {mode, listed[i].algorithm};
    }
    return n;
}

/* What may be taken of what cuDNN lists for the shape, in its order; returns how
 * many, at most CONV_CANDIDATES. */
static int conv_list(const struct conv_job *j, struct conv_candidate *out)
{
    enum conv_mode modes[2];
    int n_modes = modes_of(j, modes);
    int n = 0;
    for (int i = 0; i < n_modes; i++)
        n += list_mode(j, modes[i], out + n);
    return n;
}

/* ---- the choice ---- */

static bool take_first(const struct conv_job *j)
{
    struct conv_candidate listed[CONV_CANDIDATES];
    int n = conv_list(j, listed);
    for (int i = 0; i < n; i++) {
        if (conv_take(j, listed[i]))
            return true;
    }
    return false;
}

static bool take_named(const struct conv_job *j)
{
    enum conv_mode modes[2];
    int n = modes_of(j, modes);
    for (int i = 0; i < 2 * n; i++) {
        if (conv_take(j, {modes[i % n], numbers[j->wish][j->dir][i / n]}))
            return true;
    }
    return false;
}

static enum lab_status make(const struct conv_job *j)
{
    const struct lab_conv2d &s = j->s;
    struct lab_cudnn *dnn = j->dnn;
    struct lab_cudnn_entry *e = j->entry;
    int64_t rows = (s.y.H - 1) * s.win.stride[0] + s.KH;
    int64_t cols = (s.y.W - 1) * s.win.stride[1] + s.KW;
    const int64_t sizes[] = {s.x.N * s.x.sn, s.y.N * s.y.sn, conv_weights(j),
                             s.x.N * s.x.C * rows * cols};
    if (!cudnn_fits(sizes, 4))
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-size] %s: cuDNN counts to 2^31 - 1 numbers",
            conv_name(j->wish));
    if (!cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->filter_create, dnn->filter_destroy) ||
        !cudnn_descriptor(e, dnn->conv_create, dnn->conv_destroy))
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    j->plan->box = {rows, cols, s.win.pad[0], s.win.pad[1]};
    if ((j->wish == CONV_FOUND && take_first(j)) || take_named(j))
        return LAB_OK;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[launch.cudnn-kernel] %s does not serve a kernel of %lld "
                    "x %lld with stride "
                    "%lld x %lld on images of %lld x %lld",
                    conv_name(j->wish), (long long)s.KH, (long long)s.KW,
                    (long long)s.win.stride[0], (long long)s.win.stride[1],
                    (long long)s.x.H, (long long)s.x.W);
}

/* The job of a call, with a plan and the workspace for it. */
static enum lab_status conv_job_of(const struct lab_call *call,
                                   enum conv_direction dir, enum conv_wish wish,
                                   struct conv_job *j)
{
    bool forward = dir == CONV_FORWARD;
    struct cudnn_key key = {{CUDNN_CONV, dir, wish}};
    enum lab_status st = lab_conv2d_plain(call);
    if (st)
        return st;
    *j = {};
    j->call = call;
    j->s = lab_conv2d_of(call, forward ? &call->in[0] : &call->in[1],
                         forward ? &call->out[0] : &call->in[0]);
    j->dir = dir;
    j->wish = wish;
    j->dnn = call->exec->cudnn;
    const struct lab_conv2d &s = j->s;
    const int64_t parts[] = {
        s.win.nhwc,      s.x.N,           s.x.C,        s.x.H,       s.x.W,
        s.y.C,           s.y.H,           s.y.W,        s.KH,        s.KW,
        s.win.stride[0], s.win.stride[1], s.win.pad[0], s.win.pad[1]};
    memcpy(key.part + 3, parts, sizeof(parts));
    st = cudnn_entry_of(call, key, sizeof(struct conv_plan), &j->entry);
    if (st)
        return st;
    j->plan = static_cast<struct conv_plan *>(j->entry->plan);
    if (!j->entry->ready)
        st = cudnn_entry_made(call, j->entry, make(j));
    return st ? st : cudnn_workspace(call, j->plan->total);
}

/* ---- copies ---- */

static __global__ void conv2d_stage(float *box, const float *x,
                                    struct lab_image image, struct conv_box b,
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
                                      struct lab_image image, struct conv_box b,
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

static void copy_in(const struct conv_job *j, float *box, const float *x,
                    const struct lab_image &image, const struct conv_box &b)
{
    int64_t count = image.N * image.C * b.H * b.W;
    conv2d_stage<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        box, x, image, b, count);
}

static void copy_out(const struct conv_job *j, float *x, const float *box,
                     const struct lab_image &image, const struct conv_box &b)
{
    int64_t count = image.N * image.sn;
    conv2d_unstage<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        x, box, image, b, count);
}

static void turn(const struct conv_job *j, float *to, const float *from,
                 bool back)
{
    int64_t count = conv_weights(j);
    conv2d_turn<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        to, from, j->s, j->plan->mode == CONV_AS_NHWC, back, count);
}

/* ---- a step ---- */

static float *room(const struct conv_job *j, size_t at)
{
    return reinterpret_cast<float *>(static_cast<char *>(j->dnn->workspace) +
                                     at);
}

static enum lab_status run(const struct conv_job *j, const float *a,
                           const float *b, float *c)
{
    struct conv_calls f = conv_calls_of(j);
    void **d = j->entry->descriptor;
    return cudnn_judge(j->call,
                       f.run(j->dnn->handle, &cudnn_one, d[f.a], a, d[f.b], b,
                             d[CONV_SELF], j->plan->algorithm,
                             j->dnn->workspace, j->plan->algorithm_bytes,
                             &cudnn_zero, d[f.c], c),
                       conv_name(j->wish));
}

/* The tensor as cuDNN is to find it: itself, or a copy. */
static const float *given_x(const struct conv_job *j, const float *x)
{
    if (j->plan->mode != CONV_STAGED)
        return x;
    copy_in(j, room(j, j->plan->x_at), x, j->s.x, j->plan->box);
    return room(j, j->plan->x_at);
}

static bool y_is_copied(const struct conv_job *j)
{
    return j->plan->mode == CONV_STAGED && j->s.win.nhwc;
}

static const float *given_y(const struct conv_job *j, const float *y)
{
    if (!y_is_copied(j))
        return y;
    copy_in(j, room(j, j->plan->y_at), y, j->s.y, conv_whole(j->s.y));
    return room(j, j->plan->y_at);
}

static const float *given_w(const struct conv_job *j, const float *w)
{
    if (!j->s.win.nhwc)
        return w;
    turn(j, room(j, j->plan->w_at), w, false);
    return room(j, j->plan->w_at);
}

static enum lab_status conv_forward(const struct conv_job *j)
{
    const struct lab_call *call = j->call;
    bool copy = y_is_copied(j);
    float *y = copy ? room(j, j->plan->y_at) : lab_out(call, 0);
    const float *x = given_x(j, lab_in(call, 0));
    enum lab_status st = run(j, x, given_w(j, lab_in(call, 1)), y);
    if (!st && copy)
        copy_out(j, lab_out(call, 0), y, j->s.y, conv_whole(j->s.y));
    return st ? st : lab_launched("conv2d_cudnn");
}

static enum lab_status conv_weight_gradient(const struct conv_job *j)
{
    const struct lab_call *call = j->call;
    bool copy = j->s.win.nhwc;
    float *dW = copy ? room(j, j->plan->w_at) : lab_out(call, 0);
    const float *x = given_x(j, lab_in(call, 1));
    enum lab_status st = run(j, x, given_y(j, lab_in(call, 0)), dW);
    if (!st && copy)
        turn(j, lab_out(call, 0), dW, true);
    return st ? st : lab_launched("conv2d_cudnn");
}

static enum lab_status conv_input_gradient(const struct conv_job *j)
{
    const struct lab_call *call = j->call;
    bool copy = j->plan->mode == CONV_STAGED;
    float *dx = copy ? room(j, j->plan->x_at) : lab_out(call, 1);
    const float *w = given_w(j, lab_in(call, 2));
    enum lab_status st = run(j, w, given_y(j, lab_in(call, 0)), dx);
    if (!st && copy)
        copy_out(j, lab_out(call, 1), dx, j->s.x, j->plan->box);
    return st ? st : lab_launched("conv2d_cudnn");
}

/* One direction of a step, on the views of j->call. */
static enum lab_status conv_execute(const struct conv_job *j)
{
    if (j->dir == CONV_FORWARD)
        return conv_forward(j);
    return j->dir == CONV_DATA ? conv_input_gradient(j)
                               : conv_weight_gradient(j);
}

static enum lab_status direction(const struct lab_call *call,
                                 enum conv_direction dir, enum conv_wish wish)
{
    struct conv_job j;
    enum lab_status st = conv_job_of(call, dir, wish, &j);
    return st ? st : conv_execute(&j);
}

static enum lab_status prepare(const struct lab_call *call,
                               enum conv_direction dir, enum conv_wish wish)
{
    struct conv_job j;
    return conv_job_of(call, dir, wish, &j);
}

template <enum conv_wish WISH>
static enum lab_status forward(const struct lab_call *call)
{
    return direction(call, CONV_FORWARD, WISH);
}

template <enum conv_wish WISH>
static enum lab_status backward(const struct lab_call *call)
{
    enum lab_status st = direction(call, CONV_FILTER, WISH);
    if (st || !lab_out(call, 1))
        return st;
    return direction(call, CONV_DATA, WISH);
}

template <enum conv_wish WISH>
static enum lab_status prepare_forward(const struct lab_call *call)
{
    return prepare(call, CONV_FORWARD, WISH);
}

template <enum conv_wish WISH>
static enum lab_status prepare_backward(const struct lab_call *call)
{
    enum lab_status st = prepare(call, CONV_FILTER, WISH);
    if (st || call->out[1].count == 0)
        return st;
    return prepare(call, CONV_DATA, WISH);
}

/* ---- table ---- */

static const char source[] = "kernels/conv2d/conv2d_cudnn.cu";

template <enum conv_wish WISH>
static constexpr struct lab_variant forward_row(const char *name)
{
    return lab_row(name, "conv", LAB_FORWARD, forward<WISH>, source,
                   "conv_forward", false, prepare_forward<WISH>);
}

template <enum conv_wish WISH>
static constexpr struct lab_variant backward_row(const char *name)
{
    return lab_row(name, "conv", LAB_BACKWARD, backward<WISH>, source,
                   "conv_weight_gradient", false, prepare_backward<WISH>);
}

static const struct lab_variant variants[] = {
    forward_row<CONV_FOUND>("cudnn"),
    forward_row<CONV_IMPLICIT>("cudnn_implicit_gemm"),
    forward_row<CONV_PRECOMP>("cudnn_precomp_gemm"),
    forward_row<CONV_GEMM>("cudnn_gemm"),
    forward_row<CONV_FFT>("cudnn_fft"),
    forward_row<CONV_FFT_TILING>("cudnn_fft_tiling"),
    forward_row<CONV_WINOGRAD>("cudnn_winograd"),
    forward_row<CONV_NONFUSED>("cudnn_winograd_nonfused"),
    backward_row<CONV_FOUND>("cudnn"),
    backward_row<CONV_IMPLICIT>("cudnn_implicit_gemm"),
    backward_row<CONV_PRECOMP>("cudnn_precomp_gemm"),
    backward_row<CONV_GEMM>("cudnn_gemm"),
    backward_row<CONV_FFT>("cudnn_fft"),
    backward_row<CONV_FFT_TILING>("cudnn_fft_tiling"),
    backward_row<CONV_WINOGRAD>("cudnn_winograd"),
    backward_row<CONV_NONFUSED>("cudnn_winograd_nonfused"),
};

const struct lab_kernel_set lab_cudnn_conv2d = lab_set("conv2d", variants);
