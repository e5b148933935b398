/* kernels/library/channels_cudnn.cu -- pools and batch norm by NVIDIA's cuDNN, each a
 * group of its node's steps.
 *
 * max_pool2d   cuDNN keeps no argmax: backward looks for the winner again, in x
 *              and y. The group therefore takes both phases, and argmax stays
 *              empty. Where numbers of a window are equal, the deterministic
 *              kind gives the gradient to the first.
 * avg_pool2d   padding is not counted, as here.
 * batch_norm   one call from x to y, mean, rstd and the running statistics, and
 *              one back: what is between, xhat and its gradient, stays empty.
 *
 * cuDNN pads both sides alike: pools with uneven padding are refused. */
#include "batch_norm/batch_norm.h"
#include "library/cudnn_entry.cuh"
#include "pool/pool.h"

static enum lab_status no_memory()
{
    return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
}

/* ---- pools ---- */

enum { X, Y, POOL };

static const char *pool_text(int mode)
{
    return mode == LAB_CUDNN_POOL_MAX ? "max_pool2d cudnn" : "avg_pool2d cudnn";
}

static int image(const struct lab_cudnn *dnn, void *d,
                 const struct lab_image &i)
{
    return dnn->tensor_4d(d, LAB_CUDNN_FLOAT, (int)i.N, (int)i.C, (int)i.H,
                          (int)i.W, (int)i.sn, (int)i.sc, (int)i.sh, (int)i.sw);
}

/* Windows along an axis when both sides have the same padding. */
static bool pads_alike(const struct lab_window &win, int axis, int64_t in,
                       int64_t out)
{
    int64_t room = in + 2 * win.pad[axis] - win.size[axis];
    return room >= 0 && room / win.stride[axis] + 1 == out;
}

static enum lab_status make_pool(const struct lab_call *call,
                                 struct lab_cudnn_entry *e,
                                 const struct lab_image &x,
                                 const struct lab_image &y, int mode)
{
    const struct lab_cudnn *dnn = call->exec->cudnn;
    const struct lab_window win = lab_params<lab_pool_params>(call)->window;
    const int64_t sizes[] = {x.N * x.sn, y.N * y.sn};
    if (!pads_alike(win, 0, x.H, y.H) || !pads_alike(win, 1, x.W, y.W))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.cudnn-padding] %s: cuDNN pads both sides "
                        "alike, and this padding is "
                        "uneven",
                        pool_text(mode));
    if (!cudnn_fits(sizes, 2))
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-size] %s: cuDNN counts to 2^31 - 1 numbers",
            pool_text(mode));
    if (!cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->pool_create, dnn->pool_destroy))
        return no_memory();
    int status = image(dnn, e->descriptor[X], x);
    if (!status)
        status = image(dnn, e->descriptor[Y], y);
    if (!status)
        status = dnn->pool_2d(
            e->descriptor[POOL], mode, LAB_CUDNN_PROPAGATE_NAN,
            (int)win.size[0], (int)win.size[1], (int)win.pad[0],
            (int)win.pad[1], (int)win.stride[0], (int)win.stride[1]);
    return cudnn_judge(call, status, pool_text(mode));
}

static enum lab_status pool_entry(const struct lab_call *call,
                                  const struct lab_view *x_view,
                                  const struct lab_view *y_view, int mode,
                                  struct lab_cudnn_entry **e)
{
    const struct lab_window win = lab_params<lab_pool_params>(call)->window;
    struct lab_image x = lab_image_of(x_view->dim, win.nhwc);
    struct lab_image y = lab_image_of(y_view->dim, win.nhwc);
    struct cudnn_key key = {{CUDNN_POOL, mode, win.nhwc, x.N, x.C, x.H, x.W,
                             y.H, y.W, win.size[0], win.size[1], win.stride[0],
                             win.stride[1], win.pad[0], win.pad[1]}};
    enum lab_status st = cudnn_entry_of(call, key, 1, e);
    if (st || (*e)->ready)
        return st;
    return cudnn_entry_made(call, *e, make_pool(call, *e, x, y, mode));
}

template <int MODE>
static enum lab_status pool_forward_prepare(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    return pool_entry(call, &call->in[0], &call->out[0], MODE, &e);
}

template <int MODE>
static enum lab_status pool_backward_prepare(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    return pool_entry(call, &call->out[0], &call->in[0], MODE, &e);
}

