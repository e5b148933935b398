#include "test.h"

#include "profiler/rates.h"
#include "trace/record.h"

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* 50 TFLOP/s and 4 TB/s: the ridge is at 12.5 flop a byte. */
static const double PEAK_FLOP = 50e12;
static const double PEAK_BYTES = 4e12;

TEST_CASE(a_matrix_product_is_bound_by_arithmetic)
{
    struct lab_rates r;
    lab_rates_compute(&r, 2e9, 2e7, 100000, PEAK_FLOP, PEAK_BYTES);
    near(r.gflop_s, 20000.0);
    near(r.gbyte_s, 200.0);
    near(r.intensity, 100.0);
    near(r.ridge, 12.5);
    near(r.flop_pct, 40.0);
    near(r.bandwidth_pct, 5.0);
    near(r.best_ns, 40000.0);
    near(r.roof_pct, 40.0);
    assert_int_equal(r.bound, LAB_BOUND_COMPUTE);
}

TEST_CASE(a_copy_is_bound_by_memory)
{
    struct lab_rates r;
    lab_rates_compute(&r, 0.0, 8e6, 4000, PEAK_FLOP, PEAK_BYTES);
    assert_true(r.gflop_s == 0.0);
    assert_true(r.intensity == 0.0);
    near(r.gbyte_s, 2000.0);
    near(r.roof_pct, 50.0);
    assert_int_equal(r.bound, LAB_BOUND_MEMORY);
    lab_rates_compute(&r, 1e6, 8e6, 4000, PEAK_FLOP, PEAK_BYTES);
    assert_int_equal(r.bound, LAB_BOUND_MEMORY);
}

TEST_CASE(the_ridge_itself_is_compute)
{
    struct lab_rates r;
    lab_rates_compute(&r, 12.5e6, 1e6, 1000, PEAK_FLOP, PEAK_BYTES);
    assert_int_equal(r.bound, LAB_BOUND_COMPUTE);
    near(r.flop_pct, r.bandwidth_pct);
    lab_rates_compute(&r, 12.49e6, 1e6, 1000, PEAK_FLOP, PEAK_BYTES);
    assert_int_equal(r.bound, LAB_BOUND_MEMORY);
}

TEST_CASE(unknown_time_gives_no_rate_but_a_bound)
{
    const int64_t times[] = {LAB_UNKNOWN, 0, -5};
    for (int i = 0; i < 3; i++) {
        struct lab_rates r;
        lab_rates_compute(&r, 1e9, 1e6, times[i], PEAK_FLOP, PEAK_BYTES);
        assert_true(isnan(r.gflop_s));
        assert_true(isnan(r.gbyte_s));
        assert_true(isnan(r.flop_pct));
        assert_true(isnan(r.roof_pct));
        near(r.best_ns, 20000.0);
        assert_int_equal(r.bound, LAB_BOUND_COMPUTE);
    }
}

TEST_CASE(unknown_peaks_give_no_share)
{
    const double unknown[] = {0.0, -1.0, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        struct lab_rates r;
        lab_rates_compute(&r, 1e9, 1e6, 1000, unknown[i], PEAK_BYTES);
        near(r.gflop_s, 1e6);
        assert_true(isnan(r.flop_pct));
        near(r.bandwidth_pct, 25.0);
        assert_true(isnan(r.ridge));
        assert_true(isnan(r.roof_pct));
        assert_int_equal(r.bound, LAB_BOUND_UNKNOWN);
    }
}

TEST_CASE(unknown_work_stays_unknown)
{
    struct lab_rates r;
    lab_rates_compute(&r, NAN, 1e6, 1000, PEAK_FLOP, PEAK_BYTES);
    assert_true(isnan(r.gflop_s));
    assert_true(isnan(r.intensity));
    near(r.gbyte_s, 1000.0);
    assert_int_equal(r.bound, LAB_BOUND_UNKNOWN);
    lab_rates_compute(&r, 1e6, -1.0, 1000, PEAK_FLOP, PEAK_BYTES);
    assert_true(isnan(r.gbyte_s));
    assert_int_equal(r.bound, LAB_BOUND_UNKNOWN);
    lab_rates_compute(&r, 0.0, 0.0, 1000, PEAK_FLOP, PEAK_BYTES);
    assert_true(isnan(r.intensity));
    assert_int_equal(r.bound, LAB_BOUND_UNKNOWN);
}

TEST_CASE(bounds_have_names)
{
    assert_string_equal(lab_bound_name(LAB_BOUND_COMPUTE), "compute");
    assert_string_equal(lab_bound_name(LAB_BOUND_MEMORY), "memory");
    assert_string_equal(lab_bound_name(LAB_BOUND_UNKNOWN), "");
}

RUN_TESTS()
