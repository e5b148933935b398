/* softplus: a relu without the corner. */
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
    (void)out_slot;
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    snprintf(symbolic, sizeof(symbolic), "log(1 + exp(%s[%s]))",
             lab_explain_in_name(ex, 0), at);
    snprintf(numeric, sizeof(numeric), "log(1 + exp(%.6g))", x);
    lab_unary_explain_value(ex, index, lab_softplus(x), symbolic, numeric);
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    double x = lab_explain_in(ex, 1, index);
    (void)out_slot;
    lab_unary_explain_chain(ex, index, lab_sigmoid(x), "sigmoid(x)");
}

static const struct lab_unary unary = {
    .forward_formula = "$o0 = log(1 + exp($i0))",
    .backward_formula = "$o0 = $i0 / (1 + exp(-$i1))",
    .forward_flop = 3,
    .backward_flop = 4,
    .explain_forward = explain_forward,
    .explain_backward = explain_backward,
};

static void forward(struct lab_builder *b)
{
    lab_unary_forward(b, "softplus", &unary);
}

static void backward(struct lab_builder *b)
{
    lab_unary_backward(b, "softplus", &unary);
}

static int activation(const struct lab_attr *attr, double *slope)
{
    (void)attr;
    *slope = 0;
    return LAB_ACT_SOFTPLUS;
}

const struct lab_op_def lab_op_softplus = {.name = "softplus",
                                           .kind = LAB_KIND_LAYER,
                                           .min_inputs = 1,
                                           .max_inputs = 1,
                                           .forward = forward,
                                           .backward = backward,
                                           .activation = activation};
