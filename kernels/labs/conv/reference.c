/* What convolutions with channels first and last share: sizes, costs, and what
 * an element may be off. */
#include "labs/conv/reference.h"

#include <stddef.h>

bool lab_conv_shape_check(const int64_t *dim, struct conv_shape *out)
{
    if (!conv_counts(dim)) {
        lab_fail(LAB_E_USAGE, "more numbers than can be counted: a size is "
                              "NxCxHxWxKxR, 1x16x32x32x16x3");
        return false;
    }
    struct conv_shape s = conv_shape_of_dims(dim);
    if (s.P < 1 || s.Q < 1) {
        lab_fail(LAB_E_USAGE,
                 "a window of %lld x %lld does not fit into %lld x %lld with "
                 "%lld zeros around",
                 (long long)s.R, (long long)s.R, (long long)s.H, (long long)s.W,
                 (long long)s.pad);
        return false;
    }
    *out = s;
    return true;
}

double lab_conv_flop(const int64_t *dim)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    return 2.0 * (double)s.N * (double)s.K * (double)s.P * (double)s.Q *
           (double)s.C * (double)s.R * (double)s.R;
}

double lab_conv_bytes(const int64_t *dim, enum lab_precision p)
{
    struct conv_shape s = conv_shape_of_dims(dim);
    double x = (double)s.C * (double)s.H * (double)s.W;
    double y = (double)s.K * (double)s.P * (double)s.Q;
    double w = (double)s.K * (double)s.C * (double)s.R * (double)s.R;
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           ((double)s.N * (x + y) + w);
}

struct lab_ladder_element lab_conv_element(const struct conv_shape *s,
                                           double value, enum lab_precision p,
                                           enum lab_dtype dtype)
{
    double terms = (double)conv_depth(s);
    const struct lab_bench_sum window = {
        .value = value, .squares = terms / 144, .terms = terms};
    struct lab_ladder_element e = lab_bench_sum_element(&window, p, dtype);
    e.allowed *= 4;
    return e;
}

/* No padding at all, an even window, windows larger than the image, sizes that
 * are no multiple of anything, more kernels than a tile has; at the end a size
 * that everybody serves, whose refusal says most. */
const char *const lab_conv_checks[] = {"1x1x1x1x1x1",
                                       "1x3x5x7x2x3",
                                       "2x5x9x11x7x3",
                                       "3x4x13x12x130x3",
                                       "2x3x17x19x5x5",
                                       "1x2x23x29x3x11",
                                       "2x7x6x5x9x2",
                                       "1x16x12x12x140x1",
                                       "2x4x3x2x5x7",
                                       "1x8x16x16x16x3",
                                       NULL};
