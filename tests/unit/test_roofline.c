/* Where points stand under the roofs, and what is said of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "profiler/roofline.h"
#include "trace/record.h"

/* 4 TB/s, 50 TFLOP/s in fp32, 400 in tf32: ridges at 12.5 and 100. */
static const double roofs[LAB_CEILING_COUNT] = {[LAB_CEILING_COPY] = 4e12,
                                                [LAB_CEILING_FP32] = 50e12,
                                                [LAB_CEILING_TF32] = 400e12,
                                                [LAB_CEILING_BF16] = NAN,
                                                [LAB_CEILING_FP16] = NAN};

static struct lab_roofline_work make_work(double flop, double bytes, double ns)
{
    struct lab_roofline_work w = {.gpu = true,
                                  .time_ns = ns,
                                  .flop = flop,
                                  .bytes = bytes,
                                  .occupancy_pct = 100,
                                  .blocks = 4096,
                                  .sm_count = 132,
                                  .kernels = 1,
                                  .arithmetic = LAB_CEILING_FP32};
    lab_counters_init(&w.counted);
    return w;
}

static struct lab_roofline_point place(const struct lab_roofline_work *w)
{
    struct lab_roofline_point p;
    lab_roofline_place(&p, w, roofs);
    return p;
}

static void says(const struct lab_roofline_work *w, const char *what)
{
    struct lab_str s;
    struct lab_roofline_point p = place(w);
    lab_str_init(&s);
    lab_roofline_say(&s, w, &p, roofs);
    if (!strstr(lab_str_text(&s), what))
        fail_msg("'%s' is not in: %s", what, lab_str_text(&s));
    if (strstr(lab_str_text(&s), "nan"))
        fail_msg("a NaN is said: %s", lab_str_text(&s));
    lab_str_release(&s);
}

static void says_not(const struct lab_roofline_work *w, const char *what)
{
    struct lab_str s;
    struct lab_roofline_point p = place(w);
    lab_str_init(&s);
    lab_roofline_say(&s, w, &p, roofs);
    if (strstr(lab_str_text(&s), what))
        fail_msg("'%s' is in: %s", what, lab_str_text(&s));
    lab_str_release(&s);
}

static void close_to(double have, double want)
{
    if (!(fabs(have - want) <= 1e-9 * fabs(want)))
        fail_msg("%g, not %g", have, want);
}

static void memory_and_compute_bound(void **state)
{
    /* 4e9 bytes in 1.25 ms: 3.2 TB/s, 80 %; 1e9 FLOPs beside them */
    struct lab_roofline_work w = make_work(1e9, 4e9, 1.25e6);
    struct lab_roofline_point p = place(&w);
    (void)state;
    assert_int_equal(p.roof, LAB_CEILING_COPY);
    assert_int_equal(p.verdict, LAB_ROOFLINE_MEMORY);
    close_to(p.intensity, 0.25);
    close_to(p.share, 0.8);
    close_to(p.best_ns, 1e6);
    close_to(p.allowed_flop_s, 1e12);
    close_to(p.flop_s, 8e11);
    says(&w, "Memory bounds it: 3.2 TB/s, 80 %");
    /* 1e12 FLOPs on 4e9 bytes in 25 ms: 40 TFLOP/s, 80 % */
    w = make_work(1e12, 4e9, 25e6);
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_FP32);
    assert_int_equal(p.verdict, LAB_ROOFLINE_COMPUTE);
    close_to(p.share, 0.8);
    close_to(p.allowed_flop_s, 50e12);
    says(&w, "Arithmetic bounds it: 40 TFLOP/s, 80 %");
    says(&w, "tf32 reach 400 TFLOP/s");
    /* the same on tensor cores, as the counters say */
    w.counted.fp32_flop = 1e9;
    w.counted.tf32_flop = w.counted.tensor_flop = 1e12;
    w.counted.dram_read_bytes = w.counted.dram_write_bytes = 2e9;
    p = place(&w);
    assert_int_equal(p.arithmetic, LAB_CEILING_TF32);
    close_to(p.share, 0.1);
    close_to(p.counted_flop, 1.001e12);
    close_to(p.counted_intensity, 1.001e12 / 4e9);
}

