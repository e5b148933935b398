/* Ceilings, rooflines and counters of the profile command. */
#include "test.h"

#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

static double real_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v))
        fail_msg("%s is not a number", key);
    return json_number_value(v);
}

static bool is_null(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    assert_non_null(v);
    return json_is_null(v);
}

/* The nth line of that type. */
static json_t *nth_of(const char *type, int n)
{
    json_t *o;
    for (int i = 0; (o = line_object(i)); i++) {
        if (strcmp(text_of(o, "type"), type) == 0 && n-- == 0)
            return o;
        json_decref(o);
    }
    return NULL;
}

TEST_CASE_WITH(ceilings_are_measured_and_kept, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    static const char *const names[] = {"copy", "fp32", "tf32",
                                        "bf16", "fp16", "fma"};
    /* the database is made */
    assert_int_equal(profile(db, "ceilings --backend cpu --json @"), 0);
    assert_string_equal(errors, "");
    for (int i = 0; i < 6; i++) {
        json_t *o = nth_of("ceiling", i);
        assert_string_equal(text_of(o, "name"), names[i]);
        assert_string_equal(text_of(o, "backend"), "cpu");
        if (i < 2 || i == 5) {
            assert_true(real_of(o, "best_per_s") >= real_of(o, "median_per_s"));
            assert_true(real_of(o, "worst_per_s") > 1e6);
            assert_true(int_of(o, "repeats") > 2);
            assert_true(is_null(o, "reason"));
        } else {
            assert_true(is_null(o, "best_per_s"));
            assert_true(strlen(text_of(o, "reason")) > 5);
        }
        assert_true(is_null(o, "datasheet_per_s")); /* no processor has one */
        json_decref(o);
    }
    assert_null(line_object(6));
    assert_int_equal(sample_int(db, "SELECT count(*) FROM ceiling WHERE "
                                    "hostname <> '' AND version IS NOT NULL"),
                     3);
    assert_int_equal(profile(db, "ceilings --backend cpu @"), 0);
    assert_non_null(strstr(output, "FLOP/s"));
    assert_non_null(strstr(output, "\ntf32: measured on a GPU only\n"));
    assert_int_equal(sample_int(db, "SELECT count(*) FROM ceiling"), 6);
}

/* A run of two steps with two launches each, and what its device can do. */
static void make_run(const char *db, bool counted, bool ceilings)
{
    assert_ok(sample_run(db, 3, 2, NULL));
    sample_sql(db, "UPDATE run SET precision = 'fp32', smCount = 132, counters "
                   "= 'refused', countersReason = 'no right to count'");
    if (ceilings)
        sample_sql(db,
                   "INSERT INTO TARGET_INFO_GPU (uuid, runId) VALUES ('GPU-1', "
                   "1);"
                   "INSERT INTO ceiling (backend, device, uuid, name, "
                   "best_per_s, measured, measured_ns) VALUES ('cuda', 'NVIDIA "
                   "H200', 'GPU-1', 'copy', 4e8, '2026-01-02', 5), ('cuda', "
                   "'NVIDIA H200', 'GPU-1', 'fp32', 1e12, '2026-01-02', 5)");
    if (!counted)
        return;
    sample_sql(db, "UPDATE run SET counters = 'basic', countersReason = NULL");
    sample_counters(db, 5);
}

TEST_CASE_WITH(roofline_has_measured_roofs, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    json_t *o;
    make_run(db, true, true);
    assert_int_equal(profile(db, "roofline last --json @"), 0);
    o = line_object(0);
    assert_string_equal(text_of(o, "type"), "roofline");
    assert_string_equal(text_of(o, "counters"), "basic");
    json_decref(o);
    o = nth_of("roof", 0);
    assert_string_equal(text_of(o, "name"), "copy");
    assert_string_equal(text_of(o, "origin"), "measured");
    assert_string_equal(text_of(o, "source"), "2026-01-02");
    assert_true(real_of(o, "bytes_per_s") == 4e8);
    json_decref(o);
    o = nth_of("roof", 3); /* never measured there */
    assert_string_equal(text_of(o, "origin"), "data sheet");
    json_decref(o);
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "400 MB/s  measured"));
    assert_non_null(strstr(output, "1 fc0.matmul: Memory bounds it"));
    assert_non_null(strstr(output, "counted FLOPs are 1.5 times"));
    assert_null(strstr(output, "profile ceilings"));
}

