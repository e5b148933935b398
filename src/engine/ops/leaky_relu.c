/* leaky_relu: a relu that lets a little of the negative side through. */
#include "activation/activation.h"
#include "unary.h"

static const struct lab_key_def keys[] = {
    {"slope", LAB_KEY_FLOAT, false, 0.01, -1e6, 1e6},
};

static double slope(double x, const void *params)
{
    const struct lab_leaky_relu_params *p = params;
    return x > 0 ? 1 : p->slope;
}

static double value(double x, const void *params)
{
    return x * slope(x, params);
}

static void fill_params(const struct lab_attr *attr, void *params)
{
    struct lab_leaky_relu_params *p = params;
    p->slope = attr[0].f;
}

static const struct lab_unary leaky_relu_unary = {
    .activation = LAB_ACT_LEAKY_RELU,
    .value = value,
    .slope = slope,
    .value_text = "$x * (1 where $x > 0, else slope)",
    .slope_text = "1 where x > 0, else slope",
    .forward_formula = "$o0 = $i0 where $i0 > 0, else slope * $i0",
    .backward_formula = "$o0 = $i0 where $i1 > 0, else slope * $i0",
    .forward_flop = 1,
    .backward_flop = 1,
    .params_bytes = sizeof(struct lab_leaky_relu_params),
    .fill_params = fill_params,
};

const struct lab_op_def lab_op_leaky_relu = {
    LAB_UNARY_OP("leaky_relu", &leaky_relu_unary), LAB_KEYS(keys)};
