/* tests/gpu/test_int8_lt.c -- the product of bytes by cuBLASLt: which sizes the
 * library is asked for, and what becomes of those that it refuses. A stand-in for
 * the library multiplies on the host; the kernels around it are simulated. */
#include "gpu_harness.h"

#include <cuda_runtime_api.h>

#include "base/mem.h"
#include "gemm_int8/gemm_int8.h"

extern const struct lab_variant lab_cuda_variants_gemm_int8[];

/* ---- the stand-in ---- */

enum { NOT_SUPPORTED = 15 };

static struct {
    int least; /* columns that it takes */
    int refuses;
    int found;
    int run;
    int m; /* the last product's */
    const struct lab_lt_choice *by;
} fake;

static int serves(const struct lab_lt_product *of)
{
    return of->m % 4 == 0 && of->k % 4 == 0 && of->n >= fake.least &&
           fake.refuses == 0;
}

static int multiply(const struct lab_lt_product *of)
{
    size_t m = (size_t)of->m;
    size_t n = (size_t)of->n;
    size_t k = (size_t)of->k;
    int8_t *w = lab_alloc(m * k);
    int8_t *x = lab_alloc(n * k);
    int32_t *sums = lab_alloc_array(m * n, sizeof(*sums));
    assert_true(w && x && sums && of->turned);
    assert_int_equal(cudaMemcpy(w, of->a, m * k, cudaMemcpyDeviceToHost), 0);
    assert_int_equal(cudaMemcpy(x, of->b, n * k, cudaMemcpyDeviceToHost), 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            for (size_t e = 0; e < k; e++)
                sums[i * m + j] += w[j * k + e] * x[i * k + e];
    assert_int_equal(
        cudaMemcpy(of->c, sums, m * n * sizeof(*sums), cudaMemcpyHostToDevice),
        0);
    lab_free(w);
    lab_free(x);
    lab_free(sums);
    return 0;
}

static int fake_product(const struct lab_exec *exec,
                        const struct lab_lt_product *of,
                        const struct lab_lt_choice *choice)
{
    assert_true(exec->workspace_bytes < (size_t)64 << 20);
    if (!serves(of))
        return NOT_SUPPORTED;
    fake.run++;
    fake.m = of->m;
    fake.by = choice;
    return multiply(of);
}

static int fake_find(const struct lab_exec *exec,
                     const struct lab_lt_product *of, struct lab_lt_choice *out)
{
    (void)exec;
    *out = (struct lab_lt_choice){0};
    if (!serves(of))
        return NOT_SUPPORTED;
    fake.found++;
    *out =
        (struct lab_lt_choice){.tried = 8, .place = 3, .workspace_bytes = 4096};
    return 0;
}

/* ---- a product ---- */

static const struct lab_variant *row(void)
{
    const struct lab_variant *v = lab_cuda_variants_gemm_int8;
    while (v->name && strcmp(v->name, "cublaslt") != 0)
        v++;
    assert_non_null(v->name);
    return v;
}

static void *placed(const void *from, size_t bytes)
{
    void *to = NULL;
    assert_int_equal(cudaMalloc(&to, bytes), 0);
    if (from)
        assert_int_equal(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice),
                         0);
    return to;
}

/* Prepares if asked to, runs, and compares with sums made here, bit by bit. */
static enum lab_status product(int64_t M, int64_t N, int64_t words, bool ready)
{
    static int32_t a[40 * 16];
    static int32_t w[40 * 16];
    static float scale[40];
    static float c[40 * 40];
    const struct lab_cublas blas = {.lt_find = fake_find,
                                    .lt_product = fake_product};
    struct lab_exec exec = *gpu_exec();
    exec.cublas = &blas;
    assert_true(M <= 40 && N <= 40 && words <= 16);
    for (int64_t i = 0; i < 40 * 16; i++) {
        a[i] = (int32_t)(uint32_t)(i * 2654435761 % 4294967291);
        w[i] = (int32_t)(uint32_t)((i + 77) * 2246822519 % 4294967291);
    }
    for (int i = 0; i < 40; i++)
        scale[i] = (float)(i + 1) / 1024;
    struct lab_view v[5] = {
        {placed(a, (size_t)(M * words) * 4), LAB_I32, 2, {M, words}, M * words},
        {placed(w, (size_t)(N * words) * 4), LAB_I32, 2, {N, words}, N * words},
        {placed(scale, (size_t)N * 4), LAB_F32, 1, {N}, N},
        {placed(NULL, (size_t)(M * N) * 4), LAB_F32, 2, {M, N}, M * N},
        {placed(NULL, (size_t)(M * N) * 4), LAB_I32, 2, {M, N}, M * N}};
    const int64_t size[] = {M, N, 4 * words};
    const struct lab_call call = {.in = v,
                                  .n_in = 3,
                                  .out = v + 3,
                                  .n_out = 2,
                                  .params = size,
                                  .exec = &exec};
    enum lab_status st = ready ? row()->prepare(&call) : LAB_OK;
    if (!st)
        st = row()->run(&call);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    if (!st)
        assert_int_equal(cudaMemcpy(c, v[3].data, (size_t)(M * N) * 4,
                                    cudaMemcpyDeviceToHost),
                         0);
    for (int64_t i = 0; i < M && !st; i++)
        for (int64_t j = 0; j < N; j++) {
            int32_t sum = 0;
            for (int64_t k = 0; k < 4 * words; k++)
                sum += lab_int8_of(a[i * words + k / 4], (int)(k % 4)) *
                       lab_int8_of(w[j * words + k / 4], (int)(k % 4));
            assert_float_equal(c[i * N + j], (float)sum * scale[j], 0);
        }
    for (int i = 0; i < 5; i++)
        assert_int_equal(cudaFree(v[i].data), 0);
    return st;
}

/* ---- tests ---- */

GPU_CASE(filters_in_fours_as_they_are)
{
    fake.found = fake.run = 0;
    assert_int_equal(product(5, 12, 9, false), LAB_OK);
    assert_int_equal(fake.m, 12);
    assert_null(fake.by); /* nothing was prepared */
    assert_int_equal(product(5, 12, 9, true), LAB_OK);
    assert_int_equal(fake.found, 1);
    assert_int_equal(fake.by->place, 3);
    /* Another size than the prepared one. */
    assert_int_equal(product(5, 16, 9, false), LAB_OK);
    assert_null(fake.by);
    assert_int_equal(fake.run, 3);
}

GPU_CASE(others_are_filled_up)
{
    const int64_t filters[] = {1, 3, 10, 33};
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        assert_int_equal(product(7, filters[i], 5, i % 2 == 0), LAB_OK);
        assert_int_equal(fake.m, (filters[i] + 31) / 32 * 32);
    }
}

/* An algorithm that wants more columns than one row of inference. */
GPU_CASE(a_refused_one_is_filled_up)
{
    fake.least = 17;
    assert_int_equal(product(1, 16, 3, false), LAB_OK);
    assert_int_equal(fake.m, 32);
    assert_int_equal(product(1, 16, 3, true), LAB_OK);
    fake.least = 0;
}

GPU_CASE(a_refusal_has_its_reason)
{
    fake.refuses = 1;
    assert_int_equal(product(5, 12, 9, true), LAB_E_UNSUPPORTED);
    assert_string_equal(lab_error_id(), "launch.cublaslt");
    assert_int_equal(product(5, 12, 9, false), LAB_E_UNSUPPORTED);
    fake.refuses = 0;
}

RUN_TESTS_IN(NULL, gpu_close)
