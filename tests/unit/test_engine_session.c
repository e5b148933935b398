/* The session: commands that meet each other on two threads, and where the
 * debugger's words stop. */
#include "test.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "engine/board.h"
#include "engine/session.h"
#include "engine/walk.h"
#include "unit/late_backend.h"
#include "unit/net.h"

static const int64_t PATIENCE_NS = INT64_C(20000000000);

/* tests/unit/CMakeLists.txt lets them be called in the place of the engine's. */
enum lab_status __real_lab_backend_open(struct lab_backend **out,
                                        const char *name, int device);
enum lab_status __wrap_lab_backend_open(struct lab_backend **out,
                                        const char *name, int device);
enum lab_status __wrap_lab_backend_open(struct lab_backend **out,
                                        const char *name, int device)
{
    return strcmp(name, "late") == 0
               ? late_backend_open(out)
               : __real_lab_backend_open(out, name, device);
}

/* Its calls are the CPU's, which the check has looked at. */
enum lab_status __real_lab_backend_check(struct lab_backend *be,
                                         const struct lab_plan *plan,
                                         struct lab_str *report);
enum lab_status __wrap_lab_backend_check(struct lab_backend *be,
                                         const struct lab_plan *plan,
                                         struct lab_str *report);
enum lab_status __wrap_lab_backend_check(struct lab_backend *be,
                                         const struct lab_plan *plan,
                                         struct lab_str *report)
{
    return strcmp(be->ops->name, "late") == 0
               ? LAB_OK
               : __real_lab_backend_check(be, plan, report);
}

enum { COUNTED = 64 };
static atomic_int reads[COUNTED]; /* of each tensor */

enum lab_status __real_lab_walk_read(struct lab_walk *w, int tensor, bool old,
                                     void *out);
enum lab_status __wrap_lab_walk_read(struct lab_walk *w, int tensor, bool old,
                                     void *out);
enum lab_status __wrap_lab_walk_read(struct lab_walk *w, int tensor, bool old,
                                     void *out)
{
    if (tensor < COUNTED)
        reads[tensor]++;
    return __real_lab_walk_read(w, tensor, old, out);
}

struct fixture {
    int64_t epochs; /* of the session; 0: none asked for */
    struct net net; /* the spec's owner */
    struct lab_session *session;
    struct lab_snapshot snap;
};

static void look(struct fixture *f)
{
    lab_snapshot_release(&f->snap);
    assert_ok(lab_session_snapshot(f->session, &f->snap));
}

static void settle(struct fixture *f)
{
    if (lab_session_wait(f->session, PATIENCE_NS))
        fail_msg("the session does not come to rest");
    look(f);
}

static void post(struct fixture *f, enum lab_command_kind kind, int64_t n)
{
    struct lab_command c = {.kind = kind, .n = n, .phase = -1};
    assert_ok(lab_session_post(f->session, &c));
}

static void post_and_settle(struct fixture *f, enum lab_command_kind kind,
                            int64_t n)
{
    post(f, kind, n);
    settle(f);
}

static void break_at(struct fixture *f, const char *step, int phase)
{
    struct lab_command c = {
        .kind = LAB_DO_BREAK, .break_kind = LAB_BREAK_STEP, .phase = phase};
    snprintf(c.text, sizeof(c.text), "%s", step);
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_string_equal(f->snap.error, "");
}

static void open_session_on(struct fixture *f, const char *backend)
{
    struct lab_session_config config = {
        .setup = {.spec = &f->net.spec, .backend = backend},
        .epochs = f->epochs};
    assert_ok(lab_session_new(&f->session, &config));
    f->snap.plane.tensor = f->snap.explanation.tensor = -1;
    settle(f);
    assert_int_equal(f->snap.state, LAB_SESSION_IDLE);
}

static void open_session(struct fixture *f)
{
    open_session_on(f, "cpu");
}

static void open_again(struct fixture *f)
{
    lab_session_free(f->session);
    lab_snapshot_release(&f->snap);
    open_session(f);
}

static struct fixture *describe(void **state, const char *hidden,
                                const char *optimizer)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    net_digits_of(&f.net, 16, optimizer, hidden, "act relu",
                  "fc2 dense units=10");
    *state = &f;
    return &f;
}

static int start(void **state)
{
    open_session(describe(state, "fc1 dense units=8", "sgd lr=0.1"));
    return 0;
}

/* One step of the forward pass takes long. */
static int start_long(void **state)
{
    struct fixture *f = describe(state, "fc1 dense units=8", "sgd lr=0.1");
    net_nodes(&f->net, "fc3 dense units=4096", "fc4 dense units=4096",
              "fc5 dense units=10");
    f->net.spec.data.batch = 1024;
    open_session(f);
    return 0;
}

/* Each iteration is an epoch; the rate is far too large: the loss only rises. */
static int rise(void **state, int64_t early_stop, const char *backend)
{
    struct fixture *f = describe(state, "fc1 dense units=8", "sgd lr=50");
    f->net.spec.data.split = 0.1;
    f->net.spec.data.validation = 0.05;
    f->net.spec.data.batch = 80;
    f->net.spec.early_stop = early_stop;
    open_session_on(f, backend);
    return 0;
}

static int start_rising(void **state)
{
    return rise(state, 1, "cpu");
}

/* No training of a test is stopped early, and each ends at its best network. */
static int start_patient(void **state)
{
    return rise(state, 100, "cpu");
}

static int start_patient_and_late(void **state)
{
    return rise(state, 100, "late");
}

static int end(void **state)
{
    struct fixture *f = *state;
    lab_snapshot_release(&f->snap);
    lab_session_free(f->session);
    net_free(&f->net);
    return 0;
}

#define FIXTURE_CASE(name) TEST_CASE_OF(name, start, end, struct fixture *f)

/* The engine's thread may not have taken the command yet. */
FIXTURE_CASE(a_stop_is_never_lost)
{
    for (int i = 0; i < 200; i++) {
        post(f, LAB_DO_TRAIN, INT64_C(50000000));
        post(f, LAB_DO_STOP, 0);
        settle(f);
        assert_int_equal(f->snap.state, LAB_SESSION_IDLE);
    }
}

FIXTURE_CASE(what_comes_after_a_stop_runs)
{
    post(f, LAB_DO_TRAIN, INT64_C(50000000));
    post(f, LAB_DO_STOP, 0);
    post(f, LAB_DO_RESTART, 0);
    post_and_settle(f, LAB_DO_STEP, 2);
    assert_int_equal(f->snap.iteration, 0);
    assert_int_equal(f->snap.position, 2);
}

TEST_CASE_WITH(a_stopped_step_is_not_taken, start, end)
{
    static const enum lab_command_kind moves[] = {
        LAB_DO_STEP, LAB_DO_NEXT, LAB_DO_FINISH, LAB_DO_CONTINUE,
        LAB_DO_RUN_TO};
    struct fixture *f = *state;
    post(f, LAB_DO_TRAIN, INT64_C(50000000)); /* so that the others wait */
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
        post(f, moves[i], 3);
    post(f, LAB_DO_STOP, 0);
    settle(f);
    assert_string_equal(f->snap.stop_reason, "stopped");
    assert_true(f->snap.position == 0 ||
                f->snap.position == f->snap.schedule->n_steps);
}

