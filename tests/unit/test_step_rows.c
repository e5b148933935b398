/* Rows of a lab under a step: which are offered, that they compute what the
 * reference does on odd shapes and tensors of more dimensions, and what they
 * refuse. */
#include "test.h"

#include "engine/backend.h"
#include "labs/operation.h"
#include "conv2d/conv2d.h"

extern const struct lab_operation lab_operation_gemm;

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
    assert_null(first->of_lab);
    assert_ok(lab_backend_run(be, first, &call));
    static const char *const names[] = {"rows", "blocked"};
    for (int k = 0; k < 2; k++) {
        const struct lab_variant *v = find(be, "dense", "matmul", names[k]);
        assert_non_null(v);
        assert_non_null(v->of_lab);
        memset(got, 0xff, sizeof(got));
        out.data = got;
        assert_ok(lab_backend_prepare(be, v, &call));
        assert_ok(lab_backend_run(be, v, &call));
        for (int i = 0; i < N * T * M; i++)
            assert_float_equal(got[i], want[i], 1e-5);
    }
    lab_backend_close(be);
}

/* A sum of tensors is that of the lab vector_add, of any rank. */
TEST_CASE(a_sum_agrees_with_the_reference)
{
    struct lab_backend *be = NULL;
    static float a[N * T * K], b[N * T * K], want[N * T * K], got[N * T * K];
    for (int i = 0; i < N * T * K; i++) {
        a[i] = sinf((float)i);
        b[i] = cosf((float)i);
    }
    struct lab_view in[] = {view(a, 3, N, T, K), view(b, 3, N, T, K)};
    struct lab_view out = view(want, 3, N, T, K);
    struct lab_call call = {.in = in, .n_in = 2, .out = &out, .n_out = 1};
    assert_ok(lab_backend_open(&be, "cpu", 0));
    const struct lab_variant *first = find(be, "add", "add", NULL);
    const struct lab_variant *v = find(be, "add", "add", "plain");
    assert_non_null(v);
    assert_string_equal(v->of_lab->name, "vector_add");
    assert_ok(lab_backend_run(be, first, &call));
    memset(got, 0xff, sizeof(got));
    out.data = got;
    assert_ok(lab_backend_prepare(be, v, &call));
    assert_ok(lab_backend_run(be, v, &call));
    assert_memory_equal(got, want, sizeof(got)); /* one sum, rounded once */
    lab_backend_close(be);
}

enum { C = 3, H = 6, W_ = 7, F = 4, R = 3, IMAGE = N * C * H * W_ };

struct conv_case {
    struct lab_conv2d_params params;
    struct lab_view in[2];
    struct lab_view out;
    struct lab_call call;
    float x[IMAGE], w[F * C * R * R];
};

/* x (N, C, H, W), Wt (F, C, R, R), y (N, F, OH, OW) at `y`. */
static void set_conv(struct conv_case *c, int64_t stride, int64_t pad, float *y)
{
    int64_t OH = (H + 2 * pad - R) / stride + 1;
    int64_t OW = (W_ + 2 * pad - R) / stride + 1;
    for (int i = 0; i < IMAGE; i++)
        c->x[i] = sinf((float)i);
    for (int i = 0; i < F * C * R * R; i++)
        c->w[i] = cosf((float)i);
    c->params.window = (struct lab_window){
        .size = {R, R}, .stride = {stride, stride}, .pad = {pad, pad}};
    c->in[0] = (struct lab_view){
        .data = c->x, .rank = 4, .dim = {N, C, H, W_}, .count = IMAGE};
    c->in[1] = (struct lab_view){
        .data = c->w, .rank = 4, .dim = {F, C, R, R}, .count = F * C * R * R};
    c->out = (struct lab_view){
        .data = y, .rank = 4, .dim = {N, F, OH, OW}, .count = N * F * OH * OW};
    c->call = (struct lab_call){.in = c->in,
                                .n_in = 2,
                                .out = &c->out,
                                .n_out = 1,
                                .params = &c->params};
}

