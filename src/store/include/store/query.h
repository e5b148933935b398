/* store/query.h -- what a database knows of its runs.
 *
 * Every query calls a function with one row after the other. A row and its
 * texts are valid during that call only; returning false ends the query. Texts
 * are as they were recorded: lab_str_add_visible() them before a terminal sees
 * them. Unknown texts are NULL, integers LAB_UNKNOWN, reals NaN.
 *
 * Cost: steps of a run that has ended read what was added up then
 * (store/time_sum.h). Kernels and losses read that run's rows, in the order of
 * the file; another sort than LAB_KERNEL_BY_ROW reads one narrow table and,
 * with a limit, of the others a page's rows only.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND where there is no such run.
 * Threads: that of the connection. */
#pragma once
#include "store/lab_names.h"
#include "store/time_sum.h"
#include "store/writer.h"

struct lab_kernel_row {
    int64_t row;
    int64_t exec; /* LAB_EXEC_BETWEEN, LAB_UNKNOWN: trace/record.h */
    int64_t iteration;
    int64_t step_index;
    const char *step;                        /* as it was recorded */
    const struct lab_bench_name *bench_name; /* NULL: not of a lab */
    const char *phase;
    const char *name; /* with template arguments */
    const char *short_name;
    int64_t start_ns;
    int64_t end_ns;
    int64_t time_ns;
    int64_t device;
    int64_t context;
    int64_t stream;
    int64_t correlation;
    struct lab_launch launch;
    int64_t shared_bytes; /* static and dynamic */
    struct lab_kernel_facts facts;
    int64_t graph_node;
    double occupancy_pct;    /* theoretical */
    int64_t occupancy_limit; /* bits of enum lab_occupancy_limit */
    int64_t active_blocks_per_sm;
};

struct lab_loss_row {
    int64_t iteration;
    double loss;
    double accuracy;
    double held_loss;
    double learning_rate; /* of the iteration */
    int64_t moment_ns;
};

enum lab_step_sort {
    LAB_STEP_BY_INDEX,
    LAB_STEP_BY_PHASE,
    LAB_STEP_BY_NAME,
    LAB_STEP_BY_VARIANT,
    LAB_STEP_BY_COUNT,
    LAB_STEP_BY_MEDIAN,
    LAB_STEP_BY_MIN,
    LAB_STEP_BY_MAX,
    LAB_STEP_BY_TOTAL,
    LAB_STEP_BY_FLOP,
    LAB_STEP_BY_BYTES,
    LAB_STEP_BY_GFLOP_PER_S,
    LAB_STEP_BY_GBYTE_PER_S,
    LAB_STEP_BY_KERNELS,
    LAB_STEP_SORT_COUNT
};

enum lab_kernel_sort {
    LAB_KERNEL_BY_ROW, /* as recorded */
    LAB_KERNEL_BY_START,
    LAB_KERNEL_BY_TIME,
    LAB_KERNEL_BY_NAME,
    LAB_KERNEL_BY_STEP,
    LAB_KERNEL_BY_GRID,  /* blocks in all */
    LAB_KERNEL_BY_BLOCK, /* threads of a block */
    LAB_KERNEL_BY_REGISTERS,
    LAB_KERNEL_BY_SHARED, /* static and dynamic */
    LAB_KERNEL_BY_OCCUPANCY,
    LAB_KERNEL_SORT_COUNT
};

struct lab_kernel_filter {
    bool between; /* those of no step too: evaluation, checks */
    enum lab_kernel_sort sort;
    bool descending; /* unknown values come last either way */
    int64_t limit;   /* 0: all */
};

typedef bool lab_run_row_fn(void *user, const struct lab_run_row *row);
/* One step of the schedule, over all its executions with one variant. */
typedef bool lab_step_row_fn(void *user, const struct lab_time_sum *row);
typedef bool lab_kernel_row_fn(void *user, const struct lab_kernel_row *row);
typedef bool lab_loss_row_fn(void *user, const struct lab_loss_row *row);

