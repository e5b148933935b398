/* Numbers at the edge: large |x|, infinities, NaN, labels that are no class.
 * The double build is the measure for what is finite; the float build must
 * come near it and never turn a finite number into NaN. */
#include "test.h"

#include "activation/activation.h"
#include "layer_norm/layer_norm.h"
#include "ops/kernel_rig.h"
#include "optimizer/optimizer.h"
#include "softmax/softmax.h"

static const struct lab_leaky_relu_params leaky = {0.01};
static const struct lab_elu_params elu = {0.5};
static const struct lab_gelu_params gelu_tanh = {true};
static const struct lab_gelu_params gelu_erf = {false};

struct activation_limits {
    const char *op;
    const void *params;
    double left;        /* forward at -1e4 */
    double right;       /* forward at +1e4 */
    double left_slope;  /* backward at -1e4 */
    double right_slope; /* backward at +1e4 */
};

static const struct activation_limits limits[] = {
    {"relu", NULL, 0, 1e4, 0, 1},
    {"leaky_relu", &leaky, -100, 1e4, 0.01, 1},
    {"sigmoid", NULL, 0, 1, 0, 0},
    {"elu", &elu, -0.5, 1e4, 0, 1},
    {"tanh", NULL, -1, 1, 0, 0},
    {"gelu", &gelu_tanh, 0, 1e4, 0, 1},
    {"gelu", &gelu_erf, 0, 1e4, 0, 1},
    {"softplus", NULL, 0, 1e4, 0, 1},
    {"swish", NULL, 0, 1e4, 0, 1},
};
enum { N_LIMITS = sizeof(limits) / sizeof(limits[0]) };

/* y and dx of the n values of x, with dy = 1. */
static struct rig *activate(enum rig_kind kind,
                            const struct activation_limits *a, const double *x,
                            int64_t n)
{
    struct rig *r = rig_new(kind);
    const char *const names[] = {"x", "y", "dy", "dx"};
    for (int i = 0; i < 4; i++)
        rig_add(r, names[i], 1, &n);
    rig_set(r, "x", x);
    for (int64_t i = 0; i < n; i++)
        rig_put(r, "dy", i, 1);
    rig_run(r, a->op, a->op, LAB_FORWARD, "y", "x", a->params);
    rig_run(r, a->op, a->op, LAB_BACKWARD, "dx", "dy x y", a->params);
    return r;
}

TEST_CASE(large_inputs_reach_the_limit)
{
    static const double x[] = {-1e4, 1e4};
    for (int i = 0; i < N_LIMITS; i++) {
        const struct activation_limits *a = &limits[i];
        const double y[] = {a->left, a->right};
        const double dx[] = {a->left_slope, a->right_slope};
        for (enum rig_kind kind = RIG_REF_F32; kind <= RIG_REF_F64; kind++) {
            struct rig *r = activate(kind, a, x, 2);
            rig_compare(a->op, r, "y", y, 2, 1e-7);
            rig_compare(a->op, r, "dx", dx, 2, 1e-7);
            rig_free(r);
        }
    }
}

TEST_CASE(finite_inputs_give_finite_outputs)
{
    static const double x[] = {0,    -0.0,  1e-40, -1e-40, 1e-7,  -1e-7, 5,
                               -5,   20,    -20,   50,     -50,   88,    -88,
                               89,   -89,   100,   -100,   104,   -104,  710,
                               -710, 1e4,   -1e4,  1e10,   -1e10, 1e13,  -1e13,
                               1e19, -1e19, 3e19,  -3e19,  3e38,  -3e38};
    enum { N = sizeof(x) / sizeof(x[0]) };
    for (int i = 0; i < N_LIMITS; i++) {
        const struct activation_limits *a = &limits[i];
        for (int k = 0; k < N; k++) {
            struct rig *single = activate(RIG_REF_F32, a, &x[k], 1);
            double rounded = rig_get(single, "x", 0);
            struct rig *ref = activate(RIG_REF_F64, a, &rounded, 1);
            if (!isfinite(rig_get(ref, "y", 0)) ||
                !isfinite(rig_get(ref, "dx", 0)))
                fail_msg("%s(%g) is %g, slope %g", a->op, x[k],
                         rig_get(ref, "y", 0), rig_get(ref, "dx", 0));
            rig_compare_rigs(a->op, single, ref, "y", 1e-6);
            rig_compare_rigs(a->op, single, ref, "dx", 2e-6);
            rig_free(single);
            rig_free(ref);
        }
    }
}

/* sigmoid(-50) and its slope are tiny, not 0; -100 underflows without NaN. */
TEST_CASE(sigmoid_keeps_small_gradients)
{
    static const double x[] = {-50, -80, -100};
    const struct activation_limits *sigmoid = &limits[2];
    struct rig *r = activate(RIG_REF_F32, sigmoid, x, 3);
    assert_true(fabs(rig_get(r, "dx", 0) / 1.9287498479639178e-22 - 1) < 1e-5);
    assert_true(fabs(rig_get(r, "dx", 1) / 1.8048513878454153e-35 - 1) < 1e-5);
    assert_true(fabs(rig_get(r, "dx", 2) - 3.72e-44) < 1.5e-45);
    rig_free(r);
}

