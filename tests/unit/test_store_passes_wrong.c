/* Kept passes and ranges that are damaged or lie: the run is read as if it had
 * none. Each harm is done to what was recorded, not to what the last one left.
 */
#include <stdio.h>
#include <string.h>
#include "test.h"

#include "base/mem.h"
#include "index/pass.h"
#include "pass_samples.h"
#include "index/step_range.h"
#include "store/time_sum.h"
#include "store_samples.h"
#include "index/sum_packed.h"
#include "index/varint.h"

/* Bytes of a blob of which SQL would make a text. */
#define BYTES(expression) "CAST(" expression " AS BLOB)"

enum { LENGTH = 1100 };
#define LAST_ROW "(SELECT max(place) FROM time_sum WHERE level = 5)"

/* The rows of time_sum as they were recorded, beside the run. */
static void keep_rows(const char *path)
{
    sample_sql(path, "CREATE TABLE kept AS SELECT * FROM time_sum");
}

static void restore_rows(const char *path)
{
    sample_sql(path, "DELETE FROM time_sum; INSERT INTO time_sum SELECT * FROM "
                     "kept");
}

/* ---- passes ---- */

TEST_CASE(passes_that_do_not_read_count_as_not_kept)
{
    static const char *const harm[] = {
        "UPDATE time_sum SET times = zeroblob(40) WHERE level = 5",
        "UPDATE time_sum SET times = NULL WHERE level = 5",
        "UPDATE time_sum SET times = x'01' WHERE level = 5",
        "UPDATE time_sum SET times = substr(times, 1, 900) WHERE level = 5",
        "UPDATE time_sum SET times = substr(times, 1, length(times) - 1) "
        "WHERE level = 5",
        "UPDATE time_sum SET times = " BYTES("times || x'00'") " WHERE level = "
                                                               "5",
        "UPDATE time_sum SET times = " BYTES(
            "x'02' || substr(times, 2)") " WHERE level = 5",
        "UPDATE time_sum SET count = count - 1 WHERE level = 5",
        "UPDATE time_sum SET count = count + 1 WHERE level = 5",
        "UPDATE time_sum SET count = 0 WHERE level = 5",
        "UPDATE time_sum SET count = -5 WHERE level = 5",
        "UPDATE time_sum SET count = 1 << 60 WHERE level = 5",
        "UPDATE time_sum SET count = 'all' WHERE level = 5",
    };
    static struct sample_passes whole;
    static struct sample_passes found;
    const char *path = sample_path("runs.db");
    sample_pass_run(path, 12000, 3);
    assert_true(sample_load_passes(path, 1) > LENGTH - 200);
    sample_list_passes(path, 1, &whole);
    keep_rows(path);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        restore_rows(path);
        assert_true(sample_load_passes(path, 1) > 0);
        sample_sql(path, harm[i]);
        if (sample_load_passes(path, 1) != 0)
            fail_msg("taken: %s", harm[i]);
        sample_list_passes(path, 1, &found);
        sample_compare_passes(&found, &whole);
    }
}

/* The passes are a list over several rows, of the run that it stands with. */
TEST_CASE(passes_with_lost_rows_count_as_not_kept)
{
    static const char *const harm[] = {
        "DELETE FROM time_sum WHERE level = 5 AND place = " LAST_ROW,
        "DELETE FROM time_sum WHERE level = 5 AND place = " LAST_ROW " - 1",
        "DELETE FROM time_sum WHERE level = 5 AND place = " LAST_ROW " - 2",
        "UPDATE time_sum SET place = place + 90000 WHERE level = 5 AND place = "
        "" LAST_ROW " - 1",
        "INSERT INTO time_sum (runId, place, level, count, timed, times) "
        "SELECT runId, place + 90000, level, count, timed, times FROM time_sum "
        "WHERE level = 5 AND place = " LAST_ROW,
        "DELETE FROM time_sum WHERE level = 3 AND stepIndex = 2",
        "UPDATE time_sum SET count = 'x' WHERE level = 3 AND stepIndex = 2",
    };
    const char *path = sample_path("runs.db");
    sample_even_run(path, 9000, 4, 3);
    keep_rows(path);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        restore_rows(path);
        assert_int_equal(sample_load_passes(path, 1), 9000);
        sample_sql(path, harm[i]);
        if (sample_load_passes(path, 1) != 0)
            fail_msg("taken: %s", harm[i]);
    }
}

