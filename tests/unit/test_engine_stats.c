/* The summary of a tensor's values, against numbers worked out by hand. */
#include "test.h"

#include "engine/tensor.h"

#define near(got, want)                                                        \
    assert_near(got, want, 1e-12 * (1 + fabs((double)(want))))

static int64_t in_bins(const struct lab_stats *s)
{
    int64_t n = 0;
    for (int i = 0; i < LAB_HISTOGRAM_BINS; i++)
        n += s->bin[i];
    return n;
}

TEST_CASE(by_hand)
{
    const float v[] = {2, 4, 4, 4, 5, 5, 7, 9}; /* mean 5, deviation 2 */
    struct lab_stats s;
    lab_stats_compute(&s, v, LAB_F32, 8);
    assert_int_equal(s.count, 8);
    assert_int_equal(s.zero_count, 0);
    near(s.min, 2);
    near(s.max, 9);
    near(s.mean, 5);
    near(s.std, 2);
    assert_int_equal(in_bins(&s), 8);
    assert_int_equal(s.bin[0], 1);                      /* 2 */
    assert_int_equal(s.bin[LAB_HISTOGRAM_BINS - 1], 1); /* 9, the last too */
    /* 4: (4-2)/7 of 32 bins = 9.14; 5: 13.7; 7: 22.9 */
    assert_int_equal(s.bin[9], 3);
    assert_int_equal(s.bin[13], 2);
    assert_int_equal(s.bin[22], 1);
}

TEST_CASE(what_is_not_finite_is_counted_apart)
{
    const float v[] = {NAN, 1, INFINITY, 0, -INFINITY, -0.0f, 3, NAN};
    struct lab_stats s;
    lab_stats_compute(&s, v, LAB_F32, 8);
    assert_int_equal(s.count, 8);
    assert_int_equal(s.nan_count, 2);
    assert_int_equal(s.inf_count, 2);
    assert_int_equal(s.zero_count, 2);
    near(s.min, 0);
    near(s.max, 3);
    near(s.mean, 1);
    near(s.std, sqrt(1.5)); /* (0 + 1 + 1 + 4) / 4 */
    assert_int_equal(in_bins(&s), 4);
}

TEST_CASE(nothing_finite_is_nan_not_zero)
{
    const float v[] = {NAN, INFINITY};
    struct lab_stats s;
    lab_stats_compute(&s, v, LAB_F32, 2);
    assert_true(isnan(s.min) && isnan(s.max) && isnan(s.mean) && isnan(s.std));
    assert_int_equal(in_bins(&s), 0);
    lab_stats_compute(&s, v, LAB_F32, 0);
    assert_int_equal(s.count, 0);
    assert_true(isnan(s.mean));
}

TEST_CASE(equal_values_have_no_spread)
{
    float v[7];
    struct lab_stats s;
    for (int i = 0; i < 7; i++)
        v[i] = 0.1f;
    lab_stats_compute(&s, v, LAB_F32, 7);
    near(s.mean, 0.1f);
    near(s.std, 0);
    assert_int_equal(s.bin[0], 7);
}

/* A spread of 1 around 10^9: the naive sum of squares has no digit left. */
TEST_CASE(no_cancellation_far_from_zero)
{
    double v[1000];
    struct lab_stats s;
    for (int i = 0; i < 1000; i++)
        v[i] = 1e9 + (i % 2 ? 1 : -1);
    lab_stats_compute(&s, v, LAB_F64, 1000);
    near(s.mean, 1e9);
    if (fabs(s.std - 1) > 1e-6)
        fail_msg("std %.17g", s.std);
}

TEST_CASE(every_type_is_read)
{
    const int32_t labels[] = {-3, 0, 5};
    struct lab_stats s;
    lab_stats_compute(&s, labels, LAB_I32, 3);
    near(s.min, -3);
    near(s.max, 5);
    near(lab_number_at(labels, LAB_I32, 2), 5);
    near(lab_number_at((double[]){1, 2.5}, LAB_F64, 1), 2.5);
    near(lab_number_at((float[]){1, 0.5f}, LAB_F32, 1), 0.5);
}

TEST_CASE(a_median_is_in_the_middle)
{
    double odd[] = {3, 1, 2};
    double even[] = {4, 1, 8, 2};
    assert_true(isnan(lab_median(odd, 0)));
    near(lab_median(odd, 1), 3);
    near(lab_median(odd, 3), 2);
    near(lab_median(even, 4), 3);
}

RUN_TESTS()
