/* store_samples.h -- records and databases for the tests of the store. */
#pragma once
#include <stdint.h>
#include "store/database.h"
#include "store/writer.h"

/* A new empty directory under the build's temporary place; the same one until
 * sample_dir_remove(), which removes it with everything in it. */
const char *sample_dir(void);
void sample_dir_remove(void);
/* The same, and what was interned, with memory again: a test's teardown. */
int sample_cleanup(void **state);
int sample_setup(void **state);
/* A test with these fixtures and the `path` of a database that is not there yet. */
#define SAMPLE_CASE(name)                                                      \
    TEST_CASE_OF(name, sample_setup, sample_cleanup, const char *path)
/* The next number of a sequence, 31 bits; the same for the same start. */
uint64_t sample_random(uint64_t *state);
/* `name` in that directory; valid until sample_dir_remove(). */
const char *sample_path(const char *name);

struct lab_record sample_step(int64_t exec, int64_t iteration, int32_t index,
                              enum lab_time_source source, int64_t time_ns);
struct lab_record sample_kernel(int64_t exec, int64_t start_ns,
                                int64_t time_ns);
struct lab_record sample_loss(int64_t iteration, double loss, double accuracy);

/* A run of `iterations` times `steps` steps, each with two kernels of 1000 +
 * its index and 500 ns, and a loss of 1 / (1 + iteration). */
enum lab_status sample_run(const char *path, int64_t iterations, int32_t steps,
                           int64_t *run);
/* Pushes one such iteration; execs count on from *exec. */
void sample_iteration(const struct lab_sink *sink, int64_t iteration,
                      int32_t steps, int64_t *exec);

/* A run of what `push` pushes, without any other fact. */
typedef void sample_push_fn(const struct lab_sink *sink, void *user);
void sample_record(const char *path, sample_push_fn *push, void *user);
/* `count` names, interned so that their ids are in no order of their own:
 * `turn` and count have no common divisor. */
void sample_names(uint32_t *names, int count, int turn);
/* Hardware counters of a sample's execution, of each of its two kernels: 100
 * bytes of DRAM read and 100 written, 1500 FLOPs in fp32, an achieved occupancy
 * of 25 %. */
void sample_counters(const char *path, int64_t exec);
/* To read only; fails the test on an error. */
struct lab_database *sample_open(const char *path);
/* The same, closed by sample_cleanup(); one a test. */
struct lab_database *sample_database(const char *path);

/* By a connection of its own: the first number of `sql`; INT64_MIN: NULL;
 * fails the test on an error. */
int64_t sample_int(const char *path, const char *sql);
/* How many rows there are of "TABLE" or "TABLE WHERE ...". */
int64_t sample_count(const char *path, const char *rows);
/* There are `n` of them. */
#define assert_rows(path, n, rows)                                             \
    do {                                                                       \
        int64_t n_rows = sample_count(path, rows);                             \
        if (n_rows != (n))                                                     \
            fail_msg("%lld rows of %s", (long long)n_rows, rows);              \
    } while (0)
/* The first number of `sql` is `value`. */
#define assert_sql(path, value, sql)                                           \
    do {                                                                       \
        int64_t sql_value = sample_int(path, sql);                             \
        if (sql_value != (value))                                              \
            fail_msg("%lld: %s", (long long)sql_value, sql);                   \
    } while (0)
void sample_sql(const char *path, const char *sql);
