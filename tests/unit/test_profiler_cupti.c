/* The CUDA module's half of the trace, with a libcupti that the test plays:
 * finding it, starting, reading buffers, flushing, stopping, and every way in
 * which CUPTI may refuse. No GPU and no driver. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"

#include <cupti.h>

#include "base/mem.h"
#include "profiler/gpu.h"
#include "profiler/join.h"
#include "unit/played_cupti.h"

#define FIXTURE_CASE(name) TEST_CASE_OF(name, setup, teardown, struct traced *t)

/* Before the library is found the module states where to get it. Runs first:
 * what was opened once stays open. */
FIXTURE_CASE(a_missing_library_has_a_remedy)
{
    setenv("LAPENNA_LAB_CUPTI", "/no/such/libcupti.so", 1);
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(ops->error(), "LAPENNA_LAB_CUPTI"));
    assert_non_null(strstr(ops->error(), "/no/such/libcupti.so"));
    assert_non_null(strstr(ops->error(), "install cuda-cupti-"));
    setenv("LAPENNA_LAB_CUPTI", "libm.so.6", 1); /* a library, not CUPTI */
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(ops->error(), "libm.so.6 has no cupti"));
    setenv("LAPENNA_LAB_CUPTI", LAB_FAKE_CUPTI, 1);
    fake->version = 990000; /* of CUDA 99 */
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(ops->error(), "CUDA 99"));
    ops->stop();
}

FIXTURE_CASE(launches_come_out_with_their_step)
{
    assert_ok(start(t));
    for (int64_t exec = 1; exec <= 3; exec++) {
        ops->push(exec);
        launch("_Z8relu_fwdPfPKfl", 1);
        launch("_Z8relu_fwdPfPKfl", 1);
        ops->pop();
    }
    assert_int_equal(t->kept->n, 0);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 6);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_API), 6);
    for (int i = 0; i < 6; i++) {
        const struct lab_kernel_record *k =
            &kept_get(t->kept, LAB_RECORD_KERNEL, i)->u.kernel;
        assert_int_equal(k->exec, i / 2 + 1);
        assert_int_equal(k->end_ns - k->start_ns, 20);
        assert_int_equal(k->launch.registers_per_thread, 40);
        assert_int_equal(
            k->launch.grid[0] * k->launch.grid[1] * k->launch.grid[2], 20);
        assert_int_equal(k->launch.block[0], 128);
        assert_int_equal(k->launch.static_shared_bytes, 512);
        assert_int_equal(k->launch.dynamic_shared_bytes, 1024);
        assert_int_equal(k->stream_id, 7);
        assert_int_equal(k->local_total_bytes, 1 << 20);
        assert_string_equal(lab_intern_text(k->short_name), "relu_fwd");
        assert_string_equal(lab_intern_text(k->demangled_name),
                            "relu_fwd(float*, float const*, long)");
    }
    const struct lab_api_record *a =
        &kept_get(t->kept, LAB_RECORD_API, 5)->u.api;
    assert_int_equal(a->exec, 3);
    assert_int_equal(a->event_class, 0);
    assert_true(a->global_tid == ((int64_t)77 << 24 | gettid()));
    assert_int_equal(fake->thread_ids, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    assert_string_equal(lab_intern_text(a->name), "cudaLaunchKernel_v7000");
    ops->stop();
    assert_int_equal(fake->kinds_on, 0);
    assert_int_equal(fake->subscribed, 0);
    assert_int_equal(fake->forced_flushes, 1);
}

FIXTURE_CASE(every_kind_is_read)
{
    assert_ok(start(t));
    ops->push(9);
    others();
    ops->pop();
    flush();
    const struct lab_memcpy_record *m =
        &kept_get(t->kept, LAB_RECORD_MEMCPY, 0)->u.memcpy_;
    assert_int_equal(m->exec, 9);
    assert_int_equal(m->bytes, 4096);
    assert_int_equal(m->copy_kind, 1);
    m = &kept_get(t->kept, LAB_RECORD_MEMSET, 0)->u.memcpy_;
    assert_int_equal(m->exec, 9);
    assert_int_equal(m->value, 3);
    const struct lab_api_record *a =
        &kept_get(t->kept, LAB_RECORD_SYNC, 0)->u.api;
    assert_int_equal(a->sync_type, 3);
    assert_int_equal(a->stream_id, 7);
    a = &kept_get(t->kept, LAB_RECORD_API, 0)->u.api;
    assert_int_equal(a->event_class, 1);
    assert_string_equal(lab_intern_text(a->name), "cuMemcpyHtoDAsync_v2");
    const struct lab_overhead_record *o =
        &kept_get(t->kept, LAB_RECORD_OVERHEAD, 0)->u.overhead;
    assert_string_equal(lab_intern_text(o->name), "CUPTI buffer flush");
    assert_int_equal(o->end_ns - o->start_ns, 6);
    ops->stop();
}

