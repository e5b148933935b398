/* Ceilings and hardware counters in the database. */
#include "test.h"

#include "base/mem.h"
#include "engine/ceiling.h"
#include "store/ceilings.h"
#include "store/counted.h"
#include "store/time_sum.h"
#include "store_samples.h"

static struct lab_database *open_db(const char *path)
{
    struct lab_database *db;
    assert_ok(lab_database_open(&db, path, NULL));
    return db;
}

static void add(struct lab_database *db, const char *uuid, const char *host,
                const char *name, double best, int64_t when)
{
    const struct lab_ceiling_row row = {.backend = uuid ? "cuda" : "cpu",
                                        .device = uuid ? "NVIDIA H200" : "EPYC",
                                        .uuid = uuid,
                                        .hostname = host,
                                        .name = name,
                                        .best_per_s = best,
                                        .median_per_s = best * 0.9,
                                        .worst_per_s = NAN,
                                        .repeats = 9,
                                        .size = 4096,
                                        .measured_ns = when,
                                        .driver = NULL,
                                        .version = "0.1"};
    assert_ok(lab_ceiling_add(db, &row));
}

static struct lab_roof find(struct lab_database *db, const char *backend,
                            const char *device, const char *uuid,
                            const char *host, const char *name)
{
    struct lab_ceiling_device d = {.backend = ""};
    struct lab_roof roof;
    snprintf(d.backend, sizeof(d.backend), "%s", backend);
    snprintf(d.device, sizeof(d.device), "%s", device);
    snprintf(d.uuid, sizeof(d.uuid), "%s", uuid);
    snprintf(d.hostname, sizeof(d.hostname), "%s", host);
    assert_ok(lab_roof_find(db, &d, name, &roof));
    return roof;
}

TEST_CASE_WITH(the_largest_of_the_device_counts, NULL, sample_cleanup)
{
    struct lab_database *db = open_db(sample_path("runs.db"));
    struct lab_roof r;
    add(db, "GPU-1", "a", "copy", 4e12, 1000000000);
    add(db, "GPU-1", "a", "copy", 3e12, 2000000000); /* slower, and newer */
    add(db, "GPU-2", "a", "copy", 5e12, 3000000000);
    add(db, NULL, "a", "copy", 2e10, 1000000000);
    add(db, NULL, "b", "copy", 3e10, 5000000000);
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "elsewhere", "copy");
    assert_int_equal(r.origin, LAB_ROOF_MEASURED);
    assert_true(r.per_s == 4e12);
    assert_string_equal(r.source, "1970-01-01T00:00:01.000Z");
    r = find(db, "cuda", "NVIDIA H200", "GPU-9", "a", "copy");
    assert_int_equal(r.origin, LAB_ROOF_ALIKE);
    assert_true(r.per_s == 5e12);
    r = find(db, "cpu", "EPYC", "", "a", "copy");
    assert_int_equal(r.origin, LAB_ROOF_MEASURED);
    assert_true(r.per_s == 2e10);
    r = find(db, "cpu", "EPYC", "", "c", "copy");
    assert_int_equal(r.origin, LAB_ROOF_ALIKE);
    /* not measured: the data sheet; not even that: unknown */
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "bf16");
    assert_int_equal(r.origin, LAB_ROOF_DATASHEET);
    assert_true(r.per_s > 9e14 && r.per_s < 1e15);
    assert_non_null(strstr(r.source, "H200"));
    r = find(db, "cpu", "EPYC", "", "a", "fp32");
    assert_int_equal(r.origin, LAB_ROOF_NONE);
    assert_true(isnan(r.per_s));
    assert_string_equal(r.source, "");
    lab_database_close(db);
}

SAMPLE_CASE(a_run_knows_its_device)
{
    struct lab_ceiling_device d;
    int64_t run;
    assert_ok(sample_run(path, 1, 1, &run));
    sample_sql(path, "INSERT INTO TARGET_INFO_GPU (uuid, runId) VALUES "
                     "('GPU-77', 1)");
    struct lab_database *db = open_db(path);
    assert_ok(lab_ceiling_device_of_run(db, run, &d));
    assert_string_equal(d.backend, "cuda");
    assert_string_equal(d.device, "NVIDIA H200");
    assert_string_equal(d.uuid, "GPU-77");
    assert_true(d.hostname[0] != '\0');
    assert_int_equal(lab_ceiling_device_of_run(db, 9, &d), LAB_E_NOTFOUND);
    lab_database_close(db);
}

