/* quantile.c -- sorting and quantiles of a few measured times. */
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

void lab_sort_reals(double *values, size_t n)
{
    if (n > 0)
        qsort(values, n, sizeof(*values), by_size);
}

double lab_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0)
        return NAN;
    double place = q * (double)(n - 1);
    size_t below = (size_t)place;
    double part = place - (double)below;
    double a = sorted[below];
    double b = sorted[below + 1 < n ? below + 1 : below];
    if (part == 0 || a == b) /* no infinity less an infinity, or times 0 */
        return a;
    double gap = b - a;
    return isinf(gap) ? (1 - part) * a + part * b : a + part * gap;
}
