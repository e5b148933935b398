/* Single kernels against the golden vectors ii, vii and viii: the reference in
 * float and in double, and the CPU variants where this machine has them. */
#include "test.h"

#include "activation/activation.h"
#include "golden/golden.h"
#include "layer_norm/layer_norm.h"
#include "loss/loss.h"
#include "ops/kernel_rig.h"
#include "optimizer/optimizer.h"

/* One case in one rig. */
struct bench {
    struct golden *g;
    struct rig *r;
    double tolerance;
};

static const struct golden_tensor *must(const struct golden *g,
                                        const char *name)
{
    const struct golden_tensor *t = golden_tensor(g, name);
    if (!t)
        fail_msg("%s has no tensor %s", g->name, name);
    return t;
}

/* Brings golden tensors into the rig, under their own names. */
static void take(struct bench *b, const char *names)
{
    char name[24];
    int used;
    for (; sscanf(names, " %23s%n", name, &used) == 1; names += used) {
        const struct golden_tensor *t = must(b->g, name);
        if (t->is_int)
            rig_add_labels(b->r, name, t->count);
        else
            rig_add(b->r, name, t->rank, t->dim);
        rig_set(b->r, name, t->data);
    }
}

/* Empty tensors: "xW=z1 h1" is xW shaped like the golden z1, and h1 like its
 * own golden. */
static void make(struct bench *b, const char *names)
{
    char word[48];
    int used;
    for (; sscanf(names, " %47s%n", word, &used) == 1; names += used) {
        char *equals = strchr(word, '=');
        const char *like = equals ? equals + 1 : word;
        if (equals)
            *equals = '\0';
        const struct golden_tensor *t = must(b->g, like);
        rig_add(b->r, word, t->rank, t->dim);
    }
}

/* Compares tensors of the rig with the golden ones of the same name. */
static void expect(struct bench *b, const char *names)
{
    char name[24];
    int used;
    for (; sscanf(names, " %23s%n", name, &used) == 1; names += used) {
        const struct golden_tensor *t = must(b->g, name);
        rig_compare(b->g->name, b->r, name, t->data, t->count, b->tolerance);
    }
}

static void expect_scalar(struct bench *b, const char *name)
{
    double value = golden_scalar(b->g, name);
    rig_compare(b->g->name, b->r, name, &value, 1, b->tolerance);
}

static void for_every_kind(const char *name,
                           void (*run)(struct bench *, const void *),
                           const void *arg)
{
    for (enum rig_kind kind = 0; kind < RIG_COUNT; kind++) {
        if (!rig_available(kind)) {
            print_message("%s: left out: %s\n", rig_name(kind), lab_error());
            continue;
        }
        struct bench b = {.r = rig_new(kind)};
        b.tolerance = kind == RIG_REF_F64 ? 1e-13 : 1e-5;
        assert_ok(golden_load(name, &b.g));
        run(&b, arg);
        rig_free(b.r);
        golden_free(b.g);
    }
}

#define F LAB_FORWARD
#define L LAB_LOSS
#define B LAB_BACKWARD

/* A golden network: what is given, what is made ("xW1=z1": with the shape of z1),
 * its steps, and what is compared beside the loss. */
struct network {
    const char *name;
    const char *take;
    const char *make;
    const char *forward;
    const char *loss;
    const char *backward;
    const void *params; /* of the loss and its gradient */
    const char *expect;
};

#define CE "softmax_cross_entropy."
#define LOSS_OF_LABELS(z)                                                      \
    CE "softmax p < " z ", " CE "sample loss_per_sample < " z " labels, " CE   \
       "mean loss < loss_per_sample"

static const struct lab_mse_params half_sum = {LAB_MSE_HALF_SUM_PER_SAMPLE};

