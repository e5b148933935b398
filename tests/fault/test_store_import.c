/* Files of other people: what is copied. */
#include "test.h"

#include <sqlite3.h>

#include "import_sample.h"
#include "store/delete.h"
#include "db/store_priv.h"

/* ---- our own files ---- */

/* Runs 1 and 2 there are 2 and 3 here, row by row, with their names. */
static void same_rows(void)
{
    static const char joined[] =
        "SELECT total(s.exec * 7 + s.iteration * 31 + s.time_ns + "
        "s.kernelCount + length(n.value) * 3 + length(v.value) + k.start + "
        "(k.end - k.start) * 11 + length(d.value) + o.occupancy_pct) FROM step "
        "s JOIN StringIds n ON n.id = s.nameId JOIN StringIds v ON v.id = "
        "s.variantId JOIN op_kernel o ON o.kernelRow BETWEEN s.kernelRowFirst "
        "AND s.kernelRowLast AND o.stepExec = s.exec AND o.runId = s.runId "
        "JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.kernelRow = o.kernelRow JOIN "
        "StringIds d ON d.id = k.demangledName WHERE s.runId = %d";
    char one[1024];
    char two[1024];
    for (int run = 1; run <= 2; run++) {
        snprintf(one, sizeof(one), joined, run);
        snprintf(two, sizeof(two), joined, run + 1);
        assert_true(sample_int(theirs, one) > 0);
        assert_sql(theirs, sample_int(here, two), one);
    }
}

IMPORT_CASE(rows_names_and_identity_come_along)
{
    const struct lab_import_options label = {"anna", false};
    /* other names in another order, and rows of our own, so that no id fits */
    assert_ok(sample_run(here, 2, 3, NULL));
    sample_sql(here, "UPDATE StringIds SET id = 1000 - id, value = value || "
                     "CASE id WHEN 2 THEN '-other' ELSE '' END");
    assert_ok(sample_run(theirs, 3, 4, NULL));
    assert_ok(sample_run(theirs, 1, 2, NULL));
    sample_sql(theirs, "UPDATE run SET user = 'anna-s-login', hostname = "
                       "'lab-7' WHERE id = 1");
    assert_ok(import(here, theirs, &label, s));
    assert_int_equal(s->imported, 2);
    assert_int_equal(s->steps, 12 + 2);
    assert_int_equal(s->kernels, 24 + 4);
    assert_string_equal(s->user, "anna");
    same_rows();
    assert_sql(here, 1,
               "SELECT user = 'anna-s-login' AND label = 'anna' AND hostname = "
               "'lab-7' AND importedFrom = 'theirs.db' AND imported IS NOT "
               "NULL AND summed = 1 FROM run WHERE id = 2");
    assert_sql(here, 1,
               "SELECT kernelRowFirst = 13 AND kernelRowLast = 36 FROM run "
               "WHERE id = 2");
    assert_sql(here, 3 * (4 * 1500 + 6),
               "SELECT total_ns FROM time_sum WHERE runId = 2 AND level = 0");
    assert_rows(here, 3, "loss WHERE runId = 2");
}

static void first_text(const char *path, const char *sql, char *out,
                       size_t room)
{
    sqlite3_stmt *stmt;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(out, room, "%s", (const char *)sqlite3_column_text(stmt, 0));
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A run that ships has the rows of its first iterations alone. */
IMPORT_CASE(sums_of_more_than_the_rows_stay)
{
    static const char all[] = "SELECT group_concat(t.level || ' ' || count || "
                              "' ' || total_ns || ' ' || ifnull(n.value, '') "
                              "|| ' ' || hex(times), ';') FROM time_sum AS t "
                              "LEFT JOIN StringIds AS n ON n.id = t.nameId "
                              "WHERE runId = %d AND level BETWEEN 0 AND 4";
    char sql[600];
    char texts[2][20000];
    assert_ok(sample_run(here, 2, 3, NULL));
    sample_sql(here, "UPDATE StringIds SET id = 1000 - id");
    assert_ok(sample_run(theirs, 3, 4, NULL));
    sample_sql(theirs,
               "DELETE FROM op_kernel WHERE stepExec IN (SELECT exec FROM step "
               "WHERE iteration > 0); DELETE FROM step WHERE iteration > 0");
    assert_ok(import(here, theirs, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof(sql), all, i + 1);
        first_text(i ? here : theirs, sql, texts[i], sizeof(texts[i]));
    }
    assert_true(strlen(texts[0]) > 100);
    assert_string_equal(texts[1], texts[0]);
    assert_sql(here, 1, "SELECT summed FROM run WHERE id = 2");
}

IMPORT_CASE(nothing_is_doubled)
{
    assert_ok(sample_run(theirs, 2, 2, NULL));
    assert_ok(import(here, theirs, NULL, s));
    int64_t before = size_of(here);
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->skipped, 1);
    assert_int_equal(s->as, 1);
    assert_string_equal(s->reason, "it is here already");
    assert_int_equal(size_of(here), before);
    /* one more run there: only that one comes */
    assert_ok(sample_run(theirs, 1, 1, NULL));
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 1);
    assert_int_equal(s->skipped, 1);
    /* and back: all of it is there */
    assert_ok(import(theirs, here, NULL, s));
    assert_int_equal(s->skipped, 2);
    /* a file into itself */
    assert_ok(import(here, here, NULL, s));
    assert_int_equal(s->skipped, 2);
    /* another name for the same run is the same run */
    sample_sql(theirs, "UPDATE run SET uuid = 'made-up-' || id");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->skipped, 2);
}

