/* kernels/gemm_sparse/cpu.c -- a product with 2:4 sparsity on one thread of a CPU.
 *
 * dense  a row of A as it was, with its zeros, times B: the zeros cost what other
 *        numbers cost.
 * skip   only what was kept is multiplied, by the row of B that its two bits name:
 *        half of the operations. */
#include <string.h>

#include "gemm_sparse/gemm_sparse.h"

#define SOURCE "kernels/gemm_sparse/cpu.c"

/* c (N) += a times a row of B. */
static void add_row(float *c, float a, const float *b, int64_t N)
{
    for (int64_t j = 0; j < N; j++)
        c[j] += a * b[j];
}

static void sparse_product(const struct lab_call *call, bool zeros)
{
    const float *kept = call->in[0].data;
    const int32_t *meta = call->in[1].data;
    const float *B = call->in[2].data;
    float *C = call->out[0].data;
    int64_t words = call->in[1].count;
    int64_t each = call->in[1].dim[1];
    int64_t N = call->in[2].dim[1];
    memset(C, 0, (size_t)call->out[0].count * sizeof(*C));
    for (int64_t w = 0; w < words; w++) {
        float *c = C + w / each * N;
        const float *b = B + w % each * LAB_SPARSE_WORD * N;
        float row[LAB_SPARSE_WORD] = {0};
        for (int i = 0; i < 16; i++)
            row[lab_sparse_place((uint32_t)meta[w], i)] = kept[w * 16 + i];
        for (int k = 0; k < LAB_SPARSE_WORD && zeros; k++)
            add_row(c, row[k], b + k * N, N);
        for (int i = 0; i < 16 && !zeros; i++) {
            int k = lab_sparse_place((uint32_t)meta[w], i);
            add_row(c, row[k], b + k * N, N);
        }
    }
}

static enum lab_status dense(const struct lab_call *call)
{
    sparse_product(call, true);
    return LAB_OK;
}

static enum lab_status skip(const struct lab_call *call)
{
    sparse_product(call, false);
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_gemm_sparse[] = {
    {.name = "dense",
     .idea = "the zeros are multiplied, too",
     .run = dense,
     .source = SOURCE},
    {.name = "skip",
     .idea = "only what was kept is multiplied",
     .run = skip,
     .source = SOURCE},
    {0},
};
