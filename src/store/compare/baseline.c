/* baseline.c -- names for runs that others are compared with.
 *
 * `profile baseline NAME RUN` sets one; `profile` takes baseline:NAME where it
 * takes a run. */
#include <string.h>

#include "db/row.h"
#include "store/compare.h"

enum { MOST_NAME = 64 };

static enum lab_status check_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t n = strlen(name);
    if (n == 0 || n > MOST_NAME || strspn(name, letters) != n)
        return lab_fail(
            LAB_E_ARG,
            "[compare.baseline-name] '%.80s' is no name for a baseline: 1 "
            "to %d letters, digits, dots, dashes and underscores",
            name, MOST_NAME);
    return LAB_OK;
}

enum lab_status lab_baseline_set(struct lab_database *db, const char *name,
                                 int64_t run)
{
    enum lab_status st = check_name(name);
    if (st)
        return st;
    struct lab_stmt s = lab_stmt_of_run(
        db, "INSERT OR REPLACE INTO baseline (runId, name) VALUES (?1, ?2)",
        run);
    lab_bind_text(s.sql, 2, name);
    return lab_stmt_once(&s, "storing a baseline");
}

static enum lab_status not_found(const struct lab_database *db,
                                 const char *name)
{
    return lab_fail(LAB_E_NOTFOUND,
                    "[compare.baseline-missing] %s: there is no baseline '%s'",
                    db->path, name);
}

enum lab_status lab_baseline_find(struct lab_database *db, const char *name,
                                  int64_t *run)
{
    enum lab_status st = check_name(name);
    if (st)
        return st;
    struct lab_stmt s =
        lab_stmt_new(db, "SELECT runId FROM baseline WHERE name = ?1");
    lab_bind_text(s.sql, 1, name);
    bool found = lab_stmt_next(&s);
    if (found)
        *run = lab_column_int(&s);
    st = lab_stmt_end(&s);
    return st || found ? st : not_found(db, name);
}

enum lab_status lab_baseline_remove(struct lab_database *db, const char *name)
{
    enum lab_status st = check_name(name);
    if (st)
        return st;
    struct lab_stmt s =
        lab_stmt_new(db, "DELETE FROM baseline WHERE name = ?1");
    lab_bind_text(s.sql, 1, name);
    st = lab_stmt_once(&s, "removing a baseline");
    if (st == LAB_OK && sqlite3_changes(db->sql) == 0)
        st = not_found(db, name);
    return st;
}

enum lab_status lab_baseline_list(struct lab_database *db,
                                  lab_baseline_fn *each, void *user)
{
    struct lab_stmt s =
        lab_stmt_new(db, "SELECT name, runId FROM baseline ORDER BY name");
    while (lab_stmt_next(&s)) {
        const char *name = lab_column_text(&s);
        if (!each(user, name, lab_column_int(&s)))
            break;
    }
    return lab_stmt_end(&s);
}
