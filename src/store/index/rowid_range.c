/* Rows of a run, and of a time, in tables that have no index but their rowid.
 *
 * Rows are only ever appended. So the rows of a run lie together, unless
 * another run was recorded at the same time; and within a run they lie in the
 * order in which things ended, but for what the ring and CUPTI's buffers turn
 * over. Bisection finds the position, a margin makes up for the disorder. */
#include <stdio.h>

#include "db/row.h"
#include "index.h"

enum { MARGIN = 40000 }; /* rows: more than the ring holds */

/* The first row of *range, a part of `table`, with `column` of at least
 * `value`; its end + 1 when there is none. */
static enum lab_status lower_bound(struct lab_database *db, const char *table,
                                   const char *column,
                                   const struct lab_rowid_range *range,
                                   int64_t value, int64_t *out)
{
    struct lab_str sql;
    int64_t lo = range->first;
    int64_t hi = range->last + 1;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "SELECT rowid, %s FROM %s WHERE rowid BETWEEN ?1 AND ?2 AND "
                 "%s IS NOT NULL ORDER BY rowid LIMIT 1",
                 column, table, column);
    struct lab_stmt s = lab_stmt_built(db, &sql);
    while (lo < hi && !s.st) {
        int64_t mid = lo + (hi - lo) / 2;
        sqlite3_bind_int64(s.sql, 1, mid); /* the first that has a value */
        sqlite3_bind_int64(s.sql, 2, hi - 1);
        if (!lab_stmt_next(&s) || sqlite3_column_int64(s.sql, 1) >= value)
            hi = mid;
        else
            lo = sqlite3_column_int64(s.sql, 0) + 1;
        sqlite3_reset(s.sql);
    }
    *out = lo;
    return lab_stmt_end(&s);
}

/* The runs that may have rows between those of `run`. */
static enum lab_status companions(struct lab_database *db, int64_t run,
                                  int64_t *first, int64_t *last)
{
    struct lab_stmt s = lab_stmt_new(
        db,
        "WITH spans AS (SELECT id, hostname, started_ns AS a, ifnull(ended_ns,"
        " ifnull((SELECT s.end_ns FROM step AS s WHERE s.runId = run.id"
        " ORDER BY s.exec DESC LIMIT 1), started_ns)) AS b FROM run) "
        "SELECT min(o.id), max(o.id) FROM spans AS me JOIN spans AS o "
        "ON o.id = me.id OR (o.hostname IS me.hostname AND o.a <= me.b "
        "AND o.b >= me.a) WHERE me.id = ?1");
    sqlite3_bind_int64(s.sql, 1, run);
    *first = *last = run;
    if (lab_stmt_next(&s) && sqlite3_column_type(s.sql, 0) != SQLITE_NULL) {
        *first = sqlite3_column_int64(s.sql, 0);
        *last = sqlite3_column_int64(s.sql, 1);
    }
    return lab_stmt_end(&s);
}

static enum lab_status whole_table(struct lab_database *db, const char *table,
                                   struct lab_rowid_range *out)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT min(rowid) FROM %s", table);
    enum lab_status st = lab_database_int(db, sql, 0, &out->first);
    snprintf(sql, sizeof(sql), "SELECT max(rowid) FROM %s", table);
    if (st == LAB_OK)
        st = lab_database_int(db, sql, -1, &out->last);
    /* A foreign file may hold any rowid: these cannot overflow below. */
    if (out->first < 0)
        out->first = 0;
    if (out->last > INT64_MAX / 2)
        out->last = INT64_MAX / 2;
    return st;
}

/* *range becomes that of the rows of runs `first` to `last`. */
static enum lab_status narrow_to_runs(struct lab_database *db,
                                      const char *table, int64_t first,
                                      int64_t last,
                                      struct lab_rowid_range *range)
{
    int64_t from;
    int64_t to;
    enum lab_status st = lower_bound(db, table, "runId", range, first, &from);
    if (st == LAB_OK)
        st = lower_bound(db, table, "runId", range,
                         last < INT64_MAX ? last + 1 : last, &to);
    if (st == LAB_OK)
        *range = (struct lab_rowid_range){from, to - 1};
    return st;
}

static enum lab_status narrow_to_values(struct lab_database *db,
                                        const char *table, const char *column,
                                        int64_t from, int64_t to,
                                        struct lab_rowid_range *range)
{
    int64_t a;
    int64_t b;
    enum lab_status st = lower_bound(db, table, column, range, from, &a);
    if (st == LAB_OK)
        st = lower_bound(db, table, column, range, to, &b);
    if (st)
        return st;
    if (a - MARGIN > range->first)
        range->first = a - MARGIN;
    if (b + MARGIN < range->last)
        range->last = b + MARGIN;
    return LAB_OK;
}

enum lab_status lab_rowid_range_find(struct lab_database *db, int64_t run,
                                     const char *table, const char *column,
                                     int64_t from, int64_t to,
                                     struct lab_rowid_range *out)
{
    int64_t first;
    int64_t last;
    struct lab_rowid_range range = {0, -1};
    enum lab_status st = companions(db, run, &first, &last);
    if (st == LAB_OK)
        st = whole_table(db, table, &range);
    if (st == LAB_OK)
        st = narrow_to_runs(db, table, first, last, &range);
    /* Two runs at once: their rows are mixed, and all are read. */
    if (st == LAB_OK && first == last)
        st = narrow_to_values(db, table, column, from, to, &range);
    if (st == LAB_OK)
        *out = range;
    return st;
}
