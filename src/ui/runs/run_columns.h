/* run_columns.h -- the columns of runs, steps and kernels, shared by the
 * screens that list them. The user pointer of each is the rows' array. */
#pragma once
#include "ui/models.h"
#include "ui/screen.h"
#include "ui/table.h"

extern const struct lab_table_ops lab_run_columns;    /* lab_ui_run_row ** */
extern const struct lab_sign lab_run_signs[];         /* for the help */
extern const struct lab_table_ops lab_step_columns;   /* lab_ui_step_row ** */
extern const struct lab_table_ops lab_kernel_columns; /* lab_ui_kernel_row ** */

/* The same for a run that was counted: its counters stay in sight longer. */
extern const struct lab_table_ops lab_step_counted_columns;
extern const struct lab_table_ops lab_kernel_counted_columns;
/* The same for kernels of several steps: which step stays in sight. */
extern const struct lab_table_ops lab_kernel_all_columns;
extern const struct lab_table_ops lab_kernel_all_counted_columns;

/* What a table of two runs points at: some of the rows. */
struct lab_compare_list {
    const struct lab_ui_compare_row *rows;
    const int64_t *shown; /* indices of rows */
    int64_t run[2];       /* whose columns they are */
};

/* A column of the other run follows that of the reference. */
enum {
    LAB_COMPARE_LEVEL,
    LAB_COMPARE_PHASE,
    LAB_COMPARE_NAME,
    LAB_COMPARE_MEDIAN,
    LAB_COMPARE_OTHER,
    LAB_COMPARE_DIFFERENCE,
    LAB_COMPARE_SPEED_UP,
    LAB_COMPARE_P,
    LAB_COMPARE_VERDICT,
    LAB_COMPARE_COUNT,
    LAB_COMPARE_OTHER_COUNT,
    LAB_COMPARE_MAD,
    LAB_COMPARE_OTHER_MAD,
    LAB_COMPARE_RATE,
    LAB_COMPARE_OTHER_RATE,
    LAB_COMPARE_COLUMNS
};

/* The columns of two runs, named by the runs' numbers. */
struct lab_compare_columns {
    struct lab_table_ops ops;
    struct lab_table_column column[LAB_COMPARE_COLUMNS];
    char title[LAB_COMPARE_COLUMNS][32];
};
