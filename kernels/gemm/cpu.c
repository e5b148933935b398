/* kernels/gemm/cpu.c -- the matrix product on one thread of a CPU.
 *
 * naive    the definition: C[i][j] is a row of A times a column of B. Going
 *          down a column of B touches a line of memory for each number.
 * rows     the same products in another order: a number of A times a row of B
 *          is added to a row of C. All of it lies side by side, so that lines
 *          are used whole and the compiler makes vector instructions of it.
 * blocked  in blocks of 64 x 256 of B, which stay in the cache while all rows
 *          of A go by.
 * tuned    blocks of the size that `lapenna-lab lab tune gemm` has found to be
 *          the fastest here; until then those of blocked. */
#include <string.h>

#include "common/kernel.h"

#define SOURCE "kernels/gemm/cpu.c"

struct gemm {
    const float *a;
    const float *b;
    float *c;
    int64_t M;
    int64_t N;
    int64_t K;
};

static struct gemm gemm_of(const struct lab_call *call)
{
    return (struct gemm){call->in[0].data,   call->in[1].data,
                         call->out[0].data,  call->in[0].dim[0],
                         call->in[1].dim[1], call->in[0].dim[1]};
}

static enum lab_status cpu_gemm_naive(const struct lab_call *call)
{
    struct gemm g = gemm_of(call);
    for (int64_t i = 0; i < g.M; i++) {
        for (int64_t j = 0; j < g.N; j++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < g.K; k++)
                sum += g.a[i * g.K + k] * g.b[k * g.N + j];
            g.c[i * g.N + j] = sum;
        }
    }
    return LAB_OK;
}

/* c[0..n) += a b[0..n) */
static void add_row(float *restrict c, float a, const float *restrict b,
                    int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        c[j] += a * b[j];
}

static enum lab_status cpu_gemm_rows(const struct lab_call *call)
{
    struct gemm g = gemm_of(call);
    memset(g.c, 0, (size_t)g.M * (size_t)g.N * sizeof(float));
    for (int64_t i = 0; i < g.M; i++) {
        for (int64_t k = 0; k < g.K; k++)
            add_row(g.c + i * g.N, g.a[i * g.K + k], g.b + k * g.N, g.N);
    }
    return LAB_OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A block of B: `deep` rows from k0 on, `wide` columns from j0 on. */
static void add_block(const struct gemm *g, int64_t k0, int64_t deep,
                      int64_t j0, int64_t wide)
{
    int64_t k1 = least(k0 + deep, g->K);
    wide = least(wide, g->N - j0);
    for (int64_t i = 0; i < g->M; i++) {
        for (int64_t k = k0; k < k1; k++)
            add_row(g->c + i * g->N + j0, g->a[i * g->K + k],
                    g->b + k * g->N + j0, wide);
    }
}

static enum lab_status in_blocks(const struct lab_call *call, int64_t deep,
                                 int64_t wide)
{
    struct gemm g = gemm_of(call);
    memset(g.c, 0, (size_t)g.M * (size_t)g.N * sizeof(float));
    for (int64_t j0 = 0; j0 < g.N; j0 += wide) {
        for (int64_t k0 = 0; k0 < g.K; k0 += deep)
            add_block(&g, k0, deep, j0, wide);
    }
    return LAB_OK;
}

static enum lab_status cpu_gemm_blocked(const struct lab_call *call)
{
    return in_blocks(call, 64, 256);
}

/* The blocks that tuning compares: which stays in a cache depends on it. */
#define BLOCKS(BLOCK)                                                          \
    BLOCK(16, 128)                                                             \
    BLOCK(16, 512)                                                             \
    BLOCK(32, 256)                                                             \
    BLOCK(64, 128)                                                             \
    BLOCK(64, 512)                                                             \
    BLOCK(128, 512)                                                            \
    BLOCK(128, 1024)                                                           \
    BLOCK(256, 2048)

#define BLOCK_KERNEL(deep, wide)                                               \
    static enum lab_status cpu_gemm_##deep##x##wide(                           \
        const struct lab_call *call)                                           \
    {                                                                          \
        return in_blocks(call, deep, wide);                                    \
    }
BLOCKS(BLOCK_KERNEL)

#define BLOCK_ROW(deep, wide)                                                  \
    {.name = #deep "x" #wide,                                                  \
     .idea = "blocks of " #deep " x " #wide " of B",                           \
     .run = cpu_gemm_##deep##x##wide,                                          \
     .source = SOURCE,                                                         \
     .family = "tuned"},

const struct lab_variant lab_cpu_variants_gemm[] = {
    {.name = "naive",
     .idea = "the definition: rows times columns",
     .run = cpu_gemm_naive,
     .source = SOURCE},
    {.name = "rows",
     .idea = "another order: whole rows of B are added to C",
     .run = cpu_gemm_rows,
     .source = SOURCE},
    {.name = "blocked",
     .idea = "blocks of B that stay in the cache",
     .run = cpu_gemm_blocked,
     .source = SOURCE},
    {.name = "tuned",
     .idea = "the block of B that was the fastest on this processor",
     .run = cpu_gemm_blocked,
     .source = SOURCE,
     .tuned = true},
    BLOCKS(BLOCK_ROW){0},
};
