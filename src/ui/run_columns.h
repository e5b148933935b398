/* run_columns.h -- the columns of runs, steps and kernels, shared by the
 * screens that list them. The user pointer of each is the rows' array. */
#pragma once
#include "ui/models.h"
#include "ui/table.h"

extern const struct lab_table_ops lab_run_columns;    /* lab_ui_run_row ** */
extern const struct lab_table_ops lab_step_columns;   /* lab_ui_step_row ** */
extern const struct lab_table_ops lab_kernel_columns; /* lab_ui_kernel_row ** */
