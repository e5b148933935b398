/* store/counted.h -- the hardware counters of a run, by step and by kernel.
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
};

enum { LAB_COUNTED_COLUMNS = 13 };

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
/* What CSV and JSON call the columns of what was counted ("ipc"), with units,
 * in their order; 0 <= i < LAB_COUNTED_COLUMNS. */
const char *lab_counted_column(int i);
/* Their values; `item` NULL, not counted: NaN. `formula`: the FLOPs that were
 * to be counted, NaN unknown (lab_counters_flop_beside()). */
void lab_counted_values(const struct lab_counted_item *item, double formula,
                        double out[LAB_COUNTED_COLUMNS]);
LAB_C_END
