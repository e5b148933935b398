/* The steps that oneDNN does, as rows of kernel tables. Not here: what it has
 * no primitive for (dropout, embedding, the losses), the statistics of the norms
 * (onednn_norm.c), the backward of add, which is a copy, and the forward step of
 * relu: oneDNN's gives 0 where the input is NaN, and a debugger must show the
 * NaN. */
#include <math.h>
#include <string.h>

#include "activation/activation.h"
#include "backend/cpu/onednn_abi.h"
#include "conv2d/conv2d.h"
#include "dense/dense.h"
#include "onednn_rows.h"
#include "onednn_recipe.h"
#include "softmax/softmax.h"

#define LAB_EXPORT __attribute__((visibility("default")))

/* Exported; declared here, as nothing links it. */
LAB_EXPORT lab_onednn_sets_fn lab_onednn_sets;

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
        return lab_fail(LAB_E_UNSUPPORTED, "oneDNN: dense of no inputs");
    return onednn_run(key, data);
}

static enum lab_status dense_forward(const struct lab_call *call, void *bias)
{
    struct onednn_key key = onednn_key(ONEDNN_MATMUL);
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
    struct onednn_key dW = onednn_key(ONEDNN_MATMUL);
    dW.n = K;
    dW.k = N;
    dW.m = M;
    dW.flip_a = true;
    enum lab_status st = multiply(&dW, call->out[0].data, call->in[1].data,
                                  call->in[0].data, NULL);
    if (st || !call->out[1].data)
        return onednn_finish(st);
    struct onednn_key dx = onednn_key(ONEDNN_MATMUL);
    dx.n = N;
    dx.k = M;
    dx.m = K;
    dx.flip_b = true;
    return onednn_finish(multiply(&dx, call->out[1].data, call->in[0].data,
                                  call->in[2].data, NULL));
}

static enum lab_status eltwise_forward(const struct lab_view *y,
                                       const struct lab_view *x,
                                       dnnl_alg_kind_t alg, double alpha)
{
    struct onednn_key key = onednn_key(ONEDNN_ELTWISE_FORWARD);
    void *data[ONEDNN_MAX_ARGS] = {y->data, x->data};
    key.alg = alg;
    key.alpha = (float)alpha;
    key.n = y->count;
    return key.n > 0 ? onednn_run(&key, data) : LAB_OK;
}

/* `saved` is x or y, whichever `alg` takes. */
static enum lab_status eltwise_backward(const struct lab_call *call,
                                        const struct lab_view *saved,
                                        dnnl_alg_kind_t alg, double alpha)
{
    struct onednn_key key = onednn_key(ONEDNN_ELTWISE_BACKWARD);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   saved->data};
    key.alg = alg;
    key.alpha = (float)alpha;
    key.n = call->out[0].count;
    return onednn_finish(key.n > 0 ? onednn_run(&key, data) : LAB_OK);
}

static dnnl_alg_kind_t activation_alg(enum lab_activation activation)
{
    switch (activation) {
    case LAB_ACT_RELU:
    case LAB_ACT_LEAKY_RELU:
        return dnnl_eltwise_relu;
    case LAB_ACT_SIGMOID:
        return dnnl_eltwise_logistic_use_dst_for_bwd;
    case LAB_ACT_TANH:
        return dnnl_eltwise_tanh_use_dst_for_bwd;
    case LAB_ACT_GELU_TANH:
        return dnnl_eltwise_gelu_tanh;
    case LAB_ACT_GELU_ERF:
        return dnnl_eltwise_gelu_erf;
    case LAB_ACT_SOFTPLUS:
        return dnnl_eltwise_soft_relu;
    case LAB_ACT_SWISH:
        return dnnl_eltwise_swish;
    case LAB_ACT_NONE:
        break;
    }
    return dnnl_alg_kind_undef;
}

/* oneDNN's alpha: relu's slope on the left, swish's factor inside sigmoid. */
static double activation_alpha(enum lab_activation activation, double slope)
{
    if (activation == LAB_ACT_LEAKY_RELU)
        return slope;
    return activation == LAB_ACT_SWISH ? 1 : 0;
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
    return onednn_finish(eltwise_forward(
        &call->out[1], &call->out[0], activation_alg(p->activation),
        activation_alpha(p->activation, p->slope)));
}

