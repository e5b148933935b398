/* The budget of measuring is a bound: by a clock that only the work of a backend moves. */
#include "test.h"

#include "engine/tune.h"
#include "unit/net.h"

static int64_t now_ns;

int64_t __wrap_lab_clock_monotonic_ns(void);
int64_t __wrap_lab_clock_monotonic_ns(void)
{
    return now_ns;
}

/* The null backend, whose steps and copies take a time that is told. */
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

static struct lab_backend *timed_backend(void)
{
    struct lab_backend *be;
    assert_ok(lab_backend_open(&be, "null", 0));
    timed_ops = *be->ops;
    timed_ops.run = timed_run;
    timed_ops.upload = timed_upload;
    be->ops = &timed_ops;
    return be;
}

static void large(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 64,250", NULL);
    net_labels(n, "y 64", 3);
    net_nodes(n, "fc1 dense units=100", "relu1 relu", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "adam lr=0.1");
    net_walk_on(n, timed_backend());
}

enum { MS = 1000000, BUDGET = 2000 * MS };

/* Where measuring is stopped. */
struct in_round_5 {
    const struct net *n;
    int total;
    int iterations;
};

struct told {
    int kept;
    int left_out;
    int naive;
    struct in_round_5 at;
};

static void keep(void *user, const struct lab_tune_time *t)
{
    struct told *told = user;
    told->kept++;
    told->left_out += isnan(t->ns);
    told->naive += strcmp(t->variant, "naive") == 0;
}

/* What measuring took, by that clock. */
static int64_t tuning_ns(struct net *n, struct lab_tuning *t, struct told *told)
{
    const struct lab_tune_keeper keeper = {
        .user = told, .budget_ns = BUDGET, .keep = keep};
    *told = (struct told){0};
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

/* Steps from a ten-thousandth of the budget to the whole of it, and copies, so that the
 * restart takes up to more than it, too. */
TEST_CASE(the_budget_is_a_bound)
{
    static const int step_ms[] = {1, 7, 60, 400};
    static const double byte[] = {0, 500, 2000, 20000};
    call_ns = same;
    for (int i = 0; i < 16; i++) {
        struct net n;
        struct told told;
        step_ns = (int64_t)step_ms[i % 4] * MS;
        byte_ns = byte[i / 4];
        large(&n);
        struct lab_tuning *t = lab_tuning_new();
        assert_non_null(t);
        int64_t took = tuning_ns(&n, t, &told);
        /* The first step of the last one that fits is not known before. */
        assert_true(took <= BUDGET || (calls == 1 && took < BUDGET + step_ns));
        assert_true(told.kept > 0);
        lab_tuning_free(t);
        net_free(&n);
    }
}

/* A step by blas takes a hundredth of one by others. */
static int64_t by_name(const struct lab_variant *v, int64_t count)
{
    (void)count;
    return strcmp(v->name, "blas") == 0 ? 2 * MS : 200 * MS;
}

/* Where the time ends in the first round, what is likely to be fast has been there: the
 * best of that is used, the rest is left out, and nothing is measured again. */
TEST_CASE(the_best_so_far_is_used)
{
    struct net n;
    struct told told;
    char key[LAB_TUNE_KEY];
    int count;
    call_ns = by_name;
    byte_ns = 0;
    large(&n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    assert_true(tuning_ns(&n, t, &told) <= BUDGET);
    assert_in_range(told.left_out, 1, told.kept - 1);
    lab_tune_key(n.plan, net_step(&n, "fc1.matmul", LAB_FORWARD), key);
    const struct lab_tune_time *of = lab_tuning_of(t, key, &count);
    assert_true(count > 1 && !isnan(of[0].ns));
    assert_true(isnan(of[count - 1].ns));
    assert_int_equal(tuning_ns(&n, t, &told), 0);
    assert_int_equal(calls, 0);
    lab_tuning_free(t);
    net_free(&n);
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
TEST_CASE(a_slow_name_is_repeated_less)
{
    struct net n;
    struct told told;
    call_ns = naive_is_slow;
    byte_ns = 0;
    large(&n);
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    slow_calls = 0;
    assert_true(tuning_ns(&n, t, &told) <= BUDGET);
    assert_int_equal(told.left_out, 0);
    const struct lab_variant_choice naive = {"*", "naive"};
    int all = slow_calls;
    slow_calls = 0;
    assert_ok(lab_walk_choose(n.walk, &naive, 1));
    net_steps(&n, net_steps_of(&n));
    assert_true(slow_calls > 0);
    assert_in_range(all, 2 * slow_calls, 4 * slow_calls);
    lab_tuning_free(t);
    net_free(&n);
}

static void count_names(void *user, const char *variant, int done, int total)
{
    struct told *told = user;
    told->at.total = total;
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
    struct told told = {.kept = 0};
    call_ns = same;
    step_ns = MS;
    byte_ns = 0;
    large(&n);
    told.at.n = &n;
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    const struct lab_tune_keeper keeper = {
        .user = &told,
        .budget_ns = BUDGET,
        .keep = keep,
        .progress = count_names,
        .stop = {at_the_last_name, &told.at}};
    assert_int_equal(lab_tune(n.walk, t, &keeper), LAB_E_CANCELLED);
    assert_string_equal(lab_error(), "measuring was stopped");
    assert_true(told.at.total > 1 && told.kept > 0);
    assert_int_equal(told.naive, 0); /* the reference comes last */
    assert_int_equal(told.left_out, 0);
    lab_tuning_free(t);
    net_free(&n);
}

RUN_TESTS()
