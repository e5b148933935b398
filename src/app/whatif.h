/* whatif.h -- the what-if screen of a kernel that ran (ui/view_occupancy.h).
 * Threads: the UI's. */
#pragma once
#include "engine/snapshot.h"
#include "profiler/occupancy.h"
#include "store/live.h"
#include "ui/ui.h"

/* What the screen computes with; outlives it. */
struct lab_whatif {
    struct lab_occupancy_device device;
    int cluster_blocks;
    int64_t static_shared_bytes;
};

/* Opens it for the longest kernel of schedule step `index` as it last ran.
 * Errors: LAB_E_UNSUPPORTED no GPU; LAB_E_STATE no kernel is known. */
enum lab_status lab_whatif_open(struct lab_whatif *w, struct lab_live *live,
                                struct lab_ui *ui,
                                const struct lab_snapshot *snap, int index);
