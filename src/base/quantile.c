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
    double a = sorted[below];
    double b = sorted[below + 1 < n ? below + 1 : below];
    return a == b ? a : a + (place - (double)below) * (b - a); /* infinities */
}
