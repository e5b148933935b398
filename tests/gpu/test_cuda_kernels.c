/* Every variant of every CUDA kernel against the reference in double, on fresh
 * random inputs of odd shapes. LAB_TEST_SEED repeats a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "activation.h"
#include "base/mem.h"
#include "dense.h"
#include "dropout.h"
#include "flatten.h"
#include "gpu_harness.h"
#include "layer_norm.h"
#include "loss.h"
#include "optimizer.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static struct tensor vector(enum fill fill, int64_t n)
{
    return (struct tensor){.fill = fill, .rank = 1, .dim = {n}};
}

static struct tensor matrix(enum fill fill, int64_t rows, int64_t cols)
{
    return (struct tensor){.fill = fill, .rank = 2, .dim = {rows, cols}};
}

static struct tensor labels(enum fill fill, int64_t n, int64_t classes)
{
    return (struct tensor){
        .fill = fill, .rank = 1, .dim = {n}, .limit = classes};
}

static const struct tensor scalar = {.fill = FILL_UNIFORM, .rank = 0};

/* ---- elementwise ---- */

static void check_elementwise(const char *op, const void *params,
                              const struct tensor *shape)
{
    struct gpu_case forward = {.op = op,
                               .step = op,
                               .phase = LAB_FORWARD,
                               .in = {*shape},
                               .n_in = 1,
                               .out = {*shape},
                               .n_out = 1,
                               .params = params};
    gpu_check(&forward);
    struct tensor finite = *shape;
    if (finite.fill == FILL_SPECIAL)
        return;
    struct tensor y = finite;
    y.fill = FILL_POSITIVE;
    finite.fill = FILL_UNIFORM;
    struct gpu_case backward = {.op = op,
                                .step = op,
                                .phase = LAB_BACKWARD,
                                .in = {finite, *shape, y},
                                .n_in = 3,
                                .out = {finite},
                                .n_out = 1,
                                .params = params};
    gpu_check(&backward);
}

static void elementwise_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    const struct lab_leaky_relu_params leaky = {.slope = 0.01};
    const struct lab_gelu_params erf_form = {.tanh = false};
    const struct lab_gelu_params tanh_form = {.tanh = true};
    const struct {
        const char *op;
        const void *params;
    } ops[] = {{"relu", NULL},     {"leaky_relu", &leaky}, {"sigmoid", NULL},
               {"tanh", NULL},     {"gelu", &erf_form},    {"gelu", &tanh_form},
               {"softplus", NULL}, {"swish", NULL}};
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
    {1, 1, 1},      {1, 7, 1},    {2, 1, 129},    {33, 65, 31},
    {127, 257, 17}, {64, 64, 64}, {10, 784, 16},  {3, 4097, 5},
    {4097, 3, 2},   {65, 16, 63}, {64, 128, 192}, {97, 31, 257}};

static void dense_products_agree(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(dense_cases); i++) {
        const struct dense_case *d = &dense_cases[i];
        struct tensor x = matrix(FILL_UNIFORM, d->N, d->K);
        struct tensor W = matrix(FILL_UNIFORM, d->K, d->M);
        struct tensor xW = matrix(FILL_UNIFORM, d->N, d->M);
        struct gpu_case forward = {
            "dense", "matmul", LAB_FORWARD, {x, W}, 2, {xW},
            1,       false,    NULL,        false,  0};
        gpu_check(&forward);
        struct gpu_case backward = {
            "dense", "matmul", LAB_BACKWARD, {xW, x, W}, 3, {W, x},
            2,       false,    NULL,         false,      0};
        gpu_check(&backward);
        backward.out[1].fill = FILL_NULL;
        gpu_check(&backward);
    }
}

/* A million rows and more: past what gridDim.y could hold, in tiles and in
 * rows. */
