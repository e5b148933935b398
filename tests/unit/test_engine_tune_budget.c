/* The budget of measuring is a bound: by a clock that only the work of a backend moves. */
#include "test.h"

#include "base/parallel.h"
#include "engine/setup.h"
#include "engine/tune.h"
#include "unit/net.h"

static int64_t now_ns;

int64_t __wrap_lab_clock_monotonic_ns(void);
int64_t __wrap_lab_clock_monotonic_ns(void)
{
    return now_ns;
}

/* Nothing else has the processors. */
int64_t __wrap_lab_clock_process_ns(void);
int64_t __wrap_lab_clock_process_ns(void)
{
    return now_ns * lab_threads();
}

int64_t __wrap_lab_clock_thread_ns(void);
int64_t __wrap_lab_clock_thread_ns(void)
{
    return now_ns;
}

static int turns; /* each begins with all threads awake */

int __wrap_lab_threads_wake(void);
int __wrap_lab_threads_wake(void)
{
    turns++;
    return 1;
}

/* The null backend. A step takes call_ns(), a copied byte byte_ns. */
static int64_t (*call_ns)(const struct lab_variant *v, int64_t count);
static double byte_ns;
static int calls;
static struct lab_backend_ops timed_ops;

static enum lab_status timed_run(struct lab_backend *be,
                                 const struct lab_variant *v,
                                 struct lab_call *call)
{
    now_ns += call_ns(v, call->out[0].count);
    calls++;
    return lab_backend_null.run(be, v, call);
}

static enum lab_status timed_upload(struct lab_backend *be, void *dst,
                                    const void *src, size_t bytes)
{
    now_ns += (int64_t)((double)bytes * byte_ns);
    return lab_backend_null.upload(be, dst, src, bytes);
}

static bool refuses_memory;

static enum lab_status timed_alloc(struct lab_backend *be, size_t bytes,
                                   void **out)
{
    return refuses_memory ? lab_no_memory("a copy")
                          : lab_backend_null.alloc(be, bytes, out);
}

static void time_it(struct lab_backend *be)
{
    timed_ops = *be->ops;
    timed_ops.run = timed_run;
    timed_ops.upload = timed_upload;
    timed_ops.alloc = timed_alloc;
    be->ops = &timed_ops;
}

static struct lab_backend *timed_backend(void)
{
    struct lab_backend *be;
    assert_ok(lab_backend_open(&be, "null", 0));
    time_it(be);
    return be;
}

static void describe(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 64,250", NULL);
    net_labels(n, "y 64", 3);
    net_nodes(n, "fc1 dense units=100", "relu1 relu", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "adam lr=0.1");
}

static void large(struct net *n)
{
    describe(n);
    net_walk_on(n, timed_backend());
}

enum { MS = 1000000, BUDGET = 2000 * MS };

/* Where measuring is stopped. */
struct in_round_5 {
    const struct net *n;
    int total;
    int iterations;
};

struct counted {
    int kept;
    int left_out;
    int naive;
    struct in_round_5 at;
};

static void keep(void *user, const struct lab_tune_time *t)
{
    struct counted *counted = user;
    counted->kept++;
    counted->left_out += isnan(t->ns);
    counted->naive += strcmp(t->variant, "naive") == 0;
}

/* What measuring took, by that clock. */
static int64_t tuning_ns(struct net *n, struct lab_tuning *t,
                         struct counted *counted)
{
    const struct lab_tune_keeper keeper = {
        .user = counted, .budget_ns = BUDGET, .keep = keep};
    *counted = (struct counted){0};
    calls = 0;
    int64_t begin = now_ns;
    assert_ok(lab_tune(n->walk, t, &keeper));
    assert_int_equal(lab_walk_iteration(n->walk), 0);
    assert_int_equal(lab_walk_position(n->walk), 0);
    return now_ns - begin;
}

static int64_t step_ns;

static int64_t same(const struct lab_variant *v, int64_t count)
{
    (void)v;
    (void)count;
    return step_ns;
}

