/* softplus: a relu without the corner. */
#include <math.h>

#include "unary.h"

static double value(double x, const void *params)
{
    (void)params;
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double slope(double x, const void *params)
{
    (void)params;
    return lab_sigmoid(x);
}

static const struct lab_unary softplus_unary = {
    .activation = LAB_ACT_SOFTPLUS,
    .value = value,
    .slope = slope,
    .value_text = "log(1 + exp($x))",
    .slope_text = "sigmoid(x)",
    .forward_formula = "$o0 = log(1 + exp($i0))",
    .backward_formula = "$o0 = $i0 / (1 + exp(-$i1))",
    .forward_flop = 3,
    .backward_flop = 4,
};

const struct lab_op_def lab_op_softplus = {
    LAB_UNARY_OP("softplus", &softplus_unary)};
