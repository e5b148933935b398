/* store/counted.h -- the hardware counters of a run, or what a simulation counted
 * in their place, by step and by kernel.
 *
 * Values stand in metric_value under the execution that the learner saw; what
 * they mean together is trace/metric.h's. A kernel's place in its step (its
 * ordinal) is found again by the order in which the step's kernels began.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND where there is no such run.
 * Threads: that of the connection; what is loaded needs it no more. Texts live as
 * long as the process (trace/intern.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/database.h"
#include "store/row_fields.h"
#include "store/time_sum.h"
#include "trace/metric.h"

/* What one execution of a step, or one kernel of it, was counted to do. */
struct lab_counted_item {
    int64_t exec;
    int64_t ordinal;    /* in the step; LAB_UNKNOWN: the whole step */
    int64_t kernel_row; /* lab_kernel_row.row; LAB_UNKNOWN: the step, or the
                           kernel was not traced */
    int64_t step_index;
    const char *step; /* its name; NULL: unknown, as for the next two */
    const char *variant;
    const char *kernel; /* with template arguments */
    struct lab_counters counters;
};

struct lab_counted_run {
    struct lab_counted_item *items; /* by exec; the step before its kernels */
    size_t count;
    size_t *by_row; /* those with a row, by row */
    size_t rows;
    bool simulated; /* counted by simulation */
};

/* A row of the table of columns below. */
struct lab_counted_row {
    struct lab_counters counters;
    double formula; /* of the step's work; NaN: it has none */
    const char *by; /* "hardware", "simulation"; NULL: not counted */
};

/* In tables of text the columns of a run that hardware counted have places from 1
 * on, those of a simulation from LAB_COUNTED_SIMULATED on. */
enum { LAB_COUNTED_SIMULATED = 11 };
extern const struct lab_fields lab_counted_fields;
/* The line below such a table. */
#define LAB_COUNTED_BY_SIMULATION                                              \
    "counted by simulation, which has no times: lanes is how many of a "       \
    "warp's 32 an instruction of PTX has active"

LAB_C_BEGIN
/* A run without counters has no items. */
enum lab_status lab_counted_load(struct lab_counted_run *out,
                                 struct lab_database *db, int64_t run);
void lab_counted_release(struct lab_counted_run *c);
/* Of a step's newest counted execution with this variant (NULL matches NULL);
 * NULL: it was not counted. */
const struct lab_counted_item *lab_counted_step(const struct lab_counted_run *c,
                                                int64_t step_index,
                                                const char *variant);
/* Of one launch; NULL: it was not counted. */
const struct lab_counted_item *
lab_counted_kernel(const struct lab_counted_run *c, int64_t kernel_row);
/* Of one launch of a kernel in that execution of the step: where it was
 * launched several times, sums are divided by the launches and shares are
 * averaged over their time. Everything unknown, and false: not counted. */
bool lab_counted_launch(const struct lab_counted_run *c, int64_t step_index,
                        const char *variant, const char *kernel,
                        struct lab_counters *out);
/* The counters of steps and kernels, in their sums. */
void lab_counted_fill(const struct lab_counted_run *c,
                      struct lab_time_sums *sums);
/* "hardware", "simulation"; NULL: the run was not counted. */
const char *lab_counted_by(const struct lab_counted_run *c);
/* The row of what was counted; `item` NULL: everything is unknown. `formula`: the
 * FLOPs that were to be counted, NaN unknown (lab_counters_flop_beside()). */
struct lab_counted_row lab_counted_row_of(const struct lab_counted_run *c,
                                          const struct lab_counted_item *item,
                                          double formula);
LAB_C_END
