/* leaky_relu: a relu that lets a little of the negative side through. */
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
    const struct lab_leaky_relu_params *p = lab_explain_params(ex);
    (void)out_slot;
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    snprintf(symbolic, sizeof(symbolic), "%s[%s] > 0 ? x : %g x",
             lab_explain_in_name(ex, 0), at, p->slope);
    snprintf(numeric, sizeof(numeric), "%.6g * %.6g", x, x > 0 ? 1 : p->slope);
    lab_unary_explain_value(ex, index, x > 0 ? x : p->slope * x, symbolic,
                            numeric);
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    double x = lab_explain_in(ex, 1, index);
    const struct lab_leaky_relu_params *p = lab_explain_params(ex);
    (void)out_slot;
    lab_unary_explain_chain(ex, index, x > 0 ? 1 : p->slope,
                            "1 where x > 0, else the slope");
}

static const struct lab_key_def keys[] = {
    {"slope", LAB_KEY_FLOAT, false, 0.01, -1e6, 1e6},
};

static struct lab_unary unary(const struct lab_leaky_relu_params *params)
{
    return (struct lab_unary){
        .forward_formula = "$o0 = $i0 where $i0 > 0, else slope * $i0",
        .backward_formula = "$o0 = $i0 where $i1 > 0, else slope * $i0",
        .forward_flop = 1,
        .backward_flop = 1,
        .explain_forward = explain_forward,
        .explain_backward = explain_backward,
        .params = params,
        .params_bytes = sizeof(*params),
    };
}

static void forward(struct lab_builder *b)
{
    struct lab_leaky_relu_params p = {lab_build_attr(b, "slope")->f};
    struct lab_unary u = unary(&p);
    lab_unary_forward(b, "leaky_relu", &u);
}

static void backward(struct lab_builder *b)
{
    struct lab_leaky_relu_params p = {lab_build_attr(b, "slope")->f};
    struct lab_unary u = unary(&p);
    lab_unary_backward(b, "leaky_relu", &u);
}

static int activation(const struct lab_attr *attr, double *slope)
{
    *slope = attr[0].f;
    return LAB_ACT_LEAKY_RELU;
}

const struct lab_op_def lab_op_leaky_relu = {.name = "leaky_relu",
                                             .kind = LAB_KIND_LAYER,
                                             .keys = keys,
                                             .n_keys = 1,
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .forward = forward,
                                             .backward = backward,
                                             .activation = activation};
