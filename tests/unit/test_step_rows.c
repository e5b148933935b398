/* Rows of a lab under a step: which are offered, that they compute what the
 * reference does on odd shapes and tensors of more dimensions, and what they
 * refuse. */
#include "test.h"

#include "backend/step_rows.h"
#include "base/mem.h"

enum { N = 3, T = 5, K = 7, M = 11 };

static const struct lab_variant *find(struct lab_backend *be, const char *op,
                                      const char *step, const char *name)
{
    return lab_backend_variant(be, LAB_F32, op, step, LAB_FORWARD, name);
}

static struct lab_view view(float *data, int rank, int64_t a, int64_t b,
                            int64_t c)
{
    struct lab_view v = {.data = data, .rank = rank, .dim = {a, b, c}};
    v.count = a * b * (rank > 2 ? c : 1);
    return v;
}

/* Every row of the lab gemm that fits, on x of three dimensions. */
TEST_CASE(products_agree_with_the_reference)
{
    struct lab_backend *be = NULL;
    static float x[N * T * K], W[K * M], want[N * T * M], got[N * T * M];
    for (int i = 0; i < N * T * K; i++)
        x[i] = sinf((float)i);
    for (int i = 0; i < K * M; i++)
        W[i] = cosf((float)i);
    struct lab_view in[] = {view(x, 3, N, T, K), view(W, 2, K, M, 0)};
    assert_ok(lab_backend_open(&be, "cpu", 0));
    struct lab_view out = view(want, 3, N, T, M);
    struct lab_call call = {.in = in, .n_in = 2, .out = &out, .n_out = 1};
    const struct lab_variant *first = find(be, "dense", "matmul", NULL);
    assert_false(first->of_lab);
    assert_ok(lab_backend_run(be, first, &call));
    static const char *const names[] = {"rows", "blocked"};
    for (int k = 0; k < 2; k++) {
        const struct lab_variant *v = find(be, "dense", "matmul", names[k]);
        assert_non_null(v);
        assert_true(v->of_lab);
        memset(got, 0xff, sizeof(got));
        out.data = got;
        assert_ok(lab_backend_prepare(be, v, &call));
        assert_ok(lab_backend_run(be, v, &call));
        for (int i = 0; i < N * T * M; i++)
            assert_float_equal(got[i], want[i], 1e-5);
    }
    lab_backend_close(be);
}

/* A row of an op's own table hides the lab's of that name; candidates of `lab
 * tune` and mistakes on purpose are not offered. */
TEST_CASE(offers_what_fits_once)
{
    struct lab_backend *be = NULL;
    const char *names[64];
    assert_ok(lab_backend_open(&be, "cpu", 0));
    int n = lab_backend_variant_names(be, LAB_F32, "dense", names, 64);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
        assert_string_not_equal(names[i], "tuned");
    }
    assert_false(find(be, "dense", "matmul", "naive")->of_lab);
    assert_non_null(find(be, "softmax", "softmax", "online"));
    assert_null(lab_backend_variant(be, LAB_F64, "dense", "matmul", LAB_FORWARD,
                                    "rows"));
    lab_backend_close(be);
}

TEST_CASE(refuses_with_a_reason)
{
    struct lab_backend *be = NULL;
    float one[8] = {0};
    struct lab_view in[] = {view(one, 2, 1, 6, 0), view(one, 2, 6, 1, 0)};
    struct lab_view out = view(one, 2, 1, 1, 0);
    struct lab_call call = {.in = in, .n_in = 2, .out = &out, .n_out = 1};
    struct lab_variant hopper = {.name = "wgmma_tf32",
                                 .capability = 90,
                                 .capability_only = true,
                                 .of_lab = true};
    struct lab_variant tma = {.name = "tma", .of_lab = true};
    assert_ok(lab_backend_open(&be, "cpu", 0));
    assert_int_equal(lab_backend_prepare(be, &hopper, &call),
                     LAB_E_UNSUPPORTED);
    assert_non_null(strstr(lab_error(), "compute capability 9.0"));
    tma.release = find(be, "dense", "matmul", NULL)->run;
    assert_int_equal(lab_backend_prepare(be, &tma, &call), LAB_E_UNSUPPORTED);
    assert_non_null(strstr(lab_error(), "multiple of 4"));
    lab_backend_close(be);
}

RUN_TESTS()
