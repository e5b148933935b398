/* kernels/dgemm/operation.c -- C (M, N) = A (M, K) B (K, N) in fp64; a size
 * is M, N, K. */
#include "labs/shapes.h"

static const char *const checks[] = {
    "1", "3x5x7", "33x65x17", "129x127x131", "132x260x36", "260x33x516", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    (void)p;
    return lab_bench_product_tensors(dim, LAB_F64, out);
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    (void)p;
    return 8 * lab_bench_product_numbers(dim);
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = lab_bench_product_sum(n, dim, i);
    (void)out;
    return lab_bench_sum_element(&sum, LAB_FP64, LAB_F64);
}

const struct lab_operation lab_operation_dgemm = {
    .name = "dgemm",
    .title = "C = A B in double precision",
    .shape = "MxNxK",
    .dims = 3,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "128,256,500",
    .sizes_gpu = "1024,5000,6000,8000,10000",
    .checks = checks,
    .tensors = tensors,
    .names = "A B C",
    .flop = lab_bench_product_flop,
    .bytes = bytes,
    .element = element,
};
