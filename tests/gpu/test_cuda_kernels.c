/* Every variant of every CUDA kernel against the reference in double, on fresh
 * random inputs of odd shapes. LAB_TEST_SEED repeats a run. */
#include <cuda_runtime_api.h>
#include <math.h>

#include "activation/activation.h"
#include "batched_gemm/batched.h"
#include "dense/dense.h"
#include "dropout/dropout.h"
#include "flatten/flatten.h"
#include "gpu_harness.h"
#include "file.h"

/* ---- elementwise ---- */

static void check_elementwise(const char *op, const void *params,
                              const struct tensor *shape)
{
    gpu_check_with(params, op, op, LAB_FORWARD, TENSORS(*shape),
                   TENSORS(*shape));
    struct tensor finite = *shape;
    if (finite.fill == FILL_SPECIAL)
        return;
    struct tensor y = finite;
    y.fill = FILL_POSITIVE;
    finite.fill = FILL_UNIFORM;
    gpu_check_with(params, op, op, LAB_BACKWARD, TENSORS(finite, *shape, y),
                   TENSORS(finite));
}

GPU_CASE(elementwise_agrees)
{
    const struct lab_leaky_relu_params leaky = {.slope = 0.01};
    const struct lab_elu_params elu = {.alpha = 0.7};
    const struct lab_gelu_params erf_form = {.tanh = false};
    const struct lab_gelu_params tanh_form = {.tanh = true};
    const struct {
        const char *op;
        const void *params;
    } ops[] = {{"relu", NULL},     {"leaky_relu", &leaky}, {"sigmoid", NULL},
               {"tanh", NULL},     {"gelu", &erf_form},    {"gelu", &tanh_form},
               {"softplus", NULL}, {"swish", NULL},        {"elu", &elu}};
    const struct tensor shapes[] = {
        vector(FILL_WIDE, 1),
        vector(FILL_WIDE, 4097),
        matrix(FILL_WIDE, 33, 65),
        matrix(FILL_WIDE, 127, 257),
        vector(FILL_SPECIAL, 61),
        {.fill = FILL_WIDE, .rank = 0},
        {.fill = FILL_WIDE, .rank = 4, .dim = {3, 5, 7, 11}}};
    for (size_t o = 0; o < COUNT_OF(ops); o++) {
        for (size_t s = 0; s < COUNT_OF(shapes); s++)
            check_elementwise(ops[o].op, ops[o].params, &shapes[s]);
    }
}

/* ---- dense ---- */

struct dense_case {
    int64_t N;
    int64_t K;
    int64_t M;
};

static const struct dense_case dense_cases[] = {
    {1, 1, 1},      {1, 7, 1},     {2, 1, 129},  {33, 65, 31}, {127, 257, 17},
    {64, 64, 64},   {10, 784, 16}, {3, 4097, 5}, {4097, 3, 2}, {65, 16, 63},
    {64, 128, 192}, {97, 31, 257}, {2049, 5, 36}};

GPU_CASE(dense_products_agree)
{
    for (size_t i = 0; i < COUNT_OF(dense_cases); i++) {
        const struct dense_case *d = &dense_cases[i];
        struct tensor x = matrix(FILL_UNIFORM, d->N, d->K);
        struct tensor W = matrix(FILL_UNIFORM, d->K, d->M);
        struct tensor xW = matrix(FILL_UNIFORM, d->N, d->M);
        gpu_check_step("dense", "matmul", LAB_FORWARD, TENSORS(x, W),
                       TENSORS(xW));
        gpu_check_step("dense", "matmul", LAB_BACKWARD, TENSORS(xW, x, W),
                       TENSORS(W, x));
        struct tensor unwanted = x;
        unwanted.fill = FILL_NULL;
        gpu_check_step("dense", "matmul", LAB_BACKWARD, TENSORS(xW, x, W),
                       TENSORS(W, unwanted));
    }
}

