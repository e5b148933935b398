/* store/rank_test.h -- durations as a distribution, and whether two of them
 * differ by more than their noise. Pure functions.
 *
 * The test is that of Mann and Whitney (1947), two-sided, with mid-ranks for
 * ties, the variance corrected for ties (Siegel 1956, p. 124) and a continuity
 * correction of one half. It compares ranks, so that a few slow first
 * iterations do not decide; it takes the times of each run as independent.
 *
 * Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

/* Ascending values, and how often each was seen. */
struct lab_times {
    int64_t *value;
    int64_t *count;
    size_t n;      /* distinct values */
    int64_t total; /* the sum of counts */
    int bits;      /* values keep so many leading bits; 0: all of them */
};

/* A verdict's share of wrong alarms, over all rows of a table together. */
#define LAB_RANK_ALPHA 0.05

struct lab_rank_result {
    double u; /* of the second: how often it is the larger one of a pair */
    double p; /* NaN: one of them is empty */
};

LAB_C_BEGIN
/* Sorts `values` and takes them over, counted. Errors: LAB_E_NOMEM. */
enum lab_status lab_times_from(struct lab_times *out, int64_t *values,
                               size_t n);
void lab_times_release(struct lab_times *t);
/* Rounds values to fewer leading bits, until at most `most` (at least 128)
 * differ: 1024 values keep nine bits over a wide range, an error below 0.1 %.
 */
void lab_times_coarsen(struct lab_times *t, size_t most);
/* The q-quantile, 0..1, between neighbours (type 7 of Hyndman and Fan); NaN
 * for none. */
double lab_times_quantile(const struct lab_times *t, double q);
/* The median distance from the median; NaN for fewer than two. */
double lab_times_mad(const struct lab_times *t);

/* As bytes, for a database, and back. Errors: LAB_E_NOMEM; LAB_E_PARSE, the
 * bytes are not such a distribution. */
enum lab_status lab_times_pack(const struct lab_times *t, void **bytes,
                               size_t *size);
enum lab_status lab_times_unpack(struct lab_times *out, const void *bytes,
                                 size_t size);

/* Values that were rounded differently are compared as the coarser ones.
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_rank_test(struct lab_rank_result *out,
                              const struct lab_times *a,
                              const struct lab_times *b);
/* The least number of times that both must have, so that this test can give a
 * p of `alpha` or less at all: 4 for 0.05. */
int64_t lab_rank_least(double alpha);
/* The smallest p that lists of these lengths can give. */
double lab_rank_best(int64_t n1, int64_t n2);
/* Holm (1979): p values of `n` tests that are looked at together, in place;
 * unknown ones (NaN) are no test. */
enum lab_status lab_rank_holm(double *p, size_t n);
LAB_C_END
