/* Databases of every earlier schema are brought to the newest one: the same
 * tables as a new file's, with their rows, and unchanged where a step fails or
 * the process is killed. */
#include "test.h"
#include "file.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/bench.h"
#include "store/ceilings.h"
#include "store/choice.h"
#include "store/counted.h"
#include "store/query.h"
#include "store/time_sum.h"
#include "db/store_priv.h"
#include "store_samples.h"

static const struct lab_database_options reader = {.read_only = true};

static struct lab_database *open_raw(const char *path)
{
    struct lab_database *db = lab_alloc(sizeof(*db));
    db->path = lab_strdup(path);
    assert_int_equal(sqlite3_open(path, &db->sql), SQLITE_OK);
    return db;
}

SAMPLE_CASE(version_zero_is_an_empty_file)
{
    struct lab_database *db;
    test_write(path, "");
    assert_int_equal(lab_database_open(&db, path, &reader), LAB_E_STATE);
    assert_true(error_is("[db.empty] "));
    assert_ok(lab_database_open(&db, path, NULL));
    lab_database_close(db);
    assert_sql(path, lab_database_schema_version(), "PRAGMA user_version");
    assert_sql(path, LAB_APPLICATION_ID, "PRAGMA application_id");
    assert_ok(lab_database_open(&db, path, &reader));
    lab_database_close(db);
}

SAMPLE_CASE(failed_step_changes_nothing)
{
    const struct lab_migration steps[] = {
        {lab_sql_schema},
        {"ALTER TABLE run ADD COLUMN mood TEXT"},
        {"CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)"},
    };
    struct lab_database *db = open_raw(path);
    assert_int_equal(lab_database_migrate(db, steps, 3), LAB_E_DB);
    assert_true(error_is("[db.sqlite] nowhere"));
    lab_database_close(db);
    assert_sql(path, 0, "PRAGMA user_version");
    assert_rows(path, 0, "sqlite_master");
    /* and the right steps still work */
    assert_ok(sample_run(path, 1, 1, NULL));
}

SAMPLE_CASE(later_step_keeps_the_runs)
{
    enum { MOST = 64 };
    struct lab_migration steps[MOST];
    struct lab_database *db;
    int now = lab_database_schema_version();
    assert_true(now > 0 && now < MOST);
    for (int i = 0; i < now; i++)
        steps[i] = (struct lab_migration){"CREATE TABLE never_run_again (x)"};
    steps[now] = (struct lab_migration){"ALTER TABLE run ADD COLUMN mood TEXT;"
                                        "UPDATE run SET mood = 'good'"};
    assert_ok(sample_run(path, 2, 2, NULL));
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_database_migrate(db, steps, now + 1));
    assert_ok(lab_database_migrate(db, steps, now + 1));
    lab_database_close(db);
    assert_sql(path, now + 1, "PRAGMA user_version");
    assert_rows(path, 1, "run WHERE mood = 'good'");
    assert_rows(path, 4, "step");
    assert_rows(path, 0, "sqlite_master WHERE name = 'never_run_again'");
}

SAMPLE_CASE(kill_in_a_migration_changes_nothing)
{
    static const struct lab_migration steps[] = {
        {lab_sql_schema},
        {"CREATE TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
         "SELECT i + 1 FROM n LIMIT 2000000000) SELECT i, randomblob(100) FROM "
         "n"},
    };
    struct lab_database *db;
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
    assert_sql(path, 0, "PRAGMA user_version");
    assert_ok(sample_run(path, 1, 2, NULL));
    assert_ok(lab_database_open(&db, path, &reader));
    assert_ok(lab_database_check(db));
    lab_database_close(db);
}

SAMPLE_CASE(new_and_migrated_are_the_same)
{
    const struct lab_migration *steps = lab_sql_migrations;
    const int count = lab_sql_migration_count;
    assert_int_equal(count, lab_database_schema_version());
    /* version by version, as a database that has seen every release */
    struct lab_database *db = open_raw(path);
    for (int v = 1; v <= count; v++) {
        assert_ok(lab_database_migrate(db, steps, v));
        assert_sql(path, v, "PRAGMA user_version");
    }
    lab_database_close(db);
    assert_ok(sample_run(path, 1, 1, NULL));
}

