/* Nothing of a run is lost by an import: every table and every column of the
 * schema is looked at, so that a later one is not forgotten. */
#include "test.h"

#include <sqlite3.h>

#include "import_sample.h"
#include "store/delete.h"
#include "db/store_priv.h"

enum { MOST = 80, NAME = 64 };
struct names {
    char name[MOST][NAME];
    int n;
};

static void add_name(struct names *names, const char *name)
{
    assert_true(names->n < MOST);
    snprintf(names->name[names->n++], NAME, "%s", name);
}

/* The texts of a query's first column. */
static struct names names_of(const char *path, const char *sql)
{
    struct names names = {.n = 0};
    sqlite3_stmt *stmt;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        add_name(&names, (const char *)sqlite3_column_text(stmt, 0));
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return names;
}

static struct names columns_of(const char *path, const char *table,
                               const char *which)
{
    char sql[200];
    snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s')%s",
             table, which);
    return names_of(path, sql);
}

static bool has(const struct names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

/* ---- tables ---- */

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

/* Put together anew from what was copied; and the names that a user gave to
 * own runs, which no other run has. */
static bool is_not_copied(const char *table)
{
    static const char *const names[] = {"time_sum", "kernel_zone",
                                        "kernel_zone_name", "baseline"};
    return is_one_of(table, names, sizeof(names) / sizeof(names[0]));
}

/* Tables without runId: which of them have a test of their own, or hold the
 * same in every database, or what each device measures for itself. */
static bool is_known(const char *table)
{
    static const char *const names[] = {"run", "StringIds", "ceiling",
                                        "variant_time", "sqlite_sequence"};
    return strncmp(table, "ENUM_", 5) == 0 ||
           is_one_of(table, names, sizeof(names) / sizeof(names[0]));
}

/* A row of run 1 with a value in every column. 1 is a number that every kind of
 * column may have: a name, a phase, a row, a moment. */
static void fill(const char *path, const char *table)
{
    struct names all = columns_of(path, table, "");
    struct names free_ones = columns_of(path, table, " WHERE pk = 0");
    char sql[4000];
    int n = snprintf(sql, sizeof(sql), "INSERT OR IGNORE INTO \"%s\" VALUES (1",
                     table);
    for (int i = 1; i < all.n; i++)
        n += snprintf(sql + n, sizeof(sql) - (size_t)n, ", 1");
    n += snprintf(sql + n, sizeof(sql) - (size_t)n, "); UPDATE \"%s\" SET ",
                  table);
    for (int i = 0; i < free_ones.n; i++)
        n += snprintf(sql + n, sizeof(sql) - (size_t)n, "%s\"%s\" = 1",
                      i ? ", " : "", free_ones.name[i]);
    sample_sql(path, sql);
}

static int64_t count(const char *path, const char *table, const char *column,
                     int run)
{
    char sql[300];
    snprintf(sql, sizeof(sql),
             "SELECT count(\"%s\") FROM \"%s\" WHERE runId = %d", column, table,
             run);
    return sample_int(path, sql);
}

static void check_columns(const char *table)
{
    struct names columns = columns_of(theirs, table, "");
    for (int i = 0; i < columns.n; i++) {
        int64_t there = count(theirs, table, columns.name[i], 1);
        int64_t came = count(here, table, columns.name[i], 2);
        if (there == 0 || came != there)
            fail_msg("%s.%s: %d of %d values came along", table,
                     columns.name[i], (int)came, (int)there);
    }
}

IMPORT_CASE(every_table_and_column_comes_along)
{
    struct names of_runs = {.n = 0};
    assert_ok(sample_run(here, 1, 1, NULL));
    assert_ok(sample_run(theirs, 1, 1, NULL));
    struct names tables = names_of(theirs, "SELECT name FROM sqlite_master "
                                           "WHERE type = 'table'");
    for (int i = 0; i < tables.n; i++) {
        struct names columns = columns_of(theirs, tables.name[i], "");
        if (has(&columns, "runId") && !is_not_copied(tables.name[i]))
            add_name(&of_runs, tables.name[i]);
        else if (!has(&columns, "runId") && !is_known(tables.name[i]))
            fail_msg("what becomes of %s at an import?", tables.name[i]);
    }
    assert_true(of_runs.n > 15);
    for (int i = 0; i < of_runs.n; i++)
        fill(theirs, of_runs.name[i]);
    assert_ok(import(here, theirs, NULL, NULL));
    for (int i = 0; i < of_runs.n; i++)
        check_columns(of_runs.name[i]);
    assert_true(count(here, "time_sum", "place", 2) > 0);
}

IMPORT_CASE(every_column_of_a_run_comes_along)
{
    assert_ok(sample_run(theirs, 1, 1, NULL));
    struct names columns = columns_of(theirs, "run", "");
    for (int i = 0; i < columns.n; i++) {
        char sql[200];
        bool state_of = strcmp(columns.name[i], "traceState") == 0;
        bool from = strcmp(columns.name[i], "variantsFrom") == 0;
        snprintf(sql, sizeof(sql), "UPDATE run SET %s = %s WHERE %s IS NULL",
                 columns.name[i],
                 state_of ? "'on'"
                 : from   ? "'table'"
                          : "1",
                 columns.name[i]);
        sample_sql(theirs, sql);
    }
    assert_ok(import(here, theirs, NULL, NULL));
    for (int i = 0; i < columns.n; i++) {
        char sql[100];
        snprintf(sql, sizeof(sql), "SELECT count(%s) FROM run",
                 columns.name[i]);
        if (sample_int(here, sql) != 1)
            fail_msg("run.%s is lost", columns.name[i]);
    }
}

/* ---- the winners of tuning ---- */

static const char winners[] =
    "INSERT INTO lab_tuned (backend, device, uuid, hostname, lab, sizeClass, "
    "precision, candidate, runId, measured_ns) VALUES "
    "('cuda', 'NVIDIA H200', 'GPU-1', 'a', 'gemm', '~64', 'fp32', 'one', 1, "
    "7), ('cuda', 'NVIDIA H200', 'GPU-1', 'a', 'gemm', '~64', 'fp32', 'two', "
    "2, 8), ('cpu', 'EPYC', NULL, 'a', 'gemm', '~64', 'fp32', 'three', NULL, "
    "9), ('cpu', 'EPYC', NULL, 'a', 'gemm', '~64', 'fp32', 'four', 99, 9)";

static int64_t run_of(const char *path, const char *candidate)
{
    char sql[120];
    snprintf(sql, sizeof(sql),
             "SELECT ifnull(runId, -1) FROM lab_tuned WHERE candidate = '%s'",
             candidate);
    return sample_int(path, sql);
}

/* Two runs with a winner each, one without a run, one of a run
 * that was deleted. */
static void make_tuned(void)
{
    for (int i = 0; i < 2; i++)
        assert_ok(sample_run(theirs, 1, 1, NULL));
    sample_sql(theirs, winners);
}

IMPORT_CASE(winners_come_once_with_their_runs)
{
    make_tuned();
    assert_ok(sample_run(here, 1, 1, NULL));
    for (int i = 0; i < 2; i++) {
        assert_ok(import(here, theirs, NULL, NULL));
        assert_rows(here, 4,
                    "lab_tuned WHERE lab = 'gemm' AND backend IS NOT NULL");
        assert_int_equal(run_of(here, "one"), 2);
        assert_int_equal(run_of(here, "two"), 3);
        assert_int_equal(run_of(here, "three"), -1);
        assert_int_equal(run_of(here, "four"), -1);
    }
}

/* Runs that were copied before without their winners, and a winner that is here
 * while its run was deleted. */
IMPORT_CASE(winners_find_their_runs_again)
{
    make_tuned();
    struct lab_database *db;
    struct lab_deleted deleted;
    assert_ok(import(here, theirs, NULL, NULL));
    sample_sql(here, "DELETE FROM lab_tuned WHERE candidate = 'one'");
    assert_ok(lab_database_open(&db, here, NULL));
    assert_ok(lab_run_delete(db, 2, &deleted));
    lab_database_close(db);
    assert_int_equal(run_of(here, "two"), 2); /* it is the device's */
    assert_ok(import(here, theirs, NULL, NULL));
    assert_int_equal(run_of(here, "one"), 1);
    assert_int_equal(run_of(here, "two"), 3);
    assert_rows(here, 4, "lab_tuned");
}

/* What is here stays as it is: a file cannot put its own rate in the place of
 * one that was measured here. Nor does it bring a row twice. */
IMPORT_CASE(a_winner_is_not_replaced)
{
    make_tuned();
    sample_sql(theirs, "UPDATE lab_tuned SET rate = 5; INSERT INTO lab_tuned "
                       "(backend, device, uuid, hostname, lab, sizeClass, "
                       "precision, candidate, runId, rate, measured_ns) SELECT "
                       "backend, device, uuid, hostname, lab, sizeClass, "
                       "precision, candidate, runId, 6, measured_ns FROM "
                       "lab_tuned");
    assert_ok(import(here, theirs, NULL, NULL));
    assert_rows(here, 4, "lab_tuned");
    assert_sql(here, 20, "SELECT total(rate) FROM lab_tuned");
    sample_sql(here, "UPDATE lab_tuned SET rate = 7, runId = 99 WHERE "
                     "candidate = 'one'");
    assert_ok(import(here, theirs, NULL, NULL));
    assert_sql(
        here, 7,
        "SELECT rate FROM lab_tuned WHERE candidate = 'one' AND runId = 1");
    assert_rows(here, 4, "lab_tuned");
}

/* Version 4 had no winners, and its file is whole without them. */
IMPORT_CASE(a_file_of_before_has_none)
{
    make_tuned();
    sample_sql(theirs, "DROP TABLE lab_tuned; DROP TABLE lab_said; DROP TABLE "
                       "sweep_row; PRAGMA user_version = 4");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 2);
}

IMPORT_CASE(bad_winners_are_refused)
{
    static const char *const bad[] = {
        "UPDATE lab_tuned SET candidate = x'00'",
        "UPDATE lab_tuned SET median_ns = 'soon'",
        "UPDATE lab_tuned SET runId = 'first'",
        "ALTER TABLE lab_tuned DROP COLUMN candidate",
    };
    assert_ok(sample_run(here, 1, 1, NULL));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        make_tuned();
        sample_sql(theirs, bad[i]);
        if (import(here, theirs, NULL, NULL) != LAB_E_DB ||
            strncmp(lab_error_id(), "import.", 7) != 0)
            fail_msg("%s: %s", bad[i], lab_error());
        assert_rows(here, 1, "run");
        assert_int_equal(remove(theirs), 0);
    }
}

RUN_TESTS()
