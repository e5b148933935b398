/* tests/gpu/test_lt_plans.c -- plans of cuBLASLt are made once for a shape. A
 * stand-in for the library counts what it is asked; no GPU is needed. */
#include "test.h"

#include "cuda_priv.h"

/* ---- the stand-in ---- */

enum { BIAS_POINTER = 8, TRANS_A = 3 };
/* cudaDataType_t, cublasComputeType_t */
enum { R_8I = 3, R_32I = 10, COMPUTE_32I = 72 };

static struct {
    int made; /* descriptors, layouts, preferences that are there */
    int asked;
    int run;
    bool refuse;
    int status;        /* what the next question for an algorithm returns */
    const float *bias; /* as the descriptor has it */
    /* What the last product was made of. */
    int compute;
    int scale;
    int trans_a;
    int types[3]; /* of its layouts */
    int layouts;
    int64_t ld[3];
    const struct lab_lt_algorithm *algorithm;
    char object;
} fake;

static int make(void **out)
{
    fake.made++;
    *out = &fake.object;
    return 0;
}

static int fake_create(void **handle)
{
    *handle = &fake.object;
    return 0;
}

static int fake_desc_create(void **desc, int compute, int scale)
{
    fake.compute = compute;
    fake.scale = scale;
    fake.trans_a = 0;
    fake.layouts = 0;
    return make(desc);
}

static int fake_set(void *desc, int what, const void *value, size_t bytes)
{
    (void)desc;
    if (what == BIAS_POINTER && bytes == sizeof(fake.bias))
        memcpy(&fake.bias, value, bytes);
    if (what == TRANS_A && bytes == sizeof(fake.trans_a))
        memcpy(&fake.trans_a, value, bytes);
    return 0;
}

static int fake_destroy(void *object)
{
    assert_ptr_equal(object, &fake.object);
    fake.made--;
    return 0;
}

static int fake_layout_create(void **layout, int type, uint64_t rows,
                              uint64_t cols, int64_t ld)
{
    assert_true(rows > 0 && cols > 0 && ld > 0);
    assert_in_range(fake.layouts, 0, 2);
    fake.types[fake.layouts] = type;
    fake.ld[fake.layouts++] = ld;
    return make(layout);
}

static int fake_preference_create(void **preference)
{
    return make(preference);
}

static int fake_heuristic(void *handle, void *desc, void *a, void *b, void *c,
                          void *d, void *preference, int wanted, void *out,
                          int *found)
{
    assert_true(handle && desc && a && b && c && d && preference && out);
    assert_int_equal(wanted, 1);
    fake.asked++;
    *found = !fake.refuse;
    int status = fake.status;
    fake.status = 0;
    return status;
}

/* The product of whole_bytes() below, with the strides that the layouts have:
 * column-major, W stored (k, m). */
enum { M = 8, N = 3, K = 12 };

static void multiply(const int8_t *w, const int8_t *x, int32_t alpha,
                     int32_t *sums)
{
    for (int n = 0; n < N; n++)
        for (int m = 0; m < M; m++) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += w[m * fake.ld[0] + k] * x[n * fake.ld[1] + k];
            sums[n * fake.ld[2] + m] = alpha * sum;
        }
}

static int fake_matmul(void *handle, void *desc, const void *alpha,
                       const void *a, void *a_layout, const void *b,
                       void *b_layout, const void *beta, const void *c,
                       void *c_layout, void *d, void *d_layout,
                       const struct lab_lt_algorithm *algo, void *workspace,
                       size_t bytes, struct CUstream_st *stream)
{
    (void)workspace;
    (void)bytes;
    (void)stream;
    assert_true(handle && desc && a_layout && b_layout && c_layout &&
                d_layout && algo);
    assert_ptr_equal(c, d);
    fake.algorithm = algo;
    fake.run++;
    if (fake.compute == COMPUTE_32I) {
        const int8_t *w = a;
        const int8_t *x = b;
        assert_int_equal(*(const int32_t *)beta, 0);
        multiply(w, x, *(const int32_t *)alpha, d);
    }
    return 0;
}

/* Of cuBLAS itself: no test here multiplies by it. */
static int fake_nothing(void)
{
    return 0;
}

static const struct {
    const char *name;
    void (*fn)(void);
} functions[] = {
#define FAKE(name, fn)                                                         \
    {                                                                          \
        name, (void (*)(void))(fn)                                             \
    }
    FAKE("cublasLtCreate", fake_create),
    FAKE("cublasLtMatmulDescCreate", fake_desc_create),
    FAKE("cublasLtMatmulDescSetAttribute", fake_set),
    FAKE("cublasLtMatmulDescDestroy", fake_destroy),
    FAKE("cublasLtMatrixLayoutCreate", fake_layout_create),
    FAKE("cublasLtMatrixLayoutDestroy", fake_destroy),
    FAKE("cublasLtMatmulPreferenceCreate", fake_preference_create),
    FAKE("cublasLtMatmulPreferenceSetAttribute", fake_set),
    FAKE("cublasLtMatmulPreferenceDestroy", fake_destroy),
    FAKE("cublasLtMatmulAlgoGetHeuristic", fake_heuristic),
    FAKE("cublasLtMatmul", fake_matmul),
    FAKE("cublasCreate_v2", fake_create),
    FAKE("cublasDestroy_v2", fake_nothing),
    FAKE("cublasSetStream_v2", fake_nothing),
    FAKE("cublasSetWorkspace_v2", fake_nothing),
    FAKE("cublasSetMathMode", fake_nothing),
    FAKE("cublasSgemm_v2", fake_nothing),
    FAKE("cublasSgemmStridedBatched", fake_nothing),
    FAKE("cublasSgemmBatched", fake_nothing),
    FAKE("cublasSgemv_v2", fake_nothing),
    FAKE("cublasGemmEx", fake_nothing),
#undef FAKE
};

