/* The times of variants by device, threads and precision: what a network that is
 * opened again need not measure. */
#include "store/variant_times.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/version.h"
#include "db/row.h"
#include "db/store_sql.h"

static const char doing[] = "keeping the times of variants";

/* ?1 to ?4 */
static struct lab_stmt prepare(struct lab_database *db, const char *sql,
                               const struct lab_variant_time_of *of)
{
    struct lab_stmt s = lab_stmt_new(db, sql);
    lab_bind_text(s.sql, 1, of->backend);
    lab_bind_text(s.sql, 2, of->device);
    sqlite3_bind_int64(s.sql, 3, of->threads);
    lab_bind_text(s.sql, 4, of->precision);
    return s;
}

/* What a row's version must be. The rule is a part of it: times that were measured by
 * another rule do not compare, and what that rule left out may have a time by this. */
static void bind_version(struct lab_stmt *s, int at)
{
    enum { MOST = 64 };
    char text[MOST];
    snprintf(text, sizeof(text), "%s rule " LAB_VARIANT_TIMES_RULE,
             lab_version());
    sqlite3_bind_text(s->sql, at, text, -1, SQLITE_TRANSIENT);
}

/* What is in a file may be anything: NULL alone is "left out"; nothing runs in no
 * time, and no step for a day. */
#define LONGEST_NS "8.64e13"
static bool is_whole(const struct lab_variant_time *t, bool left_out)
{
    return t->step && t->step[0] && t->variant && t->variant[0] &&
           (left_out || (t->ns > 0 && t->ns < strtod(LONGEST_NS, NULL)));
}

/* ?5: precisions that there are. 0 threads are a GPU's. */
#define UNKNOWN                                                                \
    " FROM variant_time WHERE backend = ?1 AND device = ?2 AND (typeof("       \
    "threads) <> 'integer' OR threads < 0 OR (threads = 0 AND ?3 > 0) OR "     \
    "instr(ifnull(',' || ?5 || ',', ',' || precision || ','), ',' || "         \
    "precision || ',') = 0)"

static enum lab_status count_unknown(struct lab_database *db,
                                     const struct lab_variant_time_of *of,
                                     int64_t *unknown)
{
    struct lab_stmt s = prepare(db, "SELECT count(*)" UNKNOWN, of);
    lab_bind_text(s.sql, 5, of->precisions);
    if (lab_stmt_next(&s))
        *unknown = lab_column_int(&s);
    return lab_stmt_end(&s);
}

static enum lab_status forget_unknown(struct lab_database *db,
                                      const struct lab_variant_time_of *of)
{
    struct lab_stmt s = prepare(db, "DELETE" UNKNOWN, of);
    lab_bind_text(s.sql, 5, of->precisions);
    return lab_stmt_once(&s, doing);
}

/* Did the last statement name a table or a column that is not there? */
static bool lacks_table(const struct lab_database *db, enum lab_status st)
{
    return st == LAB_E_DB && sqlite3_errcode(db->sql) == SQLITE_ERROR;
}

/* Of the same device and version: the machine, or --threads, had another number. */
static enum lab_status find_threads(struct lab_database *db,
                                    const struct lab_variant_time_of *of,
                                    int64_t *threads)
{
    struct lab_stmt s = prepare(
        db,
        "SELECT ifnull(max(threads), 0) FROM variant_time WHERE backend = ?1 "
        "AND device = ?2 AND threads <> ?3 AND precision = ?4 AND "
        "version = ?5 AND typeof(threads) = 'integer'",
        of);
    bind_version(&s, 5);
    if (lab_stmt_next(&s))
        *threads = lab_column_int(&s);
    return lab_stmt_end(&s);
}

enum lab_status lab_variant_times_read(struct lab_database *db,
                                       const struct lab_variant_time_of *of,
                                       lab_variant_time_fn *each, void *user,
                                       struct lab_variant_times_left *left)
{
    struct lab_stmt s = prepare(
        db,
        "SELECT step, variant, time_ns, time_ns IS NULL, ifnull(version, '') = "
        "?5 FROM variant_time WHERE backend = ?1 AND device = ?2 AND threads = "
        "?3 AND precision = ?4 ORDER BY step, variant",
        of);
    bind_version(&s, 5);
    *left = (struct lab_variant_times_left){0};
    bool any = false;
    while (lab_stmt_next(&s)) {
        any = true;
        struct lab_variant_time t;
        t.step = lab_column_text(&s);
        t.variant = lab_column_text(&s);
        t.ns = lab_column_real(&s);
        bool left_out = lab_column_int(&s) == 1;
        if (lab_column_int(&s) != 1)
            left->foreign++;
        else if (!is_whole(&t, left_out))
            left->damaged++;
        else if (!s.st)
            s.st = each(user, &t);
    }
    enum lab_status st = lab_stmt_end(&s);
    if (lacks_table(db, st))
        return lab_fail(st,
                        "[db.times] %s: its table variant_time is damaged "
                        "(%s); the times are measured again",
                        db->path, sqlite3_errmsg(db->sql));
    if (!st)
        st = count_unknown(db, of, &left->unknown);
    return st || any ? st : find_threads(db, of, &left->threads);
}

