/* kernels/conv2d/conv2d_onednn.c -- the convolution by oneDNN. Images and weights
 * stay as they lie in memory: strides describe them, so that nothing is
 * transposed before or after. */
#include "conv2d/conv2d.h"
#include "library/onednn.h"

static dnnl_status_t weights(dnnl_memory_desc_t *md,
                             const struct onednn_windows *w)
{
    const int64_t *k = w->win.size;
    const int64_t mchw[] = {w->C * k[0] * k[1], k[0] * k[1], k[1], 1};
    const int64_t hwcm[] = {1, w->M, k[1] * w->C * w->M, w->C * w->M};
    return onednn_tensor4(md, w->M, w->C, k, w->win.nhwc ? hwcm : mchw);
}

static dnnl_status_t backward(struct onednn_recipe *r, enum onednn_way way,
                              const struct onednn_images *t,
                              const dnnl_memory_desc_t *Wt,
                              dnnl_engine_t engine)
{
    dnnl_convolution_desc_t desc;
    dnnl_status_t code = way == ONEDNN_WEIGHTS
                             ? dnnl_convolution_backward_weights_desc_init(
                                   &desc, dnnl_convolution_direct, &t->x, Wt,
                                   NULL, &t->y, t->stride, t->before, t->after)
                             : dnnl_convolution_backward_data_desc_init(
                                   &desc, dnnl_convolution_direct, &t->x, Wt,
                                   &t->y, t->stride, t->before, t->after);
    return code ? code : onednn_describe(r, &desc, engine);
}

/* forward: conv, x, Wt; weights: dWt, x, dconv; backward: dx, Wt, dconv */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    struct onednn_images t;
    dnnl_memory_desc_t Wt;
    dnnl_convolution_desc_t desc;
    dnnl_status_t code = onednn_images(&t, &key->windows);
    if (!code)
        code = weights(&Wt, &key->windows);
    if (!code)
        code = dnnl_convolution_forward_desc_init(
            &desc, dnnl_forward_training, dnnl_convolution_direct, &t.x, &Wt,
            NULL, &t.y, t.stride, t.before, t.after);
    if (!code)
        code = onednn_describe(r, &desc, engine);
    if (!code && key->way != ONEDNN_FORWARD)
        code = backward(r, key->way, &t, &Wt, engine);
    if (code)
        return code;
    switch (key->way) {
    case ONEDNN_WEIGHTS:
        onednn_add_arg(r, DNNL_ARG_DIFF_WEIGHTS, &Wt);
        onednn_add_arg(r, DNNL_ARG_SRC, &t.x);
        onednn_add_arg(r, DNNL_ARG_DIFF_DST, &t.y);
        break;
    case ONEDNN_BACKWARD:
        onednn_add_arg(r, DNNL_ARG_DIFF_SRC, &t.x);
        onednn_add_arg(r, DNNL_ARG_WEIGHTS, &Wt);
        onednn_add_arg(r, DNNL_ARG_DIFF_DST, &t.y);
        break;
    case ONEDNN_FORWARD:
        onednn_add_arg(r, DNNL_ARG_DST, &t.y);
        onednn_add_arg(r, DNNL_ARG_SRC, &t.x);
        onednn_add_arg(r, DNNL_ARG_WEIGHTS, &Wt);
        break;
    }
    return code;
}

static struct onednn_key key_of(const struct lab_call *call,
                                enum onednn_way way, const struct lab_view *x,
                                const struct lab_view *conv)
{
    struct lab_conv2d s = lab_conv2d_of(call, x, conv);
    struct onednn_key key = onednn_key(recipe, way);
    onednn_set_windows(&key, &s.x, &s.y, &s.win);
    return key;
}

static enum lab_status conv2d_conv_forward(const struct lab_call *call)
{
    struct onednn_key key =
        key_of(call, ONEDNN_FORWARD, &call->in[0], &call->out[0]);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data};
    return onednn_finish(onednn_run(&key, data));
}

static enum lab_status conv2d_conv_backward(const struct lab_call *call)
{
    struct onednn_key key =
        key_of(call, ONEDNN_WEIGHTS, &call->in[1], &call->in[0]);
    void *dW[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[1].data,
                                 call->in[0].data};
    void *dx[ONEDNN_MAX_ARGS] = {call->out[1].data, call->in[2].data,
                                 call->in[0].data};
    enum lab_status st = onednn_run(&key, dW);
    key.way = ONEDNN_BACKWARD;
    if (!st && call->out[1].data)
        st = onednn_run(&key, dx);
    return onednn_finish(st);
}

#define FILE_NAME "conv2d/conv2d_onednn.c"

#define ROW(phase_id, fn)                                                      \
    {                                                                          \
        .name = "onednn", .step = "conv", .phase = phase_id, .run = fn,        \
        .source = "kernels/" FILE_NAME, .symbol = #fn,                         \
        .prepare = lab_conv2d_plain                                            \
    }

static const struct lab_variant rows[] = {
    ROW(LAB_FORWARD, conv2d_conv_forward),
    ROW(LAB_BACKWARD, conv2d_conv_backward),
};

const struct lab_kernel_set lab_onednn_conv2d = {"conv2d", rows, 2};
