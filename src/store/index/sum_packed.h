/* sum_packed.h -- rows of time_sum that are no sums: what else is kept with a
 * long run, packed in `times` (pass.h, step_range.h). */
#pragma once
#include "db/store_priv.h"

struct lab_packed {
    struct lab_database *db;
    sqlite3_stmt *stmt;
};

/* Rows of `level`. Ends with lab_packed_end(), after an error too. */
enum lab_status lab_packed_begin(struct lab_packed *p, struct lab_database *db,
                                 int64_t run, int level);
/* A row at *place, which becomes the next free one; step and phase may be
 * LAB_UNKNOWN. `bytes` are read during the call. */
enum lab_status lab_packed_add(struct lab_packed *p, int64_t *place,
                               int64_t step, int64_t phase, int64_t count,
                               const void *bytes, size_t size);
void lab_packed_end(struct lab_packed *p);
