/* kernels/library/norm_onednn.c -- the steps `normalize` of batch_norm and
 * layer_norm by oneDNN. Its primitives take mean and variance and do the whole
 * layer; what they are given here makes them do this one step:
 *
 *   forward    the step's mean, and 1/rstd^2 for the variance, with eps 0
 *   backward   xhat for the data, mean 0, variance 1; what is left out is the
 *              factor rstd, which a loop multiplies in
 *
 * The statistics themselves it gives only together with the layer's result, so
 * `stats` stays with the reference, and `scale` with it. */

#include "base/mem.h"
#include "batch_norm/batch_norm.h"
#include "library/onednn.h"

/* Normalised over the rest, one group a channel (batch) or a row (layer). */
struct norm {
    bool batch;
    int64_t outer; /* rows, for a layer */
    int64_t C;     /* channels, or columns */
    int64_t inner; /* 1 for a layer */
};

static struct norm batch_of(const struct lab_call *call, int64_t C)
{
    const struct lab_batch_norm_params *p = call->params;
    return (struct norm){.batch = true,
                         .outer = call->out[0].count / (C * p->inner),
                         .C = C,
                         .inner = p->inner};
}

static struct norm layer_of(const struct lab_call *call)
{
    return (struct norm){.outer = lab_view_rows(&call->out[0]),
                         .C = lab_view_cols(&call->out[0]),
                         .inner = 1};
}

static int64_t groups(const struct norm *n)
{
    return n->batch ? n->C : n->outer;
}

/* Which group element i belongs to. */
static int64_t group_of(const struct norm *n, int64_t i)
{
    return n->batch ? i / n->inner % n->C : i / n->C;
}

/* ---- the primitives ---- */

static dnnl_status_t describe(dnnl_memory_desc_t *data,
                              dnnl_memory_desc_t *stat,
                              const struct onednn_key *key)
{
    const int64_t side[] = {1, key->k};
    const int64_t strides[] = {key->m * key->k, key->k, key->k, 1};
    dnnl_status_t code = onednn_vector(stat, key->batch ? key->m : key->n);
    if (code)
        return code;
    return key->batch ? onednn_tensor4(data, key->n, key->m, side, strides)
                      : onednn_matrix(data, key->n, key->m, false);
}

/* forward: xhat, x, mean, variance (eps is 0); backward: dx, x, mean, variance,
 * dxhat. (n, m, k): m channels with `batch`, else m columns and k is 1. */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    bool back = key->way == ONEDNN_BACKWARD;
    unsigned flags =
        back ? dnnl_normalization_flags_none : dnnl_use_global_stats;
    dnnl_memory_desc_t data;
    dnnl_memory_desc_t stat;
    dnnl_batch_normalization_desc_t batch;
    dnnl_layer_normalization_desc_t layer;
    const void *desc = key->batch ? (void *)&batch : (void *)&layer;
    dnnl_status_t code = describe(&data, &stat, key);
    if (!code)
        code = key->batch
                   ? dnnl_batch_normalization_forward_desc_init(
                         &batch, dnnl_forward_training, &data, 0, flags)
                   : dnnl_layer_normalization_forward_desc_init(
                         &layer, dnnl_forward_training, &data, &stat, 0, flags);
    if (!code)
        code = onednn_describe(r, desc, engine);
    if (!code && back)
        code = key->batch
                   ? dnnl_batch_normalization_backward_desc_init(
                         &batch, dnnl_backward_data, &data, &data, 0, flags)
                   : dnnl_layer_normalization_backward_desc_init(
                         &layer, dnnl_backward_data, &data, &data, &stat, 0,
                         flags);
    if (!code && back)
        code = onednn_describe(r, desc, engine);
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST, &data);
    onednn_add_arg(r, DNNL_ARG_SRC, &data);
    onednn_add_arg(r, DNNL_ARG_MEAN, &stat);
    onednn_add_arg(r, DNNL_ARG_VARIANCE, &stat);
    if (back)
        onednn_add_arg(r, DNNL_ARG_DIFF_DST, &data);
    return code;
}

