/* C (M, N) = A (M, K) B (K, N); a size is M, N, K. In 16 bits A, B and C are of
 * that type and sums are fp32; TF32 has fp32 tensors. */
#include "labs/operation.h"

#include <math.h>
#include <stddef.h>

#include "labs/rung.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_lab_tensor *out)
{
    enum lab_dtype t = lab_lab_dtype(p);
    out[0] = (struct lab_lab_tensor){LAB_ROLE_IN, t, 2, {dim[0], dim[2]}};
    out[1] = (struct lab_lab_tensor){LAB_ROLE_IN, t, 2, {dim[2], dim[1]}};
    out[2] = (struct lab_lab_tensor){LAB_ROLE_OUT, t, 2, {dim[0], dim[1]}};
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
    return (double)lab_dtype_bytes(lab_lab_dtype(p)) * (M * K + K * N + M * N);
}

/* The blocked-access model: each tensor is read again for each tile. */
static double traffic(const int64_t *dim, enum lab_precision p,
                      const struct lab_rung_model *model)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    double K = (double)dim[2];
    if (model->tile_m == 0)
        return model->traffic > 0 ? model->traffic * bytes(dim, p) : NAN;
    return (double)lab_dtype_bytes(lab_lab_dtype(p)) *
           (M * K * ceil(N / model->tile_n) + K * N * ceil(M / model->tile_m) +
            M * N);
}

static struct lab_ladder_element element(const struct lab_lab_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_lab_sum sum = {0};
    int64_t N = dim[1];
    int64_t K = dim[2];
    for (int64_t k = 0; k < K; k++)
        lab_lab_add(&sum, lab_lab_number(n, 0, i / N * K + k) *
                              lab_lab_number(n, 1, k * N + i % N));
    return lab_lab_sum_element(&sum, n->precision, n->tensor[2 + out].dtype);
}

/* Smaller and larger than a tile, with and without four to a load. */
static const char *const checks[] = {"1",           "3x5x7",      "33x65x17",
                                     "129x127x131", "132x260x36", "256x256x64",
                                     "260x33x516",  NULL};

const struct lab_operation lab_operation_gemm = {
    .name = "gemm",
    .title = "C = A B",
    .shape = "MxNxK",
    .dims = 3,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "128,256,500",
    .sizes_gpu = "1024,2048,4096,6000",
    .checks = checks,
    .tensors = tensors,
    .flop = flop,
    .bytes = bytes,
    .traffic = traffic,
    .element = element,
};
