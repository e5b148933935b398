/* tensor.c -- shapes: sizes, text, and the index of an element; statistics and a
 * histogram of a tensor. */
#include "engine/tensor.h"

#include <math.h>
#include <stdio.h>

#include "base/quantile.h"

struct lab_shape lab_shape_make(int rank, const int64_t *dim)
{
    struct lab_shape s = {.rank = rank};
    for (int i = 0; i < rank; i++)
        s.dim[i] = dim[i];
    return s;
}

enum lab_status lab_shape_count(const struct lab_shape *s, int64_t *out)
{
    /* Room for 8-byte elements and for padding of the arena. */
    const int64_t most = INT64_MAX / 16;
    int64_t count = 1;
    char text[LAB_SHAPE_TEXT];
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 1)
            return lab_fail(
                LAB_E_SHAPE,
                "[network.shape-dimension] shape %s has a dimension below 1",
                lab_shape_text(s, text));
        if (count > most / s->dim[i])
            return lab_fail(
                LAB_E_SHAPE,
                "[network.shape-large] shape %s has too many elements",
                lab_shape_text(s, text));
        count *= s->dim[i];
    }
    *out = count;
    return LAB_OK;
}

size_t lab_tensor_bytes(const struct lab_tensor *t)
{
    return (size_t)t->count * lab_dtype_bytes(t->dtype);
}

bool lab_shape_equal(const struct lab_shape *a, const struct lab_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] != b->dim[i])
            return false;
    }
    return true;
}

const char *lab_shape_text(const struct lab_shape *s, char buf[LAB_SHAPE_TEXT])
{
    size_t at = 0;
    buf[at++] = '[';
    for (int i = 0; i < s->rank; i++)
        at += (size_t)snprintf(buf + at, LAB_SHAPE_TEXT - at - 1, "%s%lld",
                               i ? "," : "", (long long)s->dim[i]);
    buf[at++] = ']';
    buf[at] = '\0';
    return buf;
}

void lab_shape_unravel(const struct lab_shape *s, int64_t flat,
                       int64_t at[LAB_MAX_RANK])
{
    for (int i = s->rank - 1; i >= 0; i--) {
        at[i] = flat % s->dim[i];
        flat /= s->dim[i];
    }
}

int64_t lab_shape_ravel(const struct lab_shape *s, const int64_t *at, int n)
{
    int64_t flat = 0;
    if (n != s->rank)
        return -1;
    for (int i = 0; i < n; i++) {
        if (at[i] < 0 || at[i] >= s->dim[i])
            return -1;
        flat = flat * s->dim[i] + at[i];
    }
    return flat;
}

/* ---- a tensor at a glance ---- */

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
