/* pass.h -- the passes of a long run through its iterations, kept with it.
 *
 * To list a run's iterations, or to find one of them, every step of the run
 * would be read: of 2,500,000 steps for more than a second. So the passes of a
 * long run are put down when it ends, as rows of time_sum beside what else its
 * steps add up to: level LAB_PASS_LEVEL, up to LAB_PASS_ROWS passes to a row
 * (`count` says how many), packed in `times`. A program that does not know this
 * level leaves such rows alone.
 *
 * A file may say anything, and a damaged one may have lost rows. Passes are
 * held against each other (their steps lie one after the other) and against
 * what the run says of its steps beside them: how many, the first and the last,
 * the places of the schedule, the rows of its kernels. All that takes no
 * reading of steps. Passes that do not fit count as not kept.
 *
 * Threads: that of the connection. */
#pragma once
#include "store/time_sum.h"
#include "store/timeline.h"
#include "db/store_priv.h"

enum {
    LAB_PASS_LEVEL = LAB_SUM_LEVELS,
    LAB_PASS_ROWS = 4096,
    /* Shorter runs have no passes kept: reading their steps is as fast. */
    LAB_PASS_LEAST_STEPS = 10000
};

struct lab_pass {
    struct lab_iteration_row row;
    /* exec - stepIndex of all its steps, so that one is found without reading
     * the others; LAB_UNKNOWN: they differ. */
    int64_t zero;
};

/* What a step adds to its pass; LAB_UNKNOWN where unknown. */
struct lab_pass_step {
    int64_t exec;
    int64_t iteration;
    int64_t index;
    int64_t start_ns;
    int64_t end_ns;
    int64_t kernels;
    int64_t kernel_row_first;
    int64_t kernel_row_last;
};

struct lab_passes { /* {0} is empty */
    struct lab_pass *list;
    size_t count;
    size_t room;
    int64_t steps;      /* of all of them */
    int64_t last_index; /* the highest place in the schedule; built ones only */
};

/* A pass without steps; the steps of one come in the order of their exec. */
void lab_pass_begin(struct lab_pass *p, int64_t iteration, int64_t exec);
void lab_pass_add(struct lab_pass *p, const struct lab_pass_step *step);

/* The next step of the run, which may begin the next pass. LAB_E_NOMEM. */
enum lab_status lab_passes_add(struct lab_passes *passes,
                               const struct lab_pass_step *step);
/* Whether the run is long enough for that. */
bool lab_passes_are_kept(const struct lab_passes *passes);
/* Keeps them then: rows of time_sum from *place on, which becomes the next free
 * one. */
enum lab_status lab_passes_store(const struct lab_passes *passes,
                                 struct lab_database *db, int64_t run,
                                 int64_t *place);
/* count 0: none are kept, or they do not read or fit. Errors: LAB_E_DB,
 * LAB_E_NOMEM. */
enum lab_status lab_passes_load(struct lab_passes *out, struct lab_database *db,
                                int64_t run);
void lab_passes_release(struct lab_passes *passes);

/* The rows of a page of a step's kernels, or of an iteration's: up to limit of
 * them after the first `offset`. `stretch`: the first and the last row of the
 * run. *n < 0: no passes are kept; ask another way. Errors: LAB_E_DB,
 * LAB_E_NOMEM. */
enum lab_status lab_passes_pick(struct lab_database *db, int64_t run,
                                const struct lab_kernel_filter *f,
                                const int64_t stretch[2], int64_t *rows,
                                int64_t *n);
