/* kernels/lu/operation.c -- the factors of a matrix, with partial pivoting;
 * a size is n. See lu.h for the tensors and witness.h for the matrix. */
#include "labs/operation.h"

#include <math.h>

#include "base/mem.h"
#include "lu/witness.h"

static const char *const checks[] = {"1",  "2",   "31",  "33",
                                     "64", "129", "260", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    int64_t n = dim[0];
    (void)p;
    if (n > INT32_MAX / 2) {
        lab_fail(LAB_E_USAGE,
                 "[lab.lu-size] size %lld: pivots are 32-bit numbers",
                 (long long)n);
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 2, {n, n}};
    out[1] = (struct lab_bench_tensor){
        LAB_ROLE_IN, LAB_F64, 2, {LAB_WITNESS_ROWS, n}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F64, 2, {n, n}};
    out[3] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_I32, 1, {n}};
    out[4] = (struct lab_bench_tensor){LAB_ROLE_SCRATCH, LAB_I32, 1, {1}};
    return 5;
}

/* 2/3 n^3 - n^2/2 - n/6: multiplications, subtractions and divisions. */
static double flop(const int64_t *dim)
{
    double n = (double)dim[0];
    return n * (n - 1) * (4 * n + 1) / 6;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double n = (double)dim[0];
    (void)p;
    return 16 * n * n;
}

static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    int64_t n = dim[0];
    (void)tensor;
    if (k == 1) {
        lab_witness_fill(host, n, seed);
        return true;
    }
    /* Without memory A is random, and the check will say that LU is not. */
    double *w = lab_witness_new(n, seed);
    for (int64_t j = 0; w && j < n; j++)
        lab_witness_column(w, n, j, (double *)host + j * n);
    bool done = w != NULL;
    lab_free(w);
    return done;
}

/* Rounding moves a factor's element by units of the sums that it is made of,
 * which grow like sqrt(n) as random walks do, and later rows inherit it. Largest
 * errors by LAPACK and by the loops of cpu.c, n from 31 to 3000: 0.1 to 1.2 of
 * u n^1.5. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    int64_t side = dim[0];
    const double *w = n->host[1];
    if (out == 1)
        return lab_bench_exact(w[LAB_WITNESS_PIVOT * side + i], LAB_I32);
    return (struct lab_ladder_element){
        lab_witness_factor(w, side, i % side, i / side),
        64 * ldexp(1, -53) * pow((double)side, 1.5)};
}

const struct lab_operation lab_operation_lu = {
    .name = "lu",
    .title = "P A = L U in double precision",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "100,300,500",
    .sizes_gpu = "1000,2000,5000,10000,20000",
    .checks = checks,
    .tensors = tensors,
    .names = "A witness LU pivots info",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .fill = fill,
};
