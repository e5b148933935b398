/* kernels/trsv/cpu.c -- forward substitution on one thread.
 *
 * columns  as soon as x[j] is known, its column is taken from all that is below: of
 *          a row-major L that is a line of memory for each number. It is the right
 *          order for a matrix by columns.
 * rows     x[i] is b[i] less a row of L times what is known: neighbours. */
#include "trsv/trsv.h"

#define SOURCE "kernels/trsv/cpu.c"

static enum lab_status trsv_columns(const struct lab_call *call)
{
    const double *l = call->in[0].data;
    const double *b = call->in[1].data;
    double *x = call->out[0].data;
    int64_t n = call->in[1].count;
    for (int64_t i = 0; i < n; i++)
        x[i] = b[i];
    for (int64_t j = 0; j < n; j++) {
        x[j] /= l[j * n + j];
        for (int64_t i = j + 1; i < n; i++)
            x[i] -= l[i * n + j] * x[j];
    }
    return LAB_OK;
}

static enum lab_status trsv_rows(const struct lab_call *call)
{
    const double *l = call->in[0].data;
    const double *b = call->in[1].data;
    double *x = call->out[0].data;
    int64_t n = call->in[1].count;
    for (int64_t i = 0; i < n; i++) {
        double sum = b[i];
        for (int64_t j = 0; j < i; j++)
            sum -= l[i * n + j] * x[j];
        x[i] = sum / l[i * n + i];
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_trsv[] = {
    {.name = "columns",
     .idea = "a column at a time: for matrices by columns",
     .run = trsv_columns,
     .source = SOURCE,
     .model = {.traffic = 8},
     .precision = LAB_FP64},
    {.name = "rows",
     .idea = "a row times what is known: neighbours in memory",
     .run = trsv_rows,
     .source = SOURCE,
     .model = {.traffic = 1},
     .precision = LAB_FP64},
    {0},
};
