/* Learning rates that change and gradients that are clipped: each schedule
 * against its formula, in training as in explanations, and a rate that a person
 * changes in between. */
#include "test.h"

#include "base/mem.h"
#include "engine/plan.h"
#include "unit/net.h"

#define near(got, want)                                                        \
    assert_near(got, want, 1e-12 * (1 + fabs((double)(want))))

TEST_CASE(each_schedule_follows_its_formula)
{
    const struct lab_rate constant = {.kind = LAB_RATE_CONSTANT};
    const struct lab_rate step = {
        .kind = LAB_RATE_STEP, .every = 10, .factor = 0.5};
    const struct lab_rate exponential = {
        .kind = LAB_RATE_EXPONENTIAL, .every = 10, .factor = 0.25, .end = 0.01};
    const struct lab_rate cosine = {
        .kind = LAB_RATE_COSINE, .warmup = 4, .over = 10, .end = 0.1};
    near(lab_rate_at(&constant, 0.3, 1000000), 0.3);
    near(lab_rate_at(&step, 0.8, 9), 0.8);
    near(lab_rate_at(&step, 0.8, 10), 0.4);
    near(lab_rate_at(&step, 0.8, 29), 0.2);
    near(lab_rate_at(&exponential, 0.8, 5), 0.4);
    near(lab_rate_at(&exponential, 0.8, 10), 0.2);
    near(lab_rate_at(&exponential, 0.8, 1000), 0.01);
    near(lab_rate_at(&cosine, 0.9, 0), 0.225);
    near(lab_rate_at(&cosine, 0.9, 3), 0.9);
    near(lab_rate_at(&cosine, 0.9, 4), 0.9);
    near(lab_rate_at(&cosine, 0.9, 9), 0.5); /* half way */
    near(lab_rate_at(&cosine, 0.9, 14), 0.1);
    near(lab_rate_at(&cosine, 0.9, INT64_MAX / 2), 0.1);
    near(lab_rate_at(&cosine, 0.05, 9), 0.05); /* set below lr_end */
    near(lab_rate_at(&exponential, 0.001, 5), 0.001);
    assert_false(lab_rate_changes(&constant));
    assert_true(lab_rate_changes(&cosine));
    char text[LAB_RATE_TEXT];
    assert_string_equal(lab_rate_text(&cosine, text),
                        "cosine to 0.1 over 10, warm-up 4");
    assert_string_equal(lab_rate_text(&step, text), "step, times 0.5 every 10");
    assert_string_equal(lab_rate_text(&constant, text), "");
}

static void describe(struct net *n, const char *optimizer)
{
    net_init(n);
    net_tensor(n, "x 4,3", NULL);
    net_tensor(n, "y 4,2", NULL);
    net_nodes(n, "fc1 dense units=3", "act tanh", "fc2 dense units=2");
    net_train(n, "mse", optimizer);
}

static void updates_to(struct net *n, double rate)
{
    double *old = net_read(n, "fc2.b");
    assert_ok(lab_walk_iterate(n->walk));
    double *now = net_read(n, "fc2.b");
    double *g = net_read(n, "fc2.b.grad");
    near(lab_walk_rate(n->walk, lab_walk_iteration(n->walk)), rate);
    for (int i = 0; i < 2; i++)
        assert_true(fabs(now[i] - (old[i] - rate * g[i])) < 1e-6);
    lab_free(old);
    lab_free(now);
    lab_free(g);
}

NET_CASE(updates_take_the_rate_of_their_iteration)
{
    describe(n, "sgd lr=0.4 schedule=step every=2 factor=0.5 warmup=2");
    net_walk(n, "cpu");
    const double rates[] = {0.2, 0.4, 0.4, 0.4, 0.2, 0.2, 0.1};
    for (int i = 0; i < 7; i++)
        updates_to(n, rates[i]);
}

/* From the next step on, and what has run keeps its own rate when it runs
 * again. */
NET_CASE(a_rate_changes_in_between)
{
    describe(n, "sgd lr=0.1 momentum=0.5");
    net_walk(n, "cpu");
    net_iterate(n, 20);
    assert_ok(lab_walk_set_lr(n->walk, 0.025));
    net_iterate(n, 20);
    struct net_moment *want = net_keep(n);
    int steps = net_steps_of(n);
    near(lab_walk_rate(n->walk, 19), 0.1);
    near(lab_walk_rate(n->walk, 20), 0.025);
    assert_ok(lab_walk_back(n->walk, 30 * steps));
    assert_int_equal(lab_walk_iteration(n->walk), 10);
    assert_ok(lab_walk_restart(n->walk));
    near(lab_walk_rate(n->walk, 0), 0.1); /* the plan's */
    net_iterate(n, 20);
    assert_ok(lab_walk_set_lr(n->walk, 0.025));
    net_iterate(n, 20);
    net_still(n, "the same rates again", want);
    assert_ok(lab_walk_back(n->walk, 5));
    net_steps(n, 5);
    net_still(n, "five steps back and forward", want);
    net_moment_free(want);
}

