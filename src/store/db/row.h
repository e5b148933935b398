/* row.h -- reading the columns of a result, left to right. */
#pragma once
#include "store/writer.h"
#include "store_priv.h"

struct lab_columns {
    sqlite3_stmt *stmt;
    int next;
};

int64_t lab_column_int(struct lab_columns *c);      /* no number: LAB_UNKNOWN */
double lab_column_real(struct lab_columns *c);      /* no number: NaN */
const char *lab_column_text(struct lab_columns *c); /* NULL: NULL */

/* Sums and differences that may not exist: what is in a file may be anything.
 * LAB_UNKNOWN where one is unknown or the result has no room. */
int64_t lab_add_known(int64_t a, int64_t b);
int64_t lab_span_ns(int64_t start, int64_t end);
/* Numbers of a foreign file may be anything: sums and differences of those
 * between 0 and 2^62 cannot overflow. Rows count from 1 and no clock is at
 * 1970: 0 is not known either. */
bool lab_moment_known(int64_t v);
/* Widens [from, to], which may be unknown, by what is known of the others. */
void lab_moments_widen(int64_t *from, int64_t *to, int64_t start, int64_t end);

/* LAB_E_NOTFOUND where there is no such run. */
enum lab_status lab_query_require_run(struct lab_database *db, int64_t run);
/* After the last sqlite3_step(): an error, or none. Finalizes. */
enum lab_status lab_query_end(struct lab_database *db, sqlite3_stmt *stmt,
                              int rc);
/* The first column of the first row, and ends the statement. LAB_E_NOTFOUND:
 * "there is no run of WHAT"; *run is unchanged on failure. */
enum lab_status lab_query_first_run(struct lab_database *db, sqlite3_stmt *stmt,
                                    const char *what, int64_t *run);
