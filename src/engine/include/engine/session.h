/* engine/session.h -- the debugger: a lesson's plan, walked on its own thread.
 *
 * A session owns the plan, a backend instance, the tensors and the data, and
 * runs them on one thread of its own. Any other thread talks to it in two ways
 * only: it posts commands, which never block, and it reads snapshots, which
 * are copies. The screen therefore never touches a tensor that the engine is
 * writing, and a key shows its effect while a training run goes on.
 *
 * Words are gdb's: step (one step), next (over the rest of a node), finish (to
 * the end of the node's phase), continue (to the next breakpoint), run to,
 * back (exact: the same bits), restart (from the seed). Positions count the
 * steps of the schedule: position p means that steps 0 .. p-1 of this
 * iteration have run and step p is next. */
#pragma once
#include "base/str.h"
#include "engine/explain.h"
#include "engine/gradcheck.h"
#include "engine/observer.h"
#include "engine/stats.h"
#include "engine/walk.h"

struct lab_session;

/* Called on the engine's thread; NULL slots are left out. */
struct lab_session_hooks {
    void *user;
    void (*prepare)(void *user, const char *backend); /* engine/setup.h */
    /* The walk is ready: observers may be added, the device is known. */
    void (*opened)(void *user, struct lab_walk *walk);
    void (*closing)(void *user, struct lab_walk *walk); /* the run has ended */
};

struct lab_session_config {
    const struct lab_network_spec *spec; /* must outlive the session */
    const char *backend;                 /* "auto", "cpu", "cuda", "null" */
    int device;
    int64_t batch;    /* 0: the lesson's */
    const char *data; /* directory or file instead of the lesson's, or NULL */
    bool seed_given;
    uint64_t seed;                            /* instead of the lesson's */
    const struct lab_variant_choice *choices; /* after the lesson's own */
    int n_choices;
    struct lab_session_hooks hooks;
    void (*wake)(void *user); /* a new snapshot is there; any thread; NULL ok */
    void *wake_user;
};

enum lab_command_kind {
    LAB_DO_STEP,     /* n steps */
    LAB_DO_NEXT,     /* n times: over the node's remaining steps */
    LAB_DO_FINISH,   /* to the end of this phase */
    LAB_DO_CONTINUE, /* to a breakpoint or the end of the iteration */
    LAB_DO_RUN_TO,   /* to schedule index n of this or the next iteration */
    LAB_DO_BACK,     /* n steps back, over iterations too */
    LAB_DO_RESTART,  /* iteration 0, from the seed (seed_given: a new one) */
    LAB_DO_TRAIN,    /* n iterations, 0: as the lesson says */
    LAB_DO_BREAK,    /* adds brk */
    LAB_DO_DELETE,   /* removes breakpoint number n, 0: all */
    LAB_DO_WATCH,    /* text: tensor; stops when it has been written */
    LAB_DO_UNWATCH,  /* text: tensor, or all when empty */
    LAB_DO_VARIANT,  /* text: node or op, text2: variant */
    LAB_DO_SHOW,     /* look at a tensor: show */
    LAB_DO_EXPLAIN,  /* element: tensor and index */
    LAB_DO_CHECK,    /* gradient check of the parameter text, "" = all */
    LAB_DO_STOP      /* cancel what runs; handled at once */
};

enum { LAB_COMMAND_TEXT = 128 };

/* Which plane of a tensor a view wants: two axes shown, the others fixed. */
struct lab_show {
    int tensor;
    int row_axis;                /* -1: one row */
    int col_axis;                /* -1: one column (a scalar) */
    int64_t fixed[LAB_MAX_RANK]; /* coordinate of every axis not shown */
    int64_t row_first; /* where the plane is cut when it is very large */
    int64_t col_first;
};

/* A plane holds at most this many elements. */
enum { LAB_PLANE_ELEMENTS = 1 << 20 };

struct lab_command {
    enum lab_command_kind kind;
    int64_t n;
    bool seed_given;
    uint64_t seed;
    char text[LAB_COMMAND_TEXT];
    char text2[LAB_COMMAND_TEXT];
    enum lab_break_kind break_kind;
    int phase; /* enum lab_phase or -1 */
    double value;
    struct lab_show show;
    struct lab_element element;
};

enum lab_session_state {
    LAB_SESSION_STARTING,
    LAB_SESSION_IDLE,    /* waits for a command */
    LAB_SESSION_WALKING, /* runs to a stop */
    LAB_SESSION_TRAINING,
    LAB_SESSION_CHECKING, /* gradient check */
    LAB_SESSION_FAILED    /* could not start; error says why */
};