/* The times can be measured again: a table that is damaged is no reason to do so at every
 * start. The first statement of its version makes it. */
static enum lab_status make_whole(struct lab_database *db)
{
    enum { VERSION = 8 };
    const char *sql = lab_sql_migrations[VERSION - 1].sql;
    struct lab_stmt s = lab_stmt_new(
        db, "SELECT backend, device, threads, precision, step, variant, "
            "time_ns, measured, version FROM variant_time LIMIT 0");
    enum lab_status st = lab_stmt_end(&s);
    if (!lacks_table(db, st))
        return st;
    st = lab_database_exec(db, "DROP TABLE IF EXISTS variant_time", doing);
    if (st)
        return st;
    s = lab_stmt_of(db, &sql, doing);
    return lab_stmt_once(&s, doing);
}

/* The rows that are not handed out. */
static enum lab_status forget_unused(struct lab_database *db,
                                     const struct lab_variant_time_of *of)
{
    struct lab_stmt s = prepare(
        db,
        "DELETE FROM variant_time WHERE backend = ?1 AND device = ?2 AND "
        "threads = ?3 AND precision = ?4 AND (ifnull(version, '') <> ?5 OR "
        "step = '' OR variant = '' OR typeof(time_ns) NOT IN ('null', "
        "'integer', 'real') OR time_ns <= 0 OR time_ns >= " LONGEST_NS ")",
        of);
    bind_version(&s, 5);
    return lab_stmt_once(&s, doing);
}

/* The rows that are gone. */
static enum lab_status forget_gone(struct lab_database *db,
                                   const struct lab_variant_time_of *of,
                                   const struct lab_variant_time *times,
                                   size_t n)
{
    struct lab_stmt s = prepare(
        db,
        "DELETE FROM variant_time WHERE backend = ?1 AND device = ?2 AND "
        "threads = ?3 AND precision = ?4 AND step = ?5 AND variant = ?6",
        of);
    for (size_t i = 0; i < n && !s.st; i++) {
        if (!times[i].gone)
            continue;
        lab_bind_text(s.sql, 5, times[i].step);
        lab_bind_text(s.sql, 6, times[i].variant);
        lab_stmt_run(&s, doing);
    }
    return lab_stmt_end(&s);
}

static enum lab_status keep_all(struct lab_database *db,
                                const struct lab_variant_time_of *of,
                                const struct lab_variant_time *times, size_t n)
{
    char moment[32];
    struct lab_stmt s = prepare(
        db,
        "INSERT OR REPLACE INTO variant_time VALUES (?1, ?2, ?3, ?4, ?5, "
        "?6, ?7, ?8, ?9)",
        of);
    lab_utc_text(lab_clock_wall_ns(), moment);
    lab_bind_text(s.sql, 8, moment);
    bind_version(&s, 9);
    for (size_t i = 0; i < n && !s.st; i++) {
        if (times[i].gone)
            continue;
        lab_bind_text(s.sql, 5, times[i].step);
        lab_bind_text(s.sql, 6, times[i].variant);
        lab_bind_real(s.sql, 7, times[i].ns);
        lab_stmt_run(&s, doing);
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_variant_times_keep(struct lab_database *db,
                                       const struct lab_variant_time_of *of,
                                       const struct lab_variant_time *times,
                                       size_t n)
{
    enum lab_status st = lab_database_begin(db, doing);
    if (!st)
        st = make_whole(db);
    if (!st)
        st = forget_unused(db, of);
    if (!st)
        st = forget_unknown(db, of);
    if (!st)
        st = forget_gone(db, of, times, n);
    if (!st)
        st = keep_all(db, of, times, n);
    if (!st)
        st = lab_database_exec(db, "COMMIT", doing);
    if (st)
        lab_database_rollback(db);
    return st;
}

enum lab_status lab_variant_times_count(struct lab_database *db,
                                        const struct lab_variant_time_of *of,
                                        int64_t *count)
{
    struct lab_stmt s = prepare(
        db,
        "SELECT count(*) FROM variant_time WHERE backend = ?1 AND device = ?2 "
        "AND threads = ?3 AND ifnull(?4 = "
        "precision, 1)",
        of);
    int64_t n = lab_stmt_next(&s) ? lab_column_int(&s) : 0;
    if (!s.st)
        *count = n;
    return lab_stmt_end(&s);
}
