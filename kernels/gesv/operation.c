/* kernels/gesv/operation.c -- A X = B; a size is n and the number of right
 * hand sides, the course's example 100 x 10. See gesv.h for the tensors. */
#include "labs/operation.h"

#include <math.h>

#include "base/mem.h"
#include "lu/witness.h"

enum { STREAM = 77 }; /* of X's random numbers */

static const char *const checks[] = {"1",      "2x3",   "31x1",   "33x7",
                                     "100x10", "129x2", "260x33", NULL};

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    int64_t n = dim[0];
    int64_t r = dim[1];
    (void)p;
    if (n > INT32_MAX / 2 || r > INT32_MAX / 2) {
        lab_fail(LAB_E_USAGE,
                 "[lab.lapack-size] %lld x %lld: LAPACK counts to 2^31 - 1",
                 (long long)n, (long long)r);
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 2, {n, n}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 2, {n, r}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F64, 2, {n, r}};
    out[3] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F64, 2, {n, r}};
    out[4] = (struct lab_bench_tensor){LAB_ROLE_SCRATCH, LAB_F64, 2, {n, n}};
    out[5] = (struct lab_bench_tensor){LAB_ROLE_SCRATCH, LAB_I32, 1, {n + 1}};
    return 6;
}

static double flop(const int64_t *dim)
{
    double n = (double)dim[0];
    return 2.0 / 3 * n * n * n + 2 * n * n * (double)dim[1];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    double n = (double)dim[0];
    (void)p;
    return 8 * (n * n + 2 * n * (double)dim[1]);
}

static double solution(uint64_t seed, int64_t i)
{
    return lab_bench_random(seed, STREAM, 0, i);
}

/* b (n, r) = A X, a column of A at a time. */
static void multiply(const double *w, int64_t n, int64_t r, uint64_t seed,
                     double *column, double *b)
{
    for (int64_t i = 0; i < n * r; i++)
        b[i] = 0;
    for (int64_t j = 0; j < n; j++) {
        lab_witness_column(w, n, j, column);
        for (int64_t c = 0; c < r; c++) {
            double x = solution(seed, j + c * n);
            for (int64_t i = 0; i < n; i++)
                b[i + c * n] += column[i] * x;
        }
    }
}

static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    int64_t n = dim[0];
    int64_t r = dim[1];
    (void)tensor;
    if (k == 2) {
        for (int64_t i = 0; i < n * r; i++)
            ((double *)host)[i] = solution(seed, i);
        return true;
    }
    /* Without memory the numbers are random, and the check will fail. */
    double *w = lab_witness_new(n, seed);
    double *column = lab_alloc_array((size_t)n, sizeof(*column));
    bool done = w && column;
    for (int64_t j = 0; done && k == 0 && j < n; j++)
        lab_witness_column(w, n, j, (double *)host + j * n);
    if (done && k == 1)
        multiply(w, n, r, seed, column, host);
    lab_free(column);
    lab_free(w);
    return done;
}

/* B's sums are rounded n times, and A's condition makes more of it. Largest
 * errors of X by LAPACK, n from 31 to 3000: 0.1 to 0.7 of u n^2. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    const double *x = n->host[2];
    (void)out;
    return (struct lab_ladder_element){
        x[i], 64 * ldexp(1, -53) * (double)dim[0] * (double)dim[0]};
}

const struct lab_operation lab_operation_gesv = {
    .name = "gesv",
    .title = "A X = B in double precision",
    .shape = "NxR",
    .dims = 2,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "100x10,300x10",
    .sizes_gpu = "100x10,1000x10,5000x10,10000x10",
    .checks = checks,
    .tensors = tensors,
    .names = "A B solution X LU pivots",
    .flop = flop,
    .bytes = bytes,
    .element = element,
    .fill = fill,
};
