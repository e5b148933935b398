/* s (1) = the sum of x (n): 4 bytes an addition; the blocks' sums go through a
 * scratch vector. The sum is an fp32 whatever x is. */
#include "labs/shapes.h"

#include "reduction/reduction.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype sum = p == LAB_FP64 ? LAB_F64 : LAB_F32;
    out[0] =
        (struct lab_bench_tensor){LAB_ROLE_IN, lab_bench_dtype(p), 1, {dim[0]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, sum, 1, {1}};
    out[2] =
        (struct lab_bench_tensor){LAB_ROLE_SCRATCH, sum, 1, {LAB_SUM_SCRATCH}};
    return 3;
}

static double flop(const int64_t *dim)
{
    return (double)dim[0] - 1;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    (void)i;
    for (int64_t k = 0; k < dim[0]; k++)
        lab_bench_add(&sum, lab_bench_number(n, 0, k));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[1 + out].dtype);
}

const struct lab_operation lab_operation_reduction = {
    .name = "reduction",
    .title = "the sum of a vector",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "100000,4000000",
    .sizes_gpu = "1000000,67108864",
    .checks = lab_bench_vector_checks,
    .tensors = tensors,
    .names = "x s part",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
