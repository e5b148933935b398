/* kernels/gemm_int8/operation.c -- C = scale A W^T of numbers of 8 bits, as a layer
 * does in inference; gemm_int8.h has the tensors. */
#include "gemm_int8/gemm_int8.h"

#include <math.h>
#include <stddef.h>

#include "common/random.h"
#include "labs/shapes.h"

static const char *const checks[] = {"1x1x1",     "3x5x7",    "33x17x65",
                                     "65x70x130", "64x64x64", "130x129x96",
                                     "8x200x260", NULL};

static int64_t words(const int64_t *dim)
{
    return (dim[2] + 3) / 4;
}

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    int64_t M = dim[0];
    int64_t N = dim[1];
    (void)p;
    if (dim[2] > LAB_GEMM_INT8_DEPTH) {
        lab_fail(LAB_E_USAGE,
                 "[lab.int8-depth] a sum of %lld products may not fit into 32 "
                 "bits: a size is MxNxK, K at most %d",
                 (long long)dim[2], LAB_GEMM_INT8_DEPTH);
        return 0;
    }
    out[0] =
        (struct lab_bench_tensor){LAB_ROLE_IN, LAB_I32, 2, {M, words(dim)}};
    out[1] =
        (struct lab_bench_tensor){LAB_ROLE_IN, LAB_I32, 2, {N, words(dim)}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F32, 1, {N}};
    out[3] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F32, 2, {M, N}};
    out[4] = (struct lab_bench_tensor){LAB_ROLE_SCRATCH, LAB_I32, 2, {M, N}};
    return 5;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    (void)p;
    return (M + N) * (double)dim[2] + 4 * (M * N + N);
}

/* Bytes of -127..127; 0 behind K. */
static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    int32_t *to = host;
    int64_t W = words(dim);
    if (tensor->dtype != LAB_I32)
        return false;
    for (int64_t i = 0; i < tensor->dim[0] * W; i++) {
        uint32_t word = lab_random_word(seed, (uint32_t)k, 0, (uint64_t)i);
        for (int b = 0; b < 4; b++) {
            uint32_t byte = word >> 8 * b & 0xff;
            if (i % W * 4 + b >= dim[2] || byte == 0x80)
                word &= ~(0xffu << 8 * b);
        }
        to[i] = (int32_t)word;
    }
    return true;
}

/* The sum is exact; it is rounded when it becomes a float, and so is its product
 * with the scale. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    int64_t W = words(dim);
    int64_t row = i / dim[1];
    int64_t col = i % dim[1];
    int64_t sum = 0;
    (void)out;
    for (int64_t k = 0; k < W; k++) {
        int32_t a = (int32_t)lab_bench_number(n, 0, row * W + k);
        int32_t w = (int32_t)lab_bench_number(n, 1, col * W + k);
        for (int b = 0; b < 4; b++)
            sum += (int64_t)lab_int8_of(a, b) * lab_int8_of(w, b);
    }
    double v = (double)sum * lab_bench_number(n, 2, col);
    return (struct lab_ladder_element){.value = v,
                                       .allowed = ldexp(fabs(v), -23)};
}

const struct lab_operation lab_operation_gemm_int8 = {
    .name = "gemm_int8",
    .title = "C = scale A W^T of numbers of 8 bits",
    .shape = "MxNxK",
    .dims = 3,
    .unit = LAB_UNIT_FLOPS,
    .arithmetic = "int8",
    .sizes_cpu = "64,200",
    .sizes_gpu = "1024,4096,8192",
    .checks = checks,
    .tensors = tensors,
    .names = "A W scale C sums",
    .flop = lab_bench_product_flop,
    .bytes = bytes,
    .element = element,
    .fill = fill,
};
