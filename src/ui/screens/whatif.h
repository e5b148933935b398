/* whatif.h -- the what-if screen of a kernel that ran (ui/view_occupancy.h):
 * of a step that runs here, and of a launch in a database. Threads: the
 * UI's. */
#pragma once
#include "engine/snapshot.h"
#include "store/database.h"
#include "store/live.h"
#include "ui/ui.h"
#include "ui/view_occupancy.h"

/* Opens it for the longest kernel of schedule step `index` as it last ran.
 * Errors: LAB_E_UNSUPPORTED no GPU; LAB_E_STATE no kernel is known. */
enum lab_status lab_whatif_open(struct lab_live *live, struct lab_ui *ui,
                                const struct lab_snapshot *snap, int index);
/* Of the launch `row` (lab_kernel_row.row). achieved_pct: NaN where it is to be
 * looked for among the counters of that launch. Errors: those of
 * store/launch.h; LAB_E_UNSUPPORTED with the facts that were not recorded, or a
 * GPU with unknown rules. */
enum lab_status lab_whatif_stored(struct lab_database *db, int64_t run,
                                  int64_t row, double achieved_pct,
                                  struct lab_occupancy_args *out);
