/* trace_lanes.h -- lanes of a trace on which no two slices cross.
 *
 * A viewer draws a slice inside another of its lane or beside it; of two that
 * cross, Perfetto drops the later one. So a lane has rows: what would cross goes
 * to the first row where it does not, and to a viewer each row is a lane of its
 * own. Kernels of one stream can cross (nodes of a CUDA graph do), and so can
 * steps with moments of two clocks.
 *
 * A lane is a process and a thread, numbers from 0 to 2^32 - 1, and there may
 * be as many as a file has slices. Threads: one at a time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct lab_trace_lane;

/* All zero: no lanes yet. */
struct lab_lanes {
    struct lab_trace_lane *root;
    size_t compared; /* lanes that were passed while others were looked for */
};

/* The row of a slice, from 0. The slices of a lane come by rising start, of
 * equal starts the longest first. What crosses on all of LAB_LANE_ROWS rows is
 * given the last one. Errors: LAB_E_NOMEM. */
enum { LAB_LANE_ROWS = 16 };
enum lab_status lab_lanes_place(struct lab_lanes *lanes, int64_t pid,
                                int64_t tid, int64_t start, int64_t end,
                                int *row);
/* How many rows a lane has; 0: nothing was placed on it. */
int lab_lanes_rows(const struct lab_lanes *lanes, int64_t pid, int64_t tid);
/* Leaves no lanes. */
void lab_lanes_release(struct lab_lanes *lanes);
