/* What the engine reports becomes records: right numbers, nested ranges, one
 * exec a step; with and without a GPU's profiler, which the test simulates. */
#include <time.h>
#include <unistd.h>
#include "test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "profiler/join.h"
#include "profiler/profiler.h"
#include "unit/profiler_sink.h"

/* The GPU's profiler, as far as the observer sees it. */
static struct {
    enum lab_status start_gives;
    enum lab_status flush_gives;
    struct lab_gpu_sink sink;
    int started;
    int stopped;
    int flushed;
    int depth;  /* NVTX ranges open */
    int ranges; /* pushed in all */
    int64_t pushed[64];
    int n_pushed;
    int pops;
    char last_text[64];
} gpu;

static enum lab_status fake_start(const struct lab_gpu_sink *sink,
                                  const struct lab_gpu_trace_options *options)
{
    (void)options;
    if (gpu.start_gives)
        return lab_fail(gpu.start_gives, "no CUPTI here: install it");
    gpu.started++;
    gpu.sink = *sink;
    return LAB_OK;
}

static void fake_stop(void)
{
    gpu.stopped++;
}

static enum lab_status fake_flush(void)
{
    gpu.flushed++;
    return lab_fail(gpu.flush_gives, "CUPTI is gone");
}

static void fake_push(int64_t exec)
{
    gpu.pushed[gpu.n_pushed++] = exec;
}

static void fake_pop(void)
{
    gpu.pops++;
}

static void fake_range_push(const struct lab_gpu_range *range)
{
    if (range->level != LAB_RANGE_BETWEEN)
        assert_int_equal(range->level, gpu.depth);
    snprintf(gpu.last_text, sizeof(gpu.last_text), "%s", range->text);
    gpu.depth++;
    gpu.ranges++;
}

static void fake_range_pop(void)
{
    gpu.depth--;
}

static void fake_stats(struct lab_gpu_trace_stats *out)
{
    *out = (struct lab_gpu_trace_stats){.dropped = 3};
}

static const struct lab_gpu_profiler_ops fake_ops = {
    .abi = LAB_GPU_PROFILER_ABI,
    .error = lab_error,
    .start = fake_start,
    .stop = fake_stop,
    .flush = fake_flush,
    .push = fake_push,
    .pop = fake_pop,
    .range_push = fake_range_push,
    .range_pop = fake_range_pop,
    .stats = fake_stats,
};

static char matmul_name[] = "fc1.matmul";
static const struct lab_step matmul = {
    .name = matmul_name, .phase = LAB_FORWARD, .flop = 300.0, .bytes = 88.0};

static char loss_name[] = "loss.loss";
static const struct lab_step loss_step = {.name = loss_name, .phase = LAB_LOSS};

static void one_step(struct lab_observer *o, int64_t exec, const char *backend,
                     int64_t device_ns)
{
    struct lab_step_event e = {.exec = exec,
                               .iteration = 4,
                               .index = 2,
                               .step = &matmul,
                               .node = "fc1",
                               .op = "dense",
                               .variant = "naive",
                               .backend = backend,
                               .device_ns = LAB_EVENT_NO_TIME};
    o->step_begin(o->user, &e);
    const struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
    e.device_ns = device_ns;
    o->step_end(o->user, &e);
}

static void one_iteration(struct lab_observer *o, const char *backend)
{
    o->iteration_begin(o->user, 4, lab_clock_monotonic_ns());
    o->phase_begin(o->user, LAB_FORWARD);
    o->node_begin(o->user, "fc1");
    one_step(o, 11, backend, 777);
    one_step(o, 12, backend, LAB_EVENT_NO_TIME);
    o->node_end(o->user, "fc1");
    o->phase_end(o->user, LAB_FORWARD);
    o->iteration_end(o->user, 4, 2.25);
}

static struct lab_profiler *make(struct kept *k, struct lab_observer *o,
                                 struct lab_profiler_config config)
{
    struct lab_sink sink = kept_sink(k);
    struct lab_profiler *p = NULL;
    config.sink = &sink;
    assert_ok(lab_profiler_new(&p, &config));
    lab_profiler_observer(p, o);
    return p;
}

static int teardown(void **state);
static int setup(void **state);

static const struct lab_profiler_config on_cpu = {.backend = "cpu"};
static const struct lab_profiler_config on_gpu = {.backend = "cuda",
                                                  .gpu = &fake_ops};

#define FIXTURE_CASE(name) TEST_CASE_OF(name, setup, teardown, struct kept *k)

