/* The convolution's primitives. Images and weights stay as they lie in memory:
 * strides say how, so that nothing is turned before or after. */
#include "onednn_recipe.h"

/* A tensor that oneDNN calls [A, B, H, W], stored last axis first in the order
 * that the strides give. */
static dnnl_status_t describe(dnnl_memory_desc_t *md, int64_t A, int64_t B,
                              const int64_t side[2], const int64_t strides[4])
{
    dnnl_dims_t dims = {A, B, side[0], side[1]};
    dnnl_dims_t step = {strides[0], strides[1], strides[2], strides[3]};
    return dnnl_memory_desc_init_by_strides(md, 4, dims, dnnl_f32, step);
}

dnnl_status_t onednn_image(dnnl_memory_desc_t *md, bool nhwc, int64_t N,
                           int64_t C, const int64_t side[2])
{
    const int64_t hw = side[0] * side[1];
    const int64_t nchw_step[] = {C * hw, hw, side[1], 1};
    const int64_t nhwc_step[] = {C * hw, 1, side[1] * C, C};
    return describe(md, N, C, side, nhwc ? nhwc_step : nchw_step);
}

static dnnl_status_t weights(dnnl_memory_desc_t *md,
                             const struct onednn_conv *c)
{
    const int64_t k2 = c->kernel[0] * c->kernel[1];
    const int64_t mchw[] = {c->C * k2, k2, c->kernel[1], 1};
    const int64_t hwcm[] = {1, c->M, c->kernel[1] * c->C * c->M, c->C * c->M};
    return describe(md, c->M, c->C, c->kernel, c->nhwc ? hwcm : mchw);
}

struct tensors {
    dnnl_memory_desc_t x;
    dnnl_memory_desc_t Wt;
    dnnl_memory_desc_t y;
    dnnl_dims_t stride; /* as long as oneDNN declares them; two count */
    dnnl_dims_t before;
    dnnl_dims_t after; /* padding below and to the right */
};

int64_t onednn_pad_after(const struct onednn_conv *c, int axis)
{
    int64_t after = (c->out[axis] - 1) * c->stride[axis] + c->kernel[axis] -
                    c->in[axis] - c->pad[axis];
    return after < 0 ? 0 : after; /* rows that no window reaches */
}

static void set_steps(struct tensors *t, const struct onednn_conv *c)
{
    for (int i = 0; i < 2; i++) {
        t->stride[i] = c->stride[i];
        t->before[i] = c->pad[i];
        t->after[i] = onednn_pad_after(c, i);
    }
}

static dnnl_status_t forward(struct onednn_recipe *r, const struct tensors *t,
                             dnnl_engine_t engine)
{
    dnnl_convolution_desc_t desc;
    dnnl_status_t code = dnnl_convolution_forward_desc_init(
        &desc, dnnl_forward_training, dnnl_convolution_direct, &t->x, &t->Wt,
        NULL, &t->y, t->stride, t->before, t->after);
    if (code)
        return code;
    return dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, NULL);
}

static dnnl_status_t backward(struct onednn_recipe *r,
                              const struct onednn_key *key,
                              const struct tensors *t, dnnl_engine_t engine)
{
    dnnl_convolution_desc_t desc;
    dnnl_primitive_desc_t hint = r->desc;
    dnnl_status_t code;
    r->desc = NULL;
    if (key->kind == ONEDNN_CONV_WEIGHTS)
        code = dnnl_convolution_backward_weights_desc_init(
            &desc, dnnl_convolution_direct, &t->x, &t->Wt, NULL, &t->y,
            t->stride, t->before, t->after);
    else
        code = dnnl_convolution_backward_data_desc_init(
            &desc, dnnl_convolution_direct, &t->x, &t->Wt, &t->y, t->stride,
            t->before, t->after);
    if (!code)
        code = dnnl_primitive_desc_create(&r->desc, &desc, NULL, engine, hint);
    dnnl_primitive_desc_destroy(hint);
    return code;
}

static void add_args(struct onednn_recipe *r, enum onednn_kind kind,
                     const struct tensors *t)
{
    switch (kind) {
    case ONEDNN_CONV_WEIGHTS:
        onednn_add_arg(r, DNNL_ARG_DIFF_WEIGHTS, &t->Wt);
        onednn_add_arg(r, DNNL_ARG_SRC, &t->x);
        onednn_add_arg(r, DNNL_ARG_DIFF_DST, &t->y);
        break;
    case ONEDNN_CONV_DATA:
        onednn_add_arg(r, DNNL_ARG_DIFF_SRC, &t->x);
        onednn_add_arg(r, DNNL_ARG_WEIGHTS, &t->Wt);
        onednn_add_arg(r, DNNL_ARG_DIFF_DST, &t->y);
        break;
    default:
        onednn_add_arg(r, DNNL_ARG_DST, &t->y);
        onednn_add_arg(r, DNNL_ARG_SRC, &t->x);
        onednn_add_arg(r, DNNL_ARG_WEIGHTS, &t->Wt);
        break;
    }
}

dnnl_status_t onednn_conv_recipe(struct onednn_recipe *r,
                                 const struct onednn_key *key,
                                 dnnl_engine_t engine)
{
    const struct onednn_conv *c = &key->conv;
    struct tensors t;
    set_steps(&t, c);
    dnnl_status_t code = onednn_image(&t.x, c->nhwc, c->N, c->C, c->in);
    if (!code)
        code = weights(&t.Wt, c);
    if (!code)
        code = onednn_image(&t.y, c->nhwc, c->N, c->M, c->out);
    if (!code)
        code = forward(r, &t, engine);
    if (!code && key->kind != ONEDNN_CONV_FORWARD)
        code = backward(r, key, &t, engine);
    if (!code)
        add_args(r, key->kind, &t);
    return code;
}
