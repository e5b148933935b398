/* Databases that cannot be used: garbage, cut or damaged files, a newer schema,
 * missing rights, a lock, a full disk. Each is refused with its cause, and
 * recording stops without ending the run. */
#include "test.h"
#include "file.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/query.h"
#include "db/store_priv.h"
#include "store_samples.h"
#include "trace/intern.h"

enum { UNPRIVILEGED = 65534 };
static const struct lab_database_options quick = {.busy_timeout_ms = 50};
static const struct lab_database_options reader = {.read_only = true,
                                                   .busy_timeout_ms = 50};

/* Opening must fail; its text must hold both words. */
static void refuses(const char *path, const struct lab_database_options *o,
                    enum lab_status expected, const char *word,
                    const char *word2)
{
    struct lab_database *db = NULL;
    enum lab_status st = lab_database_open(&db, path, o);
    assert_null(db);
    if (st != expected || !error_is(word) || !strstr(lab_error(), word2) ||
        !strstr(lab_error(), path))
        fail_msg("status %d: %s (wanted '%s' and '%s')", (int)st, lab_error(),
                 word, word2);
}

TEST_CASE_WITH(garbage_is_not_a_database, NULL, sample_cleanup)
{
    static const char text[] = "run,loss\n1,0.5\n";
    const char *path = sample_path("table.csv");
    char noise[8192];
    test_write_bytes(path, text, sizeof(text));
    refuses(path, NULL, LAB_E_DB, "[db.foreign-file] ", "--db");
    refuses(path, &reader, LAB_E_DB, "[db.foreign-file] ", "--db");
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (char)(i * 7919 % 251);
    test_write_bytes(path, noise, sizeof(noise));
    refuses(path, NULL, LAB_E_DB, "[db.foreign-file] ", "--db");
    /* the file is as it was */
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, sizeof(noise));
}

SAMPLE_CASE(truncated_file_is_refused)
{
    struct stat info;
    assert_ok(sample_run(path, 50, 10, NULL));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size / 2), 0);
    refuses(path, NULL, LAB_E_DB, "[db.cut] ", ".dump | ");
    refuses(path, &reader, LAB_E_DB, "[db.cut] ", ".dump | ");
    assert_int_equal(truncate(path, 50), 0); /* not even a header */
    refuses(path, NULL, LAB_E_DB, "[db.foreign-file] ", "--db");
}

static bool any_kernel(void *user, const struct lab_kernel_row *row)
{
    (void)row;
    return ++*(int *)user < 1 << 20;
}

static bool any_step(void *user, const struct lab_time_sum *row)
{
    (void)row;
    return ++*(int *)user < 1 << 20;
}

SAMPLE_CASE(damaged_pages_are_reported)
{
    const struct lab_kernel_filter all = {.limit = 0};
    struct lab_database *db;
    struct stat info;
    char noise[4096];
    int n = 0;
    assert_ok(sample_run(path, 50, 10, NULL));
    assert_int_equal(stat(path, &info), 0);
    memset(noise, 0xA5, sizeof(noise));
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    /* all but the pages of the schema */
    for (off_t at = 8 * 16384; at + 4096 <= info.st_size; at += 4096)
        assert_int_equal(pwrite(fd, noise, sizeof(noise), at), sizeof(noise));
    close(fd);
    if (lab_database_open(&db, path, &reader) == LAB_OK) {
        enum lab_status kernels =
            lab_query_kernels(db, 1, &all, any_kernel, &n);
        enum lab_status steps =
            lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false, any_step, &n);
        assert_true(kernels == LAB_E_DB || steps == LAB_E_DB);
        assert_int_equal(lab_database_check(db), LAB_E_DB);
        lab_database_close(db);
    }
    assert_true(error_is("[db.sqlite] damaged"));
}

SAMPLE_CASE(newer_schema_is_refused)
{
    assert_ok(sample_run(path, 1, 1, NULL));
    sample_sql(path, "PRAGMA user_version = 99");
    refuses(path, NULL, LAB_E_DB, "[db.newer] schema 99", "update");
    refuses(path, &reader, LAB_E_DB, "[db.newer] schema 99", "update");
    assert_sql(path, 99, "PRAGMA user_version");
}

