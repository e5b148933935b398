/* The stepper forward: what is written when, and what a switch of variants, a
 * restart and an evaluation leave behind. */
#include "test.h"

#include "base/mem.h"
#include "unit/net.h"

NET_CASE(a_step_writes_its_outputs_and_no_more)
{
    net_digits(n);
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    for (int i = 0; i < s->n_steps; i++) {
        struct net_moment *before = net_keep(n);
        int64_t exec;
        int64_t ns;
        lab_walk_step_status(n->walk, i, &exec, &ns);
        assert_int_equal(exec, 0);
        assert_int_equal(lab_walk_position(n->walk), i);
        net_steps(n, 1);
        lab_walk_step_status(n->walk, i, &exec, &ns);
        assert_int_equal(exec, i + 1);
        assert_true(ns >= 0);
        const struct lab_step *step = s->steps[i].step;
        for (int t = 0; t < n->plan->n_tensors; t++) {
            bool out = false;
            for (int k = 0; k < step->n_out; k++) {
                int o = step->out[k];
                out = out ||
                      (o >= 0 && (o == t || n->plan->tensors[t].alias_of == o));
            }
            if (out) {
                assert_true(lab_walk_written(n->walk, t));
                assert_true(n->plan->tensors[t].alias_of >= 0 ||
                            lab_walk_writer(n->walk, t) == i);
            }
        }
        net_moment_free(before);
    }
    assert_true(lab_walk_at_end(n->walk));
    for (int t = 0; t < n->plan->n_tensors; t++)
        assert_true(lab_walk_written(n->walk, t));
    assert_true(isfinite(lab_walk_loss(n->walk)));
}

NET_CASE(a_generation_counts_every_write)
{
    net_digits(n);
    int W = net_id(n, "fc1.W");
    int out = net_id(n, "fc1.out");
    int64_t w0 = lab_walk_generation(n->walk, W);
    int64_t o0 = lab_walk_generation(n->walk, out);
    net_steps(n, 2);
    assert_true(lab_walk_generation(n->walk, out) > o0);
    assert_true(lab_walk_generation(n->walk, W) == w0);
    net_steps(n, net_steps_of(n) - 2);
    int64_t w1 = lab_walk_generation(n->walk, W);
    assert_true(w1 > w0);
    assert_ok(lab_walk_back(n->walk, 4));
    assert_true(lab_walk_generation(n->walk, W) > w1);
}

TEST_CASE(the_same_seed_gives_the_same_bits)
{
    struct net a;
    struct net b;
    net_digits(&a);
    net_digits(&b);
    net_iterate(&a, 3);
    net_steps(&b, 3 * net_steps_of(&b));
    struct net_moment *ma = net_keep(&a);
    struct net_moment *mb = net_keep(&b);
    net_same(&a, "walked beside iterated", ma, mb);
    net_moment_free(mb);
    net_free(&b);
    net_init(&b);
    b.spec.seed = 8;
    net_free(&b);
    net_moment_free(ma);
    net_free(&a);
}

TEST_CASE(another_seed_gives_another_mask)
{
    struct net a;
    struct net b;
    net_init(&a);
    net_init(&b);
    b.spec.seed = 8;
    struct net *both[2] = {&a, &b};
    for (int k = 0; k < 2; k++) {
        net_tensor(both[k], "x 9,11", NULL);
        net_tensor(both[k], "y 9,11", NULL);
        net_node(both[k], "drop dropout p=0.5");
        net_loss(both[k], "mse");
        net_walk(both[k], "cpu");
        net_steps(both[k], 1);
    }
    double *ma = net_read(&a, "drop.mask");
    double *mb = net_read(&b, "drop.mask");
    assert_true(memcmp(ma, mb, 99 * sizeof(double)) != 0);
    lab_free(mb);
    /* And another iteration another mask, of the same share. */
    net_steps(&a, net_steps_of(&a));
    mb = net_read(&a, "drop.mask");
    assert_true(memcmp(ma, mb, 99 * sizeof(double)) != 0);
    int kept = 0;
    for (int i = 0; i < 99; i++) {
        assert_true(ma[i] == 0 || ma[i] == 2);
        kept += ma[i] > 0;
    }
    assert_true(kept > 30 && kept < 70);
    lab_free(ma);
    lab_free(mb);
    net_free(&a);
    net_free(&b);
}

