/* A database whose rows never end, in a few pages of a file: each page of a
 * table's tree points to the next one a thousand times. A command that reads it
 * can be stopped. */
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "export_sample.h"
#include "store_samples.h"

enum { LEVELS = 5, CELL = 9, HEAD = 12, INTERIOR = 5 };

static void put_u16(unsigned char *p, size_t v)
{
    p[0] = (unsigned char)(v >> 8);
    p[1] = (unsigned char)v;
}

static void put_u32(unsigned char *p, size_t v)
{
    put_u16(p, v >> 16);
    put_u16(p + 2, v);
}

/* An interior page of a table's tree, full of cells with one child and one
 * row number. */
static void fill_page(unsigned char *page, size_t bytes, size_t child)
{
    static const unsigned char row[] = {0x81, 0x80, 0x80, 0x80, 0x00};
    size_t cells = (bytes - HEAD) / (CELL + 2);
    size_t at = bytes - cells * CELL;
    memset(page, 0, bytes);
    page[0] = INTERIOR;
    put_u16(page + 3, cells);
    put_u16(page + 5, at);
    put_u32(page + 8, child);
    for (size_t i = 0; i < cells; i++, at += CELL) {
        put_u16(page + HEAD + 2 * i, at);
        put_u32(page + at, child);
        memcpy(page + at + 4, row, sizeof(row));
    }
}

static void read_at(FILE *f, size_t at, unsigned char *to, size_t bytes)
{
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fread(to, 1, bytes, f), bytes);
}

static void write_at(FILE *f, size_t at, const unsigned char *from,
                     size_t bytes)
{
    assert_int_equal(fseek(f, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(from, 1, bytes, f), bytes);
}

/* The root of the copies' table becomes the top of such a tree; its rows are
 * those of the leaf that it was, or of its first child. */
static void make_endless(const char *path)
{
    unsigned char *page = test_malloc(65536);
    unsigned char number[4];
    sample_sql(path, "PRAGMA journal_mode = DELETE");
    size_t bytes = (size_t)sample_int(path, "PRAGMA page_size");
    size_t pages = (size_t)sample_int(path, "PRAGMA page_count");
    size_t root = (size_t)sample_int(path, "SELECT rootpage FROM sqlite_master "
                                           "WHERE name = "
                                           "'CUPTI_ACTIVITY_KIND_MEMCPY'");
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    read_at(f, (root - 1) * bytes, page, bytes);
    assert_int_equal(page[0], 13); /* a leaf, which gets another place */
    write_at(f, pages++ * bytes, page, bytes);
    for (int i = 1; i < LEVELS; i++) {
        fill_page(page, bytes, pages);
        write_at(f, pages++ * bytes, page, bytes);
    }
    fill_page(page, bytes, pages);
    write_at(f, (root - 1) * bytes, page, bytes);
    put_u32(number, pages);
    write_at(f, 28, number, sizeof(number));
    assert_int_equal(fclose(f), 0);
    test_free(page);
}

PROFILE_CASE(a_signal_ends_a_query_without_end)
{
    static const int signals[] = {SIGTERM, SIGINT};
    const struct timespec before = {.tv_sec = 1};
    const struct timespec pause = {.tv_nsec = 10000000};
    make_endless(db);
    for (size_t i = 0; i < 2; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            if (!freopen("/dev/null", "w", stdout))
                _exit(1);
            execl(getenv("LAB_EXE"), "lapenna-lab", "profile", "export", "1",
                  "--format", "trace", "--output", sample_path("x.json"),
                  "--db", db, (char *)NULL);
            _exit(1);
        }
        nanosleep(&before, NULL);
        assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* it reads */
        kill(child, signals[i]);
        pid_t ended = 0;
        for (int turn = 0; turn < 500 && ended == 0; turn++) {
            nanosleep(&pause, NULL);
            ended = waitpid(child, &status, WNOHANG);
        }
        if (ended != child) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            fail_msg("alive 5 s after signal %d", signals[i]);
        }
        assert_true(WIFSIGNALED(status)
                        ? WTERMSIG(status) == signals[i]
                        : WEXITSTATUS(status) == 128 + signals[i]);
        assert_int_not_equal(access(sample_path("x.json"), F_OK), 0);
    }
}

RUN_TESTS()
