/* kernels/labs/dgemm/operation.c -- C (M, N) = A (M, K) B (K, N) in fp64; a size
 * is M, N, K. */
#include "labs/operation.h"

static const char *const checks[] = {
    "1", "3x5x7", "33x65x17", "129x127x131", "132x260x36", "260x33x516", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_lab_tensor *out)
{
    (void)p;
    out[0] = (struct lab_lab_tensor){LAB_ROLE_IN, LAB_F64, 2, {dim[0], dim[2]}};
    out[1] = (struct lab_lab_tensor){LAB_ROLE_IN, LAB_F64, 2, {dim[2], dim[1]}};
    out[2] =
        (struct lab_lab_tensor){LAB_ROLE_OUT, LAB_F64, 2, {dim[0], dim[1]}};
    return 3;
}

static double flop(const int64_t *dim)
{
    return 2 * (double)dim[0] * (double)dim[1] * (double)dim[2];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    double K = (double)dim[2];
    (void)p;
    return 8 * (M * K + K * N + M * N);
}

static struct lab_ladder_element element(const struct lab_lab_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_lab_sum sum = {0};
    (void)out;
    for (int64_t k = 0; k < dim[2]; k++)
        lab_lab_add(&sum, lab_lab_number(n, 0, i / dim[1] * dim[2] + k) *
                              lab_lab_number(n, 1, k * dim[1] + i % dim[1]));
    return lab_lab_sum_element(&sum, LAB_FP64, LAB_F64);
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
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