FIXTURE_CASE(cpu_steps_have_the_clocks_time)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_cpu);
    int64_t wall = lab_clock_wall_ns();
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "cpu");
    o.run_end(o.user);
    assert_int_equal(lab_profiler_time_source(p), LAB_TIME_CPU_CLOCK);
    assert_int_equal(kept_count(k, LAB_RECORD_STEP), 2);
    const struct lab_step_record *s = &kept_get(k, LAB_RECORD_STEP, 0)->u.step;
    assert_int_equal(s->exec, 11);
    assert_int_equal(s->iteration, 4);
    assert_int_equal(s->index, 2);
    assert_int_equal(s->phase, LAB_FORWARD);
    assert_string_equal(lab_intern_text(s->name), "fc1.matmul");
    assert_string_equal(lab_intern_text(s->node), "fc1");
    assert_string_equal(lab_intern_text(s->op), "dense");
    assert_string_equal(lab_intern_text(s->variant), "naive");
    assert_string_equal(lab_intern_text(s->backend), "cpu");
    assert_int_equal(s->time_source, LAB_TIME_CPU_CLOCK);
    assert_true(s->flop == 300.0 && s->bytes == 88.0);
    assert_true(s->time_ns >= 2000000 && s->time_ns < 1000000000);
    assert_int_equal(s->end_ns - s->start_ns, s->time_ns);
    assert_true(s->start_ns >= wall - 1000000);
    assert_true(s->end_ns <= lab_clock_wall_ns() + 1000000);
    struct lab_profiler_stats stats;
    lab_profiler_get_stats(p, &stats);
    assert_int_equal(stats.steps, 2);
    assert_int_equal(stats.not_stored, 0);
    assert_int_equal(stats.observer_ns, 0);
    assert_ok(lab_profiler_flush(p));
    assert_string_equal(lab_profiler_note(p), "");
    lab_profiler_free(p);
}

TEST_CASE_WITH(ranges_nest, setup, teardown)
{
    static const char *const texts[] = {"fc1.matmul", "fc1.matmul", "fc1",
                                        "forward",    "iteration",  "mlp"};
    static const int levels[] = {4, 4, 3, 2, 1, 0};
    struct kept *k = *state;
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_cpu);
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "cpu");
    o.run_end(o.user);
    assert_int_equal(kept_count(k, LAB_RECORD_RANGE), 6);
    for (int i = 0; i < 6; i++) {
        const struct lab_range_record *r =
            &kept_get(k, LAB_RECORD_RANGE, i)->u.range;
        assert_string_equal(lab_intern_text(r->text), texts[i]);
        assert_int_equal(r->level, levels[i]);
        assert_true(r->number == (levels[i] == 1 ? 4 : LAB_UNKNOWN));
        assert_true(r->end_ns >= r->start_ns);
        assert_int_equal(r->global_tid >> 24 & 0xFFFFFF, getpid() & 0xFFFFFF);
    }
    for (int i = 2; i < 5; i++) { /* node in phase in iteration; in run */
        const struct lab_range_record *in =
            &kept_get(k, LAB_RECORD_RANGE, i)->u.range;
        const struct lab_range_record *out =
            &kept_get(k, LAB_RECORD_RANGE, i + 1)->u.range;
        int64_t slack = i == 4 ? 1000000 : 0; /* the clocks are set anew */
        assert_true(out->start_ns <= in->start_ns + slack);
        assert_true(out->end_ns >= in->end_ns - slack);
    }
    lab_profiler_free(p);
}

FIXTURE_CASE(ranges_can_be_left_out)
{
    struct lab_observer o;
    struct lab_profiler *p = make(
        k, &o,
        (struct lab_profiler_config){.backend = "null", .no_ranges = true});
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "null");
    o.run_end(o.user);
    assert_int_equal(kept_count(k, LAB_RECORD_RANGE), 0);
    assert_int_equal(kept_count(k, LAB_RECORD_STEP), 2);
    assert_int_equal(kept_get(k, LAB_RECORD_STEP, 0)->u.step.time_source,
                     LAB_TIME_CPU_CLOCK);
    lab_profiler_free(p);
}

