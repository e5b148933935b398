/* Two runs compared step by step and kernel by kernel, with verdicts from known
 * times: faster, same, too few, only one side. */
#include "test.h"

#include "base/mem.h"
#include "store/delete.h"
#include "store/compare.h"
#include "store_samples.h"
#include "trace/intern.h"

/* What a run of the tests is made of: steps of every phase, whose times are a
 * base that jitters by up to 8 ns, and for step 1 a factor. */
struct kind {
    const char *lesson;
    const char *variant;
    int64_t iterations;
    int64_t steps;
    double factor;
    bool kernels;
    const char *kernel; /* of step 1 */
};

static const struct kind PLAIN = {"mlp", "naive", 40, 4, 1, false, NULL};

static int64_t time_of(const struct kind *k, int64_t i, int64_t step)
{
    double base = 10000.0 * (double)(step + 1) * (step == 1 ? k->factor : 1);
    return (int64_t)base + (i * 7 + step) % 9;
}

static void push_step(const struct lab_sink *sink, const struct kind *k,
                      int64_t i, int32_t index)
{
    int64_t exec = i * k->steps + index + 1;
    bool cupti = k->kernels && index == 1;
    struct lab_record r =
        sample_step(exec, i, index, cupti ? LAB_TIME_CUPTI : LAB_TIME_CPU_CLOCK,
                    time_of(k, i, index));
    r.u.step.phase = index % 4;
    r.u.step.variant = lab_intern(k->variant);
    sink->push(sink->user, &r);
    if (!cupti)
        return;
    r = sample_kernel(exec, exec * 100000, time_of(k, i, index));
    if (k->kernel)
        r.u.kernel.demangled_name = lab_intern(k->kernel);
    r.u.kernel.launch.grid[0] = 1 + (int32_t)(i % 2); /* launches that differ */
    sink->push(sink->user, &r);
}

static int64_t record(const char *path, const struct kind *k)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.lesson = k->lesson;
    info.row.variants = k->variant;
    info.row.backend = "cpu";
    info.row.batch = 16;
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < k->iterations; i++) {
        for (int32_t s = 0; s < k->steps; s++)
            push_step(&sink, k, i, s);
        struct lab_record loss = sample_loss(i, 1, (double)NAN);
        sink.push(sink.user, &loss);
    }
    int64_t run = lab_writer_run(writer);
    summary.iterations = k->iterations;
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
    return run;
}

static const struct lab_compare_row *
find(const struct lab_comparison *c, enum lab_sum_level level, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct lab_compare_row *r = &c->rows[i];
        const struct lab_time_sum *s =
            r->side[LAB_SIDE_A] ? r->side[LAB_SIDE_A] : r->side[LAB_SIDE_B];
        const char *is = level == LAB_SUM_KERNEL ? s->kernel : s->name;
        if (r->level == level && (!name || (is && strcmp(is, name) == 0)))
            return r;
    }
    fail_msg("no row %s of level %d", name ? name : "(any)", (int)level);
    return NULL;
}