/* A turn is one iteration, or as many short ones as take a fifth of a millisecond. */
TEST_CASE(short_iterations_run_several_a_turn)
{
    static const int step_us[] = {1, 1000};
    call_ns = same;
    byte_ns = 0;
    for (int i = 0; i < 2; i++) {
        struct net n;
        struct counted counted;
        step_ns = (int64_t)step_us[i] * (MS / 1000);
        large(&n);
        struct lab_tuning *t = lab_tuning_new();
        assert_non_null(t);
        turns = 0;
        tuning_ns(&n, t, &counted);
        int fewest = 200 / step_us[i]; /* steps of a turn */
        assert_true(turns > 0 && calls >= fewest * turns);
        assert_true(calls < (fewest + 2 * net_steps_of(&n)) * turns);
        assert_int_equal(counted.left_out, 0);
        lab_tuning_free(t);
        net_free(&n);
    }
}

/* Steps from a ten-thousandth of the budget to the whole of it, and copies, so that the
 * restart takes up to more than it, too. */
TEST_CASE(the_budget_is_a_bound)
{
    static const int step_ms[] = {1, 7, 60, 400};
    static const double byte[] = {0, 500, 2000, 20000};
    call_ns = same;
    for (int i = 0; i < 16; i++) {
        struct net n;
        struct counted counted;
        step_ns = (int64_t)step_ms[i % 4] * MS;
        byte_ns = byte[i / 4];
        large(&n);
        struct lab_tuning *t = lab_tuning_new();
        assert_non_null(t);
        int64_t took = tuning_ns(&n, t, &counted);
        /* The first step of the last one that fits is not known before. */
        assert_true(took <= BUDGET || (calls == 1 && took < BUDGET + step_ns));
        /* Nothing is kept where nothing was measured. */
        assert_true(counted.kept > counted.left_out || counted.kept == 0);
        assert_true((counted.kept > 0) == (calls > 0));
        assert_true(calls > 0 || lab_tuning_waiting(t) > 0);
        lab_tuning_free(t);
        net_free(&n);
    }
}

/* Restarts the network, by copies that take `part` of the budget. */
static void restart(struct lab_walk *w, double part)
{
    byte_ns = 1000;
    assert_ok(lab_walk_restart(w));
    byte_ns *= part * BUDGET / (double)lab_walk_start_ns(w);
    assert_ok(lab_walk_restart(w));
}

/* A slow start leaves no time, or some: the next one, which is fast, measures the rest. */
TEST_CASE(a_slow_start_leaves_the_rest_to_the_next)
{
    static const double part[] = {1, .95, .935, .93};
    call_ns = same;
    step_ns = MS;
    for (int i = 0; i < 4; i++) {
        struct net n;
        struct counted counted;
        byte_ns = 0;
        large(&n);
        struct lab_tuning *t = lab_tuning_new();
        assert_non_null(t);
        restart(n.walk, part[i]);
        assert_true(tuning_ns(&n, t, &counted) <= BUDGET);
        assert_true((calls > 0) == (i > 1));
        assert_int_equal(counted.left_out, 0);
        assert_true(lab_tuning_waiting(t) > 0);
        int before = counted.kept;
        restart(n.walk, 0);
        assert_true(tuning_ns(&n, t, &counted) <= BUDGET);
        assert_int_equal(counted.left_out, 0);
        assert_true(counted.kept > before && counted.kept > 10);
        assert_int_equal(lab_tuning_waiting(t), 0);
        assert_int_equal(tuning_ns(&n, t, &counted), 0);
        lab_tuning_free(t);
        net_free(&n);
    }
}

