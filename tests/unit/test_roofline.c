/* Where points stand under the roofs, and what is said of them. */
#include "test.h"

#include "base/format.h"
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
                                  .threads_per_block = 256,
                                  .sm_count = 132,
                                  .max_warps_per_sm = 64,
                                  .kernels = 1,
                                  .floor_ns = NAN,
                                  .kernels_ns = NAN,
                                  .launch_ns = NAN,
                                  .own_bytes = NAN,
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

TEST_CASE(memory_and_compute_bound)
{
    /* 4e9 bytes in 1.25 ms: 3.2 TB/s, 80 %; 1e9 FLOPs beside them */
    struct lab_roofline_work w = make_work(1e9, 4e9, 1.25e6);
    struct lab_roofline_point p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_COPY);
    assert_int_equal(p.verdict, LAB_ROOFLINE_MEMORY);
    close_to(p.intensity, 0.25);
    close_to(p.share, 0.8);
    close_to(p.best_ns, 1e6);
    close_to(p.allowed_flop_s, 1e12);
    close_to(p.flop_s, 8e11);
    says(&w, "Memory bounds it: 3.20 TB/s, 80 %");
    /* 1e12 FLOPs on 4e9 bytes in 25 ms: 40 TFLOP/s, 80 % */
    w = make_work(1e12, 4e9, 25e6);
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_FP32);
    assert_int_equal(p.verdict, LAB_ROOFLINE_COMPUTE);
    close_to(p.share, 0.8);
    close_to(p.allowed_flop_s, 50e12);
    says(&w, "Arithmetic bounds it: 40.0 TFLOP/s, 80 %");
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

TEST_CASE(at_the_ridge_and_beside_it)
{
    struct lab_roofline_work w = make_work(12.5e9, 1e9, 1e6);
    struct lab_roofline_point p = place(&w);
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

TEST_CASE(latency_says_why)
{
    struct lab_roofline_work w = make_work(1e6, 4e6, 4000);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    says(&w,
         "Neither roof limits it: 4.00 us, where the roofs alone allow 1.00 us "
         "(25 %");
    w = make_work(1e9, 4e9, 1e7);
    w.blocks = 4;
    says(&w, "Its grid has 4 blocks for 132 SMs");
    w.kernels = 2; /* neither of the two has more */
    says(&w, "Its largest grid has 4 blocks for 132 SMs");
    w.kernels = 1;
    w.blocks = 4096;
    w.occupancy_pct = 12.5;
    says(&w, "(at most occupancy 12 %)");
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

/* An SM without a block has no warps, and is in no occupancy. */
TEST_CASE(an_occupancy_is_that_of_the_sms_that_work)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6 / 0.26);
    w.blocks = 128;
    w.counted.achieved_occupancy_pct = 11;
    says(&w, "(achieved occupancy 11 % of the 128 of 132 SMs that have a "
             "block)");
    w.blocks = 132;
    says(&w, "(achieved occupancy 11 %)");
    /* 8 warps of 64 on an SM: the grid has no more, whatever would fit */
    w.blocks = 128;
    w.counted.achieved_occupancy_pct = NAN;
    says(&w, "(at most occupancy 12 % of the 128 of 132 SMs that have a "
             "block)");
    close_to(lab_roofline_grid_occupancy(&w), 12.5);
    w.blocks = 265; /* three on one of them */
    close_to(lab_roofline_grid_occupancy(&w), 37.5);
    says_not(&w, "Too few warps");
    w.blocks = 132 * 9; /* 72 warps: 64 fit */
    close_to(lab_roofline_grid_occupancy(&w), 100);
    w.threads_per_block = LAB_UNKNOWN;
    assert_true(isnan(lab_roofline_grid_occupancy(&w)));
}

