/* One iteration's timeline from a database that the writer made. */
#include "test.h"

#include "base/mem.h"
#include "store/timeline.h"
#include "store_samples.h"
#include "timeline_samples.h"
#include "trace/intern.h"

#define US INT64_C(1000)
#define AT(us) (SAMPLE_TIMELINE_START + US * (us))

static struct lab_timeline *load(const char *path, int64_t run,
                                 int64_t iteration,
                                 const struct lab_timeline_filter *filter)
{
    struct lab_database *db = sample_open(path);
    struct lab_iteration_row of;
    struct lab_timeline *t = NULL;
    assert_ok(lab_query_iteration(db, run, iteration, &of));
    assert_ok(lab_timeline_load(&t, db, run, &of, filter));
    lab_database_close(db);
    return t;
}

/* The nth span of a name, by start. */
static const struct lab_span *span(const struct lab_timeline *t,
                                   enum lab_span_kind kind, const char *name,
                                   int nth)
{
    for (int32_t i = 0; i < t->count; i++)
        if (t->spans[i].kind == kind &&
            strcmp(lab_intern_text(t->spans[i].name), name) == 0 && nth-- == 0)
            return &t->spans[i];
    fail_msg("no %s", name);
    return NULL;
}

static bool count_pass(void *user, const struct lab_iteration_row *row)
{
    struct lab_iteration_row *rows = user;
    rows[row->iteration] = *row;
    return true;
}

SAMPLE_CASE(passes_have_their_span_and_their_kernels)
{
    struct lab_iteration_row rows[3] = {{0}};
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_iterations(db, run, count_pass, rows));
    assert_int_equal(rows[0].kernels, 1);
    assert_int_equal(rows[1].kernels, 7);
    assert_int_equal(rows[1].steps, 3);
    assert_int_equal(rows[1].exec_first, 2);
    assert_int_equal(rows[1].exec_last, 4);
    assert_int_equal(rows[1].start_ns, AT(1020));
    assert_int_equal(rows[1].end_ns, AT(1388));
    assert_int_equal(rows[2].kernels, LAB_UNKNOWN);
    assert_int_equal(rows[2].start_ns, LAB_UNKNOWN);
    struct lab_iteration_row one;
    assert_ok(lab_query_iteration(db, run, LAB_UNKNOWN, &one));
    assert_int_equal(one.iteration, 1); /* the last with kernels */
    assert_int_equal(lab_query_iteration(db, run, 9, &one), LAB_E_NOTFOUND);
    assert_true(error_is("[timeline.iteration] the last 2"));
    assert_int_equal(lab_query_iteration(db, 99, 0, &one), LAB_E_NOTFOUND);
}

SAMPLE_CASE(lanes_hold_what_ran_where)
{
    static const struct {
        const char *name;
        int count;
    } lanes[] = {{"steps", 3},
                 {"NVTX iteration", 1},
                 {"NVTX phase", 2},
                 {"NVTX step", 3},
                 {"CUDA calls", 7},
                 {"kernels, stream 7", 7},
                 {"kernels, stream 13", 1},
                 {"copies, stream 7", 1},
                 {"memsets, stream 7", 1}};
    int64_t run;
    char name[64];
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, NULL);
    assert_int_equal(t->lane_count, 9);
    for (int i = 0; i < 9; i++) {
        assert_string_equal(lab_lane_name(t, i, name, sizeof(name)),
                            lanes[i].name);
        if (t->lanes[i].count != lanes[i].count)
            fail_msg("%s: %d spans", name, t->lanes[i].count);
    }
    /* The range makes it begin before its first step; the run's is not it. */
    assert_int_equal(t->start_ns, AT(1000));
    assert_int_equal(t->end_ns, AT(1400));
    /* In a lane by start, and what has no time last. */
    const struct lab_lane *l = &t->lanes[5];
    assert_int_equal(l->timed, 6);
    for (int32_t i = 1; i < l->timed; i++)
        assert_true(t->spans[l->first + i].start_ns >=
                    t->spans[l->first + i - 1].start_ns);
    assert_string_equal(lab_intern_text(t->spans[l->first + 6].name), "lost");
    assert_int_equal(l->busy_ns, (24 + 20 + 8 + 5 + 30 + 38) * US);
    lab_timeline_free(t);
}