/* Within a step's kernel, too: that is no error. */
TEST_CASE_WITH(a_stop_within_a_long_kernel_is_a_stop, start_long, end)
{
    static const enum lab_command_kind moves[] = {LAB_DO_STEP, LAB_DO_CONTINUE};
    struct fixture *f = *state;
    const struct timespec a_while = {0, 100000000};
    struct lab_command readable = {
        .kind = LAB_DO_VARIANT, .phase = -1, .text = "dense", .text2 = "naive"};
    assert_ok(lab_session_post(f->session, &readable));
    settle(f);
    assert_string_equal(f->snap.error, "");
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        post(f, moves[i], 1000);
        nanosleep(&a_while, NULL);
        post(f, LAB_DO_STOP, 0);
        settle(f);
        assert_string_equal(f->snap.error, "");
        assert_string_equal(f->snap.stop_reason, "stopped");
        assert_int_equal(f->snap.state, LAB_SESSION_IDLE);
        assert_int_equal(f->snap.iteration, 0);
        assert_true(f->snap.position < f->snap.schedule->n_steps);
    }
}

FIXTURE_CASE(an_idle_stop_stops_nothing_later)
{
    post(f, LAB_DO_STOP, 0);
    post_and_settle(f, LAB_DO_STEP, 3);
    assert_int_equal(f->snap.position, 3);
}

FIXTURE_CASE(the_end_waits_for_no_training)
{
    struct lab_session_config config = {
        .setup = {.spec = &f->net.spec, .backend = "cpu"}};
    for (int i = 0; i < 50; i++) {
        struct lab_command c = {.kind = LAB_DO_TRAIN, .n = 100000000};
        struct lab_session *s;
        assert_ok(lab_session_new(&s, &config));
        assert_ok(lab_session_wait(s, PATIENCE_NS));
        int64_t begin = lab_clock_monotonic_ns();
        assert_ok(lab_session_post(s, &c));
        lab_session_free(s);
        assert_true(lab_clock_monotonic_ns() - begin < PATIENCE_NS);
    }
}

FIXTURE_CASE(run_to_the_first_step_is_the_next_iteration)
{
    post_and_settle(f, LAB_DO_STEP, 4);
    post_and_settle(f, LAB_DO_RUN_TO, 0);
    assert_int_equal(f->snap.iteration, 1);
    assert_int_equal(f->snap.position, 0);
    post_and_settle(f, LAB_DO_RUN_TO, 2);
    assert_int_equal(f->snap.iteration, 1);
    assert_int_equal(f->snap.position, 2);
    post_and_settle(f, LAB_DO_RUN_TO, 2);
    assert_int_equal(f->snap.iteration, 2);
    assert_int_equal(f->snap.position, 2);
    post_and_settle(f, LAB_DO_RUN_TO, f->snap.schedule->n_steps);
    assert_int_equal(f->snap.iteration, 2);
    assert_int_equal(f->snap.position, f->snap.schedule->n_steps);
}

FIXTURE_CASE(a_break_at_the_first_step_stops)
{
    break_at(f, "fc1.matmul", LAB_FORWARD);
    post_and_settle(f, LAB_DO_CONTINUE, 0);
    assert_int_equal(f->snap.iteration, 0);
    assert_int_equal(f->snap.position, f->snap.schedule->n_steps);
    post_and_settle(f, LAB_DO_CONTINUE, 0);
    assert_int_equal(f->snap.iteration, 1);
    assert_int_equal(f->snap.position, 0);
    assert_string_equal(
        f->snap.stop_reason,
        "breakpoint 1: fc1.matmul; c goes on, delete 1 removes it");
    assert_int_equal(f->snap.breaks[0].hits, 1);
    post_and_settle(f, LAB_DO_CONTINUE, 0); /* and not for ever */
    assert_int_equal(f->snap.position, f->snap.schedule->n_steps);
}

FIXTURE_CASE(many_steps_stop_at_a_break)
{
    break_at(f, "act", LAB_FORWARD);
    post_and_settle(f, LAB_DO_STEP, 5);
    assert_int_equal(f->snap.position, 2);
    assert_string_equal(
        f->snap.stop_reason,
        "breakpoint 1: act.relu; c goes on, delete 1 removes it");
    post_and_settle(f, LAB_DO_STEP, 2); /* it does not stop at once */
    assert_int_equal(f->snap.position, 4);
    post_and_settle(f, LAB_DO_RESTART, 0);
    post_and_settle(f, LAB_DO_NEXT, 3);
    assert_int_equal(f->snap.position, 2);
    assert_string_equal(
        f->snap.stop_reason,
        "breakpoint 1: act.relu; c goes on, delete 1 removes it");
}

FIXTURE_CASE(a_check_ends_with_the_state_it_was_of)
{
    post_and_settle(f, LAB_DO_CONTINUE, 0);
    struct lab_command c = {.kind = LAB_DO_CHECK, .phase = -1};
    snprintf(c.text, sizeof(c.text), "fc2.b");
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_string_equal(f->snap.error, "");
    assert_int_equal(f->snap.n_checks, 1);
    struct lab_command show = {.kind = LAB_DO_SHOW, .phase = -1};
    show.show.tensor = -1;
    assert_ok(lab_session_post(f->session, &show));
    settle(f);
    assert_int_equal(f->snap.n_checks, 1); /* looking changes nothing */
    post_and_settle(f, LAB_DO_STEP, 1);
    assert_int_equal(f->snap.n_checks, 0);
}

/* A check of thousands of products: it goes on while it is looked at. */
TEST_CASE(a_check_lets_look_and_tells_how_far_it_is)
{
    static struct fixture f;
    memset(&f, 0, sizeof(f));
    net_digits_of(&f.net, 64, "sgd lr=0.1", "fc1 dense units=256",
                  "fc2 dense units=10");
    open_session(&f);
    post(&f, LAB_DO_CHECK, 0);
    struct lab_command show = {.kind = LAB_DO_SHOW, .phase = -1};
    show.show = (struct lab_show){
        .tensor = lab_plan_tensor(f.snap.plan, "fc1.W"), .col_axis = 1};
    assert_ok(lab_session_post(f.session, &show));
    struct lab_command watch = {.kind = LAB_DO_WATCH, .phase = -1};
    snprintf(watch.text, sizeof(watch.text), "loss");
    assert_ok(lab_session_post(f.session, &watch));
    int64_t until = lab_clock_monotonic_ns() + PATIENCE_NS;
    bool seen = false;
    while (!seen && lab_clock_monotonic_ns() < until) {
        look(&f);
        seen = f.snap.state == LAB_SESSION_CHECKING && f.snap.check_done > 0 &&
               f.snap.plane.tensor == show.show.tensor && f.snap.n_breaks == 1;
    }
    assert_true(seen);
    assert_int_equal(f.snap.check_of, 256 + 256 + 256 + 10);
    assert_true(f.snap.check_done < f.snap.check_of);
    post_and_settle(&f, LAB_DO_STOP, 0);
    assert_int_equal(f.snap.error_code, LAB_E_CANCELLED);
    assert_int_equal(f.snap.n_checks, 0);
    assert_int_equal(f.snap.check_of, 0);
    void *owned = &f;
    end(&owned);
}