IMPORT_CASE(ceilings_come_once)
{
    static const char all[] = "SELECT count(*) FROM ceiling";
    assert_ok(sample_run(here, 1, 1, NULL));
    assert_ok(sample_run(theirs, 1, 1, NULL));
    sample_sql(theirs,
               "INSERT INTO ceiling (backend, device, uuid, hostname, name, "
               "best_per_s, measured_ns) VALUES ('cuda', 'NVIDIA H200', "
               "'GPU-1', 'a', 'copy', 4e12, 77), ('cpu', 'EPYC', NULL, 'a', "
               "'copy', 2e10, 77)");
    for (int i = 0; i < 2; i++) {
        assert_ok(import(here, theirs, NULL, s));
        assert_sql(here, 2, all);
    }
    sample_sql(theirs, "UPDATE ceiling SET measured_ns = 78 WHERE backend = "
                       "'cpu'");
    assert_ok(import(here, theirs, NULL, s));
    assert_sql(here, 3, all);
    assert_sql(here, 4000000000000,
               "SELECT best_per_s FROM ceiling WHERE uuid = 'GPU-1'");
}

IMPORT_CASE(dry_run_changes_nothing)
{
    const struct lab_import_options dry = {NULL, true};
    assert_ok(sample_run(here, 1, 1, NULL));
    assert_ok(sample_run(theirs, 2, 2, NULL));
    int64_t before = size_of(here);
    assert_ok(import(here, theirs, &dry, s));
    assert_int_equal(s->imported, 1);
    assert_int_equal(s->kernels, 8);
    assert_int_equal(size_of(here), before);
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->as, 2);
}

/* A database that has never seen version 2, and its copy that has. */
IMPORT_CASE(version_one_comes_in_once)
{
    const char *old = sample_path("old.db");
    struct lab_database db = {0};
    struct lab_database *opened;
    char path[600];
    snprintf(path, sizeof(path), "%s", old);
    db.path = path;
    assert_int_equal(sqlite3_open(old, &db.sql), SQLITE_OK);
    assert_ok(lab_database_migrate(&db, lab_sql_migrations, 1));
    sqlite3_close(db.sql);
    sample_sql(
        old,
        "INSERT INTO run (lesson, backend, status, hostname, pid, "
        "processStart, started_ns) VALUES ('mlp', 'cpu', 'done', 'box', 77, "
        "1234, 1700000000000000000), ('mlp', 'cpu', 'running', 'box', 78, 9, "
        "1700000000000000001);"
        "INSERT INTO StringIds VALUES (5, 'fc1.matmul');"
        "INSERT INTO step (runId, exec, iteration, stepIndex, phase, nameId, "
        "time_ns) VALUES (1, 1, 0, 0, 0, 5, 100), (1, 2, 0, 1, 3, 5, 50)");
    assert_ok(import(here, old, NULL, s));
    assert_int_equal(s->imported, 2);
    assert_int_equal(s->steps, 2);
    assert_rows(here, 1, "run WHERE status = 'interrupted'");
    assert_sql(old, 1, "PRAGMA user_version"); /* as it was */
    assert_ok(lab_database_open(&opened, old, NULL));
    lab_database_close(opened);
    assert_ok(import(here, old, NULL, s));
    assert_int_equal(s->skipped, 2);
}

