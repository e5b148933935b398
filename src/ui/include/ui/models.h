/* ui/models.h -- what the screens show, as plain data that the program fills.
 *
 * The screens open no database and know no lesson reader. Strings and rows belong to
 * the model's owner. Rows that a `load_` function hands out stay valid until
 * the same function is called again or the screen closes. Unknown: LAB_UNKNOWN,
 * NaN, NULL or "". All functions are called on the UI's thread and must return
 * soon (one query, not a training); they report failure with lab_fail(), and
 * the screen shows the message. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "store/timeline.h"
#include "report/doc.h"
#include "ui/roof_model.h"

struct lab_occupancy_args;

struct lab_ui_run_row {
    int64_t run;
    const char *lesson;
    const char *backend;
    const char *device;
    const char *precision;
    const char *started;  /* "2025-06-01 14:03" */
    const char *status;   /* done, cancelled, failed, interrupted, running */
    const char *variants; /* each once: "cublas, warp" */
    int64_t seed;
    int64_t iterations;
    double loss_first;
    double loss_last;
    double accuracy; /* 0..1 */
    double samples_per_s;
    double median_ns; /* of an iteration's wall time */
    double gpu_ns;    /* of an iteration's steps on the GPU, the median */
    const char *kind; /* "lab": a lab's or a sweep's; may be NULL */
};

struct lab_ui_step_row {
    int64_t index; /* place in the iteration */
    const char *name;
    const char *op;
    const char *phase;
    const char *variant;
    const char *backend;
    int64_t count; /* times it ran */
    double min_ns;
    double median_ns;
    double spread_ns; /* of half of the times, around the median */
    double flop;
    double bytes;
    int64_t kernels; /* launches each time */
    /* Hardware counters, NaN where they were not taken: */
    double achieved; /* occupancy, 0..1 */
    double dram_bytes;
    double counted_flop;
};

struct lab_ui_kernel_row {
    const char *name;
    const char *step;
    int64_t count;
    double median_ns;
    int64_t grid[3];
    int64_t block[3];
    int64_t registers;    /* a thread */
    int64_t shared_bytes; /* static and dynamic */
    double occupancy;     /* theoretical, 0..1 */
    const char *limit;    /* "registers, blocks" */
    double achieved;      /* counters of one launch, as above */
    double dram_bytes;
    double counted_flop;
    const char *phase; /* of the step */
    int64_t place;     /* the model's own, until it loads kernels again */
};

/* One row of two runs side by side: 0 is the reference, 1 the other one. */
struct lab_ui_compare_row {
    /* "iteration", "phase", "node", "step", "kernel", "wall" (a part of it) */
    const char *level;
    const char *phase;
    const char *name; /* of the node or step; the phase itself */
    const char *kernel;
    const char *verdict; /* "faster", "slower", "same", "too few" ... */
    bool there[2];       /* whether that run has it */
    int64_t count[2];    /* times */
    double median_ns[2];
    double mad_ns[2]; /* median distance from the median */
    double flop[2];
    double difference_ns;
    double speed_up;
    double p;
    const char *step[2]; /* as that run's own list calls it; NULL: `name` */
};

struct lab_runs_model {
    void *user;
    /* Of the list, and of its runs' screens; NULL: "Runs", and as it is. */
    const char *title;
    const char *badge;
    /* "lapenna-lab WORD...", for these runs, as a shell takes it; NULL ends. */
    void (*hint)(void *user, const char *const *words, struct lab_str *out);
    enum lab_status (*load_runs)(void *user, const struct lab_ui_run_row **rows,
                                 int64_t *count);
    enum lab_status (*load_steps)(void *user, int64_t run,
                                  const struct lab_ui_step_row **rows,
                                  int64_t *count);
    /* Of one step (its name and phase: a name is the same in every phase), or
     * with NULL those of the whole run. */
    enum lab_status (*load_kernels)(void *user, int64_t run,
                                    const struct lab_ui_step_row *step,
                                    const struct lab_ui_kernel_row **rows,
                                    int64_t *count);
    /* Machine, commit, precision, how times were taken ...: a few lines. */
    enum lab_status (*write_facts)(void *user, int64_t run,
                                   struct lab_doc *out);
    enum lab_status (*delete_run)(void *user, int64_t run); /* may be NULL */
    /* Both, and in a few lines what else differs. May be NULL. */
    enum lab_status (*load_compare)(void *user, const int64_t run[2],
                                    const struct lab_ui_compare_row **rows,
                                    int64_t *count, struct lab_doc *facts);
    /* May be NULL. */
    enum lab_status (*load_roofline)(void *user, int64_t run,
                                     struct lab_ui_roofline *out);
    /* Both may be NULL: no timeline. The passes through the iterations; and
     * one of them, or a part of it. When loading fails, what was handed out
     * before stays. */
    enum lab_status (*load_passes)(void *user, int64_t run,
                                   const struct lab_iteration_row **rows,
                                   int64_t *count);
    enum lab_status (*load_timeline)(void *user, int64_t run,
                                     const struct lab_iteration_row *of,
                                     const struct lab_timeline_filter *filter,
                                     const struct lab_timeline **out);
    /* What if a kernel were launched otherwise (ui/view_occupancy.h): a row of
     * those that were loaded last, as it was launched last, or with NULL the
     * launch `row`, a kernel span's. Both unknown: fails with the reason why the
     * run has no kernels. What it hands out is valid until it is called again.
     * May be NULL. */
    enum lab_status (*load_occupancy)(void *user, int64_t run,
                                      const struct lab_ui_kernel_row *kernel,
                                      int64_t row,
                                      struct lab_occupancy_args *out);
};

/* What a view of a run is opened for. */
struct lab_run_args {
    const struct lab_runs_model *model;
    struct lab_ui_run_row run; /* its strings must outlive the screen */
    const char *step;          /* where the cursor shall be, or NULL */
    const char *phase;
    const struct lab_ui_kernel_row *kernel; /* or its launch, or neither */
    int64_t launch;                         /* LAB_UNKNOWN: none */
};

struct lab_compare_args {
    const struct lab_runs_model *model;
    struct lab_ui_run_row run[2]; /* their strings must outlive the screen */
};

struct lab_source_args {
    const char *path; /* shown */
    const char *text; /* copied */
    size_t bytes;
    const char *symbol; /* to start at, or NULL */
};

struct lab_text_args {
    const char *title; /* copied */
    void *user;
    enum lab_status (*write)(void *user, struct lab_doc *out);
};
