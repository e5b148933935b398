/* whatif.h -- the what-if screen of a kernel that ran (ui/view_occupancy.h):
 * of a step that runs here, and of a launch in a database. Threads: the
 * UI's. */
#pragma once
#include "engine/snapshot.h"
#include "profiler/occupancy.h"
#include "store/live.h"
#include "ui/ui.h"
#include "ui/view_occupancy.h"

/* What the screen computes with; outlives it. */
struct lab_whatif {
    struct lab_occupancy_device device;
    int cluster_blocks;
    int64_t static_shared_bytes;
    char kernel[160]; /* of a stored launch */
    char gpu[96];
    char note[96];
};

/* A launch as it was recorded; LAB_UNKNOWN and NaN where unknown. */
struct lab_whatif_launch {
    const char *kernel;
    int64_t grid[3];
    int64_t block[3];
    int64_t cluster[3]; /* 0: none */
    int64_t registers_per_thread;
    int64_t static_shared_bytes;
    int64_t dynamic_shared_bytes;
    double achieved_pct;
};

/* Opens it for the longest kernel of schedule step `index` as it last ran.
 * Errors: LAB_E_UNSUPPORTED no GPU; LAB_E_STATE no kernel is known. */
enum lab_status lab_whatif_open(struct lab_whatif *w, struct lab_live *live,
                                struct lab_ui *ui,
                                const struct lab_snapshot *snap, int index);
/* The screen's arguments; their texts are those of `device` and `launch`.
 * Errors: LAB_E_UNSUPPORTED with the facts that were not recorded, or a GPU
 * whose rules are not known. */
enum lab_status lab_whatif_start(struct lab_whatif *w,
                                 const struct lab_device_info *device,
                                 const struct lab_whatif_launch *launch,
                                 struct lab_occupancy_args *out);
