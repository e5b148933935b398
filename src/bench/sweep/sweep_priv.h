/* sweep_priv.h -- one point of a sweep, measured (measure.c) for sweep.c. */
#pragma once
#include "bench/sweep.h"
#include "engine/walk.h"
#include "lesson/lesson.h"

/* What is trained. */
struct lab_sweep_point {
    const struct lab_network_spec *spec;
    const char *backend;
    int device;
    int64_t batch;      /* 0: the lesson's */
    int64_t iterations; /* that are timed, after a warm-up */
    int64_t samples;    /* the loss is also taken after so many; 0: not */
};

/* What came of it: the row that is stored, and what else is shown. */
struct lab_sweep_result {
    struct lab_sweep_row row; /* lesson, name and x are the caller's */
    enum lab_status status;
    char reason[LAB_LADDER_TEXT];
    struct lab_device_info device;
    bool held_back; /* the losses are of held-back rows */
    /* lab_sweep_steps() only: medians of an iteration's parts. */
    enum lab_time_source time_source;
    double phase_ns[LAB_PHASE_COUNT];
    double phase_flop[LAB_PHASE_COUNT];
    double product_ns;
    double product_flop;
};

/* What goes wrong is in the result. */
void lab_sweep_speed(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out);
/* Step by step, each with a time of its own: its kernels' on a GPU with CUPTI,
 * else between two CUDA events, or of the processor's clock. */
void lab_sweep_steps(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out);
/* The batch that a point with batch 0 has. */
enum lab_status lab_sweep_own_batch(const struct lab_sweep_point *p,
                                    int64_t *out);
/* A spec whose hidden layers are `factor` times as wide; `nodes` has room for
 * spec->n_nodes. Returns how many layers that is. The spec is a view. */
int lab_sweep_widen(const struct lab_network_spec *spec, int64_t factor,
                    struct lab_node_spec *nodes, struct lab_network_spec *out);
