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
#include <stdbool.h>
#include <stdint.h>
#include "engine/tensor.h"

struct lab_builder;
struct lab_expansion;
struct lab_explainer;
struct lab_node;
struct lab_node_spec;
struct lab_plan;
struct lab_unary;

/* ---- the keys that an op takes in a lesson ---- */

enum { LAB_MAX_KEYS = 16, LAB_KEY_ITEMS = 4 };

enum lab_key_type {
    LAB_KEY_INT,
    LAB_KEY_FLOAT,
    LAB_KEY_BOOL,
    LAB_KEY_CHOICE,
    LAB_KEY_INTS,   /* a list of min_items..max_items, or one for all */
    LAB_KEY_PADDING /* a choice (same, valid) or a whole number */
};

struct lab_key_def {
    const char *name;
    enum lab_key_type type;
    bool required;
    double fallback; /* INT, FLOAT, BOOL; CHOICE, PADDING: index of a choice */
    double min;      /* INT, FLOAT, INTS: smallest allowed */
    double max;      /* largest allowed */
    bool open_max;   /* FLOAT: max itself is not allowed (dropout's p < 1) */
    const char *const *choices; /* NULL-terminated */
    int min_items;
    int max_items;
};

/* The value of one key. Keys that the lesson leaves out hold the fallback. */
struct lab_attr {
    bool set; /* written in the lesson */
    int64_t i;
    double f;
    bool b;
    int choice; /* index into choices; -1: PADDING given as a number (i) */
    int64_t list[LAB_KEY_ITEMS];
    int n;
    int line;
    int column;
};

/* ---- a step as an op declares it: lab_build_step() takes it. It belongs to the
 * phase that is being built: forward() of a layer or a loss, backward(),
 * update(). ---- */

enum { LAB_STEP_IN = 16, LAB_STEP_OUT = 8 };
enum { LAB_NO_TENSOR = -1 };

typedef void lab_explain_fn(struct lab_explainer *ex, int out_slot,
                            int64_t index);

struct lab_step_def {
    const char *name; /* within its node: "matmul" */
    bool numbered;    /* one of several, "gates.3": the kernel is "gates" */
    int number;
    int in[LAB_STEP_IN];
    int n_in;
    int out[LAB_STEP_OUT]; /* LAB_NO_TENSOR: not wanted */
    int n_out;
    const void *params; /* copied */
    size_t params_bytes;
    double flop;      /* 0: flop_each, or as the formula gives */
    double flop_each; /* for each element of the first input */
    double bytes;     /* 0: each input that `formula` names is read once, each
                   * output written once */
    const char *formula; /* engine/formula.h */
    const char *display; /* shown in its place, with "$o0" and "$i1"; or NULL */
    /* For the formula, static texts: the indices of a tensor without brackets,
     * "n,c,h,w"; short names of the inputs in explanations, "x mean rstd". */
    const char *axes;
    const char *names;
    lab_explain_fn *explain; /* of outputs that the formula does not give */
};

/* Fields of a lab_step_def: LAB_IN(x, W), LAB_OUT(y), LAB_PARAMS(p). */
#define LAB_IN(...)                                                            \
    .in = {__VA_ARGS__}, .n_in = sizeof((int[]){__VA_ARGS__}) / sizeof(int)
#define LAB_OUT(...)                                                           \
    .out = {__VA_ARGS__}, .n_out = sizeof((int[]){__VA_ARGS__}) / sizeof(int)
#define LAB_PARAMS(p) .params = &(p), .params_bytes = sizeof(p)

enum { LAB_GROUP_PARAMS = 64, LAB_GROUP_FORMULA = 400 };

struct lab_group_step {
    const struct lab_variant *variant; /* given: keeps_parts, one_way */
    struct lab_step_def def; /* its params may point to `params`, its formula */
    char formula[LAB_GROUP_FORMULA]; /* here */
    union {
        double align;
        unsigned char bytes[LAB_GROUP_PARAMS];
    } params;
};

