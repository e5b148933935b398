/* A lab that is stopped while its kernels are looked at: before the next row, or
 * before the next pass of a row's counters. What launches and counts is played,
 * because only a GPU has such a part. */
#include "test.h"

#include "bench/bench.h"
#include "bench/model.h"
#include "profiler/counters.h"

enum { ROWS = 3, PASSES = 5, NEVER = 1000 };

static struct {
    int launches; /* in all, those of the passes too */
    int rows;
    int counted; /* rows that were counted to the end */
    int warnings;
    int stop_at; /* after as many launches */
} seen;

static bool stop(void *user)
{
    assert_ptr_equal(user, &seen);
    return seen.launches >= seen.stop_at;
}

/* ---- what is played ---- */

static enum lab_status launch_once(void *launch)
{
    (void)launch;
    seen.launches++;
    return LAB_OK;
}

enum lab_status __wrap_lab_ladder_launch(struct lab_backend *be,
                                         const struct lab_operation *op,
                                         const struct lab_variant *variant,
                                         const struct lab_ladder_size *size,
                                         uint64_t seed,
                                         lab_ladder_look_fn *look, void *user);
enum lab_status __wrap_lab_ladder_launch(struct lab_backend *be,
                                         const struct lab_operation *op,
                                         const struct lab_variant *variant,
                                         const struct lab_ladder_size *size,
                                         uint64_t seed,
                                         lab_ladder_look_fn *look, void *user)
{
    (void)be;
    (void)op;
    (void)variant;
    (void)size;
    (void)seed;
    seen.rows++;
    return look(user, launch_once, NULL);
}

enum lab_status __wrap_lab_profiler_counters_probe(struct lab_profiler *p,
                                                   const char **text);
enum lab_status __wrap_lab_profiler_counters_probe(struct lab_profiler *p,
                                                   const char **text)
{
    (void)p;
    *text = "played";
    return LAB_OK;
}

static bool in_pass;

static enum lab_status pass_begin(void *user)
{
    (void)user;
    assert_false(in_pass);
    in_pass = true;
    return LAB_OK;
}

static void step_edge(void *user, int index)
{
    (void)user;
    (void)index;
}

static enum lab_status pass_end(void *user, bool *again)
{
    int *pass = user;
    in_pass = false;
    *again = ++*pass < PASSES;
    return LAB_OK;
}

enum lab_status __wrap_lab_profiler_count_work(
    struct lab_profiler *p, const struct lab_count_work *work,
    enum lab_counter_set set, struct lab_counted *out);
enum lab_status __wrap_lab_profiler_count_work(
    struct lab_profiler *p, const struct lab_count_work *work,
    enum lab_counter_set set, struct lab_counted *out)
{
    int pass = 0;
    const struct lab_rerun rerun = {.user = &pass,
                                    .pass_begin = pass_begin,
                                    .step_begin = step_edge,
                                    .step_end = step_edge,
                                    .pass_end = pass_end};
    (void)p;
    (void)set;
    (void)out;
    enum lab_status st = work->rerun(work->user, &rerun);
    assert_false(in_pass); /* a pass is never left half done */
    seen.counted += st == LAB_OK;
    return st;
}

static int push_nowhere(void *user, const struct lab_record *record)
{
    (void)user;
    (void)record;
    return 1;
}

enum lab_status __wrap_lab_kernel_watch_open(struct lab_kernel_watch *w,
                                             const char *backend,
                                             const struct lab_sink *then);
enum lab_status __wrap_lab_kernel_watch_open(struct lab_kernel_watch *w,
                                             const char *backend,
                                             const struct lab_sink *then)
{
    (void)then;
    *w = (struct lab_kernel_watch){.sink = {NULL, push_nowhere}};
    struct lab_profiler_config config = {
        .sink = &w->sink, .backend = backend, .no_ranges = true};
    enum lab_status st = lab_live_new(&w->live, NULL);
    return st ? st : lab_profiler_new(&w->profiler, &config);
}

