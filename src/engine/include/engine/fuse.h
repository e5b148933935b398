/* engine/fuse.h -- a network for inference, rewritten into fewer layers.
 *
 * Four rewritings, in this order:
 *   elimination  flatten and dropout do nothing in inference; what concat joins is
 *                written in place
 *   folding      a batch norm behind a convolution or a dense layer becomes part of
 *                its weights and bias
 *   vertical     an elementwise function, or a sum, behind it is computed with its
 *                result
 *   horizontal   convolutions (or dense layers) with one input, one window and one
 *                activation are computed as one, with the filters of all
 *
 * Only the plan is read: a network of any size is counted without its memory.
 * Ownership: the caller's, lab_fused_release(). Threads: any. */
#pragma once
#include "engine/plan.h"

struct lab_fused_layer {
    int node;       /* of the plan: what is computed first */
    int norm;       /* the node of a batch norm folded in, or -1 */
    int sum;        /* of an add taken in, or -1 */
    int other;      /* its other tensor, which an earlier layer gives */
    int activation; /* of an elementwise op taken in, or -1 */
    int in;  /* tensor read (behind what was left out); of several, the first */
    int out; /* tensor written */
    int next;    /* the next of a horizontal fusion, or -1 */
    bool member; /* of an earlier layer's: not counted */
};

struct lab_fused {
    struct lab_fused_layer *layers; /* in the order in which they run */
    int n_layers;                   /* members included */
    int *
        source; /* of each tensor of the plan: the tensor that holds its values */
    int nodes;  /* of the network, softmax of the loss included */
    int norms;  /* batch norms among them, which some count as two layers */
    int idle;   /* eliminated: flatten, dropout */
    int joined; /* eliminated: concat */
    int folded;
    int vertical;
    int horizontal;
    int left;     /* layers that run, the softmax included */
    bool softmax; /* the loss has one */
};

LAB_C_BEGIN
/* A layer of the network that a lesson describes: neither data nor a node that
 * the engine adds. */
bool lab_node_is_layer(const struct lab_node *n);
/* LAB_E_NOMEM. */
enum lab_status lab_fuse(struct lab_fused *out, const struct lab_plan *plan);
void lab_fused_release(struct lab_fused *f);
/* "conv1 + norm1 + relu1", cut to `size`. */
void lab_fused_name(const struct lab_plan *plan, const struct lab_fused *f,
                    int layer, char *out, size_t size);
LAB_C_END
