/* ops/recurrent.h -- what rnn and lstm have in common: sequences in, one small
 * step a time step, sequences or the last step out. */
#pragma once
#include "engine/op.h"

struct lab_recurrent {
    int64_t n;    /* samples */
    int64_t t;    /* time steps */
    int64_t d;    /* features */
    int64_t h;    /* hidden units */
    bool last;    /* return: last */
    bool chained; /* starts from the last state of another layer */
};

enum { LAB_RECURRENT_STEPS = 16384 }; /* the longest sequence */

extern const char *const lab_recurrent_returns[]; /* the key's choices */

/* From the node's input and keys; a shape that does not fit is refused. */
bool lab_recurrent_dims(struct lab_builder *b, struct lab_recurrent *r);
/* "<part>.<t>" of this node; LAB_NO_TENSOR where there is none. */
int lab_recurrent_find(const struct lab_builder *b, const char *part,
                       int64_t t);
/* A new part "<part>.<t>" of `cols` columns; `of` LAB_NO_TENSOR: on its own,
 * else step t of that whole. */
int lab_recurrent_part(struct lab_builder *b, const struct lab_recurrent *r,
                       const char *part, int64_t t, int64_t cols, int of);
/* Step t of the gradient `of` of the whole part: "<part>.<t>.grad", with a
 * path behind it unless that is NULL. */
int lab_recurrent_grad(struct lab_builder *b, const struct lab_recurrent *r,
                       const char *part, int64_t t, const char *path, int of);
/* In forward(), before the steps: what the first one starts from. The state
 * `part` ("h", "c"), state k (0, 1), is that of the layer that input 1
 * names, after its last step; else a tensor of this node that starts at zero,
 * "h0". A layer without that state, or of other sizes, is refused. */
void lab_recurrent_start(struct lab_builder *b, const struct lab_recurrent *r,
                         const char *part, int k);
/* The state `part`, number k, that step t starts from. */
int lab_recurrent_before(const struct lab_builder *b,
                         const struct lab_recurrent *r, const char *part, int k,
                         int64_t t);
/* The gradient of the state that the first step started from. */
int lab_recurrent_start_grad(struct lab_builder *b,
                             const struct lab_recurrent *r, const char *part,
                             int k);
/* What came back to the last state `part` from a layer that starts from it, or
 * LAB_NO_TENSOR. */
int lab_recurrent_end_grad(const struct lab_builder *b,
                           const struct lab_recurrent *r, const char *part);
/* The step `input`: x [T,N,D] and x.t, from the node's input. */
void lab_recurrent_input(struct lab_builder *b, const struct lab_recurrent *r);
/* The step `return`: out, from h or from its last step. */
void lab_recurrent_return(struct lab_builder *b, const struct lab_recurrent *r);
/* Backward of `return`; the whole of "h.grad.return", or LAB_NO_TENSOR when
 * only the last step returns. */
int lab_recurrent_return_grad(struct lab_builder *b,
                              const struct lab_recurrent *r);
/* What step t's h gets back from the result, of that whole. */
int lab_recurrent_returned(struct lab_builder *b, const struct lab_recurrent *r,
                           int64_t t, int whole);

/* The gradients of all weights, one sum over the time steps; `def` has the
 * outputs, the flop, the formula and the explanation. */
void lab_recurrent_weights_step(struct lab_builder *b,
                                const struct lab_recurrent *r, int dz,
                                const struct lab_step_def *def);
/* That of x, where it is wanted: of all z.grad and the weights of x. */
void lab_recurrent_input_step(struct lab_builder *b, int dz, int W,
                              const struct lab_step_def *def);

/* recurrent_group.c: the group hook of both ops, a whole layer as one step a phase,
 * for the variants that do the sequence in one; kernels/recurrent/sequence.h has
 * its tensors. */
void lab_recurrent_group(const struct lab_plan *plan,
                         const struct lab_node *node, enum lab_phase phase,
                         const struct lab_node *absorbed,
                         struct lab_group_step *out);
