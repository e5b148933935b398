/* base/quantile.h -- sorting and quantiles of a few numbers, and what measured times
 * differ by without a cause.
 *
 * Pure functions; the numbers are no NaN. Threads: any. */
#pragma once
#include <stddef.h>
#include "base/status.h"

/* Times of equal variants differ by this factor; and so does, on the host, the least of
 * a few times by what else the machine does meanwhile. */
#define LAB_EQUAL_TIMES 1.03
#define LAB_DISTURBED_TIMES 1.15

LAB_C_BEGIN
/* The least first. */
void lab_sort_reals(double *values, size_t n);
/* The q-quantile, 0..1, of sorted values, between the two nearest (type 7 of
 * Hyndman and Fan); NaN for none. */
double lab_quantile(const double *sorted, size_t n, double q);
LAB_C_END
