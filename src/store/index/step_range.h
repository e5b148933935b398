/* step_range.h -- where in a long run one step's kernels have their largest and
 * smallest values.
 *
 * What zones are for the kernels of a whole run (kernel_zone.h), ranges are for
 * those of one step of the schedule: the least and the greatest value of each
 * column that can be sorted by in every LAB_RANGE_PASSES passes. They are kept
 * with the passes, as rows of time_sum of level LAB_RANGE_LEVEL: one for each
 * step (`stepIndex`) and column (`phase`: enum lab_kernel_sort), packed in
 * `times`.
 *
 * Ranges that pack() cannot have made, or of another number of groups than the
 * run's passes have, count as not kept. Whether a range is true is seen when
 * its rows are read (lab_passes_pick()): where one is not, none is used. One
 * that promises so little that its rows are never read is believed. */
#pragma once
#include "kernel_zone.h"
#include "pass.h"

enum { LAB_RANGE_LEVEL = LAB_PASS_LEVEL + 1, LAB_RANGE_PASSES = 64 };

struct lab_step_ranges { /* {0} is empty */
    struct lab_zone_range *list;
    size_t groups;
    size_t places; /* of the schedule */
    size_t pass;   /* of the kernel before */
    bool off;      /* the run is short, or they would take too much memory */
};

/* A kernel of a step of the run whose passes are complete. LAB_E_NOMEM. */
enum lab_status lab_step_ranges_add(struct lab_step_ranges *r,
                                    const struct lab_passes *passes,
                                    int64_t exec, int64_t step_index,
                                    const struct lab_zone_kernel *k);
/* *place: the next free one in time_sum. */
enum lab_status lab_step_ranges_store(const struct lab_step_ranges *r,
                                      struct lab_database *db, int64_t run,
                                      int64_t *place);
void lab_step_ranges_release(struct lab_step_ranges *r);

/* Of one step and column: *out has a range for each group of passes, to be
 * freed; NULL: none are kept for `groups` of them, or they do not read. Errors:
 * LAB_E_DB, LAB_E_NOMEM. */
enum lab_status lab_step_ranges_load(struct lab_zone_range **out, size_t groups,
                                     struct lab_database *db, int64_t run,
                                     int64_t step_index,
                                     enum lab_kernel_sort sort);
