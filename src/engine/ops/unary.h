/* ops/unary.h -- what elementwise activations share: one step a phase, the
 * output shaped like the input. */
#pragma once
#include "engine/explain.h"
#include "engine/op.h"

struct lab_unary {
    const char *forward_formula;  /* "$o0 = max(0, $i0)" */
    const char *backward_formula; /* "$o0 = $i0 * [$i1 > 0]" */
    double forward_flop;          /* an element */
    double backward_flop;
    lab_explain_fn *explain_forward;
    lab_explain_fn *explain_backward;
    const void *params;
    size_t params_bytes;
};

/* in[0] x, out[0] y; backward: in[0] dy, in[1] x, in[2] y, out[0] dx. The
 * step has the op's name. */
void lab_unary_forward(struct lab_builder *b, const char *op,
                       const struct lab_unary *u);
void lab_unary_backward(struct lab_builder *b, const char *op,
                        const struct lab_unary *u);

/* For backward explanations: dx = dy * slope, written out. `slope_text` is
 * the derivative in symbols at this element. */
void lab_unary_explain_chain(struct lab_explainer *ex, int64_t index,
                             double slope, const char *slope_text);
/* y = f(x): "relu(x[i])" with its numbers. */
void lab_unary_explain_value(struct lab_explainer *ex, int64_t index, double y,
                             const char *symbolic, const char *numeric);

/* The functions and their derivatives in double, for explanations. */
double lab_sigmoid(double x);
double lab_softplus(double x);
double lab_gelu(double x, bool tanh_form);
double lab_gelu_slope(double x, bool tanh_form);
