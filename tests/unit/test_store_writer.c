/* The thread that writes records into the database: every kind of row, unknown
 * as NULL, several runs, flushes, and later records of a step. */
#include "test.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "store/database.h"
#include "store/query.h"
#include "store/time_sum.h"
#include "store_samples.h"
#include "trace/intern.h"

static struct lab_writer *new_writer(const char *path)
{
    struct lab_writer *writer = NULL;
    struct lab_run_info info;
    lab_run_info_init(&info);
    info.row.lesson = "mlp-digits";
    info.row.backend = "cpu";
    info.row.seed = UINT64_MAX;
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    return writer;
}

static void finish_run(struct lab_writer *writer)
{
    struct lab_run_summary summary;
    lab_run_summary_init(&summary);
    assert_ok(lab_writer_finish(writer, &summary));
}

static void finish(struct lab_writer *writer)
{
    finish_run(writer);
    lab_writer_free(writer);
}

static void push(struct lab_writer *writer, struct lab_record record)
{
    struct lab_sink sink = lab_writer_sink(writer);
    assert_true(sink.push(sink.user, &record));
}

TEST_CASE_WITH(stores_every_row, NULL, sample_cleanup)
{
    const char *path = sample_path("sub/dir/runs.db"); /* made on the way */
    int64_t run = 0;
    assert_ok(sample_run(path, 100, 7, &run));
    assert_int_equal(run, 1);
    assert_rows(path, 700, "step");
    assert_rows(path, 1400, "op_kernel");
    assert_rows(path, 1400, "CUPTI_ACTIVITY_KIND_KERNEL");
    assert_rows(path, 100, "loss");
    /* no kernel without a step, no step without a kernel */
    assert_rows(path, 0,
                "CUPTI_ACTIVITY_KIND_KERNEL AS k LEFT JOIN op_kernel AS o "
                "USING (kernelRow) LEFT JOIN step AS s ON s.runId = o.runId "
                "AND s.exec = o.stepExec WHERE s.exec IS NULL");
    assert_sql(path, 2, "SELECT min(kernelCount) FROM step");
    assert_sql(path, 2, "SELECT max(kernelCount) FROM step");
    /* the steps' times are their kernels' */
    assert_sql(path, 100 * (7 * 1500 + 21), "SELECT sum(time_ns) FROM step");
    assert_sql(path, 1,
               "SELECT (SELECT sum(time_ns) FROM step) = (SELECT sum(end - "
               "start) FROM CUPTI_ACTIVITY_KIND_KERNEL)");
    assert_sql(path, 1,
               "SELECT kernelRowFirst = 1 AND kernelRowLast = 1400 FROM run");
    assert_sql(path, 1,
               "SELECT status = 'done' AND ended_ns >= started_ns AND "
               "ringDrops = 0 AND writeErrors = 0 AND seed = 7 AND started "
               "LIKE '2___-__-__T__:__:__.___Z' FROM run");
}

SAMPLE_CASE(second_run_has_its_own_rows)
{
    int64_t run = 0;
    assert_ok(sample_run(path, 3, 5, &run));
    assert_ok(sample_run(path, 2, 5, &run));
    assert_int_equal(run, 2);
    assert_rows(path, 10, "step WHERE runId = 2");
    assert_sql(path, 31, "SELECT kernelRowFirst FROM run WHERE id = 2");
    /* names are kept once */
    assert_sql(path, 0,
               "SELECT count(*) - count(DISTINCT value) FROM StringIds");
    assert_rows(path, 50,
                "CUPTI_ACTIVITY_KIND_KERNEL AS k JOIN StringIds AS s ON s.id = "
                "k.shortName WHERE s.value = 'matmul'");
}