TEST_CASE(passes_of_other_steps_count_as_not_kept)
{
    static const char *const other[][2] = {
        {"UPDATE step SET exec = 0 WHERE exec = 1",
         "UPDATE step SET exec = 1 WHERE exec = 0"},
        {"UPDATE step SET exec = 40000 WHERE exec = 12000",
         "UPDATE step SET exec = 12000 WHERE exec = 40000"},
        {"UPDATE step SET exec = 'x' WHERE exec = 12000",
         "UPDATE step SET exec = 12000 WHERE exec = 'x'"},
        {"UPDATE run SET kernelRowFirst = kernelRowFirst + 5000",
         "UPDATE run SET kernelRowFirst = kernelRowFirst - 5000"},
        {"UPDATE run SET kernelRowLast = kernelRowLast - 5000",
         "UPDATE run SET kernelRowLast = kernelRowLast + 5000"},
    };
    const char *path = sample_path("runs.db");
    sample_even_run(path, 3000, 4, 3);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
        sample_sql(path, other[i][0]);
        if (sample_load_passes(path, 1) != 0)
            fail_msg("taken: %s", other[i][0]);
        sample_sql(path, other[i][1]);
        assert_int_equal(sample_load_passes(path, 1), 3000);
    }
}

/* ---- passes that no run has ---- */

struct lie {
    int pass;  /* below 0: from the end */
    size_t at; /* a number of struct lab_pass */
    int64_t more;
    int pass_2; /* what hides it from the other checks */
    size_t at_2;
    int64_t more_2;
};

#define AT(member) offsetof(struct lab_pass, member)
static const struct lie lies[] = {
    /* more steps than there are execs, as many in all */
    {5, AT(row.steps), 1, 6, AT(row.steps), -1},
    {5, AT(row.steps), 20, 6, AT(row.steps), -20},
    {5, AT(row.steps), INT64_MAX / 2},
    /* more in all, where there is room */
    {5, AT(row.steps), -1},
    /* passes that overlap, or lie before the one before */
    {5, AT(row.exec_last), 1},
    {6, AT(row.exec_first), -1},
    {5, AT(row.exec_last), INT64_MAX / 2},
    {0, AT(row.exec_first), -1},
    {-1, AT(row.exec_last), 1},
    /* moments and rows that are none, or not the run's */
    {5, AT(row.start_ns), INT64_MAX / 2},
    {5, AT(row.end_ns), -(INT64_C(1) << 60)},
    {5, AT(row.end_ns), INT64_MAX / 2},
    {5, AT(row.kernel_row_first), -(INT64_C(1) << 60)},
    {5, AT(row.kernel_row_first), INT64_MAX / 2},
    {5, AT(row.kernel_row_last), INT64_MAX / 2},
    {5, AT(row.kernel_row_last), -(INT64_C(1) << 60)},
    {5, AT(row.kernel_row_first), -1000},
    {5, AT(row.kernel_row_last), 100000},
    /* numbers of kernels that no steps have */
    {5, AT(row.kernels), -10000},
    {5, AT(row.kernels), INT64_MAX / 2},
    /* steps at places that the schedule does not have */
    {5, AT(zero), 1},
    {5, AT(zero), -1},
    {5, AT(zero), INT64_MAX / 2},
};

static void tell(struct lab_passes *p, int pass, size_t at, int64_t more)
{
    size_t i = pass < 0 ? p->count - (size_t)-pass : (size_t)pass;
    int64_t *v = (int64_t *)((char *)&p->list[i] + at);
    if (at != AT(zero) && more)
        p->list[i].zero = LAB_UNKNOWN;
    *v += more;
}