/* Every row of the lab conv that fits; what works in scratch memory does not. */
TEST_CASE(convolutions_agree_with_the_reference)
{
    struct lab_backend *be = NULL;
    static struct conv_case c;
    static float want[N * F * H * W_], got[N * F * H * W_];
    static const char *const names[] = {"direct", "rows"};
    assert_ok(lab_backend_open(&be, "cpu", 0));
    set_conv(&c, 1, 1, want);
    assert_ok(lab_backend_run(be, find(be, "conv2d", "conv", NULL), &c.call));
    assert_null(find(be, "conv2d", "conv", "im2col"));
    for (int k = 0; k < 2; k++) {
        const struct lab_variant *v = find(be, "conv2d", "conv", names[k]);
        assert_non_null(v);
        assert_non_null(v->of_lab);
        memset(got, 0xff, sizeof(got));
        c.out.data = got;
        assert_ok(lab_backend_prepare(be, v, &c.call));
        assert_ok(lab_backend_run(be, v, &c.call));
        for (int i = 0; i < N * F * H * W_; i++)
            assert_float_equal(got[i], want[i], 1e-5);
    }
    lab_backend_close(be);
}

/* Groups and dilation: x, W and y have the shape of a plain convolution. */
TEST_CASE(refuses_groups_and_dilation)
{
    struct lab_backend *be = NULL;
    static struct conv_case c;
    static float y[N * F * H * W_];
    assert_ok(lab_backend_open(&be, "cpu", 0));
    for (int k = 0; k < 4; k++) {
        const struct lab_variant *v =
            find(be, "conv2d", "conv", k % 2 ? "rows" : "direct");
        set_conv(&c, 1, 1, y);
        c.params.groups = k < 2 ? 2 : 1;
        c.params.dilation[0] = c.params.dilation[1] = k < 2 ? 1 : 2;
        assert_int_equal(lab_backend_prepare(be, v, &c.call),
                         LAB_E_UNSUPPORTED);
        assert_true(error_is("[unsupported] groups"));
        assert_int_equal(lab_backend_run(be, v, &c.call), LAB_E_UNSUPPORTED);
    }
    lab_backend_close(be);
}

/* Another stride, no padding, channels last: not the lab's operation. */
TEST_CASE(refuses_other_convolutions)
{
    struct lab_backend *be = NULL;
    static struct conv_case c;
    static float y[N * F * H * W_];
    assert_ok(lab_backend_open(&be, "cpu", 0));
    const struct lab_variant *v = find(be, "conv2d", "conv", "rows");
    for (int k = 0; k < 3; k++) {
        set_conv(&c, k == 0 ? 2 : 1, k == 1 ? 0 : 1, y);
        c.params.window.nhwc = k == 2;
        assert_int_equal(lab_backend_prepare(be, v, &c.call),
                         LAB_E_UNSUPPORTED);
        assert_true(error_is("[launch.conv-layout] "));
        assert_int_equal(lab_backend_run(be, v, &c.call), LAB_E_UNSUPPORTED);
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
    assert_null(find(be, "dense", "matmul", "naive")->of_lab);
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
                                 .of_lab = &lab_operation_gemm};
    struct lab_variant tma = {.name = "tma", .of_lab = &lab_operation_gemm};
    assert_ok(lab_backend_open(&be, "cpu", 0));
    assert_int_equal(lab_backend_prepare(be, &hopper, &call),
                     LAB_E_UNSUPPORTED);
    assert_true(error_is("[variant.capability] compute capability 9.0"));
    tma.release = find(be, "dense", "matmul", NULL)->run;
    assert_int_equal(lab_backend_prepare(be, &tma, &call), LAB_E_UNSUPPORTED);
    assert_true(error_is("[variant.alignment] multiple of 4"));
    lab_backend_close(be);
}

RUN_TESTS()