/* The walk itself goes back: counts of the whole walk, and the curve has one point
 * of each evaluation. */
TEST_CASE_WITH(an_early_stop_is_at_the_best_iteration, start_rising, end)
{
    struct fixture *f = *state;
    post_and_settle(f, LAB_DO_TRAIN, 10);
    assert_non_null(strstr(f->snap.stop_reason, "stopped early after 2 iter"));
    assert_non_null(
        strstr(f->snap.stop_reason, "after 1; the network is that"));
    assert_int_equal(f->snap.iteration, 0);
    assert_int_equal(f->snap.position, f->snap.schedule->n_steps);
    assert_int_equal(f->snap.held.n, 2);
    assert_int_equal(f->snap.accuracies.n, 2);
    assert_true(f->snap.train_whole);
    assert_true(f->snap.accuracy == f->snap.accuracies.value[0]);
    assert_true(f->snap.confusion.after == 1); /* the same network's */
    assert_true((double)f->snap.confusion.right ==
                f->snap.accuracy * (double)f->snap.confusion.total);
    /* The next training has a patience of its own. */
    post_and_settle(f, LAB_DO_TRAIN, 10);
    long long best = (long long)f->snap.iteration + 1;
    char want[80];
    assert_true(best > 1);
    snprintf(want, sizeof(want), "stopped early after %lld iter", best + 1);
    assert_non_null(strstr(f->snap.stop_reason, want));
    snprintf(want, sizeof(want), "after %lld; the network is that", best);
    assert_non_null(strstr(f->snap.stop_reason, want));
}

/* Layers and classes are of the network that the training went back to. */
TEST_CASE_WITH(an_early_stop_is_looked_at, start_rising, end)
{
    struct fixture *f = *state;
    post_and_settle(f, LAB_DO_TRAIN, 1);
    post_and_settle(f, LAB_DO_INSPECT, 1);
    int64_t most = 0;
    for (int i = 0; i < 9 && most < 1; i++) {
        post_and_settle(f, LAB_DO_TRAIN, 20);
        most = f->snap.iteration;
        assert_int_equal(f->snap.figures_of, most);
        assert_int_equal(f->snap.confusion.after, most + 1);
    }
    assert_in_range(most, 1, 100);
}

/* Of several trainings the best network is kept; what is left is in no curve. */
TEST_CASE_WITH(an_early_stop_ends_no_worse_than_an_earlier_one, start_rising,
               end)
{
    struct fixture *f = *state;
    char want[80];
    const char *earlier = NULL;
    long long best = 0;
    for (int i = 0; i < 9 && !earlier; i++) {
        best = (long long)f->snap.iteration + 1;
        post_and_settle(f, LAB_DO_TRAIN, 20);
        earlier = strstr(f->snap.stop_reason, ", in an earlier training; ");
    }
    assert_non_null(earlier);
    snprintf(want, sizeof(want), "after %lld, in an earlier training", best);
    assert_non_null(strstr(f->snap.stop_reason, want));
    assert_int_equal(f->snap.iteration + 1, best);
    assert_true(f->snap.accuracy == f->snap.accuracies.value[best - 1]);
    assert_true(f->snap.held.n > best);
    /* One whose iterations end before the patience is keeps its own network. */
    post_and_settle(f, LAB_DO_TRAIN, 1);
    assert_non_null(strstr(f->snap.stop_reason, "trained 1 iteration"));
    assert_int_equal(f->snap.iteration, best);
    assert_int_equal(f->snap.losses.n, best + 1);
    assert_int_equal(f->snap.held.n, best + 1);
    assert_int_equal(f->snap.accuracies.n, best + 1);
    post_and_settle(f, LAB_DO_RESTART, 0);
    post_and_settle(f, LAB_DO_TRAIN, 20);
    assert_null(strstr(f->snap.stop_reason, "earlier"));
}

static void set_rate(struct fixture *f, double lr)
{
    struct lab_command c = {.kind = LAB_DO_LR, .lr = lr, .phase = -1};
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_string_equal(f->snap.error, "");
}

/* Back within the best iteration and on with another rate: it is not that network any
 * more, whether its end is walked to or trained to. */
TEST_CASE_WITH(a_best_iteration_that_was_left_is_no_best, start_rising, end)
{
    struct fixture *f = *state;
    for (int walked = 0; walked < 2; walked++) {
        post_and_settle(f, LAB_DO_RESTART, 0);
        post_and_settle(f, LAB_DO_TRAIN, 10);
        assert_non_null(strstr(f->snap.stop_reason, "stopped early after 2"));
        assert_int_equal(f->snap.iteration, 0);
        assert_int_equal(f->snap.held.n, 2);
        post_and_settle(f, LAB_DO_BACK, 4);
        assert_int_equal(f->snap.iteration, 0);
        assert_int_equal(f->snap.position, f->snap.schedule->n_steps - 4);
        set_rate(f, 5000);
        if (walked)
            post_and_settle(f, LAB_DO_STEP, 4);
        if (walked)
            assert_int_equal(f->snap.held.n, 0);
        post_and_settle(f, LAB_DO_TRAIN, 10);
        assert_null(strstr(f->snap.stop_reason, "earlier"));
        assert_int_equal(f->snap.held.iteration[0], 1);
    }
}

/* Back within an iteration and on again, with all as it was, leaves no way: neither in
 * the newest iteration nor in the best, behind which there were others. */
TEST_CASE_WITH(a_step_back_and_on_keeps_the_best, start_rising, end)
{
    struct fixture *f = *state;
    post_and_settle(f, LAB_DO_TRAIN, 1);
    assert_int_equal(f->snap.held.n, 1);
    post_and_settle(f, LAB_DO_BACK, 4);
    post_and_settle(f, LAB_DO_STEP, 4);
    assert_int_equal(f->snap.held.n, 1);
    assert_int_equal(f->snap.accuracies.n, 1);
    post_and_settle(f, LAB_DO_RESTART, 0);
    post_and_settle(f, LAB_DO_TRAIN, 10);
    assert_int_equal(f->snap.held.n, 2);
    post_and_settle(f, LAB_DO_BACK, 4);
    post_and_settle(f, LAB_DO_STEP, 4);
    assert_int_equal(f->snap.iteration, 0);
    assert_int_equal(f->snap.held.n, 1);
    set_rate(f, 5000);
    post_and_settle(f, LAB_DO_TRAIN, 20);
    assert_non_null(
        strstr(f->snap.stop_reason, "after 1, in an earlier training"));
}