FIXTURE_CASE(losses_are_written)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_cpu);
    struct lab_step_event e = {.exec = 1, .step = &loss_step};
    o.iteration_begin(o.user, 0, lab_clock_monotonic_ns());
    o.iteration_end(o.user, 0, NAN); /* left before its loss: no record */
    assert_int_equal(kept_count(k, LAB_RECORD_LOSS), 0);
    o.iteration_begin(o.user, 0, lab_clock_monotonic_ns());
    o.step_begin(o.user, &e);
    o.step_end(o.user, &e);
    o.iteration_end(o.user, 0, NAN); /* a diverged run has one, too */
    o.evaluation(o.user, 0, 0.5, 0.97);
    const struct lab_loss_record *l = &kept_get(k, LAB_RECORD_LOSS, 0)->u.loss;
    assert_true(isnan(l->loss) && isnan(l->accuracy));
    l = &kept_get(k, LAB_RECORD_LOSS, 1)->u.loss;
    assert_int_equal(l->iteration, 0);
    assert_true(isnan(l->loss) && l->held_loss == 0.5 && l->accuracy == 0.97);
    assert_true(isnan(l->rate));
    assert_true(llabs(l->moment_ns - lab_clock_wall_ns()) < 1000000000);
    o.evaluation(o.user, 0, 0.25, NAN); /* a network without classes */
    l = &kept_get(k, LAB_RECORD_LOSS, 2)->u.loss;
    assert_true(isnan(l->loss) && l->held_loss == 0.25 && isnan(l->accuracy));
    lab_profiler_free(p);
}

/* One that is reported when it is cut began before that. */
FIXTURE_CASE(an_iteration_begins_at_its_own_moment)
{
    enum { AGO_NS = 5000000 };
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_cpu);
    int64_t now = lab_clock_monotonic_ns();
    o.iteration_begin(o.user, 7, now - AGO_NS);
    o.iteration_cut(o.user, 7);
    const struct lab_range_record *r =
        &kept_get(k, LAB_RECORD_RANGE, 0)->u.range;
    assert_int_equal(r->number, 7);
    assert_true(r->end_ns - r->start_ns >= AGO_NS);
    lab_profiler_free(p);
}

/* A run cancelled inside a step ends every range, innermost first. */
FIXTURE_CASE(a_cancelled_run_closes_its_ranges)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_gpu);
    struct lab_step_event e = {.exec = 1, .step = &matmul};
    o.run_begin(o.user, "mlp");
    o.iteration_begin(o.user, 1, lab_clock_monotonic_ns());
    o.phase_begin(o.user, LAB_FORWARD);
    o.node_begin(o.user, "fc1");
    o.step_begin(o.user, &e);
    assert_int_equal(gpu.depth, 5);
    o.run_end(o.user);
    assert_int_equal(gpu.depth, 0);
    assert_int_equal(gpu.pops, 2); /* the step's and the run's */
    assert_int_equal(kept_count(k, LAB_RECORD_RANGE), 5);
    assert_int_equal(kept_get(k, LAB_RECORD_RANGE, 0)->u.range.level, 4);
    assert_int_equal(kept_get(k, LAB_RECORD_RANGE, 4)->u.range.level, 0);
    assert_int_equal(kept_count(k, LAB_RECORD_STEP), 0);
    lab_profiler_free(p);
}

/* Ends that never came do not pile up. */
FIXTURE_CASE(missing_ends_are_made_up_for)
{
    struct lab_observer o;
    struct lab_profiler *p =
        make(k, &o,
             (struct lab_profiler_config){.backend = "cpu", .gpu = &fake_ops});
    o.run_begin(o.user, "mlp");
    for (int i = 0; i < 20; i++) {
        o.iteration_begin(o.user, i, lab_clock_monotonic_ns());
        o.phase_begin(o.user, LAB_BACKWARD);
        assert_int_equal(gpu.depth, 3);
    }
    o.run_end(o.user);
    assert_int_equal(gpu.depth, 0);
    assert_int_equal(gpu.ranges, 41);
    assert_int_equal(kept_count(k, LAB_RECORD_RANGE), 41);
    assert_int_equal(gpu.started, 0); /* a CPU run traces no GPU */
    lab_profiler_free(p);
    assert_int_equal(gpu.stopped, 0);
}

