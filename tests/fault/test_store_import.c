/* Files of other people: what is copied, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/import.h"
#include "store/query.h"
#include "store_priv.h"
#include "store_samples.h"
#include "trace/intern.h"

static int cleanup(void **state)
{
    (void)state;
    lab_mem_fail_from(0);
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

struct seen {
    int imported;
    int skipped;
    int64_t as;
    int64_t steps;
    int64_t kernels;
    char uuid[96];
    char reason[64];
    char user[64];
};

static void see(void *user, const struct lab_imported *r)
{
    struct seen *s = user;
    s->imported += !r->skipped;
    s->skipped += r->skipped;
    s->as = r->as;
    s->steps += r->steps;
    s->kernels += r->kernels;
    snprintf(s->uuid, sizeof(s->uuid), "%s", r->uuid ? r->uuid : "");
    snprintf(s->reason, sizeof(s->reason), "%s", r->reason ? r->reason : "");
    snprintf(s->user, sizeof(s->user), "%s", r->user ? r->user : "");
}

static enum lab_status import(const char *db_path, const char *file,
                              const struct lab_import_options *options,
                              struct seen *seen)
{
    static const struct lab_import_options none = {NULL, false};
    struct lab_database *db;
    struct seen ignored;
    seen = seen ? seen : &ignored;
    *seen = (struct seen){0};
    assert_int_equal(lab_database_open(&db, db_path, NULL), LAB_OK);
    enum lab_status st =
        lab_import_file(db, file, options ? options : &none, see, seen);
    lab_database_close(db);
    return st;
}

/* How much is in a database: all rows of all tables, and where they end. */
static int64_t size_of(const char *path)
{
    static const char *const tables[] = {"run",
                                         "step",
                                         "op_kernel",
                                         "op_memory",
                                         "metric_value",
                                         "loss",
                                         "StringIds",
                                         "time_sum",
                                         "CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                         "CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "NVTX_EVENTS",
                                         "META_DATA_CAPTURE"};
    int64_t all = 0;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char sql[128];
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM \"%s\"", tables[i]);
        all = all * 31 + sample_int(path, sql);
    }
    return all;
}

/* ---- our own files ---- */

static void rows_names_and_identity_come_along(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    const struct lab_import_options label = {"anna", false};
    struct seen s;
    (void)state;
    /* other names in another order, and rows of our own, so that no id fits */
    assert_int_equal(sample_run(here, 2, 3, NULL), LAB_OK);
    sample_sql(here, "UPDATE StringIds SET id = 1000 - id, value = value || "
                     "CASE id WHEN 2 THEN '-other' ELSE '' END");
    assert_int_equal(sample_run(theirs, 3, 4, NULL), LAB_OK);
    assert_int_equal(sample_run(theirs, 1, 2, NULL), LAB_OK);
    sample_sql(theirs, "UPDATE run SET user = 'anna-s-login', hostname = "
                       "'lab-7' WHERE id = 1");
    assert_int_equal(import(here, theirs, &label, &s), LAB_OK);
    assert_int_equal(s.imported, 2);
    assert_int_equal(s.steps, 12 + 2);
    assert_int_equal(s.kernels, 24 + 4);
    assert_string_equal(s.user, "anna");
    /* the same, row by row, on both sides */
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
        assert_int_equal(sample_int(theirs, one), sample_int(here, two));
    }
    assert_int_equal(
        sample_int(here, "SELECT user = 'anna-s-login' AND label = 'anna' AND "
                         "hostname = 'lab-7' AND importedFrom = 'theirs.db' "
                         "AND imported IS NOT NULL AND summed = 1 FROM run "
                         "WHERE id = 2"),
        1);
    assert_int_equal(sample_int(here, "SELECT kernelRowFirst = 13 AND "
                                      "kernelRowLast = 36 FROM run WHERE id = "
                                      "2"),
                     1);
    assert_int_equal(sample_int(here, "SELECT total_ns FROM time_sum WHERE "
                                      "runId = 2 AND level = 0"),
                     3 * (4 * 1500 + 6));
    assert_int_equal(sample_int(here, "SELECT count(*) FROM loss WHERE runId = "
                                      "2"),
                     3);
}

