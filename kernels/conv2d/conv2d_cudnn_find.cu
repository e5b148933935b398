/* kernels/conv2d/conv2d_cudnn_find.cu -- a convolution's shape, once: how cuDNN is to
 * have it, and which of its algorithms.
 *
 * cuDNN lists what it expects to be fast. `cudnn` takes the first of the list
 * that conv2d_cudnn_choice.h lets pass: the same one in every process. */
#include <string.h>

#include "conv2d/conv2d_cudnn.cuh"
#include "conv2d/conv2d_cudnn_choice.h"

/* cuDNN's numbers, by wish and direction: the first, or else the second. Of its
 * algorithms 0 and 3 of the weights' gradient, and 0 of the input's, the sums
 * come in another order every time: they are never taken. */
static const int numbers[][3][2] = {
    {{0, 0}, {1, 1}, {1, 1}}, {{0, 0}, {1, 1}, {1, 1}},
    {{1, 1}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}},
    {{4, 4}, {2, 2}, {2, 2}}, {{5, 5}, {3, 2}, {6, 2}},
    {{6, 6}, {4, 5}, {5, 5}}, {{7, 7}, {5, 5}, {5, 5}}};

enum { MOST = CONV_CANDIDATES / 2 };

const char *conv_name(enum conv_wish wish)
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

struct conv_calls conv_calls_of(const struct conv_job *j)
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
        return lab_fail(LAB_E_UNSUPPORTED,
                        "%s: cuDNN counts to 2^31 - 1 numbers",
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
                    "%s does not serve a kernel of %lld x %lld with stride "
                    "%lld x %lld on images of %lld x %lld",
                    conv_name(j->wish), (long long)s.KH, (long long)s.KW,
                    (long long)s.win.stride[0], (long long)s.win.stride[1],
                    (long long)s.x.H, (long long)s.x.W);
}

enum lab_status conv_job_of(const struct lab_call *call,
                            enum conv_direction dir, enum conv_wish wish,
                            struct conv_job *j)
{
    bool forward = dir == CONV_FORWARD;
    struct cudnn_key key = {{CUDNN_CONV, dir, wish}};
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
    enum lab_status st =
        cudnn_entry_of(call, key, sizeof(struct conv_plan), &j->entry);
    if (st)
        return st;
    j->plan = static_cast<struct conv_plan *>(j->entry->plan);
    if (!j->entry->ready)
        st = cudnn_entry_made(call, j->entry, make(j));
    return st ? st : cudnn_workspace(call, j->plan->total);
}
