/* What profile roofline says of steps from what only the run knows: its shortest
 * kernel, the names of its variants. */
#include "test.h"

#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

/* Two steps with a kernel each, on a device with 4e8 B/s and 1 TFLOP/s. */
static void make_run(const char *db)
{
    assert_ok(sample_run(db, 3, 2, NULL));
    sample_sql(db, "UPDATE run SET precision = 'fp32', smCount = 132;"
                   "INSERT INTO TARGET_INFO_GPU (uuid, runId) VALUES ('GPU-1', "
                   "1);"
                   "INSERT INTO ceiling (backend, device, uuid, name, "
                   "best_per_s, measured, measured_ns) VALUES ('cuda', 'NVIDIA "
                   "H200', 'GPU-1', 'copy', 4e8, '2026-01-02', 5), ('cuda', "
                   "'NVIDIA H200', 'GPU-1', 'fp32', 1e12, '2026-01-02', 5)");
}

/* The nth of the output; NULL past the last. */
static json_t *point_at(int n)
{
    json_t *o;
    for (int i = 0; (o = line_object(i)); i++) {
        if (strcmp(text_of(o, "type"), "point") == 0 && n-- == 0)
            return o;
        json_decref(o);
    }
    return NULL;
}

static void sentence_is(int point, const char *what, const char *without)
{
    json_t *o = point_at(point);
    assert_non_null(o);
    const char *text = text_of(o, "sentence");
    if (!strstr(text, what) || strstr(text, without))
        fail_msg("'%s', without '%s', is not: %s", what, without, text);
    json_decref(o);
}

/* The device's shortest kernel takes a microsecond: six are not short there. */
TEST_CASE_WITH(the_run_says_what_is_short, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_run(db);
    sample_sql(db, "UPDATE time_sum SET flop = 1, bytes = 1, kernels = 1 WHERE "
                   "level = 3;"
                   "UPDATE time_sum SET median_ns = 1000 + 5000 * stepIndex "
                   "WHERE level IN (3, 4)");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    sentence_is(1, "the shortest kernel on this device takes 1.00 us", "roof");
    sentence_is(1, "(a fused variant, a larger batch)", "roof");
    sentence_is(3, "Neither roof limits it", "Launching");
}

TEST_CASE_WITH(names_of_variants_say_what_they_do, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_run(db);
    sample_sql(db, "INSERT INTO StringIds (value) VALUES ('cudnn_winograd');"
                   "UPDATE time_sum SET flop = 2e9 WHERE level = 3");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    sentence_is(0, "More than the roof: what measured it", "finds");
    sample_sql(db, "UPDATE time_sum SET variantId = (SELECT id FROM StringIds "
                   "WHERE value = 'cudnn_winograd') WHERE level IN (3, 4)");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    sentence_is(0, "its algorithm finds the same result", "loads less");
}

RUN_TESTS()
