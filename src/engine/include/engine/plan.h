/* engine/plan.h -- the tensors and the ordered steps of one training iteration.
 *
 * A plan is built once from a network and never changes, but for the seed and
 * the learning rate (see there); it may be read by any thread. Which variant
 * runs each step, and which steps a group variant hides, is a struct
 * lab_schedule: small, immutable, counted by references, made anew when the
 * learner switches a variant. */
#pragma once
#include "base/names.h"
#include "engine/backend.h"
#include "engine/network.h"

/* The learning rate of an iteration: a base rate lr and a schedule. It rises over
 * the first `warmup` iterations, lr/warmup, 2 lr/warmup ... lr; after them, k
 * counting from 0:
 *     constant      lr
 *     step          lr factor^floor(k / every)
 *     exponential   lr factor^(k / every)
 *     cosine        lr_end + (lr - lr_end) (1 + cos(pi k / over)) / 2, and lr_end
 *                   from k = over on
 * and never less than lr_end. It depends on the iteration alone, so that going
 * back and forward again gives the same bits. */
enum lab_rate_kind {
    LAB_RATE_CONSTANT,
    LAB_RATE_STEP,
    LAB_RATE_EXPONENTIAL,
    LAB_RATE_COSINE,
    LAB_RATE_KINDS
};

struct lab_rate {
    enum lab_rate_kind kind;
    int64_t warmup; /* iterations; 0: none */
    int64_t every;  /* step, exponential: iterations of a factor */
    double factor;
    int64_t over; /* cosine: iterations from lr to `end` */
    double end;
    double clip; /* of the norm of all gradients; 0: none */
};

enum { LAB_RATE_TEXT = 160 };

struct lab_step {
    char *name;         /* "fc1.matmul" */
    const char *kernel; /* "matmul": with op and phase, the row of a table */
    const struct lab_op_def *op;
    int node;
    enum lab_phase phase;
    int in[LAB_STEP_IN]; /* tensor ids or LAB_NO_TENSOR */
    int n_in;
    unsigned read; /* a bit for each of `in` that the formula reads */
    int out[LAB_STEP_OUT];
    int n_out;
    void *params; /* NULL: none */
    size_t params_bytes;
    double flop;
    double bytes;
    char *formula; /* as displayed: names filled in, UTF-8 */
    char *source;  /* the formula itself, with axes and names: step_def.h */
    bool shared;   /* it is an earlier step's */
    const char *axes;
    const char *names;
    lab_explain_fn *explain;
    bool group; /* represents a whole node's phase (lab_schedule.groups) */
};

struct lab_names; /* private: finds tensors, nodes and steps by name */

struct lab_node {
    char *id;
    const struct lab_op_def *op;
    /* An inner node's: the op that the lesson names. The ids of the inner nodes
     * of `block1` are `block1.ln1` ... and, of the last, `block1`. */
    const struct lab_op_def *outer;
    struct lab_attr attr[LAB_MAX_KEYS];
    int in[LAB_STEP_IN]; /* tensor ids */
    int n_in;
    int out; /* tensor id */
    /* Another node reads parts of it: a group that hides them serves it only
     * where its variant allows it (keeps_parts). */
    bool parts_read;
    const char *no_group; /* why no group serves it ("has a mask"), or NULL */
    bool may_be_absorbed; /* an activation that the node before's groups know */
    /* The lesson has a text for a step of the op in that phase, here or in another node. */
    bool explained[LAB_PHASE_COUNT];
    struct lab_place place;
    /* The op's own steps, into plan->steps; a sum of gradients from several
     * readers comes before them and is not counted. */
    int first_step[LAB_PHASE_COUNT];
    int n_steps[LAB_PHASE_COUNT];
};

enum lab_name_kind {
    LAB_NAME_TENSOR,
    LAB_NAME_NODE,
    LAB_NAME_STEP,
    LAB_NAME_KINDS
};

