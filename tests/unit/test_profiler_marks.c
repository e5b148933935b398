/* Which step a record belongs to, and which records there are: by the row of
 * calls of a libcupti that the test plays. No GPU and no driver. */
#include <sys/wait.h>
#include <unistd.h>

#include <cupti.h>

#include "cupti_api.h"
#include "cupti_trace.h"
#include "unit/played_cupti.h"

static void (*count_launch)(void);

/* A kernel belongs to what was pushed innermost when it was launched, whichever
 * thread did it; a call only when it is of the thread that pushes. */
TEST_CASE_WITH(kernels_find_their_push, setup, teardown)
{
    static const int64_t wanted[] = {LAB_UNKNOWN, 1, 2, 1, 1, LAB_UNKNOWN};
    struct traced *t = *state;
    assert_ok(start(t));
    launch("0", 1);
    ops->push(1);
    launch("1", 1);
    ops->push(2);
    launch("2", 1);
    ops->pop();
    launch("3", 1);
    fake->thread = (uint32_t)gettid() + 1;
    launch("4", 1);
    fake->thread = 0;
    ops->pop();
    launch("5", 1);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 6);
    for (int i = 0; i < 6; i++) { /* in any order: named by their number */
        const struct lab_kernel_record *k =
            &kept_get(t->kept, LAB_RECORD_KERNEL, i)->u.kernel;
        int number = atoi(lab_intern_text(k->mangled_name));
        assert_true(k->exec == wanted[number]);
        const struct lab_api_record *a =
            &kept_get(t->kept, LAB_RECORD_API, i)->u.api;
        assert_true(a->exec == (number == 4 ? LAB_UNKNOWN : wanted[number]));
    }
    ops->stop();
}

/* More pushes than are kept: the newest are right, the old ones belong to
 * nothing rather than to another step. */
TEST_CASE_WITH(old_pushes_are_forgotten, setup, teardown)
{
    enum { N = 200000 };
    struct traced *t = *state;
    struct lab_join_stats s;
    assert_ok(start(t));
    ops->push(1);
    launch("old", 1);
    ops->pop();
    for (int i = 2; i <= N; i++) {
        ops->push(i);
        ops->pop();
    }
    ops->push(N + 1);
    launch("new", 1);
    ops->pop();
    flush();
    lab_join_get_stats(t->join, &s);
    assert_int_equal(s.kernels_without_step, 1);
    assert_true(kept_get(t->kept, LAB_RECORD_KERNEL, 0)->u.kernel.exec ==
                LAB_UNKNOWN);
    assert_true(kept_get(t->kept, LAB_RECORD_KERNEL, 1)->u.kernel.exec ==
                N + 1);
    ops->stop();
}

#define FIXTURE_CASE(name) TEST_CASE_OF(name, setup, teardown, struct traced *t)

/* Off and on again in one process; counting in between does not wake it. */
FIXTURE_CASE(the_trace_goes_off_and_on)
{
    assert_ok(ops->set_records(LAB_GPU_RECORDS_NONE));
    assert_ok(start(t));
    int kinds = fake->kinds_on;
    int questions = fake->calls_left_out;
    assert_true(kinds > 0);
    assert_true(questions > 0);
    ops->push(1);
    launch("first", 1);
    assert_ok(ops->set_records(LAB_GPU_RECORDS_NONE));
    assert_int_equal(fake->kinds_on, 1); /* graphs as a whole */
    assert_ok(lab_cupti_trace_pause(true));
    assert_ok(lab_cupti_trace_pause(false));
    assert_int_equal(fake->kinds_on, 1);
    assert_int_equal(fake->marks_on, 0);
    launch("unseen", 1);
    fake->enable_fails_for = CUPTI_ACTIVITY_KIND_DRIVER;
    assert_int_equal(ops->set_records(LAB_GPU_RECORDS_ALL), LAB_E_DEVICE);
    assert_non_null(strstr(ops->error(), "enable tracing"));
    fake->enable_fails_for = 0;
    assert_ok(ops->set_records(LAB_GPU_RECORDS_ALL));
    assert_int_equal(fake->kinds_on, kinds);
    assert_int_equal(fake->calls_left_out, questions);
    assert_int_equal(fake->marks_on, 1);
    launch("again", 1);
    ops->pop();
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 2);
    const struct lab_kernel_record *k =
        &kept_get(t->kept, LAB_RECORD_KERNEL, 1)->u.kernel;
    assert_string_equal(lab_intern_text(k->mangled_name), "again");
    assert_int_equal(k->exec, 1);
    ops->stop();
}

