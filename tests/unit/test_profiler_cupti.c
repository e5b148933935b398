/* The CUDA module's half of the trace, with a libcupti that the test plays:
 * finding it, starting, reading buffers, flushing, stopping, and every way in
 * which CUPTI may refuse. No GPU and no driver. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <cupti.h>

#include "base/mem.h"
#include "cupti_trace.h"
#include "profiler/gpu.h"
#include "profiler/join.h"
#include "unit/fake_cupti.h"
#include "unit/profiler_sink.h"

static const struct lab_gpu_profiler_ops *const ops = &lab_gpu_profiler_cupti;
static struct fake_cupti *fake;
static void (*launch)(const char *name, int times_known);
static void (*others)(void);
static void (*spoil)(void);
static void (*hand_over)(void);

struct traced {
    struct kept *kept;
    struct lab_join *join;
    char why[LAB_GPU_TEXT];
};

static enum lab_status start(struct traced *t)
{
    struct lab_gpu_sink sink;
    struct lab_gpu_trace_options options = {.buffer_bytes = 1};
    lab_join_gpu_sink(t->join, &sink);
    return ops->start(&sink, &options, t->why, sizeof(t->why));
}

static void flush(struct traced *t)
{
    assert_int_equal(ops->flush(t->why, sizeof(t->why)), LAB_OK);
    lab_join_flush(t->join);
}

static void launches_come_out_with_their_step(void **state)
{
    struct traced *t = *state;
    assert_int_equal(start(t), LAB_OK);
    for (int64_t exec = 1; exec <= 3; exec++) {
        ops->push(exec);
        launch("_Z8relu_fwdPfPKfl", 1);
        launch("_Z8relu_fwdPfPKfl", 1);
        ops->pop();
    }
    assert_int_equal(t->kept->n, 0);
    flush(t);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 6);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_API), 6);
    for (int i = 0; i < 6; i++) {
        const struct lab_kernel_record *k =
            &kept_get(t->kept, LAB_RECORD_KERNEL, i)->u.kernel;
        assert_int_equal(k->exec, i / 2 + 1);
        assert_int_equal(k->end_ns - k->start_ns, 20);
        assert_int_equal(k->registers_per_thread, 40);
        assert_int_equal(k->grid[0] * k->grid[1] * k->grid[2], 20);
        assert_int_equal(k->block[0], 128);
        assert_int_equal(k->static_shared_bytes, 512);
        assert_int_equal(k->dynamic_shared_bytes, 1024);
        assert_int_equal(k->stream_id, 7);
        assert_int_equal(k->local_total_bytes, 1 << 20);
        assert_string_equal(t->kept->names[k->short_name], "relu_fwd");
        assert_string_equal(t->kept->names[k->demangled_name],
                            "relu_fwd(float*, float const*, long)");
    }
    const struct lab_api_record *a =
        &kept_get(t->kept, LAB_RECORD_API, 5)->u.api;
    assert_int_equal(a->exec, 3);
    assert_int_equal(a->event_class, 0);
    assert_true(a->global_tid == ((int64_t)77 << 24 | gettid()));
    assert_int_equal(fake->thread_ids, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    assert_string_equal(t->kept->names[a->name], "cudaLaunchKernel_v7000");
    ops->stop();
    assert_int_equal(fake->kinds_on, 0);
    assert_int_equal(fake->subscribed, 0);
    assert_int_equal(fake->forced_flushes, 1);
}

/* A call belongs to the innermost push of its own thread, at its moment. */
static void calls_find_their_window(void **state)
{
    static const int64_t wanted[] = {LAB_UNKNOWN, 1,           2,
                                     1,           LAB_UNKNOWN, LAB_UNKNOWN};
    struct traced *t = *state;
    assert_int_equal(start(t), LAB_OK);
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
    flush(t);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 6);
    for (int i = 0; i < 6; i++) { /* in any order: named by their number */
        const struct lab_kernel_record *k =
            &kept_get(t->kept, LAB_RECORD_KERNEL, i)->u.kernel;
        int number = atoi(t->kept->names[k->mangled_name]);
        assert_true(k->exec == wanted[number]);
    }
    ops->stop();
}

