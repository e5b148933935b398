/* Steps, kernels and comparisons of labs: each row has the variant that it is of. */
#include "test.h"

#include "base/mem.h"
#include "lab_samples.h"
#include "store/compare.h"
#include "store/contents.h"
#include "store/bench.h"
#include "store_samples.h"

/* As `lab gemm --precision tf32,bf16` climbs. */
static const struct sample_variant both[] = {
    {"mma", "tf32", "64", 30000},   {"wgmma", "tf32", "64", 20000},
    {"mma", "bf16", "64", 15000},   {"wgmma", "bf16", "64", 10000},
    {"mma", "tf32", "128", 300000}, {"mma", "bf16", "128", 150000},
};
enum { BOTH = 6 };
/* One precision, in another order, a variant more: bf16 "mma" is twice as fast. */
static const struct sample_variant bf16[] = {
    {"wgmma", "bf16", "64", 10000},
    {"cublas", "bf16", "64", 9000},
    {"mma", "bf16", "64", 7500},
    {"mma", "bf16", "128", 150000},
};
enum { BF16 = 4 };

/* ---- steps and kernels ---- */

struct seen {
    char text[64][160];
    int n;
};

static void note(struct seen *s, const struct lab_bench_name *bench_name,
                 const char *name)
{
    assert_true(s->n < 64);
    assert_non_null(bench_name);
    snprintf(s->text[s->n++], sizeof(s->text[0]), "%s|%s|%s|%s|%s",
             bench_name->variant, bench_name->precision, bench_name->size,
             bench_name->name, name);
}

static bool see_step(void *user, const struct lab_time_sum *r)
{
    note(user, r->bench_name, r->name);
    return true;
}

static bool see_kernel(void *user, const struct lab_kernel_row *r)
{
    note(user, r->bench_name, r->step);
    return true;
}

SAMPLE_CASE(steps_have_their_variant)
{
    struct seen s = {.n = 0};
    assert_ok(sample_lab(path, both, BOTH, true, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false, see_step, &s));
    assert_int_equal(s.n, 2 * BOTH);
    assert_string_equal(s.text[0], "mma|tf32|64|mma tf32 64|gemm 64");
    assert_string_equal(s.text[3], "wgmma|bf16|64|wgmma bf16 64|gemm 64");
    assert_string_equal(s.text[BOTH + 5], "mma|bf16|128|mma bf16 128, traced|"
                                          "gemm 128, traced");
    /* by the name that is shown */
    s.n = 0;
    assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_NAME, true, see_step, &s));
    assert_int_equal(strncmp(s.text[0], "wgmma|tf32", 10), 0);
    assert_int_equal(strncmp(s.text[11], "mma|bf16|128|mma bf16 128|", 26), 0);
}

/* All of them, and the first of a sort. */
SAMPLE_CASE(kernels_have_their_variant)
{
    static const struct lab_kernel_filter filters[] = {
        {.limit = 0},
        {.sort = LAB_KERNEL_BY_TIME, .limit = 4},
    };
    static const struct {
        int n;
        int at;
    } wanted[] = {{BOTH, 3}, {4, 0}};
    assert_ok(sample_lab(path, both, BOTH, true, NULL));
    struct lab_database *db = sample_database(path);
    for (int i = 0; i < 2; i++) {
        struct seen s = {.n = 0};
        assert_ok(lab_query_kernels(db, 1, &filters[i], see_kernel, &s));
        assert_int_equal(s.n, wanted[i].n);
        assert_string_equal(s.text[wanted[i].at],
                            "wgmma|bf16|64|wgmma bf16 64, traced|gemm 64, "
                            "traced");
    }
}

static bool see_lesson_step(void *user, const struct lab_time_sum *r)
{
    ++*(int *)user;
    assert_null(r->bench_name);
    return true;
}

static bool see_lesson_kernel(void *user, const struct lab_kernel_row *r)
{
    ++*(int *)user;
    assert_null(r->bench_name);
    return true;
}

