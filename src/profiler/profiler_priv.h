/* profiler/profiler_priv.h -- a profiler's state, shared by profiler.c (its
 * life and the trace) and observer.c (what the engine reports). */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "profiler/profiler.h"

struct lab_join;

struct lab_open_range {
    int level;
    uint32_t text;
    int64_t number;
    int64_t start_ns; /* monotonic */
};

struct lab_profiler {
    struct lab_sink sink;
    const struct lab_gpu_profiler_ops *gpu; /* NULL: none */
    struct lab_join *join;                  /* while tracing */
    bool gpu_run;                 /* its backend is none of the host's */
    bool tracing;                 /* CUPTI is attached */
    enum lab_gpu_records records; /* what it records now, and */
    unsigned was;                 /* in this run, a bit each */
    bool ranges;
    enum lab_time_source time_source;
    char note[LAB_GPU_TEXT];
    bool counters_probed;
    enum lab_status counters_status;
    char counters_text[LAB_GPU_TEXT]; /* the chip, or why not */

    int64_t wall_offset_ns; /* moment = monotonic + this */
    struct lab_open_range open[LAB_RANGE_LEVEL_COUNT];
    int n_open;
    enum lab_phase phase;
    int64_t step_start_ns; /* monotonic */
    bool loss_ran;         /* in this iteration */
    bool pushed;           /* a step's exec is pushed in the GPU's profiler */
    bool graph;            /* the exec of a graph that is being launched */
    bool between;          /* under it, LAB_EXEC_BETWEEN */
    int untold;            /* times that LAB_EXEC_UNOBSERVED is pushed */

    atomic_uint_fast64_t steps;
    atomic_uint_fast64_t not_stored;
    atomic_uint_fast64_t failed_flushes;
    atomic_int_fast64_t observer_ns;
};

/* After a counting that failed: is the trace what it was? */
void lab_profiler_trace_again(struct lab_profiler *p);
