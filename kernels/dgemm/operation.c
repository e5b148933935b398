/* kernels/dgemm/operation.c -- C (M, N) = A (M, K) B (K, N) in fp64; a size
 * is M, N, K. */
#include "labs/shapes.h"

#include <math.h>

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

/* A sum in double, in the order of a variant, would have that variant's own errors: this
 * one has 11 bits more where long double has them. Over all elements the squares
 * of |row| |column| add up to those of |A| |B| (Frobenius). */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    long double value = 0;
    double row = 0;
    double column = 0;
    int64_t N = dim[1];
    int64_t K = dim[2];
    (void)out;
    for (int64_t k = 0; k < K; k++) {
        double a = lab_bench_number(n, 0, i / N * K + k);
        double b = lab_bench_number(n, 1, k * N + i % N);
        value += (long double)a * b;
        row += a * a;
        column += b * b;
        lab_bench_add(&sum, a * b);
    }
    sum.value = (double)value;
    struct lab_ladder_element e =
        lab_bench_sum_element(&sum, LAB_FP64, LAB_F64);
    e.scale = sqrt(((double)K + 2) * row * column);
    return e;
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
    .error_is = "|C - AB| / (sqrt(K + 2) |A| |B|), as testing_dgemm has it",
};