static void dense_takes_many_rows(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    int64_t N = 2200003;
    struct tensor x = matrix(FILL_UNIFORM, N, 2);
    struct tensor W = matrix(FILL_UNIFORM, 2, 3);
    struct tensor xW = matrix(FILL_UNIFORM, N, 3);
    struct gpu_case forward = {"dense", "matmul", LAB_FORWARD, {x, W}, 2, {xW},
                               1,       false,    NULL,        false,  0};
    gpu_check(&forward);
    struct gpu_case bias = {
        "dense", "bias", LAB_BACKWARD, {xW},  1, {vector(FILL_UNIFORM, 3)},
        1,       false,  NULL,         false, 0};
    gpu_check(&bias);
}

static void dense_takes_one_row_of_rank_1(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    struct tensor x = vector(FILL_UNIFORM, 37);
    struct tensor W = matrix(FILL_UNIFORM, 37, 41);
    struct tensor xW = vector(FILL_UNIFORM, 41);
    struct gpu_case forward = {"dense", "matmul", LAB_FORWARD, {x, W}, 2, {xW},
                               1,       false,    NULL,        false,  0};
    gpu_check(&forward);
    struct gpu_case backward = {
        "dense", "matmul", LAB_BACKWARD, {xW, x, W}, 3, {W, x},
        2,       false,    NULL,         false,      0};
    gpu_check(&backward);
}

static void dense_bias_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(dense_cases); i++) {
        int64_t N = dense_cases[i].N;
        int64_t M = dense_cases[i].M;
        struct tensor xW = matrix(FILL_UNIFORM, N, M);
        struct tensor b = vector(FILL_UNIFORM, M);
        struct gpu_case forward = {"dense", "bias", LAB_FORWARD, {xW, b}, 2,
                                   {xW},    1,      false,       NULL,    false,
                                   0};
        gpu_check(&forward);
        struct gpu_case backward = {"dense", "bias", LAB_BACKWARD, {xW}, 1,
                                    {b},     1,      false,        NULL, false,
                                    0};
        gpu_check(&backward);
    }
}

static void dense_fused_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
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
        struct gpu_case c = {"dense", NULL,  LAB_FORWARD, {{0}}, 3, {{0}},
                             2,       false, &params,     false, 0};
        c.in[0] = matrix(FILL_UNIFORM, d->N, d->K);
        c.in[1] = matrix(FILL_UNIFORM, d->K, d->M);
        c.in[2] = vector(i % 2 ? FILL_UNIFORM : FILL_NULL, d->M);
        c.out[0] = matrix(FILL_UNIFORM, d->N, d->M);
        c.out[1] = matrix(acts[a].op ? FILL_UNIFORM : FILL_NULL, d->N, d->M);
        gpu_check_fused(&c, acts[a].op, acts[a].params);
    }
}

/* ---- rows ---- */

static const int64_t row_cases[][2] = {
    {1, 1},  {1, 4097},  {3, 10},    {7, 33},      {127, 257}, {5, 31},
    {9, 32}, {2, 50021}, {70001, 3}, {3000017, 1}, {64, 1000}};

static void softmax_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(row_cases); i++) {
        int64_t R = row_cases[i][0];
        int64_t C = row_cases[i][1];
        struct tensor x = matrix(FILL_WIDE, R, C);
        struct tensor y = matrix(FILL_POSITIVE, R, C);
        struct gpu_case forward = {
            "softmax", "softmax", LAB_FORWARD, {x},   1, {x},
            1,         false,     NULL,        false, 0};
        gpu_check(&forward);
        struct gpu_case backward = {
            "softmax", "softmax", LAB_BACKWARD, {x, y}, 2, {x},
            1,         false,     NULL,         false,  0};
        gpu_check(&backward);
    }
}

static void softmax_shows_what_is_not_finite(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    const struct tensor xs[] = {vector(FILL_LOW, 37), vector(FILL_SPECIAL, 37),
                                vector(FILL_UNIFORM, 37),
                                matrix(FILL_LOW, 3, 300)};
    for (size_t i = 0; i < COUNT_OF(xs); i++) {
        struct gpu_case c = {"softmax", "softmax", LAB_FORWARD, {xs[i]}, 1,
                             {xs[i]},   1,         false,       NULL,    false,
                             0};
        gpu_check(&c);
    }
}

