/* What an iteration's wall time consists of, of runs whose timelines are known
 * to the microsecond (timeline_samples.c). */
#include "test.h"

#include "base/mem.h"
#include "store/time_breakdown.h"
#include "store_samples.h"
#include "timeline/cover.h"
#include "timeline_samples.h"

#define US INT64_C(1000)
/* A kernel without times would leave all of the GPU's parts unknown. */
#define NO_LOST                                                                \
    "DELETE FROM op_kernel WHERE kernelRow IN (SELECT kernelRow FROM "         \
    "CUPTI_ACTIVITY_KIND_KERNEL WHERE start IS NULL OR start = 0);"            \
    "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start IS NULL OR start = 0;"
#define NO_GRAPH "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = NULL;"

static struct lab_time_breakdown load(const char *path, int64_t run)
{
    const struct lab_database_options o = {.read_only = true};
    struct lab_database *db;
    struct lab_time_breakdown w;
    assert_ok(lab_database_open(&db, path, &o));
    assert_ok(lab_time_breakdown_load(&w, db, run));
    lab_database_close(db);
    return w;
}

/* The sample with the GPU, as `sql` leaves it. */
static struct lab_time_breakdown load_changed(const char *sql)
{
    const char *path = sample_path("runs.db");
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    sample_sql(path, sql);
    return load(path, run);
}

static int64_t sum(const struct lab_time_breakdown *w)
{
    int64_t all = 0;
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        assert_int_equal(w->part_ns[i] == LAB_UNKNOWN, w->why[i] != NULL);
        if (w->part_ns[i] != LAB_UNKNOWN)
            all += w->part_ns[i];
    }
    return all;
}

static void why(const struct lab_time_breakdown *w, enum lab_time_part part,
                const char *text)
{
    assert_int_equal(w->part_ns[part], LAB_UNKNOWN);
    if (!w->why[part] || !strstr(w->why[part], text))
        fail_msg("\"%s\" is not in \"%s\"", text,
                 w->why[part] ? w->why[part] : "(null)");
}

/* Two streams at once, a kernel of the iteration before, a memset while the
 * host is in a step: each moment counts once. */
TEST_CASE_WITH(the_parts_are_the_wall_time, NULL, sample_cleanup)
{
    struct lab_time_breakdown w = load_changed(NO_LOST NO_GRAPH);
    assert_int_equal(w.iteration, 1);
    assert_int_equal(w.recorded, 1);
    assert_int_equal(w.wall_ns, 400 * US);
    assert_int_equal(w.part_ns[LAB_WALL_KERNELS], 115 * US);
    assert_int_equal(w.part_ns[LAB_WALL_COPIES], 12 * US);
    assert_int_equal(w.part_ns[LAB_WALL_LAUNCH], 36 * US);
    assert_int_equal(w.part_ns[LAB_WALL_STEPS], 90 * US);
    assert_int_equal(w.part_ns[LAB_WALL_BETWEEN], 147 * US);
    why(&w, LAB_WALL_OUTSIDE, "measured no wall time");
    assert_int_equal(sum(&w), w.wall_ns);
}