/* More pushes than are kept: the newest are right, the old ones belong to
 * nothing rather than to another step. */
static void old_windows_are_forgotten(void **state)
{
    enum { N = 200000 };
    struct traced *t = *state;
    struct lab_join_stats s;
    assert_int_equal(start(t), LAB_OK);
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
    flush(t);
    lab_join_get_stats(t->join, &s);
    assert_int_equal(s.kernels_without_step, 1);
    assert_true(kept_get(t->kept, LAB_RECORD_KERNEL, 0)->u.kernel.exec ==
                N + 1);
    ops->stop();
}

/* Off and on again in one process; counting in between does not wake it. */
static void the_trace_goes_off_and_on(void **state)
{
    struct traced *t = *state;
    assert_int_equal(ops->pause(true, t->why, sizeof(t->why)), LAB_OK);
    assert_int_equal(start(t), LAB_OK);
    int kinds = fake->kinds_on;
    int questions = fake->calls_left_out;
    assert_true(kinds > 0);
    assert_true(questions > 0);
    ops->push(1);
    launch("first", 1);
    assert_int_equal(ops->pause(true, t->why, sizeof(t->why)), LAB_OK);
    assert_int_equal(fake->kinds_on, 1); /* graphs as a whole */
    assert_int_equal(lab_cupti_trace_pause(true, t->why, sizeof(t->why)),
                     LAB_OK);
    assert_int_equal(lab_cupti_trace_pause(false, t->why, sizeof(t->why)),
                     LAB_OK);
    assert_int_equal(fake->kinds_on, 1);
    launch("unseen", 1);
    fake->enable_fails_for = CUPTI_ACTIVITY_KIND_DRIVER;
    assert_int_equal(ops->pause(false, t->why, sizeof(t->why)), LAB_E_DEVICE);
    assert_non_null(strstr(t->why, "enable tracing"));
    fake->enable_fails_for = 0;
    assert_int_equal(ops->pause(false, t->why, sizeof(t->why)), LAB_OK);
    assert_int_equal(fake->kinds_on, kinds);
    assert_int_equal(fake->calls_left_out, questions);
    launch("again", 1);
    ops->pop();
    flush(t);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 2);
    const struct lab_kernel_record *k =
        &kept_get(t->kept, LAB_RECORD_KERNEL, 1)->u.kernel;
    assert_string_equal(t->kept->names[k->mangled_name], "again");
    assert_int_equal(k->exec, 1);
    ops->stop();
}

static void every_kind_is_read(void **state)
{
    struct traced *t = *state;
    assert_int_equal(start(t), LAB_OK);
    ops->push(9);
    others();
    ops->pop();
    flush(t);
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
    assert_string_equal(t->kept->names[a->name], "cuMemcpyHtoDAsync_v2");
    const struct lab_overhead_record *o =
        &kept_get(t->kept, LAB_RECORD_OVERHEAD, 0)->u.overhead;
    assert_string_equal(t->kept->names[o->name], "CUPTI buffer flush");
    assert_int_equal(o->end_ns - o->start_ns, 6);
    ops->stop();
}

