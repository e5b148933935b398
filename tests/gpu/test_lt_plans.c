/* tests/gpu/test_lt_plans.c -- plans of cuBLASLt are made once for a shape. A
 * stand-in for the library counts what it is asked; no GPU is needed. */
#include "test.h"

#include "cuda_priv.h"

/* ---- the stand-in ---- */

enum { BIAS_POINTER = 8 };

static struct {
    int made; /* descriptors, layouts, preferences that are there */
    int asked;
    int run;
    bool refuse;
    int status;        /* what the next question for an algorithm returns */
    const float *bias; /* as the descriptor has it */
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
    (void)compute;
    (void)scale;
    return make(desc);
}

static int fake_set(void *desc, int what, const void *value, size_t bytes)
{
    (void)desc;
    if (what == BIAS_POINTER && bytes == sizeof(fake.bias))
        memcpy(&fake.bias, value, bytes);
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
    (void)type;
    assert_true(rows > 0 && cols > 0 && ld > 0);
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

static int fake_matmul(void *handle, void *desc, const void *alpha,
                       const void *a, void *a_layout, const void *b,
                       void *b_layout, const void *beta, const void *c,
                       void *c_layout, void *d, void *d_layout,
                       const struct lab_lt_algorithm *algo, void *workspace,
                       size_t bytes, struct CUstream_st *stream)
{
    (void)alpha;
    (void)a;
    (void)b;
    (void)beta;
    (void)c;
    (void)d;
    (void)workspace;
    (void)bytes;
    (void)stream;
    assert_true(handle && desc && a_layout && b_layout && c_layout &&
                d_layout && algo);
    fake.run++;
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
#undef FAKE
};

/* In the place of the functions of that name: see CMakeLists.txt. */
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *lib, const char *name);
cudaError_t __wrap_cudaGetDevice(int *device);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)flags;
    assert_non_null(strstr(name, "libcublasLt"));
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

RUN_TESTS()
