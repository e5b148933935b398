/* Where points are under the roofs, and their sentences. */
#include "test.h"

#include "base/format.h"
#include "profiler/roofline.h"

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

/* What is stated of `w`, and where the sentence is in it; -1: it is not. */
static int find(const struct lab_roofline_work *w, enum lab_sentence_id id,
                struct lab_sentences *all)
{
    struct lab_roofline_point p = place(w);
    lab_roofline_state(all, w, &p, roofs);
    int i = all->n - 1;
    while (i >= 0 && all->list[i].id != id)
        i--;
    return i;
}

/* The sentence is stated, with these values; 0: any. */
static void has(const struct lab_roofline_work *w, struct lab_sentence want)
{
    struct lab_sentences all;
    struct lab_str text;
    int at = find(w, want.id, &all);
    lab_str_init(&text);
    lab_sentences_add(&text, &all);
    if (at < 0)
        fail_msg("%d is not in: %s", (int)want.id, lab_str_text(&text));
    for (int i = 0; i < 5; i++)
        if (fabs(all.list[at].x[i] - want.x[i]) > 0.005 * want.x[i] &&
            want.x[i] > 0)
            fail_msg("not %g: %s", want.x[i], lab_str_text(&text));
    assert_null(strstr(lab_str_text(&text), "nan"));
    lab_str_release(&text);
}

static bool has_only(const struct lab_roofline_work *w, enum lab_sentence_id a,
                     enum lab_sentence_id b)
{
    struct lab_sentences all;
    return find(w, a, &all) == 0 && all.n == 1 + (b != LAB_SENTENCE_COUNT) &&
           (all.n == 1 || all.list[1].id == b);
}