SAMPLE_CASE(a_schema_that_never_was_is_damage)
{
    assert_ok(sample_run(path, 1, 1, NULL));
    sample_sql(path, "PRAGMA user_version = 0");
    refuses(path, NULL, LAB_E_DB, "[db.schema] schema is 0", "damaged");
    refuses(path, &reader, LAB_E_DB, "[db.schema] schema is 0", "damaged");
    sample_sql(path, "PRAGMA user_version = -1");
    refuses(path, NULL, LAB_E_DB, "[db.schema] schema is -1", "damaged");
    assert_sql(path, 1, "SELECT count(*) FROM run");
}

TEST_CASE_WITH(other_programs_files_are_left_alone, NULL, sample_cleanup)
{
    const char *path = sample_path("bookmarks.db");
    sample_sql(path, "CREATE TABLE bookmark (url); INSERT INTO bookmark VALUES "
                     "('x')");
    refuses(path, NULL, LAB_E_DB, "[db.foreign] ", "--db");
    refuses(path, &reader, LAB_E_DB, "[db.foreign] ", "--db");
    assert_rows(path, 1, "sqlite_master");
}

TEST_CASE_WITH(missing_file_is_not_found, NULL, sample_cleanup)
{
    const char *path = sample_path("none/at/all.db");
    struct lab_database *db = NULL;
    refuses(path, &reader, LAB_E_NOTFOUND, "[db.missing] No such file", "");
    assert_int_equal(access(sample_path("none"), F_OK), -1);
    assert_int_equal(lab_database_open(&db, "", NULL), LAB_E_ARG);
    assert_int_equal(lab_database_open(&db, NULL, NULL), LAB_E_ARG);
    lab_database_close(NULL);
}

TEST_CASE_WITH(bad_places_are_explained, NULL, sample_cleanup)
{
    test_write_bytes(sample_path("file"), "x", 1);
    refuses(sample_path("file/runs.db"), NULL, LAB_E_DB, "[db.create] ",
            "--db");
    refuses(sample_dir(), NULL, LAB_E_DB, "[db.is-directory] ", "--db");
}

/* Runs `child` as a user without rights; root has them all otherwise. */
static void as_nobody(int (*child)(const char *), const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(UNPRIVILEGED) || setuid(UNPRIVILEGED)))
            _exit(99);
        _exit(child(path));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int cannot_make_file(const char *path)
{
    struct lab_database *db = NULL;
    if (lab_database_open(&db, path, NULL) != LAB_E_DB)
        return 1;
    return strstr(lab_error(), "--db") ? 0 : 2;
}

static int can_read_but_not_write(const char *path)
{
    struct lab_database *db = NULL;
    int n = 0;
    if (lab_database_open(&db, path, NULL) != LAB_E_DB)
        return 1;
    if (!strstr(lab_error(), "chmod") || !strstr(lab_error(), path))
        return 2;
    if (lab_database_open(&db, path, &reader) != LAB_OK)
        return 3;
    if (lab_query_steps(db, 1, LAB_STEP_BY_INDEX, false, any_step, &n) ||
        n != 3)
        return 4;
    lab_database_close(db);
    return 0;
}

SAMPLE_CASE(rights_are_respected)
{
    assert_ok(sample_run(path, 1, 3, NULL));
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(sample_dir(), 0555), 0);
    as_nobody(can_read_but_not_write, path);
    as_nobody(cannot_make_file, sample_path("new.db"));
    as_nobody(cannot_make_file, sample_path("new/dir/runs.db"));
}

static sqlite3 *lock_file(const char *path, const char *how)
{
    sqlite3 *other;
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, how, NULL, NULL, NULL), SQLITE_OK);
    return other;
}

SAMPLE_CASE(locked_database_is_explained)
{
    struct lab_writer *writer = NULL;
    struct lab_run_info info;
    const struct lab_writer_options o = {.busy_timeout_ms = 50};
    assert_ok(sample_run(path, 1, 1, NULL));
    lab_run_info_init(&info);
    sqlite3 *other = lock_file(path, "BEGIN EXCLUSIVE");
    assert_int_equal(lab_writer_new(&writer, path, &info, &o), LAB_E_DB);
    assert_true(error_is("[db.sqlite] locked"));
    sqlite3_close(other);
    /* all for itself, readers included */
    other = lock_file(path, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;"
                            "DELETE FROM loss; COMMIT");
    refuses(path, &quick, LAB_E_DB, "[db.sqlite] locked", "--db");
    refuses(path, &reader, LAB_E_DB, "[db.sqlite] locked", "--db");
    sqlite3_close(other);
    assert_ok(sample_run(path, 1, 1, NULL));
}

