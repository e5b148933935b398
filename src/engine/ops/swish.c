/* swish: x times its own sigmoid. */
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
    .activation = LAB_ACT_SWISH,
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

const struct lab_op_def lab_op_swish = {LAB_UNARY_OP("swish", &swish_unary)};
