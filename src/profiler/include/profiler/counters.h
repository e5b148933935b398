/* profiler/counters.h -- hardware counters of steps that have run.
 *
 * Counting and timing are separate: the steps run once more for each pass
 * (lab_walk_rerun()), nothing of that is recorded but the counters' values, and
 * afterwards every tensor is as it was. Values become LAB_RECORD_METRIC
 * records, one a metric and kernel, under the execution that the learner saw.
 * Threads: the engine's. */
#pragma once
#include "engine/walk.h"
#include "profiler/profiler.h"
#include "trace/metric.h"

struct lab_counted {
    int passes;
    int64_t kernels; /* counted, of one pass */
    int metrics;     /* that this chip knows, of those asked for */
    int64_t wall_ns; /* of the whole counting */
    char chip[32];
};

/* Work that can be run again: steps first .. first + steps-1. */
struct lab_count_work {
    void *user;
    int first;
    int steps;
    /* Runs all of them in each pass, as lab_walk_rerun() does. */
    enum lab_status (*rerun)(void *user, const struct lab_rerun *r);
    /* The execution that a step's counters belong to; none: 0 or less. */
    int64_t (*exec)(void *user, int step);
};

LAB_C_BEGIN
/* May counters be taken here? A backend must be open. LAB_OK: `text` names the
 * chip; else it holds reason and remedy. Asked once; later calls repeat the
 * answer. */
enum lab_status lab_profiler_counters_probe(struct lab_profiler *p,
                                            const char **text);
/* Counts steps from .. to-1 of the walk's schedule, which have run in this
 * iteration. Errors: as the probe; LAB_E_STATE a step has not run, or runs no
 * kernel; LAB_E_DEVICE; LAB_E_NOMEM. The reason is in lab_error(). */
enum lab_status lab_profiler_count(struct lab_profiler *p,
                                   struct lab_walk *walk, int from, int to,
                                   enum lab_counter_set set,
                                   struct lab_counted *out);
/* The same of any work. */
enum lab_status lab_profiler_count_work(struct lab_profiler *p,
                                        const struct lab_count_work *work,
                                        enum lab_counter_set set,
                                        struct lab_counted *out);
LAB_C_END
