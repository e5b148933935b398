/* kernels/batched_gemm/operation.c -- C[b] = A[b] B[b], n x n each; a size
 * is the batch and n. */
#include "labs/operation.h"

static const char *const checks[] = {"1",    "3x1",  "5x7",    "2x32",
                                     "7x33", "9x17", "33x130", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    struct lab_bench_tensor matrices = {
        LAB_ROLE_IN, t, 3, {dim[0], dim[1], dim[1]}};
    out[0] = matrices;
    out[1] = matrices;
    out[2] = matrices;
    out[2].role = LAB_ROLE_OUT;
    out[3] =
        (struct lab_bench_tensor){LAB_ROLE_SCRATCH, LAB_F64, 2, {3, dim[0]}};
    return 4;
}

static double flop(const int64_t *dim)
{
    double n = (double)dim[1];
    return 2 * (double)dim[0] * n * n * n;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double n = (double)dim[1];
    return 3 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0] *
           n * n;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    int64_t side = dim[1];
    int64_t first = i / (side * side) * side * side;
    int64_t row = first + i / side % side * side;
    for (int64_t k = 0; k < side; k++)
        lab_bench_add(&sum,
                      lab_bench_number(n, 0, row + k) *
                          lab_bench_number(n, 1, first + k * side + i % side));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[2 + out].dtype);
}

const struct lab_operation lab_operation_batched_gemm = {
    .name = "batched_gemm",
    .title = "many small products: C[b] = A[b] B[b]",
    .shape = "BATCHxN",
    .dims = 2,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1000x16,300x32,50x64",
    .sizes_gpu = "1000x16,1000x32,1000x64,1000x128,300x32,300x128,300x256,"
                 "50x128,50x512",
    .checks = checks,
    .tensors = tensors,
    .names = "A B C pointers",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
