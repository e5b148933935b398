/* kernels/gemm_full/cpu.c -- C = alpha op(A) op(B) + beta C on one thread.
 *
 * plain  a sum an element of C, through strides: a transposed matrix is read down
 *        its columns, a line of memory for each number.
 * rows   a row of C at a time, in the order in which op(B)'s rows lie: only where B
 *        is transposed are its numbers far apart. */
#include "gemm_full/gemm_full.h"

#define SOURCE "kernels/gemm_full/cpu.c"

static const float alpha = (float)LAB_GEMM_FULL_ALPHA;
static const float beta = (float)LAB_GEMM_FULL_BETA;

static enum lab_status full_plain(const struct lab_call *call)
{
    struct lab_gemm_full g = lab_gemm_full_of(call);
    for (int64_t i = 0; i < g.M; i++)
        for (int64_t j = 0; j < g.N; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < g.K; k++)
                sum += g.a[i * g.a_row + k * g.a_col] *
                       g.b[k * g.b_row + j * g.b_col];
            g.c[i * g.ldc + j] = alpha * sum + beta * g.c[i * g.ldc + j];
        }
    return LAB_OK;
}

static enum lab_status full_rows(const struct lab_call *call)
{
    struct lab_gemm_full g = lab_gemm_full_of(call);
    for (int64_t i = 0; i < g.M; i++) {
        float *c = g.c + i * g.ldc;
        for (int64_t j = 0; j < g.N; j++)
            c[j] *= beta;
        for (int64_t k = 0; k < g.K; k++) {
            float a = alpha * g.a[i * g.a_row + k * g.a_col];
            const float *b = g.b + k * g.b_row;
            for (int64_t j = 0; j < g.N; j++)
                c[j] += a * b[j * g.b_col];
        }
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_gemm_full[] = {
    {.name = "plain",
     .idea = "a sum an element of C, through strides",
     .run = full_plain,
     .source = SOURCE},
    {.name = "rows",
     .idea = "a row of C at a time",
     .run = full_rows,
     .source = SOURCE},
    {0},
};
