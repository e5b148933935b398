/* Pages of a long run's kernels, found through its zones
 * (src/store/index/index.h): the same rows in the same order as a whole sort
 * gives. */
#include "test.h"

#include "store/delete.h"
#include "store/query.h"
#include "store/time_sum.h"
#include "store_samples.h"

enum { KERNELS = 60000, NAMES = 12, MOST = 5000 };

/* Values with many ties, some that grow and some that are unknown. */
static void push_kernel(const struct lab_sink *sink, int64_t i, uint64_t *seed,
                        const uint32_t *names)
{
    struct lab_record r = {.kind = LAB_RECORD_KERNEL};
    struct lab_kernel_record *k = &r.u.kernel;
    bool timed = sample_random(seed) % 50 != 0;
    k->exec = sample_random(seed) % 40 == 0 ? LAB_UNKNOWN : i / 3 + 1;
    k->start_ns = timed ? 1000000 + i * 10 : LAB_UNKNOWN;
    k->end_ns = timed ? k->start_ns + (int64_t)(sample_random(seed) % 9000)
                      : LAB_UNKNOWN;
    k->correlation_id = (uint32_t)i;
    k->demangled_name = k->short_name = k->mangled_name =
        names[i < KERNELS - 20 ? sample_random(seed) % (NAMES - 1) : NAMES - 1];
    k->launch.registers_per_thread =
        16 + (int32_t)(sample_random(seed) % 5) * 8;
    for (int d = 0; d < 3; d++) {
        k->launch.grid[d] = 1 + (int32_t)(sample_random(seed) % (d ? 2 : 700));
        k->launch.block[d] =
            d ? 1 : 32 * (1 + (int32_t)(sample_random(seed) % 8));
    }
    k->launch.static_shared_bytes = (int32_t)(sample_random(seed) % 3) * 1024;
    k->occupancy_pct = sample_random(seed) % 60 == 0
                           ? NAN
                           : (double)(sample_random(seed) % 64) * 1.5625 - 3;
    sink->push(sink->user, &r);
}

static void push_step(const struct lab_sink *sink, int64_t exec, uint32_t name)
{
    struct lab_record r = {.kind = LAB_RECORD_STEP};
    struct lab_step_record *s = &r.u.step;
    s->exec = exec;
    s->iteration = (exec - 1) / 17;
    s->index = (int32_t)((exec - 1) % 17);
    s->name = s->node = s->op = s->variant = s->backend = name;
    s->time_source = LAB_TIME_CUPTI;
    s->start_ns = exec * 30;
    s->end_ns = exec * 30 + 20;
    s->time_ns = LAB_UNKNOWN;
    s->flop = s->bytes = 1;
    sink->push(sink->user, &r);
}

struct recorded {
    int64_t kernels;
    uint64_t seed;
};

static void push_run(const struct lab_sink *sink, void *user)
{
    struct recorded *r = user;
    uint32_t names[NAMES];
    sample_names(names, NAMES, 7);
    for (int64_t i = 0; i < r->kernels; i++) {
        push_kernel(sink, i, &r->seed, names);
        if (i % 3 == 2)
            push_step(sink, i / 3 + 1, names[0]);
    }
}

static void record(const char *path, int64_t kernels, uint64_t seed)
{
    struct recorded r = {kernels, seed};
    sample_record(path, push_run, &r);
}

struct list {
    int64_t row[MOST];
    int n;
};

static bool add_row(void *user, const struct lab_kernel_row *row)
{
    struct list *l = user;
    assert_true(l->n < MOST);
    l->row[l->n++] = row->row;
    return true;
}

static void list_page(struct lab_database *db,
                      const struct lab_kernel_filter *f, struct list *out)
{
    out->n = 0;
    assert_ok(lab_query_kernels(db, 1, f, add_row, out));
}

