#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_priv.h"
#include "store_samples.h"
#include "trace/intern.h"

static const struct lab_database_options reader = {.read_only = true};

static int cleanup(void **state)
{
    (void)state;
    lab_mem_fail_from(0);
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

static struct lab_database *open_raw(const char *path)
{
    struct lab_database *db = lab_alloc(sizeof(*db));
    db->path = lab_strdup(path);
    assert_int_equal(sqlite3_open(path, &db->sql), SQLITE_OK);
    return db;
}

static void version_zero_is_an_empty_file(void **state)
{
    const char *path = sample_path("runs.db");
    struct lab_database *db;
    (void)state;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(lab_database_open(&db, path, &reader), LAB_E_STATE);
    assert_non_null(strstr(lab_error(), "older program (schema 0"));
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    lab_database_close(db);
    assert_int_equal(sample_int(path, "PRAGMA user_version"),
                     lab_database_schema_version());
    assert_int_equal(sample_int(path, "PRAGMA application_id"),
                     LAB_APPLICATION_ID);
    assert_int_equal(lab_database_open(&db, path, &reader), LAB_OK);
    lab_database_close(db);
}

static void failed_step_changes_nothing(void **state)
{
    const char *path = sample_path("runs.db");
    const struct lab_migration steps[] = {
        {lab_sql_schema},
        {"ALTER TABLE run ADD COLUMN mood TEXT"},
        {"CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)"},
    };
    (void)state;
    struct lab_database *db = open_raw(path);
    assert_int_equal(lab_database_migrate(db, steps, 3), LAB_E_DB);
    assert_non_null(strstr(lab_error(), "nowhere"));
    lab_database_close(db);
    assert_int_equal(sample_int(path, "PRAGMA user_version"), 0);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM sqlite_master"), 0);
    /* and the right steps still work */
    assert_int_equal(sample_run(path, 1, 1, NULL), LAB_OK);
}

static void later_step_keeps_the_runs(void **state)
{
    const char *path = sample_path("runs.db");
    const struct lab_migration steps[] = {
        {"CREATE TABLE never_run_again (x)"},
        {"ALTER TABLE run ADD COLUMN mood TEXT;"
         "UPDATE run SET mood = 'good'"},
    };
    struct lab_database *db;
    (void)state;
    assert_int_equal(sample_run(path, 2, 2, NULL), LAB_OK);
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_database_migrate(db, steps, 2), LAB_OK);
    assert_int_equal(lab_database_migrate(db, steps, 2), LAB_OK);
    lab_database_close(db);
    assert_int_equal(sample_int(path, "PRAGMA user_version"), 2);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM run WHERE mood = "
                                      "'good'"),
                     1);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM step"), 4);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM sqlite_master "
                                      "WHERE name = 'never_run_again'"),
                     0);
}

static void kill_in_a_migration_changes_nothing(void **state)
{
    const char *path = sample_path("runs.db");
    static const struct lab_migration steps[] = {
        {lab_sql_schema},
        {"CREATE TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
         "SELECT i + 1 FROM n LIMIT 2000000000) SELECT i, randomblob(100) FROM "
         "n"},
    };
    struct lab_database *db;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        db = open_raw(path);
        lab_database_migrate(db, steps, 2);
        _exit(1);
    }
    struct timespec pause = {0, 250000000};
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(sample_int(path, "PRAGMA user_version"), 0);
    assert_int_equal(sample_run(path, 1, 2, NULL), LAB_OK);
    assert_int_equal(lab_database_open(&db, path, &reader), LAB_OK);
    assert_int_equal(lab_database_check(db), LAB_OK);
    lab_database_close(db);
}

static void new_and_migrated_are_the_same(void **state)
{
    const char *path = sample_path("runs.db");
    int count;
    (void)state;
    const struct lab_migration *steps = lab_database_migrations(&count);
    assert_int_equal(count, lab_database_schema_version());
    /* version by version, as a database that has seen every release */
    struct lab_database *db = open_raw(path);
    for (int v = 1; v <= count; v++) {
        assert_int_equal(lab_database_migrate(db, steps, v), LAB_OK);
        assert_int_equal(sample_int(path, "PRAGMA user_version"), v);
    }
    lab_database_close(db);
    assert_int_equal(sample_run(path, 1, 1, NULL), LAB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(version_zero_is_an_empty_file, cleanup),
        cmocka_unit_test_teardown(failed_step_changes_nothing, cleanup),
        cmocka_unit_test_teardown(later_step_keeps_the_runs, cleanup),
        cmocka_unit_test_teardown(kill_in_a_migration_changes_nothing, cleanup),
        cmocka_unit_test_teardown(new_and_migrated_are_the_same, cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
