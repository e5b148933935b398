/* Kernels over images: the reference in float and every CPU variant against
 * the reference in double, in both layouts, with strides that leave gaps,
 * padding that is uneven and windows larger than the image; and what holds
 * whatever the numbers are. */
#include "test.h"

#include "base/mem.h"
#include "base/parallel.h"
#include "batch_norm/batch_norm.h"
#include "conv2d/conv2d.h"
#include "cpu/product.h"
#include "cpu/room.h"
#include "ops/image_shape.h"
#include "ops/kernel_rig.h"

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {2, 3, 7, 6, 5, {3, 2}, {2, 1}, {1, 0}, {4, 6}}, /* same: 1, 0 and 0, 1 */
    {3, 2, 5, 9, 4, {4, 4}, {3, 2}, {2, 2}, {2, 5}}, /* padding 2 */
    {1, 5, 8, 8, 7, {2, 2}, {3, 5}, {0, 0}, {3, 2}}, /* gaps */
    {2, 1, 3, 3, 2, {7, 5}, {1, 1}, {2, 1}, {1, 1}}, /* larger than x */
    {1, 33, 6, 5, 17, {3, 3}, {1, 1}, {1, 1}, {6, 5}},
    {3, 12, 9, 11, 24, {6, 6}, {2, 2}, {2, 2}, {4, 5}}, /* uneven remainders */
    {1, 130, 20, 21, 3, {5, 5}, {1, 1}, {2, 2}, {20, 21}}, /* many pieces */
    {2, 6, 9, 8, 4, {3, 2}, {2, 1}, {1, 0}, {5, 7}, 1, 2},
    {2, 3, 9, 8, 6, {3, 3}, {1, 1}, {2, 2}, {9, 8}, 2, 3},
    {9, 4, 12, 11, 5, {3, 3}, {1, 1}, {1, 1}, {12, 11}}, /* parts of images */
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void add_image(struct rig *r, const char *name, bool nhwc, int64_t N,
                      int64_t C, int64_t H, int64_t W)
{
    const int64_t nchw_dim[] = {N, C, H, W};
    const int64_t nhwc_dim[] = {N, H, W, C};
    rig_add(r, name, 4, nhwc ? nhwc_dim : nchw_dim);
}

static void run_conv(struct rig *r, const struct shape *s, bool nhwc)
{
    const struct lab_conv2d_params p = {
        window_of(s, nhwc), {s->dilation, s->dilation}, s->groups};
    int64_t C = s->groups > 1 ? s->C / s->groups : s->C;
    const int64_t W_nhwc[] = {s->size[0], s->size[1], C, s->M};
    const int64_t W_nchw[] = {s->M, C, s->size[0], s->size[1]};
    add_image(r, "x", nhwc, s->N, s->C, s->H, s->W);
    add_image(r, "dx", nhwc, s->N, s->C, s->H, s->W);
    rig_add(r, "Wt", 4, nhwc ? W_nhwc : W_nchw);
    rig_add(r, "dWt", 4, nhwc ? W_nhwc : W_nchw);
    rig_add(r, "b", 1, &s->M);
    rig_add(r, "db", 1, &s->M);
    static const char *const outs[] = {"conv", "out", "dconv"};
    for (int i = 0; i < 3; i++)
        add_image(r, outs[i], nhwc, s->N, s->M, s->out[0], s->out[1]);
    rig_random(r, "x", 1, -2, 2);
    rig_random(r, "Wt", 2, -2, 2);
    rig_random(r, "b", 3, -2, 2);
    rig_random(r, "dconv", 4, -2, 2);
    rig_run(r, "conv2d", "conv", LAB_FORWARD, "conv", "x Wt", &p);
    rig_run(r, "conv2d", "bias", LAB_FORWARD, "out", "conv b", &p);
    rig_run(r, "conv2d", "bias", LAB_BACKWARD, "db -", "dconv", &p);
    rig_run(r, "conv2d", "conv", LAB_BACKWARD, "dWt -", "dconv x Wt", &p);
    rig_run(r, "conv2d", "conv", LAB_BACKWARD, "dWt dx", "dconv x Wt", &p);
}

