/* elu: a relu with a left side that bends towards -alpha: its mean is nearer to 0.
 * D. Clevert, T. Unterthiner, S. Hochreiter, arXiv:1511.07289. */
#include "activation/activation.h"

#include <math.h>

#include "unary.h"

static const struct lab_key_def keys[] = {
    {"alpha", LAB_KEY_FLOAT, false, 1, 0, 1e6},
};

static double value(double x, const void *params)
{
    const struct lab_elu_params *p = params;
    return x > 0 ? x : p->alpha * expm1(x);
}

static double slope(double x, const void *params)
{
    const struct lab_elu_params *p = params;
    return x > 0 ? 1 : p->alpha * exp(x);
}

static void fill_params(const struct lab_attr *attr, void *params)
{
    struct lab_elu_params *p = params;
    p->alpha = attr[0].f;
}

static const struct lab_unary elu_unary = {
    .value = value,
    .slope = slope,
    .value_text = "$x where $x > 0, else alpha (exp($x) - 1)",
    .slope_text = "1 where x > 0, else alpha exp(x)",
    .forward_formula = "$o0 = max($i0, 0) + alpha * (exp(min($i0, 0)) - 1)",
    .backward_formula = "$o0 = $i0 where $i1 > 0, else ($i2 + alpha) * $i0",
    .forward_flop = 3,
    .backward_flop = 2,
    .params_bytes = sizeof(struct lab_elu_params),
    .fill_params = fill_params,
};

const struct lab_op_def lab_op_elu = {LAB_UNARY_OP("elu", &elu_unary),
                                      LAB_KEYS(keys)};
