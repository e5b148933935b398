/* The fastest variant by measuring: what is measured, what is chosen from given
 * times, and that neither changes a number. */
#include "test.h"

#include <stdatomic.h>

#include "backend/variant_disabled.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "engine/tune.h"
#include "unit/late_backend.h"
#include "unit/net.h"

/* 2 * 64 * 250 * 100 FLOPs in its product: large enough to be tuned. */
static void large_on(struct net *n, struct lab_backend *be)
{
    net_init(n);
    net_tensor(n, "x 64,250", NULL);
    net_labels(n, "y 64", 3);
    net_nodes(n, "fc1 dense units=100", "relu1 relu", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk_on(n, be);
}

static void large(struct net *n)
{
    struct lab_backend *be;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    large_on(n, be);
}

struct kept {
    int n;
    int progress;
    int left_out; /* NaN */
    int total;    /* names */
    int naive;
    char names[32][32]; /* in the order in which they are measured */
};

static void keep(void *user, const struct lab_tune_time *t)
{
    struct kept *k = user;
    k->n++;
    k->left_out += isnan(t->ns);
    k->naive += strcmp(t->variant, "naive") == 0;
    assert_true(isnan(t->ns) || t->ns >= 0);
}

static void progress(void *user, const char *variant, int done, int total)
{
    struct kept *k = user;
    assert_in_range(k->progress, 0, 31);
    snprintf(k->names[k->progress++], sizeof(k->names[0]), "%s", variant);
    k->total = total;
    assert_in_range(done, 0, total - 1);
}

static struct lab_tune_keeper keeper(struct kept *k, int64_t budget_ns)
{
    *k = (struct kept){.n = 0};
    return (struct lab_tune_keeper){
        .user = k, .budget_ns = budget_ns, .keep = keep, .progress = progress};
}

static const int64_t minute_ns = 60000000000;

static const char *runs(struct net *n, const char *step, enum lab_phase phase)
{
    struct lab_schedule *s = lab_walk_schedule(n->walk);
    int i = lab_schedule_find(s, n->plan, step, (int)phase, 0);
    assert_true(i >= 0);
    return s->steps[i].variant->name;
}

static struct lab_tuning *new_tuning(void)
{
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    return t;
}

static void add(struct net *n, struct lab_tuning *t, const char *step,
                enum lab_phase phase, const char *variant, double ns)
{
    struct lab_tune_time time = {.ns = ns};
    lab_tune_key(n->plan, net_step(n, step, phase), time.step);
    snprintf(time.variant, sizeof(time.variant), "%s", variant);
    assert_ok(lab_tuning_add(t, &time));
}

static void choose_by(struct net *n, struct lab_tuning *t,
                      const struct lab_variant_choice *c, int count)
{
    lab_walk_tune_with(n->walk, t);
    assert_ok(lab_walk_choose(n->walk, c, count));
}

TEST_CASE(every_variant_gets_a_time_once)
{
    struct net n;
    struct kept k;
    large(&n);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, minute_ns);
    assert_ok(lab_tune(n.walk, t, &to));
    assert_true(k.n > 10 && k.progress > 2);
    assert_int_equal(k.left_out, 0);
    char key[LAB_TUNE_KEY];
    int count;
    lab_tune_key(n.plan, net_step(&n, "fc1.matmul", LAB_FORWARD), key);
    assert_string_equal(key, "dense.matmul forward 64x250,250x100 > 64x100");
    const struct lab_tune_time *of = lab_tuning_of(t, key, &count);
    bool naive = false;
    bool blas = false;
    for (int i = 0; i < count; i++) {
        naive = naive || strcmp(of[i].variant, "naive") == 0;
        blas = blas || strcmp(of[i].variant, "blas") == 0;
        assert_true(i == 0 || of[i].ns >= of[i - 1].ns);
    }
    assert_true(naive && blas);
    /* The second time there is nothing to measure. */
    to = keeper(&k, minute_ns);
    assert_ok(lab_tune(n.walk, t, &to));
    assert_int_equal(k.progress, 0);
    choose_by(&n, t, NULL, 0);
    assert_string_equal(runs(&n, "fc1.matmul", LAB_BACKWARD),
                        runs(&n, "fc1.matmul", LAB_BACKWARD));
    net_free(&n);
}

static int64_t by_name(const struct lab_variant *v)
{
    return 1000 * (int64_t)strlen(v->name);
}

/* The times of a backend with graphs, where a variant takes a time by its name. */
static struct lab_tuning *tuned_on_a_device(struct net *n, struct kept *k)
{
    struct lab_backend *late;
    assert_ok(late_backend_open(&late));
    late_call_ns = by_name;
    large_on(n, late);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(k, minute_ns);
    assert_ok(lab_tune(n->walk, t, &to));
    late_call_ns = NULL;
    return t;
}

