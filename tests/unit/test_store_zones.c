/* Pages of a long run's kernels, found through its zones (store/kernel_zone.h):
 * the same rows in the same order as a whole sort gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "store/delete.h"
#include "store/query.h"
#include "store_samples.h"

enum { KERNELS = 60000, NAMES = 12, MOST = 400 };

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
    k->registers_per_thread = 16 + (int32_t)(sample_random(seed) % 5) * 8;
    for (int d = 0; d < 3; d++) {
        k->grid[d] = 1 + (int32_t)(sample_random(seed) % (d ? 2 : 700));
        k->block[d] = d ? 1 : 32 * (1 + (int32_t)(sample_random(seed) % 8));
    }
    k->static_shared_bytes = (int32_t)(sample_random(seed) % 3) * 1024;
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

static void record(const char *path, int64_t kernels, uint64_t seed)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    uint32_t names[NAMES];
    char text[32];
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_int_equal(lab_writer_new(&writer, path, &info, NULL), LAB_OK);
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int i = 0; i < NAMES; i++) {
        /* interned so that their numbers are in no order of their own */
        snprintf(text, sizeof(text), "%c_kernel", 'a' + i * 7 % NAMES);
        names[i] = sink.intern(sink.user, text);
    }
    for (int64_t i = 0; i < kernels; i++) {
        push_kernel(&sink, i, &seed, names);
        if (i % 3 == 2)
            push_step(&sink, i / 3 + 1, names[0]);
    }
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_OK);
    lab_writer_free(writer);
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

static void list_page(const char *path, const struct lab_kernel_filter *f,
                      struct list *out)
{
    const struct lab_database_options reader = {.read_only = true};
    struct lab_database *db;
    out->n = 0;
    assert_int_equal(lab_database_open(&db, path, &reader), LAB_OK);
    assert_int_equal(lab_query_kernels(db, 1, f, add_row, out), LAB_OK);
    lab_database_close(db);
}

enum { PAGES = 4, SORTS = LAB_KERNEL_SORT_COUNT, CASES = SORTS * 2 * PAGES };
static const int64_t pages[PAGES][2] = {/* offset, limit */
                                        {0, 50},
                                        {37, 100},
                                        {5000, 11},
                                        {59990, 50}};
static struct list found[CASES];

static void list_all(const char *path, struct list *out)
{
    for (int i = 0; i < CASES; i++) {
        const struct lab_kernel_filter f = {
            .step_index = LAB_UNKNOWN,
            .iteration = LAB_UNKNOWN,
            .sort = (enum lab_kernel_sort)(i / 2 / PAGES),
            .descending = i / PAGES % 2 == 1,
            .offset = pages[i % PAGES][0],
            .limit = pages[i % PAGES][1]};
        list_page(path, &f, &out[i]);
    }
}

static void pages_are_those_of_a_whole_sort(void **state)
{
    static struct list whole[CASES];
    const char *path = sample_path("runs.db");
    (void)state;
    record(path, KERNELS, 7);
    record(path, KERNELS, 8); /* another run's rows are not taken */
    assert_true(sample_int(path, "SELECT count(*) FROM kernel_zone") >
                2 * 7 * (KERNELS / 2048));
    list_all(path, found);
    sample_sql(path, "DELETE FROM kernel_zone; DELETE FROM kernel_zone_name");
    list_all(path, whole);
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

/* A column that no kernel has a value of, as of another tool's runs. */
static void unknown_columns_come_as_recorded(void **state)
{
    const char *path = sample_path("runs.db");
    static const enum lab_kernel_sort sorts[] = {LAB_KERNEL_BY_OCCUPANCY,
                                                 LAB_KERNEL_BY_STEP};
    static struct list whole[4];
    (void)state;
    record(path, KERNELS, 7);
    sample_sql(path, "UPDATE op_kernel SET occupancy_pct = NULL, stepExec = "
                     "NULL; DELETE FROM step; DELETE FROM kernel_zone WHERE "
                     "sort IN (4, 9)");
    for (int zones = 1; zones >= 0; zones--) {
        for (int i = 0; i < 4; i++) {
            const struct lab_kernel_filter f = {.step_index = LAB_UNKNOWN,
                                                .iteration = LAB_UNKNOWN,
                                                .sort = sorts[i / 2],
                                                .descending = i % 2 == 1,
                                                .offset = 700,
                                                .limit = 60};
            list_page(path, &f, zones ? &found[i] : &whole[i]);
        }
        sample_sql(path, "DELETE FROM kernel_zone");
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(whole[i].n, 60);
        assert_int_equal(found[i].n, 60);
        for (int k = 0; k < 60; k++)
            assert_int_equal(found[i].row[k], whole[i].row[k]);
    }
}

/* Zones that lie do no harm: no crash, no row of another run. */
static void wrong_zones_do_no_harm(void **state)
{
    const char *path = sample_path("runs.db");
    static struct list any[CASES];
    (void)state;
    record(path, KERNELS, 7);
    sample_sql(path, "UPDATE kernel_zone SET kernelRowLast = "
                     "0x7FFFFFFFFFFFFFFF WHERE kernelRowFirst % 3 = 1; "
                     "UPDATE kernel_zone SET least = 'x', greatest = -1e300 "
                     "WHERE kernelRowFirst % 5 = 1");
    list_all(path, any);
    for (int i = 0; i < CASES; i++) {
        for (int k = 0; k < any[i].n; k++)
            assert_true(any[i].row[k] >= 1 && any[i].row[k] <= KERNELS);
    }
}

static void short_runs_have_none_and_deleted_ones_neither(void **state)
{
    const char *path = sample_path("runs.db");
    struct lab_database *db;
    struct lab_deleted deleted;
    (void)state;
    record(path, KERNELS, 7);
    record(path, 3000, 8);
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM kernel_zone WHERE runId = 2"),
        0);
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_run_delete(db, 1, &deleted), LAB_OK);
    lab_database_close(db);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM kernel_zone"), 0);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM kernel_zone_name"),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(pages_are_those_of_a_whole_sort,
                                  sample_cleanup),
        cmocka_unit_test_teardown(unknown_columns_come_as_recorded,
                                  sample_cleanup),
        cmocka_unit_test_teardown(wrong_zones_do_no_harm, sample_cleanup),
        cmocka_unit_test_teardown(short_runs_have_none_and_deleted_ones_neither,
                                  sample_cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
