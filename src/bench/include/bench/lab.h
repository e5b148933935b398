/* lab.h -- the parts of the command `lab` among themselves. */
#pragma once
#include "engine/ladder.h"
#include "bench/lab_options.h"
#include "bench/lab_predict.h"
#include "store/database.h"
#include "store/writer.h"

struct lab_bench_row;
struct lab_live;
struct lab_profiler;

enum {
    LAB_BENCH_SIZES = 64,
    LAB_BENCH_RUNGS = 96,
    LAB_BENCH_UNIT = 32,
    LAB_BENCH_JOBS = 64
};

/* A row that was timed, to be traced afterwards. */
struct lab_timed_row {
    const struct lab_rung *rung;
    const struct lab_rung *ran;
    int size; /* of lab->sizes */
    int64_t place;
};

struct lab_kernel_record;
struct lab_counters;
struct lab_bench;
typedef void lab_bench_traced_fn(void *user, const struct lab_timed_row *row,
                                 const struct lab_kernel_record *kernel,
                                 const struct lab_counters *counters);

/* A tuned rung at a size. */
struct lab_tune_job {
    const struct lab_rung *rung;
    int size; /* of lab->sizes */
};

/* A lab as it is going to run. Texts belong to lesson and ladder. */
struct lab_bench {
    const struct lab_bench_options *options;
    struct lab_lesson *lesson; /* NULL: only a ladder was named */
    const char *title;
    const struct lab_operation *ladder;
    char unit[LAB_BENCH_UNIT]; /* FLOP/s, B/s, s/access */
    struct lab_backend *backend;
    struct lab_ladder_machine machine;
    struct lab_ladder_size sizes[LAB_BENCH_SIZES];
    int n_sizes;
    const struct lab_rung *rungs[LAB_BENCH_RUNGS];
    int n_rungs;
    struct lab_prediction said[LAB_BENCH_PREDICTIONS];
    int n_said;
    int repeats;
    struct lab_ladder_row rows[LAB_BENCH_RUNGS]; /* of the size at hand */
    int n_rows;
    int64_t place; /* rows so far */
    int64_t timed;
    enum lab_status worst; /* LAB_E_CHECK before anything else; of the rows */
    struct lab_tune_job tune[LAB_BENCH_JOBS];
    int to_tune;
    struct lab_timed_row *to_trace; /* `timed` of them */
    const char *counters_end;       /* refused, where they were; else NULL */
    char counters_why[512];
    struct lab_writer *writer; /* NULL: not recorded */
    struct lab_database *db;
    int64_t run;
    int64_t exec;
    /* Gets the kernels of each row that is traced, in the place of the table on
     * stdout; NULL: they are told there. */
    lab_bench_traced_fn *traced;
    void *traced_user;
    /* Shall it stop? Asked between two launches; NULL: never. */
    bool (*stop)(void *user);
    void *stop_user;
    struct lab_ui_lab ui; /* the same, as the pictures take it: one set */
};

/* A person's unit: "GFLOP/s", "GB/s", "ns/access"; its parts in one. */
void lab_bench_shown_unit(const struct lab_bench *lab, char *out, size_t size);
/* Bytes that are read before each repeat. */
int64_t lab_bench_flushed(const struct lab_bench *lab);
double lab_bench_scale(const struct lab_bench *lab);
/* What was said of a row, or NULL; and the rate that follows from it, in the
 * ladder's unit, NaN where none does. */
const struct lab_ui_prediction *
lab_bench_said_of(const struct lab_bench *lab,
                  const struct lab_ladder_row *row);
double lab_bench_prediction(const struct lab_bench *lab,
                            const struct lab_ladder_row *row);

/* The precisions of the chosen rungs: "fp32, bf16"; returns `out`. */
const char *lab_bench_precisions(const struct lab_bench *lab, char *out,
                                 size_t size);

/* lab_setup.c: everything that can be wrong before anything is measured. */
enum lab_status lab_bench_open(struct lab_bench *lab,
                               const struct lab_bench_options *options);