/* Instead of what is kept. */
static void store_passes(const char *path, int64_t run,
                         const struct lab_passes *passes)
{
    struct lab_database *db;
    int64_t place = 500000;
    char sql[80];
    snprintf(sql, sizeof(sql),
             "DELETE FROM time_sum WHERE level = 5 AND runId = %d", (int)run);
    sample_sql(path, sql);
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_passes_store(passes, db, run, &place), LAB_OK);
    lab_database_close(db);
    assert_true(place > 500000);
}

/* A copy of the passes as they were kept; release it. */
static void load_list(const char *path, int64_t run, struct lab_passes *out)
{
    struct lab_database *db = sample_open(path);
    assert_int_equal(lab_passes_load(out, db, run), LAB_OK);
    assert_true(out->count > 100);
    lab_database_close(db);
}

TEST_CASE(passes_that_no_run_has_count_as_not_kept)
{
    const char *path = sample_path("runs.db");
    struct lab_passes passes;
    sample_even_run(path, 10, 13, 12);
    sample_even_run(path, 900, 13, 12);
    keep_rows(path);
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        const struct lie *lie = &lies[i];
        restore_rows(path);
        load_list(path, 2, &passes);
        tell(&passes, 5, AT(row.start_ns), 0);
        store_passes(path, 2, &passes);
        assert_int_equal(sample_load_passes(path, 2), 900);
        tell(&passes, lie->pass, lie->at, lie->more);
        tell(&passes, lie->pass_2, lie->at_2, lie->more_2);
        store_passes(path, 2, &passes);
        if (sample_load_passes(path, 2) != 0)
            fail_msg("lie %d is taken", (int)i);
        lab_passes_release(&passes);
    }
}

/* One iteration twice, one after the other, is one pass. */
TEST_CASE(neighbours_of_one_iteration_count_as_not_kept)
{
    const char *path = sample_path("runs.db");
    struct lab_passes passes;
    sample_even_run(path, 900, 13, 12);
    load_list(path, 1, &passes);
    passes.list[6].row.iteration = passes.list[5].row.iteration;
    store_passes(path, 1, &passes);
    assert_int_equal(sample_load_passes(path, 1), 0);
    lab_passes_release(&passes);
}

/* Where execs are left out, others could make up for its steps. */
TEST_CASE(a_pass_without_steps_counts_as_not_kept)
{
    const char *path = sample_path("runs.db");
    struct lab_passes passes;
    struct lab_database *db;
    sample_even_run(path, 900, 13, 12);
    sample_sql(path, "UPDATE step SET exec = -exec; UPDATE step SET exec = -2 "
                     "* exec; DELETE FROM time_sum; UPDATE run SET summed = "
                     "NULL");
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_time_sums_keep(db, 1), LAB_OK);
    lab_database_close(db);
    load_list(path, 1, &passes);
    tell(&passes, 5, AT(row.steps), -12);
    tell(&passes, 6, AT(row.steps), 12);
    store_passes(path, 1, &passes);
    assert_int_equal(sample_load_passes(path, 1), 900);
    tell(&passes, 5, AT(row.steps), -1);
    tell(&passes, 7, AT(row.steps), 1);
    store_passes(path, 1, &passes);
    assert_int_equal(sample_load_passes(path, 1), 0);
    lab_passes_release(&passes);
}

/* As the header says that they are packed, by other means than the program's.
 */
static size_t pack_passes(unsigned char *bytes, const struct lab_pass *list,
                          size_t count)
{
    static const size_t at[] = {
        AT(row.iteration), AT(row.start_ns),         AT(row.end_ns),
        AT(row.steps),     AT(row.kernels),          AT(row.exec_first),
        AT(row.exec_last), AT(row.kernel_row_first), AT(row.kernel_row_last),
        AT(zero)};
    size_t n = 0;
    bytes[n++] = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
            const char *p = (const char *)&list[i] + at[k];
            int64_t now = *(const int64_t *)p;
            int64_t before =
                i ? *(const int64_t *)(p - sizeof(struct lab_pass)) : 0;
            n += lab_varint_put(bytes + n,
                                lab_zigzag((uint64_t)now - (uint64_t)before));
        }
    return n;
}