/* Without what was evaluated on the way that was left, its last value neither. */
TEST_CASE_WITH(a_curve_ends_where_the_way_was_left, start_patient, end)
{
    struct fixture *f = *state;
    for (int far = 0; far < 2; far++) {
        post_and_settle(f, LAB_DO_RESTART, 0);
        post_and_settle(f, LAB_DO_TRAIN, far ? 6 : 2);
        assert_int_equal(f->snap.held.n, far ? 6 : 2);
        int best = (int)f->snap.iteration;
        assert_true(best < (far ? 5 : 1));
        post_and_settle(f, LAB_DO_CONTINUE, 0);
        assert_int_equal(f->snap.iteration, best + 1);
        assert_int_equal(f->snap.losses.n, best + 2);
        /* It was run with the same numbers before: its evaluation holds. */
        assert_int_equal(f->snap.held.n, best + 2);
        assert_int_equal(f->snap.held.iteration[best + 1], best + 1);
        assert_int_equal(f->snap.accuracies.n, best + 2);
    }
}

/* A step back and on is no other way, also where the curve has not every iteration;
 * what was evaluated behind it is left, and shown no more. */
FIXTURE_CASE(a_thinned_curve_knows_the_newest_iterations)
{
    enum { FAR = 4999 };
    post_and_settle(f, LAB_DO_TRAIN, FAR);
    const double accuracy = f->snap.accuracy;
    post_and_settle(f, LAB_DO_TRAIN, 1);
    assert_true(f->snap.losses.n < FAR);
    const int evaluated = f->snap.held.n;
    assert_int_equal(f->snap.held.iteration[evaluated - 1], FAR);
    post_and_settle(f, LAB_DO_BACK, 2 * f->snap.schedule->n_steps);
    post_and_settle(f, LAB_DO_CONTINUE, 0);
    assert_int_equal(f->snap.iteration, FAR - 1);
    assert_int_equal(f->snap.held.n, evaluated - 1);
    assert_int_equal(f->snap.held.iteration[evaluated - 2], FAR - 1);
    assert_true(f->snap.accuracy == accuracy);
}

/* Each keeps its own network, and states which had a lower loss. */
TEST_CASE_WITH(an_earlier_training_is_named, start_patient, end)
{
    struct fixture *f = *state;
    char want[80];
    const char *reason = NULL;
    double lowest = INFINITY;
    long long after = 0;
    for (int i = 0; i < 9 && !reason; i++) {
        post_and_settle(f, LAB_DO_TRAIN, 3);
        reason = strstr(f->snap.stop_reason, "; an earlier");
        double own = f->snap.held.value[f->snap.iteration];
        assert_true(!reason || own > lowest);
        if (own < lowest) {
            lowest = own;
            after = (long long)f->snap.iteration + 1;
        }
    }
    assert_non_null(reason);
    snprintf(want, sizeof(want), "; an earlier training had %.4g after %lld",
             lowest, after);
    assert_string_equal(reason, want);
}

/* The news of iterations at speed come late: none is taken for one of a way that was
 * left, after what was evaluated behind it. */
TEST_CASE_WITH(late_news_leave_no_way, start_patient_and_late, end)
{
    struct fixture *f = *state;
    int launched = late_counts.launches;
    post_and_settle(f, LAB_DO_TRAIN, 5);
    assert_string_equal(f->snap.error, "");
    assert_true(late_counts.launches > launched);
    int64_t best = f->snap.iteration;
    assert_true(best < 4);
    post_and_settle(f, LAB_DO_TRAIN, 3);
    assert_int_equal(f->snap.held.n, best + 4);
    for (int i = 0; i < f->snap.held.n; i++)
        assert_int_equal(f->snap.held.iteration[i], i);
}

/* The rate that was set on it holds from where the walk went back to. */
FIXTURE_CASE(a_rate_of_a_way_that_was_left_holds_from_there)
{
    post_and_settle(f, LAB_DO_TRAIN, 4);
    set_rate(f, 0.25);
    post_and_settle(f, LAB_DO_TRAIN, 4);
    set_rate(f, 0.5);
    assert_int_equal(f->snap.n_lr_changes, 2);
    assert_int_equal(f->snap.lr_changes[0].iteration, 4);
    assert_int_equal(f->snap.lr_changes[1].iteration, 8);
    post_and_settle(f, LAB_DO_BACK, 2 * f->snap.schedule->n_steps);
    post_and_settle(f, LAB_DO_CONTINUE, 0);
    assert_int_equal(f->snap.iteration, 6);
    assert_int_equal(f->snap.n_lr_changes, 2);
    assert_int_equal(f->snap.lr_changes[0].iteration, 4);
    assert_int_equal(f->snap.lr_changes[1].iteration, 6);
    assert_true(f->snap.lr_changes[1].lr == 0.5);
    assert_true(f->snap.rate == 0.5);
    /* To before both, and one of the same iteration. */
    post_and_settle(f, LAB_DO_BACK, 5 * f->snap.schedule->n_steps);
    set_rate(f, 0.125);
    post_and_settle(f, LAB_DO_CONTINUE, 0);
    assert_int_equal(f->snap.iteration, 2);
    assert_int_equal(f->snap.n_lr_changes, 1);
    assert_int_equal(f->snap.lr_changes[0].iteration, 2);
    assert_true(f->snap.lr_changes[0].lr == 0.125);
}

/* One that fires where the patience is over, too: its network stays. */
TEST_CASE_WITH(a_break_on_the_loss_goes_before_an_early_stop, start_rising, end)
{
    struct fixture *f = *state;
    post_and_settle(f, LAB_DO_TRAIN, 1);
    double first = f->snap.losses.value[0];
    struct lab_command c = {.kind = LAB_DO_BREAK,
                            .break_kind = LAB_BREAK_LOSS_ABOVE,
                            .phase = -1,
                            .value = first + 1};
    post_and_settle(f, LAB_DO_RESTART, 0);
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_string_equal(f->snap.error, "");
    post_and_settle(f, LAB_DO_TRAIN, 10);
    assert_non_null(strstr(f->snap.stop_reason, "the loss is "));
    assert_int_equal(f->snap.iteration, 1);
    assert_false(f->snap.train_whole);
}