static void nothing_is_doubled(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    struct seen s;
    (void)state;
    assert_int_equal(sample_run(theirs, 2, 2, NULL), LAB_OK);
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    int64_t before = size_of(here);
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 1);
    assert_int_equal(s.as, 1);
    assert_string_equal(s.reason, "it is here already");
    assert_int_equal(size_of(here), before);
    /* one more run there: only that one comes */
    assert_int_equal(sample_run(theirs, 1, 1, NULL), LAB_OK);
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.imported, 1);
    assert_int_equal(s.skipped, 1);
    /* and back: all of it is there */
    assert_int_equal(import(theirs, here, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 2);
    /* a file into itself */
    assert_int_equal(import(here, here, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 2);
    /* another name for the same run is the same run */
    sample_sql(theirs, "UPDATE run SET uuid = 'made-up-' || id");
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 2);
}

static void dry_run_changes_nothing(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    const struct lab_import_options dry = {NULL, true};
    struct seen s;
    (void)state;
    assert_int_equal(sample_run(here, 1, 1, NULL), LAB_OK);
    assert_int_equal(sample_run(theirs, 2, 2, NULL), LAB_OK);
    int64_t before = size_of(here);
    assert_int_equal(import(here, theirs, &dry, &s), LAB_OK);
    assert_int_equal(s.imported, 1);
    assert_int_equal(s.kernels, 8);
    assert_int_equal(size_of(here), before);
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.as, 2);
}

/* A database that has never seen version 2, and its copy that has. */
static void version_one_comes_in_once(void **state)
{
    const char *here = sample_path("here.db");
    const char *old = sample_path("old.db");
    struct lab_database db = {0};
    struct lab_database *opened;
    struct seen s;
    int count;
    char path[600];
    (void)state;
    snprintf(path, sizeof(path), "%s", old);
    db.path = path;
    assert_int_equal(sqlite3_open(old, &db.sql), SQLITE_OK);
    assert_int_equal(
        lab_database_migrate(&db, lab_database_migrations(&count), 1), LAB_OK);
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
    assert_int_equal(import(here, old, NULL, &s), LAB_OK);
    assert_int_equal(s.imported, 2);
    assert_int_equal(s.steps, 2);
    assert_int_equal(sample_int(here, "SELECT count(*) FROM run WHERE status = "
                                      "'interrupted'"),
                     1);
    assert_int_equal(sample_int(old, "PRAGMA user_version"), 1); /* as it was */
    assert_int_equal(lab_database_open(&opened, old, NULL), LAB_OK);
    lab_database_close(opened);
    assert_int_equal(import(here, old, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 2);
}

static void a_run_that_is_recorded_now_waits(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    struct lab_run_info info;
    struct lab_run_summary summary;
    struct lab_writer *writer;
    struct seen s;
    (void)state;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_int_equal(lab_writer_new(&writer, theirs, &info, NULL), LAB_OK);
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 1);
    assert_string_equal(s.reason, "it is still being recorded");
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_OK);
    lab_writer_free(writer);
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.imported, 1);
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

