/* store/compare.h -- two runs side by side, with a verdict that knows noise.
 *
 * Rows are matched by what they are: the iteration, a phase, a node in a phase,
 * a step by phase and name (its variant may differ: that is what is compared),
 * a kernel by its step and its name with template arguments. Of labs a step is
 * the same variant in the same precision at the same size, and the launches that
 * were only traced are no steps. Each pair is
 * tested (store/time_sum.h); the p values of one level are adjusted together
 * after Holm, so that a long table does not cry wolf.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND, there is no such run;
 * LAB_E_RANGE, the runs are of different lessons. Threads: that of the
 * connection; a comparison that is loaded needs it no more. */
#pragma once
#include "store/query.h"
#include "store/time_sum.h"
#include "store/time_breakdown.h"

/* Smaller differences of medians are called none, however certain. The test
 * sees the noise inside a run; the next run of the same program lies a percent
 * or three beside it (clock rates, where memory came to lie), and the clocks
 * tick at 10 ns (CPU) to 32 ns (a GPU's records). */
#define LAB_COMPARE_LEAST_SHARE 0.03
#define LAB_COMPARE_LEAST_NS 50

enum lab_verdict {
    LAB_VERDICT_SAME,   /* nothing beyond the noise of a run, and of runs */
    LAB_VERDICT_FASTER, /* the second is */
    LAB_VERDICT_SLOWER,
    LAB_VERDICT_FEW,     /* too few times for a verdict */
    LAB_VERDICT_UNKNOWN, /* one side has no times */
    LAB_VERDICT_ONLY_A,
    LAB_VERDICT_ONLY_B,
    LAB_VERDICT_COUNT
};

enum { LAB_SIDE_A, LAB_SIDE_B, LAB_SIDES };

struct lab_compare_row {
    enum lab_sum_level level;
    const struct lab_time_sum *side[LAB_SIDES]; /* NULL: that run has none */
    double difference_ns; /* of medians, second minus first */
    double share;         /* of the first's median */
    double speed_up;      /* first's median over the second's */
    double p;             /* adjusted; NaN: not tested */
    enum lab_verdict verdict;
    int64_t run[LAB_SIDES];
};

/* The place in tables of text of the first column of what was counted, of the first
 * run; the second run's is next to it, and so on for each of three. */
enum { LAB_COMPARE_COUNTED = 15, LAB_COMPARE_COUNTED_COLUMNS = 6 };

/* What a run was made with, as texts. */
enum lab_run_fact {
    LAB_FACT_LESSON,
    LAB_FACT_KIND, /* lesson, lab */
    LAB_FACT_BACKEND,
    LAB_FACT_DEVICE,
    LAB_FACT_PRECISION,
    LAB_FACT_VARIANTS,
    LAB_FACT_BATCH,
    LAB_FACT_SEED,
    LAB_FACT_LEARNING_RATE,
    LAB_FACT_THREADS,
    LAB_FACT_TIMES_FROM,
    LAB_FACT_TRACE,
    LAB_FACT_COUNTERS,
    LAB_FACT_DRIVER,
    LAB_FACT_RUNTIME,
    LAB_FACT_VERSION,
    LAB_FACT_COMMIT,
    LAB_FACT_MACHINE,
    LAB_FACT_USER,
    LAB_FACT_COUNT
};

struct lab_compared_run {
    int64_t run;
    char *fact[LAB_FACT_COUNT]; /* NULL: unknown */
    int64_t iterations;
    int64_t iteration_median_ns; /* wall time, as the run measured it */
    double samples_per_s;
    double loss_last;
};

struct lab_comparison {
    struct lab_compared_run run[LAB_SIDES];
    struct lab_compare_row *rows; /* by level, then as they ran */
    size_t count;
    size_t walls; /* rows after those: the parts of an iteration's wall time,
                     where they are known of one run, without a verdict */
    size_t tests[LAB_SUM_LEVELS]; /* how many p values were adjusted together */
    struct lab_time_sums sums[LAB_SIDES];
    struct lab_time_breakdown wall[LAB_SIDES];
    struct lab_time_sum *wall_sums; /* of those rows */
    /* What counted a run's steps: "hardware", "simulation"; NULL: nothing did. */
    const char *counted_by[LAB_SIDES];
};

LAB_C_BEGIN
const char *lab_run_fact_name(enum lab_run_fact fact);
const char *lab_verdict_name(enum lab_verdict verdict);
const char *lab_sum_level_name(enum lab_sum_level level);
enum lab_status lab_comparison_load(struct lab_comparison *out,
                                    struct lab_database *db, int64_t a,
                                    int64_t b);
void lab_comparison_release(struct lab_comparison *c);
/* Whether both texts are known and differ, or only one is known. */
bool lab_comparison_differs(const struct lab_comparison *c,
                            enum lab_run_fact fact);
/* Whether one of them was simulated: it has counts in place of times. */
bool lab_comparison_simulated(const struct lab_comparison *c);
/* The side that is there. */
const struct lab_time_sum *lab_compare_either(const struct lab_compare_row *r);
/* Of medians; all of the time of what one run alone has; NaN: unknown. */
double lab_compare_difference(const struct lab_compare_row *r);

/* Named runs to compare with. A name is 1 to 64 letters, digits, dots, dashes
 * and underscores. Errors: LAB_E_ARG, not such a name; LAB_E_NOTFOUND. */
enum lab_status lab_baseline_set(struct lab_database *db, const char *name,
                                 int64_t run);
enum lab_status lab_baseline_find(struct lab_database *db, const char *name,
                                  int64_t *run);
enum lab_status lab_baseline_remove(struct lab_database *db, const char *name);
typedef bool lab_baseline_fn(void *user, const char *name, int64_t run);
enum lab_status lab_baseline_list(struct lab_database *db,
                                  lab_baseline_fn *each, void *user);
LAB_C_END
