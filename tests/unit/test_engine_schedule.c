/* Which variant runs a step: which choice wins, what a group hides, the message on a
 * choice that fits nothing. */
#include "test.h"

#include "base/mem.h"
#include "unit/net.h"
#include "backend/variant_disabled.h"

static void mlp(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 5,4", NULL);
    net_labels(n, "y 5", 3);
    net_nodes(n, "fc1 dense units=6", "relu1 relu", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk(n, "cpu");
}

static bool have_onednn(struct net *n)
{
    const char *names[16];
    int count = lab_backend_variant_names(lab_walk_backend(n->walk), LAB_F32,
                                          "dense", names, 16);
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i], "onednn") == 0)
            return true;
    }
    return false;
}

#define CHOICES(...)                                                           \
    ((const struct lab_variant_choice[]){__VA_ARGS__}),                        \
        (int)(sizeof((const struct lab_variant_choice[]){__VA_ARGS__}) /       \
              sizeof(struct lab_variant_choice))

static void choose(struct net *n, const struct lab_variant_choice *c, int count)
{
    assert_ok(lab_walk_choose(n->walk, c, count));
}

static const struct lab_schedule_step *find(struct net *n, const char *step,
                                            enum lab_phase phase)
{
    struct lab_schedule *s = lab_walk_schedule(n->walk);
    int i = lab_schedule_find(s, n->plan, step, (int)phase, 0);
    if (i < 0)
        fail_msg("no step %s", step);
    return &s->steps[i];
}

static void runs(struct net *n, const char *step, enum lab_phase phase,
                 const char *variant)
{
    assert_string_equal(find(n, step, phase)->variant->name, variant);
}

