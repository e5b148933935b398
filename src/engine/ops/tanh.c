/* tanh: any number to (-1, 1). */
#include <math.h>
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
    snprintf(symbolic, sizeof(symbolic), "tanh(%s[%s])",
             lab_explain_in_name(ex, 0), at);
    snprintf(numeric, sizeof(numeric), "tanh(%.6g)", x);
    lab_unary_explain_value(ex, index, tanh(x), symbolic, numeric);
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    double x = lab_explain_in(ex, 1, index);
    double t = tanh(x);
    (void)out_slot;
    lab_unary_explain_chain(ex, index, 1 - t * t, "1 - y^2");
}

static const struct lab_unary unary = {
    .forward_formula = "$o0 = tanh($i0)",
    .backward_formula = "$o0 = $i0 * (1 - $i2^2)",
    .forward_flop = 1,
    .backward_flop = 3,
    .explain_forward = explain_forward,
    .explain_backward = explain_backward,
};

static void forward(struct lab_builder *b)
{
    lab_unary_forward(b, "tanh", &unary);
}

static void backward(struct lab_builder *b)
{
    lab_unary_backward(b, "tanh", &unary);
}

static int activation(const struct lab_attr *attr, double *slope)
{
    (void)attr;
    *slope = 0;
    return LAB_ACT_TANH;
}

const struct lab_op_def lab_op_tanh = {.name = "tanh",
                                       .kind = LAB_KIND_LAYER,
                                       .min_inputs = 1,
                                       .max_inputs = 1,
                                       .forward = forward,
                                       .backward = backward,
                                       .activation = activation};
