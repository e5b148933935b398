/* kernels/lu/cpu.c -- the factors of a matrix on one thread of a CPU.
 *
 * unblocked  a column at a time: find the pivot, exchange two rows, divide, and
 *            take the column's multiples from all columns to the right. That is
 *            a product of a column and a row, two operations for each number
 *            that is read and written. */
#include "lu/lu_cpu.h"

#include <math.h>
#include <string.h>

#include "common/kernel.h"

static int64_t find_pivot(const double *column, int64_t k, int64_t n)
{
    int64_t best = k;
    for (int64_t i = k + 1; i < n; i++) {
        if (fabs(column[i]) > fabs(column[best]))
            best = i;
    }
    return best;
}

static void exchange_rows(double *a, int64_t n, int64_t row, int64_t other)
{
    for (int64_t j = 0; j < n; j++) {
        double v = a[row + j * n];
        a[row + j * n] = a[other + j * n];
        a[other + j * n] = v;
    }
}

/* to[0..n) -= m from[0..n) */
static void take_from(double *restrict to, double m,
                      const double *restrict from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] -= m * from[i];
}

void lab_cpu_lu(double *a, int32_t *pivots, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        double *column = a + k * n;
        int64_t best = find_pivot(column, k, n);
        pivots[k] = (int32_t)best + 1;
        if (best != k)
            exchange_rows(a, n, k, best);
        for (int64_t i = k + 1; i < n; i++)
            column[i] /= column[k];
        for (int64_t j = k + 1; j < n; j++)
            take_from(a + j * n + k + 1, a[k + j * n], column + k + 1,
                      n - k - 1);
    }
}

static enum lab_status lu_unblocked(const struct lab_call *call)
{
    memcpy(call->out[0].data, call->in[0].data,
           (size_t)call->in[0].count * sizeof(double));
    lab_cpu_lu(call->out[0].data, call->out[1].data, call->in[0].dim[0]);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_lu[] = {
    {.name = "unblocked",
     .idea = "a column at a time, taken from all to its right",
     .run = lu_unblocked,
     .source = "kernels/lu/cpu.c",
     .precision = LAB_FP64},
    {0},
};
