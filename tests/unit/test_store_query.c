/* Queries of the profile commands: lists of runs, sums and shares of steps and
 * kernels in every order, pages, losses and deleting. */
#include "test.h"

#include "store/row_fields.h"
#include "store/delete.h"
#include "store/query.h"
#include "store_samples.h"
#include "trace/intern.h"

enum { MOST = 64 };

struct seen {
    int n;
    int stop_after; /* 0: never */
    int64_t id[MOST];
    int64_t a[MOST];
    int64_t b[MOST];
    double real[MOST];
    char text[MOST][64];
};

static bool more(const struct seen *s)
{
    return s->n < MOST && (!s->stop_after || s->n < s->stop_after);
}

static bool see_run(void *user, const struct lab_run_row *r)
{
    struct seen *s = user;
    s->id[s->n] = r->id;
    s->a[s->n] = r->iterations;
    s->real[s->n] = r->loss_last;
    snprintf(s->text[s->n++], 64, "%s/%s/%s", r->lesson, r->status, r->device);
    return more(s);
}

/* A value of a step, by its name in exports. */
static double step_value(const struct lab_time_sum *r, const char *key)
{
    for (int i = 0; i < lab_step_fields.count; i++)
        if (lab_step_fields.list[i].key &&
            strcmp(lab_step_fields.list[i].key, key) == 0)
            return lab_field_real(&lab_step_fields.list[i], r);
    return NAN;
}

static bool see_step(void *user, const struct lab_time_sum *r)
{
    struct seen *s = user;
    s->id[s->n] = r->step_index;
    s->a[s->n] = isnan(r->median_ns) ? LAB_UNKNOWN : (int64_t)r->median_ns;
    s->b[s->n] = r->count;
    s->real[s->n] = step_value(r, "gflop_per_s");
    snprintf(s->text[s->n++], 64, "%s %s %s %s", r->name, r->phase, r->variant,
             r->time_source);
    return more(s);
}

static bool see_kernel(void *user, const struct lab_kernel_row *r)
{
    struct seen *s = user;
    s->id[s->n] = r->step_index;
    s->a[s->n] = r->time_ns;
    s->b[s->n] = r->iteration;
    s->real[s->n] = r->occupancy_pct;
    snprintf(s->text[s->n++], 64, "%s|%s", r->step ? r->step : "-", r->name);
    return more(s);
}

static bool see_loss(void *user, const struct lab_loss_row *r)
{
    struct seen *s = user;
    s->id[s->n] = r->iteration;
    s->real[s->n++] = r->loss;
    return more(s);
}

SAMPLE_CASE(runs_come_newest_first)
{
    struct seen s = {0};
    int64_t last = 0;
    for (int i = 1; i <= 3; i++)
        assert_ok(sample_run(path, i, 2, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_runs(db, see_run, &s));
    assert_int_equal(s.n, 3);
    assert_int_equal(s.id[0], 3);
    assert_int_equal(s.a[0], 3);
    assert_int_equal(s.id[2], 1);
    assert_string_equal(s.text[1], "mlp-digits/done/NVIDIA H200");
    assert_true(isnan(s.real[0]));
    assert_ok(lab_query_last_run(db, &last));
    assert_int_equal(last, 3);
    s.n = 0;
    assert_ok(lab_query_run(db, 2, see_run, &s));
    assert_int_equal(s.n, 1);
    assert_int_equal(s.id[0], 2);
    s = (struct seen){.stop_after = 1};
    assert_ok(lab_query_runs(db, see_run, &s));
    assert_int_equal(s.n, 1);
}

/* A run that is imported later gets a later number, and is no newer for that.
 * One with an unknown start is as old as its import. */
SAMPLE_CASE(runs_come_by_their_start)
{
    struct seen s = {0};
    int64_t last = 0;
    for (int i = 1; i <= 5; i++)
        assert_ok(sample_run(path, i, 2, NULL));
    sample_sql(path,
               "UPDATE run SET started_ns = 1700000000000000000 + 1000 * id;"
               "UPDATE run SET started_ns = 1500000000000000000 WHERE id = 4;"
               "UPDATE run SET started_ns = NULL, imported = "
               "'2020-01-01T00:00:00.000Z' WHERE id = 3;"
               "UPDATE run SET started_ns = NULL WHERE id = 5");
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_runs(db, see_run, &s));
    static const int64_t order[] = {2, 1, 3, 4, 5};
    for (int i = 0; i < 5; i++)
        assert_int_equal(s.id[i], order[i]);
    assert_ok(lab_query_last_run(db, &last));
    assert_int_equal(last, 2);
}

