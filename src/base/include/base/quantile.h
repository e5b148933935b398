/* base/quantile.h -- sorting and quantiles of a few numbers.
 *
 * Pure functions; the numbers are no NaN. Threads: any. */
#pragma once
#include <stddef.h>
#include "base/status.h"

LAB_C_BEGIN
/* The least first. */
void lab_sort_reals(double *values, size_t n);
/* The q-quantile, 0..1, of sorted values, between the two nearest (type 7 of
 * Hyndman and Fan); NaN for none. */
double lab_quantile(const double *sorted, size_t n, double q);
LAB_C_END