void __wrap_lab_kernel_watch_close(struct lab_kernel_watch *w);
void __wrap_lab_kernel_watch_close(struct lab_kernel_watch *w)
{
    lab_profiler_free(w->profiler);
    lab_live_free(w->live);
}

void __wrap_lab_warn(const char *fmt, ...);
void __wrap_lab_warn(const char *fmt, ...)
{
    (void)fmt;
    seen.warnings++;
}

void __wrap_lab_bench_model_kernel(struct lab_bench_data *data, int set,
                                   const struct lab_bench *lab,
                                   const struct lab_timed_row *row,
                                   const struct lab_kernel_record *kernel,
                                   const struct lab_counters *counters);
void __wrap_lab_bench_model_kernel(struct lab_bench_data *data, int set,
                                   const struct lab_bench *lab,
                                   const struct lab_timed_row *row,
                                   const struct lab_kernel_record *kernel,
                                   const struct lab_counters *counters)
{
    (void)data;
    (void)set;
    (void)lab;
    (void)row;
    (void)kernel;
    (void)counters;
    fail_msg("there are no kernels here");
}

static void take_kernel(void *user, const struct lab_timed_row *row,
                        const struct lab_kernel_record *kernel,
                        const struct lab_counters *counters)
{
    (void)user;
    (void)row;
    (void)kernel;
    (void)counters;
    fail_msg("there are no kernels here");
}

/* ---- a lab of ROWS rows that were timed ---- */

static enum lab_status trace(const char *counters, int stop_at)
{
    static struct lab_bench lab;
    static struct lab_timed_row rows[ROWS];
    const struct lab_variant variant = {.name = "naive"};
    const struct lab_options options = {.counters = counters};
    memset(&seen, 0, sizeof(seen));
    seen.stop_at = stop_at;
    lab = (struct lab_bench){
        .options = &options,
        .title = "saxpy",
        .n_sizes = 1,
        .repeats = 1,
        .timed = ROWS,
        .to_trace = rows,
        .observer = {.user = &seen, .traced = take_kernel, .stop = stop}};
    assert_ok(lab_ladder_find("saxpy", &lab.ladder));
    assert_ok(lab_ladder_size(lab.ladder, "64", 2, &lab.sizes[0]));
    assert_ok(lab_backend_open(&lab.backend, "cpu", 0));
    lab.backend->host_memory = false; /* as a GPU */
    for (int i = 0; i < ROWS; i++)
        rows[i] = (struct lab_timed_row){&variant, &variant, 0, i};
    enum lab_status st = lab_bench_trace(&lab);
    lab.backend->host_memory = true;
    lab_backend_close(lab.backend);
    return st;
}

TEST_CASE(all_rows_are_launched_once)
{
    assert_ok(trace("off", NEVER));
    assert_int_equal(seen.launches, ROWS);
    assert_ok(trace("full", NEVER));
    assert_int_equal(seen.launches, ROWS * (1 + PASSES));
    assert_int_equal(seen.counted, ROWS);
    assert_int_equal(seen.warnings, 0);
}

TEST_CASE(a_stop_ends_before_the_next_row)
{
    assert_int_equal(trace("off", 0), LAB_E_CANCELLED);
    assert_int_equal(seen.rows, 0);
    assert_int_equal(trace("off", 2), LAB_E_CANCELLED);
    assert_int_equal(seen.rows, 2);
    assert_true(error_is("[cancelled] stopped"));
    assert_int_equal(seen.warnings, 0);
    /* All had been launched: nothing was left to stop. */
    assert_ok(trace("off", ROWS));
}

TEST_CASE(a_stop_ends_before_the_next_pass)
{
    /* The first row and its passes; of the second its launch and two passes. */
    assert_int_equal(trace("full", 1 + PASSES + 1 + 2), LAB_E_CANCELLED);
    assert_int_equal(seen.launches, 1 + PASSES + 1 + 2);
    assert_int_equal(seen.rows, 2);
    assert_int_equal(seen.counted, 1);
    assert_int_equal(seen.warnings, 0);
}

RUN_TESTS()
