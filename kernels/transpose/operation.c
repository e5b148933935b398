/* y (C, R) = x (R, C) turned: no arithmetic, every number read and written. */
#include "labs/shapes.h"

#include <stddef.h>

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype dtype = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 2, {dim[0], dim[1]}};
    out[1] =
        (struct lab_bench_tensor){LAB_ROLE_OUT, dtype, 2, {dim[1], dim[0]}};
    return 2;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0] *
           (double)dim[1];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    int64_t R = dim[0];
    return lab_bench_exact(lab_bench_number(n, 0, i % R * dim[1] + i / R),
                           n->tensor[1 + out].dtype);
}

static const char *const checks[] = {"1",      "1x7",     "33x65",  "100x7",
                                     "31x129", "257x129", "129x64", NULL};

const struct lab_operation lab_operation_transpose = {
    .name = "transpose",
    .title = "the transpose of a matrix",
    .shape = "RxC",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "500,2000",
    .sizes_gpu = "1024,8192,8191x8193",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = lab_bench_no_flop,
    .bytes = bytes,
    .element = element,
};