enum { LAB_SESSION_TEXT = 512, LAB_MAX_BREAKS = 32 };

struct lab_break_info {
    int number; /* from 1, never reused */
    enum lab_break_kind kind;
    char step[LAB_COMMAND_TEXT];
    int phase;
    double value;
    bool watch; /* step holds a tensor's name */
    int64_t hits;
};

/* A plane of a tensor, copied. Values are doubles; exact for f32 and i32. */
struct lab_plane {
    int tensor; /* -1: nothing was asked for */
    struct lab_show show;
    int64_t rows;
    int64_t cols;
    double *value;          /* rows*cols, row-major, owned by the snapshot */
    bool written;           /* false: no step has written it yet */
    int64_t generation;     /* changes when the tensor changes */
    struct lab_stats stats; /* of the whole tensor */
};

/* The last execution of a step of the schedule. */
struct lab_step_status {
    int64_t exec;    /* 0: has not run */
    int64_t time_ns; /* wall time on the CPU clock around the step */
    bool done;       /* ran in the iteration that is shown */
};

struct lab_curve { /* of losses or accuracies; thinned when long */
    int64_t *iteration;
    double *value;
    int n;
};

/* A copy of what a view shows. Release with lab_snapshot_release(). The plan
 * and the schedule may be read as long as the snapshot is held. */
struct lab_snapshot {
    int64_t version; /* grows with every publication */
    enum lab_session_state state;
    const struct lab_plan *plan;   /* NULL while STARTING */
    struct lab_schedule *schedule; /* retained */
    struct lab_device_info device;
    char backend[16];
    int64_t iteration;             /* from 0 */
    int position;                  /* 0 .. schedule->n_steps */
    struct lab_step_status *steps; /* schedule->n_steps of them */
    double loss; /* of this iteration, NaN before it is known */
    char stop_reason[LAB_SESSION_TEXT]; /* "breakpoint 2: loss above 5" */
    char error[LAB_SESSION_TEXT];       /* of the last command, "" = none */
    enum lab_status error_code;
    struct lab_break_info breaks[LAB_MAX_BREAKS];
    int n_breaks;
    struct lab_plane plane;
    struct lab_explanation explanation; /* tensor -1: none */
    struct lab_check_result *checks;    /* of the last LAB_DO_CHECK */
    int n_checks;
    /* training */
    int64_t train_target; /* iterations asked for */
    int64_t train_done;
    double samples_per_s;
    double seconds_left; /* NaN unknown */
    int64_t epoch;
    int64_t iterations_per_epoch; /* 0: no epochs (inline data) */
    struct lab_curve losses;
    struct lab_curve accuracies; /* held-back share right, 0..1 */
    double accuracy;             /* the last one, NaN none */
    double step_ms_median;
    /* What the learner should know: variants that were withdrawn or are not
     * to be had on this backend, one a line; "" = nothing. */
    char notice[LAB_SESSION_TEXT];
};

LAB_C_BEGIN
/* Starts the thread; building the plan and loading data happen there, and a
 * failure shows as LAB_SESSION_FAILED in the snapshot. */
enum lab_status lab_session_new(struct lab_session **out,
                                const struct lab_session_config *config);
/* Cancels what runs, joins the thread, frees all. NULL allowed. */
void lab_session_free(struct lab_session *s);
/* Copies the command into the queue and returns at once. LAB_E_NOMEM. */
enum lab_status lab_session_post(struct lab_session *s,
                                 const struct lab_command *command);
/* The latest state. `out` is overwritten; release it before the next call. */
enum lab_status lab_session_snapshot(struct lab_session *s,
                                     struct lab_snapshot *out);
int64_t lab_session_version(struct lab_session *s); /* cheap: anything new? */
void lab_snapshot_release(struct lab_snapshot *snap);
/* Waits until every posted command is done. LAB_E_CANCELLED after timeout_ns
 * (< 0: no limit). */
enum lab_status lab_session_wait(struct lab_session *s, int64_t timeout_ns);
/* Names of the variants that a node of the plan can take here, the default
 * first; they outlive the session. 0 while it starts. Any thread. */
int lab_session_variant_names(struct lab_session *s, int node,
                              const char **names, int max);
/* How many iterations the lesson asks for; `epochs` or `iterations` above 0
 * go before the lesson's own. `facts` of its data. */
int64_t lab_train_iterations(const struct lab_network_spec *spec,
                             const struct lab_data_facts *facts, int64_t epochs,
                             int64_t iterations);
LAB_C_END
