/* whatif_model.h -- the what-if screen of a launch in a database. */
#pragma once
#include "store/database.h"
#include "ui/models.h"
#include "whatif.h"

/* Of the launch `row` (lab_kernel_row.row). achieved_pct: NaN where it is to be
 * looked for among the counters of that launch. What *out points to is w's,
 * until the next call. Errors: those of store/launch.h, lab_whatif_start(). */
enum lab_status lab_whatif_stored(struct lab_whatif *w, struct lab_database *db,
                                  int64_t run, int64_t row, double achieved_pct,
                                  struct lab_occupancy_args *out);
/* For struct lab_runs_model; `user` is a struct lab_runs_source. */
enum lab_status lab_whatif_load(void *user, int64_t run,
                                const struct lab_ui_kernel_row *kernel,
                                int64_t row, struct lab_occupancy_args *out);