/* 5e8 operations, sides that no tile divides. */
GPU_CASE(large_dense_products_agree)
{
    int64_t N = 1031;
    int64_t K = 509;
    int64_t M = 521;
    struct tensor x = matrix(FILL_UNIFORM, N, K);
    struct tensor W = matrix(FILL_UNIFORM, K, M);
    struct tensor xW = matrix(FILL_UNIFORM, N, M);
    gpu_check_step("dense", "matmul", LAB_FORWARD, TENSORS(x, W), TENSORS(xW));
    gpu_check_step("dense", "matmul", LAB_BACKWARD, TENSORS(xW, x, W),
                   TENSORS(W, x));
}

/* A million rows and more: past what gridDim.y could hold, in tiles and in
 * rows. */
GPU_CASE(dense_takes_many_rows)
{
    int64_t N = 2200003;
    struct tensor x = matrix(FILL_UNIFORM, N, 2);
    struct tensor W = matrix(FILL_UNIFORM, 2, 3);
    struct tensor xW = matrix(FILL_UNIFORM, N, 3);
    gpu_check_step("dense", "matmul", LAB_FORWARD, TENSORS(x, W), TENSORS(xW));
    gpu_check_step("dense", "bias", LAB_BACKWARD, TENSORS(xW),
                   TENSORS(vector(FILL_UNIFORM, 3)));
}

/* Few multiprocessors: tf32x3's blocks go from tile to tile, in tiles of all widths. */
TEST_CASE(dense_products_agree_on_few_multiprocessors)
{
    static const struct dense_case cases[] = {{260, 68, 132},
                                              {264, 36, 260},
                                              {136, 132, 100},
                                              {260, 200, 40},
                                              {100, 64, 96}};
    struct lab_exec *exec = gpu_exec();
    if (!exec)
        skip();
    const int whole = exec->sm_count;
    for (int sms = 1; sms <= 3; sms++) {
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            const struct dense_case *d = &cases[i];
            struct tensor x = matrix(FILL_UNIFORM, d->N, d->K);
            struct tensor W = matrix(FILL_UNIFORM, d->K, d->M);
            struct tensor xW = matrix(FILL_UNIFORM, d->N, d->M);
            exec->sm_count = sms;
            gpu_check_step("dense", "matmul", LAB_FORWARD, TENSORS(x, W),
                           TENSORS(xW));
            gpu_check_step("dense", "matmul", LAB_BACKWARD, TENSORS(xW, x, W),
                           TENSORS(W, x));
        }
    }
    exec->sm_count = whole;
}

GPU_CASE(dense_takes_one_row_of_rank_1)
{
    struct tensor x = vector(FILL_UNIFORM, 37);
    struct tensor W = matrix(FILL_UNIFORM, 37, 41);
    struct tensor xW = vector(FILL_UNIFORM, 41);
    gpu_check_step("dense", "matmul", LAB_FORWARD, TENSORS(x, W), TENSORS(xW));
    gpu_check_step("dense", "matmul", LAB_BACKWARD, TENSORS(xW, x, W),
                   TENSORS(W, x));
}

GPU_CASE(dense_bias_agrees)
{
    for (size_t i = 0; i < COUNT_OF(dense_cases); i++) {
        int64_t N = dense_cases[i].N;
        int64_t M = dense_cases[i].M;
        struct tensor xW = matrix(FILL_UNIFORM, N, M);
        struct tensor b = vector(FILL_UNIFORM, M);
        gpu_check_step("dense", "bias", LAB_FORWARD, TENSORS(xW, b),
                       TENSORS(xW));
        gpu_check_step("dense", "bias", LAB_BACKWARD, TENSORS(xW), TENSORS(b));
    }
}