SAMPLE_CASE(latency_is_from_the_call_with_its_number)
{
    static const struct {
        const char *name;
        int nth;
        int64_t latency;
        int64_t gap;
        const char *call;
        const char *step;
    } want[] = {
        /* Of the iteration before, and its call too: that is not read. */
        {"gemm_tiled", 0, LAB_UNKNOWN, LAB_UNKNOWN, NULL, NULL},
        {"gemm_tiled", 1, 8 * US, 16 * US, "cudaLaunchKernel", "fc1.matmul"},
        {"add_bias", 0, 22 * US, 0, "cudaLaunchKernel", "fc1.matmul"},
        {"relu", 0, 18 * US, 12 * US, "cudaLaunchKernel", "relu"},
        {"sgd_weights", 0, 18 * US, 155 * US, "cudaGraphLaunch", "sgd"},
        {"sgd_weights", 1, 50 * US, 2 * US, "cudaGraphLaunch", "sgd"},
        {"sgd_bias", 0, 23 * US, LAB_UNKNOWN, "cudaGraphLaunch", "sgd"},
        {"lost", 0, LAB_UNKNOWN, LAB_UNKNOWN, NULL, "sgd"},
    };
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, NULL);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct lab_span *s =
            span(t, LAB_SPAN_KERNEL, want[i].name, want[i].nth);
        if (s->latency_ns != want[i].latency || s->gap_ns != want[i].gap)
            fail_msg("%s %d: latency %lld, gap %lld", want[i].name, want[i].nth,
                     (long long)s->latency_ns, (long long)s->gap_ns);
        assert_int_equal(s->call >= 0, want[i].call != NULL);
        assert_int_equal(s->step >= 0, want[i].step != NULL);
        if (want[i].call)
            assert_string_equal(lab_intern_text(t->spans[s->call].name),
                                want[i].call);
        if (want[i].step)
            assert_string_equal(lab_intern_text(t->spans[s->step].name),
                                want[i].step);
    }
    lab_timeline_free(t);
}

SAMPLE_CASE(copies_and_calls_find_their_step)
{
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, NULL);
    /* Made before the first step: it belongs to none. */
    const struct lab_span *copy = span(t, LAB_SPAN_COPY, "Host-to-Device", 0);
    assert_int_equal(copy->step, -1);
    assert_int_equal(copy->latency_ns, 6 * US);
    assert_int_equal(copy->bytes, 4096);
    const struct lab_span *set = span(t, LAB_SPAN_SET, "memset", 0);
    assert_string_equal(lab_intern_text(t->spans[set->step].name), "sgd");
    assert_int_equal(span(t, LAB_SPAN_CALL, "cudaMemcpyAsync", 0)->step, -1);
    assert_int_equal(span(t, LAB_SPAN_CALL, "cudaStreamSynchronize", 0)->exec,
                     4);
    assert_int_equal(span(t, LAB_SPAN_KERNEL, "sgd_bias", 0)->graph_node, 102);
    assert_int_equal(span(t, LAB_SPAN_KERNEL, "relu", 0)->graph_node,
                     LAB_UNKNOWN);
    lab_timeline_free(t);
}

SAMPLE_CASE(sums_are_cut_at_the_window)
{
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, NULL);
    const struct lab_timeline_sums *s = &t->sums;
    assert_int_equal(s->kernels, 7);
    assert_int_equal(s->kernels_untimed, 1);
    assert_int_equal(s->graph_kernels, 3);
    assert_int_equal(s->launches, 5);
    assert_int_equal(s->copies, 2);
    assert_int_equal(s->copied_bytes, 8192);
    /* 14 of the 24 us of the kernel that the iteration before launched. */
    assert_int_equal(s->busy_ns, (14 + 10 + 20 + 8 + 5 + 2 + 30 + 38) * US);
    assert_int_equal(s->gaps, 6);
    assert_int_equal(s->gap_sum_ns, (4 + 2 + 12 + 151 + 2 + 2) * US);
    assert_int_equal(s->gap_longest_ns, 151 * US);
    assert_int_equal(s->gap_start_ns, AT(1075));
    assert_string_equal(lab_intern_text(s->gap_after), "relu");
    assert_string_equal(lab_intern_text(s->gap_before), "memset");
    assert_int_equal(s->latency_median_ns, 20 * US);
    assert_int_equal(s->latency_max_ns, 50 * US);
    lab_timeline_free(t);
    /* Its kernel ends after the host has gone on. */
    t = load(path, run, 0, NULL);
    assert_int_equal(t->end_ns, AT(1014));
    assert_int_equal(t->sums.busy_ns, 24 * US);
    assert_int_equal(t->sums.gap_sum_ns, LAB_UNKNOWN);
    lab_timeline_free(t);
}