/* A device's time is that in a graph: by the host, naive would not win. */
NET_CASE(a_device_is_timed_in_graphs)
{
    struct kept k;
    struct lab_tuning *t = tuned_on_a_device(n, &k);
    const struct lab_tune_time *time;
    for (int i = 0; (time = lab_tuning_time(t, i)); i++)
        assert_int_equal((int64_t)time->ns,
                         1000 * (int64_t)strlen(time->variant));
    choose_by(n, t, NULL, 0);
    assert_string_equal(runs(n, "relu1.relu", LAB_BACKWARD), "naive");
    assert_string_equal(runs(n, "fc1.matmul", LAB_BACKWARD), "blas");
}

/* Does the fixed table choose `name` for a step of a large node? */
static bool preferred(struct net *n, const char *name)
{
    struct lab_backend *be = lab_walk_backend(n->walk);
    for (int i = 0; i < n->plan->n_steps; i++) {
        const struct lab_step *s = &n->plan->steps[i];
        const struct lab_variant *v = lab_backend_variant(
            be, n->plan->real, s->op->name, s->kernel, s->phase, name);
        if (v && v->preferred)
            return true;
    }
    return false;
}

/* In graphs one name after the other is measured: if the time ends, those are done
 * that are likely to win. */
NET_CASE(a_device_measures_the_fast_first)
{
    struct kept k;
    struct lab_tuning *t = tuned_on_a_device(n, &k);
    int first = 0;
    while (first < k.progress && preferred(n, k.names[first]))
        first++;
    assert_in_range(first, 1, k.progress - 2);
    for (int i = first; i < k.progress; i++)
        assert_false(preferred(n, k.names[i]));
    assert_string_equal(k.names[k.progress - 1], "naive");
    lab_tuning_free(t);
}

TEST_CASE(without_any_time_nothing_is_left_out)
{
    struct net n;
    struct kept k;
    large(&n);
    const char *fixed = runs(&n, "fc1.matmul", LAB_FORWARD);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, -1);
    assert_ok(lab_tune(n.walk, t, &to));
    assert_int_equal(k.n, 0);
    int waiting = lab_tuning_waiting(t);
    assert_int_equal(waiting, k.progress + 1); /* the reference */
    assert_true(waiting > 1);
    assert_ok(lab_walk_choose(n.walk, NULL, 0));
    assert_string_equal(runs(&n, "fc1.matmul", LAB_FORWARD), fixed);
    to = keeper(&k, minute_ns);
    assert_ok(lab_tune(n.walk, t, &to));
    assert_true(k.progress == waiting && k.n > waiting && k.left_out == 0);
    assert_int_equal(lab_tuning_waiting(t), 0);
    lab_tuning_free(t);
    net_free(&n);
}

NET_CASE(the_smallest_time_runs)
{
    large(n);
    struct lab_tuning *t = new_tuning();
    add(n, t, "fc1.matmul", LAB_FORWARD, "naive", 10);
    add(n, t, "fc1.matmul", LAB_FORWARD, "blas", 20);
    add(n, t, "fc1.matmul", LAB_FORWARD, "gone", 1); /* no such row now */
    add(n, t, "fc1.matmul", LAB_BACKWARD, "naive", 30);
    add(n, t, "fc1.bias", LAB_FORWARD, "naive", 1); /* vector: no time */
    add(n, t, "fc1.matmul", LAB_BACKWARD, "blas", 20);
    choose_by(n, t, NULL, 0);
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "naive");
    assert_string_equal(runs(n, "fc1.matmul", LAB_BACKWARD), "blas");
    /* Without a time of its step, or of the preferred one: the fixed table. */
    assert_string_equal(runs(n, "fc1.bias", LAB_FORWARD), "vector");
    assert_string_equal(runs(n, "fc2.matmul", LAB_FORWARD), "naive");
}

/* A time that was kept before the check withdrew its variant. */
NET_CASE(a_withdrawn_variant_does_not_run)
{
    large(n);
    struct lab_tuning *t = new_tuning();
    add(n, t, "fc1.matmul", LAB_FORWARD, "vector", 1);
    add(n, t, "fc1.matmul", LAB_FORWARD, "blas", 20);
    choose_by(n, t, NULL, 0);
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "vector");
    lab_variant_withdraw(lab_backend_variant(lab_walk_backend(n->walk), LAB_F32,
                                             "dense", "matmul", LAB_FORWARD,
                                             "vector"));
    assert_ok(lab_walk_choose(n->walk, NULL, 0));
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "blas");
    lab_variant_withdraw(NULL);
}

NET_CASE(a_kept_time_names_a_variant_that_is_there)
{
    char key[LAB_TUNE_KEY];
    large(n);
    struct lab_backend *be = lab_walk_backend(n->walk);
    lab_tune_key(n->plan, net_step(n, "fc1.matmul", LAB_FORWARD), key);
    assert_true(lab_tune_has(be, key, "blas"));
    assert_false(lab_tune_has(be, key, "gone"));
    assert_false(lab_tune_has(be, "dense.gone forward 1x1 > 1x1", "blas"));
    assert_false(lab_tune_has(be, "dense.matmul sideways 1x1 > 1x1", "blas"));
    assert_false(lab_tune_has(be, "no such step", "blas"));
    assert_false(lab_tune_has(be, "", "blas"));
    lab_variant_withdraw(lab_backend_variant(be, LAB_F32, "dense", "matmul",
                                             LAB_FORWARD, "blas"));
    assert_false(lab_tune_has(be, key, "blas"));
    lab_variant_withdraw(NULL);
}

