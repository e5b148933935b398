/* engine/session.h -- the debugger: a lesson's plan, walked on its own thread.
 *
 * A session owns the plan, a backend instance, the tensors and the data, and
 * runs them on one thread of its own. Any other thread talks to it in two ways
 * only: it posts commands, which never block, and it reads snapshots, which
 * are copies. The screen therefore never touches a tensor that the engine is
 * writing, and a key shows its effect while a training run goes on.
 *
 * Words are gdb's: step (one step), next (over the rest of a node), finish (to
 * the end of the phase), continue (to the next breakpoint), run to,
 * back (exact: the same bits), restart (from the seed). Positions count the
 * steps of the schedule: position p means that steps 0 .. p-1 of this
 * iteration have run and step p is next. */
#pragma once
#include "engine/setup.h"
#include "engine/snapshot.h"

struct lab_session;

/* Called on the engine's thread; NULL slots are left out. */
struct lab_session_hooks {
    void *user;
    /* The walk is ready: observers may be added, the device is known. */
    void (*opened)(void *user, struct lab_walk *walk);
    /* The walk begins anew, from `seed`, with its plan's learning rate: the
     * observers' run has ended, the next one begins afterwards. `before`: the
     * session as it was, for the call. */
    void (*restarted)(void *user, struct lab_walk *walk, uint64_t seed,
                      const struct lab_snapshot *before);
    void (*closing)(void *user, struct lab_walk *walk); /* the run has ended */
    /* A training has gone as far as it was asked to, and may go on. `now`: for the
     * call. */
    void (*trained)(void *user, const struct lab_snapshot *now);
    /* Takes hardware counters of schedule steps from .. to-1, which have run;
     * `report` gets a line about it for the learner. */
    enum lab_status (*count)(void *user, struct lab_walk *walk, int from,
                             int to, char *report, size_t bytes);
    /* `what`: "off" or "on", the trace of kernels; "": its state. `report` as
     * above. Between steps. */
    enum lab_status (*trace)(void *user, struct lab_walk *walk,
                             const char *what, char *report, size_t bytes);
    /* Keeps the network in the file `path`, which is overwritten only with `force`;
     * `report` as above. */
    enum lab_status (*save)(void *user, struct lab_walk *walk, const char *path,
                            bool force, char *report, size_t bytes);
    /* The walk begins anew with the parameters in the file `path`, once `ready` has
     * been called; it is as it was when that fails. `notice`: lines for the
     * snapshot's notice. */
    enum lab_status (*load)(void *user, struct lab_walk *walk, const char *path,
                            const struct lab_walk_ready *ready,
                            struct lab_str *notice);
};

struct lab_session_config {
    /* What to walk and where: the spec must outlive the session, `stop` is the
     * session's own. */
    struct lab_setup setup;
    struct lab_session_hooks hooks;
    void (*wake)(void *user); /* a new snapshot is there; any thread; NULL ok */
    void *wake_user;
    int64_t epochs; /* of a training without a number; 0: the network's */
};

enum lab_command_kind {
    LAB_DO_STEP,     /* n steps */
    LAB_DO_NEXT,     /* n times: over the node's remaining steps */
    LAB_DO_FINISH,   /* to the end of this phase */
    LAB_DO_CONTINUE, /* to a breakpoint or the end of the iteration */
    LAB_DO_RUN_TO,   /* to schedule index n of this or the next iteration, past
                        the lesson's own stops */
    LAB_DO_BACK,     /* n steps back, over iterations too */
    LAB_DO_RESTART,  /* to where it began: iteration 0, from the seed
                        (seed_given: a new one; lr: another learning rate;
                        text: with the parameters in that file) */
    LAB_DO_TRAIN,    /* n iterations, 0: as the lesson sets */
    LAB_DO_BREAK,    /* adds brk */
    LAB_DO_DELETE,   /* removes breakpoint number n, 0: all */
    LAB_DO_WATCH,    /* text: tensor; stops when it has been written */
    LAB_DO_UNWATCH,  /* text: tensor, or all when empty */
    LAB_DO_VARIANT,  /* text: node or op, text2: variant; LAB_VARIANT_DEFAULT,
                        LAB_VARIANT_AUTO */
    LAB_DO_SHOW,     /* look at a tensor: show */
    LAB_DO_BOARD,    /* look at several: board, n_board of them */
    LAB_DO_EXPLAIN,  /* element: tensor and index */
    LAB_DO_NEAR,     /* text: the neighbours of a word, or of a sum of words */
    LAB_DO_CHECK,    /* gradient check of the parameter text, "" = all */
    LAB_DO_SAMPLE,   /* n characters (0: 200) from the network as it is: text
                        to begin with, value the temperature, top_k; while
                        training too */
    LAB_DO_COUNT,    /* hardware counters of schedule step n (text "step"), of
                        its node's steps around it ("node"), or of all that has
                        run of this iteration ("iteration") */
    LAB_DO_SAVE,  /* keeps the network in the file `text`; n 1: over another */
    LAB_DO_TRACE, /* text: "off", "kernels", "on", "" the trace's state */
    LAB_DO_LR,    /* `lr` is the base learning rate from the next step on; where
                        nothing has run, that of a restart */
    LAB_DO_INSPECT, /* n 1: norms and dead units are kept up to date while a
                        training runs; 0: no longer */
    LAB_DO_STOP     /* cancel what runs, and moves that wait: at once; while
                        variants are measured, that alone */
};