/* Against what was measured of the device: no number stands in for it. */
TEST_CASE(below_the_floor_no_roof_is_named)
{
    struct lab_roofline_work w = make_work(2e3, 4e3, 1250);
    struct lab_roofline_point p;
    w.floor_ns = 960;
    p = place(&w);
    assert_int_equal(p.verdict, LAB_ROOFLINE_LAUNCH);
    close_to(p.each_ns, 1250);
    says(&w, "Launching bounds it: 1.25 us a kernel, where the shortest kernel "
             "on this device takes 960 ns.");
    says_not(&w, "roof");
    says_not(&w, "launches");
    w.floor_ns = 600; /* twice as long and more */
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    says(&w, "its work is less than a kernel's start and end, and it takes "
             "1.25 us");
    says(&w, "The start and end of a kernel take 600 ns.");
    says_not(&w, "where the roofs");
    w.floor_ns = 300;
    says_not(&w, "The start and end of");
    /* 2 us, 4 KB: by the roofs a nanosecond, and that is no reproach */
    w = make_work(2e3, 4e3, 2000);
    w.floor_ns = 1010;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LAUNCH);
    says_not(&w, "%");
    /* a device of which nothing short was traced */
    const double none[] = {NAN, 0, -1, 74e3, INFINITY};
    for (int i = 0; i < 5; i++) {
        w.floor_ns = none[i];
        assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
        assert_true(isnan(place(&w).floor_ns));
        says_not(&w, "Launching");
        says_not(&w, "start and end");
        says(&w, "where the roofs alone allow");
    }
    /* at a roof it is no matter how short it is */
    w = make_work(1e3, 4e6, 1250);
    w.floor_ns = 1200;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_MEMORY);
    /* a step of a processor, beside its shortest one */
    w = make_work(100, 400, 90);
    w.gpu = false;
    w.kernels = LAB_UNKNOWN;
    w.floor_ns = 60;
    says(&w, "(90 ns) that calling it and reading the clock are most of it: "
             "the shortest step on this device takes 60 ns");
    w.time_ns = 900;
    says_not(&w, "calling it");
}

TEST_CASE(many_launches_are_named)
{
    struct lab_roofline_work w = make_work(2e3, 4e3, 19 * 1250);
    w.floor_ns = 960;
    w.kernels = 19;
    says(&w, "1.25 us a kernel");
    says(&w, "It is 19 launches: one kernel for all of them, or a CUDA graph");
    w.kernels = 2;
    w.time_ns = 2500;
    says_not(&w, "launches");
    says(&w, "(a larger batch)");
    w.kernels = 3; /* longer ones: their start and end is a part */
    w.time_ns = 9000;
    says(&w, "The start and end of 3 kernels take 2.88 us.");
}

/* A rung's time is between two events, and its kernels were traced apart. */
TEST_CASE(kernels_of_a_rung_beside_its_time)
{
    struct lab_roofline_work w = make_work(1e6, 6e5, 5472);
    w.floor_ns = 768;
    w.kernels_ns = 993;
    w.launch_ns = 5312;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LAUNCH);
    says(&w, "Launching bounds it: its kernel works for 993 ns of 5.47 us.");
    w.kernels = 1000;
    w.kernels_ns = 1.88e6;
    w.time_ns = 4.13e6;
    says(&w, "its 1000 kernels work for 1.88 ms of 4.13 ms. It is 1000 "
             "launches");
    w.kernels_ns = 2.5e6; /* more than half */
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    /* what is left is more than a launch takes: copies, or warm caches */
    w.kernels = 1;
    w.kernels_ns = 54e3;
    w.time_ns = 14.5e6;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    says(&w, "Its kernel, traced apart, takes 54.0 us of that: the rest is "
             "launches, copies, or caches");
    says_not(&w, "Latency, the order");
    w.kernels_ns = 12e6;
    says_not(&w, "traced apart");
    says(&w, "Latency, the order");
    w.kernels_ns = 993;
    w.time_ns = 5472;
    w.launch_ns = NAN;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
}

TEST_CASE(additions_to_one_address)
{
    /* lab-reduction's `atomic`: 2^26 numbers in 118 ms */
    struct lab_roofline_work w = make_work(67108863, 268435456, 117829010);
    says_not(&w, "one address");
    w.one_address = true;
    says(&w, "Every thread adds to one address");
    says(&w, "one in 1.76 ns");
    says_not(&w, "Latency, the order");
    w.time_ns = 75e3; /* a kernel at the memory's roof has no such trouble */
    says_not(&w, "one address");
}

TEST_CASE(warm_caches_are_said)
{
    struct lab_roofline_work w = make_work(1e6, 4e6, 1e4);
    says_not(&w, "warm");
    w.counted.dram_read_bytes = 3e5;
    w.counted.dram_write_bytes = 1e5;
    says(&w, "Only 10 % of its bytes came from DRAM or went there: the rest "
             "was in the caches, which were warm.");
    w.counted.dram_read_bytes = 3e6;
    says_not(&w, "warm");
}