#define HAS(id, ...)                                                           \
    has(&w, (struct lab_sentence){LAB_SENTENCE_##id, {__VA_ARGS__}})
#define HAS_NOT(id)                                                            \
    assert_int_equal(                                                          \
        find(&w, LAB_SENTENCE_##id, &(struct lab_sentences){.n = 0}), -1)
/* Nothing but these two; COUNT: nothing. */
#define HAS_ONLY(a, b)                                                         \
    assert_true(has_only(&w, LAB_SENTENCE_##a, LAB_SENTENCE_##b))

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
    HAS(MEMORY, 3.2e12, 80);
    /* 1e12 FLOPs on 4e9 bytes in 25 ms: 40 TFLOP/s, 80 % */
    w = make_work(1e12, 4e9, 25e6);
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_FP32);
    assert_int_equal(p.verdict, LAB_ROOFLINE_COMPUTE);
    close_to(p.share, 0.8);
    close_to(p.allowed_flop_s, 50e12);
    HAS(ARITHMETIC, 40e12, 80, LAB_CEILING_FP32);
    HAS(TENSOR_CORES, 400e12);
    /* the same on tensor cores, by the counters */
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

TEST_CASE(latency_has_its_reason)
{
    struct lab_roofline_work w = make_work(1e6, 4e6, 4000);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    HAS(NO_ROOF_BEST, 4000, 1000, 25);
    w = make_work(1e9, 4e9, 1e7);
    w.blocks = 4;
    HAS(IDLE_SMS, 4, 132);
    w.kernels = 2; /* neither of the two has more */
    HAS(IDLE_SMS_LARGEST, 4);
    w.kernels = 1;
    w.blocks = 4096;
    w.occupancy_pct = 12.5;
    HAS(FEW_WARPS, 12.5);
    w.counted.achieved_occupancy_pct = 9;
    HAS(FEW_WARPS_ACHIEVED, 9);
    w.library = true; /* it hides latency within a thread */
    HAS_NOT(FEW_WARPS_ACHIEVED);
    w.library = false;
    w.counted.achieved_occupancy_pct = w.occupancy_pct = 90;
    HAS(LATENCY, 0);
    w.counted.dram_read_bytes = 8e9;
    w.counted.dram_write_bytes = 4e9;
    HAS(MOVED, 3);
}

/* An SM without a block has no warps, and is in no occupancy. */
TEST_CASE(an_occupancy_is_that_of_the_sms_that_work)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6 / 0.26);
    w.blocks = 128;
    w.counted.achieved_occupancy_pct = 11;
    HAS(FEW_WARPS_ACHIEVED_SOME, 11, 128, 132);
    w.blocks = 132;
    HAS(FEW_WARPS_ACHIEVED, 11);
    /* 8 warps of 64 on an SM: the grid has no more, whatever would fit */
    w.blocks = 128;
    w.counted.achieved_occupancy_pct = NAN;
    HAS(FEW_WARPS_SOME, 12.5, 128);
    close_to(lab_roofline_grid_occupancy(&w), 12.5);
    w.blocks = 265; /* three on one of them */
    close_to(lab_roofline_grid_occupancy(&w), 37.5);
    HAS_NOT(FEW_WARPS);
    HAS_NOT(FEW_WARPS_SOME);
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
    HAS(LAUNCH, 1250, 960);
    HAS_ONLY(LAUNCH, MORE_WORK);
    w.floor_ns = 600; /* twice as long and more */
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    HAS(BELOW_FLOOR, 1250);
    HAS(START_AND_END, 600);
    HAS_NOT(NO_ROOF_BEST);
    w.floor_ns = 300;
    HAS_NOT(START_AND_END);
    /* 2 us, 4 KB: by the roofs a nanosecond, and that is no reproach */
    w = make_work(2e3, 4e3, 2000);
    w.floor_ns = 1010;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LAUNCH);
    HAS_ONLY(LAUNCH, MORE_WORK);
    /* a device of which nothing short was traced */
    const double none[] = {NAN, 0, -1, 74e3, INFINITY};
    for (int i = 0; i < 5; i++) {
        w.floor_ns = none[i];
        assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
        assert_true(isnan(place(&w).floor_ns));
        HAS_NOT(LAUNCH);
        HAS_NOT(START_AND_END);
        HAS_NOT(BELOW_FLOOR);
        HAS(NO_ROOF_BEST, 2000);
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
    HAS(SHORT_STEP, 90, 60);
    w.time_ns = 900;
    HAS_NOT(SHORT_STEP);
}

TEST_CASE(many_launches_are_named)
{
    struct lab_roofline_work w = make_work(2e3, 4e3, 19 * 1250);
    w.floor_ns = 960;
    w.kernels = 19;
    HAS(LAUNCH, 1250);
    HAS(MANY_LAUNCHES, 19);
    w.kernels = 2;
    w.time_ns = 2500;
    HAS_ONLY(LAUNCH, MORE_WORK);
    w.kernels = 3; /* longer ones: their start and end is a part */
    w.time_ns = 9000;
    HAS(STARTS_AND_ENDS, 3, 2880);
}

/* A variant's time is between two events, and its kernels were traced apart. */
TEST_CASE(kernels_of_a_variant_beside_its_time)
{
    struct lab_roofline_work w = make_work(1e6, 6e5, 5472);
    w.floor_ns = 768;
    w.kernels_ns = 993;
    w.launch_ns = 5312;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LAUNCH);
    HAS(LAUNCH_KERNEL, 993, 5472);
    w.kernels = 1000;
    w.kernels_ns = 1.88e6;
    w.time_ns = 4.13e6;
    HAS(LAUNCH_KERNELS, 1000, 1.88e6, 4.13e6);
    HAS(MANY_LAUNCHES, 1000);
    w.kernels_ns = 2.5e6; /* more than half */
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    /* what is left is more than a launch takes: copies, or warm caches */
    w.kernels = 1;
    w.kernels_ns = 54e3;
    w.time_ns = 14.5e6;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    HAS(ELSEWHERE, 54e3);
    HAS_NOT(LATENCY);
    w.kernels_ns = 12e6;
    HAS_NOT(ELSEWHERE);
    HAS(LATENCY, 0);
    w.kernels_ns = 993;
    w.time_ns = 5472;
    w.launch_ns = NAN;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
}

TEST_CASE(additions_to_one_address)
{
    /* lab-reduction's `atomic`: 2^26 numbers in 118 ms */
    struct lab_roofline_work w = make_work(67108863, 268435456, 117829010);
    HAS_NOT(ONE_ADDRESS);
    w.one_address = true;
    HAS(ONE_ADDRESS, 1.7558);
    HAS_NOT(LATENCY);
    w.time_ns = 75e3; /* a kernel at the memory's roof has no such trouble */
    HAS_NOT(ONE_ADDRESS);
}

TEST_CASE(warm_caches_are_named)
{
    struct lab_roofline_work w = make_work(1e6, 4e6, 1e4);
    HAS_NOT(WARM);
    w.counted.dram_read_bytes = 3e5;
    w.counted.dram_write_bytes = 1e5;
    HAS(WARM, 10);
    w.counted.dram_read_bytes = 3e6;
    HAS_NOT(WARM);
}

/* cuBLAS's attention of 4x16x4096x64: the scores go through memory four times.
 */
TEST_CASE(bytes_of_its_own)
{
    struct lab_roofline_work w = make_work(274.9e9, 268e6, 8.99e6);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_COMPUTE);
    HAS(TENSOR_CORES, 400e12);
    w.own_bytes = 17.4e9;
    HAS_ONLY(ARITHMETIC, OWN_BYTES);
    HAS(ARITHMETIC, 30.6e12);
    HAS(OWN_BYTES, 17.4e9, 64.9, 4.35e6, 48.4);
    w.own_bytes = 4e9; /* a tenth of the time */
    HAS(TENSOR_CORES, 400e12);
    w.own_bytes = 90e9; /* no memory could move them: caches do */
    HAS_NOT(OWN_BYTES);
    w.time_ns = 13e6;
    w.own_bytes = 17.4e9;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    HAS(OWN_BEST, 13e6);
    HAS(OWN_BYTES, 17.4e9);
    w.own_bytes = 268e6; /* the problem's */
    HAS(NO_ROOF_BEST, 13e6);
}

TEST_CASE(a_fused_variant_must_exist)
{
    struct lab_roofline_work w = make_work(2e3, 4e3, 1250);
    w.floor_ns = 960;
    HAS(MORE_WORK, 0);
    w.fusable = true;
    HAS(MORE_WORK_FUSED, 0);
    w = make_work(1e9, 4e9, 1.05e6);
    HAS(FEWER_BYTES, 0);
    w.fusable = true;
    HAS(FEWER_BYTES_FUSED, 0);
}

/* 128 blocks leave 4 of 132 SMs without work: 3 %, not the way from 26 %. */
TEST_CASE(idle_sms_are_named_where_they_explain)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 1e6 / 0.26);
    w.blocks = 128;
    w.threads_per_block = 1024;
    HAS_NOT(IDLE_SMS);
    HAS(LATENCY, 0);
    w.blocks = 66; /* half of them: twice as fast is 52 % */
    HAS(IDLE_SMS, 66);
    w.time_ns = 1e6 / 0.01; /* at 1 % that is no longer the reason */
    HAS_NOT(IDLE_SMS);
    w = make_work(2e3, 4e3, 5952); /* as far as the start and end of a kernel */
    w.floor_ns = 768;
    w.blocks = 66;
    HAS(IDLE_SMS, 66);
    w.floor_ns = 500;
    HAS_NOT(IDLE_SMS);
    w = make_work(1e9, 4e9, 1e8);
    w.blocks = 1;
    HAS(IDLE_SMS, 1);
    w.blocks = 0; /* nonsense of a database */
    HAS_NOT(IDLE_SMS);
}