static struct onednn_key conv_key(const struct lab_call *call,
                                  enum onednn_kind kind,
                                  const struct lab_view *x,
                                  const struct lab_view *conv)
{
    struct lab_conv2d s = lab_conv2d_of(call, x, conv);
    struct onednn_key key = onednn_key(kind);
    key.recipe = onednn_conv_recipe;
    key.conv.nhwc = s.win.nhwc;
    key.conv.N = s.x.N;
    key.conv.C = s.x.C;
    key.conv.M = s.y.C;
    key.conv.in[0] = s.x.H;
    key.conv.in[1] = s.x.W;
    key.conv.out[0] = s.y.H;
    key.conv.out[1] = s.y.W;
    for (int i = 0; i < 2; i++) {
        key.conv.kernel[i] = s.win.size[i];
        key.conv.stride[i] = s.win.stride[i];
        key.conv.pad[i] = s.win.pad[i];
    }
    return key;
}

static enum lab_status conv2d_conv_forward(const struct lab_call *call)
{
    struct onednn_key key =
        conv_key(call, ONEDNN_CONV_FORWARD, &call->in[0], &call->out[0]);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data};
    return onednn_finish(onednn_run(&key, data));
}

static enum lab_status conv2d_conv_backward(const struct lab_call *call)
{
    struct onednn_key key =
        conv_key(call, ONEDNN_CONV_WEIGHTS, &call->in[1], &call->in[0]);
    void *dW[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[1].data,
                                 call->in[0].data};
    void *dx[ONEDNN_MAX_ARGS] = {call->out[1].data, call->in[2].data,
                                 call->in[0].data};
    enum lab_status st = onednn_run(&key, dW);
    key.kind = ONEDNN_CONV_DATA;
    if (!st && call->out[1].data)
        st = onednn_run(&key, dx);
    return onednn_finish(st);
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
    struct onednn_key key = onednn_key(ONEDNN_SOFTMAX_FORWARD);
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
    struct onednn_key key = onednn_key(ONEDNN_SOFTMAX_BACKWARD);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data};
    key.n = lab_view_rows(&call->in[0]);
    key.m = lab_view_cols(&call->in[0]);
    return onednn_finish(key.n > 0 ? onednn_run(&key, data) : LAB_OK);
}

static enum lab_status add_forward(const struct lab_call *call)
{
    struct onednn_key key = onednn_key(ONEDNN_ADD);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data};
    key.n = call->out[0].count;
    return onednn_finish(key.n > 0 ? onednn_run(&key, data) : LAB_OK);
}

/* An activation's two steps. */
static enum lab_status activate(const struct lab_call *call,
                                enum lab_activation activation, double slope)
{
    return onednn_finish(eltwise_forward(&call->out[0], &call->in[0],
                                         activation_alg(activation),
                                         activation_alpha(activation, slope)));
}

static enum lab_status activate_back(const struct lab_call *call,
                                     enum lab_activation activation,
                                     double slope)
{
    bool from_y = activation == LAB_ACT_SIGMOID || activation == LAB_ACT_TANH;
    return eltwise_backward(call, &call->in[from_y ? 2 : 1],
                            activation_alg(activation),
                            activation_alpha(activation, slope));
}

static enum lab_status relu_backward(const struct lab_call *call)
{
    return activate_back(call, LAB_ACT_RELU, 0);
}

static enum lab_status leaky_relu_forward(const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    return activate(call, LAB_ACT_LEAKY_RELU, p->slope);
}

static enum lab_status leaky_relu_backward(const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    return activate_back(call, LAB_ACT_LEAKY_RELU, p->slope);
}

static enum lab_status sigmoid_forward(const struct lab_call *call)
{
    return activate(call, LAB_ACT_SIGMOID, 0);
}

static enum lab_status sigmoid_backward(const struct lab_call *call)
{
    return activate_back(call, LAB_ACT_SIGMOID, 0);
}

static enum lab_status tanh_forward(const struct lab_call *call)
{
    return activate(call, LAB_ACT_TANH, 0);
}

static enum lab_status tanh_backward(const struct lab_call *call)
{
    return activate_back(call, LAB_ACT_TANH, 0);
}

