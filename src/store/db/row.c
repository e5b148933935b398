/* Reading the columns of a result: a value that is no number, or has no room in
 * 64 bits, is unknown. */
#include "row.h"

#include <math.h>

#include "trace/record.h"

/* A text in a column of numbers is no number: SQLite would make it 0. */
static bool is_number(const struct lab_columns *c, int i)
{
    int type = sqlite3_column_type(c->stmt, i);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

int64_t lab_column_int(struct lab_columns *c)
{
    int i = c->next++;
    return is_number(c, i) ? sqlite3_column_int64(c->stmt, i) : LAB_UNKNOWN;
}

double lab_column_real(struct lab_columns *c)
{
    int i = c->next++;
    return is_number(c, i) ? sqlite3_column_double(c->stmt, i) : (double)NAN;
}

const char *lab_column_text(struct lab_columns *c)
{
    return (const char *)sqlite3_column_text(c->stmt, c->next++);
}

int64_t lab_add_known(int64_t a, int64_t b)
{
    int64_t sum;
    if (a == LAB_UNKNOWN || b == LAB_UNKNOWN ||
        __builtin_add_overflow(a, b, &sum))
        return LAB_UNKNOWN;
    return sum;
}

int64_t lab_span_ns(int64_t start, int64_t end)
{
    int64_t span;
    if (start == LAB_UNKNOWN || end == LAB_UNKNOWN ||
        __builtin_sub_overflow(end, start, &span))
        return LAB_UNKNOWN;
    return span;
}

bool lab_moment_known(int64_t v)
{
    return v > 0 && v <= INT64_MAX / 2;
}

void lab_moments_widen(int64_t *from, int64_t *to, int64_t start, int64_t end)
{
    if (lab_moment_known(start) && (*from == LAB_UNKNOWN || start < *from))
        *from = start;
    if (lab_moment_known(end) && (*to == LAB_UNKNOWN || end > *to))
        *to = end;
}

enum lab_status lab_query_end(struct lab_database *db, sqlite3_stmt *stmt,
                              int rc)
{
    enum lab_status st = LAB_OK;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        st = lab_database_error(db, "reading it");
    sqlite3_finalize(stmt);
    return st;
}

enum lab_status lab_query_first_run(struct lab_database *db, sqlite3_stmt *stmt,
                                    const char *what, int64_t *run)
{
    int rc = sqlite3_step(stmt);
    bool found = rc == SQLITE_ROW;
    int64_t id = found ? sqlite3_column_int64(stmt, 0) : 0;
    enum lab_status st = lab_query_end(db, stmt, rc);
    if (!st && !found)
        st = lab_fail(LAB_E_NOTFOUND, "there is no run of %s", what);
    if (!st)
        *run = id;
    return st;
}

enum lab_status lab_query_require_run(struct lab_database *db, int64_t run)
{
    sqlite3_stmt *stmt;
    enum lab_status st =
        lab_database_prepare(db, "SELECT 1 FROM run WHERE id = ?1", &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    st = lab_query_end(db, stmt, rc);
    if (st == LAB_OK && rc == SQLITE_DONE)
        st = lab_fail(LAB_E_NOTFOUND, "%s: there is no run %lld", db->path,
                      (long long)run);
    return st;
}

const char *lab_run_status_text(enum lab_run_status status)
{
    static const char *const text[LAB_RUN_STATUS_COUNT] = {
        "running", "done", "cancelled", "failed", "interrupted",
    };
    return (unsigned)status < LAB_RUN_STATUS_COUNT ? text[status] : "failed";
}