/* A lab that failed before its first row is a lab; another tool's run is
 * neither. */
IMPORT_CASE(kinds_come_along)
{
    for (int i = 0; i < 4; i++)
        assert_ok(sample_run(theirs, 1, 1, NULL));
    sample_sql(theirs,
               "UPDATE run SET kind = 'lab', status = 'failed' WHERE id = 2;"
               "UPDATE run SET kind = NULL, lesson = NULL, importedFrom = "
               "'report.sqlite' WHERE id = 3;"
               "UPDATE run SET kind = 'lab' WHERE id = 4;"
               "INSERT INTO lab_row (runId, place, lab) VALUES (4, 0, 'gemm')");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 4);
    assert_sql(here, 1,
               "SELECT group_concat(ifnull(kind, '-'), ',') = "
               "'lesson,lab,-,lab' FROM (SELECT kind FROM run ORDER BY id)");
    /* a file of version 4 leaves it to its rows */
    sample_sql(theirs, "ALTER TABLE run DROP COLUMN kind;"
                       "UPDATE run SET uuid = 'old-' || id, pid = pid + 1000");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 4);
    assert_sql(
        here, 1,
        "SELECT group_concat(ifnull(kind, '-'), ',') = 'lesson,lesson,-,lab' "
        "FROM (SELECT kind FROM run WHERE id > 4 ORDER BY id)");
}

/* What version 11 has: copied with its run, and not there in a file of before. */
IMPORT_CASE(ideas_and_choices_are_copied)
{
    assert_ok(sample_run(here, 1, 1, NULL));
    for (int i = 0; i < 2; i++)
        assert_ok(sample_run(theirs, 1, 1, NULL));
    sample_sql(theirs,
               "INSERT INTO lab_row (runId, place, idea) VALUES (2, 0, 'i');"
               "INSERT INTO sweep_row (runId, place, variants, variantsFrom) "
               "VALUES (2, 0, 'fc1=blas', 'measured');"
               "INSERT INTO choice (runId, place, step, phaseName, time_ns) "
               "VALUES (2, 0, 'fc1.matmul', 'forward', 5)");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 2);
    assert_rows(here, 1, "lab_row WHERE runId = 3 AND idea = 'i'");
    assert_rows(here, 1,
                "sweep_row WHERE runId = 3 AND variants = 'fc1=blas' AND "
                "variantsFrom = 'measured'");
    assert_rows(here, 1,
                "choice WHERE runId = 3 AND step = 'fc1.matmul' AND phaseName "
                "= 'forward' AND time_ns = 5 AND nextVariant IS NULL");
    sample_sql(theirs, "DROP TABLE choice;"
                       "ALTER TABLE lab_row DROP COLUMN idea;"
                       "ALTER TABLE sweep_row DROP COLUMN variants;"
                       "ALTER TABLE sweep_row DROP COLUMN variantsFrom;"
                       "PRAGMA user_version = 10;"
                       "UPDATE run SET uuid = 'old-' || id, pid = pid + 1000");
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 2);
    assert_rows(here, 1, "lab_row WHERE runId > 3 AND idea IS NULL");
    assert_rows(here, 1, "choice");
}

IMPORT_CASE(a_run_that_is_recorded_now_waits)
{
    struct lab_run_info info;
    struct lab_run_summary summary;
    struct lab_writer *writer;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_ok(lab_writer_new(&writer, theirs, &info, NULL));
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->skipped, 1);
    assert_string_equal(s->reason, "it is still being recorded");
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
    assert_ok(import(here, theirs, NULL, s));
    assert_int_equal(s->imported, 1);
}

/* ---- exports of nsys ---- */

/* As nsys writes them: a name in text or in textId, moments from the start of
 * the session, tables only where there were rows. */
