/* row.c -- statements with a sticky error, and the columns of their rows: a
 * value that is no number, or has no room in 64 bits, is unknown. */
#include "row.h"

#include <math.h>

#include "trace/intern.h"
#include "trace/record.h"

struct lab_stmt lab_stmt_of(struct lab_database *db, const char **sql,
                            const char *doing)
{
    struct lab_stmt s = {.db = db};
    if (sqlite3_prepare_v2(db->sql, *sql, -1, &s.sql, sql) != SQLITE_OK)
        s.st = lab_database_error(db, doing);
    return s;
}

struct lab_stmt lab_stmt_new(struct lab_database *db, const char *sql)
{
    return lab_stmt_of(db, &sql, "preparing a query");
}

struct lab_stmt lab_stmt_built(struct lab_database *db, struct lab_str *sql)
{
    struct lab_stmt s = {.db = db};
    s.st = lab_str_check(sql, "a query");
    if (!s.st)
        s = lab_stmt_new(db, lab_str_text(sql));
    lab_str_release(sql);
    return s;
}

struct lab_stmt lab_stmt_of_run(struct lab_database *db, const char *sql,
                                int64_t run)
{
    struct lab_stmt s = {.db = db, .st = lab_query_require_run(db, run)};
    if (!s.st)
        s = lab_stmt_new(db, sql);
    sqlite3_bind_int64(s.sql, 1, run);
    return s;
}

static bool step(struct lab_stmt *s, const char *doing)
{
    int rc = s->st ? SQLITE_DONE : sqlite3_step(s->sql);
    s->next = 0;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        s->st = lab_database_error(s->db, doing);
    return rc == SQLITE_ROW;
}

bool lab_stmt_next(struct lab_stmt *s)
{
    return step(s, "reading it");
}

enum lab_status lab_stmt_run(struct lab_stmt *s, const char *doing)
{
    while (step(s, doing))
        ;
    sqlite3_reset(s->sql);
    return s->st;
}

enum lab_status lab_stmt_end(struct lab_stmt *s)
{
    sqlite3_finalize(s->sql);
    s->sql = NULL;
    return s->st;
}

enum lab_status lab_stmt_once(struct lab_stmt *s, const char *doing)
{
    lab_stmt_run(s, doing);
    return lab_stmt_end(s);
}

/* A text in a column of numbers is no number: SQLite would make it 0. */
static bool is_number(const struct lab_stmt *s, int i)
{
    int type = sqlite3_column_type(s->sql, i);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

int64_t lab_column_int(struct lab_stmt *s)
{
    int i = s->next++;
    return is_number(s, i) ? sqlite3_column_int64(s->sql, i) : LAB_UNKNOWN;
}

double lab_column_real(struct lab_stmt *s)
{
    int i = s->next++;
    return is_number(s, i) ? sqlite3_column_double(s->sql, i) : (double)NAN;
}

const char *lab_column_text(struct lab_stmt *s)
{
    return (const char *)sqlite3_column_text(s->sql, s->next++);
}

enum lab_status lab_column_kept(struct lab_stmt *s, const char **out)
{
    const char *text = lab_column_text(s);
    uint32_t id = lab_intern(text);
    *out = text ? lab_intern_text(id) : NULL;
    return text && *text && !id ? lab_no_memory("a name") : LAB_OK;
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

enum lab_status lab_stmt_first_run(struct lab_stmt *s, const char *what,
                                   int64_t *run)
{
    int64_t id = lab_stmt_next(s) ? lab_column_int(s) : LAB_UNKNOWN;
    enum lab_status st = lab_stmt_end(s);
    if (!st && id == LAB_UNKNOWN)
        st = lab_fail(LAB_E_NOTFOUND, "there is no run of %s", what);
    if (!st)
        *run = id;
    return st;
}

enum lab_status lab_query_require_run(struct lab_database *db, int64_t run)
{
    struct lab_stmt s = lab_stmt_new(db, "SELECT 1 FROM run WHERE id = ?1");
    sqlite3_bind_int64(s.sql, 1, run);
    bool found = lab_stmt_next(&s);
    enum lab_status st = lab_stmt_end(&s);
    if (!st && !found)
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
