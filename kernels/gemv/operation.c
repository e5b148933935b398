/* kernels/gemv/operation.c -- y (M) = A (M, N) x (N): BLAS level 2. */
#include "labs/operation.h"

static const char *const checks[] = {"1",      "1x7",     "33x65",  "257x129",
                                     "100x64", "129x516", "3x4099", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 2, {dim[0], dim[1]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 1, {dim[1]}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 3;
}

static double flop(const int64_t *dim)
{
    return 2 * (double)dim[0] * (double)dim[1];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) * (M * N + M + N);
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    for (int64_t j = 0; j < dim[1]; j++)
        lab_bench_add(&sum, lab_bench_number(n, 0, i * dim[1] + j) *
                                lab_bench_number(n, 1, j));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[2 + out].dtype);
}

const struct lab_operation lab_operation_gemv = {
    .name = "gemv",
    .title = "y = A x",
    .shape = "MxN",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "500,2000",
    .sizes_gpu = "1024,8192,64x262144,262144x64",
    .checks = checks,
    .tensors = tensors,
    .names = "A x y",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