NET_CASE(times_that_are_close_do_not_decide)
{
    large(n);
    struct lab_tuning *t = new_tuning();
    add(n, t, "fc1.matmul", LAB_FORWARD, "naive", 100);
    add(n, t, "fc1.matmul", LAB_FORWARD, "blas", 102); /* preferred */
    add(n, t, "fc1.matmul", LAB_BACKWARD, "naive", 100);
    add(n, t, "fc1.matmul", LAB_BACKWARD, "blas", 104);
    add(n, t, "fc2.matmul", LAB_FORWARD, "vector",
        1000); /* of most of the time */
    choose_by(n, t, NULL, 0);
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "blas");
    assert_string_equal(runs(n, "fc1.matmul", LAB_BACKWARD), "naive");
}

/* The least of a few times differs by more than a few percent on a busy machine, the
 * sum of many steps by less. */
NET_CASE(the_best_of_most_steps_is_left_for_a_gain)
{
    large(n);
    struct lab_tuning *t = new_tuning();
    add(n, t, "fc1.matmul", LAB_FORWARD, "blas", 100); /* preferred */
    add(n, t, "fc1.matmul", LAB_FORWARD, "vector", 112);
    add(n, t, "fc1.matmul", LAB_BACKWARD, "blas", 100);
    add(n, t, "fc1.matmul", LAB_BACKWARD, "vector", 118);
    add(n, t, "fc2.matmul", LAB_FORWARD, "vector", 1000);
    add(n, t, "fc2.matmul", LAB_FORWARD, "blas", 1200);
    choose_by(n, t, NULL, 0);
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "vector");
    assert_string_equal(runs(n, "fc1.matmul", LAB_BACKWARD), "blas");
    assert_string_equal(runs(n, "fc2.matmul", LAB_FORWARD), "vector");
}

NET_CASE(a_choice_wins_and_default_is_the_fixed_table)
{
    large(n);
    const char *table = runs(n, "fc1.matmul", LAB_FORWARD);
    struct lab_tuning *t = new_tuning();
    add(n, t, "fc1.matmul", LAB_FORWARD, "naive", 1);
    add(n, t, "fc1.matmul", LAB_FORWARD, "blas", 2);
    add(n, t, "relu1.relu", LAB_FORWARD, "vector", 1);
    add(n, t, "relu1.relu", LAB_FORWARD, "naive", 2);
    const struct lab_variant_choice own = {"fc1", "blas"};
    choose_by(n, t, &own, 1);
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "blas");
    assert_string_equal(runs(n, "relu1.relu", LAB_FORWARD), "vector");
    const struct lab_variant_choice all = {"*", LAB_VARIANT_DEFAULT};
    assert_ok(lab_walk_choose(n->walk, &all, 1));
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), table);
    assert_string_equal(runs(n, "relu1.relu", LAB_FORWARD), "naive");
    const struct lab_variant_choice one = {"relu", LAB_VARIANT_DEFAULT};
    assert_ok(lab_walk_choose(n->walk, &one, 1));
    assert_string_equal(runs(n, "fc1.matmul", LAB_FORWARD), "naive");
    assert_string_equal(runs(n, "relu1.relu", LAB_FORWARD), "naive");
}

/* The iteration that follows is the first of the lesson, bit for bit. */
TEST_CASE(measuring_leaves_no_trace)
{
    struct net a;
    struct net b;
    struct kept k;
    large(&a);
    large(&b);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, minute_ns);
    assert_ok(lab_tune(b.walk, t, &to));
    lab_tuning_free(t);
    assert_int_equal(lab_walk_iteration(b.walk), 0);
    assert_int_equal(lab_walk_position(b.walk), 0);
    net_steps(&a, net_steps_of(&a));
    net_steps(&b, net_steps_of(&b));
    double *x = net_read(&a, "fc1.W");
    double *y = net_read(&b, "fc1.W");
    assert_memory_equal(x, y, 250 * 100 * sizeof(*x));
    lab_free(x);
    lab_free(y);
    net_free(&a);
    net_free(&b);
}

static bool asked_three_times(void *user)
{
    return ++*(int *)user > 3;
}

/* Measuring that is stopped leaves the walk as it found it. */
TEST_CASE(measuring_stops_when_asked)
{
    struct net n;
    struct kept k;
    int asked = 0;
    large(&n);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, minute_ns);
    to.stop = (struct lab_stop){asked_three_times, &asked};
    assert_int_equal(lab_tune(n.walk, t, &to), LAB_E_CANCELLED);
    assert_int_equal(asked, 4);
    assert_int_equal(k.n, 0);
    assert_int_equal(lab_walk_iteration(n.walk), 0);
    assert_int_equal(lab_walk_position(n.walk), 0);
    lab_tuning_free(t);
    t = new_tuning();
    to.stop = (struct lab_stop){NULL};
    asked = 0;
    const struct lab_stop whole = {asked_three_times, &asked};
    lab_walk_stop_when(n.walk, &whole);
    assert_int_equal(lab_tune(n.walk, t, &to), LAB_E_CANCELLED);
    lab_tuning_free(t);
    net_free(&n);
}