/* A run as version 1 had it: two iterations of two steps, a kernel each. */
static const char version_one_run[] =
    "INSERT INTO run (lesson, backend, status, hostname, pid, processStart, "
    "started_ns, kernelRowFirst, kernelRowLast) VALUES ('mlp-digits', 'cuda', "
    "'done', 'box', 77, 1234, 1700000000000000000, 1, 4);"
    "INSERT INTO StringIds VALUES (1, 'fc1.matmul'), (2, 'fc1'), (3, 'dense'), "
    "(4, 'tiled'), (5, 'cuda'), (6, 'void gemm<float>()'), (7, 'gemm');"
    "INSERT INTO step SELECT 1, 2 * i + s + 1, i, s, s * 3, 1, 2, 3, 4, 5, "
    "1000, 2000, 100 + 10 * i + s, 2, 4e3, 5e2, 1, 2 * i + s + 1, "
    "2 * i + s + 1 FROM (SELECT 0 AS i UNION SELECT 1), "
    "(SELECT 0 AS s UNION SELECT 1);"
    "INSERT INTO op_kernel SELECT exec, 1, exec, 50, 4, 8 FROM step;"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName, "
    "shortName, gridX, gridY, gridZ, runId, kernelRow) SELECT 5000, "
    "5000 + time_ns, 6, 7, 2, 1, 1, 1, exec FROM step;"
    "INSERT INTO loss (runId, iteration, loss, accuracy, moment_ns) VALUES (1, "
    "0, 2.5, NULL, 1), (1, 1, 1.5, NULL, 2)";

static bool see_uuid(void *user, const struct lab_run_row *row)
{
    snprintf(user, 64, "%s", row->uuid ? row->uuid : "(none)");
    return true;
}

static bool see_median(void *user, const struct lab_time_sum *row)
{
    int64_t *medians = user;
    medians[row->step_index] = row->median_ns;
    return true;
}

TEST_CASE_WITH(version_one_gets_names_and_sums, NULL, sample_cleanup)
{
    const char *path = sample_path("one.db");
    const char *copy = sample_path("copy.db");
    const char *both[] = {path, copy};
    char uuid[2][64];
    int64_t medians[2] = {0, 0};
    struct lab_database *db;
    const struct lab_migration *steps = lab_sql_migrations;
    for (int i = 0; i < 2; i++) { /* the same run in two files */
        db = open_raw(both[i]);
        assert_ok(lab_database_migrate(db, steps, 1));
        lab_database_close(db);
        sample_sql(both[i], version_one_run);
        assert_int_equal(lab_database_open(&db, both[i], &reader), LAB_E_STATE);
        assert_ok(lab_database_open(&db, both[i], NULL));
        assert_ok(lab_query_run(db, 1, see_uuid, uuid[i]));
        lab_database_close(db);
    }
    assert_string_equal(uuid[0], "v1-17979cfe362a0000-4d-4d2-1");
    assert_string_equal(uuid[0], uuid[1]);
    /* it is added up when asked for, and can be kept */
    assert_rows(path, 0, "time_sum");
    for (int kept = 0; kept < 2; kept++) {
        assert_ok(lab_database_open(&db, path, NULL));
        assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false, see_median,
                                  medians));
        assert_int_equal(medians[0], 105);
        assert_int_equal(medians[1], 106);
        assert_ok(lab_time_sums_keep(db, 1));
        lab_database_close(db);
        /* 2 kernels, 2 steps, 2 nodes, 2 phases, 1 iteration */
        assert_rows(path, 9, "time_sum");
    }
    assert_sql(path, 100 + 101 + 110 + 111,
               "SELECT total_ns FROM time_sum WHERE level = 0");
}

static bool see_median_of_two(void *user, const struct lab_time_sum *row)
{
    *(int64_t *)user += row->median_ns;
    return true;
}

static bool see_no_idea(void *user, const struct lab_bench_result *row)
{
    assert_null(row->idea);
    assert_true(isnan(row->error));
    ++*(int *)user;
    return true;
}

