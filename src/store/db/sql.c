#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/record.h"
#include "store_priv.h"

/* What SQLite's error means for a person, and what can be done about it. */
static const char *remedy(int rc)
{
    switch (rc & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program holds it locked; wait for that program or end "
               "it, or name another file with --db FILE";
    case SQLITE_NOTADB:
        return "this is not a database of recorded runs; move it away, or "
               "name another file with --db FILE";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return "no right to write it; change that with `chmod u+w`, or name "
               "another file with --db FILE";
    case SQLITE_CANTOPEN:
        return "it or its directory cannot be opened; check the name and the "
               "rights, or name another file with --db FILE";
    case SQLITE_FULL:
        return "the disk is full; make room, or name a file on another disk "
               "with --db FILE";
    case SQLITE_IOERR:
        return "the disk refused; check it, or name a file on another disk "
               "with --db FILE";
    default:
        return "it cannot be used; name another file with --db FILE";
    }
}

enum lab_status lab_database_error(struct lab_database *db, const char *doing)
{
    int rc = db->sql ? sqlite3_extended_errcode(db->sql) : SQLITE_NOMEM;
    if ((rc & 0xFF) == SQLITE_NOMEM)
        return lab_fail(LAB_E_NOMEM, "%s: out of memory while %s", db->path,
                        doing);
    int sys = sqlite3_system_errno(db->sql);
    bool by_system =
        sys && ((rc & 0xFF) == SQLITE_CANTOPEN || (rc & 0xFF) == SQLITE_IOERR);
    struct lab_str instead;
    lab_str_init(&instead);
    if ((rc & 0xFF) == SQLITE_CORRUPT) {
        lab_str_add(&instead, "the file is damaged; ");
        lab_database_recover_hint(&instead, db->path);
    } else {
        lab_str_add(&instead, remedy(rc));
    }
    enum lab_status st =
        lab_fail(LAB_E_DB, "%s: %s while %s: %s", db->path,
                 by_system ? strerror(sys) : sqlite3_errmsg(db->sql), doing,
                 lab_str_text(&instead));
    lab_str_release(&instead);
    return st;
}

enum lab_status lab_database_exec(struct lab_database *db, const char *sql,
                                  const char *doing)
{
    if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) != SQLITE_OK)
        return lab_database_error(db, doing);
    return LAB_OK;
}

enum lab_status lab_database_prepare(struct lab_database *db, const char *sql,
                                     sqlite3_stmt **out)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) != SQLITE_OK)
        return lab_database_error(db, "preparing a query");
    *out = stmt;
    return LAB_OK;
}

enum lab_status lab_database_int(struct lab_database *db, const char *sql,
                                 int64_t fallback, int64_t *out)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(db, sql, &stmt);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *out = sqlite3_column_type(stmt, 0) == SQLITE_NULL
                   ? fallback
                   : sqlite3_column_int64(stmt, 0);
    else if (rc == SQLITE_DONE)
        *out = fallback;
    else
        st = lab_database_error(db, "reading it");
    sqlite3_finalize(stmt);
    return st;
}

enum lab_status lab_database_begin(struct lab_database *db, const char *doing)
{
    return lab_database_exec(db, "BEGIN IMMEDIATE", doing);
}

void lab_database_rollback(struct lab_database *db)
{
    if (!sqlite3_get_autocommit(db->sql))
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
}

int64_t lab_process_start(int64_t pid)
{
    char path[64];
    char line[1024];
    long long start = -1;
    if (pid <= 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
    FILE *f = fopen(path, "r");
    if (!f) /* without /proc all that is known is whether it lives */
        return kill((pid_t)pid, 0) == 0 || errno == EPERM ? 0 : -1;
    size_t n = fread(line, 1, sizeof(line) - 1, f);
    fclose(f);
    line[n] = '\0';
    char *p = strrchr(line, ')'); /* the name may hold spaces */
    if (p && p[1] && p[2] == 'Z')
        return -1; /* dead, and nobody has asked how it ended */
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (!p || sscanf(p, "%lld", &start) != 1)
        return 0;
    return start;
}

void lab_host_name(char *out, size_t bytes)
{
    if (gethostname(out, bytes))
        out[0] = '\0';
    out[bytes - 1] = '\0';
}

void lab_utc_text(int64_t wall_ns, char out[32])
{
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm t;
    char day[24];
    gmtime_r(&seconds, &t);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(out, 32, "%s.%03dZ", day, (int)(wall_ns / 1000000 % 1000));
}

void lab_bind_int(sqlite3_stmt *stmt, int i, int64_t v)
{
    if (v == LAB_UNKNOWN)
        sqlite3_bind_null(stmt, i);
    else
        sqlite3_bind_int64(stmt, i, v);
}

void lab_bind_int32(sqlite3_stmt *stmt, int i, int32_t v)
{
    if (v == INT32_MIN)
        sqlite3_bind_null(stmt, i);
    else
        sqlite3_bind_int64(stmt, i, v);
}

void lab_bind_real(sqlite3_stmt *stmt, int i, double v)
{
    sqlite3_bind_double(stmt, i, v); /* SQLite makes NULL of NaN */
}

void lab_bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
    sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
}