struct lab_command {
    enum lab_command_kind kind;
    int64_t n;
    bool seed_given;
    uint64_t seed;
    double lr; /* 0: as it is */
    char text[LAB_COMMAND_TEXT];
    char text2[LAB_COMMAND_TEXT];
    enum lab_break_kind break_kind;
    int phase; /* enum lab_phase or -1 */
    double value;
    int64_t top_k; /* 0: all */
    struct lab_show show;
    struct lab_show board[LAB_BOARD_PARTS];
    int n_board;
    struct lab_element element;
};

LAB_C_BEGIN
/* LAB_E_USAGE: more variants chosen, the lesson's included, than fit (64).
 * Starts the thread; building the plan and loading data happen there, and a
 * failure shows as LAB_SESSION_FAILED in the snapshot. */
enum lab_status lab_session_new(struct lab_session **out,
                                const struct lab_session_config *config);
/* Cancels what runs and joins the thread. What was posted and has not begun is
 * left out, the last snapshot can be read, a post is LAB_E_STATE. The caller is
 * the thread that frees it. */
void lab_session_end(struct lab_session *s);
/* Ends it and frees all. NULL allowed. */
void lab_session_free(struct lab_session *s);
/* Copies the command into the queue and returns at once. LAB_E_NOMEM. */
enum lab_status lab_session_post(struct lab_session *s,
                                 const struct lab_command *command);
/* The latest state. `out` is overwritten; release it before the next call. */
enum lab_status lab_session_snapshot(struct lab_session *s,
                                     struct lab_snapshot *out);
int64_t lab_session_version(struct lab_session *s); /* cheap: anything new? */
/* Whether moves, choices and questions that were posted are not in the latest
 * snapshot yet. Trainings, checks and counts are left out: they take long, and
 * the snapshot's state shows them. */
bool lab_session_pending(struct lab_session *s);
/* How long the move, choice or question that is at work has run; 0: none is. A long
 * step shows in no snapshot before it has ended. Any thread. */
int64_t lab_session_busy_ns(struct lab_session *s);
/* Waits until every posted command is done. LAB_E_CANCELLED after timeout_ns
 * (< 0: no limit). */
enum lab_status lab_session_wait(struct lab_session *s, int64_t timeout_ns);
/* What a node of the plan can run as here (lab_candidates), with the times of
 * *at, a step of a snapshot's schedule, or NULL. Names outlive the session. 0
 * while it starts. Any thread. */
int lab_session_candidates(struct lab_session *s, int node,
                           const struct lab_schedule_step *at,
                           struct lab_candidate *out, int max);
/* Early stopping: has the validation loss been no lower than its best for as many
 * evaluations as the patience? */
struct lab_patience {
    int64_t most;           /* evaluations; 0: it never ends */
    int64_t since;          /* the best one */
    double best;            /* loss; NaN: none yet */
    int64_t best_iteration; /* from 0 */
};
void lab_patience_init(struct lab_patience *p, int64_t most);
/* Takes an evaluation's loss (NaN: it is none, or worse than all); true: the
 * training is to end. */
bool lab_patience_ends(struct lab_patience *p, int64_t iteration, double loss);
/* How many iterations the lesson asks for; `epochs` or `iterations` above 0
 * go before the lesson's own. `facts` of its data. */
int64_t lab_train_iterations(const struct lab_network_spec *spec,
                             const struct lab_data_facts *facts, int64_t epochs,
                             int64_t iterations);
LAB_C_END