/* cuBLAS's attention of 4x16x4096x64: the scores go through memory four times.
 */
TEST_CASE(bytes_of_its_own)
{
    struct lab_roofline_work w = make_work(274.9e9, 268e6, 8.99e6);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_COMPUTE);
    says(&w, "fewer FLOPs");
    w.own_bytes = 17.4e9;
    says(&w, "Arithmetic bounds it: 30.6 TFLOP/s, 61 % of the fp32 roof. By "
             "its model it moves 16.2 GiB, 64.9 times what the problem needs: "
             "4.35 ms at the memory roof, 48 % of its time.");
    says_not(&w, "FLOPs");
    w.own_bytes = 4e9; /* a tenth of the time */
    says(&w, "fewer FLOPs");
    w.own_bytes = 90e9; /* no memory could move them: caches do */
    says_not(&w, "By its model");
    w.time_ns = 13e6;
    w.own_bytes = 17.4e9;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    says(&w, "The problem's own bytes do not limit it: 13.0 ms");
    says(&w, "Fewer bytes of its own");
    w.own_bytes = 268e6; /* the problem's */
    says(&w, "Neither roof limits it");
}

TEST_CASE(a_fused_variant_must_exist)
{
    struct lab_roofline_work w = make_work(2e3, 4e3, 1250);
    w.floor_ns = 960;
    says(&w, "(a larger batch).");
    w.fusable = true;
    says(&w, "(a fused variant, a larger batch).");
    w = make_work(1e9, 4e9, 1.05e6);
    says_not(&w, "fused");
    w.fusable = true;
    says(&w, "stay in a cache (a fused variant)");
}

/* 128 blocks leave 4 of 132 SMs without work: 3 %, not the way from 26 %. */
TEST_CASE(idle_sms_explain_or_are_not_said)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6 / 0.26);
    w.blocks = 128;
    w.threads_per_block = 1024;
    says_not(&w, "the others are idle");
    says(&w, "Latency, the order of its reads");
    w.blocks = 66; /* half of them: twice as fast is 52 % */
    says(&w, "Its grid has 66 blocks for 132 SMs: the others are idle.");
    w.time_ns = 1e6 / 0.01; /* at 1 % that is no longer the reason */
    says_not(&w, "the others are idle");
    w = make_work(2e3, 4e3, 5952); /* as far as the start and end of a kernel */
    w.floor_ns = 768;
    w.blocks = 66;
    says(&w, "the others are idle");
    w.floor_ns = 500;
    says_not(&w, "the others are idle");
    w = make_work(1e9, 4e9, 1e8);
    w.blocks = 1;
    says(&w, "Its grid has 1 block for 132 SMs");
    w.blocks = 0; /* nonsense of a database */
    says_not(&w, "idle.");
}

TEST_CASE(a_library_has_no_loop_to_mend)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 5e6);
    w.gpu = false;
    says(&w, "Its loop holds it back");
    w.library = true;
    says_not(&w, "loop");
    says(&w, "a library's kernel");
}

/* "Only" is said at the roof alone: from 60 % on it bounds, with 40 % left. */
TEST_CASE(what_is_left_below_a_roof)
{
    struct lab_roofline_work w = make_work(1e12, 4e9, 20e6 / 0.65);
    says(&w, "Arithmetic bounds it: 32.5 TFLOP/s, 65 %");
    says(&w, "Tuning can save at most 35 % of its time (that roof)");
    says(&w, "beyond that, only fewer FLOPs");
    says_not(&w, "Only");
    w.time_ns = 20e6 / 0.95;
    says(&w, "Only fewer FLOPs would make it faster");
    says_not(&w, "could go");
    w = make_work(1e9, 4e9, 1e6 / 0.7);
    says(&w, "Tuning can save at most 30 % of its time (that roof)");
    says_not(&w, "Only");
    w.time_ns = 1e6 / 0.95;
    says(&w, "Only fewer bytes");
    says_not(&w, "could go");
}