static void check_layer_norm(int64_t R, int64_t D)
{
    const struct lab_layer_norm_params eps = {.eps = 1e-5};
    struct tensor x = matrix(FILL_UNIFORM, R, D);
    struct tensor r = vector(FILL_POSITIVE, R);
    struct tensor d = vector(FILL_UNIFORM, D);
    const struct gpu_case cases[] = {
        {.step = "stats",
         .phase = LAB_FORWARD,
         .in = {x},
         .n_in = 1,
         .out = {r, r},
         .n_out = 2},
        {.step = "normalize",
         .phase = LAB_FORWARD,
         .in = {x, r, r},
         .n_in = 3,
         .out = {x},
         .n_out = 1},
        {.step = "scale",
         .phase = LAB_FORWARD,
         .in = {x, d, d},
         .n_in = 3,
         .out = {x},
         .n_out = 1},
        {.step = "scale",
         .phase = LAB_BACKWARD,
         .in = {x, x, d},
         .n_in = 3,
         .out = {x, d, d},
         .n_out = 3},
        {.step = "normalize",
         .phase = LAB_BACKWARD,
         .in = {x, x, r},
         .n_in = 3,
         .out = {x},
         .n_out = 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gpu_case c = cases[i];
        c.op = "layer_norm";
        c.params = &eps;
        gpu_check(&c);
    }
}

static void layer_norm_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(row_cases); i++)
        check_layer_norm(row_cases[i][0], row_cases[i][1]);
}

/* ---- losses ---- */

static void check_cross_entropy(int64_t R, int64_t C, enum fill kind)
{
    const char *op = "softmax_cross_entropy";
    struct tensor z = matrix(FILL_WIDE, R, C);
    struct tensor y = labels(kind, R, C);
    struct tensor probs = matrix(FILL_POSITIVE, R, C);
    struct tensor r = vector(FILL_UNIFORM, R);
    struct gpu_case softmax = {op, "softmax", LAB_LOSS, {z},   1, {z},
                               1,  false,     NULL,     false, 0};
    gpu_check(&softmax);
    struct gpu_case sample = {op, "sample", LAB_LOSS, {z, y}, 2, {r},
                              1,  false,    NULL,     false,  0};
    gpu_check(&sample);
    struct gpu_case mean = {op, "mean", LAB_LOSS, {r},   1, {scalar},
                            1,  false,  NULL,     false, 0};
    gpu_check(&mean);
    struct gpu_case back = {op, "softmax", LAB_BACKWARD, {probs, y}, 2, {z},
                            1,  false,     NULL,         false,      0};
    gpu_check(&back);
}

static void cross_entropy_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    for (size_t i = 0; i < COUNT_OF(row_cases); i++)
        check_cross_entropy(row_cases[i][0], row_cases[i][1], FILL_LABELS);
}

static void a_label_outside_is_nan_and_reads_nothing(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    check_cross_entropy(33, 10, FILL_BAD_LABELS);
}

static void check_squares(const char *op, const struct tensor *h,
                          const void *params)
{
    int64_t count = 1;
    for (int d = 0; d < h->rank; d++)
        count *= h->dim[d];
    int64_t N = h->rank > 1 ? h->dim[0] : count;
    bool probe = strcmp(op, "weighted_sum") == 0;
    struct gpu_case sample = {
        op, "sample", LAB_LOSS, {*h, *h}, 2, {vector(FILL_UNIFORM, N)},
        1,  false,    params,   false,    0};
    gpu_check(&sample);
    struct gpu_case reduce = {
        op,     "reduce", LAB_LOSS, {vector(FILL_UNIFORM, N)},
        1,      {scalar}, 1,        false,
        params, false,    0};
    gpu_check(&reduce);
    struct gpu_case back = {op, "sample", LAB_BACKWARD, {*h, *h}, 2, {*h},
                            1,  false,    params,       false,    0};
    if (probe)
        back.n_in = 1;
    gpu_check(&back);
}

