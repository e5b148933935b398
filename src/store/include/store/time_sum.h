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
 * alone, each with the variant that it is of (store/lab_names.h).
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND where there is no such run.
 * Threads: that of the connection. */
#pragma once
#include "store/lab_names.h"
#include "trace/metric.h"
#include "trace/record.h"

/* ---- durations as a distribution, and whether two of them differ by more than
 * their noise: pure functions, for any thread ----
 *
 * The test is that of Mann and Whitney (1947), two-sided, with mid-ranks for
 * ties, the variance corrected for ties (Siegel 1956, p. 124) and a continuity
 * correction of one half. It compares ranks, so that a few slow first
 * iterations do not decide; it takes the times of each run as independent.
 */

/* Ascending values, and how often each was seen. */
struct lab_times {
    int64_t *value;
    int64_t *count;
    size_t n;      /* distinct values */
    int64_t total; /* the sum of counts */
    int bits;      /* values keep so many leading bits; 0: all of them */
};

/* A verdict's share of wrong alarms, over all rows of a table together. */
#define LAB_RANK_ALPHA 0.05

struct lab_rank_result {
    double u; /* of the second: how often it is the larger one of a pair */
    double p; /* NaN: one of them is empty */
};

/* ---- the sums of a run ---- */

/* run.summed of a run that has an end and may go on: nothing is kept of it. */
enum { LAB_SUMMED_LATER = 2 };

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
    const char *name; /* of the step, as it was recorded */
    const struct lab_bench_name *bench_name; /* NULL: not of a lab */
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
    const char *bound; /* what limits it: lab_roofline_bounds() */
    const char *why;   /* the sentences to that; of who states it */
    double of_roof;    /* the share of its roof that it reaches, as 1 */
};

struct lab_time_sums {
    struct lab_time_sum *items; /* by level, then as they ran */
    size_t count;
    struct lab_bench_names bench_names; /* of a lab */
    bool stored; /* read as they were kept with the run */
};

LAB_C_BEGIN
/* Sorts `values` and takes them over, counted. Errors: LAB_E_NOMEM. */
enum lab_status lab_times_from(struct lab_times *out, int64_t *values,
                               size_t n);
void lab_times_release(struct lab_times *t);
/* Rounds values to fewer leading bits, until at most `most` (at least 128)
 * differ: 1024 values keep nine bits over a wide range, an error below 0.1 %.
 */
void lab_times_coarsen(struct lab_times *t, size_t most);
/* The q-quantile, 0..1, between neighbours (type 7 of Hyndman and Fan); NaN
 * for none. */
double lab_times_quantile(const struct lab_times *t, double q);
/* The median distance from the median; NaN for fewer than two. */
double lab_times_mad(const struct lab_times *t);

/* As bytes, for a database, and back. Errors: LAB_E_NOMEM; LAB_E_PARSE, the
 * bytes are not such a distribution. */
enum lab_status lab_times_pack(const struct lab_times *t, void **bytes,
                               size_t *size);
enum lab_status lab_times_unpack(struct lab_times *out, const void *bytes,
                                 size_t size);

/* Values that were rounded differently are compared as the coarser ones.
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_rank_test(struct lab_rank_result *out,
                              const struct lab_times *a,
                              const struct lab_times *b);
/* The least number of times that both must have, so that this test can give a
 * p of `alpha` or less at all: 4 for 0.05. */
int64_t lab_rank_least(double alpha);
/* The smallest p that lists of these lengths can give. */
double lab_rank_best(int64_t n1, int64_t n2);
/* Holm (1979): p values of `n` tests that are looked at together, in place;
 * unknown ones (NaN) are no test. */
enum lab_status lab_rank_holm(double *p, size_t n);

/* `levels`: a bit (1 << level) for each that is wanted. */
enum lab_status lab_time_sums_load(struct lab_time_sums *out,
                                   struct lab_database *db, int64_t run,
                                   unsigned levels);
void lab_time_sums_release(struct lab_time_sums *sums);
/* Whether they are read as they were kept, not put together from the run's rows. */
enum lab_status lab_time_sums_are_kept(struct lab_database *db, int64_t run,
                                       bool *kept);
/* The time of all its executions, by their median; NaN. */
double lab_time_sum_ns(const struct lab_time_sum *sum);
/* What share of the time of these rows each has: its median, as often as it ran.
 * Of no use over several levels. */
enum lab_status lab_time_sums_share(struct lab_time_sum *items, size_t count);
/* What to call the step of a row: by its variant where it is a lab's. */
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