/* ---- what a step could run as ---- */

static const struct lab_candidate *candidate(struct net *n, const char *step,
                                             const char *name)
{
    static struct lab_candidate list[32];
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    int i = lab_schedule_find(s, n->plan, step, LAB_FORWARD, 0);
    assert_true(i >= 0);
    int count = lab_candidates(n->plan, lab_walk_backend(n->walk),
                               lab_walk_tuning(n->walk), s->steps[i].step->node,
                               &s->steps[i], list, 32);
    for (int k = 0; k < count; k++)
        if (strcmp(list[k].name, name) == 0)
            return &list[k];
    return NULL;
}

NET_CASE(candidates_have_their_times)
{
    large(n);
    assert_false(candidate(n, "fc1.matmul", "naive")->timed);
    struct lab_tuning *t = new_tuning();
    add(n, t, "fc1.matmul", LAB_FORWARD, "naive", NAN);
    add(n, t, "fc1.matmul", LAB_FORWARD, "blas", 20);
    add(n, t, "fc1.bias", LAB_FORWARD, "naive", 5);
    choose_by(n, t, NULL, 0);
    const struct lab_candidate *c = candidate(n, "fc1.matmul", "naive");
    assert_true(c->timed && isnan(c->ns) && !c->fastest && c->serves);
    c = candidate(n, "fc1.matmul", "blas");
    assert_true(c->timed && c->ns == 20 && c->fastest && c->steps == 1);
    assert_false(candidate(n, "fc1.bias", "blas")->serves);
    assert_true(candidate(n, "fc1.bias", "naive")->fastest);
}

/* A group beside the steps that it hides, seen from both. */
TEST_CASE(candidates_of_a_group)
{
    struct net n;
    struct kept k;
    large(&n);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, minute_ns);
    const struct lab_variant_choice naive = {"*", "naive"};
    const struct lab_variant_choice group = {"*", "onednn"};
    assert_ok(lab_tune(n.walk, t, &to));
    choose_by(&n, t, &naive, 1);
    const struct lab_candidate *c = candidate(&n, "fc1.matmul", "onednn");
    if (!c || lab_walk_choose(n.walk, &group, 1)) {
        net_free(&n); /* no oneDNN */
        return;
    }
    const struct lab_schedule *s = lab_walk_schedule(n.walk);
    int at = lab_schedule_find(s, n.plan, "fc1.matmul", LAB_FORWARD, 0);
    assert_true(s->steps[at].step->group && s->steps[at].by == LAB_BY_HAND);
    int hides = s->steps[at].hides_count;
    c = candidate(&n, "fc1.matmul", "onednn");
    assert_true(c->timed && c->ns > 0 && c->steps == hides && hides > 1);
    double ns = c->ns;
    c = candidate(&n, "fc1.matmul", "naive");
    assert_true(c->timed && c->ns > 0 && c->steps == hides);
    assert_ok(lab_walk_choose(n.walk, &naive, 1));
    c = candidate(&n, "fc1.matmul", "onednn");
    assert_true(c->timed && c->ns == ns && c->steps == hides && !c->fastest);
    assert_int_equal(candidate(&n, "fc1.matmul", "naive")->steps, 1);
    net_free(&n);
}

/* ---- groups of one phase ---- */

static enum lab_status not_run(const struct lab_call *call)
{
    (void)call;
    return lab_fail(LAB_E_INTERNAL, "only its time is of interest");
}

/* back-alone reads no parts: its step, and so its time, is another than the pair's. */
static struct lab_variant alone[] = {{.name = "alone",
                                      .phase = LAB_FORWARD,
                                      .run = not_run,
                                      .keeps_parts = true,
                                      .one_way = true},
                                     {.name = "back-alone",
                                      .phase = LAB_BACKWARD,
                                      .run = not_run,
                                      .one_way = true}};
static const struct lab_kernel_set alone_set = {"lstm", alone, 1};
static const struct lab_kernel_set back_set = {"lstm", alone + 1, 1};
static bool back_alone; /* is it offered? */

/* Groups of the same shapes: each has a time under the same key. */
static struct lab_variant same_shapes[] = {
    {.name = "other",
     .phase = LAB_FORWARD,
     .run = not_run,
     .keeps_parts = true,
     .one_way = true},
    {.name = "pair-a", .phase = LAB_FORWARD, .run = not_run},
    {.name = "pair-a", .phase = LAB_BACKWARD, .run = not_run},
    {.name = "pair-b", .phase = LAB_FORWARD, .run = not_run},
    {.name = "pair-b", .phase = LAB_BACKWARD, .run = not_run}};
static const struct lab_kernel_set same_set = {"lstm", same_shapes, 5};
static bool same_offered;

/* The cell's reference, which takes long at one time step: all of them take SLOW_NS and
 * more in the mean, and much less by their median. */
