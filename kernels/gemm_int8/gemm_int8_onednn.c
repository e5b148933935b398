/* kernels/gemm_int8/gemm_int8_onednn.c -- the product of 8-bit numbers by oneDNN, a
 * variant of the lab and a way to do inference on the CPU. Its sums are whole numbers of
 * 32 bits, as in the other variants; the scale is ours. Where the processor has VNNI (vpdpbusd),
 * an instruction adds four products of bytes a lane. */
#include "base/mem.h"
#include "gemm_int8/gemm_int8.h"
#include "library/onednn.h"

/* sums (n, m) = A (n, k) W^T, W (m, k) */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    const dnnl_dims_t dims_c = {key->n, key->m};
    const dnnl_dims_t dims_a = {key->n, key->k};
    const dnnl_dims_t dims_w = {key->k, key->m};
    const dnnl_dims_t rows_c = {key->m, 1};
    const dnnl_dims_t rows_k = {key->k, 1};
    const dnnl_dims_t turned = {1, key->k};
    dnnl_memory_desc_t c;
    dnnl_memory_desc_t a;
    dnnl_memory_desc_t w;
    dnnl_matmul_desc_t desc;
    dnnl_status_t code =
        dnnl_memory_desc_init_by_strides(&c, 2, dims_c, dnnl_s32, rows_c);
    if (!code)
        code = dnnl_memory_desc_init_by_strides(&a, 2, dims_a, dnnl_s8, rows_k);
    if (!code)
        code = dnnl_memory_desc_init_by_strides(&w, 2, dims_w, dnnl_s8, turned);
    if (!code)
        code = dnnl_matmul_desc_init(&desc, &a, &w, NULL, &c);
    if (code)
        return code;
    onednn_add_arg(r, DNNL_ARG_DST, &c);
    onednn_add_arg(r, DNNL_ARG_SRC, &a);
    onednn_add_arg(r, DNNL_ARG_WEIGHTS, &w);
    return onednn_describe(r, &desc, engine);
}

static enum lab_status sums_of(const struct lab_gemm_int8 *g, const void *w,
                               int32_t *sums)
{
    struct onednn_key key = onednn_key(recipe, ONEDNN_FORWARD);
    void *const data[] = {sums, (void *)g->a, (void *)w};
    key.n = g->M;
    key.m = g->N;
    key.k = 4 * g->words;
    return onednn_run(&key, data);
}

/* Without VNNI oneDNN adds two products in 16 bits, which saturate where a weight is
 * over 64: W is the sum of two that are not. */
static enum lab_status sums_of_halves(const struct lab_gemm_int8 *g)
{
    const size_t count = (size_t)(4 * g->words * g->N);
    const size_t n_sums = (size_t)(g->M * g->N);
    const int8_t *w = (const int8_t *)g->w;
    int8_t *half = lab_alloc_array(2 * count, sizeof(*half));
    int32_t *more = lab_alloc_array(n_sums, sizeof(*more));
    enum lab_status st =
        half && more ? LAB_OK
                     : lab_fail(LAB_E_NOMEM, "oneDNN: no memory for a product");
    for (size_t i = 0; i < count && !st; i++) {
        half[i] = (int8_t)(w[i] / 2);
        half[count + i] = (int8_t)(w[i] - half[i]);
    }
    if (!st)
        st = sums_of(g, half, g->sums);
    if (!st)
        st = sums_of(g, half + count, more);
    for (size_t i = 0; i < n_sums && !st; i++)
        g->sums[i] += more[i];
    lab_free(half);
    lab_free(more);
    return st;
}

static enum lab_status product(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    enum lab_status st = __builtin_cpu_supports("avx512vnni")
                             ? sums_of(&g, g.w, g.sums)
                             : sums_of_halves(&g);
    for (int64_t i = 0; i < g.M * g.N && !st; i++)
        g.c[i] = (float)g.sums[i] * g.scale[i % g.N];
    return onednn_finish(st);
}

static const struct lab_variant rows[] = {
    {.name = "onednn",
     .idea = "the library, whole numbers of 8 bits",
     .needs = "oneDNN",
     .run = product,
     .source = "kernels/gemm_int8/gemm_int8_onednn.c",
     .symbol = "product",
     .model = {.library = true},
     .scratch = true},
};

const struct lab_kernel_set lab_onednn_gemm_int8 = {LAB_ONEDNN_LAB "gemm_int8",
                                                    rows, 1};
