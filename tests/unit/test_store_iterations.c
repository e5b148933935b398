/* The list of a long run's iterations that is stored with it
 * (src/store/index/index.h): the same iterations as its steps give; a
 * damaged list is not used. */
#include "test.h"

#include "store/delete.h"
#include "store/timeline.h"
#include "store_samples.h"

#define LIST "FROM time_sum WHERE level = 5"

enum { STEPS = 13, NAMES = 5, MOST = 9000 };

/* Values with ties, some unknown; a kernel of another step between two. */
static void push_kernel(const struct lab_sink *sink, int64_t exec,
                        uint64_t *seed, const uint32_t *names)
{
    struct lab_record r = sample_kernel(exec, exec * 1000, 0);
    struct lab_kernel_record *k = &r.u.kernel;
    bool timed = sample_random(seed) % 50 != 0;
    k->start_ns = timed ? k->start_ns + (int64_t)(sample_random(seed) % 900)
                        : LAB_UNKNOWN;
    k->end_ns = timed ? k->start_ns + (int64_t)(sample_random(seed) % 500)
                      : LAB_UNKNOWN;
    k->demangled_name = names[sample_random(seed) % NAMES];
    k->launch.grid[0] = 1 + (int32_t)(sample_random(seed) % 40);
    k->launch.registers_per_thread = 32;
    k->occupancy_pct = sample_random(seed) % 9 == 0
                           ? NAN
                           : (double)(sample_random(seed) % 32) - 3;
    sink->push(sink->user, &r);
}

/* Now and then an iteration runs in part, from its middle, or once more, as
 * after going back. */
static void push_steps(const struct lab_sink *sink, int64_t steps,
                       uint64_t seed, const uint32_t *names)
{
    int64_t exec = 1;
    for (int64_t iteration = 0; exec <= steps; iteration++) {
        int32_t from = sample_random(&seed) % 20 == 0 ? 4 : 0;
        int32_t to = sample_random(&seed) % 20 == 0 ? 9 : STEPS;
        int32_t hole = sample_random(&seed) % 20 == 0 ? 6 : -1;
        for (int32_t i = from; i < to; i++) {
            if (i == hole)
                continue;
            struct lab_record r =
                sample_step(exec, iteration, i, LAB_TIME_CUPTI, LAB_UNKNOWN);
            uint64_t kernels = sample_random(&seed) % 4;
            for (uint64_t k = 0; k < kernels; k++)
                push_kernel(sink, exec, &seed, names);
            if (sample_random(&seed) % 30 == 0)
                push_kernel(sink, exec - 1, &seed, names);
            sink->push(sink->user, &r);
            exec++;
        }
        if (sample_random(&seed) % 15 == 0 && iteration > 3)
            iteration -= 3;
    }
}

struct recorded {
    int64_t steps;
    uint64_t seed;
};

static void push_run(const struct lab_sink *sink, void *user)
{
    const struct recorded *r = user;
    uint32_t names[NAMES];
    sample_names(names, NAMES, 3);
    push_steps(sink, r->steps, r->seed, names);
}

static void record(const char *path, int64_t steps, uint64_t seed)
{
    struct recorded r = {steps, seed};
    sample_record(path, push_run, &r);
}

/* Iterations of `steps` steps, a kernel to each. */
struct even {
    int64_t iterations;
    int32_t steps;
};

static void push_even(const struct lab_sink *sink, void *user)
{
    const struct even *e = user;
    uint32_t names[NAMES];
    uint64_t seed = 5;
    sample_names(names, NAMES, 3);
    for (int64_t i = 0; i < e->iterations * e->steps; i++) {
        struct lab_record r =
            sample_step(i + 1, i / e->steps, (int32_t)(i % e->steps),
                        LAB_TIME_CUPTI, LAB_UNKNOWN);
        push_kernel(sink, i + 1, &seed, names);
        sink->push(sink->user, &r);
    }
}

static void record_even(const char *path, int64_t iterations, int32_t steps)
{
    struct even e = {iterations, steps};
    sample_record(path, push_even, &e);
}

/* ---- what is read ---- */

struct list {
    struct lab_iteration_row row[MOST];
    int n;
};

static bool add_iteration(void *user, const struct lab_iteration_row *row)
{
    struct list *l = user;
    assert_true(l->n < MOST);
    l->row[l->n++] = *row;
    return true;
}

static void list_iterations(const char *path, int64_t run, struct list *out)
{
    struct lab_database *db = sample_open(path);
    memset(out, 0, sizeof(*out));
    assert_ok(lab_query_iterations(db, run, add_iteration, out));
    lab_database_close(db);
}

static bool are_same(const struct lab_iteration_row *a,
                     const struct lab_iteration_row *b)
{
    return a->iteration == b->iteration && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns && a->steps == b->steps &&
           a->kernels == b->kernels && a->exec_first == b->exec_first &&
           a->exec_last == b->exec_last &&
           a->kernel_row_first == b->kernel_row_first &&
           a->kernel_row_last == b->kernel_row_last;
}

