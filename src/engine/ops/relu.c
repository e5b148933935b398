/* relu: what is negative becomes zero. */
#include "unary.h"

static double value(double x, const void *params)
{
    (void)params;
    return x < 0 ? 0 : x;
}

static double slope(double x, const void *params)
{
    (void)params;
    return x > 0 ? 1 : 0;
}

static const struct lab_unary relu_unary = {
    .activation = LAB_ACT_RELU,
    .value = value,
    .slope = slope,
    .value_text = "max(0, $x)",
    .slope_text = "1 where x > 0, else 0",
    .forward_formula = "$o0 = max(0, $i0)",
    .backward_formula = "$o0 = $i0 * [$i1 > 0]",
    .forward_flop = 1,
    .backward_flop = 1,
};

const struct lab_op_def lab_op_relu = {LAB_UNARY_OP("relu", &relu_unary)};