NET_CASE(restart_gives_the_same_bits)
{
    struct net_moment *first[40];
    net_digits(n);
    int steps = net_steps_of(n);
    assert_true(steps < 40);
    for (int i = 0; i < steps; i++) {
        first[i] = net_keep(n);
        net_steps(n, 1);
    }
    net_iterate(n, 20);
    net_steps(n, 3);
    assert_ok(lab_walk_restart(n->walk));
    for (int i = 0; i < steps; i++) {
        struct net_moment *again = net_keep(n);
        net_same(n, "after a restart", first[i], again);
        net_moment_free(first[i]);
        net_moment_free(again);
        net_steps(n, 1);
    }
}

TEST_CASE(an_evaluation_leaves_everything_as_it_was)
{
    struct net n;
    struct net other;
    double accuracy = -1;
    double loss = -1;
    net_digits(&n);
    net_digits(&other);
    const int stops[] = {0, 3, 9, 100};
    for (size_t k = 0; k < 4; k++) {
        while (lab_walk_position(n.walk) < stops[k] &&
               !lab_walk_at_end(n.walk)) {
            net_steps(&n, 1);
            net_steps(&other, 1);
        }
        struct net_moment *before = net_keep(&n);
        assert_ok(lab_walk_evaluate(n.walk, &accuracy, &loss));
        assert_true(accuracy >= 0 && accuracy <= 1);
        assert_true(loss > 0 && isfinite(loss));
        net_still(&n, "after an evaluation", before);
        net_moment_free(before);
    }
    /* The next iterations do not notice either. */
    for (int i = 0; i < 3; i++) {
        assert_ok(lab_walk_iterate(n.walk));
        assert_ok(lab_walk_iterate(other.walk));
        assert_ok(lab_walk_evaluate(n.walk, &accuracy, &loss));
    }
    net_alike(&n, "with and without evaluations", &other);
    net_free(&n);
    net_free(&other);
}

/* The evaluation against the same network by hand, in double, no dropout. */
NET_CASE(an_evaluation_is_right)
{
    double accuracy;
    double loss;
    net_digits(n);
    net_iterate(n, 30);
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    struct lab_data_facts f;
    lab_data_get_facts(lab_walk_data(n->walk), &f);
    assert_true(f.held_rows > 100 && f.held_rows % f.batch != 0);
    double *W1 = net_read(n, "fc1.W");
    double *b1 = net_read(n, "fc1.b");
    double *W2 = net_read(n, "fc2.W");
    double *b2 = net_read(n, "fc2.b");
    float *x = lab_alloc_array(16 * 64, sizeof(float));
    int64_t right = 0;
    double sum = 0;
    for (int64_t row = 0; row < f.held_rows; row++) {
        double z[10];
        double total = 0;
        int best = 0;
        int label = lab_data_held_label(lab_walk_data(n->walk), row);
        lab_data_fill_held(lab_walk_data(n->walk), n->plan, n->plan->x, row, x);
        for (int c = 0; c < 10; c++)
            z[c] = b2[c];
        for (int u = 0; u < 8; u++) {
            double h = b1[u];
            for (int k = 0; k < 64; k++)
                h += (double)x[k] * W1[k * 8 + u];
            for (int c = 0; c < 10 && h > 0; c++)
                z[c] += h * W2[u * 10 + c];
        }
        for (int c = 0; c < 10; c++) {
            total += exp(z[c]);
            best = z[c] > z[best] ? c : best;
        }
        right += best == label;
        sum += log(total) - z[label];
    }
    assert_true(fabs(accuracy - (double)right / (double)f.held_rows) < 1e-9);
    assert_true(fabs(loss - sum / (double)f.held_rows) < 1e-5);
    lab_free(W1);
    lab_free(b1);
    lab_free(W2);
    lab_free(b2);
    lab_free(x);
}