enum { TIME_STEPS = 5, SLOW_NS = 300000 };
static const struct lab_backend_ops *cpu_ops;
static lab_kernel_fn *plain_cell;
static int cells;
static int woken;     /* lab_threads_wake() was called so often, */
static int woken_for; /* at the last iteration, */
static int unwoken;   /* and not since the one before in so many */

int __real_lab_threads_wake(void);
int __wrap_lab_threads_wake(void);
int __wrap_lab_threads_wake(void)
{
    woken++;
    return __real_lab_threads_wake();
}

/* A clock that only the steps move, where `played`; the pool's account with it. Workers
 * of the pool read it, too. */
static atomic_bool played;
static _Atomic int64_t clock_ns;
static int64_t process_ns;
static int64_t thread_ns;
static int64_t asleep_ns;
static int64_t loops;

int64_t __real_lab_clock_monotonic_ns(void);
int64_t __wrap_lab_clock_monotonic_ns(void);
int64_t __wrap_lab_clock_monotonic_ns(void)
{
    return played ? clock_ns : __real_lab_clock_monotonic_ns();
}

int64_t __real_lab_clock_process_ns(void);
int64_t __wrap_lab_clock_process_ns(void);
int64_t __wrap_lab_clock_process_ns(void)
{
    return played ? process_ns : __real_lab_clock_process_ns();
}

int64_t __real_lab_clock_thread_ns(void);
int64_t __wrap_lab_clock_thread_ns(void);
int64_t __wrap_lab_clock_thread_ns(void)
{
    return played ? thread_ns : __real_lab_clock_thread_ns();
}

int64_t __real_lab_loops_shared(int64_t *out);
int64_t __wrap_lab_loops_shared(int64_t *out);
int64_t __wrap_lab_loops_shared(int64_t *out)
{
    if (!played)
        return __real_lab_loops_shared(out);
    *out = asleep_ns;
    return loops;
}

/* The caller computes, and no other thread. */
static void compute(int64_t ns)
{
    clock_ns += ns;
    process_ns += ns;
    thread_ns += ns;
}

enum { STEP_TAKES_NS = 1000 };

static enum lab_status played_run(struct lab_backend *be,
                                  const struct lab_variant *v,
                                  struct lab_call *call)
{
    compute(STEP_TAKES_NS);
    return cpu_ops->run(be, v, call);
}

static enum lab_status uneven_cell(const struct lab_call *call)
{
    if (cells % TIME_STEPS == 0) {
        unwoken += woken == woken_for;
        woken_for = woken;
        compute((int64_t)SLOW_NS * TIME_STEPS);
    }
    cells++;
    return plain_cell(call);
}

/* So long another program has the core: the caller's, */
enum { HELD_UP_NS = 4000000 };

static enum lab_status held_up_cell(const struct lab_call *call)
{
    clock_ns += HELD_UP_NS;
    return plain_cell(call);
}

/* or that of the other of two threads, on which the caller waits at a loop's end. */
static enum lab_status half_held_up_cell(const struct lab_call *call)
{
    compute(HELD_UP_NS);
    loops++;
    return plain_cell(call);
}

/* So long on one thread, while the other sleeps, and then a loop for both. */
enum { ALONE_NS = 6000000 };

static enum lab_status mostly_alone_cell(const struct lab_call *call)
{
    compute(ALONE_NS);
    asleep_ns += ALONE_NS;
    loops++;
    return plain_cell(call);
}

static const struct lab_variant own_cells[] = {
    {.name = "uneven",
     .step = "cell",
     .phase = LAB_FORWARD,
     .run = uneven_cell},
    {.name = "held", .step = "cell", .phase = LAB_FORWARD, .run = held_up_cell},
    {.name = "half-held",
     .step = "cell",
     .phase = LAB_FORWARD,
     .run = half_held_up_cell},
    {.name = "mostly-alone",
     .step = "cell",
     .phase = LAB_FORWARD,
     .run = mostly_alone_cell}};
static const struct lab_kernel_set cells_set = {
    "lstm", own_cells, sizeof(own_cells) / sizeof(own_cells[0])};

/* The CPU's and these rows. */
static const struct lab_kernel_set *const *
sets_and_rows(struct lab_backend *be, enum lab_dtype real, int *count)
{
    enum { MOST_SETS = 512 };
    static const struct lab_kernel_set *list[MOST_SETS];
    const struct lab_kernel_set *const *cpu = cpu_ops->sets(be, real, count);
    assert_true(*count + 4 < MOST_SETS);
    memcpy(list, cpu, (size_t)*count * sizeof(*list));
    list[(*count)++] = &alone_set;
    if (back_alone)
        list[(*count)++] = &back_set;
    if (same_offered)
        list[(*count)++] = &same_set;
    list[(*count)++] = &cells_set;
    return list;
}

static const char *text_of_step; /* that the lesson has; NULL: none */

static void small_lstm(struct net *n, struct lab_backend_ops *ops)
{
    struct lab_backend *be;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    cpu_ops = be->ops;
    *ops = *be->ops;
    ops->sets = sets_and_rows;
    be->ops = ops;
    net_init(n);
    net_labels(n, "x 3,5", 7);
    net_labels(n, "y 3,5", 7);
    net_nodes(n, "emb embedding vocab=7 dim=4", "lstm1 lstm hidden=3",
              "fc dense units=7");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
    n->spec.explained = &text_of_step;
    n->spec.n_explained = text_of_step != NULL;
    net_walk_on(n, be);
}