/* Multiply-adds in registers are a roof of fp32, as products are. */
TEST_CASE_WITH(multiply_adds_raise_fp32_alone, NULL, sample_cleanup)
{
    struct lab_database *db = open_db(sample_path("runs.db"));
    struct lab_roof r;
    add(db, "GPU-1", "a", "fp32", 51e12, 1000000000);
    add(db, "GPU-1", "a", "tf32", 41e12, 1000000000);
    add(db, "GPU-1", "a", "fma", 50e12, 2000000000);
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 51e12);
    assert_string_equal(r.source, "1970-01-01T00:00:01.000Z");
    add(db, "GPU-1", "a", "fma", 57e12, 3000000000);
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 57e12);
    assert_string_equal(r.source, "multiply-adds in registers, "
                                  "1970-01-01T00:00:03.000Z");
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "tf32");
    assert_true(r.per_s == 41e12);
    lab_database_close(db);
}

static void add_variant(const char *path, int place, const char *variant,
                        const char *precision, const char *unit, double rate)
{
    char sql[400];
    snprintf(sql, sizeof(sql),
             "INSERT INTO lab_row (runId, place, lab, size, rung, precision, "
             "status, unit, rate) VALUES (1, %d, 'gemm', '4096', '%s', '%s', "
             "'done', '%s', %g)",
             place, variant, precision, unit, rate);
    sample_sql(path, sql);
}

/* The H200's variants of lab-warps-fma beat its product of 51 TFLOP/s. */
SAMPLE_CASE(a_variant_that_beats_a_roof_raises_it)
{
    struct lab_roof r;
    int64_t run;
    assert_ok(sample_run(path, 1, 1, &run));
    sample_sql(path, "INSERT INTO TARGET_INFO_GPU (uuid, runId) VALUES "
                     "('GPU-1', 1)");
    add_variant(path, 0, "four", "fp32", "FLOP/s", 56.7e12);
    add_variant(path, 1, "two", "fp32", "FLOP/s", 54e12);
    add_variant(path, 2, "cudnn_fft_tiling", "fp32", "FLOP/s", 59e12);
    add_variant(path, 3, "threads", "fp32", "FLOP/s", 60e12);
    add_variant(path, 4, "global", "fp32", "B/s", 14e12);
    add_variant(path, 5, "slow", "bf16", "FLOP/s", 1e12);
    add_variant(path, 6, "failed", "fp32", "FLOP/s", 70e12);
    sample_sql(path, "UPDATE lab_row SET status = 'wrong' WHERE place = 6");
    struct lab_database *db = open_db(path);
    /* where nothing was measured beside it a variant is no roof */
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_int_equal(r.origin, LAB_ROOF_DATASHEET);
    add(db, "GPU-1", "a", "fp32", 51e12, 1000000000);
    add(db, "GPU-1", "a", "copy", 4e12, 1000000000);
    add(db, "GPU-1", "a", "bf16", 8e14, 1000000000);
    add(db, "GPU-2", "a", "fp32", 50e12, 1000000000);
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_int_equal(r.origin, LAB_ROOF_VARIANT);
    assert_true(r.per_s == 56.7e12);
    assert_string_equal(r.source, "run 1: gemm four 4096");
    /* rows of products of 8 bits say fp32, too */
    sample_sql(path, "UPDATE run SET precision = 'int8'");
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 51e12);
    sample_sql(path, "UPDATE run SET precision = NULL");
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_true(r.origin == LAB_ROOF_VARIANT && r.per_s == 56.7e12);
    /* of another precision, of a path through the caches, on another card */
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "bf16");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 8e14);
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "copy");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 4e12);
    r = find(db, "cuda", "NVIDIA H200", "GPU-2", "a", "fp32");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 50e12);
    add(db, "GPU-1", "a", "fma", 57e12, 2000000000);
    r = find(db, "cuda", "NVIDIA H200", "GPU-1", "a", "fp32");
    assert_true(r.origin == LAB_ROOF_MEASURED && r.per_s == 57e12);
    lab_database_close(db);
}

