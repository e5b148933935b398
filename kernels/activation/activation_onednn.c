/* kernels/activation/activation_onednn.c -- the activations by oneDNN. Not the
 * forward step of relu: oneDNN's gives 0 where the input is NaN, and a debugger
 * must show the NaN. */
#include "activation/activation.h"
#include "dense/dense.h"
#include "library/onednn.h"

/* oneDNN's function and its alpha: relu's slope on the left, swish's factor inside
 * sigmoid. */
struct eltwise {
    dnnl_alg_kind_t alg;
    double alpha;
};

static struct eltwise eltwise_of(int activation, double slope)
{
    static const struct eltwise of[] = {
        [LAB_ACT_RELU] = {dnnl_eltwise_relu},
        [LAB_ACT_SIGMOID] = {dnnl_eltwise_logistic_use_dst_for_bwd},
        [LAB_ACT_TANH] = {dnnl_eltwise_tanh_use_dst_for_bwd},
        [LAB_ACT_GELU_TANH] = {dnnl_eltwise_gelu_tanh},
        [LAB_ACT_GELU_ERF] = {dnnl_eltwise_gelu_erf},
        [LAB_ACT_SOFTPLUS] = {dnnl_eltwise_soft_relu},
        [LAB_ACT_SWISH] = {dnnl_eltwise_swish, 1},
    };
    return activation == LAB_ACT_LEAKY_RELU
               ? (struct eltwise){dnnl_eltwise_relu, slope}
               : of[activation];
}

/* Is backward computed from y in the place of x? */
static bool from_y(dnnl_alg_kind_t alg)
{
    return alg == dnnl_eltwise_tanh_use_dst_for_bwd ||
           alg == dnnl_eltwise_logistic_use_dst_for_bwd;
}

/* Of n elements. forward: y, x; backward: dx, dy, and x or y */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    bool back = key->way == ONEDNN_BACKWARD;
    dnnl_memory_desc_t md;
    dnnl_eltwise_desc_t desc;
    dnnl_status_t code = onednn_vector(&md, key->n);
    if (!code)
        code = dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training,
                                              key->alg, &md, key->alpha, 0);
    if (!code)
        code = onednn_describe(r, &desc, engine);
    if (!code && back)
        code = dnnl_eltwise_backward_desc_init(&desc, key->alg, &md, &md,
                                               key->alpha, 0);
    if (!code && back)
        code = onednn_describe(r, &desc, engine);
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST, &md);
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC, &md);
    if (back)
        onednn_add_arg(r, from_y(key->alg) ? DNNL_ARG_DST : DNNL_ARG_SRC, &md);
    return code;
}

static enum lab_status run(enum onednn_way way, struct eltwise e,
                           const struct lab_view *out, void *first,
                           void *second)
{
    struct onednn_key key = onednn_key(recipe, way);
    void *data[ONEDNN_MAX_ARGS] = {out->data, first, second};
    key.alg = e.alg;
    key.alpha = (float)e.alpha;
    key.n = out->count;
    return key.n > 0 ? onednn_run(&key, data) : LAB_OK;
}

enum lab_status onednn_activate(const struct lab_view *y,
                                const struct lab_view *x, int activation,
                                double slope)
{
    return run(ONEDNN_FORWARD, eltwise_of(activation, slope), y, x->data, NULL);
}

/* An activation's two steps. */
static enum lab_status forward(const struct lab_call *call, int activation,
                               double slope)
{
    return onednn_finish(
        onednn_activate(&call->out[0], &call->in[0], activation, slope));
}

static enum lab_status backward(const struct lab_call *call, int activation,
                                double slope)
{
    struct eltwise e = eltwise_of(activation, slope);
    return onednn_finish(run(ONEDNN_BACKWARD, e, &call->out[0],
                             call->in[0].data,
                             call->in[from_y(e.alg) ? 2 : 1].data));
}

static enum lab_status relu_backward(const struct lab_call *call)
{
    return backward(call, LAB_ACT_RELU, 0);
}

static enum lab_activation gelu_kind(const struct lab_call *call)
{
    const struct lab_gelu_params *p = call->params;
    return p->tanh ? LAB_ACT_GELU_TANH : LAB_ACT_GELU_ERF;
}

static double leaky_slope(const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    return p->slope;
}

/* ---- the tables ---- */

#define ROW(op, phase_id, fn, text)                                            \
    {                                                                          \
        .name = "onednn", .step = op, .phase = phase_id, .run = fn,            \
        .source = "kernels/activation/activation_onednn.c", .symbol = text     \
    }

/* An op's two steps and its table; `activation` and `slope` may read `call`. */
#define ACTIVATION(op, activation, slope)                                      \
    static enum lab_status op##_forward(const struct lab_call *call)           \
    {                                                                          \
        return forward(call, activation, slope);                               \
    }                                                                          \
    static enum lab_status op##_backward(const struct lab_call *call)          \
    {                                                                          \
        return backward(call, activation, slope);                              \
    }                                                                          \
    static const struct lab_variant op##_rows[] = {                            \
        ROW(#op, LAB_FORWARD, op##_forward, "forward"),                        \
        ROW(#op, LAB_BACKWARD, op##_backward, "backward"),                     \
    };                                                                         \
    const struct lab_kernel_set lab_onednn_##op = {#op, op##_rows, 2};

static const struct lab_variant relu_rows[] = {
    ROW("relu", LAB_BACKWARD, relu_backward, "relu_backward"),
};
const struct lab_kernel_set lab_onednn_relu = {"relu", relu_rows, 1};

ACTIVATION(leaky_relu, LAB_ACT_LEAKY_RELU, leaky_slope(call))
ACTIVATION(sigmoid, LAB_ACT_SIGMOID, 0)
ACTIVATION(tanh, LAB_ACT_TANH, 0)
ACTIVATION(gelu, gelu_kind(call), 0)
ACTIVATION(softplus, LAB_ACT_SOFTPLUS, 0)
ACTIVATION(swish, LAB_ACT_SWISH, 0)
