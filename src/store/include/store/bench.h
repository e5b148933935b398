/* store/bench.h -- what a lab measured, beside its run: the results of a
 * ladder, what was predicted of them, the points of a sweep.
 *
 * One struct for each from the measurement to the screen. profiles/schema_4.sql
 * and schema_5.sql have the columns. Unknown numbers are NaN or LAB_UNKNOWN,
 * unknown texts NULL. Errors: LAB_E_DB; LAB_E_NOMEM; LAB_E_NOTFOUND, there is
 * no such run. Threads: one at a time a connection; the writer of the run may
 * be at work meanwhile. */
#pragma once
#include "store/database.h"
#include "trace/metric.h"
#include "trace/record.h"

/* What is expected before it is measured; of rate and time at most one is
 * known. */
struct lab_prediction {
    int64_t place;
    const char *variant;   /* "best": the fastest */
    const char *precision; /* NULL: any */
    const char *size;      /* NULL: any */
    const char *bound;     /* "memory", "compute", "latency" */
    double rate;           /* in the lab's unit */
    double time_ns;
    double occupancy_pct;
};

enum lab_bench_progress {
    LAB_BENCH_WAITING,
    LAB_BENCH_CHECKING, /* compared with double */
    LAB_BENCH_TIMING,
    LAB_BENCH_DONE,
    LAB_BENCH_FAILED /* no times; `reason` is known */
};

/* One variant at one size on one machine. */
struct lab_bench_result {
    /* In the database, a column each. */
    int64_t place;
    const char *lab;
    const char *size;
    const char *variant;
    const char *precision;
    const char *status;
    const char *reason;
    const char *unit;
    int64_t repeats;
    int64_t flush_bytes;
    double check_error;  /* on odd shapes, in parts of what is allowed */
    double sample_error; /* the same at this size */
    double error; /* in the operation's unit; NaN: it has none, or recorded
                          * before version 12 */
    double min_ns;
    double quarter_ns;
    double median_ns;
    double three_quarters_ns;
    double max_ns;
    double flop;
    double bytes;
    double traffic_bytes; /* by the variant's model */
    double rate;
    double rate_model;
    double rate_predicted;
    double gain; /* over lab_bench_gain_over() */
    double gain_model;
    double ceiling_copy;
    double ceiling_fp32;
    double sm_clock_before_hz;
    double sm_clock_after_hz;
    double memory_clock_hz;
    double temperature_c;
    double power_w;
    const char *note;        /* what the variant reports of itself */
    int64_t workspace_bytes; /* beside the tensors */
    int64_t traced_exec;     /* the step with the variant's kernels */
    const char *idea;        /* NULL: recorded before version 11 */

    /* Known while it is measured, or derived for the screen. */
    int set;        /* of lab_bench_data.sets */
    int size_index; /* of lab_bench_data.sizes */
    enum lab_bench_progress state;
    const char *source;           /* the file, below the program's data */
    const char *symbol;           /* of its kernel; NULL: not known */
    const char *wrong_on_purpose; /* what is wrong; NULL: nothing is meant to */
    int64_t wrong;                /* elements, of those compared */
    int64_t compared;
    bool library;      /* the vendor's, or what others are measured by */
    double share;      /* of the ceiling */
    double of_library; /* of the library's speed at this size and precision */
    const char *bound; /* by the measured time */
    struct lab_prediction predicted;
    /* Its kernel, traced once: of several the one that took longest. */
    const char *kernel;
    struct lab_launch launch;
    int kernels;
    double kernel_ns;
    double occupancy_pct;        /* theoretical */
    double achieved_pct;         /* counted */
    double dram_bytes;           /* counted, of all kernels */
    struct lab_counters counted; /* by simulation, of all kernels */
};

/* One point of a sweep: a lesson at a batch, at a width, or a part of its
 * time. */
struct lab_sweep_row {
    int64_t place;
    const char *sweep; /* batch-size, network-size, products, backward */
    const char *lesson;
    const char *backend;
    const char *name; /* of a row without a number */
    const char *status;
    const char *reason;
    const char *variants;      /* "": every step ran the readable one */
    const char *variants_from; /* measured, table, chosen; NULL: not known */
    int64_t iterations;
    int64_t samples;
    int64_t memory_bytes;
    int64_t parameters;
    double x; /* the batch, the width */
    double median_ns;
    double quarter_ns;
    double three_quarters_ns;
    double samples_per_s;
    double flop;
    double loss;            /* after as many samples as the others */
    double loss_iterations; /* after as many iterations */
    double share;           /* of the whole, 0 to 1 */
};

typedef bool lab_bench_result_fn(void *user, const struct lab_bench_result *r);
typedef bool lab_prediction_fn(void *user, const struct lab_prediction *row);
typedef bool lab_sweep_row_fn(void *user, const struct lab_sweep_row *row);

LAB_C_BEGIN
/* With nothing known. */
void lab_bench_result_init(struct lab_bench_result *r);
void lab_prediction_init(struct lab_prediction *p);

/* FLOPs for a joule, by the power while it was timed; NaN: not known, or it computes
 * nothing. */
double lab_bench_flop_per_j(const struct lab_bench_result *r);
/* Adds one to run `run`; it is stored when this returns. */
enum lab_status lab_bench_result_add(struct lab_database *db, int64_t run,
                                     const struct lab_bench_result *r);
enum lab_status lab_prediction_add(struct lab_database *db, int64_t run,
                                   const struct lab_prediction *row);
enum lab_status lab_sweep_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_sweep_row *row);
/* Stores which execution's kernels are those of result `place`. */
enum lab_status lab_bench_result_traced(struct lab_database *db, int64_t run,
                                        int64_t place, int64_t exec);
/* Those of a run in their order, until `each` returns false; none: the run is
 * not of that kind. Only what has a column is filled. */
enum lab_status lab_bench_results_read(struct lab_database *db, int64_t run,
                                       lab_bench_result_fn *each, void *user);
enum lab_status lab_predictions_read(struct lab_database *db, int64_t run,
                                     lab_prediction_fn *each, void *user);
enum lab_status lab_sweep_rows_read(struct lab_database *db, int64_t run,
                                    lab_sweep_row_fn *each, void *user);
/* The run that has results of most variants of `lab`, then of most sizes, then
 * the newest; of `lesson` (NULL: of any) and not on the backend `but` (NULL: on
 * any), nor simulated, without times. LAB_E_NOTFOUND: there is none. */
enum lab_status lab_bench_run_fullest(struct lab_database *db, const char *lab,
                                      const char *lesson, const char *but,
                                      int64_t *run);
/* The newest run that has a result of that variant, size and precision, not
 * simulated. LAB_E_NOTFOUND: there is none. */
enum lab_status lab_bench_run_with(struct lab_database *db, const char *lab,
                                   const char *variant, const char *size,
                                   const char *precision, int64_t *run);
/* The run of a sweep that has most lessons, the newest of several; `lesson`
 * NULL: any. LAB_E_NOTFOUND: there is none. */
enum lab_status lab_sweep_run_newest(struct lab_database *db, const char *sweep,
                                     const char *lesson, int64_t *run);
LAB_C_END
