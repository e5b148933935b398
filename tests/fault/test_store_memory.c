/* Recording while allocations fail, one after the other: the database stays
 * whole, and what was reported as stored is there. */
#include "test.h"

#include <sqlite3.h>

#include "base/mem.h"
#include "store/delete.h"
#include "store/query.h"
#include "store_samples.h"
#include "trace/intern.h"

static bool count_kernel(void *user, const struct lab_kernel_row *row)
{
    (void)row;
    ++*(int *)user;
    return true;
}

static bool count_step(void *user, const struct lab_time_sum *row)
{
    (void)row;
    ++*(int *)user;
    return true;
}

/* SQLite's memory from base/mem.h too, so that it fails with the rest. */
static void *take(int n)
{
    int64_t *p = lab_alloc((size_t)n + 16);
    if (!p)
        return NULL;
    p[0] = n;
    return p + 2;
}

static void give(void *p)
{
    if (p)
        lab_free((int64_t *)p - 2);
}

static void *grow(void *p, int n)
{
    int64_t *q = lab_realloc_array((int64_t *)p - 2, (size_t)n + 16, 1);
    if (!q)
        return NULL;
    q[0] = n;
    return q + 2;
}

static int size_of(void *p)
{
    return p ? (int)((int64_t *)p)[-2] : 0;
}

static int round_up(int n)
{
    return (n + 7) & ~7;
}

static int memory_begin(void *user)
{
    (void)user;
    return SQLITE_OK;
}

static void memory_end(void *user)
{
    (void)user;
}

static enum lab_status record_and_read(const char *path)
{
    const struct lab_kernel_filter all = {.sort = LAB_KERNEL_BY_TIME};
    struct lab_database *db = NULL;
    struct lab_deleted deleted;
    int64_t run = 0;
    int n = 0;
    enum lab_status st = sample_run(path, 4, 6, &run);
    if (st == LAB_OK)
        st = lab_database_open(&db, path, NULL);
    if (st == LAB_OK)
        st = lab_query_steps(db, run, LAB_STEP_BY_MEDIAN, true, count_step, &n);
    if (st == LAB_OK)
        st = lab_query_kernels(db, run, &all, count_kernel, &n);
    if (st == LAB_OK && n != 6 + 48)
        st = LAB_E_INTERNAL;
    if (st == LAB_OK)
        st = lab_run_delete(db, run, &deleted);
    lab_database_close(db);
    return st;
}

SAMPLE_CASE(short_memory_loses_no_data)
{
    struct lab_database *db;
    bool succeeded = false;
    int failures = 0;
    assert_ok(sample_run(path, 3, 3, NULL));
    for (int64_t nth = 1; !succeeded && nth < 1000000; nth += 1 + nth / 24) {
        lab_intern_release();
        lab_mem_fail_from(nth);
        enum lab_status st = record_and_read(path);
        lab_mem_fail_from(0);
        if (st != LAB_OK && st != LAB_E_NOMEM && st != LAB_E_DB)
            fail_msg("allocation %lld: status %d, %s", (long long)nth, (int)st,
                     lab_error());
        succeeded = st == LAB_OK;
        failures += !succeeded;
        assert_ok(lab_database_open(&db, path, NULL));
        assert_ok(lab_database_check(db));
        lab_database_close(db);
        assert_rows(path, 9, "step WHERE runId = 1");
    }
    assert_true(succeeded);
    assert_true(failures > 50);
}

int main(void)
{
    static const sqlite3_mem_methods memory = {
        take, give, grow, size_of, round_up, memory_begin, memory_end, NULL};
    sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
    return test_run_all(NULL, NULL);
}
