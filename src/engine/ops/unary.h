/* ops/unary.h -- elementwise ops: all that one of them has to state.
 *
 * The steps, the explanations and the gradient are the same for every function
 * of one number; an op gives the function, its slope, their words and their
 * cost, and names lab_unary_forward and lab_unary_backward in its definition.
 * One step a phase, named like the op: in[0] x, out[0] y; backward: in[0] dy,
 * in[1] x, in[2] y, out[0] dx. */
#pragma once
#include "dense/dense.h"
#include "engine/explain.h"
#include "engine/op.h"

struct lab_unary {
    /* For group kernels that take it in; LAB_ACT_NONE: none does. */
    enum lab_activation activation;
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

/* The fields that all elementwise ops have in common; table: a lab_unary for each
 * choice of the first key. */
#define LAB_UNARY_OP(op, table)                                                \
    .name = op, .kind = LAB_KIND_LAYER, .min_inputs = 1, .max_inputs = 1,      \
    .forward = lab_unary_forward, .backward = lab_unary_backward,              \
    .unary = table

void lab_unary_forward(struct lab_builder *b);
void lab_unary_backward(struct lab_builder *b);

/* What a group kernel of dense needs to take in the op. */
void lab_unary_absorb(const struct lab_node *node,
                      struct lab_dense_params *out);
/* Explains output `out_slot` of the group: the activation of the sum of
 * the terms just given. */
void lab_unary_explain_absorbed(struct lab_explainer *ex, int out_slot);

/* Shared by several ops. */
double lab_sigmoid(double x);