TEST_CASE(a_library_has_no_loop_to_mend)
{
    struct lab_roofline_work w = make_work(1e9, 4e9, 5e6);
    w.gpu = false;
    HAS(LOOP, 0);
    w.library = true;
    HAS_NOT(LOOP);
    HAS(LIBRARY, 0);
}

/* "Only" is reported at the roof alone: from 60 % on it bounds, with 40 % left. */
TEST_CASE(what_is_left_below_a_roof)
{
    struct lab_roofline_work w = make_work(1e12, 4e9, 20e6 / 0.65);
    HAS(ARITHMETIC, 32.5e12);
    HAS(TUNING_SAVES, 35);
    HAS(TENSOR_CORES, 0);
    HAS_NOT(AT_ROOF);
    w.time_ns = 20e6 / 0.95;
    HAS(AT_ROOF, 0);
    HAS_NOT(TUNING_SAVES);
    w = make_work(1e9, 4e9, 1e6 / 0.7);
    HAS(TUNING_SAVES, 30);
    HAS_NOT(AT_ROOF);
    w.time_ns = 1e6 / 0.95;
    HAS(AT_ROOF, 0);
    HAS(FEWER_BYTES, 0);
    HAS_NOT(TUNING_SAVES);
}

/* Faster than a product: why it can be is known, counted, or open. */
TEST_CASE(above_the_roof_of_products)
{
    struct lab_roofline_work w = make_work(1e12, 4e9, 20e6 / 1.17);
    HAS_ONLY(ARITHMETIC, ROOF_UNSURE);
    w.other_algorithm = true;
    HAS_ONLY(ARITHMETIC, OTHER_ALGORITHM);
    w.other_algorithm = false;
    w.counted.fp32_flop = 4e11;
    w.counted.tensor_flop = w.counted.tf32_flop = 0;
    w.counted.bf16_flop = w.counted.fp16_tensor_flop = 0;
    w.counted.fp16_flop = w.counted.fp64_flop = 0;
    HAS(FEWER_COUNTED, 40);
    w.counted.fp32_flop = 1e12;
    HAS_ONLY(ARITHMETIC, ROOF_TOO_LOW);
}

