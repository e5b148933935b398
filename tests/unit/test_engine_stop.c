/* Work that is stopped: an iteration is cut between two steps, an evaluation is
 * left out, going back ends on the way, and the numbers stay exact. */
#include <time.h>

#include "test.h"

#include "base/clock.h"
#include "base/parallel.h"
#include "unit/net.h"

/* Asks to stop from its `after`th call on, and then takes longer than a short
 * iteration is waited for. */
struct asker {
    int asked;
    int after;
    bool slow;
    int64_t asked_ns; /* first */
};

static bool ask(void *user)
{
    struct asker *a = user;
    const struct timespec patience = {0, 50000000};
    if (a->asked == 0)
        a->asked_ns = lab_clock_monotonic_ns();
    if (++a->asked < a->after)
        return false;
    if (a->slow && a->asked > a->after)
        nanosleep(&patience, NULL);
    return true;
}

static void stop_after(struct net *n, struct asker *a)
{
    const struct lab_stop stop = {ask, a};
    lab_walk_stop_when(n->walk, &stop);
}

static void never_stop(struct net *n)
{
    const struct lab_stop stop = {NULL, NULL};
    lab_walk_stop_when(n->walk, &stop);
}

static void digits(struct net *n)
{
    net_digits_of(n, 16, "adam lr=0.1", "fc1 dense units=8", "norm batch_norm",
                  "act relu", "drop dropout p=0.5", "fc2 dense units=10");
    net_walk(n, "cpu");
}

struct heard {
    int begun;
    int64_t begun_ns; /* the last one */
    int ended;
    int cut;
    int evaluations;
    double loss;
};

static void hear_begin(void *user, int64_t iteration, int64_t start_ns)
{
    struct heard *h = user;
    (void)iteration;
    h->begun++;
    h->begun_ns = start_ns;
}

static void hear_end(void *user, int64_t iteration, double loss)
{
    struct heard *h = user;
    (void)iteration;
    h->ended++;
    h->loss = loss;
}

static void hear_cut(void *user, int64_t iteration)
{
    struct heard *h = user;
    (void)iteration;
    h->cut++;
}

static void hear_evaluation(void *user, int64_t iteration, double loss,
                            double accuracy)
{
    struct heard *h = user;
    (void)iteration;
    (void)loss;
    (void)accuracy;
    h->evaluations++;
}

static void listen(struct net *n, struct heard *h)
{
    *h = (struct heard){.loss = NAN};
    struct lab_observer o = {.user = h,
                             .iteration_begin = hear_begin,
                             .iteration_end = hear_end,
                             .iteration_cut = hear_cut,
                             .evaluation = hear_evaluation};
    lab_walk_observe(n->walk, &o);
}

/* The iteration behind `before` others, cut so that `steps` and one of it have run.
 * When a stop was asked about first: before its first step. */
static int64_t cut_behind(struct net *n, int before, int steps)
{
    struct asker a = {.after = steps + 1, .slow = true};
    net_iterate(n, before);
    stop_after(n, &a);
    assert_int_equal(lab_walk_iterate(n->walk), LAB_E_CANCELLED);
    never_stop(n);
    assert_int_equal(lab_walk_iteration(n->walk), before);
    assert_int_equal(lab_walk_position(n->walk), steps + 1);
    return a.asked_ns;
}

static void goes_on_exactly(int before)
{
    struct net whole;
    digits(&whole);
    net_iterate(&whole, before + 1);
    struct net_moment *want = net_keep(&whole);
    int n = net_steps_of(&whole);
    for (int steps = 1; steps < n - 1; steps++) {
        struct net cut;
        struct heard h;
        digits(&cut);
        listen(&cut, &h);
        int64_t asked_ns = cut_behind(&cut, before, steps);
        assert_int_equal(h.begun, before + 1);
        if (!lab_walk_samples(before)) /* not reported: it began at its start */
            assert_true(h.begun_ns <= asked_ns);
        assert_int_equal(h.ended, before);
        for (int i = 0; i < n; i++) {
            int64_t exec = 0;
            int64_t ns = 0;
            lab_walk_step_status(cut.walk, i, &exec, &ns);
            assert_true((exec != 0) == (i <= steps));
        }
        bool known = lab_walk_written(cut.walk, cut.plan->loss);
        assert_true(known == (bool)isfinite(lab_walk_loss(cut.walk)));
        net_steps(&cut, n - steps - 1);
        net_still(&cut, "cut and walked on", want);
        assert_int_equal(h.begun, before + 1);
        assert_int_equal(h.ended, before + 1);
        assert_int_equal(h.cut, 0);
        assert_true(isfinite(h.loss));
        net_free(&cut);
    }
    net_moment_free(want);
    net_free(&whole);
}

TEST_CASE(a_cut_iteration_goes_on_exactly)
{
    goes_on_exactly(1);
}

/* It has its calls made ready, and is not known to be short: the first of its kind. */
TEST_CASE(a_cut_unreported_iteration_goes_on_exactly)
{
    int before = 0;
    while (lab_walk_samples(before))
        before++;
    goes_on_exactly(before);
}

