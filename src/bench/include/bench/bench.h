/* bench/bench.h -- a lab: a ladder of kernels as it is going to be measured, its
 * run, and what is printed and stored of it. */
#pragma once
#include "bench/model.h"
#include "debug/options.h"
#include "profiler/profiler.h"
#include "report/json_line.h"
#include "store/live.h"
#include "store/writer.h"

struct lab_lesson;
struct lab_text_table;

/* A lesson's network trained for a moment at several sizes. */
enum lab_sweep_kind {
    LAB_SWEEP_BATCH,
    LAB_SWEEP_NETWORK,
    LAB_SWEEP_PRODUCTS,
    LAB_SWEEP_BACKWARD,
    LAB_SWEEP_KINDS
};

enum {
    LAB_BENCH_SIZES = 64,
    LAB_BENCH_VARIANTS = 96,
    LAB_BENCH_UNIT = 32,
    LAB_BENCH_JOBS = 64
};

/* A result that was timed, to be traced afterwards. */
struct lab_timed_row {
    const struct lab_variant *variant;
    const struct lab_variant *ran;
    int size; /* of lab->sizes */
    int64_t place;
};

/* A tuned variant at a size. */
struct lab_tune_job {
    const struct lab_variant *variant;
    int size; /* of lab->sizes */
};

/* Who follows a run. All may be NULL but `result`. */
struct lab_bench_observer {
    void *user;
    /* Shall it stop? Asked between two launches. */
    bool (*stop)(void *user);
    /* What comes next: a check (size NULL), or times at a size. */
    void (*doing)(void *user, const struct lab_variant *variant,
                  const struct lab_ladder_size *size);
    /* Each result, already stored; another status than LAB_OK ends the run. */
    enum lab_status (*result)(void *user,
                              const struct lab_bench_result *result);
    /* The kernels of each result that is traced, instead of the printed table. */
    void (*traced)(void *user, const struct lab_timed_row *row,
                   const struct lab_kernel_record *kernel,
                   const struct lab_counters *counters);
};

struct tracing;
/* A lab as it is going to run. Texts belong to lesson and ladder. */
struct lab_bench {
    const struct lab_options *options;
    struct lab_lesson *lesson; /* NULL: only a ladder was named */
    const char *title;
    const struct lab_operation *ladder;
    char unit[LAB_BENCH_UNIT]; /* FLOP/s, B/s, s/access */
    struct lab_backend *backend;
    struct lab_ladder_machine machine;
    struct lab_ladder_size sizes[LAB_BENCH_SIZES];
    int n_sizes;
    bool small_sizes; /* the lab's own are too large to be simulated */
    /* From this one on the sizes are those of the course's figures that have a CPU's
     * time: only the variants that they name, and as many as fit into a minute. */
    int course_from;
    bool however_long; /* --sizes all: a minute is no limit */
    double
        last_speed; /* of these variants: seconds for a unit of lab_ladder_work() */
    const struct lab_variant *variants[LAB_BENCH_VARIANTS];
    int n_variants;
    struct lab_prediction predictions[LAB_BENCH_PREDICTIONS];
    int n_predictions;
    int repeats;
    int n_climbing; /* variants that are measured at a size */
    int n_rows;     /* results of the size at hand that are not printed yet */
    int64_t place;  /* results so far */
    int64_t timed;
    enum lab_status
        worst; /* LAB_E_CHECK before anything else; of the results */
    struct lab_tune_job tune[LAB_BENCH_JOBS];
    int to_tune;
    struct lab_timed_row *to_trace; /* `timed` of them */
    struct tracing *simulating;     /* run.c's, while a simulation is watched */
    const char *counters_end;       /* refused, where they were; else NULL */
    char counters_why[512];
    struct lab_writer *writer; /* NULL: not recorded */
    struct lab_database *db;
    int64_t run;
    int64_t exec;
    struct lab_bench_observer observer;
    struct lab_bench_data data; /* the command's; a screen has its own */
};

LAB_C_BEGIN
/* ---- bench.c: everything that can be wrong before anything is measured ---- */

enum lab_status lab_bench_open(struct lab_bench *lab,
                               const struct lab_options *options);
void lab_bench_close(struct lab_bench *lab);
/* Other sizes, as --sizes has them. LAB_E_USAGE: the lab keeps those it has. */
enum lab_status lab_bench_take_sizes(struct lab_bench *lab, const char *list);
/* "best", or a variant that is measured here; LAB_E_USAGE. */
enum lab_status lab_bench_predict(struct lab_bench *lab,
                                  const struct lab_prediction *p);
/* VARIANT=TEXT or VARIANT@SIZE=TEXT; the text as for lab_prediction_parse().
 * LAB_E_USAGE. */
enum lab_status lab_prediction_pair(enum lab_bench_unit unit, const char *pair,
                                    struct lab_prediction *out);