/* It may come while an iteration is paused, and leaves its ranges open. */
FIXTURE_CASE(an_evaluation_has_a_range_of_its_own)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_gpu);
    o.run_begin(o.user, "mlp");
    o.iteration_begin(o.user, 0, lab_clock_monotonic_ns());
    o.phase_begin(o.user, LAB_FORWARD);
    o.between_begin(o.user, "evaluation");
    assert_int_equal(gpu.depth, 4);
    assert_true(gpu.pushed[gpu.n_pushed - 1] == LAB_EXEC_BETWEEN);
    o.between_end(o.user);
    assert_int_equal(gpu.depth, 3);
    assert_int_equal(kept_count(k, LAB_RECORD_RANGE), 1);
    const struct lab_range_record *r =
        &kept_get(k, LAB_RECORD_RANGE, 0)->u.range;
    assert_int_equal(r->level, LAB_RANGE_BETWEEN);
    assert_string_equal(lab_intern_text(r->text), "evaluation");
    assert_true(r->end_ns >= r->start_ns);
    o.run_end(o.user);
    assert_int_equal(gpu.depth, 0);
    assert_int_equal(kept_count(k, LAB_RECORD_RANGE), 4);
    lab_profiler_free(p);
}

/* What is launched meanwhile goes by another execution, and then no longer. */
FIXTURE_CASE(unreported_steps_have_an_execution_of_their_own)
{
    struct lab_observer o;
    struct lab_profiler_stats stats;
    struct lab_kernel_record kernel = {.exec = LAB_EXEC_DROPPED,
                                       .start_ns = LAB_UNKNOWN,
                                       .end_ns = LAB_UNKNOWN};
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    struct lab_profiler *p = make(k, &o, on_gpu);
    o.run_begin(o.user, "mlp");
    o.unreported_begin(o.user);
    assert_int_equal(gpu.n_pushed, 2);
    assert_true(gpu.pushed[1] == LAB_EXEC_DROPPED);
    gpu.sink.kernel(gpu.sink.user, &kernel, &launch);
    o.unreported_end(o.user);
    assert_int_equal(gpu.pops, 1);
    o.unreported_end(o.user); /* without a begin */
    assert_int_equal(gpu.pops, 1);
    lab_profiler_get_stats(p, &stats);
    assert_int_equal(stats.join.unreported, 1);
    assert_int_equal(stats.join.kernels, 0);
    assert_int_equal(kept_count(k, LAB_RECORD_KERNEL), 0);
    o.unreported_begin(o.user);
    o.run_end(o.user);
    assert_int_equal(gpu.pops, 3); /* both, and the run's */
    lab_profiler_free(p);
    p = make(k, &o,
             (struct lab_profiler_config){.backend = "cpu", .gpu = &fake_ops});
    o.run_begin(o.user, "mlp");
    o.unreported_begin(o.user);
    o.unreported_end(o.user);
    assert_int_equal(gpu.n_pushed, 3); /* the CPU is not traced */
    lab_profiler_free(p);
}

FIXTURE_CASE(traced_steps_leave_their_time_to_the_kernels)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_gpu);
    assert_int_equal(lab_profiler_time_source(p), LAB_TIME_CUPTI);
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "cuda");
    assert_int_equal(gpu.n_pushed, 3);
    assert_true(gpu.pushed[0] == LAB_EXEC_BETWEEN);
    assert_int_equal(gpu.pushed[1], 11);
    assert_int_equal(gpu.pushed[2], 12);
    assert_int_equal(gpu.pops, 2);
    const struct lab_step_record *s = &kept_get(k, LAB_RECORD_STEP, 0)->u.step;
    assert_int_equal(s->time_source, LAB_TIME_CUPTI);
    assert_true(s->time_ns == LAB_UNKNOWN);
    assert_true(s->end_ns > s->start_ns);

    struct lab_kernel_record kernel = {
        .exec = 11, .start_ns = LAB_UNKNOWN, .end_ns = LAB_UNKNOWN};
    struct lab_gpu_launch launch = {.mangled = "k", .carveout_pct = -1};
    gpu.sink.kernel(gpu.sink.user, &kernel, &launch);
    gpu.sink.kernel(gpu.sink.user, &kernel, &launch);
    assert_ok(lab_profiler_flush(p));
    assert_int_equal(kept_count(k, LAB_RECORD_KERNEL), 2);
    assert_int_equal(kept_get(k, LAB_RECORD_KERNEL, 1)->u.kernel.exec, 11);
    struct lab_profiler_stats stats;
    lab_profiler_get_stats(p, &stats);
    assert_int_equal(stats.join.kernels, 2);
    assert_int_equal(stats.join.kernels_without_step, 0);
    assert_int_equal(stats.gpu.dropped, 3);
    assert_true(stats.observer_ns > 0 && stats.observer_ns < 1000000000);
    o.run_end(o.user);
    assert_int_equal(gpu.pops, 3);
    kernel.exec = LAB_UNKNOWN; /* comes out at the end, even so */
    gpu.sink.kernel(gpu.sink.user, &kernel, &launch);
    lab_profiler_free(p);
    assert_int_equal(gpu.stopped, 1);
    assert_int_equal(kept_count(k, LAB_RECORD_KERNEL), 3);
}

