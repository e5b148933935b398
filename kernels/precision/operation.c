/* C (M, N) = A (M, K) B (K, N), all fp32, computed in fewer bits. The reference
 * is the product of the fp32 numbers in double: what is lost by rounding them is
 * an error here, reported as a share of the size that such a sum has. */
#include "labs/shapes.h"

#include <math.h>
#include <stddef.h>

#include "precision/precision.h"

/* The parts of the 16-bit variants: first and second of A, then of B. */
static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    int64_t M = dim[0];
    int64_t N = dim[1];
    int64_t K = dim[2];
    lab_bench_product_tensors(dim, LAB_F32, out);
    if (p != LAB_BF16 && p != LAB_FP16)
        return 3;
    out[3] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, t, 3, {2, M, LAB_SPLIT_PITCH(K)}};
    out[4] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, t, 3, {2, K, LAB_SPLIT_PITCH(N)}};
    return 5;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    (void)p;
    return 4 * lab_bench_product_numbers(dim);
}

/* Both factors of a term are rounded, to 8 bits behind the leading one at the
 * worst; the errors of the terms add up like a random walk. Eight times that is
 * what no correct variant reaches. How much better a split is, is for the tests. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = lab_bench_product_sum(n, dim, i);
    (void)out;
    struct lab_ladder_element e =
        lab_bench_sum_element(&sum, n->precision, LAB_F32);
    e.scale = sqrt(sum.squares);
    if (n->precision == LAB_BF16)
        e.allowed += 8 * ldexp(1, -9) * e.scale;
    if (n->precision == LAB_FP16)
        e.allowed +=
            8 * ldexp(1, -12) * e.scale + ldexp(1, -24) * (double)dim[2];
    return e;
}

static const char *const checks[] = {"1",          "3x5x7",       "33x65x17",
                                     "129x36x131", "260x33x516",  "136x264x200",
                                     "256x256x64", "127x129x130", NULL};

const struct lab_operation lab_operation_precision = {
    .name = "precision",
    .title = "C = A B of fp32 numbers, computed in fewer bits",
    .shape = "MxNxK",
    .dims = 3,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "64,100",
    .sizes_gpu = "1024,4096",
    .checks = checks,
    .tensors = tensors,
    .names = "A B C A.parts B.parts",
    .flop = lab_bench_product_flop,
    .bytes = bytes,
    .element = element,
    .error_is = "|C - AB| over the size of such a sum of random terms",
};