/* false: this machine has no such group. */
static bool add_group(struct net *n, struct lab_tuning *t, const char *variant,
                      enum lab_phase phase, double ns)
{
    const struct lab_variant_choice choice = {"lstm1", variant};
    struct lab_tune_time time = {.ns = ns};
    if (lab_walk_choose(n->walk, &choice, 1))
        return false;
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    for (int i = 0; i < s->n_steps; i++) {
        if (!s->steps[i].step->group || s->steps[i].step->phase != phase)
            continue;
        lab_tune_key(n->plan, s->steps[i].step, time.step);
        snprintf(time.variant, sizeof(time.variant), "%s", variant);
        assert_ok(lab_tuning_add(t, &time));
        return true;
    }
    return false;
}

/* A time for each step of lstm1, whatever runs it. */
enum { STEP_NS = 1000 };
static void add_steps(struct net *n, struct lab_tuning *t)
{
    enum { MOST_NAMES = 64 };
    const char *names[MOST_NAMES];
    struct lab_backend *be = lab_walk_backend(n->walk);
    for (int i = 0; i < n->plan->n_steps; i++) {
        const struct lab_step *s = &n->plan->steps[i];
        if (strcmp(s->op->name, "lstm") != 0)
            continue;
        int count = lab_backend_variant_names(be, n->plan->real, "lstm", names,
                                              MOST_NAMES);
        for (int k = 0; k < count; k++) {
            struct lab_tune_time time = {.ns = STEP_NS};
            lab_tune_key(n->plan, s, time.step);
            snprintf(time.variant, sizeof(time.variant), "%s", names[k]);
            if (lab_backend_variant(be, n->plan->real, "lstm", s->kernel,
                                    s->phase, names[k]))
                assert_ok(lab_tuning_add(t, &time));
        }
    }
}

/* The group of lstm1 in a phase, or NULL. */
static const char *group_of(struct net *n, enum lab_phase phase)
{
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    for (int i = 0; i < s->n_steps; i++) {
        if (s->steps[i].step->group && s->steps[i].step->phase == phase &&
            strcmp(s->steps[i].step->op->name, "lstm") == 0)
            return s->steps[i].variant->name;
    }
    return NULL;
}

/* A group of both phases runs in both or in none, whatever saves most in one; groups of
 * one phase run in each where they save more together. */
