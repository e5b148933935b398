/* store/lab_prediction.h -- what somebody expected of a lab, beside its run; and the
 * runs of a lab.
 *
 * profiles/schema_5.sql has the columns. Unknown numbers are NaN, unknown texts
 * NULL. Threads: one at a time a connection. */
#pragma once
#include <stdint.h>
#include "store/database.h"

struct lab_prediction_row {
    int64_t place;
    const char *rung; /* "best": the fastest */
    const char *precision;
    const char *size;
    const char *bound;
    double rate;
    double time_ns;
    double occupancy_pct;
};

typedef bool lab_prediction_row_fn(void *user,
                                   const struct lab_prediction_row *row);

LAB_C_BEGIN
/* Errors: LAB_E_DB; LAB_E_NOMEM; LAB_E_NOTFOUND, there is no such run. */
enum lab_status lab_prediction_row_add(struct lab_database *db, int64_t run,
                                       const struct lab_prediction_row *row);
/* In their order, until `each` returns false. */
enum lab_status lab_prediction_rows_read(struct lab_database *db, int64_t run,
                                         lab_prediction_row_fn *each,
                                         void *user);
/* The run that has rows of most rungs of `lab`, then of most sizes, then the
 * newest; of `lesson` (NULL: of any) and not on the backend `but` (NULL: on
 * any). Errors: LAB_E_NOTFOUND, there is none; LAB_E_DB. */
enum lab_status lab_bench_run_fullest(struct lab_database *db, const char *lab,
                                      const char *lesson, const char *but,
                                      int64_t *run);
LAB_C_END
