/* The passes of a long run that are kept with it (src/store/pass.h): the same
 * iterations, timelines and pages of kernels as its steps give. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "store/delete.h"
#include "store/query.h"
#include "store/timeline.h"
#include "store_samples.h"

enum { STEPS = 13, MOST = 3000, NAMES = 5 };
#define PASSES "FROM time_sum WHERE level = 5"
#define RANGES "FROM time_sum WHERE level = 6"

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
    k->grid[0] = 1 + (int32_t)(sample_random(seed) % 40);
    k->registers_per_thread = 32;
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

static void record(const char *path, int64_t steps, uint64_t seed)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    uint32_t names[NAMES];
    char text[32];
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    assert_int_equal(lab_writer_new(&writer, path, &info, NULL), LAB_OK);
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int i = 0; i < NAMES; i++) {
        snprintf(text, sizeof(text), "%c_kernel", 'a' + i * 3 % NAMES);
        names[i] = sink.intern(sink.user, text);
    }
    push_steps(&sink, steps, seed, names);
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_OK);
    lab_writer_free(writer);
}

static struct lab_database *open_to_read(const char *path)
{
    const struct lab_database_options reader = {.read_only = true};
    struct lab_database *db;
    assert_int_equal(lab_database_open(&db, path, &reader), LAB_OK);
    return db;
}

/* ---- iterations ---- */

struct passes {
    struct lab_iteration_row row[MOST];
    int n;
};

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct passes *p = user;
    assert_true(p->n < MOST);
    p->row[p->n++] = *row;
    return true;
}

static void list_passes(const char *path, int64_t run, struct passes *out)
{
    struct lab_database *db = open_to_read(path);
    memset(out, 0, sizeof(*out));
    assert_int_equal(lab_query_iterations(db, run, add_pass, out), LAB_OK);
    lab_database_close(db);
}

static bool same_pass(const struct lab_iteration_row *a,
                      const struct lab_iteration_row *b)
{
    return a->iteration == b->iteration && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns && a->steps == b->steps &&
           a->kernels == b->kernels && a->exec_first == b->exec_first &&
           a->exec_last == b->exec_last &&
           a->kernel_row_first == b->kernel_row_first &&
           a->kernel_row_last == b->kernel_row_last;
}

static void iterations_are_those_of_the_steps(void **state)
{
    static struct passes kept;
    static struct passes read;
    const char *path = sample_path("runs.db");
    (void)state;
    record(path, 12000, 3);
    record(path, 12000, 4);
    assert_true(sample_int(path, "SELECT sum(count) " PASSES) > 1000);
    list_passes(path, 2, &kept);
    sample_sql(path, "DELETE " PASSES);
    list_passes(path, 2, &read);
    assert_true(read.n > 500);
    assert_int_equal(kept.n, read.n);
    for (int i = 0; i < read.n; i++)
        if (!same_pass(&kept.row[i], &read.row[i]))
            fail_msg("pass %d is not that of the steps", i);
}

/* ---- kernels ---- */

enum { SORTS = LAB_KERNEL_SORT_COUNT, FILTERS = 5, PAGES = 3, PAGE = 60 };
enum { CASES = SORTS * 2 * FILTERS * PAGES };
static const int64_t filters[FILTERS][2] = {/* step, iteration */
                                            {7, LAB_UNKNOWN},
                                            {12, LAB_UNKNOWN},
                                            {LAB_UNKNOWN, 5},
                                            {LAB_UNKNOWN, 400},
                                            {3, 400}};
static const int64_t pages[PAGES][2] = {/* offset, limit */
                                        {0, 50},
                                        {20, 60},
                                        {1100, 11}};

struct page {
    int64_t row[PAGE];
    int n;
};

static bool add_row(void *user, const struct lab_kernel_row *row)
{
    struct page *p = user;
    assert_true(p->n < PAGE);
    p->row[p->n++] = row->row;
    return true;
}

static void list_pages(const char *path, struct page out[CASES])
{
    struct lab_database *db = open_to_read(path);
    for (int i = 0; i < CASES; i++) {
        const int64_t *of = filters[i / PAGES % FILTERS];
        const struct lab_kernel_filter f = {
            .step_index = of[0],
            .iteration = of[1],
            .sort = (enum lab_kernel_sort)(i / (2 * FILTERS * PAGES)),
            .descending = i / (FILTERS * PAGES) % 2 == 1,
            .offset = pages[i % PAGES][0],
            .limit = pages[i % PAGES][1]};
        out[i].n = 0;
        assert_int_equal(lab_query_kernels(db, 2, &f, add_row, &out[i]),
                         LAB_OK);
    }
    lab_database_close(db);
}