static void squares_and_probes_agree(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    const struct tensor shapes[] = {
        vector(FILL_UNIFORM, 1),
        vector(FILL_UNIFORM, 4097),
        matrix(FILL_UNIFORM, 33, 65),
        matrix(FILL_UNIFORM, 1, 50021),
        matrix(FILL_UNIFORM, 1000003, 1),
        {.fill = FILL_UNIFORM, .rank = 3, .dim = {5, 7, 11}}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        for (int r = LAB_MSE_MEAN; r <= LAB_MSE_HALF_SUM_PER_SAMPLE; r++) {
            struct lab_mse_params params = {(enum lab_mse_reduction)r};
            check_squares("mse", &shapes[i], &params);
        }
        check_squares("weighted_sum", &shapes[i], NULL);
    }
}

/* ---- updates ---- */

static void check_update(const char *op, const void *params, int64_t count,
                         uint64_t iteration, int states)
{
    struct tensor p = vector(FILL_UNIFORM, count);
    struct gpu_case c = {op, "update", LAB_UPDATE, {p},   1,        {p},
                         1,  true,     params,     false, iteration};
    c.out[1] = vector(FILL_UNIFORM, count);
    c.out[2] = vector(FILL_POSITIVE, count);
    c.n_out = 1 + states;
    if (strcmp(op, "sgd") == 0 && states == 0) {
        c.out[1].fill = FILL_NULL;
        c.n_out = 2;
    }
    gpu_check(&c);
}

static void optimizers_agree(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    const int64_t counts[] = {1, 257, 4097};
    const struct lab_sgd_params sgd[] = {{0.1, 0, 0, false},
                                         {0.1, 0, 0.01, false},
                                         {0.1, 0.9, 0.01, false},
                                         {0.1, 0.9, 0, true}};
    const struct lab_adam_params adam = {1e-2, 0.9, 0.999, 1e-8, 0.02};
    const uint64_t iterations[] = {0, 1, 999, 1000000};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        for (size_t k = 0; k < COUNT_OF(sgd); k++)
            check_update("sgd", &sgd[k], counts[i], 3, sgd[k].momentum > 0);
        for (size_t t = 0; t < COUNT_OF(iterations); t++) {
            check_update("adam", &adam, counts[i], iterations[t], 2);
            check_update("adamw", &adam, counts[i], iterations[t], 2);
        }
    }
}

/* ---- dropout, flatten, sums of gradients ---- */

static void dropout_draws_the_mask_of_the_cpu(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    const int64_t counts[] = {1, 2, 3, 4, 5, 1023, 4097, 70001};
    const double ps[] = {0.0, 0.1, 0.5, 0.7, 0.999};
    for (size_t i = 0; i < COUNT_OF(counts) * COUNT_OF(ps); i++) {
        struct tensor x = vector(FILL_UNIFORM, counts[i / COUNT_OF(ps)]);
        struct lab_dropout_params params = {ps[i % COUNT_OF(ps)]};
        struct gpu_case forward = {"dropout",
                                   "dropout",
                                   LAB_FORWARD,
                                   {x},
                                   1,
                                   {x, x},
                                   2,
                                   false,
                                   &params,
                                   false,
                                   (uint64_t)i << 32 | i};
        gpu_check(&forward);
        forward.evaluation = true;
        gpu_check(&forward);
        struct gpu_case back = {
            "dropout", "dropout", LAB_BACKWARD, {x, x}, 2, {x},
            1,         false,     &params,      false,  0};
        gpu_check(&back);
    }
}

static void flatten_agrees(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    const int64_t dims[][4] = {
        {1, 1, 1, 1}, {2, 3, 5, 7}, {5, 28, 28, 1}, {3, 31, 33, 17}};
    for (size_t i = 0; i < 2 * COUNT_OF(dims); i++) {
        const int64_t *d = dims[i / 2];
        struct lab_flatten_params params = {.permute = i % 2 == 1};
        struct tensor image = {.fill = FILL_UNIFORM, .rank = 4};
        memcpy(image.dim, d, sizeof(image.dim));
        struct tensor row = matrix(FILL_UNIFORM, d[0], d[1] * d[2] * d[3]);
        struct gpu_case forward = {
            "flatten", "flatten", LAB_FORWARD, {image}, 1, {row},
            1,         false,     &params,     false,   0};
        gpu_check(&forward);
        struct gpu_case back = {
            "flatten", "flatten", LAB_BACKWARD, {row}, 1, {image},
            1,         false,     &params,      false, 0};
        gpu_check(&back);
    }
}