static enum lab_status gelu_forward(const struct lab_call *call)
{
    const struct lab_gelu_params *p = call->params;
    enum lab_activation kind = p->tanh ? LAB_ACT_GELU_TANH : LAB_ACT_GELU_ERF;
    return activate(call, kind, 0);
}

static enum lab_status gelu_backward(const struct lab_call *call)
{
    const struct lab_gelu_params *p = call->params;
    enum lab_activation kind = p->tanh ? LAB_ACT_GELU_TANH : LAB_ACT_GELU_ERF;
    return activate_back(call, kind, 0);
}

static enum lab_status softplus_forward(const struct lab_call *call)
{
    return activate(call, LAB_ACT_SOFTPLUS, 0);
}

static enum lab_status softplus_backward(const struct lab_call *call)
{
    return activate_back(call, LAB_ACT_SOFTPLUS, 0);
}

static enum lab_status swish_forward(const struct lab_call *call)
{
    return activate(call, LAB_ACT_SWISH, 0);
}

static enum lab_status swish_backward(const struct lab_call *call)
{
    return activate_back(call, LAB_ACT_SWISH, 0);
}

#define ONEDNN_ROW(step_name, phase_id, fn)                                    \
    {                                                                          \
        .name = "onednn", .step = step_name, .phase = phase_id, .run = fn,     \
        .source = "src/engine/backend/cpu/onednn/onednn_ops.c", .symbol = #fn  \
    }
#define ONEDNN_COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const struct lab_variant dense_rows[] = {
    ONEDNN_ROW("matmul", LAB_FORWARD, dense_matmul_forward),
    ONEDNN_ROW("matmul", LAB_BACKWARD, dense_matmul_backward),
    {.name = "onednn",
     .step = NULL,
     .phase = LAB_FORWARD,
     .run = dense_group_forward,
     .source = "src/engine/backend/cpu/onednn/onednn_ops.c",
     .symbol = "dense_group_forward",
     .absorbs_activation = true},
};
static const struct lab_variant conv2d_rows[] = {
    ONEDNN_ROW("conv", LAB_FORWARD, conv2d_conv_forward),
    ONEDNN_ROW("conv", LAB_BACKWARD, conv2d_conv_backward),
};
static const struct lab_variant relu_rows[] = {
    ONEDNN_ROW("relu", LAB_BACKWARD, relu_backward),
};
static const struct lab_variant leaky_relu_rows[] = {
    ONEDNN_ROW("leaky_relu", LAB_FORWARD, leaky_relu_forward),
    ONEDNN_ROW("leaky_relu", LAB_BACKWARD, leaky_relu_backward),
};
static const struct lab_variant sigmoid_rows[] = {
    ONEDNN_ROW("sigmoid", LAB_FORWARD, sigmoid_forward),
    ONEDNN_ROW("sigmoid", LAB_BACKWARD, sigmoid_backward),
};
static const struct lab_variant tanh_rows[] = {
    ONEDNN_ROW("tanh", LAB_FORWARD, tanh_forward),
    ONEDNN_ROW("tanh", LAB_BACKWARD, tanh_backward),
};
static const struct lab_variant gelu_rows[] = {
    ONEDNN_ROW("gelu", LAB_FORWARD, gelu_forward),
    ONEDNN_ROW("gelu", LAB_BACKWARD, gelu_backward),
};
static const struct lab_variant softplus_rows[] = {
    ONEDNN_ROW("softplus", LAB_FORWARD, softplus_forward),
    ONEDNN_ROW("softplus", LAB_BACKWARD, softplus_backward),
};
static const struct lab_variant swish_rows[] = {
    ONEDNN_ROW("swish", LAB_FORWARD, swish_forward),
    ONEDNN_ROW("swish", LAB_BACKWARD, swish_backward),
};
static const struct lab_variant softmax_rows[] = {
    ONEDNN_ROW("softmax", LAB_FORWARD, softmax_forward),
    ONEDNN_ROW("softmax", LAB_BACKWARD, softmax_backward),
};
#define ONEDNN_ROW_IN(file, step_name, phase_id, fn)                           \
    {                                                                          \
        .name = "onednn", .step = step_name, .phase = phase_id, .run = fn,     \
        .source = "src/engine/cpu/onednn/" file, .symbol = #fn                 \
    }
