/* Every backward kernel against central differences of its own forward, in
 * double: loss = sum(G y), and dloss/dx by
 *     (-f(x+2h) + 8 f(x+h) - 8 f(x-h) + f(x-2h)) / 12h
 * whose error is of the order of h^4. */
#include "test.h"

#include "activation/activation.h"
#include "attention/attention.h"
#include "dropout/dropout.h"
#include "flatten/flatten.h"
#include "layer_norm/layer_norm.h"
#include "loss/loss.h"
#include "ops/step_table.h"

struct grad_case {
    const char *op;
    const void *params;
    const char *tensors; /* as in step_table.h */
    const char *forward; /* its steps: "matmul xW < x W, bias out < xW b" */
    const char *backward;
    const char *y;
    const char *G;     /* the gradient that arrives at y; NULL: y is the loss */
    const char *pairs; /* "x dx W dW": each tensor and its gradient */
};

static const struct lab_leaky_relu_params leaky = {0.1};
static const struct lab_elu_params elu = {0.8};
static const struct lab_gelu_params gelu_tanh = {true};
static const struct lab_gelu_params gelu_erf = {false};
static const struct lab_flatten_params channel_first = {true};
static const struct lab_dropout_params drop = {0.4};
static const struct lab_layer_norm_params norm = {1e-5};
static const struct lab_attention_params two = {.heads = 2};
static const struct lab_attention_params two_causal = {.heads = 2,
                                                       .causal = true};
static const struct lab_mse_params mse[] = {
    {LAB_MSE_MEAN}, {LAB_MSE_HALF_SUM}, {LAB_MSE_HALF_SUM_PER_SAMPLE}};

#define ELEMENTWISE(op, params)                                                \
    {                                                                          \
        op, params, "x:NM y:NM G:NM dx:NM", op " y < x", op " dx < G x y",     \
            "y", "G", "x dx"                                                   \
    }
#define MSE(params, shape)                                                     \
    {                                                                          \
        "mse", params, "h:" shape " y:" shape " dh:" shape " sample:N loss:",  \
            "sample sample < h y, reduce loss < sample", "sample dh < h y",    \
            "loss", NULL, "h dh"                                               \
    }
#define ATTEND(params)                                                         \
    {                                                                          \
        "attention", params,                                                   \
            "q:2ND k:2KD v:2KD scores:22NK probs:22NK y:2ND G:2ND "            \
            "dprobs:22NK dscores:22NK dq:2ND dk:2KD dv:2KD",                   \
            "scores scores < q k, softmax probs < scores, "                    \
            "context y < probs v",                                             \
            "context dprobs dv < G probs v, softmax dscores < dprobs probs, "  \
            "scores dq dk < dscores q k",                                      \
            "y", "G", "q dq k dk v dv"                                         \
    }

static const struct grad_case cases[] = {
    ATTEND(&two),
    ATTEND(&two_causal),
    {"attention", NULL, "x:NK W:KM b:M y:NM G:NM dx:NK dW:KM db:M",
     "q y < x W b", "q dW db dx < G x W", "y", "G", "x dx W dW b db"},
    {"embedding", NULL, "W:MK ids:#N y:NK G:NK dW:MK", "gather y < ids W",
     "gather dW < G ids", "y", "G", "W dW"},
    {"positional_embedding", NULL, "W:KM x:NKM y:NKM G:NKM dW:KM",
     "add y < x W", "add dW < G", "y", "G", "W dW x G"},
    {"sequence_mean", NULL, "x:NKM y:NM G:NM dx:NKM", "mean y < x",
     "mean dx < G", "y", "G", "x dx"},
    {"bahdanau_attention", NULL,
     "s:2K h:2N3 Ws:KM Wh:3M b:M v:M u:2NM t:2NM e:2N a:2N y:23 G:23 da:2N "
     "de:2N dt:2NM dv:M du:2NM dWs:KM dWh:3M db:M ds:2K",
     "u u < s h Ws Wh b, t t < u, e e < t v, a a < e, context y < a h",
     "context da - < G a h, a de < da a, e dt dv < de t v, t du < dt t, u dWs "
     "dWh db ds - < du s h Ws Wh",
     "y", "G", "s ds Ws dWs Wh dWh b db v dv"},
    {"dense", NULL, "x:NK W:KM b:M xW:NM out:NM G:NM dx:NK dW:KM db:M",
     "matmul xW < x W, bias out < xW b", "bias db < G, matmul dW dx < G x W",
     "out", "G", "x dx W dW b db"},
    ELEMENTWISE("relu", NULL),
    ELEMENTWISE("leaky_relu", &leaky),
    ELEMENTWISE("elu", &elu),
    ELEMENTWISE("sigmoid", NULL),
    ELEMENTWISE("tanh", NULL),
    ELEMENTWISE("gelu", &gelu_tanh),
    ELEMENTWISE("gelu", &gelu_erf),
    ELEMENTWISE("softplus", NULL),
    ELEMENTWISE("swish", NULL),
    {"softmax", NULL, "x:NM y:NM G:NM dx:NM", "softmax y < x",
     "softmax dx < G y", "y", "G", "x dx"},
    {"flatten", &channel_first, "x:NKM y:NP G:NP dx:NKM", "flatten y < x",
     "flatten dx < G", "y", "G", "x dx"},
    {"dropout", &drop, "x:NM y:NM mask:NM G:NM dx:NM", "dropout y mask < x",
     "dropout dx < G mask", "y", "G", "x dx"},
    {"layer_norm", &norm,
     "x:NM gamma:M beta:M mean:N rstd:N xhat:NM y:NM G:NM dxhat:NM dgamma:M "
     "dbeta:M dx:NM",
     "stats mean rstd < x, normalize xhat < x mean rstd, scale y < xhat gamma "
     "beta",
     "scale dxhat dgamma dbeta < G xhat gamma, normalize dx < dxhat xhat rstd",
     "y", "G", "x dx gamma dgamma beta dbeta"},
    {"softmax_cross_entropy", NULL, "z:NM y:#N probs:NM sample:N loss: dz:NM",
     "softmax probs < z, sample sample < z y, mean loss < sample",
     "softmax dz < probs y", "loss", NULL, "z dz"},
    MSE(&mse[0], "NM"),
    MSE(&mse[1], "NM"),
    MSE(&mse[2], "NM"),
    MSE(&mse[0], "N"),
    MSE(&mse[2], "N"),
    MSE(&mse[2], "NKM"),
    {"weighted_sum", NULL, "h:NM y:NM dh:NM sample:N loss:",
     "sample sample < h y, reduce loss < sample", "sample dh < y", "loss", NULL,
     "h dh"},
};

