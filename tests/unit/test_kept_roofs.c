/* The ceilings of the device that a walk runs on. */
#include "test.h"

#include "report/ceiling_cache.h"
#include "store_samples.h"

static void add(const char *path, const char *device, const char *name,
                double best)
{
    struct lab_database *db;
    const struct lab_ceiling_row row = {.backend = "cuda",
                                        .device = device,
                                        .uuid = "GPU-1",
                                        .hostname = "here",
                                        .name = name,
                                        .best_per_s = best,
                                        .median_per_s = best,
                                        .worst_per_s = best,
                                        .repeats = 9,
                                        .size = 4096,
                                        .measured_ns = 1000,
                                        .version = "0.1"};
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_ceiling_add(db, &row));
    lab_database_close(db);
}

static struct lab_device_info device_of(const char *name)
{
    struct lab_device_info d = {.device_id = 0};
    snprintf(d.name, sizeof(d.name), "%s", name);
    snprintf(d.uuid, sizeof(d.uuid), "GPU-1");
    return d;
}

TEST_CASE_WITH(what_was_measured_is_found, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    struct lab_device_info d = device_of("a chip");
    struct lab_ceiling_cache k = {.asked = false};
    add(db, "a chip", "copy", 3e12);
    add(db, "a chip", "fp32", 5e13);
    const double *per_s = lab_ceiling_cache_find(&k, db, "cuda", &d);
    assert_true(per_s[LAB_CEILING_COPY] == 3e12);
    assert_true(per_s[LAB_CEILING_FP32] == 5e13);
    assert_true(isnan(per_s[LAB_CEILING_TF32]));
    /* asked once for each device */
    add(db, "a chip", "copy", 4e12);
    per_s = lab_ceiling_cache_find(&k, db, "cuda", &d);
    assert_true(per_s[LAB_CEILING_COPY] == 3e12);
    d = device_of("another");
    per_s = lab_ceiling_cache_find(&k, db, "cuda", &d);
    assert_true(isnan(per_s[LAB_CEILING_COPY]));
    d = device_of("a chip");
    per_s = lab_ceiling_cache_find(&k, db, "cpu", &d);
    assert_true(isnan(per_s[LAB_CEILING_FP32]));
}

/* The device's own attributes say as much as a data sheet. */
TEST_CASE_WITH(nothing_is_made_up, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    struct lab_device_info d = device_of("NVIDIA H200");
    struct lab_ceiling_cache k = {.asked = false};
    /* there is no such file yet */
    assert_true(
        isnan(lab_ceiling_cache_find(&k, db, "cuda", &d)[LAB_CEILING_COPY]));
    add(db, "a chip", "copy", 3e12);
    k = (struct lab_ceiling_cache){.asked = false};
    assert_true(
        isnan(lab_ceiling_cache_find(&k, db, "cuda", &d)[LAB_CEILING_COPY]));
}

RUN_TESTS()
