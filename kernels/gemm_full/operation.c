/* kernels/gemm_full/operation.c -- C = 1.5 op(A) op(B) + 0.5 C with rows that have
 * something behind them; gemm_full.h has the tensors. */
#include "gemm_full/gemm_full.h"
#include "labs/operation.h"

static const char *const checks[] = {"1x1x1x1x1x1",     "3x5x7x2x1x4",
                                     "33x17x65x1x2x2",  "65x31x33x2x2x16",
                                     "40x72x16x1x1x64", NULL};

struct leading {
    int64_t a, b, c;
};

static struct leading leading(const int64_t *dim)
{
    return (struct leading){
        lab_gemm_full_ld(dim[3] == 2 ? dim[0] : dim[2], dim[5]),
        lab_gemm_full_ld(dim[4] == 2 ? dim[2] : dim[1], dim[5]),
        lab_gemm_full_ld(dim[1], dim[5])};
}

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    struct leading ld = leading(dim);
    enum lab_dtype t = lab_bench_dtype(p);
    if (dim[3] > 2 || dim[4] > 2) {
        lab_fail(LAB_E_USAGE, "[lab.transpose] a size is MxNxKxTAxTBxP: TA and "
                              "TB are 1 (as it is) or 2 (transposed), as in "
                              "512x512x512x1x2x1");
        return 0;
    }
    out[0] = (struct lab_bench_tensor){
        LAB_ROLE_IN, t, 2, {dim[3] == 2 ? dim[2] : dim[0], ld.a}};
    out[1] = (struct lab_bench_tensor){
        LAB_ROLE_IN, t, 2, {dim[4] == 2 ? dim[1] : dim[2], ld.b}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_INOUT, t, 2, {dim[0], ld.c}};
    return 3;
}

static double flop(const int64_t *dim)
{
    double c = (double)dim[0] * (double)dim[1];
    return 2 * c * (double)dim[2] + 3 * c;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    double K = (double)dim[2];
    return (double)lab_dtype_bytes(lab_bench_dtype(p)) *
           (M * K + K * N + 2 * M * N);
}

/* What is behind a row of C stays. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct leading ld = leading(dim);
    int64_t row = i / ld.c;
    int64_t col = i % ld.c;
    enum lab_dtype t = n->tensor[2 + out].dtype;
    struct lab_bench_sum sum = {0};
    double c = lab_bench_number(n, 2, i);
    if (col >= dim[1])
        return lab_bench_exact(c, t);
    for (int64_t k = 0; k < dim[2]; k++) {
        double a = lab_bench_number(
            n, 0, dim[3] == 2 ? k * ld.a + row : row * ld.a + k);
        double b = lab_bench_number(
            n, 1, dim[4] == 2 ? col * ld.b + k : k * ld.b + col);
        lab_bench_add(&sum, LAB_GEMM_FULL_ALPHA * a * b);
    }
    lab_bench_add(&sum, LAB_GEMM_FULL_BETA * c);
    return lab_bench_sum_element(&sum, n->precision, t);
}

const struct lab_operation lab_operation_gemm_full = {
    .name = "gemm_full",
    .title = "C = alpha op(A) op(B) + beta C",
    .shape = "MxNxKxTAxTBxP",
    .dims = 6,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "256x256x256x1x1x1,256x256x256x2x1x1,256x256x256x1x2x1,"
                 "250x250x250x2x2x64",
    .sizes_gpu = "2048x2048x2048x1x1x1,2048x2048x2048x2x1x1,"
                 "2048x2048x2048x1x2x1,2000x2000x2000x2x2x64",
    .checks = checks,
    .tensors = tensors,
    .names = "A B C",
    .flop = flop,
    .bytes = bytes,
    .element = element,
};