SAMPLE_CASE(half_the_time_is_faster)
{
    struct kind fast = PLAIN;
    struct lab_comparison c;
    fast.factor = 0.5;
    fast.variant = "tiled";
    record(path, &PLAIN);
    record(path, &fast);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    const struct lab_compare_row *r = find(&c, LAB_SUM_STEP, "fc1.matmul");
    assert_int_equal(r->verdict, LAB_VERDICT_FASTER);
    assert_near(r->difference_ns, -10000, 8);
    assert_near(r->share, -0.5, 0.001);
    assert_near(r->speed_up, 2, 0.002);
    assert_true(r->p < 1e-9);
    assert_int_equal(r->side[LAB_SIDE_A]->timed, 40);
    assert_string_equal(r->side[LAB_SIDE_B]->variant, "tiled");
    assert_near(lab_time_sum_flop_per_s(r->side[LAB_SIDE_B]), 4000 / 10.004e-6,
                1e6);
    r = find(&c, LAB_SUM_STEP, "fc2.matmul");
    assert_int_equal(r->verdict, LAB_VERDICT_SAME);
    assert_near(r->p, 1, 0);
    /* 100 us in all, 90 us afterwards */
    r = find(&c, LAB_SUM_ITERATION, NULL);
    assert_int_equal(r->verdict, LAB_VERDICT_FASTER);
    assert_near(r->speed_up, 10.0 / 9, 0.001);
    assert_int_equal(c.tests[LAB_SUM_STEP], 4);
    assert_int_equal(c.tests[LAB_SUM_ITERATION], 1);
    assert_true(lab_comparison_differs(&c, LAB_FACT_VARIANTS));
    assert_false(lab_comparison_differs(&c, LAB_FACT_BATCH));
    assert_false(lab_comparison_differs(&c, LAB_FACT_LESSON));
    lab_comparison_release(&c);
    /* the other way round it is slower */
    assert_ok(lab_comparison_load(&c, db, 2, 1));
    r = find(&c, LAB_SUM_STEP, "fc1.matmul");
    assert_int_equal(r->verdict, LAB_VERDICT_SLOWER);
    assert_near(r->share, 1, 0.002);
    lab_comparison_release(&c);
}

/* Certain, and too small to mean anything: 2 %. */
SAMPLE_CASE(small_and_certain_is_the_same)
{
    struct kind other = PLAIN;
    struct lab_comparison c;
    other.factor = 1.02;
    record(path, &PLAIN);
    record(path, &other);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    const struct lab_compare_row *r = find(&c, LAB_SUM_STEP, "fc1.matmul");
    assert_true(r->p < 1e-6);
    assert_int_equal(r->verdict, LAB_VERDICT_SAME);
    lab_comparison_release(&c);
}

SAMPLE_CASE(few_times_say_so)
{
    struct kind few = PLAIN;
    struct kind fast = PLAIN;
    struct lab_comparison c;
    few.iterations = 3;
    fast.iterations = 3;
    fast.factor = 0.1;
    record(path, &few);
    record(path, &fast);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    assert_int_equal(find(&c, LAB_SUM_STEP, "fc1.matmul")->verdict,
                     LAB_VERDICT_FEW);
    assert_int_equal(find(&c, LAB_SUM_ITERATION, NULL)->verdict,
                     LAB_VERDICT_FEW);
    lab_comparison_release(&c);
}

/* Two times are too few even where the other side has enough for a p. */
SAMPLE_CASE(few_times_of_one_side_say_so)
{
    struct kind few = PLAIN;
    struct lab_comparison c;
    few.iterations = 2;
    few.factor = 0.1;
    record(path, &few);
    record(path, &PLAIN);
    struct lab_database *db = sample_database(path);
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(lab_comparison_load(&c, db, 1 + turn, 2 - turn));
        const struct lab_compare_row *r = find(&c, LAB_SUM_STEP, "fc1.matmul");
        assert_true(lab_rank_best(r->side[LAB_SIDE_A]->timed,
                                  r->side[LAB_SIDE_B]->timed) < LAB_RANK_ALPHA);
        assert_int_equal(r->verdict, LAB_VERDICT_FEW);
        assert_true(isnan(r->p));
        assert_int_equal(c.tests[LAB_SUM_STEP], 0);
        lab_comparison_release(&c);
    }
}