/* --predict ask: asks for predictions on the terminal. */
enum lab_status lab_bench_ask(struct lab_bench *lab);
/* A person's unit: "GFLOP/s", "GB/s", "ns/access"; its parts in one. */
void lab_bench_shown_unit(const struct lab_bench *lab, char *out, size_t size);
double lab_bench_scale(const struct lab_bench *lab);
/* Is it one of the first kernels (bench/demo.h), not a ladder? NULL is none. */
bool lab_bench_is_one_kernel(const char *name);
/* Whether its variants compute in others than fp32: tables then have a column. */
bool lab_bench_has_precisions(const struct lab_bench *lab);
/* The precisions of the chosen variants: "fp32, bf16"; returns `out`. */
const char *lab_bench_precisions(const struct lab_bench *lab, char *out,
                                 size_t size);

/* ---- run.c ---- */

/* The ceilings of the precisions of the chosen variants. */
void lab_bench_measure_ceilings(struct lab_bench *lab);
/* One variant at one size, once, and nothing of it is kept: for a walk through its
 * kernels. LAB_E_CHECK: a simulation has found something in them. */
enum lab_status lab_bench_launch(struct lab_bench *lab,
                                 const struct lab_variant *variant, int size);
/* Results that a whole climb has. */
int64_t lab_bench_total(const struct lab_bench *lab);
/* All variants at `n` sizes from `first` on, stored, and given to the observer; of the
 * course's sizes those that the minute has room for. */
enum lab_status lab_bench_climb(struct lab_bench *lab, int first, int n);
/* A run with the writer of `info` (its kind, program, seed and device are filled
 * here), and the database beside it. */
enum lab_status lab_bench_writer_open(const struct lab_options *o,
                                      struct lab_run_info *info,
                                      const struct lab_device_info *device,
                                      struct lab_writer **writer,
                                      struct lab_database **db, int64_t *run);
/* Closes both, which may be NULL; the run ends with `summary` (NULL: nothing is
 * written of its end). */
void lab_bench_writer_close(struct lab_writer *writer, struct lab_database *db,
                            const struct lab_run_summary *summary);
/* Does the work with a run of its own, a step for each repeat and a row for
 * each result. A database that refuses ends recording, not the lab: a line on
 * stderr, or an error where --db names it. Nothing stays of a run that was
 * stopped before its first result; one without a timed result has failed. */
enum lab_status lab_bench_recorded(struct lab_bench *lab,
                                   enum lab_status (*work)(struct lab_bench *));
/* The kernels of each result that was timed, traced once, stored and printed;
 * with --counters counted too. What cannot be traced is a line on stderr, not a
 * failure. Nothing on a CPU. LAB_E_CANCELLED: the observer stopped it, before a
 * result or before a pass of its counters; what was traced before is kept. */
enum lab_status lab_bench_trace(struct lab_bench *lab);
/* A profiler for a moment's measurement: the kernels of each step in a window of
 * memory, without ranges and API calls. Only on a GPU with CUPTI. Threads: the
 * one that launches. */
struct lab_kernel_watch { /* stays where it is while it is open */
    struct lab_live *live;
    struct lab_profiler *profiler; /* NULL: not open */
    struct lab_sink sink;
};

/* `then` gets the records too; NULL: the window alone. Before the backend is
 * opened where its first launches count. On failure *w is closed. Errors:
 * LAB_E_UNSUPPORTED, kernels cannot be traced, and why; LAB_E_NOMEM. */
enum lab_status lab_kernel_watch_open(struct lab_kernel_watch *w,
                                      const char *backend,
                                      const struct lab_sink *then);
void lab_kernel_watch_close(struct lab_kernel_watch *w);

/* Finds what is kept: prints it, and notes in lab->tune what is to be measured
 * (with --retune everything): one size of each class, for each tuned variant. */
enum lab_status lab_bench_tune_kept(struct lab_bench *lab);
/* Measures the candidates of what was noted, and keeps the fastest. The
 * observer puts the results into lab->data. */
enum lab_status lab_bench_tune(struct lab_bench *lab);
/* Without a GPU the map of a tuning that was recorded on one: before one is measured,
 * which takes a minute. */
enum lab_status lab_bench_tune_recorded(const struct lab_bench *lab);

/* ---- sweep/sweep.c ---- */

const char *lab_sweep_name(enum lab_sweep_kind kind);
/* All of it, through the engine as `run` does; returns the exit code. */
int lab_sweep_run(const struct lab_options *o, enum lab_sweep_kind kind);

/* ---- print.c ---- */

/* The head of a run. */
enum lab_status lab_bench_print_run(const struct lab_bench *lab);
/* An observer's `result`: a line of JSON, or a table when a size is complete.
 * `user` is the lab. */
enum lab_status lab_bench_print_result(void *user,
                                       const struct lab_bench_result *result);
/* Everything that was counted, as "counted". */
void lab_bench_json_counted(json_t *to, const struct lab_counters *c);
/* The table of a size that was left before its last variant. */
void lab_bench_print_left(struct lab_bench *lab);
/* What is below the tables: predicted occupancies, results of other machines,
 * the course's figures; in JSON the figures alone. */
enum lab_status lab_bench_print_rest(const struct lab_bench *lab);
LAB_C_END
