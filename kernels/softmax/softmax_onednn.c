/* kernels/softmax/softmax_onednn.c -- softmax by oneDNN. */
#include <math.h>

#include "library/onednn.h"

/* Of n rows and m columns. forward: y, x; backward: dx, dy, y */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    bool back = key->way == ONEDNN_BACKWARD;
    dnnl_memory_desc_t md;
    dnnl_softmax_desc_t desc;
    dnnl_status_t code = onednn_matrix(&md, key->n, key->m, false);
    if (!code)
        code = dnnl_softmax_forward_desc_init(&desc, dnnl_forward_training, &md,
                                              1);
    if (!code)
        code = onednn_describe(r, &desc, engine);
    if (!code && back)
        code = dnnl_softmax_backward_desc_init(&desc, &md, &md, 1);
    if (!code && back)
        code = onednn_describe(r, &desc, engine);
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST, &md);
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC, &md);
    if (back)
        onednn_add_arg(r, DNNL_ARG_DST, &md);
    return code;
}

/* Where x holds NaN or infinity, not by oneDNN, which gives 0 for NaN. */
static void softmax_row(float *y, const float *x, int64_t C)
{
    float max = x[0];
    double sum = 0;
    for (int64_t c = 1; c < C; c++)
        max = x[c] > max ? x[c] : max;
    for (int64_t c = 0; c < C; c++) {
        y[c] = expf(x[c] - max);
        sum += y[c];
    }
    for (int64_t c = 0; c < C; c++)
        y[c] = (float)(y[c] / sum);
}

static enum lab_status softmax_forward(const struct lab_call *call)
{
    struct onednn_key key = onednn_key(recipe, ONEDNN_FORWARD);
    float *y = call->out[0].data;
    const float *x = call->in[0].data;
    void *data[ONEDNN_MAX_ARGS] = {y, call->in[0].data};
    key.n = lab_view_rows(&call->in[0]);
    key.m = lab_view_cols(&call->in[0]);
    if (key.n > 0 && onednn_all_finite(&call->in[0]))
        return onednn_finish(onednn_run(&key, data));
    for (int64_t r = 0; r < key.n; r++)
        softmax_row(y + r * key.m, x + r * key.m, key.m);
    return LAB_OK;
}

static enum lab_status softmax_backward(const struct lab_call *call)
{
    struct onednn_key key = onednn_key(recipe, ONEDNN_BACKWARD);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data};
    key.n = lab_view_rows(&call->in[0]);
    key.m = lab_view_cols(&call->in[0]);
    return onednn_finish(key.n > 0 ? onednn_run(&key, data) : LAB_OK);
}

#define FILE_NAME "softmax/softmax_onednn.c"

static const struct lab_variant rows[] = {
    ONEDNN_ROW(FILE_NAME, "softmax", LAB_FORWARD, softmax_forward),
    ONEDNN_ROW(FILE_NAME, "softmax", LAB_BACKWARD, softmax_backward),
};

const struct lab_kernel_set lab_onednn_softmax = {"softmax", rows, 2};
