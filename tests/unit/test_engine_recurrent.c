/* rnn and lstm through the whole engine: gradients against differences, every
 * number explained, parts of one time step as slices of the whole, long
 * sequences, and shapes that do not fit. */
#include <time.h>

#include "test.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "unit/explained.h"
#include "unit/net.h"

/* Two layers, so that each kind feeds the other, and one that starts from
 * states that are not zero. */
static const char *const stacks[][2] = {
    {"r1 lstm hidden=3", "r2 rnn hidden=2"},
    {"r1 rnn hidden=3 bias=false", "r2 lstm hidden=2 return=last"},
    {"r1 lstm hidden=1", "r2 lstm hidden=3"},
    {"r1 rnn hidden=4", "r2 rnn hidden=1 return=last"},
};
enum { STACKS = sizeof(stacks) / sizeof(stacks[0]) };

static void begin_stack(struct net *n, int which, int steps)
{
    char text[64];
    bool last = strstr(stacks[which][1], "last") != NULL;
    net_init(n);
    n->spec.data.gradient = true;
    snprintf(text, sizeof(text), "x 2,%d,5", steps);
    net_tensor(n, text, NULL);
    net_nodes(n, stacks[which][0], stacks[which][1], "fc1 dense units=3");
    net_loss(n, "mse reduction=half_sum");
    snprintf(text, sizeof(text), last ? "y 2,3" : "y 2,%d,3", steps);
    net_tensor(n, text, NULL);
    net_optimizer(n, "sgd lr=0.1");
    for (int k = 0; k < 2; k++) {
        int hidden = 0;
        const char *lstm = strstr(stacks[which][k], "lstm");
        sscanf(strstr(stacks[which][k], "hidden"), "hidden=%d", &hidden);
        snprintf(text, sizeof(text), "r%d.h0 2,%d", k + 1, hidden);
        net_param(n, text, NULL);
        snprintf(text, sizeof(text), "r%d.c0 2,%d", k + 1, hidden);
        if (lstm)
            net_param(n, text, NULL);
    }
}

TEST_CASE(gradients_are_the_slopes_of_the_loss)
{
    for (int i = 0; i < STACKS * 2; i++) {
        struct net n;
        struct lab_check_result *result = NULL;
        int count = 0;
        begin_stack(&n, i / 2, i % 2 ? 1 : 4);
        net_walk(&n, "cpu");
        assert_ok(lab_gradcheck(n.walk, &n.spec, NULL, LAB_CHECK_ELEMENTS, NULL,
                                NULL, &result, &count));
        assert_true(count >= 7);
        for (int k = 0; k < count; k++) {
            if (!result[k].passed || result[k].elements == 0)
                fail_msg("stack %d, %s: %g instead of %g", i,
                         result[k].parameter, result[k].analytic,
                         result[k].numeric);
        }
        lab_free(result);
        net_free(&n);
    }
}

/* What is computed has a step: a slice, or the whole of written slices, too. */
static void explain_one(const struct net *n, int t, int64_t i)
{
    enum lab_tensor_role role = n->plan->tensors[t].role;
    assert_true(net_explain(n, t, i) >= 0 ||
                (role != LAB_TENSOR_ACTIVATION && role != LAB_TENSOR_GRADIENT));
}

TEST_CASE(every_number_is_explained)
{
    for (int s = 0; s < STACKS; s++) {
        struct net n;
        begin_stack(&n, s, 3);
        net_walk(&n, "cpu");
        net_steps(&n, net_steps_of(&n));
        for (int t = 0; t < n.plan->n_tensors; t++) {
            assert_true(lab_walk_written(n.walk, t));
            for (int64_t i = 0; i < n.plan->tensors[t].count; i++)
                explain_one(&n, t, i);
        }
        net_free(&n);
    }
}