/* The first of the largest, wherever it is; none where one is no number. */
TEST_CASE(the_largest_of_a_row)
{
    enum { MOST = 40 };
    float x[MOST];
    for (int n = 1; n <= MOST; n++) {
        for (int at = 0; at < n; at++) {
            for (int i = 0; i < n; i++)
                x[i] = i < at    ? -INFINITY
                       : i == at ? 2.0f
                                 : 2.0f - (float)(i % 3);
            assert_int_equal(lab_softmax_largest(x, n), at);
            x[at] = NAN;
            assert_int_equal(lab_softmax_largest(x, n), -1);
        }
        for (int i = 0; i < n; i++)
            x[i] = -INFINITY;
        assert_int_equal(lab_softmax_largest(x, n), 0);
    }
}

TEST_CASE(nan_stays_nan)
{
    static const double x[] = {1, NAN, -1};
    for (int i = 0; i < N_LIMITS; i++) {
        struct rig *r = activate(RIG_REF_F32, &limits[i], x, 3);
        assert_false(isnan(rig_get(r, "y", 0)));
        assert_true(isnan(rig_get(r, "y", 1)));
        assert_false(isnan(rig_get(r, "y", 2)));
        assert_false(isnan(rig_get(r, "dx", 0)));
        assert_false(isnan(rig_get(r, "dx", 2)));
        rig_free(r);
    }
}

TEST_CASE(infinities_have_their_limits)
{
    static const double x[] = {INFINITY, -INFINITY};
    static const struct {
        const char *op;
        double right;
        double left;
    } want[] = {{"relu", INFINITY, 0},
                {"leaky_relu", INFINITY, -INFINITY},
                {"sigmoid", 1, 0},
                {"elu", INFINITY, -0.5},
                {"tanh", 1, -1},
                {"gelu", INFINITY, NAN}, /* as in activation.h */
                {"gelu", INFINITY, NAN},
                {"softplus", INFINITY, 0},
                {"swish", INFINITY, NAN}};
    for (int i = 0; i < N_LIMITS; i++) {
        const double y[] = {want[i].right, want[i].left};
        struct rig *r = activate(RIG_REF_F32, &limits[i], x, 2);
        assert_string_equal(limits[i].op, want[i].op);
        rig_compare(want[i].op, r, "y", y, 2, 0);
        rig_free(r);
    }
}

static void softmax_of(const double *x, int64_t C, double *y)
{
    const int64_t dim[] = {1, C};
    struct rig *r = rig_new(RIG_REF_F32);
    rig_add(r, "x", 2, dim);
    rig_add(r, "y", 2, dim);
    rig_set(r, "x", x);
    rig_run(r, "softmax", "softmax", LAB_FORWARD, "y", "x", NULL);
    for (int64_t c = 0; c < C; c++)
        y[c] = rig_get(r, "y", c);
    rig_free(r);
}

TEST_CASE(softmax_takes_any_row)
{
    double y[3];
    softmax_of((const double[]){1e4, 1e4, -1e4}, 3, y);
    assert_true(y[0] == 0.5 && y[1] == 0.5 && y[2] == 0);
    softmax_of((const double[]){-3e38, 0, 3e38}, 3, y);
    assert_true(y[0] == 0 && y[1] == 0 && y[2] == 1);
    softmax_of((const double[]){-1e4, -1e4, -1e4}, 3, y);
    assert_true(fabs(y[0] - 1.0 / 3) < 1e-7 && y[0] == y[2]);
    softmax_of((const double[]){-INFINITY, 0, 0}, 3, y);
    assert_true(y[0] == 0 && y[1] == 0.5);
    softmax_of((const double[]){-INFINITY, -INFINITY, -INFINITY}, 3, y);
    assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
    for (int at = 0; at < 3; at++) {
        double x[] = {1, 2, 3};
        x[at] = NAN;
        softmax_of(x, 3, y);
        assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
    }
}

/* sample and dz of one row of logits */
static void cross_entropy_of(const double *z, int label, double *sample,
                             double *dz)
{
    const int64_t dim[] = {1, 3};
    const char *op = "softmax_cross_entropy";
    struct rig *r = rig_new(RIG_REF_F32);
    rig_add(r, "z", 2, dim);
    rig_add(r, "probs", 2, dim);
    rig_add(r, "dz", 2, dim);
    rig_add(r, "sample", 1, dim);
    rig_add_labels(r, "y", 1);
    rig_set(r, "z", z);
    rig_put(r, "y", 0, label);
    rig_run(r, op, "softmax", LAB_LOSS, "probs", "z", NULL);
    rig_run(r, op, "sample", LAB_LOSS, "sample", "z y", NULL);
    rig_run(r, op, "softmax", LAB_BACKWARD, "dz", "probs y", NULL);
    *sample = rig_get(r, "sample", 0);
    for (int c = 0; c < 3; c++)
        dz[c] = rig_get(r, "dz", c);
    rig_free(r);
}