static bool see_no_variants(void *user, const struct lab_sweep_row *row)
{
    assert_null(row->variants);
    assert_null(row->variants_from);
    ++*(int *)user;
    return true;
}

static bool see_no_choice(void *user, const struct lab_choice_row *row)
{
    (void)user;
    fail_msg("a choice of %s", row->step);
    return false;
}

/* Versions 1 and 2, with counters: both get a place for ceilings. */
TEST_CASE_WITH(earlier_versions_get_ceilings, NULL, sample_cleanup)
{
    static const char counters[] =
        "INSERT INTO StringIds VALUES (8, 'dram__bytes_read.sum');"
        "INSERT INTO metric_value SELECT 1, exec, 0, 8, exec * 1e3, 1 FROM "
        "step";
    char name[16];
    char uuid[64];
    const int count = lab_sql_migration_count;
    const struct lab_migration *steps = lab_sql_migrations;
    for (int from = 1; from < count; from++) {
        struct lab_database *db;
        struct lab_counted_run c;
        int64_t medians = 0;
        snprintf(name, sizeof(name), "v%d.db", from);
        const char *path = sample_path(name);
        db = open_raw(path);
        assert_ok(lab_database_migrate(db, steps, from));
        lab_database_close(db);
        sample_sql(path, version_one_run);
        sample_sql(path, counters);
        if (from >= 8)
            sample_sql(path, "INSERT INTO lab_row (runId, place) VALUES (1, 0);"
                             "INSERT INTO sweep_row (runId, place) VALUES (1, "
                             "0)");
        /* from version 8 on they are read as they are */
        assert_int_equal(lab_database_open(&db, path, &reader),
                         from >= 8 ? LAB_OK : LAB_E_STATE);
        if (from >= 8) {
            int rows = 0;
            assert_ok(lab_query_run(db, 1, see_uuid, uuid));
            assert_ok(lab_bench_results_read(db, 1, see_no_idea, &rows));
            assert_ok(lab_sweep_rows_read(db, 1, see_no_variants, &rows));
            assert_int_equal(rows, 2);
            assert_ok(lab_choice_rows_read(db, 1, see_no_choice, NULL));
            lab_database_close(db);
            assert_sql(path, from, "PRAGMA user_version");
        }
        assert_ok(lab_database_open(&db, path, NULL));
        assert_ok(lab_database_check(db));
        assert_ok(lab_counted_load(&c, db, 1));
        assert_int_equal(c.count, 8);
        assert_true(c.items[1].counters.dram_read_bytes == 1e3);
        lab_counted_release(&c);
        assert_ok(lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false,
                                  see_median_of_two, &medians));
        assert_int_equal(medians, 105 + 106);
        const struct lab_ceiling_row row = {.backend = "cuda",
                                            .device = "d",
                                            .name = "copy",
                                            .best_per_s = 1e12,
                                            .repeats = 1,
                                            .size = 1};
        assert_ok(lab_ceiling_add(db, &row));
        lab_database_close(db);
        assert_rows(path, 1, "ceiling");
        assert_sql(path, count, "PRAGMA user_version");
    }
}

/* A version 4 knows labs by their rows; another tool's run is neither. */
TEST_CASE_WITH(version_four_learns_kinds, NULL, sample_cleanup)
{
    const char *path = sample_path("four.db");
    struct lab_database *db;
    const struct lab_migration *steps = lab_sql_migrations;
    db = open_raw(path);
    assert_ok(lab_database_migrate(db, steps, 4));
    lab_database_close(db);
    sample_sql(path,
               "INSERT INTO run (id, lesson, status) VALUES (1, 'mlp-digits', "
               "'done'), (2, 'gemm', 'done');"
               "INSERT INTO run (id, importedFrom, status) VALUES (3, "
               "'x.sqlite', 'done');"
               "INSERT INTO lab_row (runId, place) VALUES (2, 0)");
    assert_ok(lab_database_open(&db, path, NULL));
    lab_database_close(db);
    assert_rows(path, 3,
                "run WHERE (id = 1 AND kind = 'lesson') OR (id = 2 AND kind = "
                "'lab') OR (id = 3 AND kind IS NULL)");
}

RUN_TESTS()
