/* row.h -- statements: bound, stepped, and their columns read left to right. */
#pragma once
#include "store/writer.h"
#include "store_priv.h"

/* The first error sticks: after it nothing is bound, stepped or read, and
 * lab_stmt_end() returns it. The reader of the rows may set `st` as
 * well, which ends the reading. */
struct lab_stmt {
    struct lab_database *db;
    sqlite3_stmt *sql; /* NULL after an error of preparing it */
    enum lab_status st;
    int next; /* the column that is read next */
};

struct lab_stmt lab_stmt_new(struct lab_database *db, const char *sql);
/* The first statement of *sql, which moves behind it. Its `sql` is NULL where
 * there was none left. */
struct lab_stmt lab_stmt_of(struct lab_database *db, const char **sql,
                            const char *doing);
/* Of a text that was put together, which it releases. */
struct lab_stmt lab_stmt_built(struct lab_database *db, struct lab_str *sql);
/* ?1 is the run. LAB_E_NOTFOUND where there is none such. */
struct lab_stmt lab_stmt_of_run(struct lab_database *db, const char *sql,
                                int64_t run);
/* Steps to the next row; false: there is none, or there was an error. */
bool lab_stmt_next(struct lab_stmt *s);
/* Steps through all rows and resets, so that it can be bound anew. `doing` is
 * for the error's text. */
enum lab_status lab_stmt_run(struct lab_stmt *s, const char *doing);
/* Finalizes; returns the first error. */
enum lab_status lab_stmt_end(struct lab_stmt *s);
/* Both. */
enum lab_status lab_stmt_once(struct lab_stmt *s, const char *doing);

int64_t lab_column_int(struct lab_stmt *s);      /* no number: LAB_UNKNOWN */
double lab_column_real(struct lab_stmt *s);      /* no number: NaN */
const char *lab_column_text(struct lab_stmt *s); /* NULL: NULL */
/* The text as one of trace/intern.h, for names that come again. LAB_E_NOMEM. */
enum lab_status lab_column_kept(struct lab_stmt *s, const char **out);

/* To add rows of a table of columns (store/row_fields.h), and of columns that
 * it has not, `more`: ", runId" or "". Binding returns the number of the first
 * parameter that is left. */
struct lab_fields;
struct lab_stmt lab_fields_insert(struct lab_database *db,
                                  const struct lab_fields *fields,
                                  const char *more);
int lab_fields_bind(struct lab_stmt *s, const struct lab_fields *fields,
                    const void *row);

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