SAMPLE_CASE(unknown_is_null)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_record k = sample_kernel(LAB_UNKNOWN, 0, 0);
    struct lab_record s = sample_step(1, 0, 0, LAB_TIME_CPU_CLOCK, LAB_UNKNOWN);
    k.u.kernel.occupancy_pct = (double)NAN;
    k.u.kernel.mangled_name = 0;
    s.u.step.flop = (double)NAN;
    push(writer, k);
    push(writer, s);
    push(writer, sample_loss(0, (double)NAN, (double)NAN));
    push(writer, sample_loss(1, (double)INFINITY, (double)NAN));
    finish(writer);
    assert_sql(
        path, 1,
        "SELECT start IS NULL AND end IS NULL AND sharedMemoryExecuted IS NULL "
        "AND localMemoryTotal IS NULL AND mangledName IS NULL AND graphNodeId "
        "IS NULL AND staticSharedMemory = 1024 AND greenContextId IS NULL AND "
        "launchType = 1 FROM CUPTI_ACTIVITY_KIND_KERNEL");
    assert_sql(path, 1,
               "SELECT stepExec IS NULL AND occupancy_pct IS NULL AND "
               "occupancyLimit IS NULL FROM op_kernel");
    assert_sql(
        path, 1,
        "SELECT time_ns IS NULL AND flop IS NULL AND bytes = 400 FROM step");
    assert_sql(path, 1, "SELECT loss IS NULL FROM loss WHERE iteration = 0");
    assert_sql(path, 1, "SELECT loss > 1e300 FROM loss WHERE iteration = 1");
    assert_sql(path, 1,
               "SELECT batch IS NULL AND samples_per_s IS NULL AND smCount IS "
               "NULL AND seed = -1 FROM run");
}

/* A training that has ended and can go on is listed as done until it does. */
SAMPLE_CASE(an_end_that_is_not_the_last)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_run_summary summary;
    struct lab_database *db = NULL;
    lab_run_summary_init(&summary);
    summary.iterations = 1;
    push(writer, sample_step(1, 0, 0, LAB_TIME_CPU_CLOCK, 5));
    assert_ok(lab_writer_settle(writer, &summary));
    assert_sql(path, 1,
               "SELECT status = 'done' AND iterations = 1 AND ended IS NOT "
               "NULL FROM run");
    /* Another program adds nothing up of what is not whole. */
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_time_sums_keep(db, 1));
    lab_database_close(db);
    assert_rows(path, 0, "time_sum");
    push(writer, sample_kernel(9, 1000, 70)); /* of no step: a copy */
    assert_ok(lab_writer_flush(writer));
    assert_sql(path, 1, "SELECT status = 'done' FROM run");
    push(writer, sample_step(2, 1, 0, LAB_TIME_CPU_CLOCK, 7));
    assert_ok(lab_writer_flush(writer));
    assert_sql(path, 1,
               "SELECT status = 'running' AND ended IS NULL AND summed IS NULL "
               "FROM run");
    summary.iterations = 2;
    assert_ok(lab_writer_settle(writer, &summary));
    finish(writer);
    assert_sql(path, 1,
               "SELECT status = 'done' AND summed = 1 AND iterations IS NULL "
               "FROM run");
}