/* In the place of the functions of that name: see CMakeLists.txt. */
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *lib, const char *name);
cudaError_t __wrap_cudaGetDevice(int *device);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)flags;
    assert_non_null(strstr(name, "libcublas"));
    return &fake.object;
}

void *__wrap_dlsym(void *lib, const char *name)
{
    void *address = NULL;
    (void)lib;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) == 0)
            memcpy(&address, &functions[i].fn, sizeof(address));
    }
    return address;
}

cudaError_t __wrap_cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

/* ---- tests ---- */

static int product(int m, int op_a, size_t workspace, const float *bias)
{
    static float numbers[1];
    const struct lab_exec exec = {.workspace = numbers,
                                  .workspace_bytes = workspace};
    return lab_cublas_lt_bias(&exec, op_a, 0, m, 5, 7, numbers, op_a ? 7 : m,
                              numbers, 7, bias, numbers, m);
}

/* 24 projections of three shapes, ten iterations: three plans. */
TEST_CASE(a_shape_is_asked_for_once)
{
    float bias[24];
    int asked = fake.asked;
    int run = fake.run;
    for (int i = 0; i < 240; i++) {
        assert_int_equal(product(100 + i % 3, 0, 1 << 20, &bias[i % 24]), 0);
        assert_ptr_equal(fake.bias, &bias[i % 24]); /* that call's own */
    }
    assert_int_equal(fake.asked - asked, 3);
    assert_int_equal(fake.run - run, 240);
}

TEST_CASE(what_differs_is_another_plan)
{
    float bias;
    int asked = fake.asked;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(product(200, 0, 1 << 20, &bias), 0);
        assert_int_equal(product(200, 1, 1 << 20, &bias), 0);
        assert_int_equal(product(200, 0, 1 << 21, &bias), 0);
    }
    assert_int_equal(fake.asked - asked, 3);
}

/* The caller multiplies and adds in two; the library is not asked again. */
TEST_CASE(a_refusal_is_kept)
{
    float bias;
    int asked = fake.asked;
    int run = fake.run;
    fake.refuse = true;
    for (int i = 0; i < 5; i++)
        assert_int_not_equal(product(300, 0, 1 << 20, &bias), 0);
    fake.refuse = false;
    assert_int_equal(fake.asked - asked, 1);
    assert_int_equal(fake.run, run);
}

/* Memory may be there the next time. */
TEST_CASE(what_may_pass_is_tried_again)
{
    enum { ALLOC_FAILED = 3 };
    float bias = 0;
    fake.status = ALLOC_FAILED;
    assert_int_equal(product(400, 0, 1 << 20, &bias), ALLOC_FAILED);
    assert_int_equal(product(400, 0, 1 << 20, &bias), 0);
}

/* 64 plans of five objects each, however many shapes come. */
TEST_CASE(old_plans_make_room)
{
    float bias;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(product(1000 + i, 0, 1 << 20, &bias), 0);
    assert_int_equal(fake.made, 64 * 5);
    int asked = fake.asked;
    assert_int_equal(product(1999, 0, 1 << 20, &bias), 0);
    assert_int_equal(fake.asked, asked);
    assert_int_equal(product(1000, 0, 1 << 20, &bias), 0);
    assert_int_equal(fake.asked, asked + 1);
}

/* Bytes: A is stored transposed, sums and alpha are whole numbers of 32 bits. */
TEST_CASE(whole_bytes)
{
    struct lab_cublas blas = {0};
    int8_t w[M * K];
    int8_t x[N * K];
    int32_t sums[N * M];
    const struct lab_exec exec = {
        .cublas = &blas, .workspace = sums, .workspace_bytes = 1 << 20};
    const struct lab_lt_product of = {R_8I, COMPUTE_32I, M,    N,   K,
                                      w,    x,           sums, true};
    for (int i = 0; i < M * K; i++)
        w[i] = (int8_t)(i * 37 % 255 - 127);
    for (int i = 0; i < N * K; i++)
        x[i] = (int8_t)(i * 91 % 255 - 127);
    assert_int_equal(lab_cublas_open(&blas, NULL, NULL, 0), LAB_OK);
    assert_int_equal(blas.lt_product(&exec, &of, NULL), 0);
    assert_int_equal(fake.scale, R_32I);
    assert_int_equal(fake.trans_a, 1);
    assert_int_equal(fake.types[0], R_8I);
    assert_int_equal(fake.types[1], R_8I);
    assert_int_equal(fake.types[2], R_32I);
    for (int n = 0; n < N; n++)
        for (int m = 0; m < M; m++) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += w[m * K + k] * x[n * K + k];
            assert_int_equal(sums[n * M + m], sum);
        }
    /* By the heuristic's first, or by the one that the caller has chosen. */
    const struct lab_lt_choice choice = {.tried = 1};
    const struct lab_lt_algorithm *own = fake.algorithm;
    assert_int_equal(blas.lt_product(&exec, &of, &choice), 0);
    assert_ptr_equal(fake.algorithm, &choice.algo);
    assert_ptr_not_equal(own, &choice.algo);
    lab_cublas_close(&blas);
}

RUN_TESTS()
