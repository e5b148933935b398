/* engine/snapshot.h -- what a view sees of a session: a copy, taken between
 * steps. It changes nothing and nothing changes it; whoever took it releases
 * it. Threads: one at a time per snapshot. */
#pragma once
#include "base/error.h"
#include "engine/explain.h"
#include "engine/gradcheck.h"
#include "engine/inspect.h"
#include "engine/vocabulary.h"
#include "engine/tensor.h"
#include "engine/tune.h"

enum { LAB_COMMAND_TEXT = 128 };

/* Which plane of a tensor a view wants: two axes shown, the others fixed. */
struct lab_show {
    int tensor;
    int row_axis;                /* -1: one row */
    int col_axis;                /* -1: one column (a scalar) */
    int64_t fixed[LAB_MAX_RANK]; /* coordinate of every axis not shown */
    int64_t row_first; /* where the plane is cut when it is very large */
    int64_t col_first;
    /* A contact sheet: 1 + the axis of which all slices come, one after another;
     * 0: the one slice at `fixed`. */
    int sheet;
    int64_t
        tile_first; /* its first slice, where the plane has no room for all */
};

/* A plane holds at most this many elements. */
enum { LAB_PLANE_ELEMENTS = 1 << 20 };
/* And a contact sheet this many slices. */
enum { LAB_SHEET_TILES = 256 };

/* Tensors that a view can see beside it (LAB_DO_BOARD). */
enum { LAB_BOARD_PARTS = 10 };

enum lab_session_state {
    LAB_SESSION_STARTING,
    LAB_SESSION_IDLE,    /* waits for a command */
    LAB_SESSION_WALKING, /* runs to a stop */
    LAB_SESSION_TRAINING,
    LAB_SESSION_CHECKING, /* gradient check */
    LAB_SESSION_FAILED    /* could not start; error has the reason */
};

enum { LAB_SESSION_TEXT = 512, LAB_MAX_BREAKS = 32 };

struct lab_break_info {
    int number; /* from 1, never reused */
    enum lab_break_kind kind;
    char step[LAB_COMMAND_TEXT];
    int phase;
    double value;
    bool watch;  /* step holds a tensor's name */
    bool lesson; /* the lesson has set it, not the learner */
    int64_t hits;
};

/* The label of a row or column: "7", "the"; cut where it is longer. */
enum { LAB_LABEL_BYTES = 24 };
struct lab_label {
    bool symbol; /* false: it is the number of the place */
    char text[LAB_LABEL_BYTES];
};

/* A plane of a tensor, copied. Values are doubles; exact for f32 and i32. */
struct lab_plane {
    int tensor; /* -1: nothing was asked for */
    struct lab_show show;
    int64_t rows;
    int64_t cols;
    int64_t tiles; /* 1, or the slices of a contact sheet that are here */
    double *value; /* tiles*rows*cols, row-major, owned by the snapshot */
    bool written;  /* false: no step has written it, and the values are NaN */
    int64_t generation;     /* changes when the tensor changes */
    struct lab_stats stats; /* of the whole tensor */
    /* For each row and each column, where the axis counts the places of a
     * sequence: the symbol or id that the data has there, or the place itself
     * when the data has none; of a contact sheet those of each slice, one after the
     * other. NULL: no labels. */
    struct lab_label *row_label;
    struct lab_label *col_label;
    /* Of a contact sheet of the batch's samples: the class of each, and what it
     * comes out as where the network's result is there: "7", "7, as 9". NULL: no
     * classes. */
    struct lab_label *tile_label;
};

/* The last execution of a step of the schedule. */
struct lab_step_status {
    int64_t exec;    /* 0: has not run; or LAB_EXEC_UNOBSERVED */
    int64_t time_ns; /* wall time on the CPU clock around the step */
    const char *ran; /* the variant of that execution; NULL: has not run */
    bool done;       /* ran in the iteration that is shown */
};

/* The learning rate was set by hand. */
struct lab_lr_change {
    int64_t iteration; /* from this one on */
    double lr;
};
enum { LAB_LR_CHANGES = 16 }; /* the newest are kept */

struct lab_curve { /* of losses or accuracies; thinned when long */
    int64_t *iteration;
    double *value;
    int n;
};

/* An element over the iterations that are kept (lab_walk_past()). */
struct lab_past {
    struct lab_element element; /* n 0: any */
    struct lab_curve values;
};

/* What the copies of one snapshot share; private. */
struct lab_snapshot_shared;

/* A copy of what a view shows. Release with lab_snapshot_release(). The plan
 * and the schedule may be read as long as the snapshot is held. */
