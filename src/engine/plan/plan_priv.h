/* plan_priv.h -- what the files of plan/ and the check of variants share. */
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

/* Why a group variant cannot stand for the node; NULL: it can.
 * `group` NULL: one without a description. */
const char *lab_node_unserved(const struct lab_node *node,
                              const struct lab_variant *group);

/* Fills a step that has its op, node and phase from its definition: name,
 * formula, parameters, bytes. The step owns them (lab_step_release). `node_id`
 * gives the name's first part. */
enum lab_status lab_step_fill(struct lab_step *s, const struct lab_plan *plan,
                              const struct lab_step_def *def,
                              const char *node_id, bool group);
/* The step of a group of the node. `absorbed`: as in lab_op_def.group; of the
 * variant phase, keeps_parts and one_way. */
enum lab_status lab_group_fill(struct lab_step *step,
                               const struct lab_plan *plan,
                               const struct lab_node *node,
                               const struct lab_variant *v,
                               const struct lab_node *absorbed);
void lab_step_release(struct lab_step *s);
