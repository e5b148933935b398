/* swish: x times its own sigmoid. */
#include "activation/activation.h"
#include "dense/dense.h"
#include "unary.h"

static double value(double x, const void *params)
{
    (void)params;
    return x * lab_sigmoid(x);
}

static double slope(double x, const void *params)
{
    double s = lab_sigmoid(x);
    (void)params;
    return s + x * s * lab_sigmoid(-x);
}

static const struct lab_unary swish_unary = {
    .value = value,
    .slope = slope,
    .value_text = "$x * sigmoid($x)",
    .slope_text = "s + x s (1 - s)",
    .slope_where = "s = sigmoid(x) = 1/(1 + exp(-$x))",
    .forward_formula = "$o0 = $i0 / (1 + exp(-$i0))",
    .backward_formula = "$o0 = $i0 * (s + $i1 s (1 - s)), s = sigmoid($i1)",
    .forward_flop = 5,
    .backward_flop = 8,
};

static const struct lab_unary *unary(const struct lab_attr *attr)
{
    (void)attr;
    return &swish_unary;
}

static int activation(const struct lab_attr *attr, double *factor)
{
    (void)attr;
    *factor = 0;
    return LAB_ACT_SWISH;
}

const struct lab_op_def lab_op_swish = {.name = "swish",
                                        .kind = LAB_KIND_LAYER,
                                        .min_inputs = 1,
                                        .max_inputs = 1,
                                        .forward = lab_unary_forward,
                                        .backward = lab_unary_backward,
                                        .unary = unary,
                                        .activation = activation};
