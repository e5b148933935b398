/* walk_priv.h -- what the files walk_*.c share. */
#pragma once
#include "engine/backend_graph.h"
#include "engine/decode.h"
#include "engine/walk.h"

/* Parameters and state as an iteration found them. */
struct lab_walk_copy {
    int64_t iteration; /* -1: empty */
    void *memory;      /* persistent_bytes on the device */
};

enum { LAB_WALK_COPIES = 64 };

enum { LAB_WALK_NEWS = 64, LAB_WALK_REFUSAL = 256 };

/* Iterations as graphs: walk_speed.c. */
struct lab_walk_speed {
    bool off;                /* asked for */
    struct lab_schedule *of; /* of what follows, a reference; NULL: none yet */
    bool warm;               /* it has run, a step at a time */
    bool failed;             /* it cannot be captured */
    bool refusal_known;      /* `refusal` is new, or has been told */
    bool refusal_told;
    char refusal[LAB_WALK_REFUSAL]; /* why */
    bool nodes;                     /* recorded iterations, too */
    int64_t first_node;             /* the first of a step's */
    int64_t *node_end; /* of each step of the schedule; NULL: unknown */
    struct lab_graph *graph;
    void *slot[LAB_GRAPH_AHEAD]; /* pinned; batches of launched iterations */
    int64_t launched;
    int64_t told;
    int64_t queued_ns[LAB_GRAPH_AHEAD]; /* when each was launched */
    int64_t last_end_ns;                /* of the one told last */
    int64_t synced_ns;       /* when the observers heard of it last */
    int64_t clock_offset_ns; /* host's less device's */
    bool clock_known;
    int64_t data_of; /* the iteration whose data the arena has; -1: none */
    struct lab_iteration_progress news[LAB_WALK_NEWS]; /* a ring */
    int64_t news_first;
    int64_t news_end;
};

/* Before plan step `at` of an iteration; n_steps of the plan: its end. */
struct lab_walk_place {
    int64_t iteration;
    int at;
};

/* The schedule that ran from a place on, until the next switch. */
struct lab_walk_switch {
    struct lab_walk_place from;
    struct lab_schedule *schedule; /* a reference */
};

struct lab_walk {
    const struct lab_plan *plan;
    struct lab_backend *be;
    struct lab_data *data;
    struct lab_schedule *schedule;
    struct lab_walk_switch *switches; /* in order; the last has `schedule` */
    int n_switches;                   /* the first is from the seed on */
    int switch_room;
    struct lab_observer observers[LAB_MAX_OBSERVERS];
    int n_observers;
    bool muted; /* a replay: nobody is told */
    bool quiet; /* at speed: only the iteration and its loss are told */
    bool use_events;
    bool cut; /* the open iteration was stopped at speed */
    struct lab_stop stop;
    void *arena;
    struct lab_decoder *decoder; /* decode.c; NULL until it is needed */
    void *eval_arena; /* activations of an evaluation; NULL until the first */
    struct lab_walk_copy copy[LAB_WALK_COPIES];
    int n_copies; /* slots in use: fewer when parameters are large */
    int next_copy;
    int64_t iteration;
    int position;
    int64_t exec; /* of the last step that ran */
    double loss;
    int64_t evaluations; /* since run_begin */
    int64_t *step_exec;  /* by plan step; 0: not in this iteration */
    int64_t *step_ns;
    const struct lab_variant **step_ran; /* what an execution ran as */
    bool *written;                       /* by tensor */
    int64_t *generation;
    void *staging; /* host memory for the largest data tensor */
    bool open_iteration;
    int open_phase; /* -1: none */
    int open_node;
    struct lab_walk_speed speed;
};

/* What a step has written, and when. */
enum lab_status lab_walk_run_schedule_step(struct lab_walk *w,
                                           const struct lab_schedule_step *s,
                                           void *base, bool training);
/* walk_speed.c. Whatever looks at the walk or changes it settles it first. */
/* walk_nodes.c: nothing where nobody asked for nodes. */
enum lab_status lab_walk_nodes_begin(struct lab_walk *w); /* of a capture */
enum lab_status
lab_walk_launch_nodes(struct lab_walk *w, int64_t iteration, bool keep,
                      enum lab_status (*launch)(struct lab_walk *w,
                                                int64_t iteration, bool keep));
/* walk_history.c */
/* walk_eval.c: the held-back rows of a batch, into the memory of an
 * evaluation; a tensor from there; the class of the largest score, or -1. */
enum lab_status lab_walk_read_eval(struct lab_walk *w, int tensor, void *out);
int lab_walk_best_class(const void *out, enum lab_dtype dtype, int64_t row,
                        int64_t classes);
/* decode.c: around the batches of an evaluation, after a batch has run
 * forward. `out` has room for what the loss reads. */
enum lab_status lab_walk_decode_begin(struct lab_walk *w);
enum lab_status lab_walk_decode_batch(struct lab_walk *w, int64_t first,
                                      int64_t rows, void *out);
void lab_walk_decode_end(struct lab_walk *w);
void lab_decoder_free(struct lab_decoder *d); /* NULL allowed */
/* walk_back.c */