struct lab_snapshot {
    struct lab_snapshot_shared *shared; /* owns what pointers lead to */
    int64_t version;                    /* grows with every publication */
    enum lab_session_state state;
    const struct lab_plan *plan;   /* NULL while STARTING */
    struct lab_schedule *schedule; /* retained */
    struct lab_device_info device;
    char backend[16];
    /* While STARTING: the variant that is measured now, and how many of `of` are
     * done; of 0: none is. */
    char measured[LAB_TUNE_NAME];
    int measure_done;
    int measure_of;
    int64_t iteration;       /* from 0 */
    int64_t first_iteration; /* of this walk: more than 0 where it goes on
                                      with a training that was kept */
    bool given;   /* parameters from a file: not what the course prints */
    int position; /* 0 .. schedule->n_steps */
    struct lab_step_status *steps; /* schedule->n_steps of them */
    double loss; /* of this iteration, NaN before it is known */
    double lr;   /* lab_walk_lr() */
    double rate; /* of this iteration by its schedule; without one, lr */
    char stop_reason[LAB_SESSION_TEXT]; /* "breakpoint 2: loss above 5" */
    char error[LAB_SESSION_TEXT];       /* of the last command, "" = none */
    char error_id[LAB_ERROR_ID_BYTES];
    enum lab_status error_code;
    struct lab_break_info breaks[LAB_MAX_BREAKS];
    int n_breaks;
    struct lab_plane plane;
    /* What LAB_DO_BOARD asked for; n_board 0: nothing, as while TRAINING. */
    struct lab_plane board[LAB_BOARD_PARTS];
    int n_board;
    struct lab_explanation explanation; /* tensor -1: none, as while TRAINING */
    /* The explained element, and the same one of its gradient, or of what it is the
     * gradient of; n 0: there is none. */
    struct lab_past past[2];
    struct lab_check_result *checks; /* of a LAB_DO_CHECK just now; gone
                                           when the walk moves on */
    int n_checks;
    /* The words that ids stand for, as long as the session lives; or NULL. */
    const struct lab_vocabulary *words;
    struct lab_neighbours near; /* of the last LAB_DO_NEAR; asked 0: none */
    int64_t check_done;         /* elements compared, while CHECKING */
    int64_t check_of;           /* 0: not known yet */
    /* training */
    int64_t train_target; /* iterations asked for */
    int64_t train_done;
    bool train_whole; /* the last training ended by itself: all iterations, or
                         early_stop; not by a break, an error, a cancel */
    double samples_per_s;
    double seconds_left; /* NaN unknown */
    int64_t epoch;
    int64_t iterations_per_epoch; /* 0: no epochs (inline data) */
    struct lab_curve losses;
    struct lab_curve accuracies; /* held-back share right, 0..1 */
    double accuracy;             /* the last one, NaN none */
    double test_accuracy; /* of rows apart from those of validation, after a
                             training; NaN none */
    bool text;            /* the data are text: the network can write some */
    /* Text: the held-back loss in bits per character, NaN none, and that of a
     * model that counts (engine/text.h), known with the first of them. */
    struct lab_curve bits;
    struct lab_curve held; /* validation loss, where it is computed */
    double bits_per_char;
    double bits_order3;
    struct lab_curve rates; /* learning rate of each iteration */
    struct lab_lr_change lr_changes[LAB_LR_CHANGES];
    int n_lr_changes;
    /* From LAB_DO_INSPECT on: of iteration figures_of; n_figures 0: none. */
    bool inspects;
    struct lab_node_figures *figures;
    int n_figures;
    int64_t figures_of;
    struct lab_looks looks;         /* n 0: none */
    struct lab_result result;       /* iteration -1: none */
    struct lab_confusion confusion; /* of the last evaluation; after -1: none */
    /* What the network wrote last, after the text to begin with: UTF-8 as it
     * is, controls too; NULL: nothing. */
    char *sample;
    /* For each byte of `sample` the probability of its character as the network
     * had it; NaN: it was given. NULL where `sample` is. */
    float *sample_p;
    int64_t sample_iteration; /* it was written after so many iterations */
    bool sampling;            /* more is coming */
    double exact; /* the last share of sequences decoded exactly, NaN none */
    char decoded[LAB_SESSION_TEXT]; /* some of them, a line each; "" none */
    double step_ms_median;
    /* What the learner should know: variants that were withdrawn or are not
     * to be had on this backend, one a line; "" = nothing. */
    char notice[LAB_SESSION_TEXT];
};

LAB_C_BEGIN
void lab_snapshot_release(struct lab_snapshot *snap);
LAB_C_END