SAMPLE_CASE(what_only_one_has_is_listed)
{
    struct kind longer = PLAIN;
    struct lab_comparison c;
    longer.steps = 6;
    record(path, &PLAIN);
    record(path, &longer);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    assert_int_equal(find(&c, LAB_SUM_STEP, "fc5.matmul")->verdict,
                     LAB_VERDICT_ONLY_B);
    assert_null(find(&c, LAB_SUM_STEP, "fc5.matmul")->side[LAB_SIDE_A]);
    assert_int_equal(c.tests[LAB_SUM_STEP], 4);
    lab_comparison_release(&c);
    assert_ok(lab_comparison_load(&c, db, 2, 1));
    const struct lab_compare_row *r = find(&c, LAB_SUM_STEP, "fc5.matmul");
    assert_int_equal(r->verdict, LAB_VERDICT_ONLY_A);
    assert_true(isnan(r->p) && isnan(r->difference_ns));
    lab_comparison_release(&c);
}

SAMPLE_CASE(kernels_by_name_and_step)
{
    struct kind first = PLAIN;
    struct kind second;
    struct lab_comparison c;
    first.kernels = true;
    second = first;
    second.factor = 2;
    record(path, &first);
    record(path, &second);
    second.kernel = "gemm<other>";
    record(path, &second);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    const struct lab_compare_row *r =
        find(&c, LAB_SUM_KERNEL, "void matmul<float>(float*)");
    assert_int_equal(r->verdict, LAB_VERDICT_SLOWER);
    const struct lab_time_sum *s = r->side[LAB_SIDE_A];
    assert_string_equal(s->name, "fc1.matmul");
    assert_string_equal(s->phase, "loss");
    assert_int_equal(s->count, 40);
    assert_int_equal(s->launch.grid[0], LAB_UNKNOWN); /* launches differ */
    assert_int_equal(s->launch.grid[1], 2);
    assert_int_equal(s->launch.registers_per_thread, 40);
    assert_near(s->occupancy_pct, 62.5, 0);
    lab_comparison_release(&c);
    assert_ok(lab_comparison_load(&c, db, 1, 3));
    assert_int_equal(find(&c, LAB_SUM_KERNEL, "gemm<other>")->verdict,
                     LAB_VERDICT_ONLY_B);
    /* the step has the time of its kernel */
    assert_int_equal(find(&c, LAB_SUM_STEP, "fc1.matmul")->verdict,
                     LAB_VERDICT_SLOWER);
    lab_comparison_release(&c);
}

SAMPLE_CASE(other_lessons_are_refused)
{
    struct kind other = PLAIN;
    struct lab_comparison c;
    other.lesson = "cnn";
    record(path, &PLAIN);
    record(path, &other);
    struct lab_database *db = sample_database(path);
    assert_int_equal(lab_comparison_load(&c, db, 1, 2), LAB_E_RANGE);
    assert_true(error_is("[compare.lessons] lesson mlp"));
    assert_true(error_is("[compare.lessons] of cnn"));
    assert_int_equal(lab_comparison_load(&c, db, 1, 9), LAB_E_NOTFOUND);
}

/* Iterations count when every place of the schedule ran. */
SAMPLE_CASE(broken_off_iterations_do_not_count)
{
    struct lab_time_sums sums;
    record(path, &PLAIN);
    sample_sql(path, "DELETE FROM time_sum; UPDATE run SET summed = NULL;"
                     "DELETE FROM step WHERE iteration = 39 AND stepIndex > 1;"
                     "DELETE FROM step WHERE iteration = 5 AND stepIndex = 1;"
                     "UPDATE step SET time_ns = NULL WHERE iteration = 6 AND "
                     "stepIndex = 2");
    struct lab_database *db = sample_database(path);
    assert_ok(lab_time_sums_load(&sums, db, 1, 1u << LAB_SUM_ITERATION));
    assert_false(sums.stored);
    assert_int_equal(sums.count, 1);
    assert_int_equal(sums.items[0].count, 38);
    assert_int_equal(sums.items[0].timed, 37);
    lab_time_sums_release(&sums);
}