FIXTURE_CASE(without_cupti_events_give_the_time)
{
    struct lab_observer o;
    gpu.start_gives = LAB_E_UNSUPPORTED;
    struct lab_profiler *p = make(k, &o, on_gpu);
    assert_int_equal(lab_profiler_time_source(p), LAB_TIME_CUDA_EVENTS);
    assert_string_equal(lab_profiler_note(p), "no CUPTI here: install it");
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "cuda");
    assert_int_equal(gpu.n_pushed, 0);
    assert_int_equal(gpu.ranges, 6); /* NVTX goes on */
    const struct lab_step_record *s = &kept_get(k, LAB_RECORD_STEP, 0)->u.step;
    assert_int_equal(s->time_source, LAB_TIME_CUDA_EVENTS);
    assert_int_equal(s->time_ns, 777);
    s = &kept_get(k, LAB_RECORD_STEP, 1)->u.step;
    assert_int_equal(s->time_source, LAB_TIME_NONE);
    assert_true(s->time_ns == LAB_UNKNOWN);
    assert_ok(lab_profiler_flush(p));
    assert_int_equal(gpu.flushed, 0);
    lab_profiler_free(p);
    assert_int_equal(gpu.stopped, 0);
}

FIXTURE_CASE(another_version_of_the_table_is_not_used)
{
    struct lab_observer o;
    struct lab_gpu_profiler_ops other = {.abi = LAB_GPU_PROFILER_ABI + 1};
    struct lab_profiler *p = make(
        k, &o, (struct lab_profiler_config){.backend = "cuda", .gpu = &other});
    assert_int_equal(lab_profiler_time_source(p), LAB_TIME_CUDA_EVENTS);
    assert_true(strlen(lab_profiler_note(p)) > 0);
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "cuda");
    o.run_end(o.user);
    lab_profiler_free(p);
    p = make(k, &o,
             (struct lab_profiler_config){
                 .backend = "cuda", .gpu = &fake_ops, .no_trace = true});
    assert_int_equal(lab_profiler_time_source(p), LAB_TIME_CUDA_EVENTS);
    assert_string_equal(lab_profiler_note(p), "");
    lab_profiler_free(p);
    assert_int_equal(gpu.started, 0);
}

FIXTURE_CASE(a_failed_flush_has_its_reason)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_gpu);
    struct lab_profiler_stats stats;
    o.synced(o.user);
    assert_int_equal(gpu.flushed, 1);
    gpu.flush_gives = LAB_E_DEVICE;
    assert_int_equal(lab_profiler_flush(p), LAB_E_DEVICE);
    assert_true(error_is("[device] CUPTI is gone"));
    o.synced(o.user);
    lab_profiler_get_stats(p, &stats);
    assert_int_equal(stats.failed_flushes, 1);
    lab_profiler_free(p);
}

FIXTURE_CASE(what_the_sink_refuses_is_counted)
{
    struct lab_observer o;
    struct lab_profiler *p = make(k, &o, on_cpu);
    k->room = 3;
    o.run_begin(o.user, "mlp");
    one_iteration(&o, "cpu");
    o.run_end(o.user);
    struct lab_profiler_stats stats;
    lab_profiler_get_stats(p, &stats);
    assert_int_equal(k->n + stats.not_stored, 9); /* 6 ranges, 2 steps, loss */
    lab_profiler_free(p);
}

TEST_CASE_WITH(short_memory_and_no_sink, setup, teardown)
{
    struct lab_sink sink = kept_sink(*state);
    struct lab_profiler_config config = {.backend = "cuda", .gpu = &fake_ops};
    struct lab_profiler *p = NULL;
    assert_int_equal(lab_profiler_new(&p, &config), LAB_E_ARG);
    config.sink = &sink;
    for (int n = 1; n <= 2; n++) {
        lab_mem_fail_from(n);
        assert_int_equal(lab_profiler_new(&p, &config), LAB_E_NOMEM);
        assert_null(p);
    }
    lab_mem_fail_from(0);
    assert_int_equal(gpu.started, 0);
    lab_profiler_free(NULL);
}

static int setup(void **state)
{
    memset(&gpu, 0, sizeof(gpu));
    *state = kept_new();
    return 0;
}

static int teardown(void **state)
{
    kept_free(*state);
    return 0;
}

RUN_TESTS()