/* 9,000 passes, so many to a row of them. */
static void store_packed(const char *path, const struct lab_passes *passes,
                         size_t each)
{
    struct lab_database *db;
    struct lab_packed rows;
    int64_t place = 500000;
    unsigned char *bytes = lab_alloc_array(each, 10 * LAB_VARINT_MOST + 1);
    assert_non_null(bytes);
    sample_sql(path, "DELETE FROM time_sum WHERE level = 5");
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_packed_begin(&rows, db, 1, LAB_PASS_LEVEL), LAB_OK);
    for (size_t i = 0; i < passes->count; i += each) {
        size_t n = passes->count - i < each ? passes->count - i : each;
        size_t size = pack_passes(bytes, passes->list + i, n);
        assert_int_equal(lab_packed_add(&rows, &place, LAB_UNKNOWN, LAB_UNKNOWN,
                                        (int64_t)n, bytes, size),
                         LAB_OK);
    }
    lab_packed_end(&rows);
    lab_database_close(db);
    lab_free(bytes);
}

TEST_CASE(a_row_has_no_more_passes_than_is_said)
{
    const char *path = sample_path("runs.db");
    struct lab_passes passes;
    sample_even_run(path, 9000, 4, 3);
    load_list(path, 1, &passes);
    store_packed(path, &passes, LAB_PASS_ROWS);
    assert_int_equal(sample_load_passes(path, 1), 9000);
    store_packed(path, &passes, LAB_PASS_ROWS + 1);
    assert_int_equal(sample_load_passes(path, 1), 0);
    lab_passes_release(&passes);
}

/* Each of 200 passes says that all of the run is its: a page would have a row
 * 200 times, and each pass would be read whole. */
TEST_CASE(no_kernel_comes_twice)
{
    static struct sample_page whole[SAMPLE_PAGES];
    static struct sample_page found[SAMPLE_PAGES];
    const char *path = sample_path("runs.db");
    struct lab_passes passes;
    sample_even_run(path, 10, 13, 12);
    sample_even_run(path, 900, 13, 12);
    sample_list_pages(path, 2, whole);
    load_list(path, 2, &passes);
    const struct lab_iteration_row *end = &passes.list[899].row;
    for (int i = 0; i < 200; i++) {
        struct lab_pass *p = &passes.list[i];
        p->row.steps = end->exec_last;
        p->row.exec_first = 1;
        p->row.exec_last = end->exec_last;
        p->row.kernel_row_last = end->kernel_row_last;
        p->zero = LAB_UNKNOWN;
    }
    passes.count = 200;
    sample_sql(path, "DELETE FROM time_sum WHERE level = 6");
    store_passes(path, 2, &passes);
    sample_list_pages(path, 2, found);
    sample_compare_pages(found, whole);
    lab_passes_release(&passes);
}

/* ---- ranges ---- */

enum { STEP = 7 };

static bool ranges_read(const char *path, size_t groups)
{
    struct lab_database *db = sample_open(path);
    struct lab_zone_range *ranges;
    assert_int_equal(
        lab_step_ranges_load(&ranges, groups, db, 2, STEP, LAB_KERNEL_BY_TIME),
        LAB_OK);
    lab_database_close(db);
    bool found = ranges != NULL;
    lab_free(ranges);
    return found;
}

/* Two runs, so that a kernel of the wrong one would be seen; the second one's
 * number of groups. */
static size_t record_two(const char *path)
{
    sample_pass_run(path, 100, 3);
    sample_pass_run(path, 12000, 4);
    size_t groups =
        (sample_load_passes(path, 2) + LAB_RANGE_PASSES - 1) / LAB_RANGE_PASSES;
    assert_true(groups > 12);
    keep_rows(path);
    return groups;
}

