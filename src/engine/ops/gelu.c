/* gelu: x weighted by the normal distribution function. */
#include <stdio.h>

#include "activation.h"
#include "dense.h"
#include "unary.h"

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    char symbolic[400];
    char numeric[96];
    char at[LAB_SHAPE_TEXT];
    double x = lab_explain_in(ex, 0, index);
    const struct lab_gelu_params *p = lab_explain_params(ex);
    (void)out_slot;
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    snprintf(symbolic, sizeof(symbolic), "%s[%s] * %s",
             lab_explain_in_name(ex, 0), at,
             p->tanh ? "(1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2"
                     : "(1 + erf(x/sqrt 2))/2");
    snprintf(numeric, sizeof(numeric), "%.6g * %.6g", x,
             x == 0 ? 0.5 : lab_gelu(x, p->tanh) / x);
    lab_unary_explain_value(ex, index, lab_gelu(x, p->tanh), symbolic, numeric);
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    double x = lab_explain_in(ex, 1, index);
    const struct lab_gelu_params *p = lab_explain_params(ex);
    (void)out_slot;
    lab_unary_explain_chain(ex, index, lab_gelu_slope(x, p->tanh),
                            p->tanh
                                ? "(1 + t)/2 + x (1 - t^2) u'/2, t = tanh(u)"
                                : "Phi(x) + x phi(x)");
}

enum { FORM_TANH, FORM_ERF };
static const char *const forms[] = {"tanh", "erf", NULL};
static const struct lab_key_def keys[] = {
    {"approximate", LAB_KEY_CHOICE, false, FORM_TANH, .choices = forms},
};

static struct lab_unary unary(const struct lab_gelu_params *params)
{
    return (struct lab_unary){
        .forward_formula =
            params->tanh
                ? "$o0 = $i0/2 (1 + tanh(sqrt(2/pi) ($i0 + 0.044715 $i0^3)))"
                : "$o0 = $i0/2 (1 + erf($i0/sqrt 2))",
        .backward_formula =
            params->tanh ? "$o0 = $i0 * ((1 + t)/2 + $i1 (1 - t^2) u'/2), "
                           "t = tanh(u)"
                         : "$o0 = $i0 * (Phi($i1) + $i1 phi($i1))",
        .forward_flop = params->tanh ? 9 : 5,
        .backward_flop = params->tanh ? 16 : 10,
        .explain_forward = explain_forward,
        .explain_backward = explain_backward,
        .params = params,
        .params_bytes = sizeof(*params),
    };
}

static struct lab_gelu_params params_of(const struct lab_attr *form)
{
    return (struct lab_gelu_params){.tanh = form->choice == FORM_TANH};
}

static void forward(struct lab_builder *b)
{
    struct lab_gelu_params p = params_of(lab_build_attr(b, "approximate"));
    struct lab_unary u = unary(&p);
    lab_unary_forward(b, "gelu", &u);
}

static void backward(struct lab_builder *b)
{
    struct lab_gelu_params p = params_of(lab_build_attr(b, "approximate"));
    struct lab_unary u = unary(&p);
    lab_unary_backward(b, "gelu", &u);
}

static int activation(const struct lab_attr *attr, double *slope)
{
    *slope = 0;
    return attr[0].choice == FORM_TANH ? LAB_ACT_GELU_TANH : LAB_ACT_GELU_ERF;
}

const struct lab_op_def lab_op_gelu = {.name = "gelu",
                                       .kind = LAB_KIND_LAYER,
                                       .keys = keys,
                                       .n_keys = 1,
                                       .min_inputs = 1,
                                       .max_inputs = 1,
                                       .forward = forward,
                                       .backward = backward,
                                       .activation = activation};
