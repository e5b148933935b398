/* softplus: a relu without the corner. */
#include "activation/activation.h"
#include "dense/dense.h"
#include "unary.h"

static double value(double x, const void *params)
{
    (void)params;
    return lab_softplus(x);
}

static double slope(double x, const void *params)
{
    (void)params;
    return lab_sigmoid(x);
}

static const struct lab_unary softplus_unary = {
    .value = value,
    .slope = slope,
    .value_text = "log(1 + exp($x))",
    .slope_text = "sigmoid(x)",
    .forward_formula = "$o0 = log(1 + exp($i0))",
    .backward_formula = "$o0 = $i0 / (1 + exp(-$i1))",
    .forward_flop = 3,
    .backward_flop = 4,
};

static const struct lab_unary *unary(const struct lab_attr *attr)
{
    (void)attr;
    return &softplus_unary;
}

static int activation(const struct lab_attr *attr, double *factor)
{
    (void)attr;
    *factor = 0;
    return LAB_ACT_SOFTPLUS;
}

const struct lab_op_def lab_op_softplus = {.name = "softplus",
                                           .kind = LAB_KIND_LAYER,
                                           .min_inputs = 1,
                                           .max_inputs = 1,
                                           .forward = lab_unary_forward,
                                           .backward = lab_unary_backward,
                                           .unary = unary,
                                           .activation = activation};