LAB_C_BEGIN
/* "0.1", and where the run had another rate than its lesson "0.5 (the lesson:
 * 0.1)"; "" where it is not known. */
enum { LAB_RUN_LR_TEXT = 64 };
const char *lab_run_lr_text(const struct lab_run_row *run,
                            char out[LAB_RUN_LR_TEXT]);
enum { LAB_VARIANT_WORDS = 64 };

/* A run keeps "fc1=cublas fc2=cublas norm=warp", the nodes that are not naive:
 * here each variant once, the commonest first, equally common ones as they come:
 * "cublas, warp". A lesson that kept none ran naive ones. Another learning rate
 * than the lesson's goes first: "lr 0.5, naive". NULL: nothing is known, or the
 * run is none of a lesson. What has no room ends in "...". */
const char *lab_variant_words(const struct lab_run_row *run,
                              char out[LAB_VARIANT_WORDS]);
/* What two runs beside each other kept becomes their words, in `words`; where
 * these are equal it begins at the first node that differs. NULL: naive. */
void lab_variant_words_beside(const char *kept[2],
                              char words[2][LAB_VARIANT_WORDS]);
bool lab_run_is_lab(const struct lab_run_row *run);
bool lab_run_is_imported(const struct lab_run_row *run);
/* Some of its records are missing: the disk was full, the machine too slow. */
bool lab_run_has_lost(const struct lab_run_row *run);
/* Its median is the time of its only iteration. */
bool lab_run_has_one(const struct lab_run_row *run);
/* "mlp-digits", "gemm (lab)"; NULL: unknown. */
const char *lab_run_lesson_text(const struct lab_run_row *run, char *out,
                                size_t cap);
/* What limits a kernel's occupancy, the bits of enum lab_occupancy_limit:
 * "registers<between>shared"; "" for none, or when they are not known. */
void lab_limit_words(int64_t limit, const char *between, char *out,
                     size_t bytes);
/* "2026-01-31 09:30:00" of 2026-01-31T09:30:00.123Z; another text as it is. */
const char *lab_moment_text(const char *iso, char *out, size_t cap);
/* The column of the owner in tables of text: for runs from other machines. */
enum { LAB_RUN_OWNER_PLACE = 13 };
/* As options and column heads use them: "median". */
const char *lab_step_sort_name(enum lab_step_sort sort);
const char *lab_kernel_sort_name(enum lab_kernel_sort sort);

enum lab_status lab_query_runs(struct lab_database *db, lab_run_row_fn *each,
                               void *user); /* newest first: as begun, but for
                                               traced_first of the database */
enum lab_status lab_query_run(struct lab_database *db, int64_t run,
                              lab_run_row_fn *each, void *user);
/* The id of the first of these. Errors: LAB_E_NOTFOUND, the database has none. */
enum lab_status lab_query_last_run(struct lab_database *db, int64_t *out);
enum lab_status lab_query_steps(struct lab_database *db, int64_t run,
                                enum lab_step_sort sort, bool descending,
                                lab_step_row_fn *each, void *user);
enum lab_status lab_query_kernels(struct lab_database *db, int64_t run,
                                  const struct lab_kernel_filter *filter,
                                  lab_kernel_row_fn *each, void *user);
enum lab_status lab_query_losses(struct lab_database *db, int64_t run,
                                 lab_loss_row_fn *each, void *user);
/* At most `most` (>= 1) of them, evenly over the run: the others are not read,
 * so that a long run costs no more than a short one. */
enum lab_status lab_query_losses_thinned(struct lab_database *db, int64_t run,
                                         int most, lab_loss_row_fn *each,
                                         void *user);
/* The same of those with an accuracy or a validation loss: of a run that has none
 * all losses are read. */
enum lab_status lab_query_evaluations_thinned(struct lab_database *db,
                                              int64_t run, int most,
                                              lab_loss_row_fn *each,
                                              void *user);
LAB_C_END