SAMPLE_CASE(lessons_have_no_variants)
{
    const struct lab_kernel_filter all = {.limit = 0};
    int n = 0;
    assert_ok(sample_run(path, 2, 2, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(
        lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false, see_lesson_step, &n));
    assert_ok(lab_query_kernels(db, 1, &all, see_lesson_kernel, &n));
    assert_int_equal(n, 2 + 8);
}

/* ---- comparisons ---- */

static const struct lab_compare_row *
find(const struct lab_comparison *c, enum lab_sum_level level, const char *name)
{
    const struct lab_compare_row *found = NULL;
    for (size_t i = 0; i < c->count; i++) {
        const struct lab_compare_row *r = &c->rows[i];
        const struct lab_time_sum *s =
            r->side[LAB_SIDE_A] ? r->side[LAB_SIDE_A] : r->side[LAB_SIDE_B];
        if (r->level != level || strcmp(lab_time_sum_step(s), name) != 0)
            continue;
        if (found)
            fail_msg("%s twice", name);
        found = r;
    }
    if (!found)
        fail_msg("no row %s of level %d", name, (int)level);
    return found;
}

/* By name alone bf16 would stand beside tf32, and "cublas" beside "mma". */
SAMPLE_CASE(a_variant_is_compared_with_itself)
{
    struct lab_comparison c;
    assert_ok(sample_lab(path, both, BOTH, true, NULL));
    assert_ok(sample_lab(path, bf16, BF16, true, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    static const struct {
        const char *name;
        enum lab_verdict verdict;
    } wanted[] = {
        {"mma tf32 64", LAB_VERDICT_ONLY_A},
        {"wgmma tf32 64", LAB_VERDICT_ONLY_A},
        {"mma bf16 64", LAB_VERDICT_FASTER},
        {"wgmma bf16 64", LAB_VERDICT_SAME},
        {"cublas bf16 64", LAB_VERDICT_ONLY_B}, /* the same name in both runs */
        {"mma tf32 128", LAB_VERDICT_ONLY_A},
        {"mma bf16 128", LAB_VERDICT_SAME},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        char traced[64];
        assert_int_equal(find(&c, LAB_SUM_STEP, wanted[i].name)->verdict,
                         wanted[i].verdict);
        snprintf(traced, sizeof(traced), "%s, traced", wanted[i].name);
        const struct lab_compare_row *r = find(&c, LAB_SUM_KERNEL, traced);
        bool pair = r->side[LAB_SIDE_A] && r->side[LAB_SIDE_B];
        assert_int_equal(pair, wanted[i].verdict == LAB_VERDICT_FASTER ||
                                   wanted[i].verdict == LAB_VERDICT_SAME);
    }
    /* neither iterations, phases and nodes, nor launches that were traced */
    assert_int_equal(c.count, 14);
    assert_int_equal(c.tests[LAB_SUM_STEP], 3);
    lab_comparison_release(&c);
}

/* One precision each: names have it where the two differ. */
SAMPLE_CASE(names_say_the_precision_that_differs)
{
    static const struct sample_variant tf32 = {"mma", "tf32", "64", 9000};
    static const struct sample_variant half = {"mma", "bf16", "64", 5000};
    struct lab_comparison c;
    assert_ok(sample_lab(path, &tf32, 1, false, NULL));
    assert_ok(sample_lab(path, &half, 1, false, NULL));
    struct lab_database *db = sample_database(path);
    assert_ok(lab_comparison_load(&c, db, 1, 1));
    assert_int_equal(find(&c, LAB_SUM_STEP, "mma 64")->verdict,
                     LAB_VERDICT_SAME);
    lab_comparison_release(&c);
    assert_ok(lab_comparison_load(&c, db, 1, 2));
    assert_int_equal(c.count, 2);
    assert_int_equal(find(&c, LAB_SUM_STEP, "mma tf32 64")->verdict,
                     LAB_VERDICT_ONLY_A);
    assert_int_equal(find(&c, LAB_SUM_STEP, "mma bf16 64")->verdict,
                     LAB_VERDICT_ONLY_B);
    lab_comparison_release(&c);
}

/* Whatever allocation fails, nothing is left behind. */
SAMPLE_CASE(every_allocation_may_fail)
{
    struct lab_comparison c;
    enum lab_status st = LAB_E_NOMEM;
    int64_t n = 0;
    assert_ok(sample_lab(path, both, BOTH, true, NULL));
    struct lab_database *db = sample_database(path);
    while (st == LAB_E_NOMEM && n < 10000) {
        lab_mem_fail_from(++n);
        st = lab_comparison_load(&c, db, 1, 1);
        lab_mem_fail_from(0);
    }
    assert_ok(st);
    assert_true(n > 20);
    lab_comparison_release(&c);
}

/* ---- what there is ---- */

SAMPLE_CASE(contents_are_what_a_run_has)
{
    unsigned has = 0;
    assert_ok(sample_lab(path, bf16, BF16, true, NULL));
    assert_ok(sample_lab(path, bf16, BF16, false, NULL));
    assert_ok(sample_run(path, 1, 1, NULL));
    sample_sql(path, "INSERT INTO sweep_row (runId, place) VALUES (3, 0);"
                     "INSERT INTO lab_said (runId, place) VALUES (3, 0);"
                     "INSERT INTO lab_tuned (backend, device, lab, sizeClass, "
                     "precision, candidate, runId) VALUES ('cuda', 'a', 'gemm',"
                     " '64', 'fp32', '8x8', 3)");
    struct lab_database *db = sample_database(path);
    assert_ok(lab_query_contents(db, 1, &has));
    assert_int_equal(has, LAB_HAS_STEPS | LAB_HAS_KERNELS | LAB_HAS_VARIANTS);
    assert_ok(lab_query_contents(db, 2, &has));
    assert_int_equal(has, LAB_HAS_STEPS | LAB_HAS_VARIANTS);
    assert_ok(lab_query_contents(db, 3, &has));
    assert_int_equal(has, LAB_HAS_STEPS | LAB_HAS_KERNELS | LAB_HAS_LOSSES |
                              LAB_HAS_SWEEPS | LAB_HAS_PREDICTIONS |
                              LAB_HAS_TUNED);
    assert_int_equal(lab_query_contents(db, 4, &has), LAB_E_NOTFOUND);
}

/* A single figure may be of another run than the one that is shown. */
SAMPLE_CASE(the_run_with_a_row_is_found)
{
    static const struct sample_variant one[] = {{"cublas", "fp32", "128", 9}};
    int64_t run = 0;
    assert_ok(sample_lab(path, one, 1, false, NULL));
    assert_ok(sample_lab(path, one, 1, false, NULL));
    assert_ok(sample_lab(path, both, BOTH, false, NULL));
    struct lab_database *db = sample_open(path);
    assert_ok(lab_bench_run_with(db, "gemm", "cublas", "128", "fp32", &run));
    assert_int_equal(run, 2);
    static const char *const none[][4] = {
        {"saxpy", "cublas", "128", "fp32"},
        {"gemm", "mma", "128", "fp32"},
        {"gemm", "cublas", "129", "fp32"},
        {"gemm", "cublas", "128", "fp16"},
    };
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(lab_bench_run_with(db, none[i][0], none[i][1],
                                            none[i][2], none[i][3], &run),
                         LAB_E_NOTFOUND);
    assert_int_equal(run, 2);
    lab_database_close(db);
    /* what failed has no figure; what was simulated has no times */
    sample_sql(path, "UPDATE lab_row SET status = 'failed' WHERE runId = 2");
    db = sample_open(path);
    assert_ok(lab_bench_run_with(db, "gemm", "cublas", "128", "fp32", &run));
    assert_int_equal(run, 1);
    lab_database_close(db);
    sample_sql(path, "UPDATE run SET backend = 'sim' WHERE id = 1");
    db = sample_open(path);
    assert_int_equal(
        lab_bench_run_with(db, "gemm", "cublas", "128", "fp32", &run),
        LAB_E_NOTFOUND);
    lab_database_close(db);
}

/* What is shown of a ladder is the run that has climbed most of it. */
SAMPLE_CASE(the_fullest_run_is_found)
{
    static const struct sample_variant tuning[] = {
        {"8x8", "fp32", "64", 9},
        {"8x16", "fp32", "64", 9},
        {"9x8", "fp32", "64", 9},
        {"9x16", "fp32", "64", 9},
    };
    static const struct sample_variant small[] = {
        {"mma", "bf16", "64", 9},
        {"wgmma", "bf16", "64", 9},
        {"cublas", "bf16", "64", 9},
    };
    int64_t run = 0;
    assert_ok(sample_lab(path, bf16, BF16, false, NULL));
    assert_ok(sample_lab(path, small, 3, false, NULL));
    assert_ok(sample_lab(path, both, BOTH, false, NULL));
    assert_ok(sample_lab(path, tuning, 4, false, NULL));
    struct lab_database *db = sample_open(path);
    /* three variants before two in two precisions; then two sizes before one */
    assert_ok(lab_bench_run_fullest(db, "gemm", NULL, NULL, &run));
    assert_int_equal(run, 1);
    assert_int_equal(lab_bench_run_fullest(db, "gemm", "other", NULL, &run),
                     LAB_E_NOTFOUND);
    assert_int_equal(lab_bench_run_fullest(db, "gemm", NULL, "cuda", &run),
                     LAB_E_NOTFOUND);
    assert_int_equal(lab_bench_run_fullest(db, "saxpy", NULL, NULL, &run),
                     LAB_E_NOTFOUND);
    lab_database_close(db);
    /* of equal ones the newest; what failed is no variant */
    assert_ok(sample_lab(path, bf16, BF16, false, NULL));
    db = sample_open(path);
    assert_ok(lab_bench_run_fullest(db, "gemm", "lab-gemm", "cpu", &run));
    assert_int_equal(run, 5);
    lab_database_close(db);
    sample_sql(path, "UPDATE lab_row SET status = 'failed' WHERE runId = 5 AND "
                     "rung = 'cublas'; UPDATE run SET lesson = 'lab-autotune' "
                     "WHERE id = 4");
    db = sample_open(path);
    assert_ok(lab_bench_run_fullest(db, "gemm", NULL, NULL, &run));
    assert_int_equal(run, 1);
    assert_ok(lab_bench_run_fullest(db, "gemm", "lab-autotune", NULL, &run));
    assert_int_equal(run, 4);
    lab_database_close(db);
    /* what was simulated has no times */
    sample_sql(path, "UPDATE run SET backend = 'sim' WHERE id = 1");
    db = sample_open(path);
    assert_ok(lab_bench_run_fullest(db, "gemm", NULL, NULL, &run));
    assert_int_not_equal(run, 1);
    lab_database_close(db);
}

RUN_TESTS()