NET_CASE(nothing_held_back_is_nan)
{
    double accuracy = 1;
    double loss = 1;
    net_every_op(n, "mse", "sgd lr=0.1");
    net_walk(n, "cpu");
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    assert_true(isnan(accuracy) && isnan(loss));
}

/* ---- switching in the middle ---- */

static bool have_onednn(struct net *n)
{
    return lab_backend_variant(lab_walk_backend(n->walk), LAB_F32, "dense",
                               NULL, LAB_FORWARD, "onednn");
}

TEST_CASE(a_switch_in_the_middle_keeps_the_place)
{
    struct net n;
    int64_t exec;
    int64_t ns;
    net_digits(&n); /* fc1.matmul fc1.bias act drop fc2.matmul fc2.bias ... */
    if (!have_onednn(&n)) {
        net_free(&n);
        skip();
    }
    /* Half a group has run: it runs again, and has not run yet. */
    net_steps(&n, 1);
    net_choose(&n, "dense", "onednn");
    assert_int_equal(lab_walk_position(n.walk), 0);
    lab_walk_step_status(n.walk, 0, &exec, &ns);
    assert_int_equal(exec, 0);
    assert_false(lab_walk_written(n.walk, net_id(&n, "fc1.xW")));
    net_steps(&n, 1);
    /* The whole group has run: so have its steps. */
    net_choose(&n, NULL, NULL);
    assert_int_equal(lab_walk_position(n.walk), 3);
    lab_walk_step_status(n.walk, 2, &exec, &ns);
    assert_true(exec > 0);
    assert_true(lab_walk_written(n.walk, net_id(&n, "act.out")));
    assert_false(lab_walk_written(n.walk, net_id(&n, "fc1.xW")));
    /* At the end it stays at the end. */
    while (!lab_walk_at_end(n.walk))
        net_steps(&n, 1);
    net_choose(&n, "*", "onednn");
    assert_true(lab_walk_at_end(n.walk));
    assert_int_equal(lab_walk_iteration(n.walk), 0);
    net_steps(&n, 1);
    assert_int_equal(lab_walk_iteration(n.walk), 1);
    assert_int_equal(lab_walk_position(n.walk), 1);
    net_free(&n);
}

TEST_CASE(a_switch_at_any_place_keeps_the_numbers)
{
    struct net a;
    struct net b;
    net_digits(&a);
    if (!have_onednn(&a)) {
        net_free(&a);
        skip();
    }
    assert_ok(lab_walk_iterate(a.walk));
    for (int at = 0; at < net_steps_of(&a); at++) {
        net_digits(&b);
        net_steps(&b, at);
        net_choose(&b, "*", "onednn");
        assert_ok(lab_walk_iterate(b.walk));
        static const char *const check[] = {
            "act.out",    "fc2.out",    "loss",    "fc1.out.grad",
            "fc1.W.grad", "fc2.W.grad", "fc1.W.m", "fc2.b"};
        for (size_t k = 0; k < sizeof(check) / sizeof(check[0]); k++) {
            double *want = net_read(&a, check[k]);
            double *got = net_read(&b, check[k]);
            for (int64_t i = 0; i < net_at(&a, check[k])->count; i++) {
                if (fabs(want[i] - got[i]) > 2e-5 * (1 + fabs(want[i])))
                    fail_msg("switched at %d: %s[%d] is %g, not %g", at,
                             check[k], (int)i, got[i], want[i]);
            }
            lab_free(want);
            lab_free(got);
        }
        net_free(&b);
    }
    net_free(&a);
}

RUN_TESTS()