TEST_CASE_WITH(roofline_points_are_steps_and_launches, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    json_t *o;
    make_run(db, true, true);
    assert_int_equal(profile(db, "roofline last --json @"), 0);
    /* step 0: 2000 FLOPs, 400 bytes, 1500 ns; exec 5 was counted */
    o = nth_of("point", 0);
    assert_string_equal(text_of(o, "level"), "step");
    assert_string_equal(text_of(o, "name"), "fc0.matmul");
    assert_true(real_of(o, "median_ns") == 1500);
    assert_true(real_of(o, "intensity_flop_per_byte") == 5);
    assert_true(real_of(o, "formula_flop") == 2000);
    assert_true(real_of(o, "counted_flop") == 3000);
    assert_true(real_of(o, "dram_bytes") == 400);
    assert_true(strlen(text_of(o, "flop_difference")) > 10);
    assert_true(real_of(o, "counted_intensity_flop_per_byte") == 7.5);
    assert_string_equal(text_of(o, "roof"), "copy");
    assert_true(fabs(real_of(o, "roof_pct") - 100 * 1000.0 / 1500) < 1e-6);
    assert_string_equal(text_of(o, "bound"), "memory");
    assert_non_null(strstr(text_of(o, "sentence"), "Memory bounds it"));
    json_decref(o);
    /* its kernel, launched twice: a launch has half of it, by the counters */
    o = nth_of("point", 1);
    assert_string_equal(text_of(o, "level"), "kernel");
    assert_true(real_of(o, "counted_flop") == 1500);
    assert_true(real_of(o, "dram_bytes") == 200);
    assert_true(is_null(o, "formula_flop"));
    assert_true(is_null(o, "intensity_flop_per_byte"));
    assert_true(real_of(o, "counted_intensity_flop_per_byte") == 7.5);
    assert_true(real_of(o, "achieved_occupancy_pct") == 25);
    json_decref(o);
    o = nth_of("point", 2); /* another step, not counted */
    assert_string_equal(text_of(o, "name"), "fc1.matmul");
    assert_true(is_null(o, "counted_flop"));
    assert_true(is_null(o, "counted_intensity_flop_per_byte"));
    json_decref(o);
    assert_null(nth_of("point", 4));
}

TEST_CASE_WITH(roofline_falls_back_to_the_data_sheet, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_run(db, false, false);
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "data sheet"));
    assert_non_null(strstr(output, "`lapenna-lab profile ceilings --db "));
    assert_non_null(strstr(output, "refused: no right to count"));
    sample_sql(db, "UPDATE run SET device = 'a chip of my own'");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    json_t *o = nth_of("roof", 0);
    assert_true(is_null(o, "origin") && is_null(o, "bytes_per_s"));
    json_decref(o);
    o = nth_of("point", 0);
    assert_true(is_null(o, "roof") && is_null(o, "roof_pct"));
    assert_true(is_null(o, "bound"));
    assert_non_null(strstr(text_of(o, "sentence"), "profile ceilings"));
    json_decref(o);
}

/* A rung for each of the two steps, each in a precision of its own. */
static void make_lab(const char *db, bool ceilings)
{
    make_run(db, false, ceilings);
    sample_sql(db,
               "UPDATE run SET kind = 'lab', precision = 'tf32, bf16, fp16';"
               "UPDATE time_sum SET flop = 2e9 WHERE level = 3;"
               "INSERT INTO lab_row (runId, place, lab, size, rung, precision) "
               "VALUES (1, 0, 'gemm', '64', 'mma', 'tf32'), (1, 1, 'gemm', "
               "'64', 'wgmma', 'bf16')");
}

