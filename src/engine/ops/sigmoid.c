/* sigmoid: any number to (0, 1). */
#include "unary.h"

static double value(double x, const void *params)
{
    (void)params;
    return lab_sigmoid(x);
}

static double slope(double x, const void *params)
{
    (void)params;
    return lab_sigmoid(x) * lab_sigmoid(-x);
}

static double slope_of_y(double y)
{
    return y * (1 - y);
}

static const struct lab_unary sigmoid_unary = {
    .activation = LAB_ACT_SIGMOID,
    .value = value,
    .slope_of_y = slope_of_y,
    .slope = slope,
    .value_text = "1/(1 + exp(-$x))",
    .slope_text = "y (1 - y)",
    .forward_formula = "$o0 = 1/(1 + exp(-$i0))",
    .backward_formula = "$o0 = $i0 * $i2 (1 - $i2)",
    .forward_flop = 4,
    .backward_flop = 3,
};

const struct lab_op_def lab_op_sigmoid = {
    LAB_UNARY_OP("sigmoid", &sigmoid_unary)};