GPU_CASE(dense_fused_agrees)
{
    const struct lab_leaky_relu_params leaky = {.slope = 0.2};
    const struct lab_gelu_params erf_form = {.tanh = false};
    const struct lab_gelu_params tanh_form = {.tanh = true};
    const struct {
        enum lab_activation kind;
        const char *op;
        const void *params;
    } acts[] = {{LAB_ACT_NONE, NULL, NULL},
                {LAB_ACT_RELU, "relu", NULL},
                {LAB_ACT_LEAKY_RELU, "leaky_relu", &leaky},
                {LAB_ACT_SIGMOID, "sigmoid", NULL},
                {LAB_ACT_TANH, "tanh", NULL},
                {LAB_ACT_GELU_TANH, "gelu", &tanh_form},
                {LAB_ACT_GELU_ERF, "gelu", &erf_form},
                {LAB_ACT_SOFTPLUS, "softplus", NULL},
                {LAB_ACT_SWISH, "swish", NULL}};
    for (size_t i = 0; i < COUNT_OF(acts) * COUNT_OF(dense_cases); i++) {
        size_t a = i % COUNT_OF(acts);
        const struct dense_case *d = &dense_cases[i / COUNT_OF(acts)];
        struct lab_dense_params params = {acts[a].kind, 0.2};
        struct gpu_case c = {.op = "dense",
                             .step = NULL,
                             .phase = LAB_FORWARD,
                             .params = &params};
        c.in[0] = matrix(FILL_UNIFORM, d->N, d->K);
        c.in[1] = matrix(FILL_UNIFORM, d->K, d->M);
        c.in[2] = vector(i % 2 ? FILL_UNIFORM : FILL_NULL, d->M);
        c.out[0] = matrix(FILL_UNIFORM, d->N, d->M);
        c.out[1] = matrix(acts[a].op ? FILL_UNIFORM : FILL_NULL, d->N, d->M);
        gpu_check_fused(&c, acts[a].op, acts[a].params);
    }
}

/* ---- dropout, flatten, sums of gradients ---- */

GPU_CASE(dropout_draws_the_mask_of_the_cpu)
{
    const int64_t counts[] = {1, 2, 3, 4, 5, 1023, 4097, 70001};
    const double ps[] = {0.0, 0.1, 0.5, 0.7, 0.999};
    for (size_t i = 0; i < COUNT_OF(counts) * COUNT_OF(ps); i++) {
        struct tensor x = vector(FILL_UNIFORM, counts[i / COUNT_OF(ps)]);
        struct lab_dropout_params params = {ps[i % COUNT_OF(ps)]};
        struct gpu_case forward = {"dropout", "dropout", LAB_FORWARD,
                                   {x},       {x, x},    .params = &params};
        forward.iteration = (uint64_t)i << 32 | i;
        gpu_check(&forward);
        forward.evaluation = true;
        gpu_check(&forward);
        gpu_check_with(&params, "dropout", "dropout", LAB_BACKWARD,
                       TENSORS(x, x), TENSORS(x));
    }
}

GPU_CASE(flatten_agrees)
{
    const int64_t dims[][4] = {
        {1, 1, 1, 1}, {2, 3, 5, 7}, {5, 28, 28, 1}, {3, 31, 33, 17}};
    for (size_t i = 0; i < 2 * COUNT_OF(dims); i++) {
        const int64_t *d = dims[i / 2];
        struct lab_flatten_params params = {.permute = i % 2 == 1};
        struct tensor image = {.fill = FILL_UNIFORM, .rank = 4};
        memcpy(image.dim, d, sizeof(image.dim));
        struct tensor row = matrix(FILL_UNIFORM, d[0], d[1] * d[2] * d[3]);
        gpu_check_with(&params, "flatten", "flatten", LAB_FORWARD,
                       TENSORS(image), TENSORS(row));
        gpu_check_with(&params, "flatten", "flatten", LAB_BACKWARD,
                       TENSORS(row), TENSORS(image));
    }
}

GPU_CASE(gradients_add_up)
{
    for (int n = 1; n <= 16; n += 5) {
        struct gpu_case c = {
            .op = "grad_sum", .step = "sum", .phase = LAB_BACKWARD};
        for (int i = 0; i < n; i++)
            c.in[i] = matrix(FILL_UNIFORM, 33, 65);
        c.out[0] = matrix(FILL_UNIFORM, 33, 65);
        gpu_check(&c);
    }
}