SAMPLE_CASE(times_add_up_in_any_order)
{
    struct lab_writer *writer = new_writer(path);
    /* kernel first, step later, another kernel after a flush */
    push(writer, sample_kernel(1, 1000, 70));
    assert_ok(lab_writer_flush(writer));
    assert_rows(path, 1, "op_kernel");
    push(writer, sample_step(1, 0, 0, LAB_TIME_CUPTI, 999999));
    push(writer, sample_step(2, 0, 1, LAB_TIME_CUPTI, LAB_UNKNOWN));
    assert_ok(lab_writer_flush(writer));
    assert_sql(path, 70, "SELECT time_ns FROM step WHERE exec = 1");
    assert_sql(path, INT64_MIN, "SELECT time_ns FROM step WHERE exec = 2");
    push(writer, sample_kernel(1, 5000, 5));
    push(writer, sample_kernel(2, 6000, 11));
    push(writer, sample_kernel(3, 7000, 13)); /* its step never comes */
    /* a step that the CPU clock timed keeps its time */
    push(writer, sample_step(4, 0, 2, LAB_TIME_CPU_CLOCK, 123));
    push(writer, sample_kernel(4, 8000, 17));
    /* a kernel without a time makes the sum unknown, for good */
    push(writer, sample_step(5, 0, 3, LAB_TIME_CUPTI, LAB_UNKNOWN));
    push(writer, sample_kernel(5, 9000, 19));
    push(writer, sample_kernel(5, 0, 0));
    assert_ok(lab_writer_flush(writer));
    push(writer, sample_kernel(5, 9500, 23));
    finish(writer);
    assert_sql(path, 75, "SELECT time_ns FROM step WHERE exec = 1");
    assert_sql(path, 11, "SELECT time_ns FROM step WHERE exec = 2");
    assert_sql(path, 123, "SELECT time_ns FROM step WHERE exec = 4");
    assert_sql(
        path, 1,
        "SELECT time_ns IS NULL AND kernelCount = 3 FROM step WHERE exec = 5");
    assert_sql(path, 1,
               "SELECT kernelCount = 2 AND kernelRowFirst = 1 AND "
               "kernelRowLast = 2 FROM step WHERE exec = 1");
}

static bool count_kernel(void *user, const struct lab_kernel_row *row)
{
    int *n = user;
    n[row->exec == LAB_EXEC_BETWEEN]++;
    return true;
}

/* A step's kernels and, after each, three of an evaluation, one of which takes
 * longer than any of a step. */
static void push_with_evaluation(struct lab_writer *writer)
{
    struct lab_record r = {.kind = LAB_RECORD_MEMCPY};
    for (int64_t exec = 1; exec <= 100; exec++) {
        push(writer, sample_step(exec, 0, (int32_t)exec - 1, LAB_TIME_CUPTI,
                                 LAB_UNKNOWN));
        push(writer, sample_kernel(exec, 1000 * exec, 10 + exec));
        for (int i = 0; i < 3; i++)
            push(writer, sample_kernel(LAB_EXEC_BETWEEN, 1000 * exec + 500 + i,
                                       i ? 5 : 9000));
        r.u.memcpy_ = (struct lab_memcpy_record){
            .exec = exec % 2 ? exec : LAB_EXEC_BETWEEN,
            .start_ns = 1000 * exec,
            .end_ns = 1000 * exec + 1,
        };
        push(writer, r);
    }
}

/* Every record of it is stored, none is added to a step, and lists have it when
 * they are asked to. */
SAMPLE_CASE(work_between_steps_is_stored_apart)
{
    struct lab_writer *writer = new_writer(path);
    push_with_evaluation(writer);
    finish(writer);
    assert_rows(path, 400, "CUPTI_ACTIVITY_KIND_KERNEL");
    assert_rows(path, 100, "CUPTI_ACTIVITY_KIND_MEMCPY");
    assert_rows(path, 50, "op_memory");
    assert_rows(path, 300, "op_kernel WHERE stepExec = -1");
    assert_rows(path, 100,
                "step WHERE time_ns = 10 + exec AND kernelCount = 1");
    assert_sql(path, 100, "SELECT sum(count) FROM time_sum WHERE level = 4");
    struct lab_database *db = sample_database(path);
    for (int sort = 0; sort < LAB_KERNEL_SORT_COUNT; sort++) {
        for (int limit = 0; limit <= 7; limit += 7) {
            struct lab_kernel_filter f = {.sort = (enum lab_kernel_sort)sort,
                                          .descending = true,
                                          .limit = limit};
            int n[2] = {0};
            assert_ok(lab_query_kernels(db, 1, &f, count_kernel, n));
            assert_int_equal(n[0], limit ? limit : 100);
            assert_int_equal(n[1], 0);
            f.between = true;
            f.limit = 0;
            n[0] = n[1] = 0;
            assert_ok(lab_query_kernels(db, 1, &f, count_kernel, n));
            assert_int_equal(n[0], 100);
            assert_int_equal(n[1], 300);
        }
    }
}