static void add_sum(const char *path, int run, int place, int level,
                    const char *median)
{
    char sql[200];
    snprintf(sql, sizeof(sql),
             "INSERT INTO time_sum (runId, place, level, count, timed, "
             "median_ns) VALUES (%d, %d, %d, 1, 1, %s)",
             run, place, level, median);
    sample_sql(path, sql);
}

/* The shortest of all runs on that device, and of no other. */
SAMPLE_CASE(the_floor_of_a_device)
{
    struct lab_ceiling_device d = {
        .backend = "cuda", .device = "NVIDIA H200", .uuid = "GPU-1"};
    double kernel;
    double variant;
    for (int i = 0; i < 3; i++)
        assert_ok(sample_run(path, 1, 1, NULL));
    sample_sql(path, "DELETE FROM time_sum; INSERT INTO TARGET_INFO_GPU (uuid, "
                     "runId) VALUES ('GPU-1', 1), ('GPU-1', 2), ('GPU-2', 3)");
    struct lab_database *db = open_db(path);
    assert_ok(lab_device_floor(db, &d, &kernel, &variant));
    assert_true(isnan(kernel) && isnan(variant));
    add_sum(path, 1, 100, LAB_SUM_KERNEL, "1250");
    add_sum(path, 2, 100, LAB_SUM_KERNEL, "768");
    add_sum(path, 2, 101, LAB_SUM_KERNEL, "0");
    add_sum(path, 2, 102, LAB_SUM_KERNEL, "NULL");
    add_sum(path, 1, 103, LAB_SUM_STEP, "60");
    add_sum(path, 3, 100, LAB_SUM_KERNEL, "500");
    add_variant(path, 0, "plain", "fp32", "B/s", 1e11);
    add_variant(path, 1, "failed", "fp32", "B/s", 1e11);
    sample_sql(path, "UPDATE lab_row SET median_ns = 5312 - 5000 * place; "
                     "UPDATE lab_row SET status = 'wrong' WHERE place = 1");
    assert_ok(lab_device_floor(db, &d, &kernel, &variant));
    assert_true(kernel == 768 && variant == 5312);
    /* a processor has no kernels: its steps */
    sample_sql(path,
               "UPDATE run SET backend = 'cpu', hostname = 'here'; DELETE "
               "FROM TARGET_INFO_GPU");
    snprintf(d.backend, sizeof(d.backend), "cpu");
    snprintf(d.hostname, sizeof(d.hostname), "here");
    d.uuid[0] = '\0';
    assert_ok(lab_device_floor(db, &d, &kernel, &variant));
    assert_true(kernel == 60);
    lab_database_close(db);
}

TEST_CASE(what_a_name_of_a_variant_means)
{
    assert_true(lab_variant_has_fewer_flop("cudnn_fft_tiling"));
    assert_true(lab_variant_has_fewer_flop("cudnn_winograd_nonfused"));
    assert_false(lab_variant_has_fewer_flop("cudnn_precomp_gemm"));
    assert_false(lab_variant_has_fewer_flop(NULL));
    assert_true(lab_variant_has_all_cores("threads"));
    assert_false(lab_variant_has_all_cores("openblas"));
    assert_false(lab_variant_has_all_cores(NULL));
    assert_true(lab_variant_has_one_address("atomic"));
    assert_false(lab_variant_has_one_address("tree"));
    assert_false(lab_variant_has_one_address(NULL));
}

