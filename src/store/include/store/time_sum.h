/* store/time_sum.h -- what the times of a run add up to.
 *
 * A row for each step of the schedule, each kernel in a step, and, for complete
 * iterations, each node, each phase and the iteration itself, with the whole
 * distribution of its times. The writer keeps them with the run when it ends,
 * so that a list or a comparison of a run of a million kernels reads some
 * hundred rows. For a run that is still recorded, was interrupted, or is of an
 * older database they are put together from its rows.
 *
 * A lab's repeats are no iterations: of its runs there are steps and kernels
 * alone, each with the rung that it is of (store/lab_names.h).
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND where there is no such run.
 * Threads: that of the connection. */
#pragma once
#include "store/lab_names.h"
#include "store/rank_test.h"
#include "trace/metric.h"
#include "trace/record.h"

enum lab_sum_level {
    LAB_SUM_WALL = -1, /* a part of an iteration's wall time; in comparisons */
    LAB_SUM_ITERATION,
    LAB_SUM_PHASE,  /* of an iteration */
    LAB_SUM_NODE,   /* in a phase */
    LAB_SUM_STEP,   /* its executions with one variant */
    LAB_SUM_KERNEL, /* in a step, by its name with template arguments */
    LAB_SUM_LEVELS
};

/* Texts live as long as the process (trace/intern.h). Texts are NULL, integers LAB_UNKNOWN, reals NaN where unknown or, for what a
 * launch has, where launches differ. */
struct lab_time_sum {
    enum lab_sum_level level;
    int64_t step_index;
    int64_t phase_id; /* enum lab_phase */
    const char *phase;
    const char *name;                  /* of the step, as it was recorded */
    const struct lab_bench_name *rung; /* NULL: not of a lab */
    const char *node;
    const char *op;
    const char *variant;
    const char *backend;
    const char *time_source;
    const char *kernel; /* with template arguments */
    const char *kernel_short;
    int64_t count;
    int64_t timed;
    int64_t total_ns;
    int64_t min_ns;
    int64_t max_ns;
    double quarter_ns; /* a quarter of the times is below */
    double median_ns;
    double three_quarters_ns;
    double mad_ns; /* median distance from the median */
    double flop;   /* of one execution */
    double bytes;
    int64_t kernels;          /* of the last execution */
    struct lab_launch launch; /* grid, block and registers; the rest unknown */
    int64_t shared_bytes;     /* static and dynamic */
    double occupancy_pct;
    int64_t occupancy_limit;
    struct lab_times times; /* rounded to 1024 values where there are more */
    struct lab_counters counters; /* unknown until lab_counted_fill() */
    double share;      /* of the time of its list: lab_time_sums_share() */
    double cumulative; /* its share with those of all that take longer */
    const char *bound; /* what holds it back: lab_roofline_bounds() */
    const char *why;   /* the sentences to that; of who states it */
    double of_roof;    /* the share of its roof that it reaches, as 1 */
};

struct lab_time_sums {
    struct lab_time_sum *items; /* by level, then as they ran */
    size_t count;
    struct lab_bench_names rungs; /* of a lab */
    bool stored;                  /* read as they were kept with the run */
};

LAB_C_BEGIN
/* `levels`: a bit (1 << level) for each that is wanted. */
enum lab_status lab_time_sums_load(struct lab_time_sums *out,
                                   struct lab_database *db, int64_t run,
                                   unsigned levels);
void lab_time_sums_release(struct lab_time_sums *sums);
/* The time of all its executions, by their median; NaN. */
double lab_time_sum_ns(const struct lab_time_sum *sum);
/* What share of the time of these rows each has: its median, as often as it ran.
 * Of no use over several levels. */
enum lab_status lab_time_sums_share(struct lab_time_sum *items, size_t count);
/* What to call the step of a row: by its rung where it is a lab's. */
const char *lab_time_sum_step(const struct lab_time_sum *sum);
/* Work per second at the median; NaN: unknown. NULL allowed. */
double lab_time_sum_flop_per_s(const struct lab_time_sum *sum);
/* Puts them together and keeps them with the run, in a transaction of its own
 * when none is open. Nothing happens to a run that has them, or that is still
 * being recorded. */
enum lab_status lab_time_sums_keep(struct lab_database *db, int64_t run);
/* The same by a connection of its own, for a run that was opened for reading;
 * quietly nothing where the database cannot be written now. A killed run's
 * times are then added up once, not at every query. */
void lab_time_sums_keep_later(const char *path, int64_t run);
/* For every run that has ended: after an older database was brought up to
 * date. */
enum lab_status lab_time_sums_keep_all(struct lab_database *db);
LAB_C_END