SAMPLE_CASE(copies_and_sets)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_record r = {.kind = LAB_RECORD_MEMCPY};
    r.u.memcpy_ = (struct lab_memcpy_record){.exec = 1,
                                             .start_ns = 5,
                                             .end_ns = 9,
                                             .bytes = 64,
                                             .copy_kind = 1,
                                             .src_kind = 1,
                                             .dst_kind = 3};
    push(writer, r);
    r.kind = LAB_RECORD_MEMSET;
    r.u.memcpy_.value = 255;
    push(writer, r);
    finish(writer);
    assert_sql(path, 1,
               "SELECT bytes = 64 AND k.label = 'Host-to-Device' AND s.label = "
               "'Pageable' AND d.label = 'Device' FROM "
               "CUPTI_ACTIVITY_KIND_MEMCPY AS m JOIN ENUM_CUDA_MEMCPY_OPER AS "
               "k ON k.id = copyKind JOIN ENUM_CUDA_MEM_KIND AS s ON s.id = "
               "srcKind JOIN ENUM_CUDA_MEM_KIND AS d ON d.id = dstKind");
    assert_sql(
        path, 1,
        "SELECT value = 255 AND bytes = 64 FROM CUPTI_ACTIVITY_KIND_MEMSET");
    assert_sql(path, 1,
               "SELECT count(*) = 2 AND sum(memcpyRow) = 1 AND sum(memsetRow) "
               "= 1 FROM op_memory WHERE stepExec = 1");
}

SAMPLE_CASE(calls_and_waits)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_record r = {.kind = LAB_RECORD_API};
    r.u.api =
        (struct lab_api_record){.start_ns = 1,
                                .end_ns = 3,
                                .name = lab_intern("cudaLaunchKernel"),
                                .correlation_id = 4000000000u,
                                .global_tid = (INT64_C(4242) << 24) | 4243};
    push(writer, r);
    r.kind = LAB_RECORD_SYNC;
    r.u.api.sync_type = 3;
    push(writer, r);
    finish(writer);
    assert_sql(
        path, 1,
        "SELECT correlationId = 4000000000 AND s.value = 'cudaLaunchKernel' "
        "AND globalTid / 0x1000000 % 0x1000000 = 4242 FROM "
        "CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds AS s ON s.id = nameId");
    assert_sql(
        path, 1,
        "SELECT label = 'Stream sync' FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION "
        "JOIN ENUM_CUPTI_SYNC_TYPE ON id = syncType");
}

SAMPLE_CASE(ranges_overheads_and_metrics)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_record r = {.kind = LAB_RECORD_RANGE};
    r.u.range = (struct lab_range_record){.start_ns = 1,
                                          .end_ns = 8,
                                          .text = lab_intern("forward"),
                                          .level = 2,
                                          .number = LAB_UNKNOWN};
    push(writer, r);
    push(writer, r);
    r = (struct lab_record){.kind = LAB_RECORD_OVERHEAD};
    r.u.overhead = (struct lab_overhead_record){
        .start_ns = 1, .end_ns = 2, .name = lab_intern("buffer flush")};
    push(writer, r);
    r = (struct lab_record){.kind = LAB_RECORD_METRIC};
    r.u.metric =
        (struct lab_metric_record){.exec = 1,
                                   .kernel_ordinal = LAB_UNKNOWN,
                                   .metric = lab_intern("dram__bytes_read.sum"),
                                   .passes = 2,
                                   .value = 0.5};
    push(writer, r);
    finish(writer);
    assert_rows(path, 2, "NVTX_EVENTS WHERE eventType = 59 AND domainId = 1");
    assert_sql(path, 1,
               "SELECT s.value = 'lapenna-lab' FROM NVTX_EVENTS JOIN StringIds "
               "AS s ON s.id = textId WHERE eventType = 75");
    assert_rows(path, 1, "PROFILER_OVERHEAD");
    assert_sql(path, 1,
               "SELECT value = 0.5 AND passes = 2 AND kernelOrdinal IS NULL "
               "FROM metric_value");
}

