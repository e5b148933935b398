/* kernels/batched_gemm/cpu.c -- many small products on one thread of a CPU,
 * one after the other. rows: a number of A times a row of B is added to a row of
 * C, as in the lab gemm; the matrices are small and stay in the cache. */
#include <string.h>

#include "common/kernel.h"

/* c[0..n) += a b[0..n) */
static void add_row(float *restrict c, float a, const float *restrict b,
                    int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        c[j] += a * b[j];
}

static enum lab_status batched_rows(const struct lab_call *call)
{
    int64_t n = call->in[0].dim[1];
    const float *a = call->in[0].data;
    float *c = call->out[0].data;
    memset(c, 0, (size_t)call->out[0].count * sizeof(float));
    for (int64_t i = 0; i < call->in[0].dim[0] * n; i++) {
        const float *b = (const float *)call->in[1].data + i / n * n * n;
        for (int64_t k = 0; k < n; k++)
            add_row(c + i * n, a[i * n + k], b + k * n, n);
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_batched_gemm[] = {
    {.name = "rows",
     .idea = "one product after the other",
     .run = batched_rows,
     .source = "kernels/batched_gemm/cpu.c"},
    {0},
};