TEST_CASE_WITH(a_rung_stands_under_its_own_precision, NULL, sample_cleanup)
{
    static const char *const roofs[] = {"tf32", "bf16"};
    const char *db = sample_path("runs.db");
    make_lab(db, true);
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    for (int i = 0, step = 0; step < 2; i++) {
        json_t *o = nth_of("point", i);
        assert_non_null(o);
        if (strcmp(text_of(o, "level"), "step") == 0) {
            assert_string_equal(text_of(o, "roof"), roofs[step++]);
            assert_true(real_of(o, "roof_pct") > 0);
            assert_string_equal(text_of(o, "bound"), "compute");
        }
        json_decref(o);
    }
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "tf32, bf16, fp16\n"));
    assert_non_null(strstr(output, "of the bf16 roof"));
}

/* Step 1 is the traced launch of the rung that step 0 was timed of. */
TEST_CASE_WITH(a_rung_has_the_kernels_of_its_traced_launch, NULL,
               sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_lab(db, true);
    sample_sql(db, "DELETE FROM lab_row WHERE place = 1; UPDATE lab_row SET "
                   "tracedExec = 2, status = 'done', median_ns = 5000;"
                   "UPDATE time_sum SET flop = 1, bytes = 1;"
                   "UPDATE time_sum SET median_ns = 6000, kernels = NULL WHERE "
                   "level = 3 AND stepIndex = 0;"
                   "UPDATE time_sum SET median_ns = 2000 WHERE level = 3 AND "
                   "stepIndex = 1");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    json_t *o = nth_of("point", 0);
    if (!strstr(text_of(o, "sentence"),
                "its 2 kernels work for 2.00 us of 6.00 us"))
        fail_msg("%s", text_of(o, "sentence"));
    assert_string_equal(text_of(o, "bound"), "launch");
    json_decref(o);
    /* what the words of the table mean stands below it */
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "\nlaunch-bound: at least half"));
    assert_null(strstr(output, "memory-bound"));
    /* another rung's launch is not its own */
    sample_sql(db, "UPDATE lab_row SET tracedExec = NULL");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    o = nth_of("point", 0);
    assert_null(strstr(text_of(o, "sentence"), "kernels work for"));
    json_decref(o);
}

/* Both steps of the sample would be "gemm 64". */
TEST_CASE_WITH(a_lab_brings_its_own_roofs, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_lab(db, false);
    sample_sql(db, "UPDATE lab_row SET precision = 'fp32', ceilingCopy_B_s = "
                   "5e8, ceilingFp32_FLOP_s = 2e12; UPDATE run SET device = 'a "
                   "chip of my own', precision = 'fp32'");
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "500 MB/s  measured by this run"));
    assert_non_null(strstr(output, "2.00 TFLOP/s  measured by this run"));
    assert_null(strstr(output, "profile ceilings"));
    assert_non_null(strstr(output, "Arithmetic bounds it"));
    /* better than a data sheet's, not than what was measured on the device */
    sample_sql(db, "UPDATE run SET device = 'NVIDIA H200'");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    json_t *o = nth_of("roof", 0);
    assert_string_equal(text_of(o, "origin"), "measured by this run");
    assert_true(is_null(o, "source"));
    json_decref(o);
    o = nth_of("roof", 2);
    assert_string_equal(text_of(o, "origin"), "data sheet");
    json_decref(o);
    sample_sql(db, "INSERT INTO TARGET_INFO_GPU (uuid, runId) VALUES ('GPU-1', "
                   "1);"
                   "INSERT INTO ceiling (backend, device, uuid, name, "
                   "best_per_s, measured, measured_ns) VALUES ('cuda', 'NVIDIA "
                   "H200', 'GPU-1', 'copy', 6e8, '2026-01-02', 5)");
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "600 MB/s  measured "));
    assert_null(strstr(output, "500 MB/s"));
    /* what a rung has reached is no less than the roof */
    sample_sql(db, "UPDATE lab_row SET status = 'done', unit = 'FLOP/s', rate "
                   "= 3e12 WHERE place = 1");
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output,
                           "3.00 TFLOP/s  measured by a lab's rung  run "
                           "1: gemm wgmma 64"));
    /* a file's nonsense is no roof */
    sample_sql(db, "UPDATE lab_row SET ceilingFp32_FLOP_s = -1, rate = "
                   "NULL");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    o = nth_of("roof", 1);
    assert_string_equal(text_of(o, "origin"), "data sheet");
    json_decref(o);
}