/* An evaluation. */
static struct lab_record held(int64_t iteration, double loss, double accuracy)
{
    struct lab_record r = sample_loss(iteration, (double)NAN, accuracy);
    r.u.loss.held_loss = loss;
    r.u.loss.rate = (double)NAN;
    return r;
}

SAMPLE_CASE(later_records_add_to_earlier_ones)
{
    struct lab_writer *writer = new_writer(path);
    push(writer, sample_loss(3, 0.25, (double)NAN));
    push(writer, held(3, 0.75, 0.97));
    push(writer, held(4, 0.5, 0.98));
    push(writer, sample_loss(4, 0.125, (double)NAN));
    push(writer, sample_loss(5, 0.25, (double)NAN));
    push(writer, held(5, 0.5, (double)NAN)); /* without classes */
    push(writer, sample_loss(6, 0.25, (double)NAN));
    push(writer, sample_loss(6, (double)NAN, (double)NAN)); /* once more */
    push(writer, sample_step(1, 0, 0, LAB_TIME_CUDA_EVENTS, LAB_UNKNOWN));
    push(writer, sample_step(1, 0, 0, LAB_TIME_CUDA_EVENTS, 44));
    finish(writer);
    assert_sql(
        path, 1,
        "SELECT loss = 0.25 AND accuracy = 0.97 FROM loss WHERE iteration = 3");
    assert_sql(path, 1,
               "SELECT loss = 0.125 AND accuracy = 0.98 FROM loss WHERE "
               "iteration = 4");
    assert_sql(path, 1,
               "SELECT loss = 0.25 AND heldLoss = 0.5 AND accuracy IS NULL "
               "FROM loss WHERE iteration = 5");
    assert_sql(path, 1, "SELECT loss IS NULL FROM loss WHERE iteration = 6");
    assert_sql(path, 44, "SELECT time_ns FROM step");
}

static struct lab_record run_of(int64_t iteration, double loss, double rate)
{
    struct lab_record r = sample_loss(iteration, loss, (double)NAN);
    r.u.loss.held_loss = (double)NAN;
    r.u.loss.rate = rate;
    return r;
}

/* An iteration that is run again as it was keeps its evaluation; with another rate, or
 * another loss, it has none yet. */
SAMPLE_CASE(an_iteration_run_anew_is_not_the_old_one)
{
    struct lab_writer *writer = new_writer(path);
    for (int64_t i = 0; i < 4; i++) {
        push(writer, run_of(i, 0.25, 0.1));
        push(writer, held(i, 0.5, 0.75));
    }
    push(writer, run_of(3, 0.25, 0.1));
    assert_ok(lab_writer_flush(writer));
    assert_rows(path, 4, "loss WHERE heldLoss = 0.5");
    push(writer, run_of(3, 0.25, 50));
    assert_ok(lab_writer_flush(writer));
    assert_rows(path, 3, "loss WHERE heldLoss = 0.5");
    assert_rows(path, 1, "loss WHERE iteration = 3 AND learningRate = 50");
    push(writer, run_of(1, 0.25, 0.1));
    assert_ok(lab_writer_flush(writer));
    assert_rows(path, 2, "loss WHERE heldLoss = 0.5");
    assert_rows(path, 2, "loss");
    push(writer, run_of(1, 0.375, 0.1));
    finish(writer);
    assert_rows(path, 1, "loss WHERE heldLoss = 0.5");
}

SAMPLE_CASE(flush_makes_rows_visible)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_writer_state now;
    for (int64_t i = 1; i <= 37; i++) {
        push(writer, sample_step(i, i, 0, LAB_TIME_CPU_CLOCK, i));
        assert_ok(lab_writer_flush(writer));
        assert_rows(path, i, "step");
    }
    lab_writer_get_state(writer, &now);
    assert_int_equal(now.stored, 37);
    assert_int_equal(now.lost, 0);
    assert_false(now.failed);
    finish(writer);
}