static const struct network networks[] = {
    {"ii_mlp_4_3_2_relu_ce", "x W1 b1 W2 b2 labels",
     "xW1=z1 xW2=z2 z1 h1 z2 p loss_per_sample dz2 dW2 db2 dh1 dz1 dW1 db1 dx",
     "matmul xW1 < x W1, bias z1 < xW1 b1, relu.relu h1 < z1, "
     "matmul xW2 < h1 W2, bias z2 < xW2 b2",
     LOSS_OF_LABELS("z2"),
     CE "softmax dz2 < p labels, bias db2 < dz2, matmul dW2 dh1 < dz2 h1 W2, "
        "relu.relu dz1 < dh1 z1 h1, bias db1 < dz1, matmul dW1 dx < dz1 x W1",
     NULL, "z1 h1 z2 p loss_per_sample dz2 dW2 db2 dh1 dz1 dW1 db1 dx"},
    {"ii_mlp_4_3_2_sigmoid_mse", "x W1 b1 W2 b2 target",
     "xW1=z1 xW2=z2 z1 h1 z2 h2 loss_per_sample dh2 dz2 dW2 db2 dh1 dz1 dW1 "
     "db1 dx",
     "matmul xW1 < x W1, bias z1 < xW1 b1, sigmoid.sigmoid h1 < z1, "
     "matmul xW2 < h1 W2, bias z2 < xW2 b2, sigmoid.sigmoid h2 < z2",
     "mse.sample loss_per_sample < h2 target, mse.reduce loss < "
     "loss_per_sample",
     "mse.sample dh2 < h2 target, sigmoid.sigmoid dz2 < dh2 z2 h2, "
     "bias db2 < dz2, matmul dW2 dh1 < dz2 h1 W2, "
     "sigmoid.sigmoid dz1 < dh1 z1 h1, bias db1 < dz1, "
     "matmul dW1 dx < dz1 x W1",
     &half_sum,
     "z1 h1 z2 h2 loss_per_sample dh2 dz2 dW2 db2 dh1 dz1 dW1 db1 dx"},
    {"ii_softmax_regression_5_3", "x W1 b1 labels",
     "xW1=z1 z1 p loss_per_sample dz1 dW1 db1 dx",
     "matmul xW1 < x W1, bias z1 < xW1 b1", LOSS_OF_LABELS("z1"),
     CE "softmax dz1 < p labels, bias db1 < dz1, matmul dW1 dx < dz1 x W1",
     NULL, "z1 p loss_per_sample dz1 dW1 db1 dx"},
};

static void run_network(struct bench *b, const void *arg)
{
    const struct network *n = arg;
    take(b, n->take);
    make(b, n->make);
    rig_add(b->r, "loss", 0, NULL);
    rig_run_all(b->r, "dense", F, n->forward, NULL);
    rig_run_all(b->r, "dense", L, n->loss, n->params);
    rig_run_all(b->r, "dense", B, n->backward, n->params);
    expect(b, n->expect);
    expect_scalar(b, "loss");
}

TEST_CASE(small_networks)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
        for_every_kind(networks[i].name, run_network, &networks[i]);
}

struct activation_case {
    const char *name;
    const char *op;
    const void *params;
};

static void run_activation(struct bench *b, const void *arg)
{
    const struct activation_case *c = arg;
    double loss = 0;
    take(b, "x G");
    make(b, "y dx");
    rig_add(b->r, "sample", 1, rig_view(b->r, "x")->dim);
    rig_add(b->r, "loss", 0, NULL);
    rig_add(b->r, "dy", 1, rig_view(b->r, "x")->dim);
    rig_run(b->r, c->op, c->op, F, "y", "x", c->params);
    rig_run(b->r, "weighted_sum", "sample", L, "sample", "y G", NULL);
    rig_run(b->r, "weighted_sum", "reduce", L, "loss", "sample", NULL);
    rig_run(b->r, "weighted_sum", "sample", B, "dy", "G", NULL);
    rig_run(b->r, c->op, c->op, B, "dx", "dy x y", c->params);
    expect(b, "y dx");
    expect_scalar(b, "loss");
    for (int64_t i = 0; i < rig_size(b->r, "y"); i++)
        loss += rig_get(b->r, "y", i) * rig_get(b->r, "G", i);
    rig_compare("loss by hand", b->r, "loss", &loss, 1, b->tolerance);
}

