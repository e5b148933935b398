/* The observer gets proper pairs of begin and end, whatever the walk does. */
#include "test.h"

#include "base/clock.h"
#include "unit/net.h"

enum { DEPTH = 8 };

struct watcher {
    char open[DEPTH][32];
    int depth;
    int64_t steps;
    int64_t iterations;
    int64_t last_exec;
    double last_loss;
    int evaluations;
    int between;
    int unreported;
    bool unreported_open;
    int64_t done; /* iterations reported whole */
    int64_t end_ns;
    int failed;
};

static void push(struct watcher *w, const char *name)
{
    if (w->depth == DEPTH) {
        w->failed++;
        return;
    }
    snprintf(w->open[w->depth++], sizeof(w->open[0]), "%s", name);
}

static void pop(struct watcher *w, const char *name)
{
    if (w->depth == 0 || strcmp(w->open[w->depth - 1], name) != 0) {
        print_message("end of %s, but open is %s\n", name,
                      w->depth ? w->open[w->depth - 1] : "nothing");
        w->failed++;
        return;
    }
    w->depth--;
}

static void on_run(void *user, const char *name)
{
    struct watcher *w = user;
    (void)name;
    w->failed += w->depth != 0;
    push(w, "run");
}

static void on_run_end(void *user)
{
    pop(user, "run");
}

static void on_iteration(void *user, int64_t iteration, int64_t start_ns)
{
    struct watcher *w = user;
    char name[32];
    w->failed += w->depth != 1 || start_ns > lab_clock_monotonic_ns();
    snprintf(name, sizeof(name), "iteration %lld", (long long)iteration);
    push(w, name);
    w->iterations++;
}

static void on_iteration_end(void *user, int64_t iteration, double loss)
{
    struct watcher *w = user;
    char name[32];
    snprintf(name, sizeof(name), "iteration %lld", (long long)iteration);
    pop(w, name);
    w->last_loss = loss;
}

static void on_phase(void *user, enum lab_phase phase)
{
    struct watcher *w = user;
    w->failed += w->depth != 2;
    push(w, lab_phase_name(phase));
}

static void on_phase_end(void *user, enum lab_phase phase)
{
    pop(user, lab_phase_name(phase));
}

static void on_node(void *user, const char *node)
{
    struct watcher *w = user;
    w->failed += w->depth != 3;
    push(w, node);
}

static void on_node_end(void *user, const char *node)
{
    pop(user, node);
}

static void on_step(void *user, const struct lab_step_event *e)
{
    struct watcher *w = user;
    char name[32];
    w->failed += w->depth != 4 || strcmp(w->open[3], e->node) != 0;
    w->failed += strcmp(w->open[2], lab_phase_name(e->step->phase)) != 0;
    w->failed += e->exec != w->last_exec + 1;
    w->failed += w->unreported_open;
    w->failed += strcmp(e->backend, "cpu") != 0;
    w->last_exec = e->exec;
    snprintf(name, sizeof(name), "exec %lld", (long long)e->exec);
    push(w, name);
    w->steps++;
}

static void on_step_end(void *user, const struct lab_step_event *e)
{
    char name[32];
    snprintf(name, sizeof(name), "exec %lld", (long long)e->exec);
    pop(user, name);
}

static void on_evaluation(void *user, int64_t iteration, double loss,
                          double accuracy)
{
    struct watcher *w = user;
    (void)iteration;
    w->failed += !isfinite(loss) || !isfinite(accuracy);
    w->evaluations++;
}

static void on_between(void *user, const char *what)
{
    struct watcher *w = user;
    w->failed += w->unreported_open;
    w->between++;
    push(w, what);
}

static void on_between_end(void *user)
{
    pop(user, "evaluation");
}

static void on_unreported(void *user)
{
    struct watcher *w = user;
    w->failed += w->unreported_open;
    w->unreported_open = true;
    w->unreported++;
}

static void on_unreported_end(void *user)
{
    struct watcher *w = user;
    w->failed += !w->unreported_open;
    w->unreported_open = false;
}

static void on_done(void *user, int64_t iteration, double loss,
                    int64_t start_ns, int64_t end_ns)
{
    struct watcher *w = user;
    w->failed += w->depth != 1 || lab_walk_samples(iteration) ||
                 start_ns < w->end_ns || end_ns < start_ns;
    w->end_ns = end_ns;
    w->last_loss = loss;
    w->done++;
}

