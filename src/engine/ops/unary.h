/* ops/unary.h -- elementwise ops: all that one of them has to say of itself.
 *
 * The steps, the explanations and the gradient are the same for every function
 * of one number; an op gives the function, its slope, their words and their
 * cost, and names lab_unary_forward and lab_unary_backward in its definition.
 * One step a phase, named like the op: in[0] x, out[0] y; backward: in[0] dy,
 * in[1] x, in[2] y, out[0] dx. */
#pragma once
#include "engine/explain.h"
#include "engine/op.h"

struct lab_unary {
    /* In double, for explanations; params as the kernels get them. */
    double (*value)(double x, const void *params);
    double (*slope)(double x, const void *params);
    double (*slope_of_y)(double y); /* where slope_text is of y; else NULL */
    const char *value_text;         /* "max(0, $x)" */
    const char *slope_text;         /* "1 where x > 0, else 0" */
    const char *slope_where;        /* its other names; NULL: it has none */
    const char *forward_formula;    /* "$o0 = max(0, $i0)" */
    const char *backward_formula;   /* "$o0 = $i0 * [$i1 > 0]" */
    double forward_flop;            /* an element */
    double backward_flop;
    size_t params_bytes; /* at most LAB_UNARY_PARAMS; 0: none */
    void (*fill_params)(const struct lab_attr *attr, void *params);
};

enum { LAB_UNARY_PARAMS = 32 };

void lab_unary_forward(struct lab_builder *b);
void lab_unary_backward(struct lab_builder *b);

/* Shared by several ops, and by dense's fused group. */
double lab_sigmoid(double x);
double lab_softplus(double x);
double lab_gelu(double x, bool tanh_form);
double lab_gelu_slope(double x, bool tanh_form);
