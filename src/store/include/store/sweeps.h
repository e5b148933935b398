/* store/sweeps.h -- a lesson measured at several sizes, beside its run.
 *
 * profiles/schema_5.sql has the columns. Unknown numbers are NaN or
 * LAB_UNKNOWN, unknown texts NULL. Errors: LAB_E_DB; LAB_E_NOMEM;
 * LAB_E_NOTFOUND, there is no such run. Threads: that of the connection; the
 * writer of the run may be at work meanwhile. */
#pragma once
#include "store/database.h"
#include "trace/record.h"

struct lab_sweep_row {
    int64_t place;
    const char *sweep; /* batch-size, network-size, products, backward */
    const char *lesson;
    const char *backend;
    const char *name; /* of a row that stands for no number */
    const char *status;
    const char *reason;
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

typedef bool lab_sweep_row_fn(void *user, const struct lab_sweep_row *row);

LAB_C_BEGIN
enum lab_status lab_sweep_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_sweep_row *row);
/* The rows of a run in their order; none: the run is no sweep. */
enum lab_status lab_sweep_rows_read(struct lab_database *db, int64_t run,
                                    lab_sweep_row_fn *each, void *user);
/* The run of a sweep that has most lessons, the newest of several; `lesson` NULL:
 * any. Errors: LAB_E_NOTFOUND. */
enum lab_status lab_sweep_run_newest(struct lab_database *db, const char *sweep,
                                     const char *lesson, int64_t *run);
LAB_C_END
