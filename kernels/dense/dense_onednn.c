/* kernels/dense/dense_onednn.c -- a dense layer by oneDNN: its products, and the
 * whole layer. */
#include <string.h>

#include "dense/dense.h"
#include "library/onednn.h"

/* C (n, m), A, B summed over k, and a row `bias` of m numbers if key->bias. */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    dnnl_memory_desc_t C;
    dnnl_memory_desc_t A;
    dnnl_memory_desc_t B;
    dnnl_memory_desc_t bias;
    dnnl_matmul_desc_t desc;
    dnnl_status_t code = onednn_matrix(&C, key->n, key->m, false);
    if (!code)
        code = onednn_matrix(&A, key->n, key->k, key->flip_a);
    if (!code)
        code = onednn_matrix(&B, key->k, key->m, key->flip_b);
    if (!code)
        code = onednn_matrix(&bias, 1, key->m, false);
    if (!code)
        code =
            dnnl_matmul_desc_init(&desc, &A, &B, key->bias ? &bias : NULL, &C);
    if (code)
        return code;
    onednn_add_arg(r, DNNL_ARG_DST, &C);
    onednn_add_arg(r, DNNL_ARG_SRC, &A);
    onednn_add_arg(r, DNNL_ARG_WEIGHTS, &B);
    if (key->bias)
        onednn_add_arg(r, DNNL_ARG_BIAS, &bias);
    return onednn_describe(r, &desc, engine);
}

/* C (n, m) = op(A) op(B) [+ bias] */
static enum lab_status multiply(struct onednn_key *key, void *C, void *A,
                                void *B, void *bias)
{
    void *data[ONEDNN_MAX_ARGS] = {C, A, B, bias};
    if (key->n == 0 || key->m == 0)
        return LAB_OK;
    if (key->k == 0 && !key->bias) { /* an empty sum; oneDNN leaves C alone */
        memset(C, 0, (size_t)key->n * (size_t)key->m * sizeof(float));
        return LAB_OK;
    }
    if (key->k == 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.onednn-dense] oneDNN: dense of no inputs");
    return onednn_run(key, data);
}

static enum lab_status dense_forward(const struct lab_call *call, void *bias)
{
    struct onednn_key key = onednn_key(recipe, ONEDNN_FORWARD);
    key.n = lab_view_rows(&call->out[0]);
    key.k = lab_view_cols(&call->in[0]);
    key.m = lab_view_cols(&call->in[1]);
    key.bias = bias != NULL;
    return multiply(&key, call->out[0].data, call->in[0].data, call->in[1].data,
                    bias);
}

static enum lab_status dense_matmul_forward(const struct lab_call *call)
{
    return onednn_finish(dense_forward(call, NULL));
}

/* dW (K, M) = x^T dxW,  dx (N, K) = dxW W^T */
static enum lab_status dense_matmul_backward(const struct lab_call *call)
{
    int64_t N = lab_view_rows(&call->in[1]);
    int64_t K = lab_view_cols(&call->in[1]);
    int64_t M = lab_view_cols(&call->in[2]);
    struct onednn_key dW = onednn_key(recipe, ONEDNN_FORWARD);
    dW.n = K;
    dW.k = N;
    dW.m = M;
    dW.flip_a = true;
    enum lab_status st = multiply(&dW, call->out[0].data, call->in[1].data,
                                  call->in[0].data, NULL);
    if (st || !call->out[1].data)
        return onednn_finish(st);
    struct onednn_key dx = onednn_key(recipe, ONEDNN_FORWARD);
    dx.n = N;
    dx.k = M;
    dx.m = K;
    dx.flip_b = true;
    return onednn_finish(multiply(&dx, call->out[1].data, call->in[0].data,
                                  call->in[2].data, NULL));
}

/* Not by oneDNN, which would turn NaN into 0. */
static enum lab_status relu(const struct lab_view *y, const struct lab_view *x)
{
    const float *from = x->data;
    float *to = y->data;
    for (int64_t i = 0; i < y->count; i++)
        to[i] = from[i] < 0 ? 0 : from[i];
    return LAB_OK;
}

/* The whole layer: product and bias in one primitive. The activation is a
 * second one on what is still in the cache: both results are wanted. */
static enum lab_status dense_group_forward(const struct lab_call *call)
{
    const struct lab_dense_params *p = call->params;
    enum lab_status st = dense_forward(call, call->in[2].data);
    if (st || p->activation == LAB_ACT_NONE || !call->out[1].data)
        return onednn_finish(st);
    if (p->activation == LAB_ACT_RELU)
        return relu(&call->out[1], &call->out[0]);
    return onednn_finish(
        onednn_activate(&call->out[1], &call->out[0], p->activation, p->slope));
}

#define FILE_NAME "dense/dense_onednn.c"

static const struct lab_variant rows[] = {
    ONEDNN_ROW(FILE_NAME, "matmul", LAB_FORWARD, dense_matmul_forward),
    ONEDNN_ROW(FILE_NAME, "matmul", LAB_BACKWARD, dense_matmul_backward),
    {.name = "onednn",
     .step = NULL,
     .phase = LAB_FORWARD,
     .run = dense_group_forward,
     .source = "kernels/" FILE_NAME,
     .symbol = "dense_group_forward",
     .absorbs_activation = true,
     .steps_first = true},
};

const struct lab_kernel_set lab_onednn_dense = {"dense", rows, 3};