static void run_pools(struct rig *r, const struct shape *s, bool nhwc)
{
    const struct lab_pool_params p = {window_of(s, nhwc)};
    int64_t count = s->N * s->C * s->out[0] * s->out[1];
    add_image(r, "x", nhwc, s->N, s->C, s->H, s->W);
    add_image(r, "dx", nhwc, s->N, s->C, s->H, s->W);
    add_image(r, "dmean", nhwc, s->N, s->C, s->H, s->W);
    add_image(r, "y", nhwc, s->N, s->C, s->out[0], s->out[1]);
    add_image(r, "mean", nhwc, s->N, s->C, s->out[0], s->out[1]);
    add_image(r, "dy", nhwc, s->N, s->C, s->out[0], s->out[1]);
    rig_add_labels(r, "argmax", count);
    rig_random(r, "x", 1, -2, 2);
    rig_random(r, "dy", 4, -2, 2);
    rig_run(r, "max_pool2d", "pool", LAB_FORWARD, "y argmax", "x", &p);
    rig_run(r, "max_pool2d", "pool", LAB_BACKWARD, "dx", "dy argmax", &p);
    rig_run(r, "avg_pool2d", "pool", LAB_FORWARD, "mean", "x", &p);
    rig_run(r, "avg_pool2d", "pool", LAB_BACKWARD, "dmean", "dy", &p);
}

static void run_batch_norm(struct rig *r, const struct shape *s, bool nhwc)
{
    static const char *const whole[] = {"x", "xhat", "y", "dy", "dxhat", "dx"};
    static const char *const channel[] = {"mean",  "rstd",   "rm",   "rv",
                                          "gamma", "dgamma", "beta", "dbeta"};
    const struct lab_batch_norm_params p = {1e-5, 0.3, nhwc ? 1 : s->H * s->W};
    for (int i = 0; i < 6; i++)
        add_image(r, whole[i], nhwc, s->N + 1, s->C, s->H, s->W);
    for (int i = 0; i < 8; i++) {
        rig_add(r, channel[i], 1, &s->C);
        rig_random(r, channel[i], (uint64_t)(10 + i), 0.1, 2);
    }
    rig_random(r, "x", 1, -2, 2);
    rig_random(r, "dy", 4, -2, 2);
    const char *op = "batch_norm";
    rig_run(r, op, "stats", LAB_FORWARD, "mean rstd +rm +rv", "x", &p);
    rig_run(r, op, "normalize", LAB_FORWARD, "xhat", "x mean rstd", &p);
    rig_run(r, op, "scale", LAB_FORWARD, "y", "xhat gamma beta", &p);
    rig_run(r, op, "scale", LAB_BACKWARD, "- dgamma dbeta", "dy xhat gamma",
            &p);
    rig_run(r, op, "scale", LAB_BACKWARD, "dxhat dgamma dbeta", "dy xhat gamma",
            &p);
    rig_run(r, op, "normalize", LAB_BACKWARD, "dx", "dxhat xhat rstd", &p);
}

typedef void run_fn(struct rig *r, const struct shape *s, bool nhwc);

static void every_kind(run_fn *run, const char *what, const char *results)
{
    for (enum rig_kind kind = 0; kind < RIG_COUNT; kind++) {
        if (!rig_available(kind))
            continue;
        for (int i = 0; i < 2 * N_SHAPES; i++) {
            struct rig *got = rig_new(kind);
            struct rig *ref = rig_new(RIG_REF_F64);
            char text[80];
            char name[24];
            int used;
            snprintf(text, sizeof(text), "%s, shape %d %s", what, i / 2,
                     i % 2 ? "nhwc" : "nchw");
            run(got, &shapes[i / 2], i % 2 == 1);
            run(ref, &shapes[i / 2], i % 2 == 1);
            for (const char *p = results;
                 sscanf(p, " %23s%n", name, &used) == 1; p += used)
                rig_compare_rigs(text, got, ref, name, 1e-5);
            rig_free(got);
            rig_free(ref);
        }
    }
}

TEST_CASE(convolutions_agree)
{
    assert_true(rig_has(RIG_VECTOR, "conv2d", "conv", LAB_FORWARD));
    assert_true(rig_has(RIG_VECTOR, "conv2d", "conv", LAB_BACKWARD));
    assert_true(rig_has(RIG_BLAS, "conv2d", "conv", LAB_FORWARD));
    assert_true(rig_has(RIG_BLAS, "conv2d", "conv", LAB_BACKWARD));
    int threads = lab_threads();
    for (int i = 1; i <= 3; i++) {
        lab_threads_set(i);
        every_kind(run_conv, "conv2d", "conv out db dWt dx");
    }
    lab_threads_set(threads);
}

