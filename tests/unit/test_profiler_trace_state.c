/* What a run was traced with: everything, kernels only, nothing, and changes in
 * between. The module's side is played. */
#include "test.h"

#include "profiler/profiler.h"
#include "unit/profiler_sink.h"

static struct {
    enum lab_gpu_records records;
    enum lab_status set_gives;
    int pushed;
} gpu;

static enum lab_status start(const struct lab_gpu_sink *sink,
                             const struct lab_gpu_trace_options *options)
{
    (void)sink;
    gpu.records = options->records;
    return LAB_OK;
}

static void nothing(void)
{
}

static enum lab_status flush(void)
{
    return LAB_OK;
}

static enum lab_status set_records(enum lab_gpu_records records)
{
    gpu.records = records;
    return lab_fail(gpu.set_gives, "CUPTI will not");
}

static void push(int64_t exec)
{
    (void)exec;
    gpu.pushed++;
}

static void range_push(const struct lab_gpu_range *range)
{
    (void)range;
}

static const struct lab_gpu_profiler_ops ops = {
    .abi = LAB_GPU_PROFILER_ABI,
    .error = lab_error,
    .start = start,
    .stop = nothing,
    .flush = flush,
    .set_records = set_records,
    .push = push,
    .pop = nothing,
    .range_push = range_push,
    .range_pop = nothing,
};

static char name[] = "fc1.matmul";
static const struct lab_step matmul = {.name = name, .phase = LAB_FORWARD};

static void one_step(struct lab_observer *o)
{
    struct lab_step_event e = {.exec = 1, .step = &matmul, .backend = "cuda"};
    o->step_begin(o->user, &e);
    o->step_end(o->user, &e);
}

static void state_is(const struct lab_profiler *p, enum lab_trace_state state,
                     enum lab_time_source source)
{
    assert_int_equal(lab_profiler_trace_state(p), state);
    assert_int_equal(lab_profiler_time_source(p), source);
}

/* What a run was traced with is what was on while it lasted. */
TEST_CASE(the_trace_has_more_records_or_fewer)
{
    struct kept *k = kept_new();
    struct lab_sink sink = kept_sink(k);
    struct lab_observer o;
    struct lab_profiler_config config = {.sink = &sink,
                                         .backend = "cuda",
                                         .gpu = &ops,
                                         .trace.records =
                                             LAB_GPU_RECORDS_KERNELS};
    struct lab_profiler *p = NULL;
    assert_ok(lab_profiler_new(&p, &config));
    lab_profiler_observer(p, &o);
    state_is(p, LAB_TRACE_KERNELS, LAB_TIME_CUPTI);
    o.run_begin(o.user, "mlp");
    one_step(&o);
    assert_int_equal(gpu.pushed, 2); /* outside, and the step */
    state_is(p, LAB_TRACE_KERNELS, LAB_TIME_CUPTI);
    assert_ok(lab_profiler_trace(p, LAB_GPU_RECORDS_ALL));
    assert_int_equal(gpu.records, LAB_GPU_RECORDS_ALL);
    state_is(p, LAB_TRACE_MIXED, LAB_TIME_CUPTI);
    o.run_end(o.user);
    o.run_begin(o.user, "mlp");
    state_is(p, LAB_TRACE_ON, LAB_TIME_CUPTI);
    gpu.set_gives = LAB_E_DEVICE; /* nothing is recorded then */
    assert_int_equal(lab_profiler_trace(p, LAB_GPU_RECORDS_KERNELS),
                     LAB_E_DEVICE);
    assert_true(error_is("[device] CUPTI will not"));
    state_is(p, LAB_TRACE_MIXED, LAB_TIME_CUDA_EVENTS);
    int pushed = gpu.pushed;
    one_step(&o);
    assert_int_equal(gpu.pushed, pushed);
    o.run_end(o.user);
    o.run_begin(o.user, "mlp");
    state_is(p, LAB_TRACE_OFF, LAB_TIME_CUDA_EVENTS);
    o.run_end(o.user);
    lab_profiler_free(p);
    kept_free(k);
}

TEST_CASE(states_have_names_and_texts)
{
    for (int i = LAB_TRACE_NEVER; i < LAB_TRACE_STATE_COUNT; i++) {
        enum lab_trace_state s = (enum lab_trace_state)i;
        assert_int_equal(lab_trace_state_find(lab_trace_state_name(s)), s);
        assert_true(lab_trace_state_text(s)[0]);
    }
    assert_int_equal(lab_trace_state_find("sometimes"), LAB_TRACE_UNKNOWN);
    assert_string_equal(lab_trace_state_text(LAB_TRACE_UNKNOWN), "");
}

/* On the host and without CUPTI there is nothing to change. */
TEST_CASE(nothing_traced_stays_so)
{
    struct kept *k = kept_new();
    struct lab_sink sink = kept_sink(k);
    struct lab_profiler_config config = {
        .sink = &sink, .backend = "cpu", .gpu = &ops};
    struct lab_profiler *p = NULL;
    assert_ok(lab_profiler_new(&p, &config));
    assert_int_equal(lab_profiler_trace(p, LAB_GPU_RECORDS_KERNELS),
                     LAB_E_UNSUPPORTED);
    state_is(p, LAB_TRACE_UNKNOWN, LAB_TIME_CPU_CLOCK);
    lab_profiler_free(p);
    config.backend = "cuda";
    config.no_trace = true;
    assert_ok(lab_profiler_new(&p, &config));
    assert_int_equal(lab_profiler_trace(p, LAB_GPU_RECORDS_KERNELS),
                     LAB_E_UNSUPPORTED);
    assert_true(error_is("[trace.off] switched off at the start"));
    state_is(p, LAB_TRACE_NEVER, LAB_TIME_CUDA_EVENTS);
    lab_profiler_free(p);
    kept_free(k);
}

RUN_TESTS()