SAMPLE_CASE(a_part_shows_what_touches_it)
{
    const struct lab_timeline_filter part = {.from_ns = AT(1055),
                                             .to_ns = AT(1072)};
    int64_t run;
    int32_t count;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, &part);
    span(t, LAB_SPAN_KERNEL, "add_bias", 0);
    /* The call ended where the window begins; its moment is known. */
    const struct lab_span *relu = span(t, LAB_SPAN_KERNEL, "relu", 0);
    assert_int_equal(relu->latency_ns, 18 * US);
    assert_int_equal(relu->call, -1);
    assert_string_equal(lab_intern_text(t->spans[relu->step].name), "relu");
    for (int32_t i = 0; i < t->count; i++)
        if (t->spans[i].kind != LAB_SPAN_STEP && t->spans[i].start_ns >= 0)
            assert_true(t->spans[i].start_ns < AT(1072) &&
                        t->spans[i].end_ns > AT(1055));
    assert_int_equal(t->sums.busy_ns, (3 + 2) * US);
    lab_timeline_free(t);
    /* In a lane: the first that a window touches, and how many. */
    t = load(path, run, 1, NULL);
    int32_t first = lab_lane_find(t, 5, AT(1052), AT(1071), &count);
    while (t->spans[first].end_ns <= AT(1052)) {
        first++;
        count--;
    }
    assert_string_equal(lab_intern_text(t->spans[first].name), "add_bias");
    assert_int_equal(count, 2);
    lab_lane_find(t, 5, AT(1320), AT(1400), &count);
    assert_true(count <= 1);
    lab_timeline_free(t);
}

SAMPLE_CASE(a_cpu_run_has_steps_alone)
{
    int64_t run;
    assert_ok(sample_timeline_cpu(path, &run));
    struct lab_timeline *t = load(path, run, 0, NULL);
    assert_int_equal(t->lane_count, 1);
    assert_int_equal(t->count, 3);
    assert_int_equal(t->sums.kernels, 0);
    assert_int_equal(t->sums.busy_ns, LAB_UNKNOWN);
    assert_int_equal(t->sums.gap_sum_ns, LAB_UNKNOWN);
    assert_int_equal(t->sums.latency_median_ns, LAB_UNKNOWN);
    assert_int_equal(t->spans[1].gap_ns, 10 * US);
    assert_int_equal(t->lanes[0].busy_ns, 33 * US);
    lab_timeline_free(t);
}

/* As an import of another tool's file makes it. */
SAMPLE_CASE(a_run_without_steps_is_one_pass)
{
    struct lab_iteration_row of;
    int64_t run;
    assert_ok(sample_timeline_foreign(path, &run));
    struct lab_database *db = sample_open(path);
    assert_int_equal(lab_query_iteration(db, run, 0, &of), LAB_E_NOTFOUND);
    assert_true(error_is("[timeline.no-iterations] "));
    lab_database_close(db);
    struct lab_timeline *t = load(path, run, LAB_UNKNOWN, NULL);
    assert_int_equal(t->of.iteration, LAB_UNKNOWN);
    assert_int_equal(t->sums.kernels, 8);
    assert_int_equal(t->sums.kernels_untimed, 1);
    assert_int_equal(t->sums.launches, 6);
    assert_int_equal(t->start_ns, AT(-5)); /* the range of the run */
    assert_int_equal(t->end_ns, AT(2100));
    assert_int_equal(t->lanes[0].kind, LAB_SPAN_RANGE);
    assert_int_equal(t->lanes[0].count, 9);
    assert_int_equal(span(t, LAB_SPAN_CALL, "cudaLaunchKernel", 3)->step, -1);
    assert_int_equal(span(t, LAB_SPAN_KERNEL, "gemm_tiled", 0)->latency_ns,
                     10 * US);
    assert_int_equal(t->sums.latency_max_ns, 50 * US);
    lab_timeline_free(t);
    const struct lab_timeline_filter part = {.from_ns = AT(1055),
                                             .to_ns = AT(1072)};
    t = load(path, run, LAB_UNKNOWN, &part);
    assert_int_equal(t->sums.busy_ns, (3 + 2) * US);
    assert_int_equal(span(t, LAB_SPAN_KERNEL, "relu", 0)->latency_ns, 18 * US);
    lab_timeline_free(t);
}