NET_CASE(a_step_is_a_slice_of_the_whole)
{
    begin_stack(n, 0, 4);
    net_walk(n, "cpu");
    const struct lab_tensor *h = net_at(n, "r1.h");
    const struct lab_tensor *h2 = net_at(n, "r1.h.2");
    assert_true(h2->slice && h->sliced);
    assert_int_equal(h2->first, 2 * 2 * 3);
    assert_int_equal(h2->offset, h->offset + 12 * sizeof(float));
    /* Up to the first cell: h.0 is there, h is not, nor any of its others. */
    int at = lab_schedule_find(lab_walk_schedule(n->walk), n->plan, "r1.cell.0",
                               LAB_FORWARD, 0);
    net_steps(n, at + 1);
    assert_true(lab_walk_written(n->walk, net_id(n, "r1.h.0")));
    assert_true(lab_walk_written(n->walk, net_id(n, "r1.x.3")));
    assert_false(lab_walk_written(n->walk, net_id(n, "r1.h.1")));
    assert_false(lab_walk_written(n->walk, net_id(n, "r1.h")));
    int64_t before = lab_walk_generation(n->walk, net_id(n, "r1.h"));
    net_steps(n, 6); /* to cell.3 */
    assert_true(lab_walk_written(n->walk, net_id(n, "r1.h")));
    assert_true(lab_walk_generation(n->walk, net_id(n, "r1.h")) > before);
    for (int64_t i = 0; i < h2->count; i++)
        assert_true(net_get(n, "r1.h", h2->first + i) ==
                    net_get(n, "r1.h.2", i));
    /* out[n,t,j] is h[t,n,j]. */
    net_steps(n, 1);
    for (int64_t i = 0; i < h->count; i++) {
        int64_t t = i / 3 % 4;
        int64_t s = i / 12;
        assert_true(net_get(n, "r1.out", i) ==
                    net_get(n, "r1.h", (t * 2 + s) * 3 + i % 3));
    }
}

NET_CASE(back_and_forward_give_the_same_bits)
{
    begin_stack(n, 2, 3);
    net_walk(n, "cpu");
    net_back_and_forth(n);
}

NET_CASE(initial_states_are_not_trained)
{
    begin_stack(n, 0, 2);
    net_walk(n, "cpu");
    double h0 = net_get(n, "r1.h0", 1);
    double W = net_get(n, "r1.W", 1);
    net_steps(n, net_steps_of(n));
    assert_true(net_get(n, "r1.h0", 1) == h0);
    assert_true(net_get(n, "r1.W", 1) != W);
    assert_true(net_get(n, "r1.h0.grad", 1) != 0);
    assert_true(net_get(n, "r1.c0.grad", 1) != 0);
    /* W 12x5, U 12x3, b 12; Wx 3x2, Wh 2x2, b 2; W 2x3, b 3. */
    assert_int_equal(n->plan->parameter_count, 60 + 36 + 12 + 12 + 9);
}

TEST_CASE(variants_give_the_same_numbers)
{
    for (int s = 0; s < STACKS; s++) {
        struct net naive;
        struct net blas;
        begin_stack(&naive, s, 5);
        begin_stack(&blas, s, 5);
        net_walk(&naive, "cpu");
        net_walk(&blas, "cpu");
        net_choose(&naive, "*", "naive");
        net_choose(&blas, "*", "blas");
        const struct lab_schedule *sched = lab_walk_schedule(blas.walk);
        int at = lab_schedule_find(sched, blas.plan, "r1.weights", -1, 0);
        assert_true(at >= 0);
        assert_string_equal(sched->steps[at].variant->name, "blas");
        net_steps(&naive, net_steps_of(&naive));
        net_steps(&blas, sched->n_steps);
        assert_int_equal(net_agree(&naive, &blas), naive.plan->n_tensors);
        net_free(&naive);
        net_free(&blas);
    }
}

static bool has_onednn(struct net *n)
{
    return lab_backend_variant(lab_walk_backend(n->walk), LAB_F32, "lstm", NULL,
                               LAB_FORWARD, "onednn");
}

/* As variants_give_the_same_numbers(), of what the group writes; and every
 * number of it is explained from the layer done again. */