/* Of a run: the largest of its own device's and its lab's, then the others'. */
TEST_CASE_WITH(a_run_has_one_roof, NULL, sample_cleanup)
{
    struct lab_database *db = open_db(sample_path("runs.db"));
    struct lab_ceiling_device d = {
        .backend = "cuda", .device = "NVIDIA H200", .uuid = "GPU-1"};
    struct lab_bench_names lab = {.copy_bytes_s = 3e12, .fp32_flop_s = 4e13};
    const struct lab_bench_names none = {.copy_bytes_s = NAN,
                                         .fp32_flop_s = INFINITY};
    struct lab_roof r;
    assert_ok(lab_roof_of_run(db, &d, &lab, "copy", &r));
    assert_int_equal(r.origin, LAB_ROOF_RUN);
    assert_true(r.per_s == 3e12);
    add(db, "GPU-2", "a", "copy", 5e12, 1000000000);
    assert_ok(lab_roof_of_run(db, &d, &lab, "copy", &r));
    assert_int_equal(r.origin, LAB_ROOF_RUN);
    assert_ok(lab_roof_of_run(db, &d, &none, "copy", &r));
    assert_int_equal(r.origin, LAB_ROOF_ALIKE);
    add(db, "GPU-1", "a", "copy", 2e12, 1000000000);
    assert_ok(lab_roof_of_run(db, &d, &lab, "copy", &r));
    assert_true(r.origin == LAB_ROOF_RUN && r.per_s == 3e12);
    add(db, "GPU-1", "a", "copy", 4e12, 1000000000);
    assert_ok(lab_roof_of_run(db, &d, &lab, "copy", &r));
    assert_int_equal(r.origin, LAB_ROOF_MEASURED);
    assert_true(r.per_s == 4e12);
    assert_ok(lab_roof_of_run(db, &d, &lab, "fp32", &r));
    assert_true(r.origin == LAB_ROOF_RUN && r.per_s == 4e13);
    assert_ok(lab_roof_of_run(db, &d, &none, "fp32", &r));
    assert_int_equal(r.origin, LAB_ROOF_DATASHEET);
    assert_ok(lab_roof_of_run(db, &d, &lab, "bf16", &r));
    assert_int_equal(r.origin, LAB_ROOF_DATASHEET);
    lab_database_close(db);
}

TEST_CASE(roofs_are_the_engines_ceilings)
{
    assert_int_equal(LAB_ROOF_NAMES, LAB_CEILING_ROOFS);
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        assert_string_equal(lab_roof_names[i],
                            lab_ceiling_name((enum lab_ceiling)i));
}

/* ---- counters ---- */

/* sample_run()'s steps have two kernels of one name each. */
static void count_kernel(const char *path, int exec, int kernel, double time,
                         double bytes, double occupancy)
{
    char sql[1200];
    snprintf(
        sql, sizeof(sql),
        "INSERT OR IGNORE INTO StringIds (value) VALUES "
        "('gpu__time_duration.sum'), ('dram__bytes_read.sum'), "
        "('sm__warps_active.avg.pct_of_peak_sustained_active');"
        "INSERT INTO metric_value SELECT 1, %d, %d, id, CASE substr(value, "
        "1, 3) WHEN 'gpu' THEN %g WHEN 'dra' THEN %g ELSE %g END, 2 FROM "
        "StringIds WHERE value IN ('gpu__time_duration.sum', "
        "'dram__bytes_read.sum', "
        "'sm__warps_active.avg.pct_of_peak_sustained_active')",
        exec, kernel, time, bytes, occupancy);
    sample_sql(path, sql);
}

SAMPLE_CASE(counters_of_steps_kernels_launches)
{
    static const char name[] = "void matmul<float>(float*)";
    struct lab_counted_run c;
    struct lab_counters l;
    assert_ok(sample_run(path, 2, 2, NULL));
    count_kernel(path, 2, 0, 100, 1e3, 10); /* step 1, the older time */
    count_kernel(path, 2, 1, 100, 1e3, 10);
    count_kernel(path, 4, 1, 100, 1e6, 80); /* iteration 1 */
    count_kernel(path, 4, 0, 300, 3e6, 40);
    struct lab_database *db = open_db(path);
    assert_ok(lab_counted_load(&c, db, 1));
    assert_int_equal(c.count, 6);
    const struct lab_counted_item *s = lab_counted_step(&c, 1, "tiled");
    assert_non_null(s);
    assert_int_equal(s->exec, 4);
    assert_string_equal(s->step, "fc1.matmul");
    assert_true(s->counters.dram_read_bytes == 4e6);
    assert_true(s->counters.achieved_occupancy_pct == 50);
    assert_true(isnan(s->counters.ipc));
    assert_null(lab_counted_step(&c, 1, "naive"));
    assert_null(lab_counted_step(&c, 0, "naive"));
    assert_null(lab_counted_step(&c, 1, NULL));
    /* exec 4 has the rows 7 and 8, which began in that order */
    const struct lab_counted_item *k = lab_counted_kernel(&c, 7);
    assert_non_null(k);
    assert_true(k->counters.dram_read_bytes == 3e6);
    assert_int_equal(k->ordinal, 0);
    assert_string_equal(k->kernel, name);
    assert_true(lab_counted_kernel(&c, 8)->counters.dram_read_bytes == 1e6);
    assert_null(lab_counted_kernel(&c, 1));
    assert_null(lab_counted_kernel(&c, 99));
    /* a launch of it: half of the sums, shares over the time */
    assert_true(lab_counted_launch(&c, 1, "tiled", name, &l));
    assert_true(l.dram_read_bytes == 2e6);
    assert_true(l.time_ns == 200);
    assert_true(l.achieved_occupancy_pct == 50);
    assert_false(lab_counted_launch(&c, 1, "tiled", "other", &l));
    assert_true(isnan(l.time_ns));
    lab_counted_release(&c);
    assert_int_equal(lab_counted_load(&c, db, 9), LAB_E_NOTFOUND);
    lab_database_close(db);
}