void lab_bench_close(struct lab_bench *lab);
/* Other sizes, as --sizes has them. LAB_E_USAGE: the lab keeps those it has. */
enum lab_status lab_bench_take_sizes(struct lab_bench *lab, const char *list);
enum lab_ui_lab_unit lab_bench_ui_unit(const struct lab_operation *ladder);
/* lab_ask.c: those of --predict; and asking for them on the terminal. */
enum lab_status lab_bench_read_predictions(struct lab_bench *lab);
/* "best", or a rung that is measured here; LAB_E_USAGE. */
enum lab_status lab_bench_add_prediction(struct lab_bench *lab,
                                         const struct lab_prediction *said);

enum lab_status lab_bench_ask(struct lab_bench *lab);

/* lab_store.c: the database that the options name, or the usual one, kept in
 * lab->db; nothing when it is open. */
enum lab_status lab_bench_open_db(struct lab_bench *lab);
/* A run of its own, a step for each repeat, a row for each rung.
 * A database that refuses ends recording, not the lab: a line on stderr. */
enum lab_status lab_bench_record_begin(struct lab_bench *lab);
/* A row as it is stored; its texts are those of lab and row. */
void lab_bench_row_of(const struct lab_bench *lab,
                      const struct lab_ladder_row *row,
                      struct lab_bench_row *out);
void lab_bench_record_row(struct lab_bench *lab,
                          const struct lab_ladder_row *row);
/* Nothing stays of one that was stopped before its first row; one of whose rows
 * none was timed has failed. */
void lab_bench_record_end(struct lab_bench *lab, enum lab_status st);

/* lab_picture.c: pictures below the table, and the course's figures. */
enum lab_status lab_bench_print_chart(const struct lab_bench *lab);
void lab_bench_print_slides(const struct lab_bench *lab);
void lab_bench_print_occupancy(const struct lab_bench *lab);
enum lab_status lab_bench_print_recorded(const struct lab_bench *lab);
enum lab_status lab_bench_json_slides(const struct lab_bench *lab);

/* lab_trace.c: the kernels of each row that was timed, traced once, stored and
 * told; with --counters counted too. What cannot be traced is a line on stderr,
 * not a failure. Nothing on a CPU. LAB_E_CANCELLED: lab->stop said so, before a
 * row or before a pass of its counters; what was traced before is kept. */
enum lab_status lab_bench_trace(struct lab_bench *lab);
/* Remembers a row that was timed. */
enum lab_status lab_bench_trace_later(struct lab_bench *lab,
                                      const struct lab_ladder_row *row);

/* lab_tune.c */

/* Looks what is kept: tells it, and notes in lab->tune what is to be measured
 * (with --retune everything): one size of each class, for each tuned rung. */
enum lab_status lab_bench_tune_kept(struct lab_bench *lab);
/* Measures the candidates of what was noted, and keeps the fastest. */
enum lab_status lab_bench_tune(struct lab_bench *lab);
/* lab_ladder_run.stands; `user` is the lab. */
const struct lab_rung *
lab_bench_resolve_tuned(struct lab_bench *lab, const struct lab_rung *tuned,
                        const struct lab_ladder_size *size,
                        struct lab_rung_note *note);

/* cmd_lab.c: one climb over the lab's rungs and `n` sizes from `first` on, told
 * and recorded; `see` may be NULL. */
typedef void lab_bench_see_fn(void *user, const struct lab_ladder_row *row);
enum lab_status lab_bench_climb_all(struct lab_bench *lab, int first, int n,
                                    lab_bench_see_fn *see, void *user);

/* lab_print.c */
void lab_bench_print_head(const struct lab_bench *lab);
enum lab_status lab_bench_print_size(const struct lab_bench *lab);
enum lab_status lab_bench_json_run(const struct lab_bench *lab);
enum lab_status lab_bench_json_row(const struct lab_bench *lab,
                                   const struct lab_ladder_row *row);
