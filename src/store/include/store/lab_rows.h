/* store/lab_rows.h -- what a kernel lab measured, beside its run.
 *
 * profiles/schema_4.sql and schema_5.sql have the columns. Unknown numbers are NaN or
 * LAB_UNKNOWN, unknown texts NULL. Threads: one at a time a connection; the
 * writer of the run may be at work meanwhile. */
#pragma once
#include "store/database.h"
#include "trace/record.h"

struct lab_bench_row {
    int64_t place;
    const char *lab;
    const char *size;
    const char *rung;
    const char *precision;
    const char *status;
    const char *reason;
    const char *unit;
    int64_t repeats;
    int64_t flush_bytes;
    double check_error;
    double sample_error;
    double min_ns;
    double quarter_ns;
    double median_ns;
    double three_quarters_ns;
    double max_ns;
    double flop;
    double bytes;
    double traffic_bytes;
    double rate;
    double rate_model;
    double rate_predicted;
    double gain;
    double gain_model;
    double ceiling_copy;
    double ceiling_fp32;
    double sm_clock_before_hz;
    double sm_clock_after_hz;
    double memory_clock_hz;
    double temperature_c;
    double power_w;
    const char *note;        /* what the rung said of itself */
    int64_t workspace_bytes; /* that it takes beside the tensors */
    int64_t traced_exec;     /* the step whose kernels are the rung's */
};

typedef bool lab_bench_row_fn(void *user, const struct lab_bench_row *row);

LAB_C_BEGIN
/* Adds a row to run `run`; it is stored when this returns. Errors: LAB_E_DB;
 * LAB_E_NOMEM; LAB_E_NOTFOUND, there is no such run. */
enum lab_status lab_bench_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_bench_row *row);
/* Says which execution's kernels are those of row `place`. */
enum lab_status lab_bench_row_traced(struct lab_database *db, int64_t run,
                                     int64_t place, int64_t exec);
/* The rows of a run in their order, until `each` returns false. None: the run
 * is not a lab's. */
enum lab_status lab_bench_rows_read(struct lab_database *db, int64_t run,
                                    lab_bench_row_fn *each, void *user);
LAB_C_END