FIXTURE_CASE(no_times_are_unknown_not_zero)
{
    struct lab_gpu_trace_stats s;
    assert_ok(start(t));
    launch("k", 0);
    launch("k", 1);
    flush();
    const struct lab_kernel_record *k =
        &kept_get(t->kept, LAB_RECORD_KERNEL, 0)->u.kernel;
    assert_true(k->start_ns == LAB_UNKNOWN && k->end_ns == LAB_UNKNOWN);
    assert_true(isnan(k->occupancy_pct));
    k = &kept_get(t->kept, LAB_RECORD_KERNEL, 1)->u.kernel;
    assert_true(k->start_ns > 0);
    ops->stats(&s);
    assert_int_equal(s.untimed, 1);
    assert_int_equal(s.records, 4);
    ops->stop();
}

/* Many buffers, given back by another thread while launches go on. */
TEST_CASE_WITH(full_buffers_lose_nothing, setup, teardown)
{
    enum { N = 30000 };
    struct traced *t = *state;
    struct lab_gpu_trace_stats s;
    assert_ok(start(t));
    for (int i = 0; i < N; i++) {
        ops->push(i / 3 + 1);
        launch("k", 1);
        ops->pop();
    }
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), N);
    for (size_t i = 0, n = 0; i < t->kept->n; i++) {
        if (t->kept->records[i].kind == LAB_RECORD_KERNEL)
            assert_int_equal(t->kept->records[i].u.kernel.exec, n++ / 3 + 1);
    }
    ops->stats(&s);
    assert_true(s.buffers > 5);
    assert_int_equal(s.buffers, fake->buffers_requested);
    assert_int_equal(s.records, 2 * N);
    assert_int_equal(s.dropped, 0);
    assert_true(s.callback_ns > 0);
    assert_int_equal(fake->buffers_out, 0);
    ops->stop();
}

/* Of steps, between them, and of neither: as many go on as CUPTI delivered. */
TEST_CASE_WITH(every_record_is_handed_on, setup, teardown)
{
    enum { ROUNDS = 2000 };
    struct traced *t = *state;
    struct lab_gpu_trace_stats s;
    struct lab_join_stats j;
    assert_ok(start(t));
    ops->push(LAB_EXEC_BETWEEN);
    for (int i = 0; i < ROUNDS; i++) {
        launch("between", 1);
        ops->push(i + 1);
        launch("step", 1);
        ops->pop();
    }
    ops->pop();
    launch("after", 1);
    flush();
    ops->stats(&s);
    assert_int_equal(s.dropped + s.invalid, 0);
    assert_int_equal(s.records, 2 * (2 * ROUNDS + 1)); /* call and kernel */
    assert_int_equal(t->kept->n, s.records);
    ops->push(LAB_EXEC_BETWEEN);
    others();
    ops->pop();
    flush();
    ops->stats(&s);
    assert_true(s.records > 2 * (2 * ROUNDS + 1) + 4);
    assert_int_equal(t->kept->n, s.records);
    lab_join_get_stats(t->join, &j);
    assert_int_equal(j.kernels, 2 * ROUNDS + 1);
    assert_int_equal(j.kernels_between, ROUNDS);
    assert_int_equal(j.kernels_without_step, 1);
    const struct lab_memcpy_record *m =
        &kept_get(t->kept, LAB_RECORD_MEMCPY, 0)->u.memcpy_;
    assert_true(m->exec == LAB_EXEC_BETWEEN);
    ops->stop();
}

FIXTURE_CASE(losses_are_counted)
{
    struct lab_gpu_trace_stats s;
    assert_ok(start(t));
    fake->dropped = 12;
    launch("before", 1);
    spoil();
    launch("after", 1);
    hand_over();
    flush();
    ops->stats(&s);
    assert_int_equal(s.dropped, 12);
    assert_int_equal(s.invalid, 1);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
}

static atomic_int sink_is_stuck;

