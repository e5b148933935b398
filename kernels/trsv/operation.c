/* kernels/trsv/operation.c -- L x = b by forward substitution, BLAS's trsv. x is made
 * first and b from it; L is scaled so that errors do not grow. */
#include "labs/operation.h"

#include <math.h>

enum { STREAM_L = 91, STREAM_X };

static const char *const checks[] = {"1", "2", "33", "65", "130", "257", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    int64_t n = dim[0];
    (void)p;
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 2, {n, n}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 1, {n}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 1, {n}};
    out[3] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F64, 1, {n}};
    return 4;
}

static double flop(const int64_t *dim)
{
    return (double)dim[0] * (double)dim[0];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double n = (double)dim[0];
    (void)p;
    return 8 * (n * (n + 1) / 2 + 2 * n);
}

/* 1 on the diagonal, and a row's other numbers add up to less than 1/2. */
static double factor(uint64_t seed, int64_t n, int64_t i, int64_t j)
{
    if (i == j)
        return 1;
    return j > i ? (double)NAN
                 : lab_bench_random(seed, STREAM_L, 0, i * n + j) / (double)n;
}

static double solution(uint64_t seed, int64_t i)
{
    return lab_bench_random(seed, STREAM_X, 0, i);
}

static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    int64_t n = dim[0];
    double *out = host;
    (void)tensor;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; k == 0 && j < n; j++)
            out[i * n + j] = factor(seed, n, i, j);
        for (int64_t j = 0; k == 1 && j <= i; j++)
            sum += factor(seed, n, i, j) * solution(seed, j);
        if (k > 0)
            out[i] = k == 1 ? sum : solution(seed, i);
    }
    return true;
}

/* Each element is a sum of up to n products that are off by a rounding; L's rows
 * damp what comes from the elements before. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    const double *x = n->host[2];
    (void)out;
    return (struct lab_ladder_element){x[i], 16 * ldexp(1, -53) *
                                                 (4 + sqrt((double)dim[0]))};
}

const struct lab_operation lab_operation_trsv = {
    .name = "trsv",
    .title = "L x = b, L lower triangular, in double precision",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "500,2000",
    .sizes_gpu = "1000,8192",
    .checks = checks,
    .tensors = tensors,
    .names = "L b solution x",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .fill = fill,
};