static void compare_lists(const struct list *stored, const struct list *read)
{
    assert_int_equal(stored->n, read->n);
    for (int i = 0; i < read->n; i++)
        if (!are_same(&stored->row[i], &read->row[i]))
            fail_msg("iteration %d is not that of the steps", i);
}

SAMPLE_CASE(iterations_are_those_of_the_steps)
{
    static struct list stored;
    static struct list read;
    record(path, 12000, 3);
    record(path, 12000, 4);
    assert_true(sample_int(path, "SELECT sum(count) " LIST) > 1000);
    list_iterations(path, 2, &stored);
    sample_sql(path, "DELETE " LIST);
    list_iterations(path, 2, &read);
    assert_true(read.n > 500);
    compare_lists(&stored, &read);
}

/* More iterations than a row of time_sum has room for. */
SAMPLE_CASE(the_last_of_many_iterations_are_stored)
{
    static struct list stored;
    static struct list read;
    record_even(path, 9000, 4);
    assert_sql(path, 9000, "SELECT sum(count) " LIST);
    assert_sql(path, 3, "SELECT count(*) " LIST);
    list_iterations(path, 1, &stored);
    sample_sql(path, "DELETE " LIST);
    list_iterations(path, 1, &read);
    compare_lists(&stored, &read);
}

/* A list of iterations of three steps would save nothing. */
SAMPLE_CASE(short_iterations_are_not_listed)
{
    record_even(path, 4000, 3);
    assert_rows(path, 0, "time_sum WHERE level > 4");
}

SAMPLE_CASE(short_runs_have_none_and_deleted_ones_neither)
{
    struct lab_database *db;
    struct lab_deleted deleted;
    record(path, 12000, 3);
    record(path, 900, 4);
    assert_sql(path, 1, "SELECT max(runId) " LIST);
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_run_delete(db, 1, &deleted));
    lab_database_close(db);
    assert_sql(path, 0, "SELECT count(*) " LIST);
}

/* Bytes of a blob of which SQL would make a text. */
#define BYTES(expression) "CAST(" expression " AS BLOB)"
#define LAST_ROW "(SELECT max(place) " LIST ")"

/* A list that does not read, or has lost rows: the steps are read. */
SAMPLE_CASE(a_damaged_list_is_not_used)
{
    static const char *const harm[] = {
        "UPDATE time_sum SET times = zeroblob(40) WHERE level = 5",
        "UPDATE time_sum SET times = NULL WHERE level = 5",
        "UPDATE time_sum SET times = x'01' WHERE level = 5",
        "UPDATE time_sum SET times = substr(times, 1, 900) WHERE level = 5",
        "UPDATE time_sum SET times = substr(times, 1, length(times) - 1) "
        "WHERE level = 5",
        ("UPDATE time_sum SET times = " BYTES(
            "times || x'00'") " WHERE level = 5"),
        ("UPDATE time_sum SET times = " BYTES(
            "x'02' || substr(times, 2)") " WHERE level = 5"),
        /* a version, one iteration that begins at INT64_MIN, with no steps */
        ("UPDATE time_sum SET count = 1, times = " BYTES(
            "x'0100FFFFFFFFFFFFFFFFFF01' || zeroblob(8)") " WHERE level = 5"),
        "UPDATE time_sum SET count = count - 1 WHERE level = 5",
        "UPDATE time_sum SET count = count + 1 WHERE level = 5",
        "UPDATE time_sum SET count = 0 WHERE level = 5",
        "UPDATE time_sum SET count = -5 WHERE level = 5",
        "UPDATE time_sum SET count = 1 << 60 WHERE level = 5",
        "UPDATE time_sum SET count = 'all' WHERE level = 5",
        "DELETE " LIST " AND place = " LAST_ROW,
        "DELETE " LIST " AND place = " LAST_ROW " - 1",
        "DELETE " LIST " AND place = " LAST_ROW " - 2",
        "UPDATE time_sum SET place = place + 90000 WHERE level = 5 AND place "
        "= " LAST_ROW " - 1",
        "INSERT INTO time_sum (runId, place, level, count, timed, times) "
        "SELECT runId, place + 90000, level, count, timed, times " LIST
        " AND place = " LAST_ROW,
    };
    static struct list read;
    static struct list found;
    record_even(path, 9000, 4);
    list_iterations(path, 1, &read);
    sample_sql(path, "CREATE TABLE kept AS SELECT * FROM time_sum");
    /* Where the list is used, its rows are seen. */
    sample_sql(path, "UPDATE step SET start_ns = NULL, end_ns = NULL");
    list_iterations(path, 1, &found);
    compare_lists(&found, &read);
    sample_sql(path, "DELETE " LIST);
    list_iterations(path, 1, &read);
    assert_int_equal(read.row[0].start_ns, INT64_MIN);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        sample_sql(path, "DELETE FROM time_sum; INSERT INTO time_sum SELECT * "
                         "FROM kept");
        sample_sql(path, harm[i]);
        list_iterations(path, 1, &found);
        compare_lists(&found, &read);
    }
}

RUN_TESTS()
