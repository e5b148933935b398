/* sweep.h -- the parts of `lab batch-size`, `network-size`, `products` and
 * `backward` among themselves: a lesson's network trained for a moment at
 * several sizes, through the engine as `run` does, and what that took. */
#pragma once
#include "engine/walk.h"
#include "bench/bench.h"
#include "lesson/lesson.h"
#include "store/bench.h"

enum lab_sweep_kind {
    LAB_SWEEP_BATCH,
    LAB_SWEEP_NETWORK,
    LAB_SWEEP_PRODUCTS,
    LAB_SWEEP_BACKWARD,
    LAB_SWEEP_KINDS
};

/* What is trained. */
struct lab_sweep_point {
    const struct lab_network_spec *spec;
    const char *backend;
    int device;
    int64_t batch;      /* 0: the lesson's */
    int64_t iterations; /* that are timed, after a warm-up */
    int64_t samples;    /* the loss is also told after so many; 0: not */
};

/* What came of it. NaN and LAB_UNKNOWN where nothing is known. */
struct lab_sweep_result {
    enum lab_status status;
    char reason[LAB_LADDER_TEXT];
    struct lab_device_info device;
    int64_t batch;
    int64_t iterations; /* timed */
    int64_t memory_bytes;
    int64_t parameters;
    double flop;
    double median_ns;
    double quarter_ns;
    double three_quarters_ns;
    double samples_per_s;
    double loss_samples;
    double loss_iterations;
    bool held_back; /* the losses are of rows that were held back */
    /* lab_sweep_steps() only: medians of an iteration's parts. */
    enum lab_time_source time_source;
    double phase_ns[LAB_PHASE_COUNT];
    double phase_flop[LAB_PHASE_COUNT];
    double product_ns;
    double product_flop;
};

enum { LAB_SWEEP_WARM_UP = 3 /* iterations that are not timed */ };

/* sweep_measure.c, for sweep_steps.c too. */
void lab_sweep_init(struct lab_sweep_result *r,
                    const struct lab_sweep_point *p);
/* The status, and lab_error() as the reason. */
void lab_sweep_fail(struct lab_sweep_result *r, enum lab_status st);
/* Opens the network and notes what is known of it. */
enum lab_status lab_sweep_open(const struct lab_sweep_point *p,
                               struct lab_walk **walk, struct lab_plan **plan,
                               struct lab_sweep_result *r);

/* What goes wrong is in the result. */
void lab_sweep_speed(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out);
/* sweep_steps.c. Step by step, each with a time of its own: its kernels' on a
 * GPU with CUPTI, else between two CUDA events, or of the processor's clock. */
void lab_sweep_steps(const struct lab_sweep_point *p,
                     struct lab_sweep_result *out);
/* The batch that a point with batch 0 has. */
enum lab_status lab_sweep_own_batch(const struct lab_sweep_point *p,
                                    int64_t *out);
/* Is the step a matrix product, or a group with one in it? */
bool lab_sweep_is_product(const struct lab_step *step);
/* A spec whose hidden layers are `factor` times as wide; `nodes` has room for
 * spec->n_nodes. Returns how many layers that is. The spec is a view. */
int lab_sweep_widen(const struct lab_network_spec *spec, int64_t factor,
                    struct lab_node_spec *nodes, struct lab_network_spec *out);

/* sweep_cmd.c. NULL: `word` is no sweep. */
const char *lab_sweep_name(enum lab_sweep_kind kind);
enum lab_sweep_kind lab_sweep_find(const char *word); /* KINDS: none */
/* All of it; returns the exit code. */
int lab_sweep_run(const struct lab_bench_options *o, enum lab_sweep_kind kind);
