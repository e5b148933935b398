/* profiles/views.sql on databases made here: its rows are those that the
 * program's own queries have. */
#include "test.h"
#include "file.h"

#include <unistd.h>

#include <sqlite3.h>

#include "export_sample.h"
#include "store_samples.h"

/* Views are of one connection. */
static sqlite3 *open_views(const char *path)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    char *sql = test_read(LAB_SOURCE_DIR "/profiles/views.sql");
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL),
                     SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    test_free(sql);
    return db;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return n;
}

TEST_CASE_WITH(views_have_the_rows_of_a_run, NULL, export_cleanup)
{
    const char *path = sample_path("runs.db");
    record_gpu_run(path);
    sample_counters(path, 5);
    sample_sql(path, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET correlationId = "
                     "10000 * (SELECT stepExec FROM op_kernel AS o WHERE "
                     "o.kernelRow = CUPTI_ACTIVITY_KIND_KERNEL.kernelRow)");
    sqlite3 *db = open_views(path);
    assert_int_equal(number(db, "SELECT count(*) FROM run_view"), 1);
    assert_int_equal(number(db, "SELECT gpu_ns FROM run_view"), 6006);
    assert_int_equal(number(db, "SELECT count(*) FROM step_view"), 12);
    assert_int_equal(number(db, "SELECT count(*) FROM kernel_view"), 25);
    assert_int_equal(
        number(db, "SELECT count(*) FROM step_view AS s WHERE s.time_ns = "
                   "(SELECT sum(time_ns) FROM kernel_view AS k WHERE k.run = "
                   "s.run AND k.exec = s.exec AND k.step = s.step)"),
        12);
    /* one kernel has no step, and no call */
    assert_int_equal(number(db, "SELECT count(*) FROM launch_view"), 24);
    assert_int_equal(number(db, "SELECT count(*) FROM launch_view WHERE "
                                "latency_ns = kernel_start - call_start AND "
                                "latency_ns >= 900 AND queue_ns = latency_ns "
                                "- 800"),
                     24);
    assert_true(number(db, "SELECT count(*) FROM counter_view WHERE exec = 5 "
                           "AND step IS NOT NULL") > 0);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* As a timeline has them, and not where streams overlap. */
TEST_CASE_WITH(gaps_are_when_nothing_ran, NULL, export_cleanup)
{
    const char *path = sample_path("runs.db");
    int64_t gaps = 0;
    int64_t sum = 0;
    int64_t longest = 0;
    record_gpu_run(path);
    sample_sql(path, "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET deviceId = 0");
    int64_t n =
        sample_count(path, "op_kernel") + sample_count(path, "op_memory");
    int64_t end = 0;
    for (int64_t i = 0, start = 0; i < n; i++, start++) {
        char sql[512];
        static const char all[] =
            "(SELECT start, \"end\" AS e FROM CUPTI_ACTIVITY_KIND_KERNEL UNION "
            "ALL SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_MEMCPY)";
        snprintf(sql, sizeof(sql),
                 "SELECT start FROM %s ORDER BY start, e LIMIT 1 OFFSET %lld",
                 all, (long long)i);
        start = sample_int(path, sql);
        snprintf(sql, sizeof(sql),
                 "SELECT e FROM %s ORDER BY start, e LIMIT 1 OFFSET %lld", all,
                 (long long)i);
        int64_t e = sample_int(path, sql);
        if (i > 0 && start > end) {
            gaps++;
            sum += start - end;
            longest = start - end > longest ? start - end : longest;
        }
        end = e > end ? e : end;
    }
    assert_true(gaps > 10);
    sqlite3 *db = open_views(path);
    assert_int_equal(number(db, "SELECT count(*) FROM gap_view"), gaps);
    assert_int_equal(number(db, "SELECT sum(time_ns) FROM gap_view"), sum);
    assert_int_equal(number(db, "SELECT max(time_ns) FROM gap_view"), longest);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The views of each version of the schema: views.sql names the first one that
 * has them all. */
TEST_CASE_WITH(older_versions_that_have_them, NULL, export_cleanup)
{
    static const char *const views[] = {"run_view",    "step_view",
                                        "kernel_view", "launch_view",
                                        "gap_view",    "counter_view"};
    char name[512];
    char word[64];
    int first = 0;
    sqlite3 *whole = NULL;
    assert_int_equal(sqlite3_open(sample_path("old.db"), &whole), SQLITE_OK);
    int version = 1;
    for (;; version++) {
        char *sql;
        char *why = NULL;
        snprintf(name, sizeof(name), LAB_SOURCE_DIR "/profiles/schema_%d.sql",
                 version);
        if (version > 1 && access(name, F_OK))
            break;
        sql = test_read(version > 1 ? name
                                    : LAB_SOURCE_DIR "/profiles/schema.sql");
        if (sqlite3_exec(whole, sql, NULL, NULL, &why) != SQLITE_OK)
            fail_msg("schema %d: %s", version, why);
        test_free(sql);
        sqlite3 *db = open_views(sample_path("old.db"));
        bool all = true;
        for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
            snprintf(name, sizeof(name), "SELECT * FROM %s", views[i]);
            all = sqlite3_exec(db, name, NULL, NULL, NULL) == SQLITE_OK && all;
        }
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        if (first && !all)
            fail_msg("schema %d lacks a view, schema %d none", version, first);
        if (!first && all)
            first = version;
    }
    assert_int_equal(sqlite3_close(whole), SQLITE_OK);
    assert_true(version > 7);
    char *text = test_read(LAB_SOURCE_DIR "/profiles/views.sql");
    snprintf(word, sizeof(word), "of schema %d and later", first);
    if (!strstr(text, word))
        fail_msg("views.sql does not state: %s", word);
    test_free(text);
}

RUN_TESTS()
