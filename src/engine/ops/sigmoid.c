/* sigmoid: any number to (0, 1). */
#include "activation/activation.h"
#include "dense/dense.h"
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

static const struct lab_unary *unary(const struct lab_attr *attr)
{
    (void)attr;
    return &sigmoid_unary;
}

static int activation(const struct lab_attr *attr, double *factor)
{
    (void)attr;
    *factor = 0;
    return LAB_ACT_SIGMOID;
}

const struct lab_op_def lab_op_sigmoid = {.name = "sigmoid",
                                          .kind = LAB_KIND_LAYER,
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .forward = lab_unary_forward,
                                          .backward = lab_unary_backward,
                                          .unary = unary,
                                          .activation = activation};