static void compare_pages(const struct page kept[CASES],
                          const struct page read[CASES])
{
    for (int i = 0; i < CASES; i++) {
        if (kept[i].n != read[i].n)
            fail_msg("case %d: %d rows, not %d", i, kept[i].n, read[i].n);
        for (int k = 0; k < read[i].n; k++)
            if (kept[i].row[k] != read[i].row[k])
                fail_msg("case %d: place %d has row %lld, not %lld", i, k,
                         (long long)kept[i].row[k], (long long)read[i].row[k]);
    }
}

static void pages_are_those_of_the_steps(void **state)
{
    static struct page kept[CASES];
    static struct page read[CASES];
    const char *path = sample_path("runs.db");
    int full = 0;
    (void)state;
    record(path, 12000, 3);
    record(path, 12000, 4);
    assert_true(sample_int(path, "SELECT count(*) " RANGES) > 2 * 13 * 4);
    list_pages(path, kept);
    sample_sql(path, "DELETE " RANGES);
    list_pages(path, read);
    compare_pages(kept, read);
    sample_sql(path, "DELETE " PASSES);
    list_pages(path, read);
    compare_pages(kept, read);
    for (int i = 0; i < CASES; i++)
        full += read[i].n >= 50;
    assert_true(full >= 2 * 2 * SORTS);
}

/* Ranges that do not read, or lie: no crash, no kernel of another step. */
static void wrong_ranges_do_no_harm(void **state)
{
    static const char *const harm[] = {
        "UPDATE time_sum SET times = substr(times, 1, 9) WHERE level = 6",
        "UPDATE time_sum SET times = NULL WHERE level = 6",
        "UPDATE time_sum SET count = count + 1 WHERE level = 6",
    };
    static struct page kept[CASES];
    static struct page read[CASES];
    const char *path = sample_path("runs.db");
    (void)state;
    record(path, 100, 3);
    int64_t kernels_of_first =
        sample_int(path, "SELECT max(kernelRow) FROM op_kernel");
    record(path, 12000, 4);
    list_pages(path, kept);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        sample_sql(path, harm[i]);
        list_pages(path, read);
        compare_pages(kept, read);
    }
    sample_sql(path, "UPDATE time_sum SET count = count - 1, times = "
                     "zeroblob(2 * (count - 1)) WHERE level = 6");
    list_pages(path, read);
    for (int i = 0; i < CASES; i++)
        for (int k = 0; k < read[i].n; k++)
            assert_true(read[i].row[k] > kernels_of_first);
}

/* ---- what is not kept, or does not read ---- */

static void what_does_not_read_is_read_from_the_steps(void **state)
{
    static const char *const harm[] = {
        "UPDATE time_sum SET times = zeroblob(40) WHERE level = 5",
        "UPDATE time_sum SET times = NULL WHERE level = 5",
        "UPDATE time_sum SET times = substr(times, 1, 900) WHERE level = 5",
        "UPDATE time_sum SET count = count - 1 WHERE level = 5",
        "UPDATE time_sum SET count = -5 WHERE level = 5",
        "UPDATE time_sum SET count = 1 << 60 WHERE level = 5",
    };
    static struct passes whole;
    static struct passes found;
    const char *path = sample_path("runs.db");
    (void)state;
    record(path, 12000, 3);
    list_passes(path, 1, &whole);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        sample_sql(path, harm[i]);
        list_passes(path, 1, &found);
        assert_int_equal(found.n, whole.n);
        for (int k = 0; k < whole.n; k++)
            assert_true(same_pass(&found.row[k], &whole.row[k]));
    }
}

static void short_runs_have_none_and_deleted_ones_neither(void **state)
{
    const char *path = sample_path("runs.db");
    struct lab_database *db;
    struct lab_deleted deleted;
    (void)state;
    record(path, 12000, 3);
    record(path, 900, 4);
    assert_int_equal(sample_int(path, "SELECT max(runId) " PASSES), 1);
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_run_delete(db, 1, &deleted), LAB_OK);
    lab_database_close(db);
    assert_int_equal(sample_int(path, "SELECT count(*) " PASSES), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(iterations_are_those_of_the_steps,
                                  sample_cleanup),
        cmocka_unit_test_teardown(pages_are_those_of_the_steps, sample_cleanup),
        cmocka_unit_test_teardown(wrong_ranges_do_no_harm, sample_cleanup),
        cmocka_unit_test_teardown(what_does_not_read_is_read_from_the_steps,
                                  sample_cleanup),
        cmocka_unit_test_teardown(short_runs_have_none_and_deleted_ones_neither,
                                  sample_cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