/* Two ranks: each counts its calls from 1, and each has its GPU. */
SAMPLE_CASE(each_process_and_device_has_its_rows)
{
    int64_t run;
    assert_ok(sample_timeline_foreign(path, &run));
    /* A second process, 1 ms later, that uses the same ids on another GPU. */
    sample_sql(path,
               "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (runId, start, \"end\","
               " globalTid, correlationId, nameId) SELECT runId, start + "
               "1000000, \"end\" + 1000000, globalTid + (1 << 24), "
               "correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME;"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (runId, start, \"end\","
               " deviceId, streamId, correlationId, globalPid, shortName, "
               "demangledName) SELECT runId, start + 1000000, \"end\" + "
               "1000000, 1, streamId, correlationId, 10 << 24, shortName, "
               "demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start > 0;"
               "UPDATE run SET kernelRowLast = (SELECT max(kernelRow) FROM "
               "CUPTI_ACTIVITY_KIND_KERNEL)");
    struct lab_timeline *t = load(path, run, LAB_UNKNOWN, NULL);
    assert_int_equal(t->sums.kernels, 15);
    assert_int_equal(t->sums.latency_max_ns, 50 * US);
    assert_int_equal(t->device_count, 2);
    assert_int_equal(t->devices[0].device, 0);
    assert_int_equal(t->devices[1].device, 1);
    /* Of the first also the copy and the memset. */
    assert_int_equal(t->devices[0].busy_ns,
                     (24 + 10 + 20 + 8 + 5 + 2 + 30 + 38) * US);
    assert_int_equal(t->devices[1].busy_ns, (24 + 20 + 8 + 5 + 30 + 38) * US);
    assert_int_equal(t->sums.gaps, t->devices[0].gaps + t->devices[1].gaps);
    assert_int_equal(t->devices[1].gap_longest_ns, 155 * US);
    lab_timeline_free(t);
    /* A step's name and the head stay with one span a kind. */
    const struct lab_timeline_filter few = {
        .from_ns = LAB_UNKNOWN, .to_ns = LAB_UNKNOWN, .most = 1};
    t = load(path, run, LAB_UNKNOWN, &few);
    assert_int_equal(t->sums.latency_max_ns, 50 * US);
    assert_int_equal(t->device_count, 2);
    lab_timeline_free(t);
}

SAMPLE_CASE(a_span_left_out_keeps_its_name)
{
    const struct lab_timeline_filter few = {
        .from_ns = LAB_UNKNOWN, .to_ns = LAB_UNKNOWN, .most = 1};
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, &few);
    const struct lab_span *copy = span(t, LAB_SPAN_KERNEL, "sgd_weights", 0);
    assert_string_equal(lab_intern_text(copy->step_name), "sgd");
    assert_int_equal(copy->step_phase, 3);
    assert_int_equal(t->sums.latency_median_ns, 20 * US);
    assert_int_equal(t->sums.latency_max_ns, 50 * US);
    lab_timeline_free(t);
}

SAMPLE_CASE(what_has_no_moments_stays_unknown)
{
    struct lab_iteration_row of;
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 2, NULL);
    assert_int_equal(t->count, 1);
    assert_int_equal(t->start_ns, LAB_UNKNOWN);
    assert_int_equal(t->lanes[0].timed, 0);
    assert_int_equal(lab_span_time(&t->spans[0]), LAB_UNKNOWN);
    assert_int_equal(t->spans[0].gap_ns, LAB_UNKNOWN);
    lab_timeline_free(t);
    assert_ok(sample_timeline_empty(path, &run));
    struct lab_database *db = sample_database(path);
    assert_int_equal(lab_query_iteration(db, run, LAB_UNKNOWN, &of),
                     LAB_E_NOTFOUND);
    assert_true(error_is("[timeline.empty] "));
}

