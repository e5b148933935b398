/* Times of variants between networks that are opened one after the other. */
#include "test.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "debug/kept_times.h"
#include "store/database.h"
#include "store/variant_times.h"
#include "store_samples.h"

static int64_t kept_of(const char *path, const char *backend)
{
    struct lab_database *db;
    struct lab_backend *be;
    struct lab_device_info device;
    int64_t n = -1;
    assert_ok(lab_backend_open(&be, backend, 0));
    lab_backend_info(be, &device);
    const struct lab_variant_time_of of = {
        .backend = backend, .device = device.name, .threads = lab_threads()};
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_variant_times_count(db, &of, &n));
    lab_database_close(db);
    lab_backend_close(be);
    return n;
}

/* Returns whether a time was read. */
static bool load(const struct lab_tune_keeper *keeper, const char *backend)
{
    struct lab_backend *be;
    struct lab_tuning *t = lab_tuning_new();
    assert_non_null(t);
    assert_ok(lab_backend_open(&be, backend, 0));
    assert_ok(keeper->load(keeper->user, be, t));
    bool any = lab_tuning_time(t, 0) != NULL;
    lab_backend_close(be);
    lab_tuning_free(t);
    return any;
}

static void measure(const struct lab_tune_keeper *keeper, const char *variant)
{
    struct lab_tune_time time = {
        .step = "relu.relu forward 4 > 4", .ns = 1000, .is_new = true};
    snprintf(time.variant, sizeof(time.variant), "%s", variant);
    keeper->keep(keeper->user, &time);
}

/* A network that is not opened after it was measured stores nothing: what it has measured
 * is not kept as the times of the next network's device. */
SAMPLE_CASE(times_stay_with_their_device)
{
    const struct lab_options o = {.db = path};
    struct lab_kept_times *times = lab_kept_times_new(path, LAB_FP32);
    assert_non_null(times);
    assert_int_equal(unsetenv("LAPENNA_LAB_TUNE"), 0);
    const struct lab_tune_keeper *keeper =
        lab_kept_times_keeper(times, &o, false, "");
    assert_non_null(keeper);
    load(keeper, "null");
    measure(keeper, "naive");
    measure(keeper, "vector");
    load(keeper, "cpu");
    measure(keeper, "naive");
    lab_kept_times_store(times);
    assert_int_equal(kept_of(path, "null"), 0);
    assert_int_equal(kept_of(path, "cpu"), 1);
    lab_kept_times_free(times);
}

/* --tune: the first network is measured whatever is kept, and opened again by that. */
TEST_CASE_WITH(kept_times_are_measured_again, NULL, sample_cleanup)
{
    const char *path = sample_path("runs.db");
    const struct lab_options plain = {.db = path};
    const struct lab_options again = {.db = path, .tune_again = true};
    assert_int_equal(setenv("LAPENNA_LAB_TUNE", "off", 1), 0);
    for (int i = 0; i < 2; i++) {
        struct lab_kept_times *times = lab_kept_times_new(path, LAB_FP32);
        assert_non_null(times);
        assert_null(lab_kept_times_keeper(times, &plain, false, ""));
        const struct lab_tune_keeper *keeper =
            lab_kept_times_keeper(times, &again, false, "");
        assert_non_null(keeper);
        assert_false(load(keeper, "cpu"));
        measure(keeper, "naive");
        lab_kept_times_store(times);
        assert_int_equal(kept_of(path, "cpu"), 1);
        assert_true(load(keeper, "cpu"));
        lab_kept_times_free(times);
    }
    assert_int_equal(unsetenv("LAPENNA_LAB_TUNE"), 0);
}

RUN_TESTS()