struct lab_plan {
    struct lab_tensor *tensors;
    int n_tensors;
    struct lab_step *steps; /* forward, loss, backward, update */
    int n_steps;
    struct lab_node *nodes; /* the layers, the loss, then data that has a sum */
    int n_nodes;
    int loss_node;
    char *file; /* of the lesson, for messages; NULL: none */
    struct lab_place data_place;
    enum lab_dtype real;
    int64_t batch; /* samples of one iteration */
    int x;         /* tensor id of the data, -1 when there is none */
    int y;
    int out;  /* what the loss reads: the network's result */
    int loss; /* the scalar */
    int loss_sample;
    size_t persistent_bytes; /* parameters and state: the arena's first part */
    size_t arena_bytes;
    /* A restart from another seed sets it, on the thread that walks; others
     * read it when no restart is under way. */
    uint64_t seed;
    struct lab_rate rate; /* how the learning rate changes, and clipping */
    enum lab_precision precision;
    enum lab_layout layout;
    int64_t parameter_count;
    struct lab_param_init *inits; /* how parameters start, private */
    int n_inits;
    struct lab_names names[LAB_NAME_KINDS]; /* ids of each kind by name */
};

/* The shapes that data brings: [batch, ...]. Inline data take theirs from the
 * spec and pass NULL. */
enum { LAB_DATA_MORE = 2 };
struct lab_data_shapes {
    int64_t batch;
    struct lab_shape x_image; /* rank 0: not an image */
    struct lab_shape x;       /* flat: [batch, features] */
    struct lab_shape y;
    bool y_integers;
    /* Tensors of ids besides x and y, by name. */
    struct {
        const char *name;
        struct lab_shape shape;
    } more[LAB_DATA_MORE];
    int n_more;
};

/* Who had the last word on the variant of a step: the fixed table, where nothing else
 * has it, or because it was asked for by the name `default`; a time; a choice. */
enum lab_chosen_by { LAB_BY_TABLE, LAB_BY_DEFAULT, LAB_BY_TIME, LAB_BY_HAND };

struct lab_schedule_step {
    const struct lab_step *step;
    const struct lab_variant *variant;
    enum lab_chosen_by by;
    int depth_node; /* node that the step is shown under */
    int hides_from; /* group: plan steps hides_from .. +hides_count-1 */
    int hides_count;
};

struct lab_schedule {
    int refs; /* atomic; lab_schedule_retain/release */
    struct lab_schedule_step *steps;
    int n_steps;
    struct lab_step *groups; /* group steps made for this schedule */
    int n_groups;
    int phase_first[LAB_PHASE_COUNT + 1]; /* index of a phase's first step */
};

/* A node with a step that does this many operations runs what its backend's
 * tables call preferred; a smaller one takes less than half a millisecond a
 * step in the readable reference, and there the kernel to read is the one that
 * ran. What the lesson or the learner chooses wins over both. */
enum { LAB_PREFERRED_FLOP = 500000 };
/* On a GPU so does a node with a step that has at least this walk (64
 * products and sums): one thread adding that long takes as long as a large
 * step. */
enum { LAB_PREFERRED_WALK = 128 };

/* FLOPs of a thread that computes one element of the step's smallest output, as
 * the readable kernels do; 0 for a step that writes nothing. */
double lab_step_walk(const struct lab_plan *plan, const struct lab_step *step);

/* A learner's choice for a node or for an op. */
struct lab_variant_choice {
    const char *target;  /* node id, op name, or "*" */
    const char *variant; /* LAB_VARIANT_DEFAULT: as the fixed table has it */
    bool optional; /* where the target or the variant is missing: no error */
};
#define LAB_VARIANT_DEFAULT "default"
/* Of a session alone (LAB_DO_VARIANT): no choice for the target any more. */
#define LAB_VARIANT_AUTO "auto"

struct lab_tuning; /* engine/tune.h */

LAB_C_BEGIN
/* real: LAB_F32 or LAB_F64. batch 0: the spec's. On failure *out is untouched
 * and the message names file, line, column, nodes and shapes.
 * Errors: LAB_E_SHAPE, LAB_E_PARSE, LAB_E_UNSUPPORTED, LAB_E_NOMEM. */
