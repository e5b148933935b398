/* kernels/dgemm/cpu.c -- the matrix product in double precision on one
 * thread of a CPU: rows of B are added to C. A vector register holds half as
 * many doubles as floats, and a line of memory too. */
#include <string.h>

#include "common/kernel.h"

/* c[0..n) += a b[0..n) */
static void add_row(double *restrict c, double a, const double *restrict b,
                    int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        c[j] += a * b[j];
}

static enum lab_status dgemm_rows(const struct lab_call *call)
{
    const double *a = call->in[0].data;
    const double *b = call->in[1].data;
    double *c = call->out[0].data;
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    memset(c, 0, (size_t)call->out[0].count * sizeof(*c));
    for (int64_t i = 0; i < call->in[0].dim[0]; i++) {
        for (int64_t k = 0; k < K; k++)
            add_row(c + i * N, a[i * K + k], b + k * N, N);
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_dgemm[] = {
    {.name = "rows",
     .idea = "whole rows of B are added to C",
     .run = dgemm_rows,
     .source = "kernels/dgemm/cpu.c",
     .precision = LAB_FP64},
    {0},
};