enum { PAGES = 2, SORTS = LAB_KERNEL_SORT_COUNT, CASES = SORTS * 2 * PAGES };
static const int64_t limits[PAGES] = {50, 5000};
static struct list found[CASES];
static struct list whole[CASES];

static void list_all(const char *path, struct list *out)
{
    struct lab_database *db = sample_open(path);
    for (int i = 0; i < CASES; i++) {
        const struct lab_kernel_filter f = {
            .sort = (enum lab_kernel_sort)(i / 2 / PAGES),
            .descending = i / PAGES % 2 == 1,
            .limit = limits[i % PAGES]};
        list_page(db, &f, &out[i]);
    }
    lab_database_close(db);
}

static void compare_pages(void)
{
    for (int i = 0; i < CASES; i++) {
        if (found[i].n != whole[i].n)
            fail_msg("case %d: %d rows, not %d", i, found[i].n, whole[i].n);
        for (int k = 0; k < whole[i].n; k++) {
            if (found[i].row[k] != whole[i].row[k])
                fail_msg("case %d: place %d has row %lld, not %lld", i, k,
                         (long long)found[i].row[k],
                         (long long)whole[i].row[k]);
        }
    }
}

#define NO_ZONES "DELETE FROM kernel_zone; DELETE FROM kernel_zone_name;"

SAMPLE_CASE(pages_are_those_of_a_whole_sort)
{
    record(path, KERNELS, 7);
    record(path, KERNELS, 8); /* another run's rows are not taken */
    assert_true(sample_count(path, "kernel_zone") > 2 * 7 * (KERNELS / 128));
    list_all(path, found);
    /* As an earlier version stores them: zones, and no groups. */
    sample_sql(path, "DELETE FROM kernel_zone WHERE sort >= 32");
    list_all(path, whole);
    compare_pages();
    sample_sql(path, NO_ZONES);
    list_all(path, whole);
    compare_pages();
}

/* Each zone is in one group, which has its bounds. */
SAMPLE_CASE(groups_have_the_bounds_of_their_zones)
{
    record(path, KERNELS, 7);
    assert_rows(path, (KERNELS + 128 * 64 - 1) / (128 * 64),
                "kernel_zone WHERE sort = 32 + 5");
    assert_rows(path, 0,
                "kernel_zone AS z WHERE sort < 32 AND (SELECT count(*) FROM "
                "kernel_zone AS g WHERE g.runId = z.runId AND g.sort = 32 + "
                "z.sort AND z.kernelRowFirst >= g.kernelRowFirst AND "
                "z.kernelRowLast <= g.kernelRowLast) != 1");
    assert_rows(path, 0,
                "kernel_zone AS g WHERE sort >= 32 AND (least, greatest) IS "
                "NOT (SELECT min(least), max(greatest) FROM kernel_zone AS z "
                "WHERE z.runId = g.runId AND z.sort = g.sort - 32 AND "
                "z.kernelRowFirst BETWEEN g.kernelRowFirst AND "
                "g.kernelRowLast)");
}

static const char no_numbers[] =
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 3000000000, gridY = "
    "3000000000, gridZ = 3 WHERE kernelRow % 7 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1 << 62, gridY = 4, "
    "gridZ = 0 WHERE kernelRow % 11 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'x', gridY = 0 WHERE "
    "kernelRow % 31 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = 'wide' WHERE kernelRow "
    "% 5 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = 96.5, blockY = -1 "
    "WHERE "
    "kernelRow % 35 = 1;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE kernelRow "
    "% "
    "13 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 1e300 WHERE kernelRow % "
    "500 = 7;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = -1e300 WHERE kernelRow "
    "% "
    "500 = 8;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = -0x7FFFFFFFFFFFFFFF "
    "WHERE kernelRow % 17 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = x'3939' "
    "WHERE kernelRow % 3 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET staticSharedMemory = "
    "0x7FFFFFFFFFFFFFFF, dynamicSharedMemory = kernelRow % 4 WHERE "
    "kernelRow % 9 = 0;"
    "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 'gemm' WHERE "
    "kernelRow % 29 = 0;"
    "UPDATE op_kernel SET occupancy_pct = 'full' WHERE kernelRow % 19 = 0;"
    "UPDATE step SET stepIndex = 'third' WHERE exec % 23 = 0;"
    "DELETE FROM time_sum; UPDATE run SET summed = NULL";