/* ---- the steps ---- */

static struct onednn_key key_of(const struct norm *n, enum onednn_way way)
{
    struct onednn_key key = onednn_key(recipe, way);
    key.batch = n->batch;
    key.n = n->outer;
    key.m = n->C;
    key.k = n->inner;
    return key;
}

/* Room for two rows of a number a group, one after the other. */
static float *take_stats(const struct norm *n)
{
    float *room = lab_alloc_array(2 * (size_t)groups(n), sizeof(*room));
    if (!room)
        lab_fail(LAB_E_NOMEM, "oneDNN: no memory to normalize");
    return room;
}

/* in: x, mean, rstd */
static enum lab_status forward(const struct lab_call *call,
                               const struct norm *n)
{
    struct onednn_key key = key_of(n, ONEDNN_FORWARD);
    const float *rstd = call->in[2].data;
    if (call->out[0].count == 0)
        return LAB_OK;
    float *variance = take_stats(n);
    if (!variance)
        return onednn_finish(LAB_E_NOMEM);
    for (int64_t g = 0; g < groups(n); g++)
        variance[g] = 1 / (rstd[g] * rstd[g]);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data, variance};
    enum lab_status st = onednn_run(&key, data);
    lab_free(variance);
    return onednn_finish(st);
}

/* in: dxhat, xhat, rstd */
static enum lab_status backward(const struct lab_call *call,
                                const struct norm *n)
{
    struct onednn_key key = key_of(n, ONEDNN_BACKWARD);
    const float *rstd = call->in[2].data;
    float *dx = call->out[0].data;
    if (call->out[0].count == 0)
        return LAB_OK;
    float *mean = take_stats(n);
    if (!mean)
        return onednn_finish(LAB_E_NOMEM);
    float *variance = mean + groups(n);
    for (int64_t g = 0; g < groups(n); g++) {
        mean[g] = 0;
        variance[g] = 1;
    }
    void *data[ONEDNN_MAX_ARGS] = {dx, call->in[1].data, mean, variance,
                                   call->in[0].data};
    enum lab_status st = onednn_run(&key, data);
    for (int64_t i = 0; !st && i < call->out[0].count; i++)
        dx[i] *= rstd[group_of(n, i)];
    lab_free(mean);
    return onednn_finish(st);
}

static enum lab_status batch_norm_forward(const struct lab_call *call)
{
    struct norm n = batch_of(call, call->in[2].count);
    return forward(call, &n);
}

static enum lab_status batch_norm_backward(const struct lab_call *call)
{
    struct norm n = batch_of(call, call->in[2].count);
    return backward(call, &n);
}

static enum lab_status layer_norm_forward(const struct lab_call *call)
{
    struct norm n = layer_of(call);
    return forward(call, &n);
}

static enum lab_status layer_norm_backward(const struct lab_call *call)
{
    struct norm n = layer_of(call);
    return backward(call, &n);
}

#define FILE_NAME "library/norm_onednn.c"

static const struct lab_variant batch_rows[] = {
    ONEDNN_ROW(FILE_NAME, "normalize", LAB_FORWARD, batch_norm_forward),
    ONEDNN_ROW(FILE_NAME, "normalize", LAB_BACKWARD, batch_norm_backward),
};
static const struct lab_variant layer_rows[] = {
    ONEDNN_ROW(FILE_NAME, "normalize", LAB_FORWARD, layer_norm_forward),
    ONEDNN_ROW(FILE_NAME, "normalize", LAB_BACKWARD, layer_norm_backward),
};

const struct lab_kernel_set lab_onednn_batch_norm = {"batch_norm", batch_rows,
                                                     2};
const struct lab_kernel_set lab_onednn_layer_norm = {"layer_norm", layer_rows,
                                                     2};
