/* recording_priv.h -- what recording.c and recording_profiler.c share. */
#pragma once
#include <pthread.h>
#include "debug/ran_variants.h"
#include "debug/recording.h"

enum { NOTE_BYTES = 1024, VARIANTS_BYTES = 512 };

struct lab_recording {
    const struct lab_lesson *lesson;
    char *db;
    bool db_given;
    bool eager;
    bool whole;
    uint64_t seed;
    double lr;                     /* NaN: nothing is updated */
    enum lab_counter_set counters; /* as asked for */
    bool counters_refused;
    char counters_note[NOTE_BYTES]; /* why */
    struct lab_live *live;
    struct lab_sink sink; /* to the profiler: the window, then the writer */
    struct lab_profiler *profiler;
    bool no_trace;
    bool trace_asked;
    bool trace_kernels;
    bool graph_nodes;
    enum lab_trace_state trace_state; /* of the run, and */
    struct lab_trace_cost trace_cost; /* when the profiler has gone */
    struct lab_device_info device;
    char backend[16];
    char variants[VARIANTS_BYTES]; /* as chosen at the start */
    int64_t batch;
    enum lab_time_source time_source;
    enum lab_status status;
    /* The writer comes when a run's first step has run. Nobody waits for the
     * disk under the lock: it is opened and ended outside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lab_writer *writer;
    int holders;              /* who is using the writer: it must not go */
    bool begun;               /* the walk is open: records may make it */
    bool opening;             /* a thread is making it */
    struct lab_record *early; /* of an iteration that is not whole yet */
    size_t n_early;
    struct lab_ran_variants ran; /* of this run */
    size_t early_room;
    bool refused;      /* the database is not to be had */
    int64_t ended_run; /* the last that a restart has ended; 0: none */
    char note[NOTE_BYTES];
    char trace_note[NOTE_BYTES]; /* the profiler's, which goes before us */
};