/* Faster than a product: why it can be is known, counted, or open. */
TEST_CASE(above_the_roof_of_products)
{
    struct lab_roofline_work w = make_work(1e12, 4e9, 20e6 / 1.17);
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
    says(&w, "and the FLOPs were counted");
    says_not(&w, "fewer");
}

TEST_CASE(counted_traffic_is_believed)
{
    /* by the formula 20 % of memory, but 3.5 times the bytes are moved */
    struct lab_roofline_work w = make_work(1e9, 4e9, 5e6);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    w.counted.dram_read_bytes = 13e9;
    w.counted.dram_write_bytes = 1e9;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_MEMORY);
    says(&w, "2.80 TB/s counted, 70 %");
    says(&w, "3.5 times the bytes that it needs");
    /* faster than memory: from the caches, counted or not */
    w = make_work(1e6, 1e7, 1e3);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    says(&w, "2.5 times the memory roof");
    w.counted.dram_read_bytes = 1e6;
    w.counted.dram_write_bytes = 0;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    /* at the rate of a copy, and hardly a byte of it came from memory */
    w.time_ns = 2550;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    says(&w, "10 % of those bytes were counted in DRAM");
}

TEST_CASE(kernels_have_counters_alone)
{
    struct lab_roofline_work w = make_work(NAN, NAN, 1.25e6);
    struct lab_roofline_point p = place(&w);
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    says(&w, "Its work is not known");
    w.counted.fp32_flop = 1e9;
    w.counted.dram_read_bytes = w.counted.dram_write_bytes = 2e9;
    p = place(&w);
    assert_int_equal(p.verdict, LAB_ROOFLINE_MEMORY);
    close_to(p.share, 0.8);
    close_to(p.intensity, p.counted_intensity);
}

TEST_CASE(unknown_stays_unknown)
{
    static const double none[LAB_CEILING_COUNT] = {NAN, NAN, NAN, NAN, NAN};
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6);
    struct lab_roofline_point p;
    struct lab_str s;
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

TEST_CASE(names_and_rates)
{
    char text[32];
    assert_int_equal(lab_roofline_precision("tf32"), LAB_CEILING_TF32);
    assert_int_equal(lab_roofline_precision("copy"), LAB_CEILING_COUNT);
    assert_int_equal(lab_roofline_precision("int3"), LAB_CEILING_COUNT);
    assert_int_equal(lab_roofline_precision(NULL), LAB_CEILING_COUNT);
    assert_string_equal(lab_roofline_verdict_name(LAB_ROOFLINE_LATENCY),
                        "latency");
    assert_string_equal(lab_roofline_verdict_text(LAB_ROOFLINE_UNKNOWN), "");
    assert_string_equal(lab_roofline_verdict_text(LAB_ROOFLINE_VERDICTS), "");
    for (int i = 1; i < LAB_ROOFLINE_VERDICTS; i++) {
        enum lab_roofline_verdict v = (enum lab_roofline_verdict)i;
        const char *name = lab_roofline_verdict_name(v);
        const char *what = lab_roofline_verdict_text(v);
        assert_int_equal(strncmp(what, name, strlen(name)), 0);
        assert_int_equal(strncmp(what + strlen(name), "-bound: ", 8), 0);
        assert_int_equal(lab_roofline_verdict_find(name), v);
    }
    assert_int_equal(lab_roofline_verdict_find("MEM"), LAB_ROOFLINE_MEMORY);
    assert_int_equal(lab_roofline_verdict_find("arithmetic"),
                     LAB_ROOFLINE_COMPUTE);
    assert_int_equal(lab_roofline_verdict_find("me"), LAB_ROOFLINE_UNKNOWN);
    assert_int_equal(lab_roofline_verdict_find("memories"),
                     LAB_ROOFLINE_UNKNOWN);
    assert_int_equal(lab_roofline_verdict_find(""), LAB_ROOFLINE_UNKNOWN);
    assert_string_equal(lab_roofline_verdict_name(LAB_ROOFLINE_VERDICTS), "");
    lab_format_amount(4.258e12, "B/s", text, sizeof(text));
    assert_string_equal(text, "4.26 TB/s");
    lab_format_amount(999.6e9, "FLOP/s", text, sizeof(text));
    assert_string_equal(text, "1.00 TFLOP/s");
    lab_format_amount(NAN, "B/s", text, sizeof(text));
    assert_string_equal(text, "n/a");
}

RUN_TESTS()