/* The plan has the names, and no step of this walk fits. */
FIXTURE_CASE(what_fits_no_step_is_left_out_with_a_note)
{
    enum { MANY = LAB_MAX_BREAKS + 1 };
    static struct lab_break_spec list[MANY];
    static const char step[] = "fc1.matmul";
    static const char *watch[] = {"loss"};
    lab_snapshot_release(&f->snap);
    lab_session_free(f->session);
    list[0] = (struct lab_break_spec){
        .kind = LAB_BREAK_STEP, .step = step, .phase = LAB_LOSS};
    list[1] = (struct lab_break_spec){
        .kind = LAB_BREAK_STEP, .step = step, .phase = LAB_BACKWARD};
    f->net.spec.breaks = list;
    f->net.spec.n_breaks = 2;
    open_session(f);
    assert_non_null(strstr(f->snap.notice,
                           "the lesson's breakpoint is left out: this network "
                           "has no step 'fc1.matmul' in phase loss\n"));
    assert_int_equal(f->snap.n_breaks, 1);
    assert_int_equal(f->snap.breaks[0].phase, LAB_BACKWARD);
    lab_snapshot_release(&f->snap);
    lab_session_free(f->session);
    /* More than there is room for. */
    for (int i = 0; i < MANY; i++)
        list[i] = (struct lab_break_spec){.kind = LAB_BREAK_NAN, .phase = -1};
    f->net.spec.n_breaks = MANY;
    f->net.spec.watch = watch;
    f->net.spec.n_watch = 1;
    open_session(f);
    assert_int_equal(f->snap.n_breaks, LAB_MAX_BREAKS);
    assert_non_null(strstr(f->snap.notice, "the lesson's breakpoint is left "
                                           "out: at most 32 breakpoints"));
    assert_non_null(strstr(f->snap.notice, "the lesson's watch is left out: "));
    f->net.spec.n_breaks = f->net.spec.n_watch = 0;
}

/* What no step of this iteration has written has no values to show. */
FIXTURE_CASE(what_is_not_written_has_no_values)
{
    struct lab_command show = {.kind = LAB_DO_SHOW, .phase = -1};
    show.show = (struct lab_show){
        .tensor = lab_plan_tensor(f->snap.plan, "fc1.xW"), .col_axis = 1};
    for (int turn = 0; turn < 3; turn++) {
        /* Before the first step; then, an iteration on, and again. */
        assert_ok(lab_session_post(f->session, &show));
        settle(f);
        assert_false(f->snap.plane.written);
        assert_true(isnan(f->snap.plane.stats.max));
        for (int64_t i = 0; i < f->snap.plane.rows * f->snap.plane.cols; i++)
            assert_true(isnan(f->snap.plane.value[i]));
        post_and_settle(f, LAB_DO_STEP, 1);
        assert_true(f->snap.plane.written);
        assert_false(isnan(f->snap.plane.value[0]));
        assert_false(isnan(f->snap.plane.stats.max));
        post_and_settle(f, LAB_DO_CONTINUE, 0);
        post_and_settle(f, LAB_DO_STEP, 1);
        post_and_settle(f, LAB_DO_BACK, 1);
    }
}

FIXTURE_CASE(a_thinned_curve_ends_with_the_newest)
{
    post_and_settle(f, LAB_DO_TRAIN, 5000);
    const struct lab_curve *c = &f->snap.losses;
    assert_true(c->n > 1000 && c->n < 5000);
    assert_int_equal(c->iteration[c->n - 1], 4999);
    assert_true(c->value[c->n - 1] == f->snap.loss);
    for (int i = 1; i < c->n; i++)
        assert_true(c->iteration[i] > c->iteration[i - 1]);
}

FIXTURE_CASE(a_new_choice_does_not_rename_what_ran)
{
    struct lab_command c = {.kind = LAB_DO_VARIANT, .phase = -1};
    assert_null(f->snap.steps[0].ran);
    post_and_settle(f, LAB_DO_STEP, 2);
    snprintf(c.text, sizeof(c.text), "fc1");
    snprintf(c.text2, sizeof(c.text2), "blas");
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_string_equal(f->snap.error, "");
    assert_string_equal(f->snap.schedule->steps[0].variant->name, "blas");
    assert_string_equal(f->snap.steps[0].ran, "naive");
    post_and_settle(f, LAB_DO_BACK, 2);
    assert_null(f->snap.steps[0].ran);
    post_and_settle(f, LAB_DO_STEP, 1);
    assert_string_equal(f->snap.steps[0].ran, "blas");
}

static void choose(struct fixture *f, const char *target, const char *variant)
{
    struct lab_command c = {.kind = LAB_DO_VARIANT, .phase = -1};
    snprintf(c.text, sizeof(c.text), "%s", target);
    snprintf(c.text2, sizeof(c.text2), "%s", variant);
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
}

static const char *first_runs(const struct fixture *f, enum lab_chosen_by by)
{
    assert_string_equal(f->snap.error, "");
    assert_int_equal(f->snap.schedule->steps[0].by, by);
    return f->snap.schedule->steps[0].variant->name;
}

FIXTURE_CASE(a_choice_is_taken_back)
{
    choose(f, "fc1", "auto"); /* there is none */
    assert_string_equal(first_runs(f, LAB_BY_TABLE), "naive");
    choose(f, "fc1", "blas");
    assert_string_equal(first_runs(f, LAB_BY_HAND), "blas");
    choose(f, "fc1", "default");
    assert_string_equal(first_runs(f, LAB_BY_DEFAULT), "naive");
    choose(f, "*", "blas");
    choose(f, "fc1", "auto"); /* the wider one holds now */
    assert_string_equal(first_runs(f, LAB_BY_HAND), "blas");
    choose(f, "fc1", "auto");
    assert_string_equal(f->snap.error_id, "session.variant-none");
    choose(f, "*", "auto");
    assert_string_equal(first_runs(f, LAB_BY_TABLE), "naive");
    choose(f, "fc7", "auto");
    assert_string_equal(f->snap.error_id, "session.node");
    assert_non_null(strstr(f->snap.error, "'fc7'"));
}

/* ---- measuring, watched and stopped ---- */

struct measured {
    struct lab_session *session;
    int kept;
    int shown; /* snapshots that report it */
    bool stops;
    bool wanted; /* the caller's own stop */
};

static void note_time(void *user, const struct lab_tune_time *time)
{
    struct measured *m = user;
    assert_true(time->ns > 0);
    m->kept++;
}

static bool is_wanted(void *user)
{
    return ((struct measured *)user)->wanted;
}

/* On the engine's thread, for each snapshot. */
static void see_measuring(void *user)
{
    struct measured *m = user;
    struct lab_snapshot snap;
    struct lab_session *s = __atomic_load_n(&m->session, __ATOMIC_ACQUIRE);
    if (!s || lab_session_snapshot(s, &snap))
        return;
    if (snap.measure_of > 0) {
        assert_int_equal(snap.state, LAB_SESSION_STARTING);
        assert_true(snap.measured[0] && snap.measure_done < snap.measure_of);
        m->shown++;
        if (m->stops) {
            const struct lab_command stop = {.kind = LAB_DO_STOP};
            assert_ok(lab_session_post(s, &stop));
        }
    }
    lab_snapshot_release(&snap);
}

/* The session is known to see_measuring() before it measures. */
static enum lab_status wait_for_it(void *user, struct lab_backend *be,
                                   struct lab_tuning *t)
{
    struct measured *m = user;
    (void)be;
    (void)t;
    while (!__atomic_load_n(&m->session, __ATOMIC_ACQUIRE))
        continue;
    return LAB_OK;
}