SAMPLE_CASE(missing_runs_are_not_found)
{
    const struct lab_kernel_filter all = {.limit = 0};
    struct lab_database *db;
    struct lab_deleted deleted;
    struct seen s = {0};
    int64_t last;
    assert_ok(lab_database_open(&db, path, NULL));
    assert_int_equal(lab_query_last_run(db, &last), LAB_E_NOTFOUND);
    assert_ok(lab_query_runs(db, see_run, &s));
    assert_int_equal(lab_query_run(db, 5, see_run, &s), LAB_E_NOTFOUND);
    assert_int_equal(
        lab_query_steps(db, 5, LAB_STEP_BY_INDEX, false, see_step, &s),
        LAB_E_NOTFOUND);
    assert_int_equal(lab_query_kernels(db, 5, &all, see_kernel, &s),
                     LAB_E_NOTFOUND);
    assert_int_equal(lab_query_losses(db, 5, see_loss, &s), LAB_E_NOTFOUND);
    assert_int_equal(lab_run_delete(db, 5, &deleted), LAB_E_NOTFOUND);
    assert_true(error_is("[run.missing] there is no run 5"));
    assert_int_equal(s.n, 0);
    lab_database_close(db);
}

/* Times 5, 1, 9, 2 of step 0; of step 1 one of two executions has a time. */
static void record_times(const char *path)
{
    static const int64_t times[] = {5000, 1000, 9000, 2000};
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < 4; i++) {
        struct lab_record r =
            sample_step(2 * i + 1, i, 0, LAB_TIME_CPU_CLOCK, times[i]);
        sink.push(sink.user, &r);
        r = sample_step(2 * i + 2, i, 1, LAB_TIME_CPU_CLOCK,
                        i == 2 ? 40000 : LAB_UNKNOWN);
        if (i < 2) /* the variant is switched on the way */
            r.u.step.variant = lab_intern("blas");
        sink.push(sink.user, &r);
    }
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
}

SAMPLE_CASE(steps_are_added_up)
{
    struct seen s = {0};
    record_times(path);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false, see_step, &s));
    assert_int_equal(s.n, 3); /* step 1 with two variants */
    assert_string_equal(s.text[0], "fc0.matmul forward naive cpu_clock");
    assert_int_equal(s.a[0], 3500); /* between 2000 and 5000 */
    assert_int_equal(s.b[0], 4);
    assert_float_equal((float)s.real[0], 2000.0 / 3500.0, 1e-6);
    for (int i = 1; i < 3; i++) {
        bool blas = strstr(s.text[i], "blas") != NULL;
        assert_int_equal(s.b[i], 2);
        assert_int_equal(s.a[i], blas ? LAB_UNKNOWN : 40000);
        assert_int_equal(isnan(s.real[i]) != 0, blas);
    }
    /* unknown times come last in both directions */
    for (int descending = 0; descending < 2; descending++) {
        s.n = 0;
        assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_MEDIAN, descending,
                                  see_step, &s));
        assert_int_equal(s.a[0], descending ? 40000 : 3500);
        assert_int_equal(s.a[1], descending ? 3500 : 40000);
        assert_int_equal(s.a[2], LAB_UNKNOWN);
    }
    s.n = 0;
    assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_NAME, true, see_step, &s));
    assert_int_equal(s.id[0], 1);
    assert_int_equal(s.id[2], 0);
}

/* Of the median, as often as it ran; what has no time has no share. */
TEST_CASE(shares_add_up)
{
    struct lab_time_sum rows[] = {{.median_ns = 10, .count = 10},
                                  {.median_ns = NAN, .count = 4},
                                  {.median_ns = 300, .count = 1}};
    assert_ok(lab_time_sums_share(rows, 3));
    assert_float_equal((float)rows[0].share, 0.25, 1e-6);
    assert_float_equal((float)rows[0].cumulative, 1.0, 1e-6);
    assert_true(isnan(rows[1].share) && isnan(rows[1].cumulative));
    assert_float_equal((float)rows[2].share, 0.75, 1e-6);
    assert_float_equal((float)rows[2].cumulative, 0.75, 1e-6);
    rows[0].count = rows[2].count = 0;
    assert_ok(lab_time_sums_share(rows, 3));
    assert_true(isnan(rows[0].share)); /* of nothing */
    assert_ok(lab_time_sums_share(NULL, 0));
}

