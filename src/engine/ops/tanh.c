/* tanh: any number to (-1, 1). */
#include <math.h>

#include "unary.h"

static double value(double x, const void *params)
{
    (void)params;
    return tanh(x);
}

static double slope(double x, const void *params)
{
    double t = tanh(x);
    (void)params;
    return (1 - t) * (1 + t);
}

static double slope_of_y(double y)
{
    return 1 - y * y;
}

static const struct lab_unary tanh_unary = {
    .activation = LAB_ACT_TANH,
    .value = value,
    .slope_of_y = slope_of_y,
    .slope = slope,
    .value_text = "tanh($x)",
    .slope_text = "1 - y^2",
    .forward_formula = "$o0 = tanh($i0)",
    .backward_formula = "$o0 = $i0 * (1 - $i2^2)",
    .forward_flop = 1,
    .backward_flop = 3,
};

const struct lab_op_def lab_op_tanh = {LAB_UNARY_OP("tanh", &tanh_unary)};
