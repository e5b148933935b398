/* The rank test, its correction for many tests and the packed lists of times,
 * against values computed elsewhere and against simulated alarms. */
#include "test.h"

#include "base/mem.h"
#include "base/quantile.h"
#include "store/time_sum.h"

static struct lab_times times_of(const int64_t *v, size_t n)
{
    struct lab_times t;
    int64_t *copy = lab_alloc_array(n + 1, sizeof(*copy));
    assert_non_null(copy);
    if (n)
        memcpy(copy, v, n * sizeof(*v));
    assert_ok(lab_times_from(&t, copy, n));
    return t;
}

TEST_CASE(statistics_of_known_lists)
{
    static const struct {
        int64_t v[9];
        size_t n;
        double quarter, median, three, mad;
    } cases[] = {
        {{5}, 1, 5, 5, 5, NAN}, /* one time has no spread */
        {{1, 2}, 2, 1.25, 1.5, 1.75, 0.5},
        {{3, 1, 2}, 3, 1.5, 2, 2.5, 1},
        {{1, 2, 3, 4}, 4, 1.75, 2.5, 3.25, 1},
        {{1, 1, 2, 2, 4, 6, 9}, 7, 1.5, 2, 5, 1}, /* the usual example */
        {{7, 7, 7, 7, 7, 7, 100}, 7, 7, 7, 7, 0},
        {{-4, -4, 0, 10, 20, 30}, 6, -3, 5, 17.5, 9},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lab_times t = times_of(cases[i].v, cases[i].n);
        assert_int_equal(t.total, cases[i].n);
        assert_near(lab_times_quantile(&t, 0.25), cases[i].quarter, 0);
        assert_near(lab_times_quantile(&t, 0.5), cases[i].median, 0);
        assert_near(lab_times_quantile(&t, 0.75), cases[i].three, 0);
        if (isnan(cases[i].mad))
            assert_true(isnan(lab_times_mad(&t)));
        else
            assert_near(lab_times_mad(&t), cases[i].mad, 0);
        lab_times_release(&t);
    }
    struct lab_times none = times_of(NULL, 0);
    assert_true(isnan(lab_times_quantile(&none, 0.5)));
    assert_true(isnan(lab_times_mad(&none)));
    lab_times_release(&none);
}

