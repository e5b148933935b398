/* y (n) = 2 x (n) + y: 12 bytes for two operations. y is read and written. */
#include "saxpy/saxpy.h"
#include "labs/shapes.h"

#include "common/kernel.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype dtype = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, dtype, 1, {dim[0]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_INOUT, dtype, 1, {dim[0]}};
    return 2;
}

static double flop(const int64_t *dim)
{
    return 2 * (double)dim[0];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 3 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    (void)dim;
    lab_bench_add(&sum, (double)LAB_SAXPY_A * lab_bench_number(n, 0, i));
    lab_bench_add(&sum, lab_bench_number(n, 1, i));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[1 + out].dtype);
}

const struct lab_operation lab_operation_saxpy = {
    .name = "saxpy",
    .title = "y = 2 x + y",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "100000,4000000",
    .sizes_gpu = "1000000,20971520,134217728",
    .checks = lab_bench_vector_checks,
    .tensors = tensors,
    .names = "x y",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