static void open_measured(struct fixture *f, struct measured *m)
{
    const struct lab_tune_keeper keeper = {.user = m,
                                           .budget_ns = 60000000000,
                                           .load = wait_for_it,
                                           .keep = note_time,
                                           .stop = {is_wanted, m}};
    static struct lab_tune_keeper kept; /* the session outlives this */
    kept = keeper;
    struct lab_session_config config = {
        .setup = {.spec = &f->net.spec, .backend = "cpu", .tune = &kept},
        .wake = see_measuring,
        .wake_user = m};
    struct lab_session *s;
    lab_session_free(f->session);
    lab_snapshot_release(&f->snap);
    f->net.spec.data.batch = 1024; /* large enough */
    f->session = NULL;
    assert_ok(lab_session_new(&s, &config));
    f->session = s;
    __atomic_store_n(&m->session, s, __ATOMIC_RELEASE);
    settle(f);
    assert_int_equal(f->snap.state, LAB_SESSION_IDLE);
    assert_int_equal(f->snap.measure_of, 0);
}

FIXTURE_CASE(measuring_is_shown)
{
    static struct measured m;
    struct lab_candidate list[8];
    m = (struct measured){.kept = 0};
    open_measured(f, &m);
    assert_true(m.shown > 1 && m.kept > 10);
    assert_int_equal(f->snap.schedule->steps[0].by, LAB_BY_TIME);
    int n = lab_session_candidates(f->session, 0, &f->snap.schedule->steps[0],
                                   list, 8);
    assert_true(n > 1 && list[0].timed && list[0].ns > 0);
    n = lab_session_candidates(f->session, 0, NULL, list, 8);
    assert_true(n > 1 && !list[0].timed);
}

/* It goes on with the fixed table; a stop of the caller's does the same. */
FIXTURE_CASE(measuring_is_stopped)
{
    static struct measured m;
    for (int i = 0; i < 2; i++) {
        m = (struct measured){.stops = i == 0, .wanted = i == 1};
        open_measured(f, &m);
        assert_int_equal(m.kept, 0);
        assert_int_equal(m.shown, 1);
        assert_int_equal(f->snap.schedule->steps[0].by, LAB_BY_TABLE);
        assert_non_null(strstr(f->snap.notice, "measuring the variants was "
                                               "stopped"));
        post_and_settle(f, LAB_DO_STEP, 2);
        assert_int_equal(f->snap.position, 2);
    }
}

/* A step that ran unheard has no number: another step's kernels are not its. */
FIXTURE_CASE(a_replayed_step_has_no_execution)
{
    int n = f->snap.schedule->n_steps;
    post_and_settle(f, LAB_DO_STEP, n + 1);
    assert_int_equal(f->snap.steps[0].exec, n + 1);
    post_and_settle(f, LAB_DO_BACK, 2);
    assert_int_equal(f->snap.iteration, 0);
    assert_int_equal(f->snap.position, n - 1);
    for (int i = 0; i < n - 1; i++) {
        assert_true(f->snap.steps[i].done);
        assert_int_equal(f->snap.steps[i].exec, LAB_EXEC_UNOBSERVED);
    }
    assert_int_equal(f->snap.steps[n - 1].exec, 0);
    post_and_settle(f, LAB_DO_STEP, 1);
    assert_int_equal(f->snap.steps[n - 1].exec, n + 2);
}

/* ---- a restart ends the run ---- */

struct heard {
    char events[32]; /* b: a run begins, e: it ends, r: restarted */
    size_t n;
    uint64_t seed;
    int64_t iteration;
    double first_loss;
};

static void hear(struct heard *h, char what)
{
    if (h->n + 1 < sizeof(h->events))
        h->events[h->n++] = what;
}

static void heard_begin(void *user, const char *name)
{
    (void)name;
    hear(user, 'b');
}

static void heard_end(void *user)
{
    hear(user, 'e');
}

static void heard_opened(void *user, struct lab_walk *walk)
{
    struct lab_observer o = {
        .user = user, .run_begin = heard_begin, .run_end = heard_end};
    lab_walk_observe(walk, &o);
}

static void heard_trained(void *user, const struct lab_snapshot *now)
{
    hear(user, 't');
    assert_true(now->train_whole && now->train_done == now->train_target);
}

static void heard_restarted(void *user, struct lab_walk *walk, uint64_t seed,
                            const struct lab_snapshot *before)
{
    struct heard *h = user;
    hear(h, 'r');
    h->seed = seed;
    h->iteration = before->iteration;
    h->first_loss = before->losses.n > 0 ? before->losses.value[0] : NAN;
    /* The walk is still where it ended. */
    assert_int_equal(lab_walk_iteration(walk), before->iteration);
}

FIXTURE_CASE(a_restart_ends_the_run)
{
    static struct heard h; /* the session outlives this function */
    h = (struct heard){.n = 0};
    struct lab_session_config config = {
        .setup = {.spec = &f->net.spec, .backend = "cpu"},
        .hooks = {.user = &h,
                  .opened = heard_opened,
                  .restarted = heard_restarted,
                  .trained = heard_trained}};
    struct lab_command again = {
        .kind = LAB_DO_RESTART, .seed_given = true, .seed = 99};
    lab_session_free(f->session);
    assert_ok(lab_session_new(&f->session, &config));
    post_and_settle(f, LAB_DO_TRAIN, 3);
    double loss = f->snap.losses.value[0];
    assert_ok(lab_session_post(f->session, &again));
    settle(f);
    assert_string_equal(h.events, "bterb");
    assert_true(h.seed == 99 && f->snap.plan->seed == 99);
    assert_int_equal(h.iteration, 2);
    assert_true(h.first_loss == loss);
    assert_int_equal(f->snap.losses.n, 0);
    post_and_settle(f, LAB_DO_RESTART, 0);
    assert_string_equal(h.events, "bterberb");
    assert_true(h.seed == 99); /* not the lesson's: the one that holds */
    assert_int_equal(h.iteration, 0);
}

static double trained_loss(struct fixture *f)
{
    post_and_settle(f, LAB_DO_TRAIN, 3);
    assert_ok(f->snap.error_code);
    assert_int_equal(f->snap.losses.n, 3);
    return f->snap.losses.value[2];
}

/* `lr` and the lesson's key give the same bits. */
static void trains_with_another_rate(struct fixture *f, const char *optimizer)
{
    struct lab_command other = {.kind = LAB_DO_RESTART, .lr = 0.25};
    net_optimizer(&f->net, optimizer);
    open_again(f);
    double with_own = trained_loss(f);
    assert_true(f->snap.lr == 0.125);
    assert_ok(lab_session_post(f->session, &other));
    settle(f);
    assert_int_equal(f->snap.iteration, 0);
    assert_true(f->snap.lr == 0.25);
    double with_other = trained_loss(f);
    assert_true(with_other != with_own);
    post_and_settle(f, LAB_DO_RESTART, 0); /* keeps the rate, as the seed */
    assert_true(trained_loss(f) == with_other);
    assert_true(lab_network_lr(&f->net.spec) == 0.125); /* the caller's */
    lab_network_set_lr(&f->net.spec, 0.25);
    open_again(f);
    assert_true(trained_loss(f) == with_other);
}