SAMPLE_CASE(other_kernels_than_traced_have_no_name)
{
    struct lab_counted_run c;
    assert_ok(sample_run(path, 1, 1, NULL));
    count_kernel(path, 1, 2, 100, 1e3, 10); /* three counted, two traced */
    struct lab_database *db = open_db(path);
    assert_ok(lab_counted_load(&c, db, 1));
    assert_int_equal(c.count, 4);
    assert_int_equal(c.rows, 0);
    assert_null(c.items[3].kernel);
    assert_true(c.items[3].counters.dram_read_bytes == 1e3);
    assert_true(isnan(c.items[1].counters.dram_read_bytes));
    assert_true(isnan(c.items[0].counters.dram_read_bytes)); /* of all three */
    lab_counted_release(&c);
    lab_database_close(db);
}

SAMPLE_CASE(nonsense_is_left_out)
{
    struct lab_counted_run c;
    assert_ok(sample_run(path, 1, 1, NULL));
    sample_sql(path,
               "INSERT INTO metric_value VALUES (1, 1, -7, 1, 1, 1), (1, 1, "
               "9000000000, 1, 1, 1), (1, 1, 0, 777, 1, 1), (1, 55, NULL, 1, "
               "2.5, 1), (1, 1, 1, 2, 'text', NULL)");
    for (int m = 0; m < 60; m++) {
        char sql[160];
        snprintf(sql, sizeof(sql),
                 "INSERT INTO StringIds (value) VALUES ('m%d'); INSERT INTO "
                 "metric_value VALUES (1, 1, 0, last_insert_rowid(), 1, 1)",
                 m);
        sample_sql(path, sql);
    }
    struct lab_database *db = open_db(path);
    assert_ok(lab_counted_load(&c, db, 1));
    assert_int_equal(c.count, 4); /* two steps, two kernels of the first */
    assert_int_equal(c.items[3].exec, 55);
    assert_int_equal(c.items[3].step_index, LAB_UNKNOWN);
    lab_counted_release(&c);
    lab_database_close(db);
}

SAMPLE_CASE(counters_are_read_by_their_run)
{
    lab_database_close(open_db(path));
    assert_rows(path, 1, "sqlite_master WHERE name = 'metric_value_run'");
}

SAMPLE_CASE(memory_may_be_short)
{
    assert_ok(sample_run(path, 2, 2, NULL));
    for (int e = 1; e <= 4; e++)
        for (int k = 0; k < 2; k++)
            count_kernel(path, e, k, 100, 1e3, 10);
    struct lab_database *db = open_db(path);
    enum lab_status st = LAB_E_NOMEM;
    int failures = 0;
    for (int64_t nth = 1; nth < 100 && st; nth++) {
        struct lab_counted_run c;
        lab_mem_fail_from(nth);
        st = lab_counted_load(&c, db, 1);
        lab_mem_fail_from(0);
        if (st == LAB_OK) {
            assert_int_equal(c.count, 12);
            lab_counted_release(&c);
        } else {
            assert_int_equal(st, LAB_E_NOMEM);
            failures++;
        }
    }
    assert_ok(st);
    assert_true(failures > 3);
    lab_database_close(db);
}

RUN_TESTS()
