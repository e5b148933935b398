/* Every variant of the CUDA kernels that reduce, and of the optimizers, against
 * the reference in double, on fresh random inputs of odd shapes. LAB_TEST_SEED
 * repeats a run. */
#include "gpu_harness.h"
#include "layer_norm/layer_norm.h"
#include "loss/loss.h"
#include "optimizer/optimizer.h"

static struct tensor labels(enum fill fill, int64_t n, int64_t classes)
{
    return (struct tensor){
        .fill = fill, .rank = 1, .dim = {n}, .limit = classes};
}

static const struct tensor scalar = {.fill = FILL_UNIFORM, .rank = 0};

/* ---- rows ---- */

static const int64_t row_cases[][2] = {
    {1, 1},  {1, 4097},  {3, 10},    {7, 33},      {127, 257}, {5, 31},
    {9, 32}, {2, 50021}, {70001, 3}, {3000017, 1}, {64, 1000}, {2049, 96}};

GPU_CASE(softmax_agrees)
{
    for (size_t i = 0; i < COUNT_OF(row_cases); i++) {
        int64_t R = row_cases[i][0];
        int64_t C = row_cases[i][1];
        struct tensor x = matrix(FILL_WIDE, R, C);
        struct tensor y = matrix(FILL_POSITIVE, R, C);
        gpu_check_step("softmax", "softmax", LAB_FORWARD, TENSORS(x),
                       TENSORS(x));
        gpu_check_step("softmax", "softmax", LAB_BACKWARD, TENSORS(x, y),
                       TENSORS(x));
    }
}

GPU_CASE(softmax_shows_what_is_not_finite)
{
    const struct tensor xs[] = {vector(FILL_LOW, 37), vector(FILL_SPECIAL, 37),
                                vector(FILL_UNIFORM, 37),
                                matrix(FILL_LOW, 3, 300)};
    for (size_t i = 0; i < COUNT_OF(xs); i++) {
        struct gpu_case c = {
            .op = "softmax", .step = "softmax", .in = {xs[i]}, .out = {xs[i]}};
        c.not_cudnn = xs[i].fill == FILL_LOW;
        gpu_check(&c);
    }
}

static void check_layer_norm(int64_t R, int64_t D)
{
    const struct lab_layer_norm_params eps = {.eps = 1e-5};
    struct tensor x = matrix(FILL_UNIFORM, R, D);
    struct tensor r = vector(FILL_POSITIVE, R);
    struct tensor d = vector(FILL_UNIFORM, D);
    const char *op = "layer_norm";
    const struct gpu_case cases[] = {
        {op, "stats", LAB_FORWARD, {x}, {r, r}, .params = &eps},
        {op, "normalize", LAB_FORWARD, {x, r, r}, {x}, .params = &eps},
        {op, "scale", LAB_FORWARD, {x, d, d}, {x}, .params = &eps},
        {op, "scale", LAB_BACKWARD, {x, x, d}, {x, d, d}, .params = &eps},
        {op, "normalize", LAB_BACKWARD, {x, x, r}, {x}, .params = &eps},
    };
    GPU_CHECK_ALL(cases);
}

GPU_CASE(layer_norm_agrees)
{
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
    gpu_check_step(op, "softmax", LAB_LOSS, TENSORS(z), TENSORS(z));
    gpu_check_step(op, "sample", LAB_LOSS, TENSORS(z, y), TENSORS(r));
    gpu_check_step(op, "mean", LAB_LOSS, TENSORS(r), TENSORS(scalar));
    gpu_check_step(op, "softmax", LAB_BACKWARD, TENSORS(probs, y), TENSORS(z));
}

GPU_CASE(cross_entropy_agrees)
{
    for (size_t i = 0; i < COUNT_OF(row_cases); i++)
        check_cross_entropy(row_cases[i][0], row_cases[i][1], FILL_LABELS);
}

GPU_CASE(a_label_outside_is_nan_and_reads_nothing)
{
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
    struct tensor r = vector(FILL_UNIFORM, N);
    struct tensor none = {.fill = FILL_NULL};
    gpu_check_with(params, op, "sample", LAB_LOSS, TENSORS(*h, *h), TENSORS(r));
    gpu_check_with(params, op, "reduce", LAB_LOSS, TENSORS(r), TENSORS(scalar));
    gpu_check_with(params, op, "sample", LAB_BACKWARD,
                   TENSORS(*h, probe ? none : *h), TENSORS(*h));
}

GPU_CASE(squares_and_probes_agree)
{
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
    struct gpu_case c = {op, "update", LAB_UPDATE, {p}, {p}, .inout = true};
    c.params = params;
    c.iteration = iteration;
    if (states > 0 || strcmp(op, "sgd") == 0)
        c.out[1] = vector(states > 0 ? FILL_UNIFORM : FILL_NULL, count);
    if (states > 1)
        c.out[2] = vector(FILL_POSITIVE, count);
    gpu_check(&c);
}

GPU_CASE(optimizers_agree)
{
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

RUN_TESTS_IN(NULL, gpu_close)
