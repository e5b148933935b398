/* engine/observer.h -- who wants to know what the engine does.
 *
 * The engine calls; it does not know who listens (profiler, recorder, tests).
 * Every slot is optional. Calls come from the engine's thread, nested:
 * run > iteration > phase > node > step. An observer must not call back into
 * the engine. */
#pragma once
#include "engine/plan.h"

struct lab_step_event {
    int64_t exec; /* number of this execution, unique in the run, from 1 */
    int64_t iteration;
    int index; /* in the schedule */
    const struct lab_step *step;
    const char *node; /* id */
    const char *op;
    const char *variant;
    const char *backend;
    int64_t device_ns; /* step_end: by CUDA events where asked for, else
                          LAB_EVENT_NO_TIME */
};
#define LAB_EVENT_NO_TIME INT64_MIN

/* A recorded iteration that is launched as one graph. Nodes are numbered in the
 * order of their capture: those from first_node, and from node_end[i - 1], up
 * to before node_end[i] are of step i of the schedule, which is execution exec
 * + i. Other nodes are of no step. */
struct lab_graph_event {
    int64_t exec;
    int n_steps;
    int64_t first_node;
    const int64_t *node_end; /* n_steps of them, valid during the call */
};

struct lab_observer {
    void *user;
    void (*run_begin)(void *user, const char *name);
    void (*run_end)(void *user);
    /* start_ns: of the monotonic clock; before now where one whose steps were not
     * reported is stopped and goes on as a walk. */
    void (*iteration_begin)(void *user, int64_t iteration, int64_t start_ns);
    /* The learning rate of the iteration that ends next; NaN: nothing is
     * updated. */
    void (*rate)(void *user, double learning_rate);
    void (*iteration_end)(void *user, int64_t iteration, double loss);
    /* In place of iteration_end: the iteration was cut before its last step and
     * has no loss. NULL: iteration_end, with NaN. */
    void (*iteration_cut)(void *user, int64_t iteration);
    /* An iteration at speed, or one whose steps are not reported, in whole when its
     * loss has come; the moments are of the monotonic clock. NULL: iteration_begin and
     * iteration_end, one after the other. */
    void (*iteration_done)(void *user, int64_t iteration, double loss,
                           int64_t start_ns, int64_t end_ns);
    void (*phase_begin)(void *user, enum lab_phase phase);
    void (*phase_end)(void *user, enum lab_phase phase);
    void (*node_begin)(void *user, const char *node);
    void (*node_end)(void *user, const char *node);
    void (*step_begin)(void *user, const struct lab_step_event *e);
    void (*step_end)(void *user, const struct lab_step_event *e);
    void (*graph_begin)(void *user, const struct lab_graph_event *e);
    void (*graph_end)(void *user, const struct lab_graph_event *e);
    /* A step of such an iteration, after `synced`: there was no step_begin. */
    void (*step_done)(void *user, const struct lab_step_event *e);
    /* The device has done all that was queued: records may be collected. */
    void (*synced)(void *user);
    void (*evaluation)(void *user, int64_t iteration, double loss,
                       double accuracy); /* on held-back data */
    /* Work that is of no step, between steps or in the middle of a paused
     * iteration: "evaluation". */
    void (*between_begin)(void *user, const char *what);
    void (*between_end)(void *user);
    /* Around steps that are not reported: those of an iteration that is not
     * sampled, of an evaluation that is not (lab_walk_samples()), and steps
     * that run again. Not around the graph of a whole iteration, unless its
     * nodes are asked for. */
    void (*unreported_begin)(void *user);
    void (*unreported_end)(void *user);
};
