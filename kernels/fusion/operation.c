/* y = residual + gelu(x + bias), x, residual and y of shape (R, C), the bias
 * one number for each column: 12 bytes an element. The scratch tensor is for
 * variants that put a step's result into memory. */
#include "labs/operation.h"

#include <math.h>
#include <stddef.h>

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype dtype = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 2, {dim[0], dim[1]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 1, {dim[1]}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 2, {dim[0], dim[1]}};
    out[3] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, dtype, 2, {dim[0], dim[1]}};
    out[4] =
        (struct lab_bench_tensor){LAB_ROLE_SCRATCH, dtype, 2, {dim[0], dim[1]}};
    return 5;
}

/* Two additions, and gelu's erf and three more, the erf counted as one. */
static double flop(const int64_t *dim)
{
    return 6 * (double)dim[0] * (double)dim[1];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           (3 * (double)dim[0] * (double)dim[1] + (double)dim[1]);
}

/* |x| and |bias| are below 1: each step has an error of some units in the last
 * place of a number below 2. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    double z = lab_bench_number(n, 0, i) + lab_bench_number(n, 1, i % dim[1]);
    (void)out;
    return (struct lab_ladder_element){lab_bench_number(n, 2, i) +
                                           z * 0.5 * erfc(-z / sqrt(2.0)),
                                       16 * ldexp(1, -24)};
}

static const char *const checks[] = {"1",      "1x7",     "33x65",  "100x7",
                                     "31x129", "257x128", "129x64", "3x4100",
                                     "1x4",    NULL};

const struct lab_operation lab_operation_fusion = {
    .name = "fusion",
    .title = "y = residual + gelu(x + bias)",
    .shape = "RxC",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "500,1000x768",
    .sizes_gpu = "128x768,16384x4096,8191x8193",
    .checks = checks,
    .tensors = tensors,
    .names = "x bias residual y scratch",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