static void nsys_becomes_a_run(void **state)
{
    const char *here = sample_path("here.db");
    const char *file = sample_path("report.sqlite");
    struct seen s;
    (void)state;
    assert_int_equal(sample_run(here, 1, 1, NULL), LAB_OK);
    make_nsys(file, true);
    assert_int_equal(import(here, file, NULL, &s), LAB_OK);
    assert_int_equal(s.imported, 1);
    assert_int_equal(s.kernels, 50);
    assert_int_equal(
        sample_int(here, "SELECT device = 'NVIDIA H200' AND smCount = 132 AND "
                         "importedFrom = 'report.sqlite' AND started_ns = "
                         "1700000000000000000 AND kernelRowFirst = 3 FROM run "
                         "WHERE id = 2"),
        1);
    assert_int_equal(sample_int(here, "SELECT min(start) - 1700000000000000000 "
                                      "FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE "
                                      "runId = 2"),
                     1000);
    assert_int_equal(
        sample_int(here,
                   "SELECT count(*) FROM NVTX_EVENTS AS e LEFT JOIN "
                   "StringIds AS s ON s.id = e.textId WHERE runId = 2 AND "
                   "coalesce(e.text, s.value) IN ('in text', 'a "
                   "range')"),
        2);
    assert_int_equal(
        sample_int(here, "SELECT median_ns = 42 AND gridX = 4 AND count = 50 "
                         "FROM time_sum AS t JOIN StringIds AS s ON s.id = "
                         "t.demangledName WHERE runId = 2 AND s.value = 'void "
                         "gemm<8>()'"),
        1);
    assert_int_equal(import(here, file, NULL, &s), LAB_OK);
    assert_int_equal(s.skipped, 1);
    assert_int_equal(s.as, 2);
    /* a few tables and columns only: another run */
    make_nsys(sample_path("small.sqlite"), false);
    assert_int_equal(import(here, sample_path("small.sqlite"), NULL, &s),
                     LAB_OK);
    assert_int_equal(s.imported, 1);
    assert_int_equal(s.kernels, 50);
    struct lab_deleted deleted;
    struct lab_database *db;
    assert_int_equal(lab_database_open(&db, here, NULL), LAB_OK);
    assert_int_equal(lab_run_delete(db, 2, &deleted), LAB_OK);
    assert_int_equal(deleted.kernels, 50);
    lab_database_close(db);
}

/* ---- what is refused ---- */

/* `change` makes a good file bad; the message must have `word`. */
static const struct {
    const char *change;
    const char *word;
} refused[] = {
    {"PRAGMA user_version = 99", "newer program"},
    {"PRAGMA application_id = 7", "neither a database"},
    {"DROP TABLE run", "table of runs"},
    {"ALTER TABLE run DROP COLUMN lesson", "table of runs"},
    {"DROP TABLE step; CREATE VIEW step AS SELECT 1 AS runId", "a view"},
    {"DROP TABLE loss; CREATE VIRTUAL TABLE loss USING fts5(runId)", "virtual"},
    {"ALTER TABLE loss RENAME TO l; CREATE TABLE loss (runId INTEGER, "
     "iteration INTEGER, loss REAL AS (iteration * 2), accuracy REAL, "
     "moment_ns INTEGER); DROP TABLE l",
     "computed"},
    {"UPDATE StringIds SET value = x'00FF' WHERE id = 1", "StringIds.value"},
    {"UPDATE StringIds SET value = hex(zeroblob(40000)) WHERE id = 1",
     "StringIds.value"},
    {"UPDATE step SET stepIndex = 'zero' WHERE exec = 2", "step.stepIndex"},
    {"UPDATE step SET phase = 4 WHERE exec = 1", "step.phase"},
    {"UPDATE step SET start_ns = -9223372036854775807 WHERE exec = 1",
     "step.start_ns"},
    {"UPDATE step SET kernelRowFirst = 0 WHERE exec = 1",
     "step.kernelRowFirst"},
    {"UPDATE step SET flop = 'many' WHERE exec = 1", "step.flop"},
    {"UPDATE op_kernel SET kernelRow = 9223372036854775807 WHERE kernelRow = "
     "2",
     "op_kernel.kernelRow"},
    {"UPDATE op_kernel SET kernelRow = -1 WHERE kernelRow = 2",
     "op_kernel.kernelRow"},
    {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1e300 WHERE kernelRow = 1",
     "CUPTI_ACTIVITY_KIND_KERNEL.end"},
    {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'x' WHERE kernelRow = 1",
     "KERNEL.gridX"},
    {"UPDATE run SET lesson = x'0102'", "run 1"},
    {"UPDATE run SET seed = 'seven'", "run 1"},
    {"UPDATE run SET loss_last = 'low'", "run 1"},
    {"UPDATE run SET id = -3", "run -3"},
    {"UPDATE run SET uuid = '../../etc'", "run 1"},
    {"UPDATE run SET uuid = hex(zeroblob(60))", "run 1"},
    {"PRAGMA ignore_check_constraints = 1; UPDATE run SET status = 'odd'",
     "run"},
    {"ALTER TABLE step RENAME TO s; CREATE TABLE step AS SELECT * FROM s; "
     "INSERT INTO step SELECT * FROM s; DROP TABLE s",
     "UNIQUE"}, /* every step twice */
    {"ALTER TABLE op_memory DROP COLUMN runId", "runId"},
};

