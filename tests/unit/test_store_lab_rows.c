/* Rows of labs: stored, read as they were, unknown stays unknown, gone with
 * their run, and copied with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "store/lab_rows.h"
#include "store/delete.h"
#include "store_samples.h"
#include "trace/intern.h"

static int cleanup(void **state)
{
    (void)state;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

static struct lab_lab_row row_of(int64_t place)
{
    return (struct lab_lab_row){.place = place,
                                .lab = "gemm",
                                .size = "33x20x10",
                                .rung = "naive",
                                .precision = "fp32",
                                .status = "done",
                                .unit = "FLOP/s",
                                .repeats = 21,
                                .flush_bytes = 1 << 20,
                                .min_ns = 1.5,
                                .median_ns = 2.5,
                                .rate = 5.25e9,
                                .rate_predicted = NAN,
                                .gain = NAN,
                                .power_w = 300.5,
                                .note = "algorithm 3",
                                .workspace_bytes = 1 << 22,
                                .traced_exec = LAB_UNKNOWN};
}

struct seen {
    int n;
    int stop_after;
};

static bool see(void *user, const struct lab_lab_row *row)
{
    struct seen *s = user;
    assert_int_equal(row->place, s->n);
    assert_string_equal(row->lab, "gemm");
    assert_string_equal(row->size, "33x20x10");
    assert_string_equal(row->rung, "naive");
    assert_string_equal(row->unit, "FLOP/s");
    assert_null(row->reason);
    assert_int_equal(row->repeats, 21);
    assert_int_equal(row->flush_bytes, 1 << 20);
    assert_true(row->min_ns == 1.5 && row->median_ns == 2.5);
    assert_string_equal(row->note, "algorithm 3");
    assert_int_equal(row->workspace_bytes, 1 << 22);
    assert_int_equal(row->traced_exec, LAB_UNKNOWN);
    assert_true(row->rate == 5.25e9 && row->power_w == 300.5);
    assert_true(isnan(row->rate_predicted) && isnan(row->gain));
    s->n++;
    return s->n != s->stop_after;
}

static struct lab_database *filled(const char *path, int64_t *run)
{
    struct lab_database *db = NULL;
    assert_int_equal(sample_run(path, 2, 2, run), LAB_OK);
    assert_int_equal(lab_database_open(&db, path, NULL), LAB_OK);
    for (int i = 0; i < 3; i++) {
        struct lab_lab_row row = row_of(i);
        if (lab_lab_row_add(db, *run, &row))
            fail_msg("%s", lab_error());
    }
    return db;
}

static void there_and_back(void **state)
{
    int64_t run = 0;
    struct seen seen = {0};
    struct lab_database *db = filled(sample_path("labs.db"), &run);
    (void)state;
    assert_int_equal(lab_lab_rows_read(db, run, see, &seen), LAB_OK);
    assert_int_equal(seen.n, 3);
    seen = (struct seen){.stop_after = 2};
    assert_int_equal(lab_lab_rows_read(db, run, see, &seen), LAB_OK);
    assert_int_equal(seen.n, 2);
    struct lab_lab_row again = row_of(0); /* the place is taken */
    assert_int_equal(lab_lab_row_add(db, run, &again), LAB_E_DB);
    assert_int_equal(lab_lab_row_add(db, run + 1, &again), LAB_E_NOTFOUND);
    assert_int_equal(lab_lab_rows_read(db, run + 1, see, &seen),
                     LAB_E_NOTFOUND);
    lab_database_close(db);
    assert_int_equal(sample_int(sample_path("labs.db"),
                                "SELECT count(*) FROM lab_row WHERE reason IS "
                                "NULL AND gain IS NULL"),
                     3);
}

static void gone_with_their_run(void **state)
{
    int64_t run = 0;
    struct lab_deleted deleted;
    struct lab_database *db = filled(sample_path("gone.db"), &run);
    (void)state;
    assert_int_equal(lab_run_delete(db, run, &deleted), LAB_OK);
    lab_database_close(db);
    assert_int_equal(
        sample_int(sample_path("gone.db"), "SELECT count(*) FROM lab_row"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(gone_with_their_run),
    };
    return cmocka_run_group_tests(tests, NULL, cleanup);
}