static void at_the_ridge_and_beside_it(void **state)
{
    struct lab_roofline_work w = make_work(12.5e9, 1e9, 1e6);
    struct lab_roofline_point p = place(&w);
    (void)state;
    assert_int_equal(p.roof, LAB_CEILING_FP32);
    close_to(p.best_ns, 1e9 / 4e12 * 1e9);
    w.flop = 12.4e9;
    assert_int_equal(place(&w).roof, LAB_CEILING_COPY);
    w.flop = 0; /* a copy */
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_COPY);
    close_to(p.share, 0.25);
    assert_true(isnan(p.allowed_flop_s));
    w = make_work(1e9, 0, 1e6); /* no memory at all */
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_FP32);
    assert_true(isnan(p.intensity));
    close_to(p.share, 0.02);
}

static void neither_says_why(void **state)
{
    struct lab_roofline_work w = make_work(1e6, 4e6, 4000);
    (void)state;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_NEITHER);
    says(&w, "4 us, where the roofs alone allow 1 us (25 %");
    w = make_work(2e3, 4e3, 2500); /* a nanosecond of work */
    says(&w, "too short for this device: 2.5 us a kernel");
    w.kernels = 2;
    says(&w, "1.25 us a kernel");
    w.gpu = false;
    w.time_ns = 500;
    says(&w, "calling it and reading the clock");
    w = make_work(1e9, 4e9, 1e7);
    w.blocks = 4;
    says(&w, "Its grid has 4 blocks for 132 SMs");
    w.blocks = 4096;
    w.occupancy_pct = 12.5;
    says(&w, "occupancy 12 % at most");
    w.counted.achieved_occupancy_pct = 9;
    says(&w, "(achieved occupancy 9 %)");
    w.library = true; /* it hides latency within a thread */
    says_not(&w, "Too few warps");
    w.library = false;
    w.counted.achieved_occupancy_pct = w.occupancy_pct = 90;
    says(&w, "Latency, the order of its reads");
    w.counted.dram_read_bytes = 8e9;
    w.counted.dram_write_bytes = 4e9;
    says(&w, "3.0 times the bytes that it needs (counted)");
}

/* Only what stands near the run's own shortest kernel is short. */
static void short_is_near_the_floor(void **state)
{
    struct lab_roofline_work w = make_work(3.4e7, 1.1e6, 6208);
    (void)state;
    w.floor_ns = 960;
    w.blocks = 128;
    w.counted.achieved_occupancy_pct = 3;
    says(&w,
         "Too few warps are resident to hide latency (achieved occupancy 3 %)");
    says_not(&w, "too short");
    says_not(&w, "The start and end");
    w.time_ns = 3000; /* three of them */
    says(&w, "Too few warps");
    says(&w, "The start and end of a kernel take 960 ns.");
    w.time_ns = 9000; /* the same of three */
    w.kernels = 3;
    says(&w, "The start and end of 3 kernels take 2.88 us.");
    w = make_work(2e3, 4e3, 1250);
    w.floor_ns = 960;
    says(&w, "1.25 us a kernel, and the shortest of this run takes 960 ns");
    w.floor_ns = 600;
    says_not(&w, "too short");
    /* a run of long kernels shows no floor: 74 us is not one */
    w = make_work(2e3, 4e3, 1e5);
    w.floor_ns = 74e3;
    says_not(&w, "too short");
    w.time_ns = 3900;
    says(&w, "too short for this device: 3.9 us a kernel is mostly");
    w.floor_ns = NAN;
    says(&w, "too short");
    w.time_ns = 4100;
    says_not(&w, "too short");
}

static void a_fused_variant_must_exist(void **state)
{
    struct lab_roofline_work w = make_work(2e3, 4e3, 1250);
    (void)state;
    says(&w, "(a larger batch).");
    w.fusable = true;
    says(&w, "(a larger batch, a fused variant).");
    w = make_work(1e9, 4e9, 1.05e6);
    says_not(&w, "fused");
    w.fusable = true;
    says(&w, "stay in a cache (a fused variant)");
}