/* However short the last one by other variants was. */
NET_CASE(an_unreported_iteration_by_new_variants_is_cut)
{
    struct asker a = {.after = 4, .slow = true};
    int before = 0;
    digits(n);
    while (lab_walk_samples(before))
        before++;
    net_iterate(n, before + 1);
    net_choose(n, "fc1", "blas");
    while (lab_walk_samples(lab_walk_iteration(n->walk) + 1))
        net_iterate(n, 1);
    stop_after(n, &a);
    assert_int_equal(lab_walk_iterate(n->walk), LAB_E_CANCELLED);
    assert_int_equal(lab_walk_position(n->walk), a.after);
}

TEST_CASE(back_from_a_cut_is_exact)
{
    struct net walked;
    digits(&walked);
    int n = net_steps_of(&walked);
    net_steps(&walked, n + 2);
    struct net_moment *want = net_keep(&walked);
    for (int steps = 3; steps < n - 1; steps += 4) {
        struct net cut;
        digits(&cut);
        cut_behind(&cut, 1, steps);
        assert_ok(lab_walk_back(cut.walk, steps - 1));
        net_still(&cut, "back from a cut", want);
        net_free(&cut);
    }
    net_moment_free(want);
    net_free(&walked);
}

/* Among the last steps parameters have changed, and no copy was kept. */
TEST_CASE(a_choice_after_a_cut_holds)
{
    struct net cut;
    digits(&cut);
    int n = net_steps_of(&cut);
    cut_behind(&cut, 1, n - 3);
    net_choose(&cut, "fc1", "blas");
    assert_ok(lab_walk_iterate(cut.walk));
    assert_true(isfinite(lab_walk_loss(cut.walk)));
    net_free(&cut);
}

NET_CASE(a_cut_iteration_that_is_left_is_none)
{
    struct heard h;
    digits(n);
    listen(n, &h);
    lab_walk_run_begin(n->walk, "net");
    cut_behind(n, 1, net_steps_of(n) - 2);
    lab_walk_run_end(n->walk);
    assert_int_equal(h.begun, 2);
    assert_int_equal(h.ended, 1);
    assert_int_equal(h.cut, 1);
}

/* Short ones come to their end, so that training stops between two. */
NET_CASE(a_short_iteration_comes_to_its_end)
{
    struct asker a = {.after = 3};
    digits(n);
    stop_after(n, &a);
    assert_ok(lab_walk_iterate(n->walk));
    assert_true(lab_walk_at_end(n->walk));
    assert_int_equal(lab_walk_iterate(n->walk), LAB_E_CANCELLED);
    assert_int_equal(lab_walk_iteration(n->walk), 0);
    assert_true(lab_walk_at_end(n->walk));
}

NET_CASE(an_evaluation_is_left_out)
{
    struct heard h;
    struct asker count = {.after = INT32_MAX};
    double accuracy = -1;
    double loss = -1;
    digits(n);
    listen(n, &h);
    assert_ok(lab_walk_iterate(n->walk));
    struct net_moment *want = net_keep(n);
    stop_after(n, &count);
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    assert_true(count.asked > 20 * 5); /* batches, steps */
    assert_int_equal(h.evaluations, 1);
    accuracy = loss = -1;
    for (int after = 1; after <= count.asked; after += 13) {
        struct asker a = {.after = after};
        stop_after(n, &a);
        assert_int_equal(lab_walk_evaluate(n->walk, &accuracy, &loss),
                         LAB_E_CANCELLED);
        assert_int_equal(a.asked, after); /* it ends at once */
    }
    assert_true(accuracy == -1 && loss == -1);
    assert_int_equal(h.evaluations, 1);
    net_still(n, "a stopped evaluation", want);
    net_moment_free(want);
}

TEST_CASE(going_back_ends_on_the_way)
{
    struct net n;
    struct net fresh;
    struct asker count = {.after = INT32_MAX};
    digits(&n);
    net_iterate(&n, 12);
    stop_after(&n, &count);
    assert_ok(lab_walk_back(n.walk, 1));
    assert_true(count.asked > 12 * 5);
    for (int after = 1; after < count.asked; after += 31) {
        struct asker a = {.after = after};
        net_free(&n);
        digits(&n);
        net_iterate(&n, 12);
        stop_after(&n, &a);
        assert_int_equal(lab_walk_back(n.walk, 1), LAB_E_CANCELLED);
        assert_true(error_is("[cancelled] iteration "));
        never_stop(&n);
        assert_int_equal(lab_walk_position(n.walk), 0);
        int64_t at = lab_walk_iteration(n.walk);
        assert_true(at < 12);
        digits(&fresh);
        for (int64_t i = 0; i <= at; i++) {
            assert_ok(lab_walk_iterate(fresh.walk));
        }
        assert_ok(lab_walk_iterate(n.walk));
        net_alike(&n, "stopped on the way back", &fresh);
        net_free(&fresh);
    }
    net_free(&n);
}