/* What waited for a launch falls to the host's parts. */
TEST_CASE_WITH(without_calls_no_latency, NULL, sample_cleanup)
{
    struct lab_time_breakdown w = load_changed(
        NO_LOST NO_GRAPH "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    why(&w, LAB_WALL_LAUNCH, "--trace on");
    assert_int_equal(w.part_ns[LAB_WALL_KERNELS], 115 * US);
    assert_int_equal(w.part_ns[LAB_WALL_STEPS], 112 * US);
    assert_int_equal(w.part_ns[LAB_WALL_BETWEEN], 161 * US);
    assert_int_equal(sum(&w), 400 * US);
}

TEST_CASE_WITH(a_graph_has_no_time_between_steps, NULL, sample_cleanup)
{
    struct lab_time_breakdown w = load_changed(NO_LOST);
    why(&w, LAB_WALL_BETWEEN, "CUDA graph");
    assert_int_equal(w.part_ns[LAB_WALL_STEPS], (90 + 147) * US);
    assert_int_equal(sum(&w), 400 * US);
}

TEST_CASE_WITH(kernels_without_times_are_counted, NULL, sample_cleanup)
{
    struct lab_time_breakdown w = load_changed(NO_GRAPH);
    assert_int_equal(w.wall_ns, 400 * US);
    why(&w, LAB_WALL_KERNELS, "kernels without times");
    why(&w, LAB_WALL_BETWEEN, "kernels without times");
}

#define ONE                                                                    \
    NO_LOST NO_GRAPH "DELETE FROM step WHERE iteration <> 1;"                  \
                     "UPDATE run SET iterations = 1, iterationMedian_ns = "

TEST_CASE_WITH(the_only_iteration_has_the_runs_wall_time, NULL, sample_cleanup)
{
    struct lab_time_breakdown w = load_changed(ONE "1000000");
    assert_int_equal(w.wall_ns, 1000 * US);
    assert_int_equal(w.part_ns[LAB_WALL_OUTSIDE], 600 * US);
    assert_int_equal(sum(&w), 1000 * US);
}

TEST_CASE_WITH(another_wall_time_is_not_its, NULL, sample_cleanup)
{
    struct lab_time_breakdown w = load_changed(ONE "399999");
    why(&w, LAB_WALL_OUTSIDE, "less than this iteration's");
    assert_int_equal(sum(&w), 400 * US);
    sample_dir_remove();
    w = load_changed(ONE "1000000, iterations = 40");
    why(&w, LAB_WALL_OUTSIDE, "the median of all");
    assert_int_equal(sum(&w), 400 * US);
    sample_dir_remove();
    /* a second pass through the one iteration */
    w = load_changed(NO_LOST NO_GRAPH "UPDATE run SET iterations = 1, "
                                      "iterationMedian_ns = 1000000");
    why(&w, LAB_WALL_OUTSIDE, "the median of all");
}

SAMPLE_CASE(a_cpu_has_steps_alone)
{
    int64_t run;
    assert_ok(sample_timeline_cpu(path, &run));
    struct lab_time_breakdown w = load(path, run);
    why(&w, LAB_WALL_KERNELS, "on the CPU");
    why(&w, LAB_WALL_COPIES, "on the CPU");
    why(&w, LAB_WALL_LAUNCH, "on the CPU");
    assert_int_equal(w.part_ns[LAB_WALL_STEPS], 33 * US);
    assert_int_equal(w.part_ns[LAB_WALL_BETWEEN], 19 * US);
    assert_int_equal(w.wall_ns, 52 * US);
    assert_int_equal(sum(&w), w.wall_ns);
}

SAMPLE_CASE(an_untraced_run_is_marked)
{
    int64_t run;
    assert_ok(sample_timeline_cpu(path, &run));
    sample_sql(path, "UPDATE run SET backend = 'cuda', traceState = 'off'");
    struct lab_time_breakdown w = load(path, run);
    why(&w, LAB_WALL_KERNELS, "without the trace");
    assert_int_equal(sum(&w), 52 * US);
    sample_sql(path, "UPDATE run SET traceState = 'on'");
    w = load(path, run);
    why(&w, LAB_WALL_KERNELS, "no kernel was recorded");
}

SAMPLE_CASE(what_is_no_iteration_is_unknown)
{
    int64_t run;
    struct lab_time_breakdown w = load_changed("UPDATE run SET kind = 'lab'");
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        why(&w, (enum lab_time_part)i, "a lab's repeats");
    assert_int_equal(w.wall_ns, LAB_UNKNOWN);
    assert_int_equal(w.iteration, LAB_UNKNOWN);
    sample_dir_remove();
    path = sample_path("runs.db");
    assert_ok(sample_timeline_empty(path, &run));
    w = load(path, run);
    why(&w, LAB_WALL_STEPS, "no iteration was recorded");
    sample_dir_remove();
    path = sample_path("runs.db");
    assert_ok(sample_timeline_foreign(path, &run));
    w = load(path, run);
    why(&w, LAB_WALL_STEPS, "no iteration was recorded");
}

/* Of five whole ones with kernels, and one that has none. */
SAMPLE_CASE(it_is_the_one_in_the_middle)
{
    int64_t run;
    assert_ok(sample_timeline_many(path, 6, 3, &run));
    sample_sql(path,
               "UPDATE step SET end_ns = start_ns + 1000 * "
               "(CASE iteration WHEN 0 THEN 90 WHEN 1 THEN 50 WHEN 2 THEN 60 "
               "WHEN 3 THEN 80 WHEN 4 THEN 70 ELSE 10 END);"
               "UPDATE step SET kernelCount = NULL WHERE iteration = 5");
    struct lab_time_breakdown w = load(path, run);
    assert_int_equal(w.iteration, 4);
    assert_int_equal(w.recorded, 5);
    assert_int_equal(w.wall_ns, 70 * US);
    assert_int_equal(sum(&w), w.wall_ns);
}

SAMPLE_CASE(no_memory_is_an_error)
{
    const struct lab_database_options o = {.read_only = true};
    struct lab_database *db;
    struct lab_time_breakdown w;
    enum lab_status st = LAB_E_NOMEM;
    int64_t run;
    assert_ok(sample_timeline_run(path, &run));
    assert_ok(lab_database_open(&db, path, &o));
    int failures = 0;
    for (long nth = 1; st && nth < 1000; nth++) {
        lab_mem_fail_from(nth);
        st = lab_time_breakdown_load(&w, db, run);
        lab_mem_fail_from(0);
        failures += st != LAB_OK;
        if (st)
            assert_int_equal(st, LAB_E_NOMEM);
    }
    assert_ok(st);
    assert_true(failures > 3);
    lab_database_close(db);
}

/* Against a table with a place for every moment. */
TEST_CASE(covers_as_counting_does)
{
    enum { TIME = 200, MOST = 12, TRIES = 2000 };
    uint64_t seed = 7;
    for (int try = 0; try < TRIES; try++) {
        struct lab_interval list[MOST];
        int64_t wanted[LAB_COVER_COUNT] = {0};
        int64_t got[LAB_COVER_COUNT];
        enum lab_cover at[TIME];
        size_t n = sample_random(&seed) % (MOST + 1);
        int64_t from = (int64_t)(sample_random(&seed) % (TIME / 2));
        int64_t to = from + (int64_t)(sample_random(&seed) % (TIME / 2));
        for (int i = 0; i < TIME; i++)
            at[i] = LAB_COVER_REST;
        for (size_t i = 0; i < n; i++) {
            int64_t a = (int64_t)(sample_random(&seed) % TIME);
            int64_t b = a + (int64_t)(sample_random(&seed) % 60);
            enum lab_cover of =
                (enum lab_cover)(sample_random(&seed) % LAB_COVER_REST);
            list[i] = (struct lab_interval){a, b, of};
            for (int64_t k = a; k < b && k < TIME; k++)
                at[k] = of < at[k] ? of : at[k];
        }
        for (int64_t k = from; k < to; k++)
            wanted[at[k]]++;
        lab_cover_sum(list, n, from, to, got);
        assert_memory_equal(got, wanted, sizeof(got));
    }
}

RUN_TESTS()
