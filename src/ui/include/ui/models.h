/* ui/models.h -- what the screens show, as plain data that the program fills.
 *
 * The screens open no database and read no lesson. Strings and rows belong to
 * the model's owner. Rows that a `load_` function hands out stay valid until
 * the same function is called again or the screen closes. Unknown: LAB_UNKNOWN,
 * NaN, NULL or "". All functions are called on the UI's thread and must return
 * soon (one query, not a training); they report failure with lab_fail(), and
 * the screen shows the message. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "store/compare.h"
#include "store/query.h"
#include "store/timeline.h"
#include "report/doc.h"

struct lab_occupancy_args;
struct lab_roofline;
struct lab_run_preview;

struct lab_runs_model {
    void *user;
    /* Of the list, and of its runs' screens; NULL: "Runs", and as it is. */
    const char *title;
    const char *badge;
    const char *sorted; /* title of the column that the list opens sorted by */
    /* "lapenna-lab WORD...", for these runs, as a shell takes it; NULL ends. */
    void (*hint)(void *user, const char *const *words, struct lab_str *out);
    enum lab_status (*load_runs)(void *user, const struct lab_run_row **rows,
                                 int64_t *count);
    /* What the list shows of a run beside it, without a row for each launch; *out is
     * zeros before. May be NULL: nothing. */
    enum lab_status (*load_preview)(void *user, const struct lab_run_row *run,
                                    struct lab_run_preview *out);
    enum lab_status (*load_steps)(void *user, int64_t run,
                                  const struct lab_time_sum **rows,
                                  int64_t *count);
    /* Of one step (its name and phase: a name is the same in every phase), or
     * with NULL those of the whole run. */
    enum lab_status (*load_kernels)(void *user, int64_t run,
                                    const struct lab_time_sum *step,
                                    const struct lab_time_sum **rows,
                                    int64_t *count);
    /* Adds what to try with a kernel of a step, a line each; both from what was
     * loaded last. May be NULL. */
    void (*add_advice)(void *user, int64_t run, const struct lab_time_sum *step,
                       const struct lab_time_sum *kernel, struct lab_str *out);
    /* Steps and kernels in one list, with what bounds them. May be NULL. */
    enum lab_status (*load_work)(void *user, int64_t run,
                                 const struct lab_time_sum **rows,
                                 int64_t *count);
    /* Machine, commit, precision, how times were taken ...: a few lines. */
    enum lab_status (*write_facts)(void *user, int64_t run,
                                   struct lab_doc *out);
    enum lab_status (*delete_run)(void *user, int64_t run); /* may be NULL */
    /* Both, and in a few lines what else differs. May be NULL. */
    enum lab_status (*load_compare)(void *user, const int64_t run[2],
                                    const struct lab_compare_row **rows,
                                    int64_t *count, struct lab_doc *facts);
    /* `note` gets how to measure ceilings where none was. May be NULL. */
    enum lab_status (*load_roofline)(void *user, int64_t run,
                                     const struct lab_roofline **out,
                                     struct lab_str *note);
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
     * run has no kernels. May be NULL. */
    enum lab_status (*load_occupancy)(void *user, int64_t run,
                                      const struct lab_time_sum *kernel,
                                      int64_t row,
                                      struct lab_occupancy_args *out);
};

/* What a view of a run is opened for. */
struct lab_run_args {
    const struct lab_runs_model *model;
    struct lab_run_row run; /* its strings must outlive the screen */
    const char *step;       /* where the cursor shall be, or NULL */
    const char *phase;
    const struct lab_time_sum *kernel; /* or its launch, or neither */
    int64_t launch;                    /* LAB_UNKNOWN: none */
};

struct lab_compare_args {
    const struct lab_runs_model *model;
    struct lab_run_row run[2]; /* their strings must outlive the screen */
};

struct lab_fact_table;

/* Tables of facts (store/fact_table.h). */
struct lab_tables_model {
    void *user;
    /* All of them, in the order of the course, with this machine's rows. */
    enum lab_status (*load)(void *user, struct lab_fact_table *const **tables,
                            int *count);
    /* One, read anew and the caller's; `note`: what is known of this machine. */
    enum lab_status (*open)(void *user, const char *name,
                            struct lab_fact_table **out, struct lab_str *note);
    /* What is wrong with the first file that load() had to leave out; NULL: none. */
    const char *(*problem)(void *user);
};

struct lab_fact_args {
    const struct lab_tables_model *model;
    const char *table; /* its name */
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
    /* Shown until the text is there: `write` runs in a thread of its own. NULL: it is
     * called at once. A screen that is left does not wait for it: lab_text_end(). */
    const char *waiting;
};
