/* engine/op.h -- what an op is, and how it builds its steps.
 *
 * One op, one file: src/engine/ops/<op>.c holds the op's keys, shapes, tensors,
 * steps and their formulas (engine/formula.h: the value of an element, its
 * explanation, FLOPs), as one `const struct lab_op_def lab_op_<op>`.
 * kernels/ops.def lists them all.
 *
 * forward() declares the node's parameters, parts and output and its forward
 * (loss: loss) steps, in order. backward() is called in reverse node order,
 * when the gradient of the node's output exists. A builder function that fails
 * keeps the error in the builder and later ones do nothing, so that an op reads
 * as a list and the plan checks once. Threads: one at a time. */
#pragma once
#include "engine/op_key.h"
#include "engine/step_def.h"
#include "engine/tensor.h"

struct lab_builder;
struct lab_expansion;
struct lab_group_step;
struct lab_node;
struct lab_node_spec;
struct lab_op_test_network;
struct lab_plan;
struct lab_unary;

/* One network that checks an op's variants: see lab_op_def.check. */
struct lab_op_check {
    struct lab_shape x;
    bool nhwc;
    /* Two of the op, the second with from: [x, the first]. */
    bool chained;
    struct lab_attr *attr; /* LAB_MAX_KEYS of them, set to the fallbacks */
};

/* An axis of a part that counts the places of an input: the rows and columns of
 * an attention map are queries and keys. */
struct lab_part_axis {
    const char *part;
    int from_last; /* 1: the last axis */
    int input;     /* sequences [..,T,D] */
};

/* An optimizer's key `lr` reaches from 0 to this. */
enum { LAB_LR_MOST = 1000000 };

enum lab_op_kind { LAB_KIND_LAYER, LAB_KIND_LOSS, LAB_KIND_OPTIMIZER };

struct lab_op_def {
    const char *name; /* as lessons write it */
    enum lab_op_kind kind;
    const struct lab_key_def *keys;
    int n_keys;
    int min_inputs;
    int max_inputs;
    bool takes_images; /* x stays [N,C,H,W]; other readers get [N, pixels] */
    bool takes_ids;    /* reads data that hold whole numbers, i32 */
    bool labels;       /* losses: y holds class labels, i32 */
    bool internal;     /* not for lessons: grad_sum */
    /* NULL: planned; the keys are checked and then the lesson is refused. */
    void (*forward)(struct lab_builder *b);
    /* Instead of forward: the node represents several, which this lists. */
    void (*expand)(struct lab_expansion *e); /* see engine/expand.h */
    void (*backward)(struct lab_builder *b); /* NULL: no gradient passes */
    /* Optimizers: declares state and the update step of one parameter. */
    void (*update)(struct lab_builder *b, int param, int grad);
    /* Elementwise ops: what they are at one element, for each choice of the
     * first key (ops/unary.h). A group kernel may take them in. */
    const struct lab_unary *unary;
    /* The one step that represents this node's phase when a group variant is
     * chosen; `absorbed` is the activation node taken in, or NULL. */
    void (*group)(const struct lab_plan *plan, const struct lab_node *node,
                  enum lab_phase phase, const struct lab_node *absorbed,
                  struct lab_group_step *out);
    /* What the group hides: group_steps steps from the one of this name. NULL:
     * all steps of the node's phase. */
    const char *group_from[LAB_PHASE_COUNT];
    int group_steps;
    /* The group leaves parts unwritten that the other phase's own steps read:
     * it is taken in both phases or in none. */
    bool group_both;
    /* The same for an op of several inputs, or of ids: engine/op_trial.h. */
    const struct lab_op_test_network *trials;
    int n_trials;
    /* How the op's variants are checked when it does not fit between dense
     * layers: the data and keys of the network of this turn (0, 1 ...), which
     * is the op, with x as every input, a flatten and a dense layer. false:
     * there are no more turns. NULL: it fits. */
    bool (*check)(int turn, struct lab_op_check *out);
    /* Which axes views may label with the values at the positions. */
    const struct lab_part_axis *axes;
    int n_axes;
};

/* The fields that layers have in common, with from `least` to `most` inputs,
 * and losses; keys, trials and axes with their number. */
#define LAB_LAYER_OP(op, least, most)                                          \
    .name = op, .kind = LAB_KIND_LAYER, .min_inputs = least,                   \
    .max_inputs = most, .forward = forward, .backward = backward
#define LAB_LOSS_OP(op)                                                        \
    .name = op, .kind = LAB_KIND_LOSS, .min_inputs = 1, .max_inputs = 1,       \
    .forward = forward, .backward = backward
#define LAB_KEYS(list) .keys = list, .n_keys = sizeof(list) / sizeof((list)[0])
#define LAB_TRIALS(list)                                                       \
    .trials = list, .n_trials = sizeof(list) / sizeof((list)[0])
#define LAB_AXES(list) .axes = list, .n_axes = sizeof(list) / sizeof((list)[0])

enum lab_init {
    LAB_INIT_ZERO,
    LAB_INIT_ONE,
    /* Normal, standard deviation 1/sqrt of the numbers that a unit sums up: */
    LAB_INIT_FAN_IN,      /* the last axis counts the units */
    LAB_INIT_FAN_IN_FIRST /* the first axis does */
};

LAB_C_BEGIN
/* Every op; NULL when there is none of that name and kind. */
const struct lab_op_def *lab_op_find(const char *name, enum lab_op_kind kind);
/* The table, for messages and lists: count entries. */
const struct lab_op_def *const *lab_op_table(int *count);
/* Fills attr[] with the fallbacks of the op's keys. */
void lab_op_defaults(const struct lab_op_def *op, struct lab_attr *attr);
/* Index of a key in op->keys, or -1. */
int lab_op_key(const struct lab_op_def *op, const char *name);