static void make_nsys(const char *path, bool full)
{
    sample_sql(
        path,
        "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT "
        "NOT NULL);"
        "INSERT INTO StringIds VALUES (11, 'gemm'), (12, 'void gemm<8>()'), "
        "(13, 'a range'), (14, 'cudaLaunchKernel_v7000');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end "
        "INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT "
        "NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid "
        "INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, "
        "gridX INTEGER NOT NULL, gridY INTEGER, gridZ INTEGER, blockX INTEGER, "
        "blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER, "
        "staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, "
        "columnOfTomorrow BLOB);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT "
        "50) INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 1000 + 100 * i, "
        "1000 + 100 * i + 40 + i % 5, 0, 1, 7, i, 1, 12, 11, 4, 1, 1, 128, 1, "
        "1, 40, 0, 0, x'00' FROM n;"
        "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
        "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', "
        "'3.24.14')");
    if (full)
        sample_sql(
            path,
            "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, chipName "
            "TEXT, smCount INTEGER);"
            "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 'GH100', "
            "132);"
            "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, "
            "utcTime TEXT, localTime TEXT);"
            "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES "
            "(1700000000000000000, '2023-11-14T22:13:20', 'x');"
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end "
            "INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId "
            "INTEGER, nameId INTEGER, returnValue INTEGER, callchainId "
            "INTEGER);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, 0, 77, "
            "0, 14, 0, NULL);"
            "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType "
            "INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);"
            "INSERT INTO NVTX_EVENTS VALUES (800, 2000, 59, 'in text', NULL, "
            "77), (800, 2000, 59, NULL, 13, 77)");
}

IMPORT_CASE(nsys_becomes_a_run)
{
    const char *file = sample_path("report.sqlite");
    assert_ok(sample_run(here, 1, 1, NULL));
    make_nsys(file, true);
    assert_ok(import(here, file, NULL, s));
    assert_int_equal(s->imported, 1);
    assert_int_equal(s->kernels, 50);
    assert_sql(
        here, 1,
        "SELECT device = 'NVIDIA H200' AND smCount = 132 AND importedFrom = "
        "'report.sqlite' AND started_ns = 1700000000000000000 AND "
        "kernelRowFirst = 3 FROM run WHERE id = 2");
    assert_sql(here, 1000,
               "SELECT min(start) - 1700000000000000000 FROM "
               "CUPTI_ACTIVITY_KIND_KERNEL WHERE runId = 2");
    assert_rows(
        here, 2,
        "NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId WHERE "
        "runId = 2 AND coalesce(e.text, s.value) IN ('in text', 'a range')");
    assert_sql(here, 1,
               "SELECT median_ns = 42 AND gridX = 4 AND count = 50 FROM "
               "time_sum AS t JOIN StringIds AS s ON s.id = t.demangledName "
               "WHERE runId = 2 AND s.value = 'void gemm<8>()'");
    assert_ok(import(here, file, NULL, s));
    assert_int_equal(s->skipped, 1);
    assert_int_equal(s->as, 2);
    /* a few tables and columns only: another run */
    make_nsys(sample_path("small.sqlite"), false);
    assert_ok(import(here, sample_path("small.sqlite"), NULL, s));
    assert_int_equal(s->imported, 1);
    assert_int_equal(s->kernels, 50);
    struct lab_deleted deleted;
    struct lab_database *db;
    assert_ok(lab_database_open(&db, here, NULL));
    assert_ok(lab_run_delete(db, 2, &deleted));
    assert_int_equal(deleted.kernels, 50);
    lab_database_close(db);
}

/* What the measured program wrote is a text of the export. */
IMPORT_CASE(nsys_may_hold_a_long_text)
{
    const char *file = sample_path("report.sqlite");
    make_nsys(file, true);
    sample_sql(file, "INSERT INTO StringIds VALUES (21, "
                     "hex(zeroblob(40000)) || 'x')");
    assert_ok(import(here, file, NULL, s));
    assert_int_equal(s->kernels, 50);
}

/* nsys writes no table in which there is no row. */
IMPORT_CASE(an_empty_export_is_a_run_without_kernels)
{
    static const char *const more[] = {
        "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)",
        "CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER PRIMARY KEY, name "
        "TEXT, label TEXT)",
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)",
    };
    for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
        const char *file = sample_path("empty.sqlite");
        remove(here);
        remove(file);
        sample_sql(file, "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY "
                         "KEY, value TEXT NOT NULL)");
        enum lab_status st = import(here, file, NULL, s);
        assert_int_equal(st, LAB_E_DB); /* that table alone may be anyone's */
        assert_true(error_is("[import.foreign] "));
        sample_sql(file, more[i]);
        assert_ok(import(here, file, NULL, s));
        assert_int_equal(s->imported, 1);
        assert_int_equal(s->kernels, 0);
    }
}

/* ---- exports of nsys by their version ---- */

