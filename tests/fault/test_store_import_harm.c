/* Files of other people that are made to do harm, or that meet bad luck. */
#include "test.h"

#include <unistd.h>

#include "import_sample.h"
#include "db/store_priv.h"

/* ---- sums ---- */

/* Rows of two iterations by turns, at places that no schedule has: each row
 * ends an iteration, and must not cost as much as all the places. */
IMPORT_CASE(far_places_cost_no_more_than_near_ones)
{
    assert_ok(sample_run(theirs, 3, 4, NULL));
    sample_sql(theirs,
               "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
               "LIMIT 200000) INSERT INTO step (runId, exec, iteration, "
               "stepIndex, phase, nameId, time_ns) SELECT 1, 1000 + i, 10 + i "
               "% 2, 0xFFFFF, 0, 1, 7 FROM n");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->steps, 200000 + 12);
    /* whole iterations are those that they were */
    assert_sql(here, 3, "SELECT count FROM time_sum WHERE level = 0");
    assert_sql(here, 3 * (4 * 1500 + 6),
               "SELECT total_ns FROM time_sum WHERE level = 0");
    assert_sql(
        here, 200000,
        "SELECT count FROM time_sum WHERE level = 3 AND stepIndex = 0xFFFFF");
}

/* ---- the end of the transaction ---- */

static int refuse(void *user)
{
    ++*(int *)user;
    return 1;
}

/* A run that is reported as copied must be there. */
IMPORT_CASE(nothing_is_reported_before_the_commit)
{
    const struct lab_import_options options = {NULL, false};
    struct lab_database *db;
    int refused = 0;
    assert_ok(sample_run(here, 1, 1, NULL));
    assert_ok(sample_run(theirs, 2, 2, NULL));
    assert_ok(lab_database_open(&db, here, NULL));
    sqlite3_commit_hook(db->sql, refuse, &refused);
    assert_int_equal(lab_import_file(db, theirs, &options, see_import, s),
                     LAB_E_DB);
    assert_int_equal(refused, 1);
    assert_int_equal(s->imported + s->skipped, 0);
    sqlite3_commit_hook(db->sql, NULL, NULL);
    assert_rows(here, 1, "run");
    assert_ok(lab_import_file(db, theirs, &options, see_import, s));
    assert_int_equal(s->imported, 1);
    assert_int_equal(s->kernels, 8);
    lab_database_close(db);
}

/* ---- errors of the file that is read ---- */

static void check_blame(const char *file, const char *word)
{
    enum lab_status st = import(here, file, NULL, NULL);
    if (st != LAB_E_DB || strncmp(lab_error(), file, strlen(file)) != 0 ||
        !error_is(word) || strstr(lab_error(), here) ||
        strstr(lab_error(), "--db"))
        fail_msg("%d, %s", (int)st, lab_error());
}

/* The database that is written is whole: it needs no rescue. */
IMPORT_CASE(faults_of_the_file_name_the_file)
{
    static const struct {
        const char *change;
        const char *word;
    } bad[] = {
        {"UPDATE sqlite_master SET sql = 'CREATE TABLE loss (' WHERE name = "
         "'loss'",
         "[database] malformed database schema"},
        {"UPDATE sqlite_master SET rootpage = 99999 WHERE name = 'loss'",
         "[database] damaged"},
        {"UPDATE sqlite_master SET sql = 'CREATE INDEX nothing ON nowhere (x)' "
         "WHERE type = 'index' AND sql IS NOT NULL",
         "[database] malformed database schema"},
        {"ALTER TABLE step RENAME TO s; CREATE TABLE step AS SELECT * FROM s; "
         "INSERT INTO step SELECT * FROM s; DROP TABLE s",
         "[database] UNIQUE"},
        {"DROP TABLE step", "[import.table] no table step"},
        {"DROP TABLE StringIds", "[import.table] no table StringIds"},
        {"DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET",
         "[import.table] ACTIVITY_KIND_MEMSET"},
        {"DROP TABLE ceiling", "[import.table] no table ceiling"},
        {"DROP TABLE sweep_row", "[import.table] no table sweep_row"},
        {"DROP TABLE choice", "[import.table] no table choice"},
        {"DROP TABLE lab_tuned", "[import.table] no table lab_tuned"},
    };
    assert_ok(sample_run(here, 1, 1, NULL));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char name[32];
        char sql[600];
        snprintf(name, sizeof(name), "bad%d.db", (int)i);
        const char *file = sample_path(name);
        assert_ok(sample_run(file, 1, 2, NULL));
        snprintf(sql, sizeof(sql), "PRAGMA writable_schema = 1; %s",
                 bad[i].change);
        sample_sql(file, sql);
        check_blame(file, bad[i].word);
    }
    const char *cut = sample_path("cut.db");
    assert_ok(sample_run(cut, 1, 2, NULL));
    assert_int_equal(truncate(cut, 20000), 0);
    check_blame(cut, "[db.cut] ");
    assert_rows(here, 1, "run");
}

/* ---- numbers of rows ---- */

/* A file whose last kernel has the highest number there is: a few of those
 * would leave no number for a kernel here. */
IMPORT_CASE(high_numbers_do_not_come_along)
{
    assert_ok(sample_run(here, 1, 1, NULL));
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof(name), "high%d.db", i);
        const char *file = sample_path(name);
        assert_ok(sample_run(file, 2, 2, NULL));
        sample_sql(file,
                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET kernelRow = "
                   "0x1FFFFFFFFFFFFF WHERE kernelRow = 8;"
                   "UPDATE op_kernel SET kernelRow = 0x1FFFFFFFFFFFFF WHERE "
                   "kernelRow = 8;"
                   "UPDATE step SET kernelRowLast = 0x1FFFFFFFFFFFFF WHERE "
                   "kernelRowLast = 8;"
                   /* a kernel of a step that is not in the record */
                   "INSERT INTO op_kernel (kernelRow, runId, stepExec) VALUES "
                   "(0x1FFFFFFFFFFFF0, 1, 1)");
        assert_ok(import(here, file, NULL, s));
        assert_int_equal(s->kernels, 8);
    }
    assert_sql(here, 2 + 3 * 8,
               "SELECT max(kernelRow) FROM CUPTI_ACTIVITY_KIND_KERNEL");
    assert_sql(here, 2 + 3 * 8, "SELECT max(kernelRow) FROM op_kernel");
    assert_sql(here, 2 + 3 * 8, "SELECT max(kernelRowLast) FROM step");
    /* each step still has its two kernels, by its range */
    assert_rows(here, 2 + 3 * 8,
                "step AS s JOIN op_kernel AS o ON o.kernelRow BETWEEN "
                "s.kernelRowFirst AND s.kernelRowLast AND o.stepExec = s.exec "
                "AND o.runId = s.runId JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON "
                "k.kernelRow = o.kernelRow AND k.runId = s.runId");
    /* and what is recorded next has room */
    assert_ok(sample_run(here, 1, 1, NULL));
    assert_sql(here, 2 + 3 * 8 + 1,
               "SELECT kernelRowFirst FROM run WHERE id = 5");
}

RUN_TESTS()