template <int MODE>
static enum lab_status pool_forward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    enum lab_status st =
        pool_entry(call, &call->in[0], &call->out[0], MODE, &e);
    if (st)
        return st;
    return cudnn_judge(call,
                       dnn->pool_forward(dnn->handle, e->descriptor[POOL],
                                         &cudnn_one, e->descriptor[X],
                                         lab_in(call, 0), &cudnn_zero,
                                         e->descriptor[Y], lab_out(call, 0)),
                       pool_text(MODE));
}

/* max: dy, x, y. A mean's gradient depends on neither x nor y; cuDNN wants
 * addresses all the same, and gets those of the gradients. */
template <int MODE>
static enum lab_status pool_backward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    enum lab_status st =
        pool_entry(call, &call->out[0], &call->in[0], MODE, &e);
    if (st)
        return st;
    bool max = MODE == LAB_CUDNN_POOL_MAX;
    void *X_ = e->descriptor[X];
    void *Y_ = e->descriptor[Y];
    const float *dy = lab_in(call, 0);
    float *dx = lab_out(call, 0);
    return cudnn_judge(
        call,
        dnn->pool_backward(dnn->handle, e->descriptor[POOL], &cudnn_one, Y_,
                           max ? lab_in(call, 2) : dy, Y_, dy, X_,
                           max ? lab_in(call, 1) : dx, &cudnn_zero, X_, dx),
        pool_text(MODE));
}

/* ---- batch norm ---- */

enum { ALL, CHANNELS };
static const char norm_text[] = "batch_norm cudnn";

static enum lab_status make_norm(const struct lab_call *call,
                                 struct lab_cudnn_entry *e, int64_t outer,
                                 int64_t C, int64_t inner)
{
    const struct lab_cudnn *dnn = call->exec->cudnn;
    const int64_t sizes[] = {outer * C * inner};
    if (!cudnn_fits(sizes, 1))
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-size] %s: cuDNN counts to 2^31 - 1 numbers",
            norm_text);
    if (!cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy))
        return no_memory();
    /* It counts images to 65,535; of one pixel each, they may be one's rows. */
    bool rows = inner == 1 && outer > 65535;
    if (outer > 65535 && !rows)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-images] %s: cuDNN takes at most 65535 images",
            norm_text);
    int status = dnn->tensor_4d(
        e->descriptor[ALL], LAB_CUDNN_FLOAT, rows ? 1 : (int)outer, (int)C,
        rows ? (int)outer : (int)inner, 1, (int)(C * (rows ? outer : inner)),
        (int)inner, rows ? (int)C : 1, rows ? (int)C : 1);
    if (!status)
        status = dnn->tensor_4d(e->descriptor[CHANNELS], LAB_CUDNN_FLOAT, 1,
                                (int)C, 1, 1, (int)C, 1, 1, 1);
    return cudnn_judge(call, status, norm_text);
}

static enum lab_status norm_entry(const struct lab_call *call, int64_t count,
                                  int64_t C, struct lab_cudnn_entry **e)
{
    int64_t inner = lab_params<lab_batch_norm_params>(call)->inner;
    int64_t outer = count / C / inner;
    struct cudnn_key key = {{CUDNN_CHANNELS, outer, C, inner}};
    enum lab_status st = cudnn_entry_of(call, key, 1, e);
    if (st || (*e)->ready)
        return st;
    return cudnn_entry_made(call, *e, make_norm(call, *e, outer, C, inner));
}

/* Outside of training: what `stats` gives then. */
static __global__ void batch_norm_running_cudnn(float *mean, float *rstd,
                                                const float *running_mean,
                                                const float *running_var,
                                                int64_t C, double eps)
{
    int64_t c = lab_element();
    if (c >= C)
        return;
    mean[c] = running_mean[c];
    rstd[c] = (float)(1.0 / sqrt(running_var[c] + eps));
}

static enum lab_status norm_infer(const struct lab_call *call,
                                  const struct lab_cudnn_entry *e, double eps)
{
    const struct lab_cudnn *dnn = call->exec->cudnn;
    int64_t C = call->in[1].count;
    batch_norm_running_cudnn<<<lab_blocks(C), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 1), lab_out(call, 2), lab_out(call, 3), lab_out(call, 4),
        C, eps);
    return cudnn_judge(
        call,
        dnn->bn_infer(dnn->handle, LAB_CUDNN_BATCHNORM_SPATIAL, &cudnn_one,
                      &cudnn_zero, e->descriptor[ALL], lab_in(call, 0),
                      e->descriptor[ALL], lab_out(call, 0),
                      e->descriptor[CHANNELS], lab_in(call, 1), lab_in(call, 2),
                      lab_out(call, 3), lab_out(call, 4), eps),
        norm_text);
}

