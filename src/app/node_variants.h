/* node_variants.h -- which variants every node of a plan can take, gathered
 * once so that other threads may ask. */
#pragma once
#include "engine/walk.h"

enum { LAB_NODE_VARIANTS = 16 };

struct lab_node_variants {
    const char *(*names)[LAB_NODE_VARIANTS]; /* the default first */
    int *counts;
    int n_nodes;
};

/* On the thread that walks (the `opened` hook); names live as long as the
 * walk's backend. LAB_E_NOMEM: nothing is known then. */
enum lab_status lab_node_variants_collect(struct lab_node_variants *out,
                                          struct lab_walk *walk);
void lab_node_variants_release(struct lab_node_variants *v);
/* How many the node has; at most `max` of them are written. 0: no such node. */
int lab_node_variants_get(const struct lab_node_variants *v, int node,
                          const char **names, int max);