SAMPLE_CASE(every_sort_works)
{
    assert_ok(sample_run(path, 2, 5, NULL));
    struct lab_database *db = sample_database(path);
    for (int sort = 0; sort < LAB_STEP_SORT_COUNT; sort++) {
        struct seen s = {0};
        assert_non_null(lab_step_sort_name((enum lab_step_sort)sort));
        assert_ok(lab_query_steps(db, 1, (enum lab_step_sort)sort, sort % 2,
                                  see_step, &s));
        assert_int_equal(s.n, 5);
    }
    for (int sort = 0; sort < LAB_KERNEL_SORT_COUNT; sort++) {
        struct seen s = {0};
        const struct lab_kernel_filter filter = {
            .sort = (enum lab_kernel_sort)sort, .descending = sort % 2};
        assert_non_null(lab_kernel_sort_name((enum lab_kernel_sort)sort));
        assert_ok(lab_query_kernels(db, 1, &filter, see_kernel, &s));
        assert_int_equal(s.n, 20);
    }
    assert_int_equal(
        lab_query_steps(db, 1, LAB_STEP_SORT_COUNT, false, see_step, NULL),
        LAB_E_ARG);
    assert_null(lab_kernel_sort_name(LAB_KERNEL_SORT_COUNT));
}

struct listed {
    int n;
    int64_t row[256];
};

static bool list_kernel(void *user, const struct lab_kernel_row *r)
{
    struct listed *l = user;
    l->row[l->n++] = r->row;
    return l->n < 256;
}

/* A page of a sort is the beginning of the whole sort, by whatever way it was
 * found: of a run that ended or not, alone in its rows or not. */
SAMPLE_CASE(pages_are_parts_of_the_whole)
{
    static const char *const changes[] = {
        "SELECT 1",
        "UPDATE op_kernel SET stepExec = NULL WHERE kernelRow % 7 = 0",
        ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = NULL, gridX = "
         "kernelRow % 5, registersPerThread = NULL WHERE kernelRow % 3 = 0"),
        "UPDATE run SET kernelRowFirst = NULL WHERE id = 2",
        "UPDATE run SET status = 'interrupted'"};
    assert_ok(sample_run(path, 4, 5, NULL));
    assert_ok(sample_run(path, 2, 5, NULL));
    for (size_t change = 0; change < 5; change++) {
        sample_sql(path, changes[change]);
        struct lab_database *db = sample_open(path);
        for (int i = 0; i < LAB_KERNEL_SORT_COUNT * 2; i++) {
            struct listed whole = {0};
            struct listed page = {0};
            struct lab_kernel_filter f = {.sort = (enum lab_kernel_sort)(i / 2),
                                          .descending = i % 2};
            assert_ok(lab_query_kernels(db, 1, &f, list_kernel, &whole));
            f.limit = 6;
            assert_ok(lab_query_kernels(db, 1, &f, list_kernel, &page));
            assert_int_equal(page.n, 6);
            assert_memory_equal(page.row, whole.row, sizeof(int64_t[6]));
        }
        lab_database_close(db);
    }
}

SAMPLE_CASE(kernels_are_sorted_and_of_their_run)
{
    struct lab_kernel_filter f = {.sort = LAB_KERNEL_BY_TIME,
                                  .descending = true};
    struct seen s = {0};
    assert_ok(sample_run(path, 4, 5, NULL));
    assert_ok(sample_run(path, 1, 1, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_kernels(db, 1, &f, see_kernel, &s));
    assert_int_equal(s.n, 40);
    assert_int_equal(s.a[0], 1004);
    assert_int_equal(s.a[39], 500);
    assert_string_equal(s.text[0], "fc4.matmul|void matmul<float>(float*)");
    assert_float_equal((float)s.real[0], 62.5, 0);
    s.n = 0;
    f.limit = 3;
    assert_ok(lab_query_kernels(db, 1, &f, see_kernel, &s));
    assert_int_equal(s.n, 3);
    s.n = 0;
    f.limit = 0;
    assert_ok(lab_query_kernels(db, 2, &f, see_kernel, &s));
    assert_int_equal(s.n, 2); /* the other run's rows stay out */
}

SAMPLE_CASE(running_run_can_be_read)
{
    const struct lab_kernel_filter all = {.limit = 0};
    struct lab_run_info info;
    struct lab_writer *writer;
    struct lab_deleted deleted;
    struct lab_database *db;
    struct seen s = {0};
    int64_t exec = 1;
    lab_run_info_init(&info);
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    const struct lab_sink sink = lab_writer_sink(writer);
    sample_iteration(&sink, 0, 3, &exec);
    assert_ok(lab_writer_flush(writer));
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_query_kernels(db, 1, &all, see_kernel, &s));
    assert_int_equal(s.n, 6);
    s.n = 0;
    assert_ok(lab_query_run(db, 1, see_run, &s));
    assert_non_null(strstr(s.text[0], "/running/"));
    /* its own process is alive, so it cannot be deleted */
    assert_int_equal(lab_run_delete(db, 1, &deleted), LAB_E_STATE);
    lab_database_close(db);
    lab_writer_free(writer);
}