/* 500,000 operations in one step of the node: 2 * 10 * 250 * 100. */
NET_CASE(a_large_node_runs_what_is_preferred)
{
    net_tensor(n, "x 10,250", NULL);
    net_labels(n, "y 10", 3);
    net_nodes(n, "fc1 dense units=100", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk(n, "cpu");
    assert_true(find(n, "fc1.matmul", LAB_FORWARD)->step->flop >=
                LAB_PREFERRED_FLOP);
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
    runs(n, "fc1.matmul", LAB_BACKWARD, "blas");
    runs(n, "fc1.bias", LAB_FORWARD, "vector");
    runs(n, "fc1.W", LAB_UPDATE, "vector");
    runs(n, "fc2.matmul", LAB_FORWARD, "naive"); /* small */
    choose(n, CHOICES({"fc1", "naive"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "naive");
    choose(n, CHOICES({"fc2", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
    runs(n, "fc2.matmul", LAB_FORWARD, "blas");
    /* Withdrawn: the reference again. */
    lab_variant_withdraw(find(n, "fc1.matmul", LAB_FORWARD)->variant);
    choose(n, NULL, 0);
    runs(n, "fc1.matmul", LAB_FORWARD, "naive");
    lab_variant_withdraw(NULL);
}

/* A backend that calls itself cuda, with the CPU's rows: dW of fc1 adds up 64
 * samples an element, fc2's walk is as long, and 8 samples are a short one. */
TEST_CASE(a_long_walk_on_a_gpu_runs_what_is_preferred)
{
    for (int rows = 8; rows <= 64; rows += 56) {
        struct net n;
        char x[32];
        char y[32];
        net_init(&n);
        snprintf(x, sizeof(x), "x %d,16", rows);
        snprintf(y, sizeof(y), "y %d", rows);
        net_tensor(&n, x, NULL);
        net_labels(&n, y, 3);
        net_nodes(&n, "fc1 dense units=15", "fc2 dense units=3");
        net_train(&n, "softmax_cross_entropy", "sgd lr=0.1");
        net_walk(&n, "cpu");
        const struct lab_step *dw = find(&n, "fc1.matmul", LAB_BACKWARD)->step;
        assert_true(dw->flop < LAB_PREFERRED_FLOP);
        assert_int_equal(lab_step_walk(n.plan, dw) >= LAB_PREFERRED_WALK,
                         rows == 64);
        runs(&n, "fc1.matmul", LAB_BACKWARD, "naive"); /* never on the CPU */
        struct lab_backend *be = lab_walk_backend(n.walk);
        const struct lab_backend_ops *own = be->ops;
        struct lab_backend_ops gpu = *own;
        gpu.name = "cuda";
        be->ops = &gpu;
        choose(&n, NULL, 0);
        runs(&n, "fc1.matmul", LAB_BACKWARD, rows == 64 ? "blas" : "naive");
        be->ops = own;
        net_free(&n);
    }
}

/* 64 images of 8 x 8, 16 channels: 16 threads would add 4,096 elements each. */
NET_CASE(a_batch_norm_walks_far)
{
    net_tensor(n, "x 64,16,8,8", NULL);
    net_labels(n, "y 64", 3);
    net_nodes(n, "bn batch_norm", "flat flatten", "fc dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk(n, "cpu");
    assert_true(
        lab_step_walk(n->plan, find(n, "bn.stats", LAB_FORWARD)->step) >= 4096);
}

NET_CASE(the_reference_is_the_default)
{
    mlp(n);
    struct lab_schedule *s = lab_walk_schedule(n->walk);
    assert_int_equal(s->n_steps, n->plan->n_steps);
    assert_int_equal(s->n_groups, 0);
    for (int i = 0; i < s->n_steps; i++) {
        assert_ptr_equal(s->steps[i].step, &n->plan->steps[i]);
        assert_string_equal(s->steps[i].variant->name, "naive");
        assert_int_equal(s->steps[i].hides_from, i);
        assert_int_equal(s->steps[i].hides_count, 1);
    }
    assert_int_equal(s->phase_first[LAB_FORWARD], 0);
    assert_int_equal(s->phase_first[LAB_LOSS], 5);
    assert_int_equal(s->phase_first[LAB_BACKWARD], 8);
    assert_int_equal(s->phase_first[LAB_UPDATE], 14);
    assert_int_equal(s->phase_first[LAB_PHASE_COUNT], 18);
}

NET_CASE(an_op_chooses_where_it_can)
{
    mlp(n);
    choose(n, CHOICES({"dense", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
    runs(n, "fc2.matmul", LAB_BACKWARD, "blas");
    runs(n, "fc1.bias", LAB_FORWARD, "naive"); /* blas has none */
    runs(n, "relu1.relu", LAB_FORWARD, "naive");
    runs(n, "fc1.W", LAB_UPDATE, "naive");
    choose(n, CHOICES({"*", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
}

NET_CASE(the_closest_choice_wins_in_any_order)
{
    mlp(n);
    choose(n, CHOICES({"fc2", "naive"}, {"dense", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
    runs(n, "fc2.matmul", LAB_FORWARD, "naive");
    choose(n, CHOICES({"dense", "blas"}, {"fc2", "naive"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
    runs(n, "fc2.matmul", LAB_FORWARD, "naive");
    choose(n, CHOICES({"dense", "naive"}, {"*", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "naive");
    /* Of two alike the later: the command line after the lesson. */
    choose(n, CHOICES({"fc1", "naive"}, {"fc1", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
    choose(n, CHOICES({"fc1", "blas"}, {"fc1", "naive"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "naive");
    /* Overruled everywhere, and still no mistake. */
    choose(n, CHOICES({"fc1", "naive"}, {"fc2", "naive"}, {"dense", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "naive");
    runs(n, "fc2.matmul", LAB_FORWARD, "naive");
}

static void refused(struct net *n, const struct lab_variant_choice *c,
                    int count, const char *const *part)
{
    struct lab_schedule *before = lab_walk_schedule(n->walk);
    assert_int_equal(lab_walk_choose(n->walk, c, count), LAB_E_NOTFOUND);
    assert_ptr_equal(lab_walk_schedule(n->walk), before);
    assert_true(error_is(*part));
    while (*++part)
        if (!strstr(lab_error(), *part))
            fail_msg("%s is not in: %s", *part, lab_error());
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

NET_CASE(a_refused_choice_names_what_fits)
{
    mlp(n);
    refused(n, CHOICES({"dense", "tiled"}),
            PARTS("[variant.missing] dense ", "'tiled'", "cpu",
                  "naive, vector, fused, blas"));
    refused(n, CHOICES({"fc1", "tiled"}),
            PARTS("[variant.missing] fc1 ", "'tiled'", "cpu",
                  "naive, vector, fused, blas"));
    refused(n, CHOICES({"relu1", "blas"}),
            PARTS("[variant.missing] relu1 ", "'blas'", "naive"));
    refused(n, CHOICES({"fc3", "naive"}),
            PARTS("[variant.node] 'fc3'", "fc1, relu1, fc2, loss"));
    refused(n, CHOICES({"sgd", "fused"}),
            PARTS("[variant.missing] sgd ", "'fused'", "naive"));
    refused(n, CHOICES({"*", "tiled"}),
            PARTS("[variant.missing] 'tiled'", "naive, vector, fused, blas"));
    refused(n, CHOICES({"dense", "blas"}, {"fc1", "nope"}),
            PARTS("[variant.missing] fc1 ", "'nope'"));
    choose(n, CHOICES({"sgd", "naive"}, {"loss", "naive"}));
}

NET_CASE(a_withdrawn_variant_is_not_offered)
{
    mlp(n);
    choose(n, CHOICES({"dense", "blas"}));
    const struct lab_variant *forward =
        find(n, "fc1.matmul", LAB_FORWARD)->variant;
    lab_variant_withdraw(forward);
    choose(n, CHOICES({"dense", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "naive");
    runs(n, "fc1.matmul", LAB_BACKWARD, "blas");
    lab_variant_withdraw(find(n, "fc1.matmul", LAB_BACKWARD)->variant);
    refused(n, CHOICES({"dense", "blas"}), PARTS("[variant.missing] 'blas'"));
    lab_variant_withdraw(NULL);
    choose(n, CHOICES({"dense", "blas"}));
    runs(n, "fc1.matmul", LAB_FORWARD, "blas");
}

/* ---- groups ---- */

TEST_CASE(a_group_takes_in_the_activation)
{
    struct net n;
    mlp(&n);
    if (!have_onednn(&n)) {
        net_free(&n);
        skip();
    }
    choose(&n, CHOICES({"dense", "onednn"}));
    const struct lab_schedule *s = lab_walk_schedule(n.walk);
    const struct lab_schedule_step *g = &s->steps[0];
    assert_string_equal(g->step->name, "fc1.dense");
    assert_true(g->step->group);
    assert_int_equal(g->hides_from, 0);
    assert_int_equal(g->hides_count, 3);
    assert_int_equal(g->step->out[0], net_id(&n, "fc1.out"));
    assert_int_equal(g->step->out[1], net_id(&n, "relu1.out"));
    assert_true(g->step->flop == 2 * 5 * 4 * 6 + 30 + 30);
    assert_true(g->step->bytes == 4 * (20 + 24 + 6 + 30 + 30));
    assert_null(strchr(g->step->formula, '$'));
    /* No activation follows fc2. */
    assert_string_equal(s->steps[1].step->name, "fc2.dense");
    assert_int_equal(s->steps[1].hides_from, 3);
    assert_int_equal(s->steps[1].hides_count, 2);
    assert_int_equal(s->steps[1].step->out[1], LAB_NO_TENSOR);
    assert_int_equal(s->n_steps, n.plan->n_steps - 3);
    assert_int_equal(s->phase_first[LAB_LOSS], 2);
    /* Every step of the plan is run or hidden, once and in order. */
    int at = 0;
    for (int i = 0; i < s->n_steps; i++) {
        assert_int_equal(s->steps[i].hides_from, at);
        at += s->steps[i].hides_count;
    }
    assert_int_equal(at, n.plan->n_steps);
    /* A hidden step is found as its group. */
    assert_int_equal(lab_schedule_find(s, n.plan, "fc1.bias", LAB_FORWARD, 0),
                     0);
    assert_int_equal(lab_schedule_find(s, n.plan, "relu1.relu", LAB_FORWARD, 0),
                     0);
    assert_int_equal(lab_schedule_find(s, n.plan, "fc2", -1, 0), 1);
    assert_int_equal(lab_schedule_find(s, n.plan, "fc3", -1, 0), -1);
    net_free(&n);
}

TEST_CASE(a_closer_choice_takes_the_group_apart)
{
    struct net n;
    mlp(&n);
    if (!have_onednn(&n)) {
        net_free(&n);
        skip();
    }
    choose(&n, CHOICES({"dense", "onednn"}, {"fc1", "blas"}));
    runs(&n, "fc1.matmul", LAB_FORWARD, "blas");
    runs(&n, "fc1.bias", LAB_FORWARD, "naive");
    assert_true(find(&n, "fc2.matmul", LAB_FORWARD)->step->group);
    choose(&n, CHOICES({"*", "onednn"}, {"dense", "naive"}));
    assert_int_equal(lab_walk_schedule(n.walk)->n_groups, 0);
    runs(&n, "fc1.matmul", LAB_FORWARD, "naive");
    runs(&n, "relu1.relu", LAB_BACKWARD, "onednn");
    /* An activation that was chosen for itself is not taken in. */
    choose(&n, CHOICES({"dense", "onednn"}, {"relu1", "naive"}));
    assert_int_equal(find(&n, "fc1.matmul", LAB_FORWARD)->hides_count, 2);
    runs(&n, "relu1.relu", LAB_FORWARD, "naive");
    choose(&n, CHOICES({"dense", "onednn"}, {"relu", "onednn"}));
    assert_int_equal(find(&n, "fc1.matmul", LAB_FORWARD)->hides_count, 3);
    net_free(&n);
}

TEST_CASE(relu_has_onednn_only_backward)
{
    struct net n;
    mlp(&n);
    if (!have_onednn(&n)) {
        net_free(&n);
        skip();
    }
    choose(&n, CHOICES({"relu", "onednn"}));
    runs(&n, "relu1.relu", LAB_FORWARD, "naive");
    runs(&n, "relu1.relu", LAB_BACKWARD, "onednn");
    net_free(&n);
}

TEST_CASE(a_group_computes_what_its_steps_do)
{
    static const char *const activation[] = {
        "relu", "leaky_relu slope=0.2", "sigmoid",  "tanh",
        "gelu", "gelu approximate=erf", "softplus", "swish"};
    for (int k = 0; k < 8; k++) {
        struct net n;
        char node[64];
        net_init(&n);
        net_tensor(&n, "x 5,7", NULL);
        net_labels(&n, "y 5", 3);
        net_node(&n, "fc1 dense units=11");
        snprintf(node, sizeof(node), "act %s", activation[k]);
        net_nodes(&n, node, "fc2 dense units=3 bias=false");
        net_loss(&n, "softmax_cross_entropy");
        net_walk(&n, "cpu");
        if (!have_onednn(&n)) {
            net_free(&n);
            skip();
        }
        net_steps(&n, 4);
        double *out = net_read(&n, "fc1.out");
        double *act = net_read(&n, "act.out");
        double *fc2 = net_read(&n, "fc2.out");
        assert_ok(lab_walk_restart(n.walk));
        net_choose(&n, "dense", "onednn");
        assert_int_equal(find(&n, "fc1", LAB_FORWARD)->hides_count, 3);
        net_steps(&n, 2);
        for (int i = 0; i < 55; i++) {
            double a = net_get(&n, "fc1.out", i);
            double b = net_get(&n, "act.out", i);
            if (fabs(a - out[i]) > 1e-5 * (1 + fabs(out[i])) ||
                fabs(b - act[i]) > 1e-5 * (1 + fabs(act[i])))
                fail_msg("%s: %d: %g %g, not %g %g", activation[k], i, a, b,
                         out[i], act[i]);
        }
        for (int i = 0; i < 15; i++)
            assert_true(fabs(net_get(&n, "fc2.out", i) - fc2[i]) < 1e-4);
        lab_free(out);
        lab_free(act);
        lab_free(fc2);
        net_free(&n);
    }
}

static bool is_output(const struct lab_step *s, int tensor)
{
    for (int i = 0; i < s->n_out; i++) {
        if (s->out[i] == tensor)
            return true;
    }
    return false;
}

/* What a group does not write is hidden by it, and by nothing else. */
TEST_CASE(a_hidden_part_has_a_hider)
{
    struct net n;
    mlp(&n);
    if (!have_onednn(&n)) {
        net_free(&n);
        skip();
    }
    int xW = net_id(&n, "fc1.xW");
    assert_int_equal(lab_schedule_hider(lab_walk_schedule(n.walk), n.plan, xW),
                     -1);
    choose(&n, CHOICES({"fc1", "onednn"}));
    struct lab_schedule *s = lab_walk_schedule(n.walk);
    int at = lab_schedule_hider(s, n.plan, xW);
    assert_true(at >= 0 && s->steps[at].step->group);
    assert_string_equal(s->steps[at].variant->name, "onednn");
    struct lab_explanation e;
    net_steps(&n, 1);
    assert_ok(lab_walk_explain(n.walk, xW, 0, &e));
    assert_true(e.unwritten && isnan(e.value) && isnan(e.shown));
    assert_non_null(strstr(e.symbolic, "not written: the variant"));
    lab_explanation_release(&e);
    for (int t = 0; t < n.plan->n_tensors; t++) {
        bool written = false;
        for (int i = 0; i < s->n_steps; i++)
            written = written || is_output(s->steps[i].step, t);
        bool computed = n.plan->tensors[t].role == LAB_TENSOR_ACTIVATION ||
                        n.plan->tensors[t].role == LAB_TENSOR_GRADIENT;
        if (computed)
            assert_int_equal(lab_schedule_hider(s, n.plan, t) >= 0, !written);
    }
    net_free(&n);
}

/* With any variant for everything: no step reads what none has written, and
 * what is hidden stays unwritten for all who look. */
TEST_CASE(no_step_reads_a_hidden_part)
{
    static const char *const names[] = {"naive", "blas", "onednn"};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        struct net n;
        net_init(&n);
        net_every_op(&n, "mse", "adam lr=0.1");
        net_walk(&n, "cpu");
        struct lab_variant_choice c = {"*", names[k]};
        if (lab_walk_choose(n.walk, &c, 1)) {
            net_free(&n);
            continue; /* not built here */
        }
        const struct lab_schedule *s = lab_walk_schedule(n.walk);
        for (int i = 0; i < 2 * s->n_steps; i++) {
            assert_ok(lab_walk_begin(n.walk));
            int at = lab_walk_position(n.walk);
            const struct lab_step *step = s->steps[at].step;
            for (int j = 0; j < step->n_in; j++) {
                if (step->in[j] >= 0 && !lab_walk_written(n.walk, step->in[j]))
                    fail_msg("%s, %s reads %s", names[k], step->name,
                             n.plan->tensors[step->in[j]].name);
            }
            net_steps(&n, 1);
        }
        for (int t = 0; t < n.plan->n_tensors; t++) {
            if (lab_schedule_hider(s, n.plan, t) >= 0)
                assert_false(lab_walk_written(n.walk, t));
        }
        net_free(&n);
    }
}

RUN_TESTS()