static struct rig *of_lanes(int lanes, const struct shape *s)
{
    struct rig *r = rig_new(RIG_VECTOR);
    lab_vector_lanes_set(lanes);
    run_conv(r, s, true);
    lab_vector_lanes_set(16);
    return r;
}

/* Every block of columns, whole and in part, sums in the same order. */
TEST_CASE(vectors_of_either_length_have_the_same_bits)
{
    static const int64_t columns[] = {1, 8, 12, 16, 23, 24, 29, 32, 40, 61};
    static const char *const results[] = {"conv", "dWt", "dx"};
    enum { N_COLUMNS = sizeof(columns) / sizeof(columns[0]) };
    for (int i = 0; i < N_COLUMNS; i++) {
        struct shape s = shapes[6];
        s.M = columns[i];
        s.C = columns[N_COLUMNS - 1 - i];
        struct rig *r[] = {of_lanes(8, &s), of_lanes(16, &s),
                           rig_new(RIG_REF_F64)};
        run_conv(r[2], &s, true);
        for (int k = 0; k < 3; k++) {
            for (int64_t at = 0; at < rig_size(r[0], results[k]); at++)
                assert_true(rig_get(r[0], results[k], at) ==
                            rig_get(r[1], results[k], at));
            rig_compare_rigs("either length", r[1], r[2], results[k], 1e-5);
        }
        for (int k = 0; k < 3; k++)
            rig_free(r[k]);
    }
}

/* Threads that have no memory for sums of their own cut dWt by rows. */
TEST_CASE(gradients_without_memory_for_sums)
{
    const struct shape *s = &shapes[N_SHAPES - 1];
    const struct lab_conv2d_params p = {window_of(s, true), {0, 0}, 0};
    struct rig *got = rig_new(RIG_VECTOR);
    struct rig *ref = rig_new(RIG_REF_F64);
    int threads = lab_threads();
    lab_threads_set(3);
    run_conv(got, s, true);
    run_conv(ref, s, true);
    for (int64_t i = 0; i < rig_size(got, "dWt"); i++)
        rig_put(got, "dWt", i, 7);
    float *kept = lab_room_take(1); /* so that the next one allocates */
    lab_mem_fail_from(1);
    rig_run(got, "conv2d", "conv", LAB_BACKWARD, "dWt -", "dconv x Wt", &p);
    int64_t tried = lab_mem_count();
    lab_mem_fail_from(0);
    lab_room_give(kept);
    lab_threads_set(threads);
    assert_true(tried > 0);
    rig_compare_rigs("without memory", got, ref, "dWt", 1e-5);
    rig_free(got);
    rig_free(ref);
}

TEST_CASE(pools_agree)
{
    every_kind(run_pools, "pool", "y argmax dx mean dmean");
}

TEST_CASE(batch_norm_agrees)
{
    every_kind(run_batch_norm, "batch_norm",
               "mean rstd rm rv xhat y dxhat dgamma dbeta dx");
}

/* <conv(x), d> = <x, dx> = <W, dW>: the three sums are one. */
TEST_CASE(gradients_are_the_transposed_convolution)
{
    for (int i = 0; i < 2 * N_SHAPES; i++) {
        struct rig *r = rig_new(RIG_REF_F64);
        run_conv(r, &shapes[i / 2], i % 2 == 1);
        double sum[3] = {0, 0, 0};
        static const char *const pairs[][2] = {
            {"conv", "dconv"}, {"x", "dx"}, {"Wt", "dWt"}};
        for (int k = 0; k < 3; k++) {
            for (int64_t j = 0; j < rig_size(r, pairs[k][0]); j++)
                sum[k] +=
                    rig_get(r, pairs[k][0], j) * rig_get(r, pairs[k][1], j);
        }
        double unit = 1e-10 * (1 + fabs(sum[0]));
        assert_true(fabs(sum[0] - sum[1]) < unit);
        assert_true(fabs(sum[0] - sum[2]) < unit);
        rig_free(r);
    }
}