enum lab_status lab_plan_build(struct lab_plan **out,
                               const struct lab_network_spec *spec,
                               const struct lab_data_shapes *shapes,
                               enum lab_dtype real);
void lab_plan_free(struct lab_plan *plan);
/* -1 when there is none. All three take the same time in a plan of any size. */
int lab_plan_tensor(const struct lab_plan *plan, const char *name);
int lab_plan_node(const struct lab_plan *plan, const char *id);
/* The first step of that name, in any phase. */
int lab_plan_step(const struct lab_plan *plan, const char *name);
/* The bytes that a step moves at least for one of its tensors, outputs after inputs: 0 for
 * an input that it does not read, twice the tensor where it updates it in place. Their sum
 * is the step's `bytes`, unless it reads a part alone, as an embedding does. */
double lab_step_tensor_bytes(const struct lab_plan *plan,
                             const struct lab_step *step, int i);
/* The memory that a tensor uses in an arena that starts at `base`. */
struct lab_view lab_plan_view(const struct lab_plan *plan, int tensor,
                              void *base);
/* What a kernel is called with for a step, in training: `kept` is the arena of
 * the tensors that are kept over iterations, `base` that of the others; NULL:
 * shapes only. The iteration is the caller's to set. `out` is not to be copied:
 * its call points into it. */
struct lab_step_call {
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    struct lab_call call;
};
void lab_step_call(struct lab_step_call *out, const struct lab_plan *plan,
                   const struct lab_step *s, void *kept, void *base);
/* The base learning rate of the update steps (lab_rate_at); NaN: nothing is updated.
 * Like the seed, a restart may set another one, on the thread that walks. */
double lab_plan_lr(const struct lab_plan *plan);
void lab_plan_set_lr(struct lab_plan *plan, double lr);
/* The initial value of a parameter, from the seed or from the lesson, into
 * `out` (count elements of the plan's real type), on all threads: the bits do not
 * depend on their number. LAB_E_CANCELLED by `stop`, which may be NULL. */
enum lab_status lab_plan_init_tensor(const struct lab_plan *plan, int tensor,
                                     void *out, const struct lab_stop *stop);

/* Chooses variants; later choices win over earlier ones, a node's over its
 * op's, an op's over "*". A choice that fits no step is LAB_E_NOTFOUND with
 * the names that would. Without a choice it is the fastest that `tuning` knows;
 * NULL, or no time of a step: the fixed table. */
enum lab_status lab_schedule_make(struct lab_schedule **out,
                                  const struct lab_plan *plan,
                                  struct lab_backend *be,
                                  const struct lab_variant_choice *choices,
                                  int n_choices,
                                  const struct lab_tuning *tuning);
struct lab_schedule *lab_schedule_retain(struct lab_schedule *s);
void lab_schedule_release(struct lab_schedule *s);
/* Index of the group that computes `tensor` within itself and does not write
 * it; -1: none does. */
int lab_schedule_hider(const struct lab_schedule *s,
                       const struct lab_plan *plan, int tensor);
/* Index of the step of that name at or after `from`, in `phase` or any (-1);
 * a node's id finds its first step. -1: none. */
int lab_schedule_find(const struct lab_schedule *s, const struct lab_plan *plan,
                      const char *name, int phase, int from);

/* ---- the learning rate of an iteration (rate.c) ---- */
extern const char *const lab_rate_names[]; /* by kind; NULL behind the last */
struct lab_explainer;
/* In an explanation of an update: what its gradient is multiplied by, and the text
 * where that is not 1. Inputs 0 and 1 are the gradient and the norm of all. */
double lab_rate_explain_clip(struct lab_explainer *ex, double clip);
/* From base rate lr, in iteration i (from 0). */
double lab_rate_at(const struct lab_rate *r, double lr, int64_t i);
/* Is it another one in some iteration? */
bool lab_rate_changes(const struct lab_rate *r);
/* "cosine over 100, warm-up 10, clipped at norm 1"; "" for a rate that stays and
 * gradients as they are. Returns out. */
const char *lab_rate_text(const struct lab_rate *r, char out[LAB_RATE_TEXT]);
LAB_C_END