/* As a training does, which prints what is stored. */
SAMPLE_CASE(marks_without_waiting)
{
    struct lab_writer *writer = new_writer(path);
    const struct timespec pause = {0, 1000000};
    int64_t before = lab_writer_mark(writer);
    push(writer, sample_step(1, 0, 0, LAB_TIME_CPU_CLOCK, 1));
    int64_t mark = lab_writer_mark(writer);
    assert_true(mark > before);
    assert_false(lab_writer_stored(writer, mark + 1));
    for (int i = 0; i < 10000 && !lab_writer_stored(writer, mark); i++)
        nanosleep(&pause, NULL);
    assert_true(lab_writer_stored(writer, mark));
    assert_true(lab_writer_stored(writer, before));
    assert_rows(path, 1, "step");
    finish_run(writer);
    assert_int_equal(lab_writer_mark(writer), LAB_UNKNOWN);
    assert_true(lab_writer_stored(writer, LAB_UNKNOWN));
    lab_writer_free(writer);
}

SAMPLE_CASE(idle_writer_commits)
{
    struct lab_writer *writer = new_writer(path);
    const struct timespec pause = {0, 20000000};
    int64_t rows = 0;
    push(writer, sample_step(1, 0, 0, LAB_TIME_CPU_CLOCK, 1));
    for (int i = 0; i < 250 && rows == 0; i++) {
        nanosleep(&pause, NULL);
        rows = sample_count(path, "step");
    }
    assert_int_equal(rows, 1);
    finish(writer);
}

static void *flush_often(void *arg)
{
    struct lab_writer *writer = arg;
    int64_t failures = 0;
    for (int i = 0; i < 200; i++)
        failures += lab_writer_flush(writer) != LAB_OK;
    return (void *)(intptr_t)failures;
}

TEST_CASE_WITH(threads_may_flush_together, NULL, sample_cleanup)
{
    struct lab_writer *writer = new_writer(sample_path("runs.db"));
    pthread_t thread[4];
    void *failures;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, flush_often, writer);
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &failures);
        assert_null(failures);
    }
    finish(writer);
}

SAMPLE_CASE(each_end_has_its_status)
{
    struct lab_writer *writer = new_writer(path);
    struct lab_run_summary summary;
    struct lab_sink sink = lab_writer_sink(writer);
    struct lab_record r = sample_loss(0, 1, 1);
    lab_writer_free(writer); /* without an end */
    writer = new_writer(path);
    lab_run_summary_init(&summary);
    summary.status = LAB_RUN_CANCELLED;
    summary.accuracy = 0.5;
    summary.counters = "refused";
    summary.counters_reason = "no right to read them";
    sink = lab_writer_sink(writer);
    assert_ok(lab_writer_finish(writer, &summary));
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_E_STATE);
    assert_false(sink.push(sink.user, &r));
    assert_int_equal(lab_writer_flush(writer), LAB_E_STATE);
    lab_writer_free(writer);
    assert_sql(path, 1, "SELECT status = 'interrupted' FROM run WHERE id = 1");
    assert_sql(path, 1,
               "SELECT status = 'cancelled' AND accuracy = 0.5 AND counters = "
               "'refused' FROM run WHERE id = 2");
}

SAMPLE_CASE(gpu_has_a_row)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    lab_run_info_init(&info);
    info.device.gpu = true;
    info.device.name = "NVIDIA H200";
    info.device.device_id = 0;
    info.device.compute_major = 9;
    info.device.compute_minor = 0;
    info.device.sm_count = 132;
    info.time_source = LAB_TIME_CUPTI;
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    finish(writer);
    assert_sql(path, 1,
               "SELECT smCount = 132 AND computeMajor = 9 AND totalMemory IS "
               "NULL AND runId = 1 FROM TARGET_INFO_GPU");
    assert_sql(path, 1,
               "SELECT computeCapability = '9.0' AND timeSource = 'cupti' AND "
               "hostname IS NOT NULL FROM run");
}

RUN_TESTS()
