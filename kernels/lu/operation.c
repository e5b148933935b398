/* kernels/lu/operation.c -- the factors of a matrix, with partial pivoting;
 * a size is n. See lu.h for the tensors and witness.h for the matrix. */
#include "labs/operation.h"

#include <math.h>

#include "base/mem.h"
#include "base/parallel.h"
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
    /* Without memory A is random, and the check will find that LU is wrong. */
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

/* ---- |PA - LU| ---- */

enum { RESIDUAL_WORK = 1 << 30 }; /* n^2 a column: all of them up to n = 1024 */

struct residual {
    const double *a;
    const double *lu;
    const int64_t *row; /* of A, for each of P A */
    int64_t n;
    int64_t columns; /* evenly spread */
    long double *left;
    double *squares; /* of a column's difference, then of its numbers in A */
};

/* Columns of P A - L U, in more than double: subtracted in the order of a variant in
 * double, its own errors would be gone. */
static void residual_columns(const void *arg, int64_t from, int64_t to)
{
    const struct residual *r = arg;
    int64_t n = r->n;
    for (int64_t c = from; c < to; c++) {
        int64_t j = (2 * c + 1) * n / (2 * r->columns);
        long double *left = r->left + c * n;
        double squares[2] = {0, 0};
        for (int64_t i = 0; i < n; i++)
            left[i] = r->a[r->row[i] + j * n];
        for (int64_t k = 0; k <= j; k++) {
            long double u = r->lu[k + j * n];
            left[k] -= u;
            for (int64_t i = k + 1; i < n; i++)
                left[i] -= r->lu[i + k * n] * u;
        }
        for (int64_t i = 0; i < n; i++) {
            double a = r->a[i + j * n];
            squares[0] += (double)(left[i] * left[i]);
            squares[1] += a * a;
        }
        r->squares[2 * c] = squares[0];
        r->squares[2 * c + 1] = squares[1];
    }
}

/* LAPACK's list of exchanges as the rows that they lead to. Each was compared. */
static void rows_of(const int32_t *pivots, int64_t n, int64_t *row)
{
    for (int64_t i = 0; i < n; i++)
        row[i] = i;
    for (int64_t k = 0; k < n; k++) {
        int64_t other = pivots[k] - 1;
        int64_t kept = row[k];
        row[k] = row[other];
        row[other] = kept;
    }
}

static double residual(const struct lab_bench_numbers *n, const int64_t *dim,
                       const void *const *out)
{
    int64_t side = dim[0];
    int64_t columns = RESIDUAL_WORK / side / side;
    columns = columns < 1 ? 1 : columns > side ? side : columns;
    size_t numbers;
    int64_t *row = lab_alloc_array((size_t)side, sizeof(*row));
    double *squares = lab_alloc_array((size_t)columns, 2 * sizeof(*squares));
    long double *left = lab_mul_size((size_t)columns, (size_t)side, &numbers)
                            ? lab_alloc_array(numbers, sizeof(*left))
                            : NULL;
    double of_left = 0;
    double of_a = 0;
    if (row && squares && left && n->host[0]) {
        const struct residual r = {n->host[0], out[0], row,    side,
                                   columns,    left,   squares};
        rows_of(out[1], side, row);
        lab_parallel(columns, 1, residual_columns, &r);
        for (int64_t c = 0; c < columns; c++) {
            of_left += squares[2 * c];
            of_a += squares[2 * c + 1];
        }
    }
    lab_free(row);
    lab_free(squares);
    lab_free(left);
    return of_a > 0 ? sqrt(of_left / of_a) / (double)side : (double)NAN;
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
    .residual = residual,
    .error_is = "|PA - LU| / (n |A|), as testing_dgetrf has it",
    .fill = fill,
};