/* 128 blocks leave 4 of 132 SMs without work: 3 %, not the way from 26 %. */
static void idle_sms_explain_or_are_not_said(void **state)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6 / 0.26);
    (void)state;
    w.blocks = 128;
    says_not(&w, "the others are idle");
    says(&w, "Latency, the order of its reads");
    w.blocks = 66; /* half of them: twice as fast is 52 % */
    says(&w, "Its grid has 66 blocks for 132 SMs: the others are idle.");
    w.time_ns = 1e6 / 0.01; /* at 1 % that is no longer the reason */
    says_not(&w, "the others are idle");
    w.blocks = 1;
    says(&w, "Its grid has 1 block for 132 SMs");
    w.blocks = 0; /* nonsense of a database */
    says_not(&w, "idle.");
}

static void a_library_has_no_loop_to_mend(void **state)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 5e6);
    (void)state;
    w.gpu = false;
    says(&w, "Its loop holds it back");
    w.library = true;
    says_not(&w, "loop");
    says(&w, "a library's kernel");
}

/* "Only" is said at the roof alone: from 60 % on it bounds, with 40 % left. */
static void what_is_left_below_a_roof(void **state)
{
    struct lab_roofline_work w = make_work(1e12, 4e9, 20e6 / 0.65);
    (void)state;
    says(&w, "Arithmetic bounds it: 32.5 TFLOP/s, 65 %");
    says(&w, "Tuning can save at most 35 % of its time (their rate)");
    says(&w, "beyond that, only fewer FLOPs");
    says_not(&w, "Only");
    w.time_ns = 20e6 / 0.95;
    says(&w, "Only fewer FLOPs would make it faster");
    says_not(&w, "could go");
    w = make_work(1e9, 4e9, 1e6 / 0.7);
    says(&w, "Tuning can save at most 30 % of its time (a copy's rate)");
    says_not(&w, "Only");
    w.time_ns = 1e6 / 0.95;
    says(&w, "Only fewer bytes");
    says_not(&w, "could go");
}

/* Faster than a product: why it can be is known, counted, or open. */
static void above_the_roof_of_products(void **state)
{
    struct lab_roofline_work w = make_work(1e12, 4e9, 20e6 / 1.17);
    (void)state;
    says_not(&w, "measured on a busy");
    says(&w, "measure it again when it is not");
    w.other_algorithm = true;
    says(&w, "its algorithm finds the same result with fewer");
    says_not(&w, "loads");
    w.other_algorithm = false;
    w.counted.fp32_flop = 4e11;
    w.counted.tensor_flop = w.counted.tf32_flop = 0;
    w.counted.bf16_flop = w.counted.fp16_tensor_flop = 0;
    w.counted.fp16_flop = w.counted.fp64_flop = 0;
    says(&w, "only 40 % of them were counted");
    w.counted.fp32_flop = 1e12;
    says(&w, "the FLOPs were counted");
    says_not(&w, "fewer");
}

static void counted_traffic_is_believed(void **state)
{
    /* by the formula 20 % of memory, but 3.5 times the bytes are moved */
    struct lab_roofline_work w = make_work(1e9, 4e9, 5e6);
    (void)state;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_NEITHER);
    w.counted.dram_read_bytes = 13e9;
    w.counted.dram_write_bytes = 1e9;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_MEMORY);
    says(&w, "2.8 TB/s counted, 70 %");
    says(&w, "3.5 times the bytes that it needs");
    /* faster than memory: from the caches, counted or not */
    w = make_work(1e6, 1e7, 1e3);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    says(&w, "2.5 times what a copy in memory reaches");
    w.counted.dram_read_bytes = 1e6;
    w.counted.dram_write_bytes = 0;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    /* at the rate of a copy, and hardly a byte of it came from memory */
    w.time_ns = 2550;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    says(&w, "10 % of those bytes were counted in DRAM");
}