NET_CASE(gradients_are_clipped_by_their_common_norm)
{
    struct net free;
    const char *const params[] = {"fc1.W", "fc1.b", "fc2.W", "fc2.b"};
    describe(n, "sgd lr=0.1 clip_norm=0.05");
    describe(&free, "sgd lr=0.1 clip_norm=1000");
    net_walk(n, "cpu");
    net_walk(&free, "cpu");
    assert_ok(lab_walk_iterate(n->walk));
    assert_ok(lab_walk_iterate(free.walk));
    double sum = 0;
    double moved = 0;
    for (int p = 0; p < 4; p++) {
        char name[40];
        double own = 0;
        snprintf(name, sizeof(name), "%s.grad", params[p]);
        double *g = net_read(n, name);
        double *w = net_read(n, params[p]);
        const struct lab_tensor *t = net_at(n, params[p]);
        float *was = lab_alloc_array((size_t)t->count, sizeof(*was));
        assert_ok(lab_walk_read(n->walk, net_id(n, params[p]), true, was));
        for (int64_t i = 0; i < t->count; i++) {
            own += g[i] * g[i];
            moved += (w[i] - (double)was[i]) * (w[i] - (double)was[i]);
        }
        sum += own;
        snprintf(name, sizeof(name), "%s.grad.norm", params[p]);
        assert_true(fabs(net_get(n, name, 0) - sqrt(own)) < 1e-6);
        snprintf(name, sizeof(name), "%s.grad.norm_to_here", params[p]);
        assert_true(fabs(net_get(n, name, 0) - sqrt(sum)) < 1e-6);
        lab_free(g);
        lab_free(w);
        lab_free(was);
    }
    assert_true(sqrt(sum) > 0.1); /* there is something to clip */
    assert_true(fabs(sqrt(moved) - 0.1 * 0.05) < 1e-6);
    /* A limit above the norm changes nothing. */
    struct net plain;
    describe(&plain, "sgd lr=0.1");
    net_walk(&plain, "cpu");
    assert_ok(lab_walk_iterate(plain.walk));
    assert_true(net_get(&plain, "fc1.W", 4) == net_get(&free, "fc1.W", 4));
    assert_true(net_get(&plain, "fc1.W", 4) != net_get(n, "fc1.W", 4));
    net_free(&plain);
    net_free(&free);
}

/* Every element of every tensor that an update has written. */
static void explained(const char *optimizer)
{
    struct net n;
    describe(&n, optimizer);
    net_walk(&n, "cpu");
    net_iterate(&n, 3);
    for (int t = 0; t < n.plan->n_tensors; t++) {
        const struct lab_tensor *at = &n.plan->tensors[t];
        bool norm = strstr(at->name, ".norm") != NULL;
        if (!at->persistent && !norm)
            continue;
        for (int64_t i = 0; i < at->count; i++) {
            struct lab_explanation e;
            assert_ok(lab_walk_explain(n.walk, t, i, &e));
            if (!e.agrees)
                fail_msg("%s: %s is %.9g and not %.9g", optimizer, e.name,
                         e.shown, e.value);
            lab_explanation_release(&e);
        }
    }
    net_free(&n);
}

TEST_CASE(explanations_have_rate_and_clipping)
{
    explained(
        "sgd lr=0.3 schedule=exponential every=2 factor=0.3 clip_norm=0.1");
    explained("sgd lr=0.3 momentum=0.9 schedule=cosine over=9 clip_norm=0.1");
    explained("adam lr=0.3 weight_decay=0.1 warmup=5 clip_norm=0.1");
    explained("adamw lr=0.3 weight_decay=0.1 warmup=5 clip_norm=0.1");
}

static void refused(const char *optimizer, const char *error)
{
    struct net n;
    describe(&n, optimizer);
    assert_int_not_equal(net_build(&n), LAB_OK);
    assert_true(error_is(error));
    assert_ptr_equal(strstr(lab_error(), "net.md:201:"), lab_error());
    net_free(&n);
}

TEST_CASE(keys_must_fit_their_schedule)
{
    refused("sgd lr=0.1 schedule=cosine",
            "[network.schedule-key-missing] schedule cosine needs over");
    refused("sgd lr=0.1 schedule=step factor=0.5",
            "[network.schedule-key-missing] schedule step needs every");
    refused("adam lr=0.1 schedule=cosine over=9 lr_end=0.2",
            "[network.lr-end] lr_end 0.2 ");
}

RUN_TESTS()