static char *read_all(const char *path, long *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = ftell(f);
    rewind(f);
    char *bytes = test_malloc((size_t)*size);
    assert_int_equal(fread(bytes, 1, (size_t)*size, f), *size);
    fclose(f);
    return bytes;
}

static void write_all(const char *path, const char *bytes, long size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, (size_t)size, f), size);
    fclose(f);
}

static void bad_files_change_nothing(void **state)
{
    const char *here = sample_path("here.db");
    const char *bad = sample_path("bad.db");
    (void)state;
    assert_int_equal(sample_run(here, 1, 2, NULL), LAB_OK);
    int64_t before = size_of(here);
    long size;
    assert_int_equal(sample_run(bad, 1, 2, NULL), LAB_OK);
    sample_sql(bad, "PRAGMA journal_mode = DELETE");
    char *good = read_all(bad, &size);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char change[2048];
        write_all(bad, good, size);
        snprintf(change, sizeof(change), "PRAGMA synchronous = OFF; %s",
                 refused[i].change);
        sample_sql(bad, change);
        enum lab_status st = import(here, bad, NULL, NULL);
        if (st != LAB_E_DB || !strstr(lab_error(), refused[i].word) ||
            !strstr(lab_error(), "bad.db"))
            fail_msg("%s: %d, %s", refused[i].change, (int)st, lab_error());
        assert_int_equal(size_of(here), before);
    }
    /* after all that a good file still comes in */
    write_all(bad, good, size);
    assert_int_equal(import(here, bad, NULL, NULL), LAB_OK);
    test_free(good);
}

/* A schema that wants to do something does not get to. */
static void schemas_of_others_do_nothing(void **state)
{
    const char *here = sample_path("here.db");
    const char *bad = sample_path("bad.db");
    struct seen s;
    (void)state;
    assert_int_equal(sample_run(bad, 1, 2, NULL), LAB_OK);
    sample_sql(bad,
               "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM step; "
               "END; CREATE VIEW peek AS SELECT load_extension('/tmp/x');"
               "CREATE INDEX ix ON step (abs(exec));"
               "CREATE TABLE more (x DEFAULT (hex(randomblob(9))))");
    assert_int_equal(import(here, bad, NULL, &s), LAB_OK);
    assert_int_equal(s.steps, 2);
    assert_int_equal(sample_int(here, "SELECT count(*) FROM sqlite_master "
                                      "WHERE name IN ('t', 'peek', 'ix', "
                                      "'more')"),
                     0);
}

static void what_is_no_database_is_refused(void **state)
{
    const char *here = sample_path("here.db");
    const char *file = sample_path("file");
    struct lab_database *db;
    (void)state;
    assert_int_equal(lab_database_open(&db, here, NULL), LAB_OK);
    lab_database_close(db);
    assert_int_equal(import(here, "/nowhere/at/all", NULL, NULL),
                     LAB_E_NOTFOUND);
    assert_int_equal(import(here, sample_dir(), NULL, NULL), LAB_E_DB);
    assert_int_equal(mkfifo(file, 0600), 0); /* must not be waited for */
    assert_int_equal(import(here, file, NULL, NULL), LAB_E_DB);
    unlink(file);
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fflush(f), 0);
    assert_int_equal(import(here, file, NULL, NULL), LAB_E_DB);
    fputs("SQLite format 3, or so it says", f);
    fclose(f);
    assert_int_equal(import(here, file, NULL, NULL), LAB_E_DB);
    unlink(file);
    sample_sql(file, "CREATE TABLE mail (subject TEXT)");
    assert_int_equal(import(here, file, NULL, NULL), LAB_E_DB);
    assert_non_null(strstr(lab_error(), "neither"));
}

