/* Files of other people: what is refused. */
#include "test.h"
#include "file.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "import_sample.h"
#include "db/store_priv.h"

/* ---- what is refused ---- */

/* `change` makes a good file bad; the error must be `word`. */
static const struct {
    const char *change;
    const char *word;
} refused[] = {
    {"PRAGMA user_version = 99", "[import.newer] newer program"},
    {"PRAGMA user_version = 0", "[import.schema] its schema is 0"},
    {"PRAGMA user_version = -1", "[import.schema] its schema is -1"},
    {"PRAGMA application_id = 0", "[import.no-id] without its application_id"},
    {"PRAGMA application_id = 7", "[import.foreign] neither a database"},
    {"DROP TABLE run", "[import.runs] table of runs"},
    {"ALTER TABLE run DROP COLUMN lesson", "[import.runs] table of runs"},
    {"DROP TABLE step; CREATE VIEW step AS SELECT 1 AS runId",
     "[import.view] a view"},
    {"DROP TABLE loss; CREATE VIRTUAL TABLE loss USING fts5(runId)",
     "[import.view] virtual"},
    {"ALTER TABLE loss RENAME TO l; CREATE TABLE loss (runId INTEGER, "
     "iteration INTEGER, loss REAL AS (iteration * 2), accuracy REAL, "
     "moment_ns INTEGER); DROP TABLE l",
     "[import.computed] computed"},
    {"UPDATE StringIds SET value = x'00FF' WHERE id = 1",
     "[import.value] StringIds.value"},
    {"UPDATE StringIds SET value = hex(zeroblob(8388609)) WHERE id = 2",
     "[import.text-long] the text StringIds.value of row 2 is longer than "
     "16777216 bytes"},
    {"UPDATE run SET title = hex(zeroblob(8388609))",
     "[import.text-long] the text run.title of row 1 is longer than 16777216 "
     "bytes"},
    {"UPDATE step SET stepIndex = 'zero' WHERE exec = 2",
     "[import.value] step.stepIndex"},
    {"UPDATE step SET phase = 4 WHERE exec = 1", "[import.value] step.phase"},
    {"INSERT INTO ceiling (backend, device, name, best_per_s) VALUES ('cuda', "
     "'x', 'copy', 'fast')",
     "[import.value] ceiling.best_per_s"},
    {"DROP TABLE ceiling; CREATE VIEW ceiling AS SELECT 1 AS backend",
     "[import.view] a view"},
    {"UPDATE step SET start_ns = -9223372036854775807 WHERE exec = 1",
     "[import.value] step.start_ns"},
    {"UPDATE step SET kernelRowFirst = 0 WHERE exec = 1",
     "[import.value] step.kernelRowFirst"},
    {"UPDATE step SET flop = 'many' WHERE exec = 1",
     "[import.value] step.flop"},
    {"UPDATE op_kernel SET kernelRow = 9223372036854775807 WHERE kernelRow = "
     "2",
     "[import.value] op_kernel.kernelRow"},
    {"UPDATE op_kernel SET kernelRow = -1 WHERE kernelRow = 2",
     "[import.value] op_kernel.kernelRow"},
    {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1e300 WHERE kernelRow = 1",
     "[import.value] CUPTI_ACTIVITY_KIND_KERNEL.end"},
    {"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 'x' WHERE kernelRow = 1",
     "[import.value] KERNEL.gridX"},
    {"UPDATE run SET lesson = x'0102'", "[import.value] run 1"},
    {"UPDATE run SET seed = 'seven'", "[import.value] run 1"},
    {"UPDATE run SET loss_last = 'low'", "[import.value] run 1"},
    {"UPDATE run SET energy_j = 9e999", "[import.value] run 1"},
    {"UPDATE run SET energy_j = 1e19", "[import.value] run 1"},
    {"UPDATE run SET warmEnergy_j = -1", "[import.value] run 1"},
    {"UPDATE run SET warm_ns = 'long'", "[import.value] run 1"},
    {"UPDATE run SET warmIterations = -1", "[import.value] run 1"},
    {"UPDATE run SET iteration_flop = 9e999", "[import.value] run 1"},
    {"UPDATE run SET iteration_flop = -1", "[import.value] run 1"},
    {"UPDATE run SET utilization_pct = 9e999", "[import.value] run 1"},
    {"UPDATE run SET utilization_pct = -1", "[import.value] run 1"},
    {"UPDATE run SET id = -3", "[import.value] run -3"},
    {"UPDATE run SET uuid = '../../etc'", "[import.value] run 1"},
    {"UPDATE run SET uuid = hex(zeroblob(60))", "[import.value] run 1"},
    {"PRAGMA ignore_check_constraints = 1; UPDATE run SET status = 'odd'",
     "[import.value] run"},
    {"ALTER TABLE step RENAME TO s; CREATE TABLE step AS SELECT * FROM s; "
     "INSERT INTO step SELECT * FROM s; DROP TABLE s",
     "[database] UNIQUE"}, /* every step twice */
    {"ALTER TABLE op_memory DROP COLUMN runId", "[import.column] runId"},
};

