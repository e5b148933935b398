/* The passes of a long run that are kept with it (src/store/index/pass.h): the same
 * iterations, timelines and pages of kernels as its steps give. */
#include "test.h"

#include "store/delete.h"
#include "pass_samples.h"
#include "store_samples.h"

#define PASSES SAMPLE_PASS_ROWS
#define RANGES SAMPLE_RANGE_ROWS

TEST_CASE(iterations_are_those_of_the_steps)
{
    static struct sample_passes kept;
    static struct sample_passes read;
    const char *path = sample_path("runs.db");
    sample_pass_run(path, 12000, 3);
    sample_pass_run(path, 12000, 4);
    assert_true(sample_int(path, "SELECT sum(count) " PASSES) > 1000);
    sample_list_passes(path, 2, &kept);
    sample_sql(path, "DELETE " PASSES);
    sample_list_passes(path, 2, &read);
    assert_true(read.n > 500);
    sample_compare_passes(&kept, &read);
}

TEST_CASE(pages_are_those_of_the_steps)
{
    static struct sample_page kept[SAMPLE_PAGES];
    static struct sample_page read[SAMPLE_PAGES];
    const char *path = sample_path("runs.db");
    int full = 0;
    sample_pass_run(path, 12000, 3);
    sample_pass_run(path, 12000, 4);
    assert_true(sample_int(path, "SELECT count(*) " RANGES) > 2 * 13 * 4);
    sample_list_pages(path, 2, kept);
    sample_sql(path, "DELETE " RANGES);
    sample_list_pages(path, 2, read);
    sample_compare_pages(kept, read);
    sample_sql(path, "DELETE " PASSES);
    sample_list_pages(path, 2, read);
    sample_compare_pages(kept, read);
    for (int i = 0; i < SAMPLE_PAGES; i++)
        full += read[i].n >= 50;
    assert_true(full >= 2 * 2 * LAB_KERNEL_SORT_COUNT);
}

/* More passes than a row has room for. */
TEST_CASE(the_last_of_many_passes_are_kept)
{
    static struct sample_passes kept;
    static struct sample_passes read;
    static struct sample_page pages_kept[SAMPLE_PAGES];
    static struct sample_page pages_read[SAMPLE_PAGES];
    const char *path = sample_path("runs.db");
    sample_even_run(path, 9000, 4, 3);
    assert_int_equal(sample_int(path, "SELECT count(*) " PASSES), 3);
    assert_int_equal(sample_load_passes(path, 1), 9000);
    sample_list_passes(path, 1, &kept);
    sample_list_pages(path, 1, pages_kept);
    sample_sql(path, "DELETE FROM time_sum WHERE level > 4");
    sample_list_passes(path, 1, &read);
    sample_list_pages(path, 1, pages_read);
    sample_compare_passes(&kept, &read);
    sample_compare_pages(pages_kept, pages_read);
}

/* A list of passes of three steps would save nothing. */
TEST_CASE(short_passes_are_not_kept)
{
    const char *path = sample_path("runs.db");
    sample_even_run(path, 4000, 3, 2);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM time_sum WHERE "
                                      "level > 4"),
                     0);
}

/* Of a schedule with places up to 200,000 ranges take 48 MB: at 210,000 they
 * would take more. */
TEST_CASE(ranges_take_no_more_memory_than_is_said)
{
    const char *path = sample_path("runs.db");
    sample_even_run(path, 60, 200, 200000);
    sample_even_run(path, 60, 200, 210000);
    assert_int_equal(sample_int(path, "SELECT count(DISTINCT runId) " PASSES),
                     2);
    assert_int_equal(sample_int(path, "SELECT count(DISTINCT runId) " RANGES),
                     1);
    assert_int_equal(sample_int(path, "SELECT max(stepIndex) " RANGES), 200000);
}

TEST_CASE(short_runs_have_none_and_deleted_ones_neither)
{
    const char *path = sample_path("runs.db");
    struct lab_database *db;
    struct lab_deleted deleted;
    sample_pass_run(path, 12000, 3);
    sample_pass_run(path, 900, 4);
    assert_int_equal(sample_int(path, "SELECT max(runId) " PASSES), 1);
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    assert_int_equal(lab_run_delete(db, 1, &deleted), LAB_OK);
    lab_database_close(db);
    assert_int_equal(sample_int(path, "SELECT count(*) " PASSES), 0);
}

RUN_TESTS(
    cmocka_unit_test_teardown(iterations_are_those_of_the_steps,
                              sample_cleanup),
    cmocka_unit_test_teardown(pages_are_those_of_the_steps, sample_cleanup),
    cmocka_unit_test_teardown(the_last_of_many_passes_are_kept, sample_cleanup),
    cmocka_unit_test_teardown(short_passes_are_not_kept, sample_cleanup),
    cmocka_unit_test_teardown(ranges_take_no_more_memory_than_is_said,
                              sample_cleanup),
    cmocka_unit_test_teardown(short_runs_have_none_and_deleted_ones_neither,
                              sample_cleanup))