GPU_CASE(norms_add_up)
{
    for (int rows = 1; rows <= 1025; rows += 512) {
        struct gpu_case c = {
            .op = "grad_sum", .step = "norm", .phase = LAB_UPDATE};
        c.in[0] = matrix(FILL_UNIFORM, rows, 33);
        c.in[1] = matrix(FILL_POSITIVE, 1, 1);
        c.out[0] = c.out[1] = matrix(FILL_UNIFORM, 1, 1);
        gpu_check(&c);
    }
}

/* ---- refusals ---- */

static lab_kernel_fn *cuda_kernel(const char *op, const char *step,
                                  enum lab_phase phase, const char *name)
{
    const struct lab_kernel_set *set = gpu_cuda_set(op);
    for (int i = 0; i < set->count; i++) {
        const struct lab_variant *v = &set->variants[i];
        if (v->step && strcmp(v->step, step) == 0 && v->phase == phase &&
            strcmp(v->name, name) == 0)
            return v->run;
    }
    fail_msg("no %s of %s.%s", name, op, step);
    return NULL;
}

/* A grid that no GPU has is refused by the launch, and the next call is well.
 */
TEST_CASE(a_refused_launch_is_reported_once)
{
    struct lab_exec *exec = gpu_exec();
    if (!exec)
        skip();
    struct lab_view huge = {.data = exec->workspace,
                            .rank = 2,
                            .dim = {INT64_C(1) << 40, 1},
                            .count = INT64_C(1) << 40};
    struct lab_call call = {
        .in = &huge, .n_in = 1, .out = &huge, .n_out = 1, .exec = exec};
    lab_kernel_fn *softmax =
        cuda_kernel("softmax", "softmax", LAB_FORWARD, "naive");
    assert_int_equal(softmax(&call), LAB_E_DEVICE);
    assert_non_null(strstr(lab_error(), "softmax_fwd"));
    huge.dim[0] = 1;
    huge.count = 1;
    assert_ok(softmax(&call));
}

/* The addresses of its matrices are written by a kernel. */
GPU_CASE(products_by_addresses_agree)
{
    enum { BATCH = 300, N = 3, ALL = BATCH * N * N };
    static float host[3][ALL];
    float *dev[3];
    void *addresses;
    if (!gpu_exec()->cublas)
        skip();
    assert_int_equal(cudaMalloc(&addresses, 3 * BATCH * sizeof(void *)),
                     cudaSuccess);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < ALL; i++)
            host[k][i] = gpu_draw(FILL_UNIFORM, i + k * ALL);
        assert_int_equal(cudaMalloc((void **)&dev[k], sizeof(host[k])),
                         cudaSuccess);
        assert_int_equal(cudaMemcpy(dev[k], host[k], sizeof(host[k]),
                                    cudaMemcpyHostToDevice),
                         cudaSuccess);
    }
    struct lab_view v[4] = {
        {.data = dev[0]}, {.data = dev[1]}, {.data = dev[2]}};
    for (int k = 0; k < 3; k++) {
        v[k].rank = 3;
        v[k].dim[0] = BATCH;
        v[k].dim[1] = v[k].dim[2] = N;
        v[k].count = ALL;
    }
    v[3].data = addresses;
    struct lab_call call = {
        .in = v, .n_in = 2, .out = v + 2, .n_out = 2, .exec = gpu_exec()};
    assert_ok(lab_batched_cublas(&call));
    assert_int_equal(cudaStreamSynchronize(gpu_exec()->stream), cudaSuccess);
    assert_int_equal(
        cudaMemcpy(host[2], dev[2], sizeof(host[2]), cudaMemcpyDeviceToHost),
        cudaSuccess);
    for (int i = 0; i < ALL; i++) {
        const float *a = &host[0][i / (N * N) * N * N + i / N % N * N];
        const float *b = &host[1][i / (N * N) * N * N + i % N];
        const double sum =
            (double)a[0] * b[0] + (double)a[1] * b[N] + (double)a[2] * b[2 * N];
        assert_true(fabs(host[2][i] - sum) < 1e-5);
    }
    for (int k = 0; k < 3; k++)
        cudaFree(dev[k]);
    cudaFree(addresses);
}

