#include "unary.h"

#include <math.h>
#include <stdio.h>

void lab_unary_forward(struct lab_builder *b, const char *op,
                       const struct lab_unary *u)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    int y = lab_build_out(b, &shape);
    int64_t n = 0;
    if (y < 0 || lab_shape_count(&shape, &n))
        return;
    lab_build_step(b,
                   &(struct lab_step_def){.name = op,
                                          .phase = LAB_FORWARD,
                                          .in = {x},
                                          .n_in = 1,
                                          .out = {y},
                                          .n_out = 1,
                                          .params = u->params,
                                          .params_bytes = u->params_bytes,
                                          .flop = u->forward_flop * (double)n,
                                          .formula = u->forward_formula,
                                          .explain = u->explain_forward});
}

void lab_unary_backward(struct lab_builder *b, const char *op,
                        const struct lab_unary *u)
{
    int dy = lab_build_out_grad(b);
    int x = lab_build_input(b, 0);
    int y = lab_build_find(b, "out");
    int dx = lab_build_input_grad(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    int64_t n = 0;
    if (dx < 0 || lab_shape_count(&shape, &n))
        return;
    lab_build_step(b,
                   &(struct lab_step_def){.name = op,
                                          .phase = LAB_BACKWARD,
                                          .in = {dy, x, y},
                                          .n_in = 3,
                                          .out = {dx},
                                          .n_out = 1,
                                          .params = u->params,
                                          .params_bytes = u->params_bytes,
                                          .flop = u->backward_flop * (double)n,
                                          .formula = u->backward_formula,
                                          .explain = u->explain_backward});
}

void lab_unary_explain_chain(struct lab_explainer *ex, int64_t index,
                             double slope, const char *slope_text)
{
    char at[LAB_SHAPE_TEXT];
    double dy = lab_explain_in(ex, 0, index);
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    lab_explain_symbolic(ex, "%s[%s] * (%s)", lab_explain_in_name(ex, 0), at,
                         slope_text);
    lab_explain_numeric(ex, "%.6g * %.6g", dy, slope);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_value(ex, dy * slope);
}

void lab_unary_explain_value(struct lab_explainer *ex, int64_t index, double y,
                             const char *symbolic, const char *numeric)
{
    lab_explain_symbolic(ex, "%s", symbolic);
    lab_explain_numeric(ex, "%s", numeric);
    lab_explain_source(ex, 0, index);
    lab_explain_value(ex, y);
}

double lab_sigmoid(double x)
{
    if (x >= 0)
        return 1 / (1 + exp(-x));
    double e = exp(x);
    return e / (1 + e);
}

double lab_softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static const double sqrt_2_pi = 0.7978845608028654; /* sqrt(2/pi) */

double lab_gelu(double x, bool tanh_form)
{
    if (tanh_form) {
        double u = sqrt_2_pi * (x + 0.044715 * x * x * x);
        return 0.5 * x * (1 + tanh(u));
    }
    return 0.5 * x * erfc(-x / sqrt(2.0));
}

double lab_gelu_slope(double x, bool tanh_form)
{
    if (tanh_form) {
        double u = sqrt_2_pi * (x + 0.044715 * x * x * x);
        double t = tanh(u);
        double du = sqrt_2_pi * (1 + 3 * 0.044715 * x * x);
        return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * du;
    }
    double phi = exp(-0.5 * x * x) * 0.3989422804014327; /* 1/sqrt(2 pi) */
    return 0.5 * erfc(-x / sqrt(2.0)) + x * phi;
}