SAMPLE_CASE(losses_come_in_order)
{
    struct seen s = {0};
    assert_ok(sample_run(path, 5, 1, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_losses(db, 1, see_loss, &s));
    assert_int_equal(s.n, 5);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(s.id[i], i);
        assert_float_equal((float)s.real[i], 1.0 / (1 + i), 1e-7);
    }
    /* Some of them, evenly. */
    static const int taken[] = {1, 1, 2, 3, 3, 5, 5};
    for (int most = 1; most < 7; most++) {
        memset(&s, 0, sizeof(s));
        assert_ok(lab_query_losses_thinned(db, 1, most, see_loss, &s));
        assert_int_equal(s.n, taken[most]);
        for (int i = 0; i < s.n; i++)
            assert_int_equal(s.id[i], i * (4 / most + 1));
    }
    assert_int_equal(lab_query_losses_thinned(db, 5, 9, see_loss, &s),
                     LAB_E_NOTFOUND);
    /* Of those evaluated, the next ones from evenly spaced iterations on. */
    for (int evaluated = 0; evaluated < 2; evaluated++) {
        sample_sql(path, evaluated ? "UPDATE loss SET heldLoss = 2 WHERE "
                                     "iteration = 3"
                                   : "UPDATE loss SET heldLoss = NULL");
        memset(&s, 0, sizeof(s));
        assert_ok(lab_query_evaluations_thinned(db, 1, 2, see_loss, &s));
        assert_int_equal(s.n, evaluated);
        assert_int_equal(s.id[0], 3 * evaluated);
    }
}

SAMPLE_CASE(deleting_leaves_no_trace)
{
    static const char count_rows[] =
        "SELECT (SELECT count(*) FROM step) + (SELECT count(*) FROM op_kernel) "
        "+ (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) + (SELECT "
        "count(*) FROM loss) + (SELECT count(*) FROM run) + (SELECT count(*) "
        "FROM TARGET_INFO_SESSION_START_TIME) + (SELECT count(*) FROM "
        "META_DATA_CAPTURE) + (SELECT count(*) FROM time_sum)";
    struct lab_database *db;
    struct lab_deleted d;
    assert_ok(sample_run(path, 2, 3, NULL));
    int64_t before = sample_int(path, count_rows);
    int64_t names = sample_count(path, "StringIds");
    assert_ok(sample_run(path, 4, 6, NULL));
    assert_true(sample_count(path, "StringIds") > names);
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_run_delete(db, 2, &d));
    assert_int_equal(d.steps, 24);
    assert_int_equal(d.kernels, 48);
    /* the sums: 6 kernels, 6 steps, 4 nodes, 4 phases and the iteration */
    assert_int_equal(d.rows, 24 + 48 + 48 + 4 + 1 + 1 + 1 + 21);
    assert_sql(path, before, count_rows);
    assert_rows(path, names, "StringIds");
    assert_sql(path, 2 * (3 * 1500 + 3), "SELECT sum(time_ns) FROM step");
    lab_database_close(db);
    /* numbers of runs are not used again */
    int64_t run = 0;
    assert_ok(sample_run(path, 1, 1, &run));
    assert_int_equal(run, 3);
}

SAMPLE_CASE(other_peoples_processes_are_left_alone)
{
    struct seen s = {0};
    assert_ok(sample_run(path, 1, 1, NULL));
    assert_ok(sample_run(path, 1, 1, NULL));
    sample_sql(path, "UPDATE run SET status = 'running', pid = 0x7ffffff0");
    sample_sql(path, "UPDATE run SET hostname = 'elsewhere' WHERE id = 1");
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_runs(db, see_run, &s));
    assert_non_null(strstr(s.text[0], "/interrupted/"));
    assert_non_null(strstr(s.text[1], "/running/"));
}

RUN_TESTS()