FIXTURE_CASE(a_forked_child_leaves_cupti_alone)
{
    int status;
    assert_ok(start(t));
    pid_t child = fork();
    if (child == 0) {
        enum lab_status st = ops->flush();
        ops->push(1);
        ops->stop();
        _exit(st == LAB_E_STATE && fake->forced_flushes == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    launch("k", 1);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
}

/* What is pushed while nothing is recorded counts when it goes on. */
FIXTURE_CASE(pushes_while_off_are_known_afterwards)
{
    assert_ok(start(t));
    ops->push(1);
    assert_ok(ops->set_records(LAB_GPU_RECORDS_NONE));
    ops->push(2);
    ops->push(3);
    ops->pop();
    launch("unseen", 1);
    assert_ok(ops->set_records(LAB_GPU_RECORDS_ALL));
    launch("in 2", 1);
    ops->pop();
    launch("in 1", 1);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(kept_get(t->kept, LAB_RECORD_KERNEL, i)->u.kernel.exec,
                         2 - i);
    ops->stop();
}

/* Kernels, copies and memsets with their steps; no records of calls. */
TEST_CASE_WITH(kernels_can_come_alone, setup, teardown)
{
    static const int none[] = {LAB_RECORD_API, LAB_RECORD_SYNC,
                               LAB_RECORD_OVERHEAD};
    struct traced *t = *state;
    struct lab_gpu_sink sink;
    struct lab_gpu_trace_options options = {.records = LAB_GPU_RECORDS_KERNELS};
    lab_join_gpu_sink(t->join, &sink);
    assert_ok(ops->start(&sink, &options));
    assert_int_equal(fake->kinds_on, 4); /* and graphs as a whole */
    ops->push(9);
    launch("k", 1);
    others();
    ops->pop();
    flush();
    for (int i = 0; i < 3; i++)
        assert_int_equal(kept_count(t->kept, none[i]), 0);
    assert_int_equal(kept_get(t->kept, LAB_RECORD_KERNEL, 0)->u.kernel.exec, 9);
    assert_int_equal(kept_get(t->kept, LAB_RECORD_MEMCPY, 0)->u.memcpy_.exec,
                     9);
    assert_int_equal(kept_get(t->kept, LAB_RECORD_MEMSET, 0)->u.memcpy_.exec,
                     9);
    /* Counting brings back what was wanted, no more. */
    assert_ok(lab_cupti_trace_pause(true));
    assert_ok(lab_cupti_trace_pause(false));
    assert_int_equal(fake->kinds_on, 4);
    assert_ok(ops->set_records(LAB_GPU_RECORDS_ALL));
    assert_int_equal(fake->kinds_on, 8);
    launch("k", 1);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_API), 1);
    assert_ok(ops->set_records(LAB_GPU_RECORDS_KERNELS));
    assert_int_equal(fake->kinds_on, 4);
    ops->stop();
    assert_int_equal(fake->kinds_on, 0);
}

/* CUPTI counts to 2^32 and begins again. */
TEST_CASE_WITH(ids_may_come_round, setup, teardown)
{
    enum { N = 2000 };
    struct traced *t = *state;
    fake->correlation_id = UINT32_MAX - N;
    assert_ok(start(t));
    for (int i = 1; i <= N; i++) {
        ops->push(i);
        launch("k", 1);
        ops->pop();
    }
    assert_true(fake->correlation_id < 4 * N);
    flush();
    for (int i = 0; i < N; i++)
        assert_int_equal(kept_get(t->kept, LAB_RECORD_KERNEL, i)->u.kernel.exec,
                         i + 1);
    ops->stop();
}

/* Where the row of calls cannot be read, nothing is started. */
FIXTURE_CASE(marks_that_do_not_work_are_no_trace)
{
    fake->no_ids = 1;
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(ops->error(), "tells no correlation id"));
    assert_non_null(strstr(ops->error(), "CUDA 13"));
    assert_int_equal(fake->kinds_on, 0);
    assert_int_equal(fake->subscribed, 0);
    assert_int_equal(fake->marks_on, 0);
    fake->no_ids = 0;
    fake->callback_gives = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    assert_int_equal(start(t), LAB_E_DEVICE);
    assert_non_null(strstr(ops->error(), "watch a call"));
    assert_int_equal(fake->kinds_on, 0);
    assert_int_equal(fake->subscribed, 0);
    fake->callback_gives = 0;
    fake->init_first = 1; /* the driver is started for it */
    assert_ok(start(t));
    assert_int_equal(fake->init_first, 0);
    ops->stop();
    assert_int_equal(fake->marks_on, 0);
}

/* A CUPTI that cannot leave single calls out records the marks as well. */
FIXTURE_CASE(marks_are_no_calls_of_the_run)
{
    fake->marks_traced = 1;
    assert_ok(start(t));
    ops->push(1);
    launch("k", 1);
    ops->pop();
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_API), 1);
    ops->stop();
}

static int launches;

static void on_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                      const CUpti_CallbackData *data)
{
    assert_int_equal(domain, CUPTI_CB_DOMAIN_DRIVER_API);
    assert_int_equal(id, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
    launches += data->callbackSite == CUPTI_API_EXIT;
}

/* Counting listens to launches while the trace makes its marks. */
FIXTURE_CASE(listeners_get_their_own_calls)
{
    assert_ok(start(t));
    lab_cupti_listen(on_launch);
    fake->callbacks_on = 1;
    ops->push(1);
    count_launch();
    launch("k", 1);
    lab_cupti_listen(NULL);
    count_launch();
    ops->pop();
    launch("k", 1);
    flush();
    assert_int_equal(launches, 1);
    assert_int_equal(kept_get(t->kept, LAB_RECORD_KERNEL, 0)->u.kernel.exec, 1);
    assert_true(kept_get(t->kept, LAB_RECORD_KERNEL, 1)->u.kernel.exec ==
                LAB_UNKNOWN);
    ops->stop();
}

int main(void)
{
    setenv("LAPENNA_LAB_CUPTI", LAB_FAKE_CUPTI, 1);
    if (!play() ||
        !find(RTLD_DEFAULT, "fake_cupti_count_launch", &count_launch))
        return 1;
    return test_run_all(NULL, NULL);
}