TEST_CASE(ranges_that_do_not_read_count_as_not_kept)
{
    static const char *const harm[] = {
        "UPDATE time_sum SET times = substr(times, 1, 9) WHERE level = 6",
        "UPDATE time_sum SET times = NULL WHERE level = 6",
        "UPDATE time_sum SET times = substr(times, 1, length(times) - 1) "
        "WHERE level = 6",
        "UPDATE time_sum SET times = " BYTES("times || x'00'") " WHERE level = "
                                                               "6",
        "UPDATE time_sum SET count = count + 1 WHERE level = 6",
        "UPDATE time_sum SET count = count - 1 WHERE level = 6",
        "UPDATE time_sum SET times = zeroblob(2 * count) WHERE level = 6",
        /* greater than 64 bits have room for */
        "UPDATE time_sum SET times = " BYTES(
            "x'FEFFFFFFFFFFFFFFFF01' || x'0A' || zeroblob(2 * (count - "
            "1))") " WHERE level = 6",
        /* the least of the first group is what stands for unknown */
        "UPDATE time_sum SET times = " BYTES(
            "x'FFFFFFFFFFFFFFFFFF01' || x'0A' || zeroblob(2 * (count - "
            "1))") " WHERE level = 6",
        /* a difference, and nothing known that differs */
        "UPDATE time_sum SET times = " BYTES(
            "x'0402' || x'0200' || zeroblob(2 * (count - 2))") " WHERE level = "
                                                               "6",
    };
    static struct sample_page kept[SAMPLE_PAGES];
    static struct sample_page read[SAMPLE_PAGES];
    const char *path = sample_path("runs.db");
    size_t groups = record_two(path);
    sample_list_pages(path, 2, kept);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        restore_rows(path);
        assert_true(ranges_read(path, groups));
        sample_sql(path, harm[i]);
        if (ranges_read(path, groups))
            fail_msg("taken: %s", harm[i]);
    }
    sample_list_pages(path, 2, read);
    sample_compare_pages(kept, read);
}

/* Ranges that read well and are those of another column, or of nothing, and
 * names that are not the step's: found out when the first rows are read. */
TEST_CASE(ranges_that_lie_do_no_harm)
{
    static const char *const harm[] = {
        "UPDATE time_sum SET times = (SELECT times FROM kept AS k WHERE "
        "k.level = 6 AND k.runId = 2 AND k.stepIndex = time_sum.stepIndex AND "
        "k.phase = 7) WHERE level = 6 AND runId = 2",
        "UPDATE time_sum SET demangledName = (SELECT id FROM StringIds WHERE "
        "value = 'c_kernel') WHERE level = 4",
        /* one value, and none in the other groups */
        "UPDATE time_sum SET times = " BYTES(
            "x'9A8F0201' || zeroblob(2 * (count - 1))") " WHERE level = 6",
    };
    static struct sample_page kept[SAMPLE_PAGES];
    static struct sample_page read[SAMPLE_PAGES];
    const char *path = sample_path("runs.db");
    size_t groups = record_two(path);
    sample_list_pages(path, 2, kept);
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        restore_rows(path);
        sample_sql(path, harm[i]);
        assert_true(ranges_read(path, groups));
        sample_list_pages(path, 2, read);
        sample_compare_pages(kept, read);
    }
}

RUN_TESTS(cmocka_unit_test_teardown(passes_that_do_not_read_count_as_not_kept,
                                    sample_cleanup),
          cmocka_unit_test_teardown(passes_with_lost_rows_count_as_not_kept,
                                    sample_cleanup),
          cmocka_unit_test_teardown(passes_of_other_steps_count_as_not_kept,
                                    sample_cleanup),
          cmocka_unit_test_teardown(passes_that_no_run_has_count_as_not_kept,
                                    sample_cleanup),
          cmocka_unit_test_teardown(
              neighbours_of_one_iteration_count_as_not_kept, sample_cleanup),
          cmocka_unit_test_teardown(a_pass_without_steps_counts_as_not_kept,
                                    sample_cleanup),
          cmocka_unit_test_teardown(a_row_has_no_more_passes_than_is_said,
                                    sample_cleanup),
          cmocka_unit_test_teardown(no_kernel_comes_twice, sample_cleanup),
          cmocka_unit_test_teardown(ranges_that_do_not_read_count_as_not_kept,
                                    sample_cleanup),
          cmocka_unit_test_teardown(ranges_that_lie_do_no_harm, sample_cleanup))
