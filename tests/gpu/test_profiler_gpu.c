/* Tracing on a real GPU: every kernel comes out with the step that launched
 * it, right after a flush, with times, names and occupancy. Skipped without the
 * CUDA module or a device; without CUPTI the event times are tested instead. */
#include "test.h"

#include "base/clock.h"
#include "engine/backend.h"
#include "profiler/profiler.h"
#include "unit/profiler_sink.h"

enum { COUNT = 100003 };

static char step_name[] = "relu1.relu";
static const struct lab_step step = {.name = step_name,
                                     .phase = LAB_FORWARD,
                                     .flop = COUNT,
                                     .bytes = 8.0 * COUNT};

struct bench {
    struct kept *kept;
    struct lab_profiler *profiler;
    struct lab_observer observer;
    struct lab_backend *be;
    const struct lab_variant *relu;
    void *x;
    void *y;
    int64_t exec;
    bool traced;
};

enum { NO_TRACE = -1 }; /* otherwise enum lab_gpu_records */

static bool open_bench(struct bench *b, int records)
{
    const struct lab_cuda_module *module;
    struct lab_device_info info;
    if (lab_cuda_load(&module)) {
        print_message("skipped: %s\n", lab_error());
        return false;
    }
    b->kept = kept_new();
    struct lab_sink sink = kept_sink(b->kept);
    struct lab_profiler_config config = {.sink = &sink,
                                         .backend = "cuda",
                                         .gpu = module->profiler,
                                         .no_trace = records == NO_TRACE};
    if (records != NO_TRACE)
        config.trace.records = (enum lab_gpu_records)records;
    assert_non_null(module->profiler);
    assert_ok(lab_profiler_new(&b->profiler, &config));
    if (lab_backend_open(&b->be, "cuda", 0)) {
        print_message("skipped: %s\n", lab_error());
        return false;
    }
    lab_backend_info(b->be, &info);
    lab_profiler_set_device(b->profiler, &info);
    lab_profiler_observer(b->profiler, &b->observer);
    b->traced = lab_profiler_time_source(b->profiler) == LAB_TIME_CUPTI;
    if (!b->traced)
        print_message("%s\n", lab_profiler_note(b->profiler));
    b->relu =
        lab_backend_variant(b->be, LAB_F32, "relu", "relu", LAB_FORWARD, NULL);
    assert_non_null(b->relu);
    size_t bytes = COUNT * sizeof(float);
    assert_ok(lab_backend_alloc(b->be, bytes, &b->x));
    assert_ok(lab_backend_alloc(b->be, bytes, &b->y));
    float *host = calloc(COUNT, sizeof(float));
    assert_ok(lab_backend_upload(b->be, b->x, host, bytes));
    free(host);
    b->observer.run_begin(b->observer.user, "test");
    b->observer.iteration_begin(b->observer.user, 0, lab_clock_monotonic_ns());
    return true;
}

static void close_bench(struct bench *b)
{
    if (b->be) {
        b->observer.run_end(b->observer.user);
        lab_backend_free(b->be, b->x);
        lab_backend_free(b->be, b->y);
    }
    lab_profiler_free(b->profiler);
    lab_backend_close(b->be);
    if (b->kept)
        kept_free(b->kept);
}

static void launch(struct bench *b)
{
    struct lab_view x = {b->x, LAB_F32, 1, {COUNT}, COUNT};
    struct lab_view y = {b->y, LAB_F32, 1, {COUNT}, COUNT};
    struct lab_call call = {.in = &x, .n_in = 1, .out = &y, .n_out = 1};
    assert_ok(lab_backend_run(b->be, b->relu, &call));
}

static void one_step(struct bench *b, bool events)
{
    struct lab_step_event e = {.exec = ++b->exec,
                               .step = &step,
                               .node = "relu1",
                               .op = "relu",
                               .variant = b->relu->name,
                               .backend = "cuda",
                               .device_ns = LAB_EVENT_NO_TIME};
    b->observer.step_begin(b->observer.user, &e);
    if (events)
        assert_ok(lab_backend_time_begin(b->be));
    launch(b);
    if (events)
        assert_ok(lab_backend_time_end(b->be, &e.device_ns));
    b->observer.step_end(b->observer.user, &e);
}

static void sync_and_flush(struct bench *b)
{
    assert_ok(lab_backend_sync(b->be));
    assert_ok(lab_profiler_flush(b->profiler));
}

static void check_kernel(const struct lab_kernel_record *k, int64_t since)
{
    assert_true(k->start_ns != LAB_UNKNOWN && k->end_ns > k->start_ns);
    assert_true(k->start_ns > since - 100000000);
    assert_true(k->end_ns < lab_clock_wall_ns() + 100000000);
    assert_true(k->occupancy_pct > 0.0 && k->occupancy_pct <= 100.0);
    assert_true(k->active_blocks_per_sm > 0);
    assert_true(k->occupancy_limit != LAB_LIMIT_NONE);
    assert_true(k->launch.registers_per_thread > 0);
    assert_true(
        (int64_t)k->launch.grid[0] * k->launch.grid[1] * k->launch.grid[2] > 0);
    assert_int_equal(k->launch.block[0] % 32, 0);
    assert_non_null(strstr(lab_intern_text(k->short_name), "relu"));
    assert_null(strchr(lab_intern_text(k->short_name), '('));
}