SAMPLE_CASE(too_many_leave_the_longest)
{
    const struct lab_timeline_filter few = {
        .from_ns = LAB_UNKNOWN, .to_ns = LAB_UNKNOWN, .most = 3};
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_timeline *t = load(path, run, 1, &few);
    assert_int_equal(t->left_out[LAB_SPAN_KERNEL], 5);
    assert_int_equal(t->left_out[LAB_SPAN_CALL], 4);
    assert_int_equal(t->left_out[LAB_SPAN_STEP], 0);
    /* 38, 30 and 24 us; what they launched is known still. */
    assert_int_equal(span(t, LAB_SPAN_KERNEL, "sgd_weights", 1)->latency_ns,
                     50 * US);
    assert_int_equal(span(t, LAB_SPAN_KERNEL, "sgd_weights", 1)->gap_ns,
                     LAB_UNKNOWN);
    span(t, LAB_SPAN_KERNEL, "sgd_weights", 0);
    span(t, LAB_SPAN_KERNEL, "gemm_tiled", 0);
    assert_int_equal(t->sums.kernels, 7);
    assert_int_equal(t->sums.busy_ns, 127 * US);
    assert_int_equal(t->sums.gap_sum_ns, 173 * US);
    /* As without a limit: over all kernels, not over the three. */
    struct lab_timeline *all = load(path, run, 1, NULL);
    assert_int_equal(all->sums.latency_median_ns, 20 * US);
    assert_int_equal(t->sums.latency_median_ns, 20 * US);
    assert_int_equal(t->sums.latency_max_ns, all->sums.latency_max_ns);
    lab_timeline_free(all);
    lab_timeline_free(t);
}

/* Bisection must find the rows of a middle iteration, with other runs around
 * them, and an iteration that is not where its moments say. */
SAMPLE_CASE(rows_are_found_among_many)
{
    int64_t before;
    int64_t run;
    assert_ok(sample_timeline_many(path, 30, 40, &before));
    assert_ok(sample_timeline_many(path, 700, 130, &run));
    assert_ok(sample_timeline_many(path, 30, 40, &before));
    static const int64_t iterations[] = {0, 1, 350, 698, 699};
    for (int i = 0; i < 5; i++) {
        struct lab_timeline *t = load(path, run, iterations[i], NULL);
        assert_int_equal(t->sums.kernels, 130);
        assert_int_equal(t->sums.launches, 130);
        assert_int_equal(t->sums.busy_ns, 260 * US);
        assert_int_equal(t->sums.gap_sum_ns, 129 * US);
        assert_int_equal(t->sums.latency_median_ns, US);
        assert_int_equal(t->sums.latency_max_ns, US);
        assert_int_equal(t->lane_count, 4);
        assert_int_equal(t->lanes[2].count, 130);
        lab_timeline_free(t);
    }
}

SAMPLE_CASE(two_runs_at_once_have_their_own_rows)
{
    int64_t a;
    int64_t b;
    assert_ok(sample_timeline_run(path, &a));
    assert_ok(sample_timeline_run(path, &b));
    sample_sql(path, "UPDATE run SET started_ns = 100, ended_ns = 200");
    /* As if the rows had come in turns. */
    sample_sql(path, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET rowid = CASE "
                     "runId WHEN 1 THEN 10001 + 2 * rowid ELSE 20000 + 2 * "
                     "(rowid - 8) END");
    sample_sql(path, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET rowid = rowid - "
                     "10000 WHERE rowid >= 20000");
    for (int64_t run = a; run <= b; run += b - a) {
        struct lab_timeline *t = load(path, run, 1, NULL);
        assert_int_equal(t->lanes[4].kind, LAB_SPAN_CALL);
        assert_int_equal(t->lanes[4].count, 7);
        lab_timeline_free(t);
    }
}

SAMPLE_CASE(hostile_numbers_are_read_safely)
{
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    sample_sql(path,
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = "
               "-9223372036854775807 WHERE kernelRow = 2;"
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = "
               "9223372036854775807 WHERE kernelRow = 3;"
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'x', end = 1.5 "
               "WHERE kernelRow = 4;"
               "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = "
               "9223372036854775807;"
               "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET rowid = "
               "9223372036854775807 WHERE rowid = 3;"
               "UPDATE step SET kernelCount = 9223372036854775807;"
               "UPDATE StringIds SET value = 'a' || char(27) || '[2J' WHERE "
               "value = 'relu'");
    struct lab_timeline *t = load(path, run, 1, NULL);
    assert_int_equal(t->sums.kernels_untimed, 4);
    for (int32_t i = 0; i < t->count; i++)
        assert_null(strchr(lab_intern_text(t->spans[i].name), 27));
    lab_timeline_free(t);
}