TEST_CASE(groups_of_both_phases_agree)
{
    const struct {
        double back;  /* what the pair takes in the backward pass */
        double alone; /* and the group of that pass; 0: there is none */
        const char *forward;
        const char *backward;
    } cases[] = {{500, 0, "sequence", "sequence"},
                 {1e6, 0, "alone", NULL},
                 {500, 10, "alone", "back-alone"},
                 {500, 1e6, "sequence", "sequence"},
                 {1e6, 10, "alone", "back-alone"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct net n;
        struct lab_backend_ops ops;
        back_alone = cases[i].alone > 0;
        small_lstm(&n, &ops);
        struct lab_tuning *t = new_tuning();
        add_steps(&n, t);
        assert_true(add_group(&n, t, "alone", LAB_FORWARD, 10));
        if (back_alone)
            assert_true(
                add_group(&n, t, "back-alone", LAB_BACKWARD, cases[i].alone));
        bool pair = add_group(&n, t, "sequence", LAB_FORWARD, 500) &&
                    add_group(&n, t, "sequence", LAB_BACKWARD, cases[i].back);
        choose_by(&n, t, NULL, 0);
        const char *forward = group_of(&n, LAB_FORWARD);
        const char *backward = group_of(&n, LAB_BACKWARD);
        assert_non_null(forward);
        assert_string_equal(forward, pair ? cases[i].forward : "alone");
        const char *want = pair                   ? cases[i].backward
                           : cases[i].alone == 10 ? "back-alone"
                                                  : NULL;
        assert_true(!backward == !want);
        if (want)
            assert_string_equal(backward, want);
        net_free(&n);
    }
    back_alone = false;
}

/* Where a lesson has a text for a step, a group that saves little does not hide it. */
TEST_CASE(steps_that_a_lesson_explains_stay_apart)
{
    for (int i = 0; i < 4; i++) {
        const bool first = i & 1;
        const bool explained = i & 2;
        struct net n;
        struct lab_backend_ops ops;
        text_of_step = explained ? "lstm1.cell.1" : "fc.matmul";
        small_lstm(&n, &ops);
        text_of_step = NULL;
        struct lab_tuning *t = new_tuning();
        add_steps(&n, t);
        assert_true(add_group(&n, t, "alone", LAB_FORWARD, 10));
        alone[0].steps_first = first;
        choose_by(&n, t, NULL, 0);
        const char *group = group_of(&n, LAB_FORWARD);
        assert_true(!group == (first && explained));
        alone[0].steps_first = false;
        net_free(&n);
    }
}

/* Of groups of the same shapes one that is not the fastest of them runs where the fastest
 * may not, and a pair where it takes the least in both phases together. */
TEST_CASE(each_group_counts_by_its_own_time)
{
    const struct {
        bool first; /* "alone" leaves the steps apart */
        double other;
        double pair_a[2]; /* forward, backward */
        double pair_b[2];
        const char *forward;
        const char *backward;
    } cases[] = {
        {false, 20, {9e9, 9e9}, {9e9, 9e9}, "alone", NULL},
        {true, 20, {9e9, 9e9}, {9e9, 9e9}, "other", NULL},
        {true, 9e9, {10, 900}, {20, 100}, "pair-b", "pair-b"},
        {true, 9e9, {10, 90}, {20, 100}, "pair-a", "pair-a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct net n;
        struct lab_backend_ops ops;
        text_of_step = "lstm1.cell.1";
        same_offered = true;
        small_lstm(&n, &ops);
        struct lab_tuning *t = new_tuning();
        add_steps(&n, t);
        assert_true(add_group(&n, t, "alone", LAB_FORWARD, 10));
        assert_true(add_group(&n, t, "other", LAB_FORWARD, cases[i].other));
        for (int back = 0; back < 2; back++) {
            enum lab_phase phase = back ? LAB_BACKWARD : LAB_FORWARD;
            assert_true(
                add_group(&n, t, "pair-a", phase, cases[i].pair_a[back]));
            assert_true(
                add_group(&n, t, "pair-b", phase, cases[i].pair_b[back]));
        }
        alone[0].steps_first = cases[i].first;
        choose_by(&n, t, NULL, 0);
        const char *forward = group_of(&n, LAB_FORWARD);
        const char *backward = group_of(&n, LAB_BACKWARD);
        assert_non_null(forward);
        assert_string_equal(forward, cases[i].forward);
        assert_true(!backward == !cases[i].backward);
        if (backward)
            assert_string_equal(backward, cases[i].backward);
        alone[0].steps_first = false;
        same_offered = false;
        text_of_step = NULL;
        net_free(&n);
    }
}

/* Noise would choose between what takes the same. */
TEST_CASE(a_group_equal_to_its_steps_is_left)
{
    const struct {
        double share; /* of what its steps take */
        const char *forward;
    } cases[] = {{0.98, NULL}, {0.96, "alone"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct net n;
        struct lab_backend_ops ops;
        double steps_ns = 0;
        small_lstm(&n, &ops);
        struct lab_tuning *t = new_tuning();
        add_steps(&n, t);
        for (int k = 0; k < n.plan->n_steps; k++)
            if (strcmp(n.plan->steps[k].op->name, "lstm") == 0 &&
                n.plan->steps[k].phase == LAB_FORWARD)
                steps_ns += STEP_NS;
        assert_true(
            add_group(&n, t, "alone", LAB_FORWARD, cases[i].share * steps_ns));
        choose_by(&n, t, NULL, 0);
        const char *forward = group_of(&n, LAB_FORWARD);
        assert_true(!forward == !cases[i].forward);
        if (forward)
            assert_string_equal(forward, cases[i].forward);
        net_free(&n);
    }
}

/* Steps keep the variant that is the best of most of them where another is a little faster
 * at one: the group is compared with what they take then. */
TEST_CASE(a_group_is_compared_with_what_runs_without_it)
{
    const struct {
        double share; /* of what the steps' fastest take */
        const char *forward;
    } cases[] = {{1.10, NULL}, {1.03, "alone"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct net n;
        struct lab_backend_ops ops;
        double fastest_ns = 0;
        small_lstm(&n, &ops);
        struct lab_tuning *t = new_tuning();
        for (int k = 0; k < n.plan->n_steps; k++) {
            const struct lab_step *s = &n.plan->steps[k];
            bool forward =
                strcmp(s->op->name, "lstm") == 0 && s->phase == LAB_FORWARD;
            struct lab_tune_time times[] = {
                {.variant = "vector", .ns = forward ? 1.12 : 1},
                {.variant = "naive", .ns = forward ? 1 : 9},
                {.variant = "blas", .ns = 9}};
            for (size_t v = 0; v < sizeof(times) / sizeof(times[0]); v++) {
                times[v].ns *= STEP_NS;
                lab_tune_key(n.plan, s, times[v].step);
                assert_ok(lab_tuning_add(t, &times[v]));
            }
            fastest_ns += forward ? STEP_NS : 0;
        }
        assert_true(add_group(&n, t, "alone", LAB_FORWARD,
                              cases[i].share * fastest_ns));
        choose_by(&n, t, NULL, 0);
        const char *forward = group_of(&n, LAB_FORWARD);
        assert_true(!forward == !cases[i].forward);
        net_free(&n);
    }
}

static double time_by(const struct lab_tuning *t, const char *key,
                      const char *variant)
{
    const struct lab_tune_time *time = lab_tuning_find(t, key, variant);
    return time ? time->ns : -1;
}

/* Of many time steps one is long by chance: a group is compared with their sum, and is
 * long by such a chance as a whole. */
NET_CASE(time_steps_count_by_their_mean)
{
    struct kept k;
    static struct lab_backend_ops ops;
    char key[LAB_TUNE_KEY];
    small_lstm(n, &ops);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, minute_ns);
    plain_cell = lab_backend_variant(lab_walk_backend(n->walk), LAB_F32, "lstm",
                                     "cell", LAB_FORWARD, "naive")
                     ->run;
    cells = woken = woken_for = unwoken = 0;
    assert_true(add_group(n, t, "alone", LAB_FORWARD, 1e9));
    lab_threads_set(2);
    ops.run = played_run;
    played = true;
    assert_ok(lab_tune(n->walk, t, &to));
    played = false;
    lab_threads_set(lab_cores());
    assert_true(cells > 0 && cells % TIME_STEPS == 0);
    assert_int_equal(unwoken, 0); /* all threads are awake at each one */
    lab_tune_key(n->plan, net_step(n, "lstm1.cell.1", LAB_FORWARD), key);
    assert_int_equal(time_by(t, key, "uneven"), SLOW_NS + STEP_TAKES_NS);
    assert_int_equal(time_by(t, key, "naive"), STEP_TAKES_NS);
    /* What a thread waits for is no time of the variant. */
    assert_int_equal(time_by(t, key, "held"), STEP_TAKES_NS);
    assert_int_equal(time_by(t, key, "half-held"),
                     (HELD_UP_NS + STEP_TAKES_NS) / 2);
    /* What others sleep through meanwhile is. */
    assert_int_equal(time_by(t, key, "mostly-alone"), ALONE_NS + STEP_TAKES_NS);
    lab_tuning_free(t);
}

/* A step that would take longer than the budget ends its own name's measuring. */
NET_CASE(a_step_that_does_not_fit_ends_one_name)
{
    struct kept k;
    static struct lab_backend_ops ops;
    char key[LAB_TUNE_KEY];
    small_lstm(n, &ops);
    struct lab_tuning *t = new_tuning();
    struct lab_tune_keeper to = keeper(&k, minute_ns);
    plain_cell = lab_backend_variant(lab_walk_backend(n->walk), LAB_F32, "lstm",
                                     "cell", LAB_FORWARD, "naive")
                     ->run;
    assert_true(add_group(n, t, "alone", LAB_FORWARD, 1e9));
    assert_true(add_group(n, t, "sequence", LAB_FORWARD, 1e18));
    assert_ok(lab_tune(n->walk, t, &to));
    /* Which comes last. */
    assert_string_equal(k.names[k.progress - 1], "naive");
    lab_tune_key(n->plan, net_step(n, "lstm1.cell.1", LAB_FORWARD), key);
    assert_true(time_by(t, key, "naive") > 0);
    assert_int_equal(k.left_out, 1); /* the other way of sequence */
    lab_tuning_free(t);
}

/* Who had the last word. */
NET_CASE(a_step_has_the_reason_of_its_choice)
{
    large(n);
    struct lab_tuning *t = new_tuning();
    const struct lab_variant_choice c[] = {{"fc1", "blas"},
                                           {"fc2", LAB_VARIANT_DEFAULT}};
    add(n, t, "relu1.relu", LAB_FORWARD, "naive", 2);
    add(n, t, "relu1.relu", LAB_FORWARD, "vector", 3);
    add(n, t, "fc2.matmul", LAB_FORWARD, "blas", 2);
    choose_by(n, t, c, 2);
    const struct {
        const char *step;
        enum lab_chosen_by by;
    } want[] = {{"fc1.matmul", LAB_BY_HAND},
                {"fc1.bias", LAB_BY_TABLE},
                {"relu1.relu", LAB_BY_TIME},
                {"fc2.matmul", LAB_BY_DEFAULT}};
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct lab_schedule *s = lab_walk_schedule(n->walk);
        int at = lab_schedule_find(s, n->plan, want[i].step, LAB_FORWARD, 0);
        assert_int_equal(s->steps[at].by, want[i].by);
    }
}

TEST_CASE(an_example_by_hand_is_too_small)
{
    struct net n;
    net_init(&n);
    net_tensor(&n, "x 5,4", NULL);
    net_labels(&n, "y 5", 3);
    net_node(&n, "fc1 dense units=3");
    net_train(&n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk(&n, "cpu");
    assert_false(lab_tune_wanted(n.plan));
    net_free(&n);
    large(&n);
    assert_true(lab_tune_wanted(n.plan));
    net_free(&n);
}

NET_CASE(no_memory_is_reported)
{
    struct kept k;
    large(n);
    for (int64_t nth = 1; nth < 40; nth++) {
        struct lab_tuning *t = new_tuning();
        struct lab_tune_keeper to = keeper(&k, minute_ns);
        lab_mem_fail_from(nth);
        enum lab_status st = lab_tune(n->walk, t, &to);
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || st == LAB_E_NOMEM);
        lab_tuning_free(t);
        assert_ok(lab_walk_choose(n->walk, NULL, 0));
    }
}

RUN_TESTS()
