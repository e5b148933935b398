/* engine/network.h -- what a lesson asks for, before it is built.
 *
 * The lesson reader fills a struct lab_network_spec; lab_plan_build() (plan.h)
 * turns it into tensors and steps. Every part remembers its place in the file,
 * so that an error found while building still names line and column. The spec
 * owns all its memory; lab_network_spec_release() frees it, also when it is
 * only partly filled. Threads: one at a time. */
#pragma once
#include "base/arena.h"
#include "engine/op.h"
#include "engine/tensor.h"

struct lab_vocabulary;

struct lab_place {
    int line;   /* from 1; 0: not from a file */
    int column; /* from 1 */
};

/* What the numbers of a tensor mean as words. */
enum lab_tensor_words {
    LAB_NO_WORDS,
    LAB_WORD_IDS,    /* every element is a word's number */
    LAB_WORD_COLUMNS /* column c is about the word number c + 1 */
};

/* A tensor written in the lesson: all values, or one value everywhere. */
struct lab_tensor_spec {
    const char *name; /* "x", "fc1.W" */
    struct lab_shape shape;
    int64_t count;
    double *values; /* count of them; NULL: every element is `fill` */
    double fill;
    bool integers; /* every value was written without a fraction */
    enum lab_tensor_words words;
    struct lab_place place;
};

struct lab_node_spec {
    const char *id; /* given, or "relu1" */
    const struct lab_op_def *op;
    struct lab_attr attr[LAB_MAX_KEYS]; /* in the order of op->keys */
    const char **from;                  /* ids; NULL: the node before */
    int n_from;
    struct lab_place place;
    struct lab_place from_place;
    /* Inner nodes, which lab_plan_build() makes of a node that represents
     * several; the lesson reader leaves these empty. */
    const struct lab_op_def *outer; /* the op of the node they stand for */
    const char *width_of;           /* the key `units` is this node's width */
    bool bare_out;                  /* the result is called like the node */
};

enum lab_layout { LAB_NCHW, LAB_NHWC };

enum lab_data_source {
    LAB_DATA_INLINE,
    LAB_DATA_DIGITS,
    LAB_DATA_MNIST,
    LAB_DATA_FIBONACCI,
    LAB_DATA_TEXT,
    LAB_DATA_CSV,
    LAB_DATA_WORDS,
    LAB_DATA_REVERSE,
    LAB_DATA_SOURCE_COUNT
};

struct lab_data_spec {
    enum lab_data_source source;
    const char *path;  /* already joined with the lesson's directory, or NULL */
    bool path_leaves;  /* that directory: absolute, or up with .. */
    int64_t batch;     /* 0: the source's default (inline: every row) */
    double split;      /* share that trains; 0: the source's default */
    double validation; /* share for validation, of what `split` lets train */
    bool shuffle;      /* a new order every epoch, and a seeded split */
    int64_t context;
    int64_t length;       /* reverse: symbols of a string; 0: the default */
    int64_t alphabet;     /* reverse: different symbols; 0: the default */
    int64_t rows;         /* reverse: strings; 0: the default */
    int64_t label_column; /* csv: the class; -1 = the last (default) */
    bool header;          /* csv: skip the first line */
    double scale;         /* csv: features are multiplied by it (1) */
    bool gradient;        /* inline: also the gradient of every input */
    struct lab_tensor_spec *tensors; /* inline: x, y, q ... */
    int n_tensors;
    struct lab_vocabulary *words; /* of tensors made from texts, or NULL */
    bool skip_gram;               /* words: else a bag of words */
    int64_t most_words;           /* words: with a number; 0: all */
    struct lab_place place;
};

struct lab_variant_spec {
    const char *target; /* node id or op name */
    const char *variant;
    struct lab_place place;
};

enum lab_break_kind {
    LAB_BREAK_STEP,  /* at `step`, in `phase` or in any (-1) */
    LAB_BREAK_PHASE, /* when `phase` begins */
    LAB_BREAK_NAN,
    LAB_BREAK_INF,
    LAB_BREAK_LOSS_ABOVE
};

struct lab_break_spec {
    enum lab_break_kind kind;
    const char *step; /* "fc2.matmul" or a node id */
    int phase;        /* enum lab_phase or -1 */
    double value;
    struct lab_place place;
};

struct lab_course_values_spec { /* a value that course material prints */
    const char *tensor;
    struct lab_shape at; /* rank 0: from the first element */
    double *values;
    int n_values;
    double tolerance; /* NaN: none is claimed */
    /* Of a parameter: before its update, unless the lesson names that phase. */
    bool updated;
    const char *where;
    const char *note;
    struct lab_place place;
};

struct lab_network_spec {
    struct lab_arena
        memory;       /* of all that this points to, but for data.words */
    const char *file; /* for messages */
    const char *title;
    uint64_t seed; /* 1 when the lesson gives none */
    enum lab_layout layout;
    enum lab_precision precision;
    struct lab_place precision_place; /* line 0: not of the file */
    struct lab_data_spec data;
    struct lab_node_spec *nodes;
    int n_nodes;
    struct lab_node_spec loss;      /* id "loss" */
    struct lab_node_spec optimizer; /* op NULL: sgd with lr 0.1 */
    struct lab_tensor_spec *parameters;
    int n_parameters;
    int64_t iterations; /* 0: not given */
    int64_t epochs;     /* 0: not given */
    int64_t early_stop; /* evaluations without a lower loss; 0: none end it */
    struct lab_variant_spec *variants;
    int n_variants;
    const char **watch;
    int n_watch;
    const char **explained; /* steps that the lesson has a text for */
    int n_explained;
    struct lab_break_spec *breaks;
    int n_breaks;
    struct lab_course_values_spec *printed;
    int n_printed;
};

LAB_C_BEGIN
/* The optimizer that the spec names; where it names none, sgd with lr 0.1. What
 * it points at is the spec's. */
struct lab_node_spec lab_network_optimizer(const struct lab_network_spec *spec);
/* The learning rate of that optimizer. */
double lab_network_lr(const struct lab_network_spec *spec);
/* Another one. The optimizer's other keys stay as they are; `spec` may be a
 * view of a lesson's, which is not changed. lr: as lab_lr_read() takes it. */
void lab_network_set_lr(struct lab_network_spec *spec, double lr);
/* A learning rate as a person writes it: a number above 0, up to 1e6, that
 * fp32 does not round to 0. LAB_E_PARSE otherwise, *out untouched. */
enum lab_status lab_lr_read(const char *text, double *out);
void lab_network_spec_init(struct lab_network_spec *spec); /* the defaults */
void lab_network_spec_release(struct lab_network_spec *spec);
/* Puts "file:line:column: " before this thread's last error. */
enum lab_status lab_network_fail_at(const struct lab_network_spec *spec,
                                    struct lab_place place, enum lab_status st);
/* lab_fail() with that in front. */
enum lab_status lab_network_fail(const struct lab_network_spec *spec,
                                 struct lab_place place, enum lab_status st,
                                 const char *fmt, ...) LAB_PRINTF(4, 5);
/* LAB_PRECISION_COUNT when unknown; fp64 is not accepted. */
enum lab_precision lab_precision_find(const char *name);
const char *lab_data_source_name(enum lab_data_source s); /* "inline" */
/* A tensor that the source brings besides x and y, or NULL. */
const char *lab_data_source_more(enum lab_data_source s);
LAB_C_END