static const struct lab_variant max_pool_rows[] = {
    ONEDNN_ROW_IN("onednn_pool.c", "pool", LAB_FORWARD,
                  onednn_max_pool_forward),
    ONEDNN_ROW_IN("onednn_pool.c", "pool", LAB_BACKWARD,
                  onednn_max_pool_backward),
};
static const struct lab_variant avg_pool_rows[] = {
    ONEDNN_ROW_IN("onednn_pool.c", "pool", LAB_FORWARD,
                  onednn_avg_pool_forward),
    ONEDNN_ROW_IN("onednn_pool.c", "pool", LAB_BACKWARD,
                  onednn_avg_pool_backward),
};
static const struct lab_variant batch_norm_rows[] = {
    ONEDNN_ROW_IN("onednn_norm.c", "normalize", LAB_FORWARD,
                  onednn_batch_norm_forward),
    ONEDNN_ROW_IN("onednn_norm.c", "normalize", LAB_BACKWARD,
                  onednn_batch_norm_backward),
};
static const struct lab_variant layer_norm_rows[] = {
    ONEDNN_ROW_IN("onednn_norm.c", "normalize", LAB_FORWARD,
                  onednn_layer_norm_forward),
    ONEDNN_ROW_IN("onednn_norm.c", "normalize", LAB_BACKWARD,
                  onednn_layer_norm_backward),
};
static const struct lab_variant add_rows[] = {
    ONEDNN_ROW("add", LAB_FORWARD, add_forward),
};
/* Two tables: a row of one op may be withdrawn and the other's not. */
static const struct lab_variant lstm_rows[] = {
    ONEDNN_ROW_IN("onednn_recurrent.c", NULL, LAB_FORWARD,
                  onednn_recurrent_forward),
    ONEDNN_ROW_IN("onednn_recurrent.c", NULL, LAB_BACKWARD,
                  onednn_recurrent_backward),
};
static const struct lab_variant rnn_rows[] = {
    ONEDNN_ROW_IN("onednn_recurrent.c", NULL, LAB_FORWARD,
                  onednn_recurrent_forward),
    ONEDNN_ROW_IN("onednn_recurrent.c", NULL, LAB_BACKWARD,
                  onednn_recurrent_backward),
};
static const struct lab_kernel_set sets[] = {
    {"dense", dense_rows, ONEDNN_COUNT(dense_rows)},
    {"conv2d", conv2d_rows, ONEDNN_COUNT(conv2d_rows)},
    {"relu", relu_rows, ONEDNN_COUNT(relu_rows)},
    {"leaky_relu", leaky_relu_rows, ONEDNN_COUNT(leaky_relu_rows)},
    {"sigmoid", sigmoid_rows, ONEDNN_COUNT(sigmoid_rows)},
    {"tanh", tanh_rows, ONEDNN_COUNT(tanh_rows)},
    {"gelu", gelu_rows, ONEDNN_COUNT(gelu_rows)},
    {"softplus", softplus_rows, ONEDNN_COUNT(softplus_rows)},
    {"swish", swish_rows, ONEDNN_COUNT(swish_rows)},
    {"softmax", softmax_rows, ONEDNN_COUNT(softmax_rows)},
    {"max_pool2d", max_pool_rows, ONEDNN_COUNT(max_pool_rows)},
    {"avg_pool2d", avg_pool_rows, ONEDNN_COUNT(avg_pool_rows)},
    {"batch_norm", batch_norm_rows, ONEDNN_COUNT(batch_norm_rows)},
    {"layer_norm", layer_norm_rows, ONEDNN_COUNT(layer_norm_rows)},
    {"add", add_rows, ONEDNN_COUNT(add_rows)},
    {"lstm", lstm_rows, ONEDNN_COUNT(lstm_rows)},
    {"rnn", rnn_rows, ONEDNN_COUNT(rnn_rows)},
};

const struct lab_kernel_set *lab_onednn_sets(int *count, int *abi)
{
    *abi = LAB_ONEDNN_ABI;
    *count = 0;
    if (onednn_finish(onednn_start()))
        return NULL;
    *count = ONEDNN_COUNT(sets);
    return sets;
}