static void gradients_add_up(void **state)
{
    (void)state;
    if (!gpu_exec())
        skip();
    for (int n = 1; n <= 16; n += 5) {
        struct gpu_case c = {.op = "grad_sum",
                             .step = "sum",
                             .phase = LAB_BACKWARD,
                             .n_in = n,
                             .n_out = 1};
        for (int i = 0; i < n; i++)
            c.in[i] = matrix(FILL_UNIFORM, 33, 65);
        c.out[0] = matrix(FILL_UNIFORM, 33, 65);
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
static void a_refused_launch_is_reported_once(void **state)
{
    (void)state;
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
    assert_int_equal(softmax(&call), LAB_OK);
}

static void cublas_says_when_it_is_not_there(void **state)
{
    (void)state;
    struct lab_exec without = {.cublas = NULL};
    struct lab_view one = {.rank = 2, .dim = {1, 1}, .count = 1};
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

static void too_many_contributions_are_refused(void **state)
{
    (void)state;
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

static void every_step_of_the_reference_has_a_kernel(void **state)
{
    (void)state;
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

static char *read_source(const char *name)
{
    char path[1024];
    enum { MOST = 1 << 16 };
    snprintf(path, sizeof(path), "%s/%s", LAB_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s is not there", path);
    char *text = lab_alloc(MOST);
    assert_non_null(text);
    assert_true(fread(text, 1, MOST - 1, f) > 0);
    fclose(f);
    return text;
}

/* What the program opens when a learner asks for a kernel's source. */
static void every_kernel_is_where_its_row_says(void **state)
{
    (void)state;
    for (size_t o = 0; o < COUNT_OF(op_names); o++) {
        const struct lab_kernel_set *set = gpu_cuda_set(op_names[o]);
        assert_true(set->count > 0);
        for (int i = 0; i < set->count; i++) {
            const struct lab_variant *v = &set->variants[i];
            char *text = read_source(v->source);
            char opening[128];
            snprintf(opening, sizeof(opening), "%s(", v->symbol);
            if (!strstr(text, opening))
                fail_msg("%s has no %s", v->source, v->symbol);
            lab_free(text);
        }
    }
}

static int close_gpu(void **state)
{
    (void)state;
    gpu_exec_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_of_the_reference_has_a_kernel),
        cmocka_unit_test(every_kernel_is_where_its_row_says),
        cmocka_unit_test(cublas_says_when_it_is_not_there),
        cmocka_unit_test(too_many_contributions_are_refused),
        cmocka_unit_test(elementwise_agrees),
        cmocka_unit_test(dense_products_agree),
        cmocka_unit_test(dense_takes_many_rows),
        cmocka_unit_test(dense_takes_one_row_of_rank_1),
        cmocka_unit_test(dense_bias_agrees),
        cmocka_unit_test(dense_fused_agrees),
        cmocka_unit_test(softmax_agrees),
        cmocka_unit_test(softmax_shows_what_is_not_finite),
        cmocka_unit_test(layer_norm_agrees),
        cmocka_unit_test(cross_entropy_agrees),
        cmocka_unit_test(a_label_outside_is_nan_and_reads_nothing),
        cmocka_unit_test(squares_and_probes_agree),
        cmocka_unit_test(optimizers_agree),
        cmocka_unit_test(dropout_draws_the_mask_of_the_cpu),
        cmocka_unit_test(flatten_agrees),
        cmocka_unit_test(gradients_add_up),
        cmocka_unit_test(a_refused_launch_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, close_gpu);
}
