/* plan_priv.h -- what plan.c, builder.c and build_plan.c share. */
#pragma once
#include "engine/plan.h"

/* How a parameter starts. */
struct lab_param_init {
    int tensor;
    enum lab_init init;
    double *values; /* from the lesson; NULL: none */
    bool filled;    /* every element is `fill` */
    double fill;
};

/* Who reads a tensor, and the gradients that came back so far. */
struct lab_grad_paths {
    int readers; /* live ones */
    int n;
    int id[LAB_STEP_IN];
};

struct lab_builder {
    const struct lab_network_spec *spec;
    struct lab_plan *plan;
    enum lab_status status;
    int node; /* the one being built */
    const struct lab_node_spec *node_spec;
    int tensor_room;
    int step_room;
    int init_room;
    struct lab_grad_paths *paths; /* by tensor, tensor_room of them */
    bool *wants;                  /* by tensor: does anyone want its gradient */
    int *grad;                    /* by tensor: its gradient, or -1 */
    bool *live;                   /* by node: does the loss depend on it */
    bool has_params;              /* of the node being built */
    int target;                   /* y, while the loss is built */
    struct lab_network_spec expanded; /* the spec, with inner nodes */
    struct lab_node_spec *inner;      /* its nodes; NULL: nothing to expand */
    int n_inner;
};

int lab_builder_tensor(struct lab_builder *b, const char *name,
                       const struct lab_shape *shape, enum lab_dtype dtype,
                       enum lab_tensor_role role, int node);
/* Emits "<of>.sum" when several gradients came back for `tensor`; afterwards
 * b->grad[tensor] is the gradient. */
void lab_builder_close_grad(struct lab_builder *b, int tensor, int node);

/* Why a group variant cannot stand for the node; NULL: it can.
 * `group` NULL: one without a description. */
const char *lab_node_unserved(const struct lab_node *node,
                              const struct lab_variant *group);

/* Any layer of that name, those that are not for lessons too. */
const struct lab_op_def *lab_op_find_inner(const char *name);

/* Gives parameters the lesson's values and checks what it watches,
 * breaks at and prints. */
void lab_builder_check_names(struct lab_builder *b);

/* Fills a step from its definition: name, formula, parameters, bytes. The step
 * owns them (lab_step_release). `node_id` gives the name's first part. A
 * group's definition is one that an op's `group` made. */
enum lab_status lab_step_fill(struct lab_step *s, const struct lab_plan *plan,
                              const struct lab_step_def *def,
                              const char *node_id, bool group);
void lab_step_release(struct lab_step *s);
