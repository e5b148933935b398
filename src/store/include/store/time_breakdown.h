/* store/time_breakdown.h -- what the wall time of one iteration consists of.
 *
 * Two runs may have the same kernels and another wall time: the GPU waits for
 * launches, and the host does more than launch. Each moment of one recorded
 * iteration is put down to the first of the parts below that went on then;
 * streams that overlap count once. So the parts that are known add up to the
 * wall time, to the nanosecond.
 *
 * Of the iterations that were recorded whole (all steps, and kernels where any
 * has them) it is the one of the median span. Threads: that of the connection.
 */
#pragma once
#include <stdint.h>
#include "store/database.h"

enum lab_time_part {
    LAB_WALL_KERNELS, /* a kernel ran */
    LAB_WALL_COPIES,  /* a copy or a memset */
    LAB_WALL_LAUNCH,  /* neither, and one was launched that had not begun */
    LAB_WALL_STEPS,   /* none of these: the host was in a step. A CPU's work;
                         else the GPU idles until the next launch, if the GPU
                         was recorded */
    LAB_WALL_BETWEEN, /* the host was between two steps, or before the first */
    LAB_WALL_OUTSIDE, /* of the run's wall time, before and after all that:
                         the batch is fetched, records are collected */
    LAB_WALL_PARTS
};

/* Times are LAB_UNKNOWN where not known; why[] has the reason, else it is NULL.
 * Texts are constants. */
struct lab_time_breakdown {
    int64_t iteration; /* the one that was looked at */
    int64_t recorded;  /* of so many whole ones */
    int64_t wall_ns;   /* with OUTSIDE as the run measured it, else from its
                          begin to the end of its last step and kernel */
    int64_t part_ns[LAB_WALL_PARTS];
    const char *why[LAB_WALL_PARTS];
};

LAB_C_BEGIN
/* LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND, there is no such run. A run that has
 * no iteration is no error: nothing is known of it. */
enum lab_status lab_time_breakdown_load(struct lab_time_breakdown *out,
                                        struct lab_database *db, int64_t run);
/* "kernels", "launch latency": for people. */
const char *lab_time_part_name(enum lab_time_part part);
/* "kernels", "launch_latency": for programs. */
const char *lab_time_part_id(enum lab_time_part part);
LAB_C_END
