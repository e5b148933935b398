/* stats.c -- statistics and a histogram of a tensor. */
#include "engine/stats.h"

#include <math.h>

#include "base/quantile.h"

static void fill_bins(struct lab_stats *s, const void *data,
                      enum lab_dtype dtype)
{
    double width = s->max - s->min;
    for (int64_t i = 0; i < s->count; i++) {
        double v = lab_number_at(data, dtype, i);
        if (!isfinite(v))
            continue;
        int bin = 0;
        if (width > 0)
            bin = (int)((v - s->min) / width * LAB_HISTOGRAM_BINS);
        if (bin >= LAB_HISTOGRAM_BINS)
            bin = LAB_HISTOGRAM_BINS - 1;
        s->bin[bin]++;
    }
}

void lab_stats_compute(struct lab_stats *out, const void *data,
                       enum lab_dtype dtype, int64_t count)
{
    struct lab_stats s = {.count = count, .min = NAN, .max = NAN};
    double mean = 0; /* Welford: one pass, no cancellation */
    double square = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        double v = lab_number_at(data, dtype, i);
        s.nan_count += isnan(v) != 0;
        s.inf_count += isinf(v) != 0;
        s.zero_count += v == 0;
        if (!isfinite(v))
            continue;
        n++;
        double delta = v - mean;
        mean += delta / (double)n;
        square += delta * (v - mean);
        if (n == 1 || v < s.min)
            s.min = v;
        if (n == 1 || v > s.max)
            s.max = v;
    }
    s.mean = n > 0 ? mean : NAN;
    s.std = n > 0 ? sqrt(square / (double)n) : NAN;
    if (n > 0)
        fill_bins(&s, data, dtype);
    *out = s;
}

double lab_median(double *values, size_t n)
{
    lab_sort_reals(values, n);
    return lab_quantile(values, n, 0.5);
}