IMPORT_CASE(bad_files_change_nothing)
{
    const char *bad = sample_path("bad.db");
    assert_ok(sample_run(here, 1, 2, NULL));
    int64_t before = size_of(here);
    size_t size;
    assert_ok(sample_run(bad, 1, 2, NULL));
    sample_sql(bad, "PRAGMA journal_mode = DELETE");
    char *good = test_read_bytes(bad, &size);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char change[2048];
        test_write_bytes(bad, good, size);
        snprintf(change, sizeof(change), "PRAGMA synchronous = OFF; %s",
                 refused[i].change);
        sample_sql(bad, change);
        enum lab_status st = import(here, bad, NULL, NULL);
        if (st != LAB_E_DB || !error_is(refused[i].word) ||
            !strstr(lab_error(), "bad.db"))
            fail_msg("%s: %d, %s", refused[i].change, (int)st, lab_error());
        assert_int_equal(size_of(here), before);
    }
    /* after all that a good file still comes in */
    test_write_bytes(bad, good, size);
    assert_ok(import(here, bad, NULL, NULL));
    test_free(good);
}

/* A schema that wants to do something does not get to. */
IMPORT_CASE(schemas_of_others_do_nothing)
{
    const char *bad = sample_path("bad.db");
    assert_ok(sample_run(bad, 1, 2, NULL));
    sample_sql(bad,
               "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM step; "
               "END; CREATE VIEW peek AS SELECT load_extension('/tmp/x');"
               "CREATE INDEX ix ON step (abs(exec));"
               "CREATE TABLE more (x DEFAULT (hex(randomblob(9))))");
    assert_ok(import(here, bad, NULL, s));
    assert_int_equal(s->steps, 2);
    assert_rows(here, 0,
                "sqlite_master WHERE name IN ('t', 'peek', 'ix', 'more')");
}

IMPORT_CASE(what_is_no_database_is_refused)
{
    const char *file = sample_path("file");
    struct lab_database *db;
    assert_ok(lab_database_open(&db, here, NULL));
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
    fputs("SQLite format 3, and no more", f);
    fclose(f);
    assert_int_equal(import(here, file, NULL, NULL), LAB_E_DB);
    unlink(file);
    sample_sql(file, "CREATE TABLE mail (subject TEXT)");
    assert_int_equal(import(here, file, NULL, NULL), LAB_E_DB);
    assert_true(error_is("[import.foreign] neither"));
}

/* A good file with some bytes changed, or cut: it comes in or it is refused,
 * and the database is whole and as long as before in the second case. */
IMPORT_CASE(damaged_files_do_no_harm)
{
    const char *bad = sample_path("bad.db");
    uint64_t seed = 5;
    size_t size;
    int good = 0;
    assert_ok(sample_run(bad, 4, 6, NULL));
    sample_sql(bad, "PRAGMA journal_mode = DELETE");
    char *whole = test_read_bytes(bad, &size);
    char *copy = test_malloc(size);
    struct lab_database *db;
    assert_ok(lab_database_open(&db, here, NULL));
    const struct lab_import_options dry = {NULL, true};
    for (int round = 0; round < 120; round++) {
        size_t length = size;
        memcpy(copy, whole, size);
        for (int k = 0; k < 1 + round % 8; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            size_t at = (seed >> 20) % size;
            if (round % 3 == 0)
                at %= 4096; /* the head and the schema */
            copy[at] = (char)(seed >> 56);
        }
        if (round % 5 == 4)
            length = (seed >> 24) % size;
        test_write_bytes(bad, copy, length);
        enum lab_status st = lab_import_file(db, bad, &dry, see_import, s);
        if (st != LAB_OK && st != LAB_E_DB)
            fail_msg("round %d: %d, %s", round, (int)st, lab_error());
        good += st == LAB_OK;
    }
    assert_true(good < 120);
    assert_ok(lab_database_check(db));
    lab_database_close(db);
    assert_rows(here, 0, "run");
    test_write_bytes(bad, whole, size);
    assert_ok(import(here, bad, NULL, NULL));
    test_free(copy);
    test_free(whole);
}

IMPORT_CASE(memory_may_fail_anywhere)
{
    const struct lab_import_options none = {NULL, false};
    struct lab_database *db;
    assert_ok(sample_run(theirs, 1, 2, NULL));
    assert_ok(lab_database_open(&db, here, NULL));
    enum lab_status st = LAB_E_NOMEM;
    int64_t n = 0;
    while (st == LAB_E_NOMEM && n < 100000) {
        n += n < 60 ? 1 : 9;
        lab_mem_fail_from(n);
        st = lab_import_file(db, theirs, &none, see_import, s);
        lab_mem_fail_from(0);
        if (st == LAB_E_NOMEM)
            assert_rows(here, 0, "run");
    }
    assert_ok(st);
    assert_true(n > 100);
    lab_database_close(db);
}

RUN_TESTS()