TEST_CASE(cross_entropy_is_finite_where_probs_underflows)
{
    double sample;
    double dz[3];
    cross_entropy_of((const double[]){1e4, 0, -1e4}, 2, &sample, dz);
    assert_true(sample == 2e4);
    assert_true(dz[0] == 1 && dz[1] == 0 && dz[2] == -1);
    cross_entropy_of((const double[]){1e4, 0, -1e4}, 0, &sample, dz);
    assert_true(sample == 0 && dz[0] == 0);
    cross_entropy_of((const double[]){-1e4, -1e4, -1e4}, 1, &sample, dz);
    assert_true(fabs(sample - log(3)) < 1e-6);
    cross_entropy_of((const double[]){0, -INFINITY, 0}, 1, &sample, dz);
    assert_true(isinf(sample) && sample > 0);
    cross_entropy_of((const double[]){0, NAN, 0}, 0, &sample, dz);
    assert_true(isnan(sample) && isnan(dz[0]));
}

TEST_CASE(labels_that_are_no_class_give_nan)
{
    static const int labels[] = {-1, 3, 1000000000, -2147483647};
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        double sample;
        double dz[3];
        cross_entropy_of((const double[]){1, 2, 3}, labels[i], &sample, dz);
        assert_true(isnan(sample));
        assert_true(isnan(dz[0]) && isnan(dz[1]) && isnan(dz[2]));
    }
}

/* Numbers far from 0: the one-pass variance would lose all digits here. */
TEST_CASE(layer_norm_survives_a_large_mean)
{
    enum { D = 64 };
    const struct lab_layer_norm_params p = {1e-5};
    const int64_t dim[] = {1, D};
    struct rig *rigs[2];
    for (int k = 0; k < 2; k++) {
        struct rig *r = rigs[k] = rig_new(k ? RIG_REF_F64 : RIG_REF_F32);
        rig_add(r, "x", 2, dim);
        rig_add(r, "xhat", 2, dim);
        rig_add(r, "mean", 1, dim);
        rig_add(r, "rstd", 1, dim);
        rig_random(r, "x", 4, 9999, 10001);
        rig_run(r, "layer_norm", "stats", LAB_FORWARD, "mean rstd", "x", &p);
        rig_run(r, "layer_norm", "normalize", LAB_FORWARD, "xhat",
                "x mean rstd", &p);
    }
    rig_compare_rigs("rstd", rigs[0], rigs[1], "rstd", 1e-6);
    /* the mean itself is rounded to float: half an ulp of 1e4 is 5e-4 */
    rig_compare_rigs("xhat", rigs[0], rigs[1], "xhat", 1e-3);
    rig_free(rigs[0]);
    rig_free(rigs[1]);
}

TEST_CASE(layer_norm_of_a_constant_row_is_zero)
{
    const struct lab_layer_norm_params p = {1e-5};
    const int64_t dim[] = {1, 5};
    struct rig *r = rig_new(RIG_REF_F32);
    const char *const names[] = {"x", "xhat", "mean", "rstd"};
    for (int i = 0; i < 4; i++)
        rig_add(r, names[i], i < 2 ? 2 : 1, dim);
    for (int64_t d = 0; d < 5; d++)
        rig_put(r, "x", d, 3.25);
    rig_run(r, "layer_norm", "stats", LAB_FORWARD, "mean rstd", "x", &p);
    rig_run(r, "layer_norm", "normalize", LAB_FORWARD, "xhat", "x mean rstd",
            &p);
    assert_true(rig_get(r, "mean", 0) == 3.25);
    assert_true(fabs(rig_get(r, "rstd", 0) - 1 / sqrt(1e-5)) < 1e-2);
    for (int64_t d = 0; d < 5; d++)
        assert_true(rig_get(r, "xhat", d) == 0);
    rig_free(r);
}

/* Late in a run beta^t is 0, and with a gradient of 0 nothing moves. */
TEST_CASE(adam_is_calm_at_the_ends)
{
    const struct lab_adam_params p = {0.1, 0.9, 0.999, 1e-8, 0};
    static const uint64_t iterations[] = {0, 1000000000000u};
    const int64_t dim[] = {2};
    for (int k = 0; k < 2; k++) {
        struct rig *r = rig_new(RIG_REF_F32);
        const char *const names[] = {"p", "m", "v", "g"};
        for (int i = 0; i < 4; i++) {
            rig_add(r, names[i], 1, dim);
            rig_put(r, names[i], 0, 0);
            rig_put(r, names[i], 1, 0);
        }
        rig_put(r, "p", 0, 1.5);
        rig_put(r, "g", 1, -2e-3);
        rig_call(r)->iteration = iterations[k];
        rig_run(r, "adam", "update", LAB_UPDATE, "+p +m +v", "g", &p);
        assert_true(rig_get(r, "p", 0) == 1.5);
        /* first step: lr, whatever the gradient's size */
        if (k == 0)
            assert_true(fabs(rig_get(r, "p", 1) - 0.1) < 1e-5);
        assert_true(isfinite(rig_get(r, "p", 1)));
        rig_free(r);
    }
}

RUN_TESTS()
