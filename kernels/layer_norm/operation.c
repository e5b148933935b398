/* y[r,c] = (x[r,c] - mean_r) / sqrt(variance_r + eps) gamma[c] + beta[c], mean
 * and variance those of row r: every number read once and written once, 8
 * bytes; gamma and beta are two rows for all. */
#include "labs/shapes.h"

#include <math.h>

#include "layer_norm/layer_norm.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype dtype = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 2, {dim[0], dim[1]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 1, {dim[1]}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 1, {dim[1]}};
    out[3] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, dtype, 2, {dim[0], dim[1]}};
    return 4;
}

/* Added; taken off, squared, added; taken off, and three for the result. */
static double flop(const int64_t *dim)
{
    return 8 * (double)dim[0] * (double)dim[1];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           ((double)dim[0] * (double)dim[1] + (double)dim[1]);
}

/* The mean of n numbers near 0 has an error of sqrt(n) units of their size,
 * and so has the variance; both scale with 1 / deviation. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    const double u = ldexp(1, -24);
    const int64_t C = dim[1];
    const int64_t first = i / C * C;
    double sum = 0;
    double squares = 0;
    (void)out;
    for (int64_t c = 0; c < C; c++)
        sum += lab_bench_number(n, 0, first + c);
    double mean = sum / (double)C;
    for (int64_t c = 0; c < C; c++) {
        double apart = lab_bench_number(n, 0, first + c) - mean;
        squares += apart * apart;
    }
    double scale = 1 / sqrt(squares / (double)C + (double)LAB_LAYER_NORM_EPS);
    double z = (lab_bench_number(n, 0, i) - mean) * scale;
    double gamma = lab_bench_number(n, 1, i - first);
    double units = 16 + 4 * sqrt((double)C);
    return (struct lab_ladder_element){
        z * gamma + lab_bench_number(n, 2, i - first),
        units * u * (fabs(gamma) * (fabs(z) + 0.5 * scale) + 1)};
}

const struct lab_operation lab_operation_layer_norm = {
    .name = "layer_norm",
    .title = "layer norm of the rows of a matrix",
    .shape = "RxC",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = LAB_BENCH_ROW_SIZES_CPU,
    .sizes_gpu = LAB_BENCH_ROW_SIZES_GPU,
    .checks = lab_bench_row_checks,
    .tensors = tensors,
    .names = "x gamma beta y",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
