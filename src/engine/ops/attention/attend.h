/* ops/attend.h -- the three steps that attention and scaled_dot_attention
 * share: scores, softmax, context. Called from forward() and backward();
 * threads as in engine/op.h. */
#pragma once
#include "engine/op.h"

struct lab_attend {
    int q; /* [.., Tq, heads*E] */
    int k; /* [.., Tk, heads*E] */
    int v; /* [.., Tk, heads*F] */
    int64_t heads;
    bool causal;
    int mask; /* [.., Tk], or LAB_NO_TENSOR */
};

LAB_C_BEGIN
/* Declares the parts scores and probs, and the three steps into `ctx`; with
 * `heads` an axis of their own when `with_heads`. */
void lab_attend_forward(struct lab_builder *b, const struct lab_attend *t,
                        int ctx, bool with_heads);
/* The steps back from dctx; an unwanted gradient is LAB_NO_TENSOR. */
void lab_attend_backward(struct lab_builder *b, const struct lab_attend *t,
                         int dctx, int dq, int dk, int dv);
/* The group hook of both ops. */
void lab_attend_group(const struct lab_plan *plan, const struct lab_node *node,
                      enum lab_phase phase, const struct lab_node *absorbed,
                      struct lab_group_step *out);
LAB_C_END