/* Asks to stop from the moment on at which step `from` is the next. */
struct at_step {
    const struct net *n;
    int from;
};

static bool from_step(void *user)
{
    const struct at_step *a = user;
    return lab_walk_position(a->n->walk) >= a->from;
}

static void slow_product(struct net *n)
{
    net_digits_of(n, 512, "sgd lr=0.1", "fc1 dense units=1024",
                  "fc2 dense units=1024", "fc3 dense units=10");
    net_walk(n, "cpu");
    net_choose(n, "fc2", "naive");
}

/* A readable kernel that takes long ends early; the step runs again as a whole. */
TEST_CASE(a_long_kernel_is_cut)
{
    struct net whole;
    struct net cut;
    slow_product(&whole);
    slow_product(&cut);
    int at = lab_schedule_find(lab_walk_schedule(cut.walk), cut.plan,
                               "fc2.matmul", LAB_FORWARD, 0);
    assert_true(at > 0);
    struct at_step from = {&cut, at};
    const struct lab_stop stop = {from_step, &from};
    lab_walk_stop_when(cut.walk, &stop);
    assert_int_equal(lab_walk_iterate(cut.walk), LAB_E_CANCELLED);
    assert_int_equal(lab_walk_position(cut.walk), at);
    never_stop(&cut);
    net_steps(&cut, 1);
    net_steps(&whole, at + 1);
    net_alike(&cut, "a kernel that was cut", &whole);
    net_free(&cut);
    net_free(&whole);
}

/* Of 600 x 600 numbers, 2^18 are drawn at a time. */
static void wide(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 2,600", NULL);
    net_labels(n, "y 2", 600);
    net_nodes(n, "fc1 dense units=600");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    assert_ok(net_build(n));
}

NET_CASE(the_drawing_of_parameters_is_stopped_and_does_not_depend_on_threads)
{
    enum { COUNT = 600 * 600, FIRST = 1 << 18 };
    wide(n);
    int W = net_id(n, "fc1.W");
    float *one = malloc(COUNT * sizeof(*one));
    float *three = malloc(COUNT * sizeof(*three));
    int before = lab_threads();
    assert_non_null(one);
    assert_non_null(three);
    lab_threads_set(1);
    assert_ok(lab_plan_init_tensor(n->plan, W, one, NULL));
    lab_threads_set(3);
    assert_ok(lab_plan_init_tensor(n->plan, W, three, NULL));
    assert_memory_equal(one, three, COUNT * sizeof(*one));
    struct asker second = {.after = 2};
    const struct lab_stop stop = {ask, &second};
    memset(three, 0, COUNT * sizeof(*three));
    assert_int_equal(lab_plan_init_tensor(n->plan, W, three, &stop),
                     LAB_E_CANCELLED);
    assert_memory_equal(one, three, FIRST * sizeof(*one));
    assert_true(three[FIRST] == 0);
    lab_threads_set(before);
    free(one);
    free(three);
}

/* At each part of its parameters, and when it begins anew. */
NET_CASE(opening_a_walk_is_stopped)
{
    struct lab_backend *be;
    wide(n);
    assert_ok(lab_backend_open(&be, "cpu", 0));
    for (int after = 1; after <= 2; after++) {
        struct asker a = {.after = after};
        const struct lab_stop stop = {ask, &a};
        assert_int_equal(lab_walk_new(&n->walk, n->plan, be, n->data, &stop),
                         LAB_E_CANCELLED);
        assert_null(n->walk);
        assert_int_equal(a.asked, after);
    }
    lab_backend_stop_when(be, &(struct lab_stop){0});
    assert_ok(lab_walk_new(&n->walk, n->plan, be, n->data, NULL));
    struct asker again = {.after = 2};
    stop_after(n, &again);
    assert_int_equal(lab_walk_restart_or_stop(n->walk), LAB_E_CANCELLED);
    assert_ok(lab_walk_restart(n->walk)); /* obeys none */
    assert_int_equal(again.asked, 2);
}

/* 128 MiB are cleared at a time. */
TEST_CASE(the_clearing_of_memory_is_stopped)
{
    const size_t bytes = ((size_t)128 << 20) + 1;
    struct lab_backend *be;
    struct asker a = {.after = 1};
    const struct lab_stop stop = {ask, &a};
    void *p = NULL;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    lab_backend_stop_when(be, &stop);
    assert_ok(lab_backend_alloc(be, bytes - 1, &p));
    assert_int_equal(a.asked, 0);
    lab_backend_free(be, p);
    p = NULL;
    assert_int_equal(lab_backend_alloc(be, bytes, &p), LAB_E_CANCELLED);
    assert_null(p);
    lab_backend_stop_when(be, &(struct lab_stop){0});
    assert_ok(lab_backend_alloc(be, bytes, &p));
    for (size_t i = 0; i < bytes; i += 4096)
        assert_true(((char *)p)[i] == 0);
    assert_true(((char *)p)[bytes - 1] == 0);
    lab_backend_free(be, p);
    lab_backend_close(be);
}

RUN_TESTS()