TEST_CASE(counted_traffic_is_believed)
{
    /* by the formula 20 % of memory, but 3.5 times the bytes are moved */
    struct lab_roofline_work w = make_work(1e9, 4e9, 5e6);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_LATENCY);
    w.counted.dram_read_bytes = 13e9;
    w.counted.dram_write_bytes = 1e9;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_MEMORY);
    HAS(MEMORY_COUNTED, 2.8e12, 70);
    HAS(MOVED_TOO_MUCH, 3.5);
    /* faster than memory: from the caches, counted or not */
    w = make_work(1e6, 1e7, 1e3);
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    HAS(CACHE, 0, 2.5);
    w.counted.dram_read_bytes = 1e6;
    w.counted.dram_write_bytes = 0;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    /* at the rate of a copy, and hardly a byte of it came from memory */
    w.time_ns = 2550;
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_CACHE);
    HAS(CACHE_COUNTED, 0, 0, 10);
}

TEST_CASE(kernels_have_counters_alone)
{
    struct lab_roofline_work w = make_work(NAN, NAN, 1.25e6);
    struct lab_roofline_point p = place(&w);
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    HAS_ONLY(WORK_UNKNOWN, COUNT);
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
    struct lab_sentences s;
    lab_roofline_place(&p, &w, none);
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    assert_int_equal(p.roof, LAB_CEILING_COUNT);
    assert_true(isnan(p.share) && isnan(p.best_ns) && isnan(p.roof_per_s));
    close_to(p.flop_s, 1e12); /* what needs no roof is known */
    lab_roofline_state(&s, &w, &p, none);
    assert_int_equal(s.list[0].id, LAB_SENTENCE_NO_CEILINGS);
    const double bad[] = {NAN, 0, -5, INFINITY};
    for (int i = 0; i < 4; i++) {
        w.time_ns = bad[i];
        p = place(&w);
        assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
        assert_true(isnan(p.flop_s) && isnan(p.share));
    }
    HAS_ONLY(BOUND_UNKNOWN, COUNT);
    w = make_work(-1, NAN, 1e6); /* nonsense of a database */
    assert_true(isnan(place(&w).flop) && isnan(place(&w).bytes));
    w = make_work(1e9, 4e9, 1e6);
    w.arithmetic = LAB_CEILING_COUNT; /* the memory's roof alone is known */
    p = place(&w);
    assert_int_equal(p.roof, LAB_CEILING_COUNT);
    assert_int_equal(p.verdict, LAB_ROOFLINE_UNKNOWN);
    HAS_ONLY(BOUND_UNKNOWN, COUNT);
    w.arithmetic = LAB_CEILING_BF16; /* never measured */
    assert_int_equal(place(&w).verdict, LAB_ROOFLINE_UNKNOWN);
    HAS(NO_CEILING, LAB_CEILING_BF16);
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
