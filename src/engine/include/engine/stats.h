/* engine/stats.h -- a tensor at a glance. Pure. */
#pragma once
#include "common/kernel.h"

enum { LAB_HISTOGRAM_BINS = 32 };

/* Of the finite elements; count - nan_count - inf_count of them. */
struct lab_stats {
    int64_t count;
    int64_t nan_count;
    int64_t inf_count;
    int64_t zero_count;
    double min; /* NaN when no element is finite */
    double max;
    double mean;
    double std;                      /* of the population: divided by n */
    int64_t bin[LAB_HISTOGRAM_BINS]; /* equal parts of min..max */
};

LAB_C_BEGIN
void lab_stats_compute(struct lab_stats *out, const void *data,
                       enum lab_dtype dtype, int64_t count);
/* Of n values, which it sorts; NaN for none. */
double lab_median(double *values, size_t n);
LAB_C_END
