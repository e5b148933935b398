/* C (M, N) = A (M, K) B (K, N); a size is M, N, K. In 16 bits A, B and C are of
 * that type and sums are fp32; TF32 has fp32 tensors. */
#include "labs/shapes.h"

#include <math.h>
#include <stddef.h>

#include "common/kernel.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    return lab_bench_product_tensors(dim, lab_bench_dtype(p), out);
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           lab_bench_product_numbers(dim);
}

/* The blocked-access model: each tensor is read again for each tile. */
static double traffic(const int64_t *dim, enum lab_precision p,
                      const struct lab_kernel_model *model)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    double K = (double)dim[2];
    if (model->tile_m == 0)
        return model->traffic > 0 ? model->traffic * bytes(dim, p) : NAN;
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           (M * K * ceil(N / model->tile_n) + K * N * ceil(M / model->tile_m) +
            M * N);
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = lab_bench_product_sum(n, dim, i);
    return lab_bench_sum_element(&sum, n->precision, n->tensor[2 + out].dtype);
}

/* Smaller and larger than a tile, with and without four to a load; the last
 * with rows that start on 16 bytes in 16 bits too, and tiles that hang over. */
static const char *const checks[] = {"1",           "3x5x7",       "33x65x17",
                                     "129x127x131", "132x260x36",  "256x256x64",
                                     "260x33x516",  "136x264x200", NULL};

/* x of any rank is a matrix: its last dimension is K. */
static bool size_of_dense(const struct lab_call *call, int64_t *dim)
{
    dim[0] = lab_view_rows(&call->out[0]);
    dim[1] = lab_view_cols(&call->out[0]);
    dim[2] = lab_view_cols(&call->in[0]);
    return true;
}

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
    .names = "A B C",
    .flop = lab_bench_product_flop,
    .bytes = bytes,
    .traffic = traffic,
    .element = element,
    .as_step = {"dense", "matmul", LAB_FORWARD, size_of_dense},
};