TEST_CASE_WITH(a_restart_takes_another_rate, start, end)
{
    trains_with_another_rate(*state, "sgd lr=0.125 momentum=0.9");
    trains_with_another_rate(*state, "adam lr=0.125");
    trains_with_another_rate(*state, "adamw lr=0.125 weight_decay=0.1");
}

/* A contact sheet of the batch has what each sample is, and comes out as. */
FIXTURE_CASE(samples_of_a_sheet_have_their_class)
{
    const struct lab_plan *plan = f->snap.plan;
    struct lab_command c = {
        .kind = LAB_DO_SHOW,
        .show = {.tensor = plan->x, .row_axis = -1, .col_axis = 1, .sheet = 1}};
    for (int ran = 0; ran < 2; ran++) {
        assert_ok(lab_session_post(f->session, &c));
        settle(f);
        const struct lab_plane *p = &f->snap.plane;
        assert_int_equal(p->tiles, 16);
        assert_non_null(p->tile_label);
        int right = 0;
        for (int i = 0; i < 16; i++) {
            const char *text = p->tile_label[i].text;
            assert_true(text[0] >= '0' && text[0] <= '9');
            right += strstr(text, "✓") != NULL;
            assert_true(ran || !text[1]);
            assert_true(!ran || strstr(text, "✓") || strstr(text, ", as "));
        }
        assert_true(ran ? right < 16 : right == 0);
        post_and_settle(f, LAB_DO_FINISH, 0);
    }
}

/* From another slice on it has the rest, each with its own class. */
FIXTURE_CASE(a_sheet_begins_at_any_slice)
{
    enum { FIRST = 11, TILES = 16 };
    const struct lab_plan *plan = f->snap.plan;
    struct lab_command c = {
        .kind = LAB_DO_SHOW,
        .show = {.tensor = plan->x, .row_axis = -1, .col_axis = 1, .sheet = 1}};
    double want[TILES];
    char label[TILES][LAB_LABEL_BYTES];
    post_and_settle(f, LAB_DO_FINISH, 0);
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    const struct lab_plane *p = &f->snap.plane;
    for (int i = 0; i < TILES; i++) {
        want[i] = p->value[i * p->cols + p->cols / 2];
        memcpy(label[i], p->tile_label[i].text, sizeof(label[i]));
    }
    c.show.tile_first = FIRST;
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_int_equal(p->tiles, TILES - FIRST);
    for (int i = 0; i < TILES - FIRST; i++) {
        assert_true(p->value[i * p->cols + p->cols / 2] == want[FIRST + i]);
        assert_string_equal(p->tile_label[i].text, label[FIRST + i]);
    }
}

/* What several pictures show is read once, also with another tensor between. */
FIXTURE_CASE(a_tensor_of_several_parts_is_read_once)
{
    const int W = lab_plan_tensor(f->snap.plan, "fc1.W");
    const int b = lab_plan_tensor(f->snap.plan, "fc1.b");
    const int parts[] = {W, b, W, b};
    struct lab_command show = {.kind = LAB_DO_SHOW};
    struct lab_command board = {.kind = LAB_DO_BOARD, .n_board = 4};
    assert_in_range(W, 0, COUNTED - 1);
    assert_in_range(b, 0, COUNTED - 1);
    lab_show_first(f->snap.plan, b, &show.show);
    for (int i = 0; i < 4; i++)
        lab_show_first(f->snap.plan, parts[i], &board.board[i]);
    assert_ok(lab_session_post(f->session, &board));
    settle(f);
    reads[W] = reads[b] = 0;
    const int64_t before = f->snap.version;
    assert_ok(lab_session_post(f->session, &show));
    settle(f);
    const int published = (int)(f->snap.version - before);
    assert_in_range(reads[b], 1, published);
    assert_in_range(reads[W], 1, published);
    for (int i = 0; i < 4; i++)
        assert_int_equal(f->snap.board[i].tensor, parts[i]);
}

static void set_lr(struct fixture *f, double lr)
{
    struct lab_command c = {.kind = LAB_DO_LR, .lr = lr, .phase = -1};
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_string_equal(f->snap.error, "");
    assert_true(f->snap.lr == lr);
}

/* From the next step on; before the first one it is the run's, and stays. */
FIXTURE_CASE(a_rate_is_changed_on_the_way)
{
    set_lr(f, 0.5);
    assert_int_equal(f->snap.n_lr_changes, 0);
    post_and_settle(f, LAB_DO_TRAIN, 4);
    assert_int_equal(f->snap.epoch, 1); /* the first, as `run` counts */
    set_lr(f, 0.25);
    assert_int_equal(f->snap.iteration, 3);
    assert_int_equal(f->snap.n_lr_changes, 1);
    assert_int_equal(f->snap.lr_changes[0].iteration, 4);
    post_and_settle(f, LAB_DO_TRAIN, 2);
    assert_int_equal(f->snap.rates.n, 6);
    for (int i = 0; i < 6; i++)
        assert_true(f->snap.rates.value[i] == (i < 4 ? 0.5 : 0.25));
    post_and_settle(f, LAB_DO_RESTART, 0);
    assert_true(f->snap.lr == 0.5);
    assert_int_equal(f->snap.n_lr_changes, 0);
}

/* Only while it is asked for; an iteration that has ended counts too. */
FIXTURE_CASE(layers_are_looked_at_when_asked_for)
{
    post_and_settle(f, LAB_DO_TRAIN, 3);
    assert_int_equal(f->snap.n_figures, 0);
    assert_true(f->snap.confusion.after == 3);
    post_and_settle(f, LAB_DO_INSPECT, 1);
    assert_int_equal(f->snap.n_figures, 3);
    assert_int_equal(f->snap.figures_of, 2);
    assert_true(f->snap.figures[0].update > 0);
    post_and_settle(f, LAB_DO_TRAIN, 5);
    assert_int_equal(f->snap.figures_of, 7);
    post_and_settle(f, LAB_DO_INSPECT, 0);
    assert_int_equal(f->snap.n_figures, 0);
}

/* Each of the first iterations; later ones as far apart from each other, and what was
 * looked at stays as it was. */
