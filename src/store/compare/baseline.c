/* baseline.c -- names for runs that others are compared with. */
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
        return lab_fail(LAB_E_ARG,
                        "'%.80s' is no name for a baseline: 1 to %d letters, "
                        "digits, dots, dashes and underscores",
                        name, MOST_NAME);
    return LAB_OK;
}

enum lab_status lab_baseline_set(struct lab_database *db, const char *name,
                                 int64_t run)
{
    sqlite3_stmt *stmt;
    enum lab_status st = check_name(name);
    if (st == LAB_OK)
        st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(
            db, "INSERT OR REPLACE INTO baseline (name, runId) VALUES (?1, ?2)",
            &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, name);
    sqlite3_bind_int64(stmt, 2, run);
    return lab_query_end(db, stmt, sqlite3_step(stmt));
}

static enum lab_status not_found(const struct lab_database *db,
                                 const char *name)
{
    return lab_fail(LAB_E_NOTFOUND, "%s: there is no baseline '%s'", db->path,
                    name);
}

enum lab_status lab_baseline_find(struct lab_database *db, const char *name,
                                  int64_t *run)
{
    sqlite3_stmt *stmt;
    int64_t found = LAB_UNKNOWN;
    enum lab_status st = check_name(name);
    if (st == LAB_OK)
        st = lab_database_prepare(
            db, "SELECT runId FROM baseline WHERE name = ?1", &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, name);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        found = sqlite3_column_int64(stmt, 0);
    st = lab_query_end(db, stmt, rc);
    if (st)
        return st;
    if (found == LAB_UNKNOWN)
        return not_found(db, name);
    *run = found;
    return LAB_OK;
}

enum lab_status lab_baseline_remove(struct lab_database *db, const char *name)
{
    sqlite3_stmt *stmt;
    enum lab_status st = check_name(name);
    if (st == LAB_OK)
        st = lab_database_prepare(db, "DELETE FROM baseline WHERE name = ?1",
                                  &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, name);
    st = lab_query_end(db, stmt, sqlite3_step(stmt));
    if (st == LAB_OK && sqlite3_changes(db->sql) == 0)
        st = not_found(db, name);
    return st;
}

enum lab_status lab_baseline_list(struct lab_database *db,
                                  lab_baseline_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    int rc;
    enum lab_status st = lab_database_prepare(
        db, "SELECT name, runId FROM baseline ORDER BY name", &stmt);
    if (st)
        return st;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        if (!each(user, (const char *)sqlite3_column_text(stmt, 0),
                  sqlite3_column_int64(stmt, 1)))
            break;
    return lab_query_end(db, stmt, rc);
}