static enum lab_status norm_forward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    const struct lab_cudnn *dnn = call->exec->cudnn;
    const auto *p = lab_params<lab_batch_norm_params>(call);
    enum lab_status st =
        norm_entry(call, call->in[0].count, call->in[1].count, &e);
    if (st)
        return st;
    if (!call->training)
        return norm_infer(call, e, p->eps);
    return cudnn_judge(
        call,
        dnn->bn_train(dnn->handle, LAB_CUDNN_BATCHNORM_SPATIAL, &cudnn_one,
                      &cudnn_zero, e->descriptor[ALL], lab_in(call, 0),
                      e->descriptor[ALL], lab_out(call, 0),
                      e->descriptor[CHANNELS], lab_in(call, 1), lab_in(call, 2),
                      p->momentum, lab_out(call, 3), lab_out(call, 4), p->eps,
                      lab_out(call, 1), lab_out(call, 2)),
        norm_text);
}

/* dx is computed whether it is wanted or not. */
static enum lab_status norm_backward(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    struct lab_cudnn *dnn = call->exec->cudnn;
    const auto *p = lab_params<lab_batch_norm_params>(call);
    enum lab_status st =
        norm_entry(call, call->in[0].count, call->in[2].count, &e);
    if (!st && !lab_out(call, 0))
        st = cudnn_workspace(call, (size_t)call->in[0].count * sizeof(float));
    if (st)
        return st;
    void *d = e->descriptor[ALL];
    void *dx = lab_out(call, 0) ? lab_out(call, 0) : dnn->workspace;
    return cudnn_judge(
        call,
        dnn->bn_backward(
            dnn->handle, LAB_CUDNN_BATCHNORM_SPATIAL, &cudnn_one, &cudnn_zero,
            &cudnn_one, &cudnn_zero, d, lab_in(call, 1), d, lab_in(call, 0), d,
            dx, e->descriptor[CHANNELS], lab_in(call, 2), lab_out(call, 1),
            lab_out(call, 2), p->eps, lab_in(call, 3), lab_in(call, 4)),
        norm_text);
}

static enum lab_status norm_forward_prepare(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    return norm_entry(call, call->in[0].count, call->in[1].count, &e);
}

static enum lab_status norm_backward_prepare(const struct lab_call *call)
{
    struct lab_cudnn_entry *e;
    enum lab_status st =
        norm_entry(call, call->in[0].count, call->in[2].count, &e);
    if (st || call->out[0].count > 0)
        return st;
    return cudnn_workspace(call, (size_t)call->in[0].count * sizeof(float));
}

/* ---- tables ---- */

static const char source[] = "kernels/library/channels_cudnn.cu";

static const struct lab_variant max_rows[] = {
    lab_row("cudnn", nullptr, LAB_FORWARD, pool_forward<LAB_CUDNN_POOL_MAX>,
            source, "pool_forward", false,
            pool_forward_prepare<LAB_CUDNN_POOL_MAX>),
    lab_row("cudnn", nullptr, LAB_BACKWARD, pool_backward<LAB_CUDNN_POOL_MAX>,
            source, "pool_backward", false,
            pool_backward_prepare<LAB_CUDNN_POOL_MAX>),
};

static const struct lab_variant avg_rows[] = {
    lab_row("cudnn", "pool", LAB_FORWARD, pool_forward<LAB_CUDNN_POOL_AVERAGE>,
            source, "pool_forward", false,
            pool_forward_prepare<LAB_CUDNN_POOL_AVERAGE>),
    lab_row("cudnn", "pool", LAB_BACKWARD,
            pool_backward<LAB_CUDNN_POOL_AVERAGE>, source, "pool_backward",
            false, pool_backward_prepare<LAB_CUDNN_POOL_AVERAGE>),
};

static const struct lab_variant norm_rows[] = {
    lab_row("cudnn", nullptr, LAB_FORWARD, norm_forward, source, "norm_forward",
            false, norm_forward_prepare),
    lab_row("cudnn", nullptr, LAB_BACKWARD, norm_backward, source,
            "norm_backward", false, norm_backward_prepare),
};

const struct lab_kernel_set lab_cudnn_max_pool2d =
    lab_set("max_pool2d", max_rows);
const struct lab_kernel_set lab_cudnn_avg_pool2d =
    lab_set("avg_pool2d", avg_rows);
const struct lab_kernel_set lab_cudnn_batch_norm =
    lab_set("batch_norm", norm_rows);