static void kernels_have_counters_alone(void **state)
{
    struct lab_roofline_work w = make_work(NAN, NAN, 1.25e6);
    struct lab_roofline_point p = place(&w);
    (void)state;
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    says(&w, "Its work is not known");
    w.counted.fp32_flop = 1e9;
    w.counted.dram_read_bytes = w.counted.dram_write_bytes = 2e9;
    p = place(&w);
    assert_int_equal(p.verdict, LAB_ROOFLINE_MEMORY);
    close_to(p.share, 0.8);
    close_to(p.intensity, p.counted_intensity);
}

static void unknown_stays_unknown(void **state)
{
    static const double none[LAB_CEILING_COUNT] = {NAN, NAN, NAN, NAN, NAN};
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6);
    struct lab_roofline_point p;
    struct lab_str s;
    (void)state;
    lab_str_init(&s);
    lab_roofline_place(&p, &w, none);
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    assert_int_equal(p.roof, LAB_CEILING_COUNT);
    assert_true(isnan(p.share) && isnan(p.best_ns) && isnan(p.roof_per_s));
    close_to(p.flop_s, 1e12); /* what needs no roof is known */
    lab_roofline_say(&s, &w, &p, none);
    assert_non_null(strstr(lab_str_text(&s), "profile ceilings"));
    lab_str_release(&s);
    const double bad[] = {NAN, 0, -5, INFINITY};
    for (int i = 0; i < 4; i++) {
        w.time_ns = bad[i];
        p = place(&w);
        assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
        assert_true(isnan(p.flop_s) && isnan(p.share));
    }
    says(&w, "");
    w = make_work(-1, NAN, 1e6); /* nonsense of a database */
    assert_true(isnan(place(&w).flop) && isnan(place(&w).bytes));
    w = make_work(1e9, 4e9, 1e6);
    w.arithmetic = LAB_CEILING_COUNT; /* the memory's roof alone is known */
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_COUNT);
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    says(&w, "is missing");
    w.arithmetic = LAB_CEILING_BF16; /* never measured */
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_UNKNOWN);
    says(&w, "The ceiling of bf16 is not known here: `lapenna-lab profile");
}

static void names_and_rates(void **state)
{
    char text[32];
    (void)state;
    assert_int_equal(lab_roofline_precision("tf32"), LAB_CEILING_TF32);
    assert_int_equal(lab_roofline_precision("copy"), LAB_CEILING_COUNT);
    assert_int_equal(lab_roofline_precision("int3"), LAB_CEILING_COUNT);
    assert_int_equal(lab_roofline_precision(NULL), LAB_CEILING_COUNT);
    assert_string_equal(lab_roofline_verdict_name(LAB_ROOFLINE_NEITHER),
                        "latency");
    assert_string_equal(lab_roofline_verdict_name(LAB_ROOFLINE_VERDICTS), "");
    lab_roofline_rate(4.258e12, "B/s", text);
    assert_string_equal(text, "4.26 TB/s");
    lab_roofline_rate(999.6e9, "FLOP/s", text);
    assert_string_equal(text, "1 TFLOP/s");
    lab_roofline_rate(NAN, "B/s", text);
    assert_string_equal(text, "n/a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_compute_bound),
        cmocka_unit_test(at_the_ridge_and_beside_it),
        cmocka_unit_test(neither_says_why),
        cmocka_unit_test(short_is_near_the_floor),
        cmocka_unit_test(a_fused_variant_must_exist),
        cmocka_unit_test(idle_sms_explain_or_are_not_said),
        cmocka_unit_test(a_library_has_no_loop_to_mend),
        cmocka_unit_test(what_is_left_below_a_roof),
        cmocka_unit_test(above_the_roof_of_products),
        cmocka_unit_test(counted_traffic_is_believed),
        cmocka_unit_test(kernels_have_counters_alone),
        cmocka_unit_test(unknown_stays_unknown),
        cmocka_unit_test(names_and_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
