/* engine/inspect.h -- a training from inside: how large gradients and updates are,
 * node by node and over the iterations, which units are always 0, what the batch comes
 * out as, and which validation rows come out as which class. Nothing here changes the
 * walk. Threads: the walk's. */
#pragma once
#include "engine/walk.h"

/* A node that has parameters, or one that cuts off at 0. Norms are the root of the
 * sum of squares over all its parameters. */
struct lab_node_figures {
    int node;
    int64_t parameters; /* 0: none, and the norms are NaN */
    double gradient;
    double parameter; /* after the update */
    double update;    /* what the iteration added to them; NaN unknown */
    int64_t units;    /* of a relu: columns, of images channels; 0: no relu,
                         or its output is hidden in a group of steps */
    int64_t dead;     /* units that are 0 in the whole batch */
};

/* Figures over the iterations that were looked at, evenly apart: where they are many,
 * every second one is dropped, and from then on half as many are kept. */
enum { LAB_LOOKS = 128, LAB_LOOK_PARAMETERS = 4, LAB_LOOK_ELEMENTS = 1 << 16 };
struct lab_looks {
    int n;
    int64_t *iteration; /* of look k; grows */
    double *gradient;   /* of figure i at look k: [i * n + k]; NaN unknown */
    double *ratio;      /* the update's norm over the parameters'; the same */
    /* Each parameter of a network that has few: [parameter * n + k]. 0: more. */
    int n_parameters;
    double *parameter;
};

/* What the batch of the last look came out as, where no validation tells the
 * classes; the first rows of it, where it is large. */
enum { LAB_RESULT_ELEMENTS = 4096 };
struct lab_result {
    int64_t iteration; /* -1: none */
    int64_t rows;
    int64_t cols;
    double *out;    /* rows*cols; with labels: probabilities */
    int *label;     /* the class of each row; NULL: the loss has no classes */
    double *target; /* rows*cols, NULL: the loss compares with none */
    double *in;     /* rows*cols of the data, where it has as many; or NULL */
};

enum { LAB_MISREAD_ROWS = 24, LAB_CONFUSION_CLASSES = 128 };

struct lab_misread {
    int64_t row; /* of the rows that are held back */
    int label;
    int answer; /* the class with the highest score */
    double loss;
    double *value; /* rows*cols of its confusion; NULL: no picture */
};

struct lab_confusion {
    int64_t after;  /* iterations; -1: nothing was evaluated yet */
    int classes;    /* 0: no classes, too many, or no rows held back */
    int64_t *count; /* [label][answer] */
    int64_t total;
    int64_t right;
    struct lab_misread *misread; /* the largest loss first */
    int n_misread;
    int64_t rows; /* of a picture */
    int64_t cols;
    struct lab_label *name; /* of each class; NULL: their numbers */
};

struct lab_inspector;

LAB_C_BEGIN
/* The walk must outlive it. LAB_E_NOMEM. */
enum lab_status lab_inspector_new(struct lab_inspector **out,
                                  struct lab_walk *walk);
void lab_inspector_free(struct lab_inspector *i); /* NULL allowed */
/* Forgets what it has seen: the walk begins anew. */
void lab_inspector_reset(struct lab_inspector *i);

/* Inspecting copies parameters and gradients: whether it is time for it again, so
 * that it takes a tenth of the time at most; and where the next look to be kept is due,
 * where a look reads at most LAB_LOOK_ELEMENTS (under a millisecond): so which are kept
 * does not depend on the clock there. */
bool lab_inspector_due(const struct lab_inspector *i, int64_t now_ns);
/* Around one iteration, which has been waited for. Without before() the update is
 * known where the walk has kept the iteration's start. */
enum lab_status lab_inspector_before(struct lab_inspector *i);
enum lab_status lab_inspector_after(struct lab_inspector *i);
/* lab_walk_evaluate() that counts classes. */
enum lab_status lab_inspector_evaluate(struct lab_inspector *i,
                                       double *accuracy, double *loss);

/* Copies into `memory`. Without memory nothing is there. */
struct lab_arena;
void lab_inspector_figures(const struct lab_inspector *i,
                           struct lab_arena *memory,
                           struct lab_node_figures **out, int *n,
                           int64_t *iteration); /* -1: none yet */
void lab_inspector_looks(const struct lab_inspector *i,
                         struct lab_arena *memory, struct lab_looks *out);
void lab_inspector_result(const struct lab_inspector *i,
                          struct lab_arena *memory, struct lab_result *out);
void lab_inspector_confusion(const struct lab_inspector *i,
                             struct lab_arena *memory,
                             struct lab_confusion *out);
LAB_C_END
