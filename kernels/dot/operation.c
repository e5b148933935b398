/* kernels/dot/operation.c -- s (1) = x . y in double precision, BLAS's ddot: 16 bytes
 * for two operations. The blocks' sums go through a scratch vector. */
#include "dot/dot.h"
#include "labs/shapes.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    (void)p;
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 1, {dim[0]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 1, {dim[0]}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F64, 1, {1}};
    out[3] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, LAB_F64, 1, {LAB_DOT_BLOCKS}};
    return 4;
}

static double flop(const int64_t *dim)
{
    return 2 * (double)dim[0] - 1;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    (void)p;
    return 16 * (double)dim[0];
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    (void)out;
    (void)i;
    for (int64_t k = 0; k < dim[0]; k++)
        lab_bench_add(&sum,
                      lab_bench_number(n, 0, k) * lab_bench_number(n, 1, k));
    return lab_bench_sum_element(&sum, LAB_FP64, LAB_F64);
}

const struct lab_operation lab_operation_dot = {
    .name = "dot",
    .title = "s = x . y in double precision",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "100000,2000000",
    .sizes_gpu = "1000000,67108864",
    .checks = lab_bench_vector_checks,
    .tensors = tensors,
    .names = "x y s part",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
