/* Files of other people that are made to do harm, or that meet bad luck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "import_sample.h"
#include "store_priv.h"
#include "store_samples.h"

/* ---- sums ---- */

/* Rows of two iterations by turns, at places that no schedule has: each row
 * ends an iteration, and must not cost as much as all the places. */
static void far_places_cost_no_more_than_near_ones(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    struct seen s;
    (void)state;
    assert_int_equal(sample_run(theirs, 3, 4, NULL), LAB_OK);
    sample_sql(theirs,
               "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
               "LIMIT 200000) INSERT INTO step (runId, exec, iteration, "
               "stepIndex, phase, nameId, time_ns) SELECT 1, 1000 + i, 10 + i "
               "% 2, 0xFFFFF, 0, 1, 7 FROM n");
    assert_int_equal(import(here, theirs, NULL, &s), LAB_OK);
    assert_int_equal(s.steps, 200000 + 12);
    /* whole iterations are those that they were */
    assert_int_equal(sample_int(here, "SELECT count FROM time_sum WHERE level "
                                      "= 0"),
                     3);
    assert_int_equal(sample_int(here, "SELECT total_ns FROM time_sum WHERE "
                                      "level = 0"),
                     3 * (4 * 1500 + 6));
    assert_int_equal(sample_int(here, "SELECT count FROM time_sum WHERE level "
                                      "= 3 AND stepIndex = 0xFFFFF"),
                     200000);
}

/* ---- the end of the transaction ---- */

static int refuse(void *user)
{
    ++*(int *)user;
    return 1;
}

/* What is told as copied must be there. */
static void nothing_is_told_before_it_is_certain(void **state)
{
    const char *here = sample_path("here.db");
    const char *theirs = sample_path("theirs.db");
    const struct lab_import_options options = {NULL, false};
    struct lab_database *db;
    struct seen s = {0};
    int refused = 0;
    (void)state;
    assert_int_equal(sample_run(here, 1, 1, NULL), LAB_OK);
    assert_int_equal(sample_run(theirs, 2, 2, NULL), LAB_OK);
    assert_int_equal(lab_database_open(&db, here, NULL), LAB_OK);
    sqlite3_commit_hook(db->sql, refuse, &refused);
    assert_int_equal(lab_import_file(db, theirs, &options, see_import, &s),
                     LAB_E_DB);
    assert_int_equal(refused, 1);
    assert_int_equal(s.imported + s.skipped, 0);
    sqlite3_commit_hook(db->sql, NULL, NULL);
    assert_int_equal(sample_int(here, "SELECT count(*) FROM run"), 1);
    assert_int_equal(lab_import_file(db, theirs, &options, see_import, &s),
                     LAB_OK);
    assert_int_equal(s.imported, 1);
    assert_int_equal(s.kernels, 8);
    lab_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(far_places_cost_no_more_than_near_ones,
                                  import_cleanup),
        cmocka_unit_test_teardown(nothing_is_told_before_it_is_certain,
                                  import_cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