/* As the stepper does it: a kernel is there as soon as its step is flushed. */
TEST_CASE(each_step_has_its_kernel_after_a_flush)
{
    struct bench b = {0};
    bool open = open_bench(&b, LAB_GPU_RECORDS_ALL);
    if (!open || !b.traced) {
        close_bench(&b);
        skip();
    }
    for (int i = 0; i < 50; i++) {
        int64_t since = lab_clock_wall_ns();
        one_step(&b, false);
        sync_and_flush(&b);
        assert_int_equal(kept_count(b.kept, LAB_RECORD_KERNEL), i + 1);
        const struct lab_kernel_record *k =
            &kept_get(b.kept, LAB_RECORD_KERNEL, i)->u.kernel;
        assert_int_equal(k->exec, b.exec);
        check_kernel(k, since);
    }
    close_bench(&b);
}

TEST_CASE(many_launches_lose_nothing)
{
    enum { N = 20000 };
    struct bench b = {0};
    struct lab_profiler_stats stats;
    bool open = open_bench(&b, LAB_GPU_RECORDS_ALL);
    if (!open || !b.traced) {
        close_bench(&b);
        skip();
    }
    for (int i = 0; i < N; i++)
        one_step(&b, false);
    sync_and_flush(&b);
    lab_profiler_get_stats(b.profiler, &stats);
    assert_int_equal(stats.gpu.dropped, 0);
    assert_int_equal(stats.gpu.invalid, 0);
    assert_int_equal(stats.join.kernels, N);
    assert_int_equal(stats.join.kernels_without_step, 0);
    char *seen = calloc(N + 1, 1);
    for (size_t i = 0; i < b.kept->n; i++) {
        const struct lab_record *r = &b.kept->records[i];
        if (r->kind == LAB_RECORD_KERNEL)
            seen[r->u.kernel.exec]++;
    }
    for (int i = 1; i <= N; i++)
        assert_int_equal(seen[i], 1);
    free(seen);
    close_bench(&b);
}

TEST_CASE(kernels_between_steps_are_recorded_as_such)
{
    struct bench b = {0};
    struct lab_profiler_stats stats;
    bool open = open_bench(&b, LAB_GPU_RECORDS_ALL);
    if (!open || !b.traced) {
        close_bench(&b);
        skip();
    }
    launch(&b);
    one_step(&b, false);
    launch(&b);
    sync_and_flush(&b);
    lab_profiler_get_stats(b.profiler, &stats);
    assert_int_equal(stats.join.kernels, 3);
    assert_int_equal(stats.join.kernels_between, 2);
    assert_int_equal(stats.join.kernels_without_step, 0);
    close_bench(&b);
}

static int kernels_of(const struct bench *b, int64_t exec)
{
    int n = 0;
    for (size_t i = 0; i < b->kept->n; i++) {
        const struct lab_record *r = &b->kept->records[i];
        n += r->kind == LAB_RECORD_KERNEL && r->u.kernel.exec == exec;
    }
    return n;
}

/* Without records of calls, with them, with none, and without again. */
TEST_CASE(records_can_be_changed)
{
    static const enum lab_gpu_records turns[] = {
        LAB_GPU_RECORDS_KERNELS, LAB_GPU_RECORDS_ALL, LAB_GPU_RECORDS_NONE,
        LAB_GPU_RECORDS_KERNELS};
    struct bench b = {0};
    bool open = open_bench(&b, LAB_GPU_RECORDS_KERNELS);
    if (!open || !b.traced) {
        close_bench(&b);
        skip();
    }
    for (int turn = 0; turn < 4; turn++) {
        assert_ok(lab_profiler_trace(b.profiler, turns[turn]));
        int calls = kept_count(b.kept, LAB_RECORD_API);
        launch(&b);
        for (int i = 0; i < 100; i++)
            one_step(&b, false);
        launch(&b);
        sync_and_flush(&b);
        for (int i = 0; i < 100; i++)
            assert_int_equal(kernels_of(&b, b.exec - i),
                             turns[turn] != LAB_GPU_RECORDS_NONE);
        calls = kept_count(b.kept, LAB_RECORD_API) - calls;
        assert_true(turns[turn] == LAB_GPU_RECORDS_ALL ? calls >= 100
                                                       : calls == 0);
    }
    struct lab_profiler_stats stats;
    lab_profiler_get_stats(b.profiler, &stats);
    assert_int_equal(stats.join.kernels, 306);
    assert_int_equal(stats.join.kernels_without_step, 0);
    assert_int_equal(stats.join.kernels_between, 6);
    close_bench(&b);
}

TEST_CASE(without_a_trace_events_give_the_time)
{
    struct bench b = {0};
    if (!open_bench(&b, NO_TRACE)) {
        close_bench(&b);
        skip();
    }
    assert_false(b.traced);
    for (int i = 0; i < 10; i++)
        one_step(&b, true);
    sync_and_flush(&b);
    for (int i = 0; i < 10; i++) {
        const struct lab_step_record *s =
            &kept_get(b.kept, LAB_RECORD_STEP, i)->u.step;
        assert_int_equal(s->time_source, LAB_TIME_CUDA_EVENTS);
        assert_true(s->time_ns > 0 && s->time_ns < 1000000000);
    }
    assert_int_equal(kept_count(b.kept, LAB_RECORD_KERNEL), 0);
    close_bench(&b);
}

int main(void)
{
    setenv("LAPENNA_LAB_MODULE_DIR", LAB_CUDA_MODULE_DIR, 0);
    return test_run_all(NULL, NULL);
}
