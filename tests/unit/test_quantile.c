/* Medians and quartiles of short lists, of equal values and of infinities,
 * against known values. */
#include "test.h"

#include "base/quantile.h"

TEST_CASE(sorts_by_value)
{
    double v[] = {3, -INFINITY, 1e-300, -2, 3, INFINITY, -1e300};
    const double sorted[] = {-INFINITY, -1e300, -2, 1e-300, 3, 3, INFINITY};
    lab_sort_reals(v, 7);
    for (int i = 0; i < 7; i++)
        assert_true(v[i] == sorted[i]);
    lab_sort_reals(NULL, 0);
}

/* numpy.quantile([1, 2, 4, 8], q) */
TEST_CASE(lies_between_neighbours)
{
    const double v[] = {1, 2, 4, 8};
    assert_true(lab_quantile(v, 4, 0) == 1);
    assert_true(lab_quantile(v, 4, 0.25) == 1.75);
    assert_true(lab_quantile(v, 4, 0.5) == 3);
    assert_true(lab_quantile(v, 4, 0.75) == 5);
    assert_true(lab_quantile(v, 4, 1) == 8);
    assert_true(lab_quantile(v, 3, 0.5) == 2);
}

TEST_CASE(few_values_are_no_trouble)
{
    const double v[] = {7, INFINITY, INFINITY};
    assert_true(isnan(lab_quantile(NULL, 0, 0.5)));
    for (int q = 0; q <= 4; q++)
        assert_true(lab_quantile(v, 1, q / 4.0) == 7);
    assert_true(lab_quantile(v, 3, 0.75) == INFINITY);
}

/* A time that was not taken may be infinite: what lies below it is known. */
TEST_CASE(infinities_reach_no_further_than_themselves)
{
    const double above[] = {1, 2, INFINITY};
    const double below[] = {-INFINITY, 3};
    const double far[] = {-1.7e308, 1.7e308}; /* their difference is infinite */
    assert_true(lab_quantile(above, 3, 0.5) == 2);
    assert_true(lab_quantile(above, 3, 0) == 1);
    assert_true(lab_quantile(above, 3, 0.6) == INFINITY);
    assert_true(lab_quantile(above, 3, 1) == INFINITY);
    assert_true(lab_quantile(below, 2, 0.5) == -INFINITY);
    assert_true(lab_quantile(below, 2, 1) == 3);
    assert_true(lab_quantile(far, 2, 0.5) == 0);
    assert_float_equal(lab_quantile(far, 2, 0.75) / 1.7e308, 0.5, 1e-15);
}

RUN_TESTS()