TEST_CASE_WITH(a_rung_is_named_wherever_steps_are_listed, NULL, sample_cleanup)
{
    static const char *const args[] = {"roofline 1 @", "show 1 @",
                                       "timeline 1 @", "timeline 1 --json @"};
    const char *db = sample_path("runs.db");
    make_lab(db, true);
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
        assert_int_equal(profile(db, args[i]), 0);
        if (!strstr(output, "mma tf32 64") || !strstr(output, "wgmma bf16 64"))
            fail_msg("%s names no rungs: %s", args[i], output);
    }
    /* what a program reads has a field for each */
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    json_t *o = nth_of("point", 0);
    assert_string_equal(text_of(o, "name"), "fc0.matmul");
    assert_string_equal(text_of(o, "precision"), "tf32");
    json_decref(o);
    /* one precision is not worth saying */
    sample_sql(db, "UPDATE lab_row SET precision = 'fp32', rung = "
                   "'\033[31mbad'");
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "bad 64: "));
    assert_null(strchr(output, '\033'));
    assert_int_equal(profile(db, "timeline 1 @"), 0);
    assert_null(strchr(output, '\033'));
}

/* 3000 FLOPs in fp32 were counted of 5000: the rest may be in double. */
TEST_CASE_WITH(a_part_that_was_counted_is_no_fact, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_run(db, true, true);
    sample_sql(db, "UPDATE time_sum SET flop = 5000 WHERE level = 3");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
    json_t *o = nth_of("point", 0);
    assert_true(is_null(o, "counted_flop"));
    assert_true(is_null(o, "counted_intensity_flop_per_byte"));
    assert_true(real_of(o, "counted_flop_least") == 3000);
    json_decref(o);
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "at least 3.00 kFLOP were counted; fewer: "
                                   "double and half precision were not"));
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_null(strstr(output, "3.00 kFLOP"));
    assert_int_equal(profile(db, "show 1 --json @"), 0);
    o = nth_of("step", 0);
    assert_true(is_null(o, "counted_flop"));
    assert_true(real_of(o, "counted_fp32_flop") == 3000);
    json_decref(o);
    /* counted, and there are none: it is fewer */
    sample_sql(
        db, "INSERT INTO StringIds (value) VALUES "
            "('smsp__sass_thread_inst_executed_op_dadd_pred_on.sum'), "
            "('smsp__sass_thread_inst_executed_op_hadd_pred_on.sum');"
            "INSERT INTO metric_value SELECT 1, 5, k.column1, n.id, 0, 2 FROM "
            "(VALUES (0), (1)) AS k, StringIds AS n WHERE n.value LIKE "
            "'%_op_dadd_%' OR n.value LIKE '%_op_hadd_%'");
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_null(strstr(output, "at least"));
    assert_non_null(strstr(output, "0.6 times the formula's; fewer: compar"));
}

/* An optimizer's step has no tiles and no exponentials. */
TEST_CASE_WITH(an_update_has_reasons_of_its_own, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_run(db, true, true);
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "; more: padding to whole tiles"));
    assert_null(strstr(output, "weight decay"));
    sample_sql(db, "UPDATE time_sum SET phase = 3");
    assert_int_equal(profile(db, "roofline 1 @"), 0);
    assert_non_null(strstr(output, "; more: weight decay and bias corr"));
    assert_null(strstr(output, "padding"));
}