/* What is no number, or has no room in one, is unknown to zones and to a sort of
 * all rows alike. */
SAMPLE_CASE(keys_that_are_no_numbers_are_unknown)
{
    struct lab_database *db;
    record(path, KERNELS, 7);
    sample_sql(path, no_numbers);
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_time_sums_keep(db, 1));
    lab_database_close(db);
    assert_true(sample_count(path, "kernel_zone") > 100);
    list_all(path, found);
    sample_sql(path, NO_ZONES);
    list_all(path, whole);
    compare_pages();
}

/* A column that few kernels have a value of: the others come as recorded, also
 * those of zones that the column has no value in. */
SAMPLE_CASE(rare_values_come_before_the_others)
{
    struct lab_database *db;
    record(path, KERNELS, 7);
    sample_sql(path,
               "UPDATE op_kernel SET occupancy_pct = NULL WHERE kernelRow "
               "NOT BETWEEN 30000 AND 30040; DELETE FROM time_sum; UPDATE "
               "run SET summed = NULL");
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_time_sums_keep(db, 1));
    lab_database_close(db);
    assert_in_range(sample_count(path, "kernel_zone WHERE sort = 9"), 1, 2);
    list_all(path, found);
    sample_sql(path, NO_ZONES);
    list_all(path, whole);
    compare_pages();
}

/* A column that no kernel has a value of, as of another tool's runs. */
SAMPLE_CASE(unknown_columns_come_as_recorded)
{
    static const enum lab_kernel_sort sorts[] = {LAB_KERNEL_BY_OCCUPANCY,
                                                 LAB_KERNEL_BY_STEP};
    record(path, KERNELS, 7);
    sample_sql(path, "UPDATE op_kernel SET occupancy_pct = NULL, stepExec = "
                     "NULL; DELETE FROM step; DELETE FROM kernel_zone WHERE "
                     "sort IN (4, 9)");
    for (int zones = 1; zones >= 0; zones--) {
        struct lab_database *db = sample_open(path);
        for (int i = 0; i < 4; i++) {
            const struct lab_kernel_filter f = {
                .sort = sorts[i / 2], .descending = i % 2 == 1, .limit = 60};
            list_page(db, &f, zones ? &found[i] : &whole[i]);
        }
        lab_database_close(db);
        sample_sql(path, "DELETE FROM kernel_zone");
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(whole[i].n, 60);
        assert_int_equal(found[i].n, 60);
        for (int k = 0; k < 60; k++)
            assert_int_equal(found[i].row[k], whole[i].row[k]);
    }
}

/* Names without the columns that have where a zone ends. */
SAMPLE_CASE(names_need_no_other_column)
{
    record(path, KERNELS, 7);
    record(path, KERNELS, 8);
    list_all(path, whole);
    sample_sql(path, "DELETE FROM kernel_zone");
    list_all(path, found);
    assert_true(sample_count(path, "kernel_zone_name") > 100);
    compare_pages();
}

SAMPLE_CASE(short_runs_have_none_and_deleted_ones_neither)
{
    struct lab_database *db;
    struct lab_deleted deleted;
    record(path, KERNELS, 7);
    record(path, 3000, 8);
    assert_rows(path, 0, "kernel_zone WHERE runId = 2");
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_run_delete(db, 1, &deleted));
    lab_database_close(db);
    assert_rows(path, 0, "kernel_zone");
    assert_rows(path, 0, "kernel_zone_name");
}

RUN_TESTS()
