/* store/launch.h -- one launch of a run, and the limits of the GPU that it ran
 * on: what a theoretical occupancy is computed from.
 *
 * Unknown integers are LAB_UNKNOWN, unknown texts "". Errors: LAB_E_DB,
 * LAB_E_NOMEM; LAB_E_NOTFOUND, described at each. Threads: that of the
 * connection. */
#pragma once
#include "store/query.h"

LAB_C_BEGIN
/* The GPU with CUDA's number `device`; LAB_UNKNOWN is any number. A run with
 * one GPU has that one, whatever the number. LAB_E_NOTFOUND: none was
 * recorded. `name` is that of *out. */
enum { LAB_GPU_NAME = 96 };
enum lab_status lab_run_gpu_read(struct lab_database *db, int64_t run,
                                 int64_t device, struct lab_run_device *out,
                                 char name[LAB_GPU_NAME]);
/* The launch that is lab_kernel_row.row. LAB_E_NOTFOUND: the run has none. */
enum lab_status lab_query_launch(struct lab_database *db, int64_t run,
                                 int64_t row, lab_kernel_row_fn *each,
                                 void *user);
/* The newest launch of a kernel, by its name with template arguments, in the
 * executions of a step with this variant; LAB_UNKNOWN and NULL match what is
 * not known. Reads the run's kernels from the last one back. LAB_E_NOTFOUND:
 * there is none. */
enum lab_status lab_launch_last(struct lab_database *db, int64_t run,
                                int64_t step_index, const char *variant,
                                const char *kernel, int64_t *row);
LAB_C_END