TEST_CASE_WITH(counters_stand_beside_steps_and_kernels, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    json_t *o;
    make_run(db, true, false);
    assert_int_equal(profile(db, "kernels 1 --json @"), 0);
    for (int i = 0; (o = line_object(i)); i++) {
        bool counted = int_of(o, "exec") == 5;
        assert_int_equal(is_null(o, "dram_read_bytes"), !counted);
        assert_int_equal(is_null(o, "achieved_occupancy_pct"), !counted);
        if (counted) {
            assert_true(real_of(o, "counted_flop") == 1500);
            assert_true(real_of(o, "dram_write_bytes") == 100);
        }
        json_decref(o);
    }
    assert_int_equal(profile(db, "show 1 --json @"), 0);
    o = nth_of("step", 0);
    assert_true(real_of(o, "counted_flop") == 3000);
    json_decref(o);
    o = nth_of("step", 1);
    assert_true(is_null(o, "counted_flop"));
    json_decref(o);
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "achieved"));
    assert_non_null(strstr(output, "3.00 kFLOP"));
    assert_null(strstr(output, "hardware counters: n/a"));
    assert_int_equal(profile(db, "kernels 1 @"), 0);
    assert_non_null(strstr(output, "25.0 %"));
    /* without counters: why */
    sample_sql(db, "DELETE FROM metric_value; UPDATE run SET counters = "
                   "'refused', countersReason = 'no\033[31m right'");
    assert_int_equal(profile(db, "kernels 1 @"), 0);
    assert_null(strstr(output, "achieved"));
    assert_non_null(strstr(output, "hardware counters: n/a (refused: no"));
    assert_null(strchr(output, '\033'));
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "hardware counters: n/a (refused: no"));
}

TEST_CASE_WITH(wrong_usage_is_refused, NULL, sample_cleanup)
{
    static const struct {
        const char *args;
        int status;
        const char *word;
    } cases[] = {
        {"roofline @", 2, "needs a run"},
        {"roofline 9 @", 3, "there is no run 9"},
        {"rofline 1 @", 2, "did you mean roofline"},
        {"ceilings 1 @", 2, "takes no run"},
        {"ceilings --backend fast @", 2, "auto, cpu or cuda"},
        {"ceilings --device x @", 2,
         "--device 'x': a whole number from 0 to 1023"},
        {"ceilings --backend cpu --db /", 3, "a directory; name a file"},
    };
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 1, NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = profile(db, cases[i].args);
        if (status != cases[i].status || !strstr(errors, cases[i].word))
            fail_msg("%s: exit %d, %s", cases[i].args, status, errors);
        assert_string_equal(output, "");
    }
    /* a GPU that is not there is not replaced by another device */
    assert_int_not_equal(profile(db, "ceilings --device 99 @"), 0);
    assert_string_equal(output, "");
}

TEST_CASE_WITH(whatever_a_file_holds_is_only_shown, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    make_run(db, true, true);
    sample_sql(db,
               "UPDATE ceiling SET best_per_s = 9e999, measured = "
               "'\033]0;x\007' WHERE name = 'copy';"
               "UPDATE StringIds SET value = '\033[2J' || value WHERE value "
               "LIKE 'fc%' OR value LIKE 'void%';"
               "UPDATE time_sum SET median_ns = 9e18, flop = -1, gridX = "
               "9223372036854775807, gridY = 9223372036854775807;"
               "UPDATE run SET device = '\033[31m', precision = "
               "'\xff\xff', countersReason = '\x9b'");
    static const char *const args[] = {"roofline 1 @", "roofline 1 --json @",
                                       "roofline 1 --ascii @"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(profile(db, args[i]), 0);
        assert_true(strlen(output) > 0);
        for (const char *p = output; *p; p++)
            if (((unsigned char)*p < 0x20 && *p != '\n') ||
                (unsigned char)*p == 0x9b || (unsigned char)*p == 0xff)
                fail_msg("%s: byte %02X", args[i], (unsigned char)*p);
    }
    /* more rows than a run can have made */
    sample_sql(db, "UPDATE time_sum SET stepIndex = 0, phase = 0, nameId = 1, "
                   "variantId = 2, backendId = 3");
    assert_int_equal(profile(db, "roofline 1 --json @"), 0);
}

RUN_TESTS()
