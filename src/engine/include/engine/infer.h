/* engine/infer.h -- a trained network for inference: its layers fused, its
 * weights folded, pruned or kept in 8 bits. On the CPU, one row after the other.
 *
 * What is computed: convolutions, dense layers, poolings, elementwise functions,
 * sums; every other op is refused by name.
 *
 * INT8: a weight is q * scale of its filter, q in -127..127; what a layer reads is
 * (q - zero) * step of that layer. Step and scale are not those of the largest number
 * but of the least mean square error of what calibration saw, and zero puts numbers
 * that are never negative on all of -127..127. Sums are whole numbers of 32 bits, of
 * 65536 products each, added in 64 bits; what zero adds to a sum is known before and
 * taken off with the bias. Bias, function and sum with another layer are in float.
 *
 * NaN: in every form, a NaN among the numbers that a product or a pooling reads
 * makes its result NaN.
 *
 * 2:4: of each four weights that one filter reads one behind the other, the two of
 * the smallest magnitude become 0. Kept are the other two and 2 bits for the place
 * of each.
 *
 * Ownership: the inference's own copies; the plan must outlive it. Threads: one at a
 * time. */
#pragma once
#include "engine/walk.h"
#include "gemm_int8/gemm_int8.h"

/* ---- its network rewritten into fewer layers ----
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
    int *source; /* of each tensor of the plan: the one that holds its values */
    int nodes;   /* of the network, softmax of the loss included */
    int norms;   /* batch norms among them, which some count as two layers */
    int idle;    /* eliminated: flatten, dropout */
    int joined;  /* eliminated: concat */
    int folded;
    int vertical;
    int horizontal;
    int left;     /* layers that run, the softmax included */
    bool softmax; /* the loss has one */
};

/* ---- its rows computed ---- */

struct lab_infer;

enum lab_infer_form {
    LAB_INFER_FP32,
    LAB_INFER_INT8,
    LAB_INFER_SPARSE, /* fp32, two of four weights */
    LAB_INFER_FORMS
};

struct lab_infer_facts {
    struct lab_fused fused; /* the inference's */
    int64_t weights;        /* that are multiplied: of convolutions, dense */
    int64_t kept;           /* of them, not pruned; LAB_INFER_SPARSE */
    int64_t bytes[LAB_INFER_FORMS]; /* weights, scales, metadata and biases */
};

LAB_C_BEGIN
/* A layer of the network that a lesson describes: neither data nor a node that
 * the engine adds. */
bool lab_node_is_layer(const struct lab_node *n);
/* LAB_E_NOMEM. */
enum lab_status lab_fuse(struct lab_fused *out, const struct lab_plan *plan);
void lab_fused_release(struct lab_fused *f);

/* Takes the walk's parameters as they are now. LAB_E_UNSUPPORTED: an op that it does
 * not serve, by node. LAB_E_NOMEM. */
enum lab_status lab_infer_new(struct lab_infer **out, struct lab_walk *w);
void lab_infer_free(struct lab_infer *f); /* NULL allowed */
void lab_infer_get_facts(const struct lab_infer *f,
                         struct lab_infer_facts *out);

/* Sees these rows of x (each `row` numbers, as the plan's x has them) to find what
 * INT8 has to hold. LAB_E_USAGE: no row. */
enum lab_status lab_infer_calibrate(struct lab_infer *f, const float *x,
                                    int64_t rows);
/* INT8: the sums of convolutions and dense layers by `run`, as on a GPU, which gets
 * host memory and writes g->c (g->sums is NULL); a layer is one product, a row of A
 * each place. NULL: here again. Its failure is lab_infer_row()'s. */
typedef enum lab_status lab_infer_int8_fn(void *user,
                                          const struct lab_gemm_int8 *g);
void lab_infer_int8_by(struct lab_infer *f, lab_infer_int8_fn *run, void *user);
/* What the loss would read, of one row: *scores has that many numbers, valid until
 * the next call. LAB_E_STATE: INT8 before it was calibrated. LAB_E_RANGE: a filter
 * sums more numbers than LAB_GEMM_INT8_DEPTH, and the products are not made here. */
enum lab_status lab_infer_row(struct lab_infer *f, enum lab_infer_form form,
                              const float *x, const float **scores,
                              int64_t *classes);
/* The largest difference of two lists of that length over the largest magnitude of
 * the first; NaN where one of the numbers is. */
double lab_infer_difference(const float *a, const float *b, int64_t n);

/* The numbers that an element of a product with this parameter sums; 0: it is not
 * the weight of a product. */
int64_t lab_infer_depth(const struct lab_plan *plan, int tensor);
/* 2:4 in a parameter "<conv2d or dense>.W", with the walk's `values`: of each four
 * along what one filter sums, two become 0, and the others change so that the sums of
 * what calibration saw change least, BLOCK weights at a time; `mask` gets 1 for what is
 * kept. A rest of fewer than four is kept. Which two: those that cost least (the
 * optimal brain surgeon's); before calibration those of the smallest magnitude.
 * LAB_E_RANGE: it is no such parameter, or one filter sums fewer than four;
 * LAB_E_NOMEM. */
enum lab_status lab_infer_prune(const struct lab_infer *f, int tensor,
                                float *values, unsigned char *mask);
LAB_C_END