/* Where each start is slow, measuring comes to an end, too. */
NET_CASE(slow_starts_come_to_an_end)
{
    struct counted counted;
    int starts = 0;
    call_ns = same;
    step_ns = 10 * MS;
    byte_ns = 0;
    large(n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    restart(n->walk, .9);
    do {
        assert_true(tuning_ns(n, t, &counted) <= BUDGET);
        assert_true(++starts < 20);
    } while (lab_tuning_waiting(t) > 0);
    print_message("%d starts, %d of %d times left out\n", starts,
                  counted.left_out, counted.kept);
    assert_true(starts > 2);
    assert_in_range(counted.left_out, 1, counted.kept - 1);
    assert_int_equal(tuning_ns(n, t, &counted), 0);
    lab_tuning_free(t);
}

static enum lab_status start_slowly(void *user, struct lab_walk *walk,
                                    struct lab_str *notice)
{
    (void)notice;
    time_it(lab_walk_backend(walk));
    restart(walk, *(const double *)user);
    return LAB_OK;
}

/* Where a start is slow, nothing or not all is measured. */
TEST_CASE(a_notice_states_what_was_not_measured)
{
    static const struct {
        double part;
        int64_t step_ms;
        const char *words;
        const char *absent;
    } starts[] = {
        {1, 1, "no variant was measured: the time for it was over", "left out"},
        {.93, 1, "are measured at the next start", "no variant"},
        {0, 1, "variants were measured: ", "next start"},
        {0, 60, " times are left out, over the budget", "next start"},
    };
    call_ns = same;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct net n;
        struct counted counted = {.kept = 0};
        struct lab_str notice;
        double part = starts[i].part;
        const struct lab_tune_keeper keeper = {
            .user = &counted, .budget_ns = BUDGET, .keep = keep};
        describe(&n);
        const struct lab_setup setup = {.spec = &n.spec,
                                        .backend = "null",
                                        .tune = &keeper,
                                        .begin = start_slowly,
                                        .user = &part};
        step_ns = starts[i].step_ms * MS;
        byte_ns = 0;
        lab_str_init(&notice);
        assert_ok(lab_setup_open(&setup, &n.walk, &n.plan, &notice));
        const char *text = lab_str_text(&notice);
        if (!strstr(text, starts[i].words) || strstr(text, starts[i].absent))
            fail_msg("start %zu: %s", i, text);
        lab_str_release(&notice);
        net_free(&n);
    }
}

/* Leaves out every variant of a step, as a kept time. */
static void leave_out(struct lab_tuning *t, const struct net *n,
                      const struct lab_step *s)
{
    enum { MOST_NAMES = 64 };
    const char *names[MOST_NAMES];
    struct lab_backend *be = lab_walk_backend(n->walk);
    int count = lab_backend_variant_names(be, n->plan->real, s->op->name, names,
                                          MOST_NAMES);
    for (int k = 0; k < count; k++) {
        struct lab_tune_time time = {.ns = NAN};
        const struct lab_variant *v = lab_backend_variant(
            be, n->plan->real, s->op->name, s->kernel, s->phase, names[k]);
        lab_tune_key(n->plan, s, time.step);
        snprintf(time.variant, sizeof(time.variant), "%s", names[k]);
        if (v && lab_tune_competes(v))
            assert_ok(lab_tuning_add(t, &time));
    }
}

static double time_of(struct lab_tuning *t, const struct net *n,
                      const struct lab_step *s)
{
    char key[LAB_TUNE_KEY];
    int count;
    lab_tune_key(n->plan, s, key);
    const struct lab_tune_time *of = lab_tuning_of(t, key, &count);
    return of ? of->ns : NAN;
}

/* Kept times of which all, or those of one step, are left out: measured again. */
TEST_CASE(a_step_without_a_time_is_measured_again)
{
    call_ns = same;
    step_ns = MS;
    byte_ns = 0;
    for (int all = 0; all < 2; all++) {
        struct net n;
        struct counted counted;
        large(&n);
        struct lab_tuning *t = lab_tuning_new();
        assert_non_null(t);
        const struct lab_step *last = &n.plan->steps[n.plan->n_steps - 1];
        for (int i = 0; i < n.plan->n_steps; i++) {
            struct lab_tune_time known = {.variant = "naive", .ns = MS};
            leave_out(t, &n, &n.plan->steps[i]);
            lab_tune_key(n.plan, &n.plan->steps[i], known.step);
            if (!all && &n.plan->steps[i] != last)
                assert_ok(lab_tuning_add(t, &known));
        }
        leave_out(t, &n, last);
        assert_true(tuning_ns(&n, t, &counted) > 0);
        assert_true(lab_tuning_untimed(t) >= 1);
        assert_true((lab_tuning_untimed(t) == n.plan->n_steps) == all);
        assert_true(time_of(t, &n, last) > 0);
        assert_int_equal(tuning_ns(&n, t, &counted), 0);
        lab_tuning_free(t);
        net_free(&n);
    }
}

/* Where the steps before it take half of the budget, the time was too short for it: that
 * costs the budget once. */
