/* Nodes that read a tensor twice, or a part of another node instead of its
 * result: the last state of a recurrent layer. */
#include <stdio.h>

#include "plan_priv.h"

static int giver_of(const struct lab_builder *b, int k)
{
    int input = lab_build_input(b, k);
    return input < 0 ? -1 : b->plan->tensors[input].node;
}

const char *lab_build_producer_id(const struct lab_builder *b, int k)
{
    int giver = giver_of(b, k);
    return giver < 0 ? lab_build_name(b, lab_build_input(b, k))
                     : b->plan->nodes[giver].id;
}

const struct lab_op_def *lab_build_producer_op(const struct lab_builder *b,
                                               int k)
{
    int giver = giver_of(b, k);
    return giver < 0 ? NULL : b->plan->nodes[giver].op;
}

int lab_build_producer_find(const struct lab_builder *b, int k,
                            const char *name)
{
    char full[256];
    int giver = giver_of(b, k);
    if (giver < 0)
        return LAB_NO_TENSOR;
    snprintf(full, sizeof(full), "%s.%s", b->plan->nodes[giver].id, name);
    return lab_plan_tensor(b->plan, full);
}

int lab_build_input_use(struct lab_builder *b, int k)
{
    struct lab_node *node = &b->plan->nodes[b->node];
    if (b->status || node->n_in >= LAB_STEP_IN)
        return LAB_NO_TENSOR;
    node->in[node->n_in] = node->in[k];
    return node->n_in++;
}

/* A part has one gradient, which its own node computes: there is room for what
 * one reader sends back. */
void lab_build_read_part(struct lab_builder *b, int k, int part)
{
    struct lab_plan *plan = b->plan;
    struct lab_node *node = &plan->nodes[b->node];
    if (b->status || part < 0 || k >= LAB_STEP_IN)
        return;
    struct lab_node *giver = &plan->nodes[plan->tensors[part].node];
    if (b->wants[part]) {
        lab_build_fail(b, LAB_E_UNSUPPORTED,
                       "starts from %s, and so does a node before it: one node "
                       "starts from another's state",
                       giver->id);
        return;
    }
    node->in[k] = part;
    if (k == node->n_in)
        node->n_in++;
    giver->parts_read = true;
    b->wants[part] = true;
}

int lab_build_part_returned(const struct lab_builder *b, int part)
{
    if (b->status || part < 0 || b->paths[part].n == 0)
        return LAB_NO_TENSOR;
    return b->paths[part].id[0];
}

void lab_build_no_group(struct lab_builder *b, const char *why)
{
    b->plan->nodes[b->node].no_group = why;
}
