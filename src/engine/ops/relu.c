/* relu: what is negative becomes zero. */
#include "activation/activation.h"
#include "dense/dense.h"
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
    .value = value,
    .slope = slope,
    .value_text = "max(0, $x)",
    .slope_text = "1 where x > 0, else 0",
    .forward_formula = "$o0 = max(0, $i0)",
    .backward_formula = "$o0 = $i0 * [$i1 > 0]",
    .forward_flop = 1,
    .backward_flop = 1,
};

static const struct lab_unary *unary(const struct lab_attr *attr)
{
    (void)attr;
    return &relu_unary;
}

static int activation(const struct lab_attr *attr, double *factor)
{
    (void)attr;
    *factor = 0;
    return LAB_ACT_RELU;
}

const struct lab_op_def lab_op_relu = {.name = "relu",
                                       .kind = LAB_KIND_LAYER,
                                       .min_inputs = 1,
                                       .max_inputs = 1,
                                       .forward = lab_unary_forward,
                                       .backward = lab_unary_backward,
                                       .unary = unary,
                                       .activation = activation};
