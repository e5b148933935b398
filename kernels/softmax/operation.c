/* y[r,c] = exp(x[r,c] - m_r) / sum_c exp(x[r,c] - m_r), m_r the largest number
 * of row r: every number read once and written once, 8 bytes. The numbers lie
 * between -100 and 100: exp(100) is no fp32, and a kernel that does not take
 * the largest off first fails its check. */
#include "labs/shapes.h"

#include <math.h>

enum { PERIOD = 65537 };

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype dtype = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 2, {dim[0], dim[1]}};
    out[1] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, dtype, 2, {dim[0], dim[1]}};
    return 2;
}

/* Compared, taken off, exp, added, divided: an exp counted as one. */
static double flop(const int64_t *dim)
{
    return 5 * (double)dim[0] * (double)dim[1];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0] *
           (double)dim[1];
}

/* exp(x - m) has an error of some units in its last place, and of x - m units
 * more, as the difference is rounded; a sum of n numbers, all positive, one of
 * sqrt(n). What is smaller than the smallest fp32 may be 0. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    const double u = ldexp(1, -24);
    const int64_t C = dim[1];
    const int64_t first = i / C * C;
    double largest = -HUGE_VAL;
    double sum = 0;
    (void)out;
    for (int64_t c = 0; c < C; c++)
        largest = fmax(largest, lab_bench_number(n, 0, first + c));
    for (int64_t c = 0; c < C; c++)
        sum += exp(lab_bench_number(n, 0, first + c) - largest);
    double below = largest - lab_bench_number(n, 0, i);
    double value = exp(-below) / sum;
    double units = 32 + 4 * sqrt((double)C) + 4 * below;
    return (struct lab_ladder_element){value, value * units * u + 0x1p-120};
}

static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    float *x = host;
    int64_t count = dim[0] * dim[1];
    if (tensor->dtype != LAB_F32)
        return false;
    int64_t own = count < PERIOD ? count : PERIOD;
    for (int64_t i = 0; i < own; i++)
        x[i] = (float)(200 * lab_bench_random(seed, (uint32_t)k, 0, i));
    lab_bench_repeat(x, own, count, sizeof(*x));
    return true;
}

static bool size_of_softmax(const struct lab_call *call, int64_t *dim)
{
    dim[0] = lab_view_rows(&call->out[0]);
    dim[1] = lab_view_cols(&call->out[0]);
    return true;
}

const struct lab_operation lab_operation_softmax = {
    .name = "softmax",
    .title = "softmax of the rows of a matrix",
    .shape = "RxC",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = LAB_BENCH_ROW_SIZES_CPU,
    .sizes_gpu = LAB_BENCH_ROW_SIZES_GPU,
    .checks = lab_bench_row_checks,
    .tensors = tensors,
    .names = "x y",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .fill = fill,
    .as_step = {"softmax", "softmax", LAB_FORWARD, size_of_softmax},
};