/* The same picture in both layouts gives the same numbers. */
TEST_CASE(layouts_agree)
{
    const struct shape *s = &shapes[1];
    struct rig *a = rig_new(RIG_REF_F64);
    run_conv(a, s, false);
    struct rig *b = rig_new(RIG_REF_F64);
    run_conv(b, s, true);
    const struct lab_conv2d_params p = {window_of(s, true)};
    for (int64_t i = 0; i < rig_size(a, "x"); i++) {
        int64_t hw = s->H * s->W;
        int64_t n = i / (s->C * hw);
        int64_t c = i / hw % s->C;
        rig_put(b, "x", (n * hw + i % hw) * s->C + c, rig_get(a, "x", i));
    }
    int64_t k2 = s->size[0] * s->size[1];
    for (int64_t i = 0; i < rig_size(a, "Wt"); i++) {
        int64_t m = i / (s->C * k2);
        int64_t c = i / k2 % s->C;
        rig_put(b, "Wt", (i % k2 * s->C + c) * s->M + m, rig_get(a, "Wt", i));
    }
    rig_run(b, "conv2d", "conv", LAB_FORWARD, "conv", "x Wt", &p);
    for (int64_t i = 0; i < rig_size(a, "conv"); i++) {
        int64_t hw = s->out[0] * s->out[1];
        int64_t n = i / (s->M * hw);
        int64_t m = i / hw % s->M;
        assert_true(fabs(rig_get(a, "conv", i) -
                         rig_get(b, "conv", (n * hw + i % hw) * s->M + m)) <
                    1e-12);
    }
    rig_free(a);
    rig_free(b);
}

/* The first of equals wins, a NaN wins over all, and padding never. */
TEST_CASE(the_winner_of_a_window)
{
    const struct lab_pool_params p = {
        {.size = {2, 3}, .stride = {2, 3}, .pad = {1, 0}}};
    const double x[] = {-5, -7, -5, 1, 1, 0, 4, NAN, NAN};
    const int64_t in[] = {1, 1, 3, 3};
    const int64_t out[] = {1, 1, 2, 1};
    for (enum rig_kind kind = 0; kind < RIG_COUNT; kind++) {
        if (!rig_available(kind))
            continue;
        struct rig *r = rig_new(kind);
        rig_add(r, "x", 4, in);
        rig_add(r, "y", 4, out);
        rig_add_labels(r, "argmax", 2);
        rig_set(r, "x", x);
        rig_run(r, "max_pool2d", "pool", LAB_FORWARD, "y argmax", "x", &p);
        assert_true(rig_get(r, "y", 0) == -5);
        assert_true(rig_get(r, "argmax", 0) == 0);
        assert_true(isnan(rig_get(r, "y", 1)));
        assert_true(rig_get(r, "argmax", 1) == 7);
        for (int i = 0; i < 9; i++) /* less than any other number, but one */
            rig_put(r, "x", i, -INFINITY);
        rig_run(r, "max_pool2d", "pool", LAB_FORWARD, "y argmax", "x", &p);
        assert_true(rig_get(r, "y", 0) == -INFINITY);
        assert_true(rig_get(r, "argmax", 0) == 0);
        assert_true(rig_get(r, "argmax", 1) == 3);
        rig_free(r);
    }
}

/* Outside of training the running statistics are used, and are left alone. */
TEST_CASE(evaluation_leaves_running_statistics)
{
    const struct lab_batch_norm_params p = {1e-5, 0.3, 1};
    const int64_t dim[] = {4, 3};
    struct rig *r = rig_new(RIG_REF_F32);
    rig_add(r, "x", 2, dim);
    rig_random(r, "x", 1, -2, 2);
    static const char *const channel[] = {"mean", "rstd", "rm", "rv"};
    for (int i = 0; i < 4; i++) {
        rig_add(r, channel[i], 1, &dim[1]);
        rig_random(r, channel[i], (uint64_t)i, 0.5, 2);
    }
    double rm = rig_get(r, "rm", 1);
    double rv = rig_get(r, "rv", 1);
    rig_call(r)->training = false;
    rig_run(r, "batch_norm", "stats", LAB_FORWARD, "mean rstd +rm +rv", "x",
            &p);
    assert_true(rig_get(r, "rm", 1) == rm && rig_get(r, "rv", 1) == rv);
    assert_true(rig_get(r, "mean", 1) == rm);
    assert_true(fabs(rig_get(r, "rstd", 1) - 1 / sqrt(rv + 1e-5)) < 1e-6);
    rig_call(r)->training = true;
    rig_run(r, "batch_norm", "stats", LAB_FORWARD, "mean rstd +rm +rv", "x",
            &p);
    assert_true(rig_get(r, "rm", 1) != rm && rig_get(r, "rv", 1) != rv);
    rig_free(r);
}

RUN_TESTS()
