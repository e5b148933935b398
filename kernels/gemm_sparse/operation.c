/* kernels/gemm_sparse/operation.c -- a product with 2:4 sparsity; gemm_sparse.h has
 * the tensors. */
#include "gemm_sparse/gemm_sparse.h"

#include <stddef.h>

#include "common/random.h"
#include "labs/shapes.h"

static const char *const checks[] = {"1x1x32",    "3x5x64",   "17x33x32",
                                     "64x64x64",  "65x70x96", "130x129x160",
                                     "64x8x1024", "32x48x96", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    int64_t M = dim[0];
    int64_t N = dim[1];
    int64_t K = dim[2];
    if (K % LAB_SPARSE_WORD != 0) {
        lab_fail(LAB_E_USAGE,
                 "[lab.sparse-depth] K is %lld: a word of the metadata "
                 "describes 32 numbers, so K must be a multiple of 32",
                 (long long)K);
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 2, {M, K / 2}};
    out[1] = (struct lab_bench_tensor){
        LAB_ROLE_IN, LAB_I32, 2, {M, K / LAB_SPARSE_WORD}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 2, {K, N}};
    out[3] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 2, {M, N}};
    return 4;
}

/* Products with the zeros are not made. */
static double flop(const int64_t *dim)
{
    return lab_bench_product_flop(dim) / 2;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    double K = (double)dim[2];
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
               (M * K / 2 + K * N + M * N) +
           M * K / 8;
}

/* Of each four two, any two. */
static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    int32_t *to = host;
    (void)dim;
    if (k != 1)
        return false;
    for (int64_t i = 0; i < tensor->dim[0] * tensor->dim[1]; i++) {
        uint32_t word = lab_random_word(seed, 0, 0, (uint64_t)i);
        uint32_t meta = 0;
        for (int four = 0; four < 8; four++, word /= 6)
            meta |= pairs[word % 6] << 4 * four;
        to[i] = (int32_t)meta;
    }
    return true;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    int64_t N = dim[1];
    int64_t kept = dim[2] / 2;
    int64_t row = i / N;
    for (int64_t k = 0; k < kept; k++) {
        uint32_t meta =
            (uint32_t)(int32_t)lab_bench_number(n, 1, (row * kept + k) / 16);
        int64_t at = k / 16 * 32 + lab_sparse_place(meta, (int)(k % 16));
        lab_bench_add(&sum, lab_bench_number(n, 0, row * kept + k) *
                                lab_bench_number(n, 2, at * N + i % N));
    }
    return lab_bench_sum_element(&sum, n->precision, n->tensor[3 + out].dtype);
}

const struct lab_operation lab_operation_gemm_sparse = {
    .name = "gemm_sparse",
    .title = "C = A B, two of each four of A left out",
    .shape = "MxNxK",
    .dims = 3,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "64,256",
    .sizes_gpu = "1024,4096,8192",
    .checks = checks,
    .tensors = tensors,
    .names = "kept meta B C",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .fill = fill,
};