FIXTURE_CASE(looks_are_kept_over_the_iterations)
{
    const struct lab_looks *l = &f->snap.looks;
    post_and_settle(f, LAB_DO_INSPECT, 1);
    post_and_settle(f, LAB_DO_TRAIN, 20);
    assert_int_equal(l->n, 20);
    assert_int_equal(l->n_parameters, 0); /* it has too many */
    const double fourth = l->gradient[4];
    for (int k = 0; k < l->n; k++) {
        assert_int_equal(l->iteration[k], k);
        for (int i = 0; i < f->snap.n_figures; i++)
            if (f->snap.figures[i].parameters > 0) {
                assert_true(l->gradient[i * l->n + k] > 0);
                assert_true(l->ratio[i * l->n + k] > 0);
            }
    }
    /* The last look is what the figures have. */
    assert_true(l->gradient[l->n - 1] == f->snap.figures[0].gradient);
    assert_true(l->ratio[l->n - 1] ==
                f->snap.figures[0].update / f->snap.figures[0].parameter);
    post_and_settle(f, LAB_DO_TRAIN, 3 * LAB_LOOKS);
    assert_int_equal(l->n, 404 / 4 + 1);
    for (int k = 1; k < l->n; k++)
        assert_true(l->iteration[k] > l->iteration[k - 1]);
    assert_int_equal(l->iteration[l->n - 1], 20 + 3 * LAB_LOOKS - 1);
    for (int k = 0; k < l->n - 1; k++) /* 404 of them: each fourth */
        assert_int_equal(l->iteration[k], 4 * k);
    assert_true(l->gradient[1] == fourth);
    post_and_settle(f, LAB_DO_RESTART, 0);
    assert_int_equal(l->n, 0);
}

static void open_inline(struct fixture *f, const char *loss)
{
    net_init(&f->net);
    net_tensor(&f->net, "x 2,2", (const double[]){1, 0, 0, 5});
    net_node(&f->net, "fc1 dense units=1 bias=false");
    net_train(&f->net, loss, "sgd lr=0.03");
    net_param(&f->net, "fc1.W 2,1", (const double[]){0, 0});
}

/* The batch beside its targets, and both parameters on their way to (1, 1). */
TEST_CASE(a_batch_has_its_targets)
{
    struct fixture f = {0};
    open_inline(&f, "mse reduction=half_sum");
    net_tensor(&f.net, "y 2,1", (const double[]){1, 5});
    open_session(&f);
    const struct lab_result *r = &f.snap.result;
    const struct lab_looks *l = &f.snap.looks;
    post_and_settle(&f, LAB_DO_INSPECT, 1);
    assert_int_equal(r->iteration, -1);
    post_and_settle(&f, LAB_DO_TRAIN, 30);
    assert_int_equal(r->iteration, 29);
    assert_int_equal(r->rows, 2);
    assert_null(r->label);
    assert_null(r->in); /* x has two numbers a row */
    assert_true(r->target[0] == 1 && r->target[1] == 5);
    assert_int_equal(l->n_parameters, 2);
    /* The result is of the parameters before the update, the look of those after. */
    assert_true(fabs(r->out[0] - l->parameter[28]) < 1e-12);
    assert_true(fabs(r->out[1] - 5 * l->parameter[l->n + 28]) < 1e-12);
    for (int k = 1; k < l->n; k++)
        assert_true(l->parameter[k] > l->parameter[k - 1]);
    lab_session_free(f.session);
    lab_snapshot_release(&f.snap);
    net_free(&f.net);
}

/* A lesson that names no optimizer has one, and it can be set too. */
TEST_CASE(a_rate_without_an_optimizer)
{
    struct lab_network_spec spec;
    lab_network_spec_init(&spec);
    assert_true(lab_network_lr(&spec) == 0.1);
    lab_network_set_lr(&spec, 3);
    assert_true(lab_network_lr(&spec) == 3);
    assert_string_equal(spec.optimizer.op->name, "sgd");
    lab_network_spec_release(&spec);
}

/* Leaving: what trains stops without an evaluation, and the figures stay. */
FIXTURE_CASE(an_ended_session_keeps_its_figures)
{
    struct lab_command step = {.kind = LAB_DO_STEP, .n = 1, .phase = -1};
    int64_t before = lab_session_version(f->session);
    post(f, LAB_DO_TRAIN, 100000000);
    while (lab_session_version(f->session) < before + 3)
        continue;
    lab_session_end(f->session);
    lab_session_end(f->session); /* the second time nothing is left to do */
    assert_ok(lab_session_wait(f->session, 0));
    look(f);
    assert_true(f->snap.train_done > 0);
    assert_string_equal(f->snap.error, "");
    assert_non_null(strstr(f->snap.stop_reason, "training stopped after"));
    int n = f->snap.accuracies.n;
    int64_t last = n ? f->snap.accuracies.iteration[n - 1] + 1 : 0;
    assert_int_equal(last % f->snap.iterations_per_epoch, 0);
    assert_int_equal(lab_session_post(f->session, &step), LAB_E_STATE);
}

/* What the screens draw of an element's past: its own values and its gradient's, and of a
 * gradient those of the parameter. */
FIXTURE_CASE(an_explained_element_has_a_past)
{
    struct lab_command c = {.kind = LAB_DO_EXPLAIN, .phase = -1};
    c.element.tensor = lab_plan_tensor(f->snap.plan, "fc1.W");
    c.element.index = 161; /* of a pixel with ink */
    assert_ok(lab_session_post(f->session, &c));
    settle(f);
    assert_int_equal(f->snap.past[0].values.n, 1); /* as it is now */
    assert_int_equal(f->snap.past[1].values.n, 0);
    for (int i = 0; i < 3 * f->snap.schedule->n_steps; i++)
        post(f, LAB_DO_STEP, 1);
    settle(f);
    for (int turn = 0; turn < 2; turn++) {
        const struct lab_past *own = &f->snap.past[turn];
        const struct lab_past *other = &f->snap.past[!turn];
        assert_string_equal(f->snap.plan->tensors[own->element.tensor].name,
                            "fc1.W");
        assert_string_equal(f->snap.plan->tensors[other->element.tensor].name,
                            "fc1.W.grad");
        assert_int_equal(own->element.index, 161);
        assert_int_equal(other->element.index, 161);
        assert_int_equal(own->values.n, 3);
        assert_true(own->values.value[0] != own->values.value[2]);
        assert_int_equal(other->values.n, 3);
        for (int i = 0; i < 3; i++)
            assert_int_equal(own->values.iteration[i], i);
        assert_true(f->snap.past[0].values.value[2] ==
                    f->snap.explanation.shown);
        /* Plain gradient descent, as each iteration did it. */
        for (int i = 1; i < 3; i++)
            assert_float_equal(own->values.value[i],
                               own->values.value[i - 1] -
                                   f->snap.lr * other->values.value[i],
                               1e-6);
        c.element.tensor = other->element.tensor;
        assert_ok(lab_session_post(f->session, &c));
        settle(f);
    }
}

/* A training without a number takes the epochs that the session was given. */
TEST_CASE_WITH(a_training_has_the_epochs_asked_for, start, end)
{
    struct fixture *f = *state;
    f->epochs = 2;
    open_again(f);
    assert_true(f->snap.iterations_per_epoch > 1);
    post_and_settle(f, LAB_DO_TRAIN, 0);
    assert_int_equal(f->snap.train_target, 2 * f->snap.iterations_per_epoch);
    assert_int_equal(f->snap.iteration + 1, f->snap.train_target);
    post_and_settle(f, LAB_DO_TRAIN, 3);
    assert_int_equal(f->snap.train_target, 3);
}

RUN_TESTS()
