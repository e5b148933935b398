/* gelu: x weighted by the normal distribution function, exact or by tanh. */
#include <math.h>

#include "activation/activation.h"
#include "unary.h"

enum { FORM_TANH, FORM_ERF };
static const char *const forms[] = {"tanh", "erf", NULL};
static const struct lab_key_def keys[] = {
    {"approximate", LAB_KEY_CHOICE, false, FORM_TANH, .choices = forms},
};

static const double sqrt_2_pi = 0.7978845608028654; /* sqrt(2/pi) */

static double value(double x, const void *params)
{
    const struct lab_gelu_params *p = params;
    if (p->tanh)
        return 0.5 * x * (1 + tanh(sqrt_2_pi * (x + 0.044715 * x * x * x)));
    return 0.5 * x * erfc(-x / sqrt(2.0));
}

static double slope(double x, const void *params)
{
    const struct lab_gelu_params *p = params;
    if (p->tanh) {
        double t = tanh(sqrt_2_pi * (x + 0.044715 * x * x * x));
        double du = sqrt_2_pi * (1 + 3 * 0.044715 * x * x);
        return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * du;
    }
    double phi = exp(-0.5 * x * x) * 0.3989422804014327; /* 1/sqrt(2 pi) */
    return 0.5 * erfc(-x / sqrt(2.0)) + x * phi;
}

static void fill_params(const struct lab_attr *attr, void *params)
{
    struct lab_gelu_params *p = params;
    p->tanh = attr[0].choice == FORM_TANH;
}

static const struct lab_unary by_form[] = {
    [FORM_TANH] = {.activation = LAB_ACT_GELU_TANH,
                   .value = value,
                   .slope = slope,
                   .value_text = "$x * (1 + tanh(sqrt(2/pi) ($x + 0.044715 "
                                 "$x^3)))/2",
                   .slope_text = "(1 + t)/2 + x (1 - t^2) du/2",
                   .slope_where = "t = tanh(u); u = sqrt(2/pi) (x + 0.044715 "
                                  "x^3); du = sqrt(2/pi) (1 + 0.134145 x^2)",
                   .forward_formula = "$o0 = $i0/2 (1 + tanh(sqrt(2/pi) ($i0 + "
                                      "0.044715 $i0^3)))",
                   .backward_formula = "$o0 = $i0 * ((1 + t)/2 + $i1 (1 - t^2) "
                                       "u'/2), t = tanh(u)",
                   .forward_flop = 9,
                   .backward_flop = 16,
                   .params_bytes = sizeof(struct lab_gelu_params),
                   .fill_params = fill_params},
    [FORM_ERF] = {.activation = LAB_ACT_GELU_ERF,
                  .value = value,
                  .slope = slope,
                  .value_text = "$x * (1 + erf($x/sqrt(2)))/2",
                  .slope_text = "Phi(x) + x phi(x)",
                  .slope_where = "Phi(x) = (1 + erf(x/sqrt(2)))/2; phi(x) = "
                                 "exp(-x^2/2)/sqrt(2 pi)",
                  .forward_formula = "$o0 = $i0/2 (1 + erf($i0/sqrt 2))",
                  .backward_formula = "$o0 = $i0 * (Phi($i1) + $i1 phi($i1))",
                  .forward_flop = 5,
                  .backward_flop = 10,
                  .params_bytes = sizeof(struct lab_gelu_params),
                  .fill_params = fill_params},
};

const struct lab_op_def lab_op_gelu = {LAB_UNARY_OP("gelu", by_form),
                                       LAB_KEYS(keys)};