/* A good file with some bytes changed, or cut: it comes in or it is refused,
 * and the database is whole and as long as before in the second case. */
static void damaged_files_do_no_harm(void **state)
{
    const char *here = sample_path("here.db");
    const char *bad = sample_path("bad.db");
    uint64_t seed = 5;
    long size;
    int good = 0;
    (void)state;
    assert_int_equal(sample_run(bad, 4, 6, NULL), LAB_OK);
    sample_sql(bad, "PRAGMA journal_mode = DELETE");
    char *whole = read_all(bad, &size);
    char *copy = test_malloc((size_t)size);
    struct lab_database *db;
    assert_int_equal(lab_database_open(&db, here, NULL), LAB_OK);
    const struct lab_import_options dry = {NULL, true};
    for (int round = 0; round < 120; round++) {
        long length = size;
        memcpy(copy, whole, (size_t)size);
        for (int k = 0; k < 1 + round % 8; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            long at = (long)((seed >> 20) % (uint64_t)size);
            if (round % 3 == 0)
                at %= 4096; /* the head and the schema */
            copy[at] = (char)(seed >> 56);
        }
        if (round % 5 == 4)
            length = (long)((seed >> 24) % (uint64_t)size);
        write_all(bad, copy, length);
        struct seen s = {0};
        enum lab_status st = lab_import_file(db, bad, &dry, see, &s);
        if (st != LAB_OK && st != LAB_E_DB)
            fail_msg("round %d: %d, %s", round, (int)st, lab_error());
        good += st == LAB_OK;
    }
    assert_true(good < 120);
    assert_int_equal(lab_database_check(db), LAB_OK);
    lab_database_close(db);
    assert_int_equal(sample_int(here, "SELECT count(*) FROM run"), 0);
    write_all(bad, whole, size);
    assert_int_equal(import(here, bad, NULL, NULL), LAB_OK);
    test_free(copy);
    test_free(whole);
}

static void memory_may_fail_anywhere(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    const struct lab_import_options none = {NULL, false};
    struct lab_database *db;
    struct seen s = {0};
    (void)state;
    assert_int_equal(sample_run(theirs, 1, 2, NULL), LAB_OK);
    assert_int_equal(lab_database_open(&db, here, NULL), LAB_OK);
    enum lab_status st = LAB_E_NOMEM;
    int64_t n = 0;
    while (st == LAB_E_NOMEM && n < 100000) {
        n += n < 60 ? 1 : 9;
        lab_mem_fail_from(n);
        st = lab_import_file(db, theirs, &none, see, &s);
        lab_mem_fail_from(0);
        if (st == LAB_E_NOMEM)
            assert_int_equal(sample_int(here, "SELECT count(*) FROM run"), 0);
    }
    assert_int_equal(st, LAB_OK);
    assert_true(n > 100);
    lab_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_names_and_identity_come_along, cleanup),
        cmocka_unit_test_teardown(nothing_is_doubled, cleanup),
        cmocka_unit_test_teardown(dry_run_changes_nothing, cleanup),
        cmocka_unit_test_teardown(version_one_comes_in_once, cleanup),
        cmocka_unit_test_teardown(a_run_that_is_recorded_now_waits, cleanup),
        cmocka_unit_test_teardown(nsys_becomes_a_run, cleanup),
        cmocka_unit_test_teardown(bad_files_change_nothing, cleanup),
        cmocka_unit_test_teardown(schemas_of_others_do_nothing, cleanup),
        cmocka_unit_test_teardown(what_is_no_database_is_refused, cleanup),
        cmocka_unit_test_teardown(damaged_files_do_no_harm, cleanup),
        cmocka_unit_test_teardown(memory_may_fail_anywhere, cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