static void check_group(int s, int steps, const char *variant)
{
    struct net naive;
    struct net whole;
    begin_stack(&naive, s, steps);
    begin_stack(&whole, s, steps);
    net_walk(&naive, "cpu");
    net_walk(&whole, "cpu");
    net_choose(&naive, "*", "naive");
    net_choose(&whole, "*", variant);
    bool onednn = strcmp(variant, "onednn") == 0;
    const struct lab_schedule *sched = lab_walk_schedule(whole.walk);
    int r1 = lab_schedule_find(sched, whole.plan, "r1", LAB_BACKWARD, 0);
    bool group = onednn || strcmp(whole.plan->nodes[0].op->name, "lstm") == 0;
    assert_true(sched->steps[r1].step->group == group);
    assert_true(!group || sched->steps[r1].hides_count ==
                              whole.plan->nodes[0].n_steps[LAB_BACKWARD]);
    assert_true(!onednn || sched->n_groups == 5); /* fc1 forward is one too */
    net_steps(&naive, net_steps_of(&naive));
    net_steps(&whole, sched->n_steps);
    int compared = 0;
    for (int t = 0; t < naive.plan->n_tensors; t++) {
        const char *name = naive.plan->tensors[t].name;
        if (!lab_walk_written(whole.walk, t))
            continue;
        compared++;
        for (int64_t i = 0; i < naive.plan->tensors[t].count; i++) {
            assert_float_equal(net_get(&naive, name, i),
                               net_get(&whole, name, i), 2e-5);
            explain_one(&whole, t, i);
        }
    }
    assert_true(lab_walk_written(whole.walk, net_id(&whole, "r1.h.0")));
    assert_true(lab_walk_written(whole.walk, net_id(&whole, "x.grad")));
    assert_true(!group ||
                !lab_walk_written(whole.walk, net_id(&whole, "r1.z")));
    assert_true(compared >= 25);
    net_free(&naive);
    net_free(&whole);
}

TEST_CASE(a_group_does_what_its_steps_do)
{
    struct net n;
    begin_stack(&n, 0, 2);
    net_walk(&n, "cpu");
    bool there = has_onednn(&n);
    net_free(&n);
    for (int i = 0; i < STACKS * 2; i++) {
        if (strstr(stacks[i / 2][0], "lstm") ||
            strstr(stacks[i / 2][1], "lstm"))
            check_group(i / 2, i % 2 ? 1 : 5, "sequence");
        if (there)
            check_group(i / 2, i % 2 ? 1 : 5, "onednn");
    }
}

static void many_samples(struct net *n, const char *variant)
{
    net_init(n);
    n->spec.data.gradient = true;
    net_tensor(n, "x 9,50,5", NULL);
    net_nodes(n, "r1 lstm hidden=3", "fc1 dense units=3");
    net_loss(n, "mse");
    net_tensor(n, "y 9,50,3", NULL);
    net_optimizer(n, "sgd lr=0.1");
    net_walk(n, "cpu");
    net_choose(n, "*", variant);
}

/* Samples that several threads share, unevenly, and a sum over all time steps that is
 * long enough to be cut among them. */
TEST_CASE(threads_share_the_samples_of_a_sequence)
{
    int before = lab_threads();
    for (int threads = 1; threads <= 3; threads++) {
        struct net naive;
        struct net whole;
        int compared = 0;
        lab_threads_set(threads);
        many_samples(&naive, "naive");
        many_samples(&whole, "sequence");
        net_steps(&naive, net_steps_of(&naive));
        net_steps(&whole, net_steps_of(&whole));
        for (int t = 0; t < naive.plan->n_tensors; t++) {
            const char *name = naive.plan->tensors[t].name;
            if (!lab_walk_written(whole.walk, t))
                continue;
            compared++;
            for (int64_t i = 0; i < naive.plan->tensors[t].count; i++)
                assert_float_equal(net_get(&naive, name, i),
                                   net_get(&whole, name, i), 2e-5);
        }
        assert_true(lab_walk_written(whole.walk, net_id(&whole, "r1.W.grad")));
        assert_true(compared > 10);
        net_free(&naive);
        net_free(&whole);
    }
    lab_threads_set(before);
}

/* 300 samples, 60 steps, 128 units: seconds in plain loops, so the numbers are
 * not done again; the text reports it. */
TEST_CASE(a_large_group_is_not_done_again)
{
    struct net n;
    struct lab_explanation e;
    net_init(&n);
    net_tensor(&n, "x 300,60,16", NULL);
    net_node(&n, "r1 lstm hidden=128 return=last");
    net_loss(&n, "mse");
    net_tensor(&n, "y 300,128", NULL);
    net_walk(&n, "cpu");
    if (!has_onednn(&n)) {
        net_free(&n);
        skip();
    }
    net_choose(&n, "r1", "onednn");
    net_steps(&n, net_steps_of(&n));
    assert_ok(lab_walk_explain(n.walk, net_id(&n, "r1.W.grad"), 5, &e));
    assert_non_null(strstr(e.symbolic, "too large to do again"));
    assert_true(e.agrees && e.value == e.shown && e.n_terms == 0);
    lab_explanation_release(&e);
    explain_one(&n, net_id(&n, "r1.out"), 1000); /* one sample is small */
    net_free(&n);
}