SAMPLE_CASE(lock_in_a_run_stops_recording_only)
{
    const struct lab_writer_options o = {.busy_timeout_ms = 50};
    struct lab_run_summary summary;
    struct lab_run_info info;
    struct lab_writer *writer;
    struct lab_writer_state now;
    int64_t exec = 1;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_ok(lab_writer_new(&writer, path, &info, &o));
    const struct lab_sink sink = lab_writer_sink(writer);
    sample_iteration(&sink, 0, 4, &exec);
    assert_ok(lab_writer_flush(writer));
    sqlite3 *other = lock_file(path, "BEGIN EXCLUSIVE");
    sample_iteration(&sink, 1, 4, &exec);
    assert_int_equal(lab_writer_flush(writer), LAB_E_DB);
    sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(other);
    sample_iteration(&sink, 2, 4, &exec); /* taken, and counted as lost */
    assert_int_equal(lab_writer_flush(writer), LAB_E_DB);
    lab_writer_get_state(writer, &now);
    assert_true(now.failed);
    assert_int_equal(now.stored, 13);
    assert_int_equal(now.lost, 26);
    assert_non_null(strstr(now.error, "locked"));
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_E_DB);
    assert_true(error_is("[db.sqlite] locked"));
    lab_writer_free(writer);
    assert_rows(path, 4, "step");
    assert_sql(path, 1,
               "SELECT status = 'done' AND writeErrors = 26 AND writeError "
               "LIKE '%locked%' FROM run");
}

/* A limit on the size of files stands for a full disk. */
static int fill_the_disk(const char *path)
{
    const struct rlimit limit = {2000000, 2000000};
    struct lab_run_summary summary;
    struct lab_run_info info;
    struct lab_writer *writer;
    struct lab_writer_state now;
    int64_t exec = 1;
    signal(SIGXFSZ, SIG_IGN);
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    if (lab_writer_new(&writer, path, &info, NULL) ||
        setrlimit(RLIMIT_FSIZE, &limit))
        return 1;
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < 2000; i++)
        sample_iteration(&sink, i, 5, &exec);
    if (lab_writer_flush(writer) != LAB_E_DB)
        return 2;
    lab_writer_get_state(writer, &now);
    if (!now.failed || !strstr(now.error, path) || !strstr(now.error, "disk"))
        return 3;
    if (now.stored + now.lost != 2000 * 16 || now.stored == 0)
        return 4;
    if (lab_writer_finish(writer, &summary) != LAB_E_DB)
        return 5;
    lab_writer_free(writer);
    lab_intern_release();
    return 0;
}

SAMPLE_CASE(full_disk_stops_recording_only)
{
    struct lab_database *db;
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(fill_the_disk(path));
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_database_check(db));
    lab_database_close(db);
    assert_true(sample_count(path, "step") > 0);
    /* what is there is whole iterations, or a beginning of the last one */
    assert_sql(
        path, 1,
        "SELECT count(*) = (SELECT max(iteration) FROM loss) + 1 FROM loss");
}

TEST_CASE_WITH(default_place_follows_the_environment, NULL, sample_cleanup)
{
    struct lab_str path;
    char *state_home =
        lab_strdup(getenv("XDG_STATE_HOME") ? getenv("XDG_STATE_HOME") : "");
    char *home = lab_strdup(getenv("HOME") ? getenv("HOME") : "");
    lab_str_init(&path);
    setenv("XDG_STATE_HOME", "/some/state", 1);
    setenv("HOME", "/home/me", 1);
    assert_ok(lab_database_default_path(&path));
    assert_string_equal(lab_str_text(&path),
                        "/some/state/lapenna-lab/profiles.db");
    setenv("XDG_STATE_HOME", "relative/is/ignored", 1);
    lab_str_clear(&path);
    assert_ok(lab_database_default_path(&path));
    assert_string_equal(lab_str_text(&path),
                        "/home/me/.local/state/lapenna-lab/profiles.db");
    unsetenv("HOME");
    lab_str_clear(&path);
    assert_int_equal(lab_database_default_path(&path), LAB_E_STATE);
    lab_str_release(&path);
    setenv("XDG_STATE_HOME", state_home, 1);
    setenv("HOME", home, 1);
    lab_free(state_home);
    lab_free(home);
}

TEST_CASE_WITH(odd_names_are_only_names, NULL, sample_cleanup)
{
    const char *path = sample_path("a?mode=ro&b%20c#d e.db");
    assert_ok(sample_run(path, 1, 1, NULL));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 0);
}

RUN_TESTS()