/* ---- for ops/<op>.c, inside forward(), backward() and update() ---- */
const struct lab_attr *lab_build_attr(const struct lab_builder *b,
                                      const char *key);
/* All of them, in the order of the op's keys. */
const struct lab_attr *lab_build_attrs(const struct lab_builder *b);
const struct lab_op_def *lab_build_op(const struct lab_builder *b);
int lab_build_n_inputs(const struct lab_builder *b);
int lab_build_input(const struct lab_builder *b, int k); /* tensor id */
int lab_build_target(const struct lab_builder *b);       /* losses: y */
struct lab_shape lab_build_shape(const struct lab_builder *b, int tensor);
/* Element type of the plan: f32, or f64 in a gradient check. */
enum lab_dtype lab_build_real(const struct lab_builder *b);
bool lab_build_nhwc(const struct lab_builder *b);

/* New tensors of this node; `name` without the node's id. */
int lab_build_out(struct lab_builder *b, const struct lab_shape *shape);
int lab_build_part(struct lab_builder *b, const char *name,
                   const struct lab_shape *shape, enum lab_dtype dtype);
int lab_build_param(struct lab_builder *b, const char *name,
                    const struct lab_shape *shape, enum lab_init init);
/* Part of the memory of `of`, an earlier part or gradient of the node: as many
 * of its elements as `shape` holds, from `first` on. A step may write `of`
 * whole and others read slices, or the other way round. */
int lab_build_slice(struct lab_builder *b, const char *name,
                    const struct lab_shape *shape, int of, int64_t first);
/* Kept over iterations: optimizer state "<param>.<name>", zero at the start. */
int lab_build_state(struct lab_builder *b, int param, const char *name);
/* The same for a node, with a shape and a start of its own: "<node>.<name>",
 * which lessons may set under parameters:. Forward steps may write it, in
 * training only. */
int lab_build_node_state(struct lab_builder *b, const char *name,
                         const struct lab_shape *shape, enum lab_init init);
/* Earlier tensors of this node, by name: "out", "xW", "W". */
int lab_build_find(const struct lab_builder *b, const char *name);

/* Gradients, in backward(). The output's exists; the input's is LAB_NO_TENSOR
 * when it is not wanted. */
int lab_build_out_grad(const struct lab_builder *b);
int lab_build_input_grad(struct lab_builder *b, int k);
/* The same in the memory of `same_as`. */
int lab_build_input_grad_alias(struct lab_builder *b, int k, int same_as);
int lab_build_grad(struct lab_builder *b, int tensor); /* part or param */
/* "<tensor>.grad" in the memory of `same_as`: a gradient that is a copy. */
int lab_build_grad_alias(struct lab_builder *b, int tensor, int same_as);
/* "<tensor>.grad.<path>": what comes back to a tensor along one of several
 * paths within the node; its gradient is their sum. */
int lab_build_grad_path(struct lab_builder *b, int tensor, const char *path);
/* The same, and with path NULL "<tensor>.grad" itself, as a slice of `of`. */
int lab_build_grad_slice(struct lab_builder *b, int tensor, const char *path,
                         int of, int64_t first);

/* In forward(): the node reads input k once more, and its gradient comes back
 * once more: lab_build_input_grad() of the new input, which this returns. */
int lab_build_input_use(struct lab_builder *b, int k);
/* In forward(): input k, or one more when k is how many there are, is the part
 * `part` of an earlier node, whose gradient this node gives back. */
void lab_build_read_part(struct lab_builder *b, int k, int part);
/* In backward(): what came back to a part from the node that reads it, or
 * LAB_NO_TENSOR. */
int lab_build_part_returned(const struct lab_builder *b, int part);
/* The node that gives input k: its id (of data, the name), its op (of data,
 * NULL) and its parts by name. */
const char *lab_build_producer_id(const struct lab_builder *b, int k);
const struct lab_op_def *lab_build_producer_op(const struct lab_builder *b,
                                               int k);
int lab_build_producer_find(const struct lab_builder *b, int k,
                            const char *name);
/* In forward(): no group variant serves this node, because it ... ("has a
 * mask"); the text is static. */
void lab_build_no_group(struct lab_builder *b, const char *why);
/* In forward(): input k holds ids in 0 .. limit-1. */
void lab_build_id_limit(struct lab_builder *b, int k, int64_t limit);

/* Not a step none of whose outputs is wanted. */
void lab_build_step(struct lab_builder *b, const struct lab_step_def *def);
/* The tensor's name, for messages. */
const char *lab_build_name(const struct lab_builder *b, int tensor);
/* The same at the place of y, where the lesson writes it out. */
void lab_build_fail_target(struct lab_builder *b, enum lab_status st,
                           const char *fmt, ...) LAB_PRINTF(3, 4);
/* In group(): the step's params, a copy of those. */
void lab_group_params(struct lab_group_step *out, const void *params,
                      size_t bytes);
/* In group(): the FLOPs of all the node's steps of the phase. */
double lab_group_flop(const struct lab_plan *plan, const struct lab_node *node,
                      enum lab_phase phase);
/* Refuses the node; the message gets file, line, column and the node's name. */
void lab_build_fail(struct lab_builder *b, enum lab_status st, const char *fmt,
                    ...) LAB_PRINTF(3, 4);

/* ---- for explain functions: see engine/explain.h ---- */
LAB_C_END