static double slow_median(double *v, size_t n)
{
    lab_sort_reals(v, n);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

TEST_CASE(mad_is_that_of_a_sorted_list)
{
    uint64_t seed = 7;
    for (int round = 0; round < 300; round++) {
        int64_t v[41];
        double d[41];
        size_t n = 2 + (size_t)round % 39;
        for (size_t i = 0; i < n; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            v[i] = (int64_t)(seed >> 33) % (round % 3 ? 50 : 1000000);
            d[i] = (double)v[i];
        }
        struct lab_times t = times_of(v, n);
        double median = slow_median(d, n);
        for (size_t i = 0; i < n; i++)
            d[i] = fabs(d[i] - median);
        assert_near(lab_times_quantile(&t, 0.5), median, 0);
        assert_near(lab_times_mad(&t), slow_median(d, n), 0);
        lab_times_release(&t);
    }
}

static struct lab_rank_result test_of(const int64_t *a, size_t na,
                                      const int64_t *b, size_t nb)
{
    struct lab_rank_result r;
    struct lab_times x = times_of(a, na);
    struct lab_times y = times_of(b, nb);
    assert_ok(lab_rank_test(&r, &x, &y));
    lab_times_release(&x);
    lab_times_release(&y);
    return r;
}

TEST_CASE(rank_test_of_known_lists)
{
    /* the example of SciPy's manual for mannwhitneyu: U of the males 17; p of
     * the normal approximation with the continuity correction 0.1113... */
    static const int64_t males[] = {19, 22, 16, 29, 24};
    static const int64_t females[] = {20, 11, 17, 12};
    /* the example of R's manual for wilcox.test (Hollander and Wolfe, p. 69):
     * W 35; z = (35 - 25 - 0.5) / sqrt(10 * 5 * 16 / 12) = 1.1635 */
    static const int64_t at_term[] = {80,  83,  189, 104, 145,
                                      138, 191, 164, 73,  146};
    static const int64_t early[] = {115, 88, 90, 74, 121};
    struct lab_rank_result r = test_of(females, 4, males, 5);
    assert_near(r.u, 17, 0);
    assert_near(r.p, 0.11134688653314041, 1e-12);
    r = test_of(males, 5, females, 4);
    assert_near(r.u, 3, 0);
    assert_near(r.p, 0.11134688653314041, 1e-12);
    r = test_of(early, 5, at_term, 10);
    assert_near(r.u, 35, 0);
    assert_near(r.p, erfc(9.5 / sqrt(10 * 5 * 16 / 12.0) / sqrt(2)), 1e-12);
    assert_near(r.p, 0.2446, 5e-5);
}

/* Counts pairs and ties the long way. */
static struct lab_rank_result slow_test(const int64_t *a, size_t na,
                                        const int64_t *b, size_t nb)
{
    double u = 0;
    double ties = 0;
    double n = (double)(na + nb);
    double m = (double)na * (double)nb;
    for (size_t j = 0; j < nb; j++)
        for (size_t i = 0; i < na; i++)
            u += a[i] < b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
    /* each of t equal values adds t*t - 1: together t^3 - t */
    for (size_t i = 0; i < na + nb; i++) {
        double t = 0;
        int64_t v = i < na ? a[i] : b[i - na];
        for (size_t k = 0; k < na + nb; k++)
            t += v == (k < na ? a[k] : b[k - na]);
        ties += t * t - 1;
    }
    double sd = sqrt(m / 12 * (n + 1 - ties / (n * (n - 1))));
    double z = (fabs(u - m / 2) - 0.5) / sd;
    return (struct lab_rank_result){u, sd > 0 && z > 0 ? erfc(z / sqrt(2)) : 1};
}

TEST_CASE(ties_count_half)
{
    uint64_t seed = 3;
    for (int round = 0; round < 200; round++) {
        int64_t v[60];
        size_t na = 1 + (size_t)round % 29;
        size_t nb = 1 + (size_t)round / 7 % 30;
        for (size_t i = 0; i < na + nb; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            v[i] = (int64_t)(seed >> 33) % 12 + (i < na ? 0 : round % 3);
        }
        struct lab_rank_result got = test_of(v, na, v + na, nb);
        struct lab_rank_result wanted = slow_test(v, na, v + na, nb);
        assert_near(got.u, wanted.u, 1e-9);
        assert_near(got.p, wanted.p, 1e-12);
    }
}

TEST_CASE(nothing_and_the_same_are_no_difference)
{
    static const int64_t five[] = {5, 5, 5, 5, 5, 5};
    assert_true(isnan(test_of(NULL, 0, five, 6).p));
    assert_near(test_of(five, 6, five, 6).p, 1, 0);
    assert_near(test_of(five, 1, five + 1, 1).p, 1, 0);
}

/* Of 2000 pairs of lists of the same kind about one in twenty is called
 * different. */
TEST_CASE(false_alarms_are_as_rare_as_stated)
{
    uint64_t seed = 11;
    int alarms = 0;
    for (int round = 0; round < 2000; round++) {
        int64_t v[40];
        for (size_t i = 0; i < 40; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            v[i] = (int64_t)(seed >> 33) % 1000000;
        }
        alarms += test_of(v, 20, v + 20, 20).p < 0.05;
    }
    assert_in_range(alarms, 70, 130);
}

TEST_CASE(least_count_that_can_say_anything)
{
    static const int64_t low[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const int64_t high[] = {11, 12, 13, 14, 15, 16, 17, 18, 19};
    assert_int_equal(lab_rank_least(0.05), 4);
    for (int m = 1; m < 100; m *= 3) {
        size_t n = (size_t)lab_rank_least(0.05 / m);
        if (n > 9)
            break;
        assert_true(test_of(low, n, high, n).p <= 0.05 / m);
        assert_true(test_of(low, n - 1, high, n - 1).p > 0.05 / m);
    }
    assert_true(lab_rank_least(1e-9) > lab_rank_least(1e-3));
}

TEST_CASE(holm_is_step_down)
{
    /* R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") */
    double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
    assert_ok(lab_rank_holm(p, 5));
    assert_near(p[0], 0.03, 1e-15);
    assert_true(isnan(p[1]));
    assert_near(p[2], 0.06, 1e-15);
    assert_near(p[3], 0.06, 1e-15);
    assert_near(p[4], 0.02, 1e-15);
    double large[] = {0.7, 0.6};
    assert_ok(lab_rank_holm(large, 2));
    assert_near(large[0], 1, 0);
    assert_near(large[1], 1, 0);
    assert_ok(lab_rank_holm(NULL, 0));
}

TEST_CASE(many_values_are_rounded_a_little)
{
    enum { N = 200000 };
    int64_t *v = lab_alloc_array(N, sizeof(*v));
    struct lab_times t;
    for (int i = 0; i < N; i++)
        v[i] = 1000 + (int64_t)i * i;
    assert_ok(lab_times_from(&t, v, N));
    double median = lab_times_quantile(&t, 0.5);
    lab_times_coarsen(&t, 1024);
    assert_true(t.n <= 1024 && t.n > 100);
    assert_true(t.bits > 0);
    assert_int_equal(t.total, N);
    for (size_t i = 1; i < t.n; i++)
        assert_true(t.value[i] > t.value[i - 1]);
    assert_near(lab_times_quantile(&t, 0.5) / median, 1, 0.02);
    lab_times_release(&t);
}

/* A list and its rounded self are the same list. */
TEST_CASE(rounded_is_compared_as_rounded)
{
    enum { N = 5000 };
    int64_t *v = lab_alloc_array(N, sizeof(*v));
    int64_t *w = lab_alloc_array(N, sizeof(*w));
    struct lab_times a;
    struct lab_times b;
    struct lab_rank_result r;
    for (int i = 0; i < N; i++)
        v[i] = w[i] = 100000 + 37 * i;
    assert_ok(lab_times_from(&a, v, N));
    assert_ok(lab_times_from(&b, w, N));
    lab_times_coarsen(&b, 1024);
    assert_ok(lab_rank_test(&r, &a, &b));
    assert_near(r.u, (double)N * N / 2, 1e-3);
    assert_near(r.p, 1, 0);
    assert_ok(lab_rank_test(&r, &b, &a));
    assert_near(r.p, 1, 0);
    lab_times_release(&a);
    lab_times_release(&b);
}

TEST_CASE(packed_and_back)
{
    static const int64_t v[] = {-7, 0, 1, 1, 1, 130, 1LL << 40, INT64_MAX / 8};
    void *bytes;
    size_t size;
    struct lab_times back;
    for (size_t n = 0; n <= 8; n++) {
        struct lab_times t = times_of(v, n);
        assert_ok(lab_times_pack(&t, &bytes, &size));
        assert_ok(lab_times_unpack(&back, bytes, size));
        assert_int_equal(back.n, t.n);
        assert_int_equal(back.total, t.total);
        for (size_t i = 0; i < t.n; i++) {
            assert_int_equal(back.value[i], t.value[i]);
            assert_int_equal(back.count[i], t.count[i]);
        }
        lab_times_release(&back);
        if (n > 0) /* cut short: an error or a shorter list, never a crash */
            for (size_t cut = 0; cut < size; cut++)
                if (lab_times_unpack(&back, bytes, cut) == LAB_OK)
                    lab_times_release(&back);
        lab_free(bytes);
        lab_times_release(&t);
    }
}

TEST_CASE(damaged_bytes_are_refused)
{
    static const struct {
        unsigned char bytes[24];
        size_t size;
    } bad[] = {
        {{0}, 0},
        {{1}, 1},
        {{2, 0, 1, 1}, 4},       /* another version */
        {{1, 64, 1, 1}, 4},      /* more bits than there are */
        {{1, 0, 1}, 3},          /* a value without a count */
        {{1, 0, 1, 0}, 4},       /* never seen */
        {{1, 0, 5, 1, 0, 1}, 6}, /* the same value twice */
        {{1, 0, 0x80}, 3},       /* an open number */
        {{1, 0, 5, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1,
          1},
         15}, /* downwards */
        {{1, 0, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1},
         13}, /* more often than can be */
        {{1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1,
          1},
         14}, /* too long a number */
    };
    struct lab_times t;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (lab_times_unpack(&t, bad[i].bytes, bad[i].size) != LAB_E_PARSE)
            fail_msg("case %zu", i);
}

TEST_CASE(memory_may_fail)
{
    static const int64_t v[] = {1, 2, 3};
    struct lab_times a = times_of(v, 3);
    struct lab_times b = times_of(v, 3);
    struct lab_rank_result r;
    double p[] = {0.1};
    void *bytes;
    size_t size;
    b.bits = 4;
    lab_mem_fail_from(1);
    assert_int_equal(lab_rank_test(&r, &a, &b), LAB_E_NOMEM);
    assert_int_equal(lab_rank_holm(p, 1), LAB_E_NOMEM);
    assert_int_equal(lab_times_pack(&a, &bytes, &size), LAB_E_NOMEM);
    lab_mem_fail_from(0);
    lab_times_release(&a);
    lab_times_release(&b);
}

RUN_TESTS()
