/* A recording process is killed at random moments: at most the iteration that
 * was being written is lost, and another process opens the file afterwards. */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "store/database.h"
#include "store_samples.h"

/* A child records and states after each flush how far it is; it is killed at a
 * moment of no one's choosing. */
static void child_records(const char *path, int out)
{
    struct lab_run_info info;
    struct lab_writer *writer;
    int64_t exec = 1;
    lab_run_info_init(&info);
    if (lab_writer_new(&writer, path, &info, NULL))
        _exit(1);
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0;; i++) {
        sample_iteration(&sink, i, 5, &exec);
        if (lab_writer_flush(writer) || write(out, &i, sizeof(i)) < 0)
            _exit(1);
    }
}

SAMPLE_CASE(kill_loses_one_iteration_at_most)
{
    unsigned random = 12345;
    for (int round = 0; round < 12; round++) {
        struct lab_database *db;
        int64_t acknowledged = -1;
        int64_t i;
        char sql[256];
        int pipe_ends[2];
        assert_int_equal(pipe(pipe_ends), 0);
        pid_t child = fork();
        if (child == 0)
            child_records(path, pipe_ends[1]);
        close(pipe_ends[1]);
        random = random * 1103515245 + 12345;
        /* not before the run is there */
        assert_int_equal(read(pipe_ends[0], &acknowledged, 8), 8);
        struct timespec pause = {0, (long)(random % 40000) * 1000};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(pipe_ends[0], &i, 8) == 8)
            acknowledged = i;
        close(pipe_ends[0]);
        assert_ok(lab_database_open(&db, path, NULL));
        assert_ok(lab_database_check(db));
        lab_database_close(db);
        snprintf(sql, sizeof(sql),
                 "SELECT min(n = 5 AND t = 5 * 1500 + 10) FROM (SELECT "
                 "count(*) AS n, sum(time_ns) AS t FROM step WHERE runId = %d "
                 "AND iteration <= %lld GROUP BY iteration)",
                 round + 1, (long long)acknowledged);
        assert_sql(path, 1, sql);
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM loss WHERE runId = %d AND iteration <= "
                 "%lld",
                 round + 1, (long long)acknowledged);
        assert_sql(path, acknowledged + 1, sql);
        snprintf(sql, sizeof(sql),
                 "SELECT status = 'interrupted' FROM run WHERE id = %d",
                 round + 1);
        assert_sql(path, 1, sql);
    }
}

/* A child that opens the file as a writer and closes it, when it is sent a byte. */
static void child_opens_and_closes(const char *path, int go)
{
    struct lab_database *db;
    char byte;
    bool done =
        read(go, &byte, 1) == 1 && lab_database_open(&db, path, NULL) == LAB_OK;
    if (done)
        lab_database_close(db);
    _exit(done ? 0 : 1);
}

/* The last process that closes a database removes its log. A process that has
 * looked at the file in passing still has its locks, and is not left with a log
 * that has no name. */
SAMPLE_CASE(another_process_leaves_the_log)
{
    struct lab_database *writer;
    struct lab_database *second;
    const struct lab_database_options reader = {.read_only = true};
    char log[512];
    int go[2];
    int status = -1;
    assert_ok(sample_run(path, 2, 2, NULL));
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0)
        child_opens_and_closes(path, go[0]);
    close(go[0]);
    assert_ok(lab_database_open(&writer, path, NULL));
    assert_ok(lab_database_open(&second, path, &reader));
    assert_ok(lab_database_check(second));
    lab_database_close(second);
    snprintf(log, sizeof(log), "%s-wal", path);
    assert_int_equal(access(log, F_OK), 0);
    assert_int_equal(write(go[1], "", 1), 1);
    close(go[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(access(log, F_OK), 0);
    lab_database_close(writer);
    assert_int_equal(access(log, F_OK), -1); /* the last one removes it */
}

RUN_TESTS()