/* Of this process alone: other programs do not count. */
static int64_t busy_ns(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Time to build a plan of `steps` time steps, in ns; *tensors of it. */
static int64_t build_ns(int steps, int *tensors)
{
    struct net n;
    char text[64];
    net_init(&n);
    snprintf(text, sizeof(text), "x 1,%d,1", steps);
    net_tensor(&n, text, NULL);
    net_node(&n, "r1 lstm hidden=2 return=last");
    net_loss(&n, "mse");
    net_tensor(&n, "y 1,2", NULL);
    int64_t start = busy_ns();
    assert_ok(net_build(&n));
    int64_t ns = busy_ns() - start;
    *tensors = n.plan->n_tensors;
    snprintf(text, sizeof(text), "r1.gates.%d", steps - 1);
    assert_true(lab_plan_step(n.plan, text) > 0);
    assert_int_equal(lab_plan_step(n.plan, "r1.gates"), -1);
    assert_int_equal(lab_plan_node(n.plan, "r1"), 0);
    assert_int_equal(lab_plan_node(n.plan, "r2"), -1);
    net_free(&n);
    return ns;
}

/* Building takes time in proportion: with a search through all names, sixteen
 * times the steps took 256 times as long. */
TEST_CASE(a_long_plan_is_built_in_proportion)
{
    int few;
    int many;
    int64_t least_few = INT64_MAX;
    int64_t least_many = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t a = build_ns(120, &few);
        int64_t b = build_ns(1920, &many);
        least_few = a < least_few ? a : least_few;
        least_many = b < least_many ? b : least_many;
    }
    assert_true(many > 20000);
    print_message("%d tensors in %.1f ms\n", many, (double)least_many / 1e6);
    assert_true(least_many < 64 * least_few);
}

static void refused(struct net *n, enum lab_status want, const char *a,
                    const char *b)
{
    enum lab_status st = net_build(n);
    assert_int_equal(st, want);
    assert_true(error_is(a));
    if (!strstr(lab_error(), b))
        fail_msg("%s is not in: %s", b, lab_error());
    net_free(n);
}

TEST_CASE(shapes_that_do_not_fit)
{
    struct net n;
    static const char *const op[] = {"r1 lstm hidden=3", "r1 rnn hidden=3"};
    for (int k = 0; k < 2; k++) {
        net_init(&n);
        net_tensor(&n, "x 4,5", NULL);
        net_node(&n, op[k]);
        net_loss(&n, "mse");
        net_tensor(&n, "y 4,3", NULL);
        refused(&n, LAB_E_SHAPE, "[op.recurrent.shape] net.md:100:5: r1",
                "[4,5]");
        net_init(&n);
        net_tensor(&n, "x 1,16385,1", NULL);
        net_node(&n, op[k]);
        net_loss(&n, "mse");
        net_tensor(&n, "y 1,16385,3", NULL);
        refused(&n, LAB_E_RANGE, "[op.recurrent.steps] net.md:100:5: r1",
                "16385 time steps");
    }
    begin_stack(&n, 0, 3);
    n.spec.parameters[0].shape.dim[0] = 7;
    refused(&n, LAB_E_SHAPE,
            "[network.parameter-shape] net.md:50:3: parameter r1.h0 is [2,3]",
            "[7,3]");
    net_init(&n);
    net_tensor(&n, "x 1,2,1", NULL);
    net_node(&n, "r1 lstm hidden=268435456");
    net_loss(&n, "mse");
    net_tensor(&n, "y 1,2,1", NULL);
    refused(&n, LAB_E_SHAPE, "[op.loss.targets] net.md:", "");
}

TEST_CASE(no_memory_is_an_error_and_nothing_is_lost)
{
    enum lab_status st = LAB_E_NOMEM;
    int64_t fails = 1;
    for (; st == LAB_E_NOMEM; fails++) {
        struct net n;
        struct lab_plan *plan = NULL;
        begin_stack(&n, 0, 2);
        lab_mem_fail_from(fails);
        st = lab_plan_build(&plan, &n.spec, NULL, LAB_F32);
        lab_mem_fail_from(0);
        assert_true((st == LAB_OK) == (plan != NULL));
        lab_plan_free(plan);
        net_free(&n);
    }
    assert_ok(st);
    assert_true(fails > 100); /* it failed at each of them */
}

RUN_TESTS()