TEST_CASE(a_missing_cublas_is_reported)
{
    struct lab_exec without = {.cublas = NULL};
    float number = 0;
    struct lab_view one = {
        .data = &number, .rank = 2, .dim = {1, 1}, .count = 1};
    struct lab_view three[3] = {one, one, one};
    struct lab_call call = {
        .in = three, .n_in = 3, .out = three, .n_out = 2, .exec = &without};
    lab_kernel_fn *forward =
        cuda_kernel("dense", "matmul", LAB_FORWARD, "cublas");
    lab_kernel_fn *backward =
        cuda_kernel("dense", "matmul", LAB_BACKWARD, "cublas");
    assert_int_equal(forward(&call), LAB_E_UNSUPPORTED);
    assert_int_equal(backward(&call), LAB_E_UNSUPPORTED);
}

TEST_CASE(too_many_contributions_are_refused)
{
    struct lab_view in[17] = {{.count = 1}};
    struct lab_call call = {
        .in = in, .n_in = 17, .out = in, .n_out = 1, .exec = NULL};
    lab_kernel_fn *sum = cuda_kernel("grad_sum", "sum", LAB_BACKWARD, "naive");
    assert_int_equal(sum(&call), LAB_E_RANGE);
}

/* ---- tables: these need no device ---- */

static bool has_row(const struct lab_kernel_set *set,
                    const struct lab_variant *like)
{
    for (int i = 0; i < set->count; i++) {
        const struct lab_variant *v = &set->variants[i];
        if (v->phase == like->phase && v->step && like->step &&
            strcmp(v->step, like->step) == 0)
            return true;
    }
    return false;
}

static const char *const op_names[] = {
#define LAB_OP(id) #id,
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
#undef LAB_OP_PLAN
};

TEST_CASE(every_step_of_the_reference_has_a_kernel)
{
    for (size_t o = 0; o < COUNT_OF(op_names); o++) {
        const struct lab_kernel_set *ref = gpu_ref_set(op_names[o], LAB_F32);
        const struct lab_kernel_set *cuda = gpu_cuda_set(op_names[o]);
        for (int i = 0; i < ref->count; i++) {
            if (!has_row(cuda, &ref->variants[i]))
                fail_msg("%s.%s %s has no CUDA kernel", op_names[o],
                         ref->variants[i].step,
                         lab_phase_name(ref->variants[i].phase));
        }
    }
}

static void check_sources(const struct lab_kernel_set *set)
{
    assert_true(set->count > 0);
    for (int i = 0; i < set->count; i++) {
        const struct lab_variant *v = &set->variants[i];
        char path[1024];
        char opening[128];
        snprintf(path, sizeof(path), "%s/%s", LAB_SOURCE_DIR, v->source);
        char *text = test_read(path);
        snprintf(opening, sizeof(opening), "%s(", v->symbol);
        if (!strstr(text, opening))
            fail_msg("%s has no %s", v->source, v->symbol);
        test_free(text);
    }
}

/* What the program opens when a learner asks for a kernel's source. */
TEST_CASE(every_kernel_is_in_the_file_of_its_row)
{
    int n_cudnn;
    const struct lab_kernel_set *const *cudnn = gpu_cudnn_sets(&n_cudnn);
    for (size_t o = 0; o < COUNT_OF(op_names); o++)
        check_sources(gpu_cuda_set(op_names[o]));
    for (int i = 0; i < n_cudnn; i++)
        check_sources(cudnn[i]);
}

RUN_TESTS_IN(NULL, gpu_close)