/* What is kept is what would be added up. */
SAMPLE_CASE(kept_sums_are_the_same)
{
    struct kind k = PLAIN;
    struct lab_time_sums kept;
    struct lab_time_sums fresh;
    k.kernels = true;
    record(path, &k);
    struct lab_database *db = sample_database(path);
    assert_ok(lab_time_sums_load(&kept, db, 1, ~0u));
    assert_true(kept.stored);
    sample_sql(path, "UPDATE run SET summed = NULL");
    assert_ok(lab_time_sums_load(&fresh, db, 1, ~0u));
    assert_false(fresh.stored);
    assert_int_equal(kept.count, fresh.count);
    assert_int_equal(kept.count, 1 + 4 + 4 + 4 + 1);
    for (size_t i = 0; i < kept.count; i++) {
        const struct lab_time_sum *a = &kept.items[i];
        const struct lab_time_sum *b = &fresh.items[i];
        assert_int_equal(a->level, b->level);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->total_ns, b->total_ns);
        assert_true(a->median_ns == b->median_ns && a->mad_ns == b->mad_ns);
        assert_int_equal(a->times.n, b->times.n);
        assert_int_equal(a->times.total, b->times.total);
        if (a->name)
            assert_string_equal(a->name, b->name);
    }
    lab_time_sums_release(&kept);
    lab_time_sums_release(&fresh);
    /* damaged ones are not believed */
    sample_sql(path, "UPDATE run SET summed = 1;"
                     "UPDATE time_sum SET times = x'0100FF' WHERE place = 2");
    assert_ok(lab_time_sums_load(&fresh, db, 1, ~0u));
    assert_false(fresh.stored);
    assert_int_equal(fresh.count, 14);
    lab_time_sums_release(&fresh);
}

static bool count_names(void *user, const char *name, int64_t run)
{
    char *all = user;
    size_t n = strlen(all);
    snprintf(all + n, 128 - n, "%s=%d ", name, (int)run);
    return true;
}

SAMPLE_CASE(baselines_are_named_runs)
{
    struct lab_database *db;
    struct lab_deleted deleted;
    int64_t run = 0;
    char all[128] = "";
    record(path, &PLAIN);
    record(path, &PLAIN);
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_baseline_set(db, "v1.0", 1));
    assert_ok(lab_baseline_set(db, "best_of-all", 2));
    assert_ok(lab_baseline_set(db, "v1.0", 2)); /* moved */
    assert_int_equal(lab_baseline_set(db, "x", 9), LAB_E_NOTFOUND);
    assert_int_equal(lab_baseline_set(db, "", 1), LAB_E_ARG);
    assert_int_equal(lab_baseline_set(db, "a b", 1), LAB_E_ARG);
    assert_ok(lab_baseline_find(db, "v1.0", &run));
    assert_int_equal(run, 2);
    assert_ok(lab_baseline_list(db, count_names, all));
    assert_string_equal(all, "best_of-all=2 v1.0=2 ");
    assert_ok(lab_baseline_remove(db, "v1.0"));
    assert_int_equal(lab_baseline_remove(db, "v1.0"), LAB_E_NOTFOUND);
    /* a run takes its names along */
    assert_ok(lab_run_delete(db, 2, &deleted));
    assert_int_equal(lab_baseline_find(db, "best_of-all", &run),
                     LAB_E_NOTFOUND);
    lab_database_close(db);
}

SAMPLE_CASE(memory_may_fail_anywhere)
{
    struct kind k = PLAIN;
    struct lab_comparison c;
    k.kernels = true;
    record(path, &k);
    k.factor = 3;
    record(path, &k);
    sample_sql(path, "UPDATE run SET summed = NULL WHERE id = 2");
    struct lab_database *db = sample_database(path);
    enum lab_status st = LAB_E_NOMEM;
    int64_t n = 0;
    while (st == LAB_E_NOMEM && n < 100000) {
        lab_mem_fail_from(++n);
        st = lab_comparison_load(&c, db, 1, 2);
        lab_mem_fail_from(0);
    }
    assert_ok(st);
    assert_true(n > 50);
    lab_comparison_release(&c);
}

RUN_TESTS()