static void no_times_are_unknown_not_zero(void **state)
{
    struct traced *t = *state;
    struct lab_gpu_trace_stats s;
    assert_int_equal(start(t), LAB_OK);
    launch("k", 0);
    launch("k", 1);
    flush(t);
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
static void full_buffers_lose_nothing(void **state)
{
    enum { N = 30000 };
    struct traced *t = *state;
    struct lab_gpu_trace_stats s;
    assert_int_equal(start(t), LAB_OK);
    for (int i = 0; i < N; i++) {
        ops->push(i / 3 + 1);
        launch("k", 1);
        ops->pop();
    }
    flush(t);
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

static void losses_are_counted(void **state)
{
    struct traced *t = *state;
    struct lab_gpu_trace_stats s;
    assert_int_equal(start(t), LAB_OK);
    fake->dropped = 12;
    launch("before", 1);
    spoil();
    launch("after", 1);
    hand_over();
    flush(t);
    ops->stats(&s);
    assert_int_equal(s.dropped, 12);
    assert_int_equal(s.invalid, 1);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
}

static void short_memory_drops_and_goes_on(void **state)
{
    struct traced *t = *state;
    assert_int_equal(start(t), LAB_OK);
    lab_mem_fail_from(1);
    launch("lost", 1);
    lab_mem_fail_from(0);
    assert_int_equal(fake->lost, 2);
    launch("k", 1);
    flush(t);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
}

static void another_tool_is_named(void **state)
{
    struct traced *t = *state;
    fake->subscribe_gives = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    fake->other_tool = "Nsight Systems";
    assert_int_equal(start(t), LAB_E_STATE);
#ifdef CUpti_SubscriberParams_STRUCT_SIZE
    assert_non_null(strstr(t->why, "Nsight Systems"));
#endif
    assert_int_equal(ops->probe(t->why, sizeof(t->why)), LAB_E_STATE);
    assert_int_equal(ops->flush(t->why, sizeof(t->why)), LAB_E_STATE);
    ops->push(1);
    ops->pop();
    ops->stop();
    assert_int_equal(fake->kinds_on, 0);
}

static void an_injected_tool_is_seen_in_the_environment(void **state)
{
    struct traced *t = *state;
    setenv("CUDA_INJECTION64_PATH", "/opt/libToolsInjection64.so", 1);
    assert_int_equal(start(t), LAB_E_STATE);
    assert_non_null(strstr(t->why, "libToolsInjection64.so"));
    unsetenv("CUDA_INJECTION64_PATH");
    setenv("NVTX_INJECTION64_PATH", "/opt/libOther.so", 1);
    assert_int_equal(start(t), LAB_E_STATE);
    setenv("NVTX_INJECTION64_PATH", "/opt/lib64/libcupti.so.13", 1);
    assert_int_equal(start(t), LAB_OK);
    unsetenv("NVTX_INJECTION64_PATH");
    ops->stop();
}

static void a_refused_kind_undoes_the_start(void **state)
{
    struct traced *t = *state;
    fake->enable_fails_for = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    assert_int_equal(start(t), LAB_E_DEVICE);
    assert_non_null(strstr(t->why, "NVreg_RestrictProfilingToAdminUsers"));
    assert_int_equal(fake->kinds_on, 0);
    assert_int_equal(fake->subscribed, 0);
    fake->enable_fails_for = CUPTI_ACTIVITY_KIND_OVERHEAD; /* may be missing */
    assert_int_equal(start(t), LAB_OK);
    assert_int_equal(fake->kinds_on, 7);
    ops->stop();
}

static void starts_once_and_again_after_stop(void **state)
{
    struct traced *t = *state;
    assert_int_equal(start(t), LAB_OK);
    assert_int_equal(start(t), LAB_E_STATE);
    assert_int_equal(ops->probe(t->why, sizeof(t->why)), LAB_OK);
    assert_non_null(strstr(t->why, "fake_cupti"));
    launch("first", 1); /* comes out at stop() without a flush */
    ops->stop();
    ops->stop();
    lab_join_flush(t->join);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    launch("nobody listens", 1);
    assert_int_equal(start(t), LAB_OK);
    launch("second", 1);
    flush(t);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 2);
    ops->stop();
}

static void a_flush_that_fails_says_why(void **state)
{
    struct traced *t = *state;
    assert_int_equal(start(t), LAB_OK);
    fake->flush_gives = CUPTI_ERROR_UNKNOWN;
    assert_int_equal(ops->flush(t->why, sizeof(t->why)), LAB_E_DEVICE);
    assert_non_null(strstr(t->why, "CUPTI_ERROR_PLAYED"));
    fake->flush_gives = 0;
    ops->stop();
}

static void a_forked_child_leaves_cupti_alone(void **state)
{
    struct traced *t = *state;
    int status;
    assert_int_equal(start(t), LAB_OK);
    pid_t child = fork();
    if (child == 0) {
        enum lab_status st = ops->flush(t->why, sizeof(t->why));
        ops->push(1);
        ops->stop();
        _exit(st == LAB_E_STATE && fake->forced_flushes == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    launch("k", 1);
    flush(t);
    assert_int_equal(kept_count(t->kept, LAB_RECORD_KERNEL), 1);
    ops->stop();
}

/* Ranges need no start and no listener. */
static void ranges_work_without_a_trace(void **state)
{
    (void)state;
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

/* Before the library is found the module says where to get it. Runs first:
 * what was opened once stays open. */
static void a_missing_library_has_a_remedy(void **state)
{
    struct traced *t = *state;
    setenv("LAPENNA_LAB_CUPTI", "/no/such/libcupti.so", 1);
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(t->why, "LAPENNA_LAB_CUPTI"));
    assert_non_null(strstr(t->why, "/no/such/libcupti.so"));
    assert_non_null(strstr(t->why, "install cuda-cupti-"));
    setenv("LAPENNA_LAB_CUPTI", "libm.so.6", 1); /* a library, not CUPTI */
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(t->why, "libm.so.6 has no cupti"));
    setenv("LAPENNA_LAB_CUPTI", LAB_FAKE_CUPTI, 1);
    fake->version = 990000; /* of CUDA 99 */
    assert_int_equal(start(t), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(t->why, "CUDA 99"));
    ops->stop();
}

static int setup(void **state)
{
    struct traced *t = calloc(1, sizeof(*t));
    t->kept = kept_new();
    struct lab_sink sink = kept_sink(t->kept);
    struct lab_join_config config = {.sink = &sink};
    *state = t;
    memset(fake, 0, sizeof(*fake));
    return lab_join_new(&t->join, &config) == LAB_OK ? 0 : -1;
}

static int teardown(void **state)
{
    struct traced *t = *state;
    ops->stop(); /* a failed test leaves it running */
    lab_join_free(t->join);
    kept_free(t->kept);
    free(t);
    return 0;
}

static int find(void *lib, const char *name, void *to)
{
    void *symbol = dlsym(lib, name);
    memcpy(to, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static int play(void)
{
    struct fake_cupti *(*get)(void);
    void *lib = dlopen(LAB_FAKE_CUPTI, RTLD_NOW);
    if (!lib || !find(lib, "fake_cupti_state", &get) ||
        !find(lib, "fake_cupti_launch", &launch) ||
        !find(lib, "fake_cupti_others", &others) ||
        !find(lib, "fake_cupti_spoil", &spoil) ||
        !find(lib, "fake_cupti_hand_over", &hand_over))
        return 0;
    fake = get();
    unsetenv("CUDA_INJECTION64_PATH");
    unsetenv("NVTX_INJECTION64_PATH");
    return 1;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_library_has_a_remedy),
        TEST(launches_come_out_with_their_step),
        TEST(calls_find_their_window),
        TEST(old_windows_are_forgotten),
        TEST(the_trace_goes_off_and_on),
        TEST(every_kind_is_read),
        TEST(no_times_are_unknown_not_zero),
        TEST(full_buffers_lose_nothing),
        TEST(losses_are_counted),
        TEST(short_memory_drops_and_goes_on),
        TEST(another_tool_is_named),
        TEST(an_injected_tool_is_seen_in_the_environment),
        TEST(a_refused_kind_undoes_the_start),
        TEST(starts_once_and_again_after_stop),
        TEST(a_flush_that_fails_says_why),
        TEST(a_forked_child_leaves_cupti_alone),
        TEST(ranges_work_without_a_trace),
    };
    if (!play())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
