/* ui/stepper.h -- the stepper and the training screen: what they need.
 *
 * Both screens draw from struct lab_snapshot and from the functions below, and
 * act by posting commands; they know neither the session's thread, nor the
 * store, nor the profiler. The program fills a model, tests fill another one.
 * Every function runs on the UI's thread and must not block. */
#pragma once
#include "debug/debugger.h"
#include "debug/kernel_text.h"
#include "engine/session.h"
#include "report/doc.h"
#include "trace/metric.h"
#include "trace/record.h"
#include "ui/screen.h"

struct lab_ui;

/* A launch of a kernel, and its hardware counters where they were taken. */
struct lab_stepper_kernel {
    struct lab_kernel_record record;
    bool counted;
    struct lab_counters counters;
};

/* One piece of advice on a kernel. For the call. */
typedef void lab_stepper_advice_fn(void *to, const char *text);

/* What the device reached when it was measured; NaN: it was not. */
struct lab_stepper_roofs {
    double flop_per_s;     /* large products in the plan's precision */
    double bytes_per_s;    /* a copy, read and written */
    const char *precision; /* "fp32" */
};

/* An earlier run of the lesson; the caller frees the curve's two lists. */
struct lab_past_run {
    int64_t run;
    char name[64]; /* "run 41, lr 0.5" */
    struct lab_curve losses;
};
enum { LAB_PAST_RUNS = 4 };

/* The training screen as it was left. */
struct lab_train_left {
    bool known;
    int64_t iteration;
    double loss;
    double accuracy;
};

struct lab_stepper_model {
    void *user;
    const char *title;     /* the lesson's; "" for none. Outlives the screen */
    const char *time_note; /* "CPU clock", "CUPTI", "CUDA events: ..." */

    /* The session's own functions (engine/session.h); a test has others. */
    struct lab_session *session;
    enum lab_status (*post)(struct lab_session *session,
                            const struct lab_command *command);
    int64_t (*version)(struct lab_session *session);
    enum lab_status (*snapshot)(struct lab_session *session,
                                struct lab_snapshot *out);
    void (*snapshot_release)(struct lab_snapshot *snap);

    /* All below may be NULL. */
    bool (*pending)(struct lab_session *session);
    /* How long what is pending has been at work; 0: it is not. */
    int64_t (*busy_ns)(struct lab_session *session);
    /* The simulated launch that runs, as text, and how long it has; false: none. */
    bool (*running)(struct lab_str *out, int64_t *ns);
    /* The kernels of an execution of a step: fills at most `max` rows and
     * returns how many there are; -1: not known (yet). */
    int (*kernels)(void *user, int64_t exec, struct lab_stepper_kernel *rows,
                   int max);
    /* Calls `each` for the rules' advice on kernel `kernel` of schedule step
     * `index`, the weightiest first. */
    void (*advise)(void *user, const struct lab_snapshot *snap, int index,
                   int kernel, lab_stepper_advice_fn *each, void *to);
    /* The measured ceilings of the device of the walk. */
    void (*roofs)(void *user, const struct lab_snapshot *snap,
                  struct lab_stepper_roofs *out);
    /* What a node of the plan can run as; the names outlive the screen. */
    lab_candidates_fn *candidates;
    /* What the checks of the simulator found in the step that they stopped, as text,
     * and where. false: nothing. */
    bool (*found)(struct lab_str *out, struct lab_kernel_goal *goal);
    /* Writes the lesson's text for a step in a phase into `out`, wrapped to
     * `columns`; without a step and a phase (NULL) the lesson's introduction.
     * Leaves it empty where the lesson has none. */
    void (*text_for)(void *user, const char *step, const char *node,
                     const char *phase, int columns, struct lab_doc *out);
    /* Opens the what-if screen for the longest kernel of schedule step
     * `index`, on top of the stepper. */
    enum lab_status (*open_occupancy)(void *user, struct lab_ui *ui,
                                      const struct lab_snapshot *snap,
                                      int index);
    /* Opens the source of a kernel on top of the stepper. */
    enum lab_status (*open_source)(void *user, struct lab_ui *ui,
                                   const char *file, const char *symbol);
    /* Writes that source into `out`, a line a paragraph, out->first that of the
     * symbol; leaves it empty where there is none. */
    void (*source_for)(void *user, const char *file, const char *symbol,
                       struct lab_doc *out);
    /* Opens the whole text of the lesson on top of the stepper, at what
     * text_for() shows for these. */
    enum lab_status (*open_lesson)(void *user, struct lab_ui *ui,
                                   const char *step, const char *node,
                                   const char *phase);
    /* The learner has walked `walked` of an iteration's `n_steps` steps; what a
     * training ran does not count. */
    void (*progress)(void *user, int64_t walked, int n_steps);

    /* A training is to go on when the stepper closes; NULL: it cannot. */
    void (*leave_running)(void *user);
    /* Runs of the lesson that have ended, the newest first: at most `max`. */
    int (*past_runs)(void *user, struct lab_past_run *out, int max);
    struct lab_train_left *left; /* outlives the screens; NULL: the stepper's */

    /* Values that course material prints; outlive the screen. */
    const struct lab_course_values_spec *printed;
    int n_printed;
    int64_t train_iterations; /* what training asks for; 0: the lesson's */
    bool train_waits; /* the training screen opens and does not start one */
    struct lab_sample_request sampling;
};

/* Both take a `const struct lab_stepper_model *` as args, and copy it. */
extern const struct lab_screen_ops lab_view_stepper;
extern const struct lab_screen_ops lab_view_train;