TEST_CASE(activations)
{
    static const struct lab_leaky_relu_params slope = {0.01};
    static const struct lab_gelu_params tanh_form = {true};
    static const struct lab_gelu_params erf_form = {false};
    static const struct activation_case cases[] = {
        {"viii_relu", "relu", NULL},
        {"viii_leaky_relu", "leaky_relu", &slope},
        {"viii_sigmoid", "sigmoid", NULL},
        {"viii_tanh", "tanh", NULL},
        {"viii_gelu_tanh", "gelu", &tanh_form},
        {"viii_gelu_erf", "gelu", &erf_form},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for_every_kind(cases[i].name, run_activation, &cases[i]);
}

static void run_softmax(struct bench *b, const void *arg)
{
    (void)arg;
    take(b, "x G");
    make(b, "y dx");
    rig_run(b->r, "softmax", "softmax", F, "y", "x", NULL);
    rig_run(b->r, "softmax", "softmax", B, "dx", "G y", NULL);
    expect(b, "y dx");
}

TEST_CASE(softmax)
{
    for_every_kind("viii_softmax", run_softmax, NULL);
}

static void run_layer_norm(struct bench *b, const void *arg)
{
    (void)arg;
    const struct lab_layer_norm_params p = {1e-5};
    struct rig *r = b->r;
    take(b, "x gamma beta G");
    make(b, "mean rstd xhat y dxhat=x dgamma dbeta dx");
    rig_run_all(r, "layer_norm", F,
                "stats mean rstd < x, normalize xhat < x mean rstd, "
                "scale y < xhat gamma beta",
                &p);
    rig_run_all(r, "layer_norm", B,
                "scale dxhat dgamma dbeta < G xhat gamma, "
                "normalize dx < dxhat xhat rstd",
                &p);
    expect(b, "mean rstd xhat y dgamma dbeta dx");
}

TEST_CASE(layer_norm)
{
    for_every_kind("viii_layernorm", run_layer_norm, NULL);
}

struct optimizer_case {
    const char *name;
    const char *op;
    const char *outs; /* inout: p and the state */
    const void *params;
};

/* Three updates in a row, from the golden gradient of each; the state that the
 * optimizer keeps must be right all the way. */
static void run_optimizer(struct bench *b, const void *arg)
{
    const struct optimizer_case *c = arg;
    const struct golden_tensor *p0 = must(b->g, "p_0");
    double zeros[64] = {0};
    assert_true(p0->count <= 64);
    const char *all[] = {"p", "m", "v", "g"};
    for (int i = 0; i < 4; i++) {
        rig_add(b->r, all[i], p0->rank, p0->dim);
        rig_set(b->r, all[i], zeros);
    }
    rig_set(b->r, "p", p0->data);
    for (int t = 1; t <= 3; t++) {
        char name[16];
        snprintf(name, sizeof(name), "g_%d", t);
        rig_set(b->r, "g", must(b->g, name)->data);
        rig_call(b->r)->iteration = (uint64_t)t - 1;
        rig_run(b->r, c->op, "update", LAB_UPDATE, c->outs, "g", c->params);
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof(name), "%s_%d", all[i], t);
            const struct golden_tensor *want = golden_tensor(b->g, name);
            if (want)
                rig_compare(name, b->r, all[i], want->data, want->count,
                            b->tolerance);
            else
                assert_null(strstr(c->outs, all[i]));
        }
    }
}

TEST_CASE(optimizers)
{
    static const struct lab_sgd_params sgd = {.lr = 0.1};
    static const struct lab_sgd_params momentum = {.lr = 0.1, .momentum = 0.9};
    static const struct lab_sgd_params nesterov = {
        .lr = 0.1, .momentum = 0.9, .nesterov = true};
    static const struct lab_adam_params adam = {.05, .9, .999, 1e-8, 0};
    static const struct lab_adam_params adamw = {.05, .9, .999, 1e-8, 0.1};
    static const struct optimizer_case cases[] = {
        {"vii_sgd", "sgd", "+p -", &sgd},
        {"vii_sgd_momentum", "sgd", "+p +v", &momentum},
        {"vii_sgd_nesterov", "sgd", "+p +v", &nesterov},
        {"vii_adam", "adam", "+p +m +v", &adam},
        {"vii_adamw", "adamw", "+p +m +v", &adamw},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for_every_kind(cases[i].name, run_optimizer, &cases[i]);
}

RUN_TESTS()