static struct lab_observer observer_of(struct watcher *w)
{
    return (struct lab_observer){.user = w,
                                 .run_begin = on_run,
                                 .run_end = on_run_end,
                                 .iteration_begin = on_iteration,
                                 .iteration_end = on_iteration_end,
                                 .phase_begin = on_phase,
                                 .phase_end = on_phase_end,
                                 .node_begin = on_node,
                                 .node_end = on_node_end,
                                 .step_begin = on_step,
                                 .step_end = on_step_end,
                                 .evaluation = on_evaluation,
                                 .between_begin = on_between,
                                 .between_end = on_between_end,
                                 .unreported_begin = on_unreported,
                                 .unreported_end = on_unreported_end};
}

static void good(const struct watcher *w, const char *after)
{
    if (w->failed)
        fail_msg("%d calls were not nested, after %s", w->failed, after);
}

NET_CASE(observers_see_proper_nesting)
{
    struct watcher w = {.last_loss = NAN};
    struct lab_observer o = observer_of(&w);
    double accuracy;
    double loss;
    net_digits(n);
    lab_walk_observe(n->walk, &o);
    int64_t steps = net_steps_of(n);
    lab_walk_run_begin(n->walk, "test");
    net_steps(n, (int)steps);
    good(&w, "steps");
    assert_int_equal(w.steps, steps);
    assert_int_equal(w.depth, 1); /* the iteration has ended */
    assert_true(w.last_loss == lab_walk_loss(n->walk));
    net_steps(n, 4);
    assert_int_equal(w.iterations, 2);
    assert_ok(lab_walk_back(n->walk, 2));
    assert_int_equal(w.unreported, 0);
    good(&w, "back");
    net_steps(n, 3);
    assert_int_equal(w.steps, steps + 7);
    good(&w, "steps after back");
    /* Over the start of the iteration: what runs again is not reported. */
    assert_ok(lab_walk_back(n->walk, steps));
    assert_int_equal(lab_walk_iteration(n->walk), 0);
    assert_int_equal(w.steps, steps + 7);
    assert_int_equal(w.unreported, 1);
    assert_int_equal(w.depth, 1);
    net_steps(n, 2);
    good(&w, "back over an iteration");
    assert_ok(lab_walk_iterate(n->walk));
    assert_ok(lab_walk_iterate(n->walk));
    good(&w, "iterate");
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    assert_int_equal(w.evaluations, 1);
    assert_int_equal(w.between, 1);
    net_steps(n, 1);
    /* In the middle of an iteration, whose ranges stay open. */
    int depth = w.depth;
    assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
    assert_int_equal(w.between, 2);
    assert_int_equal(w.depth, depth);
    good(&w, "an evaluation");
    net_choose(n, "dense", "blas");
    net_steps(n, 1);
    good(&w, "a switch");
    assert_ok(lab_walk_restart(n->walk));
    assert_int_equal(w.depth, 1);
    net_steps(n, 1);
    good(&w, "restart");
    lab_walk_run_end(n->walk);
    good(&w, "the run's end");
    assert_int_equal(w.depth, 0);
}

NET_CASE(training_is_observed_in_samples)
{
    struct watcher w = {.last_loss = NAN};
    struct lab_observer o = observer_of(&w);
    int64_t sampled = 0;
    net_digits(n);
    lab_walk_observe(n->walk, &o);
    lab_walk_run_begin(n->walk, "test");
    for (int i = 0; i < 200; i++) {
        int64_t before = w.steps;
        w.last_loss = NAN;
        assert_ok(lab_walk_iterate(n->walk));
        assert_int_equal(lab_walk_iteration(n->walk), i);
        assert_int_equal(w.iterations, i + 1);
        assert_true(w.last_loss == lab_walk_loss(n->walk));
        assert_int_equal(w.steps - before,
                         lab_walk_samples(i) ? net_steps_of(n) : 0);
        sampled += lab_walk_samples(i);
        assert_int_equal(w.unreported, i + 1 - sampled);
        assert_int_equal(w.depth, 1);
    }
    assert_true(sampled >= 64 && sampled < 150);
    /* Walked iterations always are. */
    while (lab_walk_samples(lab_walk_iteration(n->walk) + 1))
        assert_ok(lab_walk_iterate(n->walk));
    int64_t before = w.steps;
    net_steps(n, net_steps_of(n));
    assert_int_equal(w.steps - before, net_steps_of(n));
    lab_walk_run_end(n->walk);
    good(&w, "training");
    assert_false(w.unreported_open);
    assert_int_equal(w.depth, 0);
}

