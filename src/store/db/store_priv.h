/* store_priv.h -- what the files of this module share. */
#pragma once
#include <sqlite3.h>
#include "base/mem.h"
#include "store/database.h"
#include "store_sql.h"

struct lab_database {
    sqlite3 *sql;
    char *path;
    bool read_only;
    int behind;        /* versions that it is older than the program */
    const char *query; /* of the URI that it was opened with */
    int busy_timeout_ms;
    bool traced_first;
};

/* The order of runs: by when they were begun, for one that was imported has a
 * later number than those here. What another tool recorded may not know when;
 * then it is as old as its import. */
#define LAB_SQL_NEWEST                                                         \
    " ifnull(started_ns, strftime('%s', imported) * 1000000000) DESC, id DESC"

/* "LLAB": marks our files. */
#define LAB_APPLICATION_ID 0x4C4C4142

/* Runs the steps that the database has not seen, in one transaction: it has
 * the last version afterwards, or is as it was. */
enum lab_status lab_database_migrate(struct lab_database *db,
                                     const struct lab_migration *steps,
                                     int count);

/* Turns the connection's last error into lab_fail() with path and remedy. */
enum lab_status lab_database_error(struct lab_database *db, const char *doing);
enum lab_status lab_database_exec(struct lab_database *db, const char *sql,
                                  const char *doing);
enum lab_status lab_database_exec_of(struct lab_database *db, const char *sql,
                                     int64_t of, const char *doing);
/* The first column of the first row of `sql`; `fallback` where there is none. Of
 * `..._of` and `..._exec_of` ?1 is `of`. */
enum lab_status lab_database_int(struct lab_database *db, const char *sql,
                                 int64_t fallback, int64_t *out);
enum lab_status lab_database_int_of(struct lab_database *db, const char *sql,
                                    int64_t of, int64_t fallback, int64_t *out);
/* Attaches a file as `src`, opened with the query of a URI: "?mode=ro". */
enum lab_status lab_database_attach(struct lab_database *db, const char *path,
                                    const char *query);
/* Whether the last error is that no file can be made beside the database, which
 * reading needs and a read-only place and a full disk refuse, and no write-ahead log
 * with something in it is there: it is complete and can be opened as one that does
 * not change. */
bool lab_database_cannot_change(sqlite3 *sql, const char *path);
/* Whether the file begins like a database and is as long as its header states.
 * `other` is what can be done else; NULL: what can be done about a --db. */
enum lab_status lab_database_check_length(const char *path, const char *other);
/* What `pragma`, an integrity check, finds first, as an error that names
 * `path`; `other` as above. */
enum lab_status lab_database_integrity(struct lab_database *db,
                                       const char *pragma, const char *path,
                                       const char *other);
/* Begins a transaction that writes, whatever it reads first: SQLite waits for a
 * lock only here, and refuses at once where a reader becomes a writer. */
enum lab_status lab_database_begin(struct lab_database *db, const char *doing);
/* Undoes an open transaction; keeps this thread's error text. */
void lab_database_rollback(struct lab_database *db);

/* When process `pid` started, in the kernel's ticks; -1: it is not there. */
int64_t lab_process_start(int64_t pid);
/* This machine's name; "" when it has none. */
void lab_host_name(char *out, size_t bytes);
/* 2026-01-31T09:30:00.123Z */
void lab_utc_text(int64_t wall_ns, char out[32]);

/* NULL for what is unknown. */
void lab_bind_int(sqlite3_stmt *stmt, int i, int64_t v);
void lab_bind_real(sqlite3_stmt *stmt, int i, double v);
void lab_bind_text(sqlite3_stmt *stmt, int i, const char *text);