/* A sink that waits for a disk, for longer than a flush has patience. */
static void *hold_sink(void *user)
{
    struct kept *k = user;
    pthread_mutex_lock(&k->lock);
    atomic_store(&sink_is_stuck, 1);
    usleep(5600000);
    atomic_store(&sink_is_stuck, 0);
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static void *hand_to_sink(void *user)
{
    hand_over();
    return user;
}

/* The sink is freed after stop(): no callback may be in it. */
FIXTURE_CASE(the_end_waits_for_a_sink_that_is_stuck)
{
    pthread_t holder;
    pthread_t worker;
    assert_ok(start(t));
    launch("one", 1);
    assert_int_equal(pthread_create(&holder, NULL, hold_sink, t->kept), 0);
    while (!atomic_load(&sink_is_stuck))
        usleep(1000);
    assert_int_equal(pthread_create(&worker, NULL, hand_to_sink, NULL), 0);
    usleep(100000); /* it is in the sink */
    ops->stop();
    assert_int_equal(atomic_load(&sink_is_stuck), 0);
    assert_int_equal(pthread_join(worker, NULL), 0);
    assert_int_equal(pthread_join(holder, NULL), 0);
}

FIXTURE_CASE(short_memory_drops_and_goes_on)
{
    assert_ok(start(t));
    lab_mem_fail_from(1);
    launch("lost", 1);
    lab_mem_fail_from(0);
    assert_int_equal(fake->lost, 2);
    launch("k", 1);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
}

FIXTURE_CASE(another_tool_is_named)
{
    fake->subscribe_gives = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    fake->other_tool = "Nsight Systems";
    assert_int_equal(start(t), LAB_E_STATE);
#ifdef CUpti_SubscriberParams_STRUCT_SIZE
    assert_non_null(strstr(ops->error(), "Nsight Systems"));
#endif
    char text[LAB_GPU_TEXT];
    assert_int_equal(ops->probe(text, sizeof(text)), LAB_E_STATE);
    assert_int_equal(ops->flush(), LAB_E_STATE);
    ops->push(1);
    ops->pop();
    ops->stop();
    assert_int_equal(fake->kinds_on, 0);
}

FIXTURE_CASE(an_injected_tool_is_seen_in_the_environment)
{
    setenv("CUDA_INJECTION64_PATH", "/opt/libToolsInjection64.so", 1);
    assert_int_equal(start(t), LAB_E_STATE);
    assert_non_null(strstr(ops->error(), "libToolsInjection64.so"));
    unsetenv("CUDA_INJECTION64_PATH");
    setenv("NVTX_INJECTION64_PATH", "/opt/libOther.so", 1);
    assert_int_equal(start(t), LAB_E_STATE);
    setenv("NVTX_INJECTION64_PATH", "/opt/lib64/libcupti.so.13", 1);
    assert_ok(start(t));
    unsetenv("NVTX_INJECTION64_PATH");
    ops->stop();
}

FIXTURE_CASE(a_refused_kind_undoes_the_start)
{
    fake->enable_fails_for = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    assert_int_equal(start(t), LAB_E_DEVICE);
    assert_non_null(
        strstr(ops->error(), "NVreg_RestrictProfilingToAdminUsers"));
    assert_int_equal(fake->kinds_on, 0);
    assert_int_equal(fake->subscribed, 0);
    fake->enable_fails_for = CUPTI_ACTIVITY_KIND_OVERHEAD; /* may be missing */
    assert_ok(start(t));
    assert_int_equal(fake->kinds_on, 7);
    ops->stop();
}

FIXTURE_CASE(starts_once_and_again_after_stop)
{
    assert_ok(start(t));
    assert_int_equal(start(t), LAB_E_STATE);
    char text[LAB_GPU_TEXT];
    assert_ok(ops->probe(text, sizeof(text)));
    assert_non_null(strstr(text, "fake_cupti"));
    launch("first", 1); /* comes out at stop() without a flush */
    ops->stop();
    ops->stop();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    launch("not recorded", 1);
    assert_ok(start(t));
    launch("second", 1);
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 2);
    ops->stop();
}

/* As a lesson that opens while a lab that was left still looks at its kernels. */
struct later {
    struct traced *t;
    atomic_bool began;
    atomic_bool started;
};

static void *start_later(void *user)
{
    struct later *l = user;
    l->began = true;
    l->started = start(l->t) == LAB_OK;
    return NULL;
}

FIXTURE_CASE(another_thread_waits_for_its_turn)
{
    struct later l = {.t = t};
    const struct timespec moment = {.tv_nsec = 20000000};
    pthread_t thread;
    assert_ok(start(t));
    assert_int_equal(start(t), LAB_E_STATE); /* it would wait for itself */
    assert_int_equal(pthread_create(&thread, NULL, start_later, &l), 0);
    while (!l.began)
        nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
    assert_false(l.started);
    ops->push(1);
    launch("first", 1);
    ops->pop();
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
    pthread_join(thread, NULL);
    assert_true(l.started);
    ops->push(2);
    launch("second", 1);
    ops->pop();
    flush();
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 2);
    assert_int_equal(kept_get(t->kept, LAB_RECORD_KERNEL, 1)->u.kernel.exec, 2);
    ops->stop();
}

FIXTURE_CASE(a_flush_that_fails_has_its_reason)
{
    assert_ok(start(t));
    fake->flush_gives = CUPTI_ERROR_UNKNOWN;
    assert_int_equal(ops->flush(), LAB_E_DEVICE);
    assert_non_null(strstr(ops->error(), "CUPTI_ERROR_PLAYED"));
    fake->flush_gives = 0;
    ops->stop();
}

/* Ranges need no start and no listener. */
TEST_CASE_WITH(ranges_work_without_a_trace, setup, teardown)
{
    for (int level = 0; level < LAB_RANGE_LEVEL_COUNT; level++) {
        struct lab_gpu_range range = {.text = "r",
                                      .level = level,
                                      .phase = level - 1,
                                      .value = level ? level : LAB_UNKNOWN};
        ops->range_push(&range);
    }
    for (int level = 0; level < LAB_RANGE_LEVEL_COUNT; level++)
        ops->range_pop();
}

int main(void)
{
    if (!play())
        return 1;
    return test_run_all(NULL, NULL);
}