/* What all versions have. */
static const char any_version[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT "
    "NULL);"
    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'void gemm<8>()'), (3, "
    "'cudaLaunchKernel_v7000'), (4, 'by id'), (5, 'a thread');";

/* Early 2021: the GPU in another table, the text of a range in the row, no
 * ENUM_ tables, no clusters, graphs or green contexts. */
static const char version_2021[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end "
    "INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER, streamId INTEGER, "
    "correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
    "shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX "
    "INTEGER, blockY INTEGER, blockZ INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 1100, 0, 1, 7, 1, "
    "77, 2, 1, 4, 1, 1, 32, 1, 1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, "
    "globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, 77, 1, 3);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType "
    "INTEGER, rangeId INTEGER, text TEXT, globalTid INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (800, 1200, 59, NULL, 'by id', 77);"
    "CREATE TABLE TARGET_INFO_CUDA_GPU (id INTEGER, name TEXT, deviceId "
    "INTEGER, numMultiprocessors INTEGER, computeCapabilityMajor INTEGER);"
    "INSERT INTO TARGET_INFO_CUDA_GPU VALUES (0, 'NVIDIA H200', 0, 132, 9)";

/* Later than 3.24: columns in another order, with others between them, tables
 * that is unknown here, a view and an index, text and textId. */
static const char version_later[] =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (priority INTEGER, shortName "
    "INTEGER, end INTEGER NOT NULL, start INTEGER NOT NULL, deviceId INTEGER, "
    "payload BLOB, streamId INTEGER, correlationId INTEGER, demangledName "
    "INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, "
    "blockY INTEGER, blockZ INTEGER, clusterX INTEGER, newColumn TEXT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-5, 1, 1100, 1000, 0, "
    "x'00FF', 7, 1, 2, 4, 1, 1, 32, 1, 1, 2, 'new');"
    "CREATE INDEX kernelStart ON CUPTI_ACTIVITY_KIND_KERNEL (start);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (nameId INTEGER, start INTEGER, "
    "end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId "
    "INTEGER, returnValue INTEGER, callchainId INTEGER, extra INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (3, 900, 950, 0, 77, 1, "
    "0, 8, 9);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, "
    "text TEXT, globalTid INTEGER, textId INTEGER, payloadId INTEGER);"
    "INSERT INTO NVTX_EVENTS VALUES (800, 1200, 59, NULL, 77, 4, 1);"
    "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid "
    "INTEGER);"
    "INSERT INTO ThreadNames VALUES (5, 20, 77);"
    "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER);"
    "INSERT INTO COMPOSITE_EVENTS VALUES (1, 1);"
    "CREATE VIEW someView AS SELECT * FROM StringIds;"
    "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER, "
    "tomorrow INTEGER);"
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200', 132, 1);"
    "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.2.0')";

IMPORT_CASE(versions_of_nsys_come_in)
{
    static const char *const versions[] = {version_2021, version_later};
    for (int i = 0; i < 2; i++) {
        char name[32];
        char sql[1024];
        snprintf(name, sizeof(name), "version%d.sqlite", i);
        sample_sql(sample_path(name), any_version);
        sample_sql(sample_path(name), versions[i]);
        /* both would be the same run: it is known by its times */
        if (i > 0)
            sample_sql(sample_path(name),
                       "UPDATE NVTX_EVENTS SET start = start + 1");
        assert_ok(import(here, sample_path(name), NULL, s));
        assert_int_equal(s->kernels, 1);
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM run AS r JOIN "
                 "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.runId = r.id JOIN "
                 "StringIds AS kernel ON kernel.id = k.demangledName JOIN "
                 "CUPTI_ACTIVITY_KIND_RUNTIME AS c ON c.runId = r.id AND "
                 "c.correlationId = k.correlationId JOIN StringIds AS call ON "
                 "call.id = c.nameId JOIN NVTX_EVENTS AS n ON n.runId = r.id "
                 "AND n.globalTid = c.globalTid LEFT JOIN StringIds AS t ON "
                 "t.id = n.textId WHERE r.id = %d AND r.device = 'NVIDIA H200' "
                 "AND r.smCount = 132 AND k.start = 1000 AND k.end = 1100 AND "
                 "k.gridX = 4 AND k.clusterX IS %s AND kernel.value = 'void "
                 "gemm<8>()' AND call.value = 'cudaLaunchKernel_v7000' AND "
                 "c.start = 900 AND ifnull(t.value, n.text) = 'by id'",
                 i + 1, i ? "2" : "NULL");
        assert_sql(here, 1, sql);
    }
}

RUN_TESTS()