NET_CASE(what_is_not_reached_stays_left_out)
{
    struct counted counted;
    call_ns = same;
    step_ns = MS;
    byte_ns = 0;
    large(n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    for (int i = 0; i < n->plan->n_steps; i++) {
        struct lab_tune_time known = {.variant = "naive", .ns = BUDGET / 2};
        leave_out(t, n, &n->plan->steps[i]);
        lab_tune_key(n->plan, &n->plan->steps[i], known.step);
        if (i == 0)
            assert_ok(lab_tuning_add(t, &known));
    }
    leave_out(t, n, &n->plan->steps[n->plan->n_steps - 1]);
    tuning_ns(n, t, &counted);
    assert_int_equal(lab_tuning_untimed(t), 0);
    assert_true(isnan(time_of(t, n, &n->plan->steps[n->plan->n_steps - 1])));
    lab_tuning_free(t);
}

/* A step by blas takes a hundredth of one by others. */
static int64_t by_name(const struct lab_variant *v, int64_t count)
{
    (void)count;
    return strcmp(v->name, "blas") == 0 ? 2 * MS : 200 * MS;
}

/* Where the time ends in the first round, what is likely to be fast has been there: the
 * best of that is used, the rest is left out, and nothing is measured again. */
NET_CASE(the_best_so_far_is_used)
{
    struct counted counted;
    char key[LAB_TUNE_KEY];
    int count;
    call_ns = by_name;
    byte_ns = 0;
    large(n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    assert_true(tuning_ns(n, t, &counted) <= BUDGET);
    assert_in_range(counted.left_out, 1, counted.kept - 1);
    lab_tune_key(n->plan, net_step(n, "fc1.matmul", LAB_FORWARD), key);
    const struct lab_tune_time *of = lab_tuning_of(t, key, &count);
    assert_true(count > 1 && !isnan(of[0].ns));
    assert_true(isnan(of[count - 1].ns));
    assert_int_equal(tuning_ns(n, t, &counted), 0);
    assert_int_equal(calls, 0);
    lab_tuning_free(t);
}

/* The first product by one name takes half of the budget, other steps no time. */
static int64_t blas_is_slow(const struct lab_variant *v, int64_t count)
{
    bool slow = strcmp(v->name, "blas") == 0 && count == 64 * 100;
    return slow ? BUDGET / 2 : MS / 20;
}

/* Of the reference, which comes last. */
static void keep_naive(void *user, const struct lab_tune_time *t)
{
    if (strcmp(t->variant, "naive") == 0)
        keep(user, t);
}

/* A step that does not fit ends its own name: those that come after it are measured in
 * the time that is left, which is less than its longest step. */
NET_CASE(a_slow_name_ends_no_other)
{
    struct counted counted = {.kept = 0};
    char key[LAB_TUNE_KEY];
    call_ns = blas_is_slow;
    byte_ns = 0;
    large(n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    const struct lab_tune_keeper keeper = {
        .user = &counted, .budget_ns = BUDGET, .keep = keep_naive};
    int64_t begin = now_ns;
    assert_ok(lab_tune(n->walk, t, &keeper));
    assert_true(now_ns - begin <= BUDGET);
    lab_tune_key(n->plan, net_step(n, "fc1.matmul", LAB_BACKWARD), key);
    const struct lab_tune_time *slow = lab_tuning_find(t, key, "blas");
    assert_true(slow && isnan(slow->ns)); /* it was cut */
    assert_true(counted.naive > 0);
    assert_int_equal(counted.left_out, 0);
    lab_tuning_free(t);
}

static int64_t blas_is_slow_anywhere(const struct lab_variant *v, int64_t count)
{
    (void)count;
    return strcmp(v->name, "blas") == 0 ? BUDGET / 2 : MS / 20;
}

/* A group that comes first, after an iteration that was cut, is not taken to be as long
 * as its steps where those that it hides are known. */
NET_CASE(a_group_comes_after_an_iteration_that_was_cut)
{
    struct counted counted;
    const struct lab_variant_choice group = {"lstm1", "sequence"};
    char key[LAB_TUNE_KEY];
    call_ns = blas_is_slow_anywhere;
    byte_ns = 0;
    net_init(n);
    net_tensor(n, "x 3,5,4", NULL);
    net_labels(n, "y 3,5", 7);
    net_nodes(n, "lstm1 lstm hidden=4", "relu1 relu", "fc dense units=7");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk_on(n, timed_backend());
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    for (int i = 0; i < n->plan->n_steps; i++) {
        struct lab_tune_time known = {.variant = "naive", .ns = MS};
        lab_tune_key(n->plan, &n->plan->steps[i], known.step);
        assert_ok(lab_tuning_add(t, &known));
    }
    assert_ok(lab_walk_choose(n->walk, &group, 1));
    const struct lab_schedule_step *first =
        &lab_walk_schedule(n->walk)->steps[0];
    assert_true(first->step->group && first->hides_count > 1);
    lab_tune_key(n->plan, first->step, key);
    assert_ok(lab_walk_choose(n->walk, NULL, 0));
    assert_true(tuning_ns(n, t, &counted) <= BUDGET);
    assert_true(counted.left_out > 0); /* of blas */
    const struct lab_tune_time *time = lab_tuning_find(t, key, "sequence");
    assert_true(time && time->ns == MS / 20);
    lab_tuning_free(t);
}

/* An iteration that was cut between a product and its bias is given up before oneDNN,
 * which does both as one, is chosen: a choice in the middle would need a copy of all
 * parameters, to run what the group holds again. */
NET_CASE(a_cut_iteration_is_given_up_before_a_group_is_chosen)
{
    struct counted counted;
    const struct lab_variant_choice group = {"*", "onednn"};
    call_ns = blas_is_slow;
    byte_ns = 0;
    large(n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    if (lab_walk_choose(n->walk, &group, 1) == LAB_OK)
        assert_true(lab_walk_schedule(n->walk)->steps[0].hides_count > 1);
    assert_ok(lab_walk_choose(n->walk, NULL, 0));
    refuses_memory = true;
    assert_true(tuning_ns(n, t, &counted) <= BUDGET);
    refuses_memory = false;
    assert_true(counted.naive > 0);
    lab_tuning_free(t);
}

static int slow_calls;

static int64_t naive_is_slow(const struct lab_variant *v, int64_t count)
{
    bool slow = strcmp(v->name, "naive") == 0 && count == 64 * 100;
    slow_calls += slow;
    return slow ? 20 * MS : MS / 20;
}

/* One that takes several times as long as the fastest runs two iterations, not five; the
 * fixed table has steps of it in those of other names. */
NET_CASE(a_slow_name_is_repeated_less)
{
    struct counted counted;
    call_ns = naive_is_slow;
    byte_ns = 0;
    large(n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    slow_calls = 0;
    assert_true(tuning_ns(n, t, &counted) <= BUDGET);
    assert_int_equal(counted.left_out, 0);
    const struct lab_variant_choice naive = {"*", "naive"};
    int all = slow_calls;
    slow_calls = 0;
    assert_ok(lab_walk_choose(n->walk, &naive, 1));
    net_steps(n, net_steps_of(n));
    assert_true(slow_calls > 0);
    assert_in_range(all, 2 * slow_calls, 4 * slow_calls);
    lab_tuning_free(t);
}

static void count_names(void *user, const char *variant, int done, int total)
{
    struct counted *counted = user;
    counted->at.total = total;
    assert_true(variant && done < total);
}

/* Asked before each step: in the fifth round, of the last name. */
static bool at_the_last_name(void *user)
{
    struct in_round_5 *r = user;
    r->iterations += lab_walk_position(r->n->walk) == 0;
    return r->iterations == 5 * r->total;
}

TEST_CASE(what_was_measured_before_a_stop_is_kept)
{
    struct net n;
    struct counted counted = {.kept = 0};
    call_ns = same;
    step_ns = MS;
    byte_ns = 0;
    large(&n);
    counted.at.n = &n;
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    const struct lab_tune_keeper keeper = {
        .user = &counted,
        .budget_ns = BUDGET,
        .keep = keep,
        .progress = count_names,
        .stop = {at_the_last_name, &counted.at}};
    assert_int_equal(lab_tune(n.walk, t, &keeper), LAB_E_CANCELLED);
    assert_string_equal(lab_error(), "measuring was stopped");
    assert_true(counted.at.total > 1 && counted.kept > 0);
    assert_int_equal(counted.naive, 0); /* the reference comes last */
    assert_int_equal(counted.left_out, 0);
    lab_tuning_free(t);
    net_free(&n);
}

RUN_TESTS()