/* ---- what an op is ---- */

/* One network that checks an op's variants: see lab_op_def.check. */
struct lab_op_check {
    struct lab_shape x;
    bool nhwc;
    /* Two of the op, the second with from: [x, the first]. */
    bool chained;
    struct lab_attr *attr; /* LAB_MAX_KEYS of them, set to the fallbacks */
};

/* A network of this one node, for an op that does not fit into a chain of
 * layers over [5,7]: inputs of these shapes, the result weighed and summed. Ids
 * are drawn from 0..2. The check of the variants builds it, and the tests that
 * walk every op. */
struct lab_op_test_network {
    struct lab_shape in[4]; /* rank 0: no further input */
    struct lab_shape out;
    struct {
        const char *key;
        double value;
    } keys[4];
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
    void (*expand)(struct lab_expansion *e); /* lab_expand_node() ... */
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
     * it is taken in both phases or in none, but see lab_variant.one_way. */
    bool group_both;
    /* The same for an op of several inputs, or of ids. */
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
/* The node: its op, all keys in the order of the op's, how many inputs it has
 * (engine/plan.h). forward() sets no_group and may_be_absorbed. Not in update(). */
struct lab_node *lab_build_node(const struct lab_builder *b);
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
 * paths within the node; its gradient is their sum. Path NULL: "<tensor>.grad"
 * itself. A slice of `of`, unless that is LAB_NO_TENSOR. */
int lab_build_grad_slice(struct lab_builder *b, int tensor, const char *path,
                         int of, int64_t first);

/* In forward(): the node reads input k once more, and its gradient comes back
 * once more: lab_build_input_grad() of the new input, which this returns. */
int lab_build_input_use(struct lab_builder *b, int k);
/* In forward(): input k, or one more when k is how many there are, is the part
 * `part` of an earlier node, and this node gives the part's gradient back. */
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
/* In forward(): input k holds ids in 0 .. limit-1. */
void lab_build_id_limit(struct lab_builder *b, int k, int64_t limit);

/* A step is left out where none of its outputs is wanted. */
void lab_build_step(struct lab_builder *b, const struct lab_step_def *def);
/* In update(): the norm of all gradients, where the optimizer clips it; or
 * LAB_NO_TENSOR. An input behind the gradient: LAB_IN(grad, norm). */
int lab_build_clip_norm(const struct lab_builder *b);
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
/* Whether both inputs have one shape, *out; else the node is refused, with the texts
 * of the two shapes for the %s of `fmt`. */
bool lab_build_same_shape(struct lab_builder *b, struct lab_shape *out,
                          const char *fmt);

/* ---- for expand(): a node that represents several. It lists the inner nodes
 * in the order in which they run; each is a node like any other. `block1.ln1`
 * is called like a part of `block1`, and the last has the id `block1` itself,
 * so that what follows reads its result. ---- */

/* An inner node "<id>.<name>"; name NULL: the last one, under the node's own
 * id. Its inputs are ".ln1", an inner node of that name, or "", what the outer
 * node reads; second NULL: it has one. A name that begins with '=' ("=r") calls
 * the result <id>.r instead of <id>.r.out. */
void lab_expand_node(struct lab_expansion *e, const char *name, const char *op,
                     const char *first, const char *second);
/* The last inner node's key takes the value of the outer node's. */
void lab_expand_key(struct lab_expansion *e, const char *key,
                    const char *outer_key);
/* The same with a number: INT, BOOL, INTS (one for all), PADDING. */
void lab_expand_int(struct lab_expansion *e, const char *key, int64_t value);
/* The outer node's own key. */
const struct lab_attr *lab_expand_attr(const struct lab_expansion *e,
                                       const char *key);
/* The last inner node's `units` is the width of what that inner node gives. */
void lab_expand_width(struct lab_expansion *e, const char *of);
LAB_C_END