SAMPLE_CASE(any_allocation_may_fail)
{
    struct lab_iteration_row of;
    int64_t run;
    int refused = 0;
    assert_ok(sample_timeline_run(path, &run));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_iteration(db, run, 1, &of));
    for (int nth = 1; nth < 60; nth++) {
        struct lab_timeline *t = NULL;
        lab_mem_fail_from(nth);
        enum lab_status st = lab_timeline_load(&t, db, run, &of, NULL);
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || st == LAB_E_NOMEM);
        assert_int_equal(st == LAB_OK, t != NULL);
        refused += st == LAB_E_NOMEM;
        lab_timeline_free(t);
    }
    assert_true(refused > 10 && refused < 59);
}

#define MS INT64_C(1000000)

/* A walk: three steps of 1, 2 and 3 us, 1 s and 30 s apart, in a range. */
TEST_CASE_WITH(pauses_of_a_walk_are_closed, NULL, sample_cleanup)
{
    const int64_t start[] = {0, 1000 * MS, 31000 * MS};
    struct lab_span spans[4] = {{.kind = LAB_SPAN_RANGE,
                                 .start_ns = 5,
                                 .end_ns = 5 + 31000 * MS + 3 * US}};
    struct lab_timeline t = {
        .of.steps = 3, .start_ns = 5, .from_ns = 5, .spans = spans, .count = 4};
    for (int i = 0; i < 3; i++)
        spans[i + 1] = (struct lab_span){.kind = LAB_SPAN_STEP,
                                         .start_ns = 5 + start[i],
                                         .end_ns = 5 + start[i] + US * (i + 1),
                                         .gap_ns = 77};
    t.end_ns = t.to_ns = spans[0].end_ns;
    assert_ok(lab_timeline_close_pauses(&t));
    /* of each pause a fortieth of 6 us is left */
    assert_int_equal(t.pauses, 2);
    assert_int_equal(t.end_ns - t.start_ns, 6 * US + 2 * 150);
    assert_int_equal(t.paused_ns, 31000 * MS - 3 * US - 2 * 150);
    assert_int_equal(spans[1].start_ns, 5);
    assert_int_equal(spans[2].start_ns, 5 + US + 150);
    assert_int_equal(spans[3].start_ns, 5 + 3 * US + 2 * 150);
    assert_int_equal(lab_span_time(&spans[3]), 3 * US);
    assert_int_equal(spans[0].end_ns, spans[3].end_ns);
    assert_int_equal(t.to_ns, t.end_ns);
    assert_int_equal(spans[3].gap_ns, 77);

    /* What runs beside it, as a kernel, is no pause; nor are 19 ms, nor a
     * tenth of what ran. */
    spans[2].end_ns = spans[2].start_ns + 5000 * MS;
    spans[3].start_ns = spans[2].end_ns + 19 * MS;
    spans[3].end_ns = spans[3].start_ns + 3 * US;
    spans[1].kind = LAB_SPAN_KERNEL;
    spans[1].end_ns = spans[2].start_ns + 1;
    t.end_ns = spans[3].end_ns;
    t.pauses = 0;
    assert_ok(lab_timeline_close_pauses(&t));
    assert_int_equal(t.pauses, 0);
    spans[3].start_ns += 481 * MS;
    spans[3].end_ns += 481 * MS;
    assert_ok(lab_timeline_close_pauses(&t));
    assert_int_equal(t.pauses, 0);
    spans[3].end_ns += 600 * MS;
    spans[3].start_ns += 600 * MS;
    t.left_out[LAB_SPAN_CALL] = 1; /* not all is known: nothing is closed */
    assert_ok(lab_timeline_close_pauses(&t));
    assert_int_equal(t.pauses, 0);
    t.left_out[LAB_SPAN_CALL] = 0;
    lab_mem_fail_from(1);
    assert_int_equal(lab_timeline_close_pauses(&t), LAB_E_NOMEM);
    lab_mem_fail_from(0);
    assert_int_equal(t.pauses, 0);
    assert_ok(lab_timeline_close_pauses(&t));
    assert_int_equal(t.pauses, 1);
    lab_free(t.pause_ns);
}

RUN_TESTS()
