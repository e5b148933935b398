/* The latest values of a run that is recorded, as screens read them while the
 * writer still works. */
#include "test.h"

#include "base/mem.h"
#include "store/devices.h"
#include "store/live.h"
#include "store_samples.h"
#include "trace/intern.h"

static int cleanup(void **state)
{
    (void)state;
    lab_intern_release();
    return 0;
}

static void push(struct lab_sink sink, struct lab_record record)
{
    assert_true(sink.push(sink.user, &record));
}

TEST_CASE_WITH(shows_the_step_just_run, NULL, cleanup)
{
    struct lab_live *live;
    struct lab_kernel_record kernels[2];
    struct lab_step_record step;
    assert_ok(lab_live_new(&live, NULL));
    struct lab_sink sink = lab_live_tee(live, NULL);
    assert_false(lab_live_step(live, 3, &step));
    push(sink, sample_kernel(7, 100, 10)); /* kernels may come first */
    push(sink, sample_step(7, 0, 3, LAB_TIME_CUPTI, LAB_UNKNOWN));
    push(sink, sample_kernel(8, 200, 1000));
    push(sink, sample_kernel(7, 300, 20));
    push(sink, sample_kernel(7, 400, 30));
    assert_int_equal(lab_live_kernels(live, 7, kernels, 2), 3);
    assert_int_equal(kernels[0].start_ns, 100);
    assert_int_equal(kernels[1].start_ns, 300);
    assert_true(lab_live_step(live, 3, &step));
    assert_int_equal(step.time_ns, 60);
    assert_int_equal(step.exec, 7);
    for (int i = 0; i < 5000; i++) /* an evaluation pushes none out */
        push(sink, sample_kernel(LAB_EXEC_BETWEEN, 500 + i, 1));
    assert_int_equal(lab_live_kernels(live, 7, kernels, 2), 3);
    push(sink, sample_kernel(7, 0, 0)); /* without a time */
    assert_true(lab_live_step(live, 3, &step));
    assert_int_equal(step.time_ns, LAB_UNKNOWN);
    assert_false(lab_live_step(live, -1, &step));
    assert_false(lab_live_step(live, 1 << 30, &step));
    lab_live_free(live);
}

TEST_CASE_WITH(keeps_the_newest, NULL, cleanup)
{
    const struct lab_live_limits limits = {.kernels = 5, .steps = 2};
    struct lab_live *live;
    struct lab_kernel_record k[8];
    struct lab_step_record step;
    assert_ok(lab_live_new(&live, &limits));
    struct lab_sink sink = lab_live_tee(live, NULL);
    for (int64_t i = 0; i < 13; i++)
        push(sink, sample_kernel(i % 2, 1000 + i, 1));
    assert_int_equal(lab_live_kernels(live, 0, k, 8), 3); /* 8, 10, 12 */
    assert_int_equal(k[0].start_ns, 1008);
    assert_int_equal(k[2].start_ns, 1012);
    push(sink, sample_step(1, 0, 1, LAB_TIME_CPU_CLOCK, 5));
    push(sink, sample_step(2, 1, 1, LAB_TIME_CPU_CLOCK, 6));
    push(sink, sample_step(3, 1, 2, LAB_TIME_CPU_CLOCK, 7)); /* no place */
    assert_true(lab_live_step(live, 1, &step));
    assert_int_equal(step.time_ns, 6);
    assert_false(lab_live_step(live, 2, &step));
    lab_live_free(live);
}

static int count_record(void *user, const struct lab_record *record)
{
    int *counts = user;
    counts[record->kind]++;
    return record->kind != LAB_RECORD_LOSS;
}

TEST_CASE_WITH(passes_everything_on, NULL, cleanup)
{
    int counts[LAB_RECORD_KIND_COUNT] = {0};
    const struct lab_sink end = {counts, count_record};
    struct lab_live *live;
    assert_ok(lab_live_new(&live, NULL));
    struct lab_sink sink = lab_live_tee(live, &end);
    struct lab_record loss = sample_loss(1, 1, 1);
    push(sink, sample_kernel(7, 100, 10));
    push(sink, sample_step(7, 0, 3, LAB_TIME_CUPTI, LAB_UNKNOWN));
    assert_false(sink.push(sink.user, &loss)); /* dropped further on */
    assert_int_equal(counts[LAB_RECORD_KERNEL], 1);
    assert_int_equal(counts[LAB_RECORD_STEP], 1);
    assert_int_equal(counts[LAB_RECORD_LOSS], 1);
    lab_live_free(live);
}

TEST_CASE(live_survives_short_memory)
{
    for (int64_t nth = 1; nth <= 7; nth++) {
        struct lab_live *live = NULL;
        lab_mem_fail_from(nth);
        enum lab_status st = lab_live_new(&live, NULL);
        lab_mem_fail_from(0);
        assert_int_equal(st, nth <= 6 ? LAB_E_NOMEM : LAB_OK);
        assert_int_equal(live != NULL, nth > 6);
        lab_live_free(live);
    }
}

TEST_CASE(peaks_are_found_by_exact_name)
{
    struct lab_device_peaks p;
    assert_true(lab_device_peaks_find("NVIDIA H200", &p));
    assert_float_equal(p.fp32_flop_per_s, 67e12f, 1e6f);
    assert_float_equal(p.dram_bytes_per_s, 4.8e12f, 1e6f);
    assert_string_equal(p.fp32_source, "NVIDIA H200 datasheet");
    assert_true(lab_device_peaks_find("Tesla T4", &p));
    assert_string_equal(p.dram_source, "NVIDIA Turing architecture whitepaper");
    assert_true(lab_device_peaks_find("NVIDIA GeForce RTX 4090", &p));
    /* a slice of a card is not the card */
    assert_false(
        lab_device_peaks_find("NVIDIA H100 80GB HBM3 MIG 1g.10gb", &p));
    assert_true(isnan(p.fp32_flop_per_s) && isnan(p.dram_bytes_per_s));
    assert_false(lab_device_peaks_find("NVIDIA ", &p));
    assert_false(lab_device_peaks_find("name", &p));
    assert_false(lab_device_peaks_find("", &p));
    assert_false(lab_device_peaks_find(NULL, &p));
}

RUN_TESTS()