/* All are reported; the kernels of ever fewer are recorded. */
NET_CASE(evaluations_are_sampled_too)
{
    enum { COUNT = 80 };
    struct watcher w = {.last_loss = NAN};
    struct lab_observer o = observer_of(&w);
    double accuracy;
    double loss;
    net_digits(n);
    lab_walk_observe(n->walk, &o);
    for (int run = 0; run < 2; run++) {
        int left_out = 0;
        w.between = w.unreported = w.evaluations = 0;
        lab_walk_run_begin(n->walk, "test");
        for (int i = 0; i < COUNT; i++) {
            assert_ok(lab_walk_evaluate(n->walk, &accuracy, &loss));
            left_out += !lab_walk_samples(i);
            assert_int_equal(w.between, i + 1);
            assert_int_equal(w.evaluations, i + 1);
            assert_int_equal(w.unreported, left_out);
        }
        assert_true(left_out > 16);
        lab_walk_run_end(n->walk);
        good(&w, "evaluations");
        assert_false(w.unreported_open);
    }
}

NET_CASE(an_unreported_iteration_comes_whole)
{
    enum { ITERATIONS = 66 }; /* of 64 on every fourth is sampled */
    struct watcher w = {.last_loss = NAN};
    struct lab_observer o = observer_of(&w);
    int64_t sampled = 0;
    o.iteration_done = on_done;
    net_digits(n);
    lab_walk_observe(n->walk, &o);
    lab_walk_run_begin(n->walk, "test");
    for (int i = 0; i < ITERATIONS; i++) {
        assert_ok(lab_walk_iterate(n->walk));
        sampled += lab_walk_samples(i);
        assert_true(w.last_loss == lab_walk_loss(n->walk));
    }
    good(&w, "iterations");
    assert_int_equal(w.iterations, sampled);
    assert_int_equal(w.done, ITERATIONS - sampled);
}

/* What runs by ready calls leaves what steps leave: which tensors are written and how
 * often, and that each step has run. */
NET_CASE(an_unreported_iteration_leaves_what_steps_leave)
{
    enum { BEFORE = 65, MOST = 128 };
    int64_t generation[MOST];
    int64_t added[MOST];
    bool written[MOST];
    net_digits(n);
    for (int i = 0; i < BEFORE; i++)
        assert_ok(lab_walk_iterate(n->walk));
    const int tensors = lab_walk_plan(n->walk)->n_tensors;
    const int steps = net_steps_of(n);
    assert_true(tensors <= MOST && !lab_walk_samples(BEFORE) &&
                !lab_walk_samples(BEFORE + 1));
    for (int i = 0; i < tensors; i++)
        generation[i] = lab_walk_generation(n->walk, i);
    assert_ok(lab_walk_iterate(n->walk));
    for (int i = 0; i < tensors; i++) {
        added[i] = lab_walk_generation(n->walk, i) - generation[i];
        generation[i] += added[i];
        written[i] = lab_walk_written(n->walk, i);
    }
    for (int i = 0; i < steps; i++) {
        int64_t exec = 0;
        int64_t ns = 0;
        lab_walk_step_status(n->walk, i, &exec, &ns);
        assert_int_equal(exec, LAB_EXEC_UNOBSERVED);
        assert_int_equal(ns, LAB_EVENT_NO_TIME);
    }
    net_steps(n, steps);
    assert_int_equal(lab_walk_iteration(n->walk), BEFORE + 1);
    for (int i = 0; i < tensors; i++) {
        assert_int_equal(lab_walk_generation(n->walk, i) - generation[i],
                         added[i]);
        assert_int_equal(lab_walk_written(n->walk, i), written[i]);
    }
}

RUN_TESTS()