static double loss_of(struct rig *r, const struct grad_case *c)
{
    double loss = 0;
    rig_run_all(r, c->op, c->G ? LAB_FORWARD : LAB_LOSS, c->forward, c->params);
    for (int64_t i = 0; i < rig_size(r, c->y); i++)
        loss += (c->G ? rig_get(r, c->G, i) : 1) * rig_get(r, c->y, i);
    return loss;
}

static double central_difference(struct rig *r, const struct grad_case *c,
                                 const char *name, int64_t i)
{
    static const double at[] = {2, 1, -1, -2};
    static const double weight[] = {-1, 8, -8, 1};
    const double h = 1e-3;
    double before = rig_get(r, name, i);
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        rig_put(r, name, i, before + at[k] * h);
        sum += weight[k] * loss_of(r, c);
    }
    rig_put(r, name, i, before);
    return sum / (12 * h);
}

/* relu has no slope at 0: keep its inputs away from the corner. */
static void keep_off_zero(struct rig *r, const char *name)
{
    for (int64_t i = 0; i < rig_size(r, name); i++) {
        double v = rig_get(r, name, i);
        if (fabs(v) < 0.01)
            rig_put(r, name, i, v < 0 ? v - 0.05 : v + 0.05);
    }
}

static void check_case(const struct grad_case *c,
                       const struct step_sizes *sizes)
{
    char name[24];
    char gradient[24];
    int used;
    struct rig *r = rig_new(RIG_REF_F64);
    const struct step_case shapes = {
        .op = c->op, .outs = "", .ins = c->tensors};
    step_fill(r, &shapes, sizes, 11);
    if (strstr(c->op, "relu"))
        keep_off_zero(r, "x");
    rig_run_all(r, c->op, c->G ? LAB_FORWARD : LAB_LOSS, c->forward, c->params);
    rig_run_all(r, c->op, LAB_BACKWARD, c->backward, c->params);
    for (const char *p = c->pairs;
         sscanf(p, " %23s %23s%n", name, gradient, &used) == 2; p += used) {
        double numeric[512];
        int64_t count = rig_size(r, name);
        assert_true(count <= 512);
        double analytic[512];
        for (int64_t i = 0; i < count; i++)
            analytic[i] = rig_get(r, gradient, i);
        for (int64_t i = 0; i < count; i++)
            numeric[i] = central_difference(r, c, name, i);
        for (int64_t i = 0; i < count; i++)
            rig_put(r, gradient, i, analytic[i]);
        rig_compare(c->op, r, gradient, numeric, count, 1e-8);
    }
    rig_free(r);
}

TEST_CASE(backward_is_the_slope_of_forward)
{
    static const struct step_sizes sizes[] = {
        {3, 5, 4}, {1, 1, 1}, {7, 3, 11}, {2, 13, 5}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
            check_case(&cases[i], &sizes[s]);
    }
}

/* A tensor that two readers use: its gradient is the sum, and as many as one
 * or seven readers are as good. */
TEST_CASE(gradients_of_several_readers_add_up)
{
    static const char *const ins[] = {"a", "a b", "a b c a b c a"};
    static const int times[][3] = {{1, 0, 0}, {1, 1, 0}, {3, 2, 2}};
    const int64_t dim[] = {5, 3};
    struct rig *r = rig_new(RIG_REF_F64);
    rig_add(r, "dx", 2, dim);
    const char *const name[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++) {
        rig_add(r, name[k], 2, dim);
        rig_random(r, name[k], (uint64_t)k, -1, 1);
    }
    for (int k = 0; k < 3; k++) {
        rig_run(r, "grad_sum", "sum", LAB_BACKWARD, "dx", ins[k], NULL);
        for (int64_t i = 0; i < 15; i++) {
            double want = 0;
            for (int j = 0; j < 3; j++)
                want += times[k][j] * rig_get(r, name[j], i);
            assert_true(fabs(rig_get(r, "dx", i) - want) < 1e-14);
        }
    }
    rig_free(r);
}

RUN_TESTS()
