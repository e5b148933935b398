/* lab_bench_feed.h -- a lab's rows as the screen and the pictures take them: from a
 * climb, and from the store. Threads: one at a time a struct lab_ui_lab. */
#pragma once
#include "bench/lab.h"
#include "store/lab_rows.h"
#include "store/query.h"
#include "trace/metric.h"
#include "bench/lab_model.h"

/* Adds an empty set; returns its index, or -1: there are too many. */
int lab_bench_model_add_set(struct lab_ui_lab *ui, const char *name,
                            const char *device);
/* Takes out a set's sizes and rows; the set stays. */
void lab_bench_model_clear(struct lab_ui_lab *ui, int set);
/* The unit, and a row that waits for each size and rung of `lab`, with what was
 * said of it. Errors: LAB_E_NOMEM. */
enum lab_status lab_bench_model_plan(struct lab_ui_lab *ui, int set,
                                     const struct lab_bench *lab);
/* The ceilings, once they were measured. */
void lab_bench_model_ceilings(struct lab_ui_lab *ui, int set,
                              const struct lab_bench *lab);
/* A row of the climb in the place of the one that waits. */
void lab_bench_model_row(struct lab_ui_lab *ui, int set,
                         const struct lab_bench *lab,
                         const struct lab_ladder_row *row);
/* What a traced launch says: of a row's kernels the one that took longest
 * counts. */
void lab_bench_model_kernel(struct lab_ui_lab *ui, int set,
                            const struct lab_bench *lab,
                            const struct lab_timed_row *row,
                            const struct lab_kernel_record *kernel,
                            const struct lab_counters *counters);
/* The row that is being checked or timed. */
void lab_bench_model_state(struct lab_ui_lab *ui, int set, const char *rung,
                           const char *precision, const char *size,
                           enum lab_ui_lab_state state);
/* The predictions of a set's rows, anew. */
void lab_bench_model_prediction(struct lab_ui_lab *ui, int set,
                                const struct lab_prediction *said, int n);
/* A row of the store; *index gets its place in ui->rows, -1 where it is left
 * out. `ladder` tells its shape. Errors: LAB_E_NOMEM. */
enum lab_status lab_bench_model_stored(struct lab_ui_lab *ui, int set,
                                       const struct lab_operation *ladder,
                                       const struct lab_bench_row *row,
                                       int64_t *index);
/* A kernel of a stored row, as lab_bench_model_kernel(). */
void lab_bench_model_stored_kernel(struct lab_ui_lab *ui, int64_t index,
                                   const struct lab_kernel_row *kernel);
/* A set "recorded" with that run of this lab that ships with the program and has
 * most of its rungs, then sizes, then is the newest
 * (profiles/recorded). Errors: LAB_E_NOTFOUND, none does; LAB_E_DB. */
enum lab_status lab_bench_model_recorded(struct lab_ui_lab *ui,
                                         const struct lab_bench *lab);
/* A set with the newest run of this lab on another backend that the learner's
 * own database has, so that CPU and GPU stand in one picture. Errors: the
 * same. */
enum lab_status lab_bench_model_earlier(struct lab_ui_lab *ui,
                                        const struct lab_bench *lab);
/* The lesson's figures of the course. Errors: LAB_E_NOMEM. */
enum lab_status lab_bench_model_slides(struct lab_ui_lab *ui,
                                       const struct lab_bench *lab);
/* What this machine has beside them, in words: when rows have changed. */
void lab_bench_model_beside(struct lab_ui_lab *ui,
                            const struct lab_operation *ladder);
