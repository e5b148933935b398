/* database.c -- a connection: opening, the schema and its migrations,
 * statements, and the hint how a damaged file is recovered. */
#include "store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "row.h"
#include "trace/intern.h"
#include "base/shell.h"
#include "base/clock.h"
#include "base/datadir.h"
#include "base/command.h"

static void database_recover_hint(struct lab_str *out, const char *path);

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
        database_recover_hint(&instead, db->path);
    } else {
        lab_str_add(&instead, remedy(rc));
    }
    enum lab_status st =
        lab_fail(LAB_E_DB, "[db.sqlite] %s: %s while %s: %s", db->path,
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

enum lab_status lab_database_int_of(struct lab_database *db, const char *sql,
                                    int64_t of, int64_t fallback, int64_t *out)
{
    struct lab_stmt s = lab_stmt_new(db, sql);
    sqlite3_bind_int64(s.sql, 1, of);
    int64_t found = fallback;
    if (lab_stmt_next(&s) && sqlite3_column_type(s.sql, 0) != SQLITE_NULL)
        found = sqlite3_column_int64(s.sql, 0);
    if (!s.st)
        *out = found;
    return lab_stmt_end(&s);
}

enum lab_status lab_database_int(struct lab_database *db, const char *sql,
                                 int64_t fallback, int64_t *out)
{
    return lab_database_int_of(db, sql, 0, fallback, out);
}

enum lab_status lab_database_exec_of(struct lab_database *db, const char *sql,
                                     int64_t of, const char *doing)
{
    for (;;) {
        struct lab_stmt s = lab_stmt_of(db, &sql, doing);
        if (!s.sql)
            return s.st;
        sqlite3_bind_int64(s.sql, 1, of);
        if (lab_stmt_once(&s, doing))
            return s.st;
    }
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
        return -1; /* dead, and its end was not collected */
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

void lab_bind_real(sqlite3_stmt *stmt, int i, double v)
{
    sqlite3_bind_double(stmt, i, v); /* SQLite makes NULL of NaN */
}

void lab_bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
    sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT);
}

/* To look at a file's bytes. The process may have it open as a database, and a
 * close() outside SQLite would drop the locks of all connections to it: another
 * process would then remove the write-ahead log that this one still writes.
 * SQLite's own file keeps its descriptor while there are locks. */
struct raw_file {
    const char *name; /* the file refers to it */
    sqlite3_file file;
};

static void raw_close(sqlite3_file *f)
{
    if (!f)
        return;
    struct raw_file *raw =
        (void *)((char *)f - offsetof(struct raw_file, file));
    if (f->pMethods)
        f->pMethods->xClose(f);
    sqlite3_free_filename(raw->name);
    lab_free(raw);
}

/* NULL: it cannot be read. */
static sqlite3_file *raw_open(const char *path)
{
    const int flags = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY;
    const int primary = 0xFF; /* of a result: a link that was followed is OK */
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (!vfs)
        return NULL;
    char *whole = lab_alloc((size_t)vfs->mxPathname + 1);
    struct raw_file *raw =
        lab_alloc(offsetof(struct raw_file, file) + (size_t)vfs->szOsFile);
    int rc = !whole || !raw
                 ? SQLITE_NOMEM
                 : vfs->xFullPathname(vfs, path, vfs->mxPathname + 1, whole) &
                       primary;
    if (!rc) {
        raw->name = sqlite3_create_filename(whole, "", "", 0, NULL);
        rc = raw->name ? vfs->xOpen(vfs, raw->name, &raw->file, flags, NULL)
                       : SQLITE_NOMEM;
    }
    lab_free(whole);
    if (!rc)
        return &raw->file;
    if (raw)
        raw_close(&raw->file);
    return NULL;
}

/* How many bytes there are; 0: unknown. */
static long long raw_bytes(sqlite3_file *f)
{
    sqlite3_int64 bytes;
    return f->pMethods->xFileSize(f, &bytes) ? 0 : bytes;
}

/* Returns how many of `n` bytes from `at` there are. */
static size_t raw_read(sqlite3_file *f, void *out, size_t n, long long at)
{
    long long left = raw_bytes(f) - at;
    size_t there = left < 0 ? 0 : (size_t)left < n ? (size_t)left : n;
    return there && !f->pMethods->xRead(f, out, (int)there, at) ? there : 0;
}

/* Databases that are damaged: whether one is, and what can be saved of it. */

static int database_schema_of(const char *path)
{
    enum { VERSION_AT = 60 };
    unsigned char v[4] = {0};
    int newest = lab_database_schema_version();
    sqlite3_file *f = raw_open(path);
    bool read = f && raw_read(f, v, sizeof(v), VERSION_AT) == sizeof(v);
    raw_close(f);
    bool likely = read && !v[0] && !v[1] && !v[2] && v[3] && v[3] <= newest;
    return likely ? v[3] : newest;
}

/* .recover would find more, but needs a shell that was built with it: Debian
 * 12's answers "SQL logic error" to every file. .dump gives up a table where it
 * is damaged, and ends with ROLLBACK then. */
static void database_recover_hint(struct lab_str *out, const char *path)
{
    struct lab_str saved;
    lab_str_init(&saved);
    lab_str_addf(&saved, "%s.saved", path);
    lab_str_add(out, "save what is left with `sqlite3 ");
    lab_shell_add_word(out, path, true);
    lab_str_addf(out,
                 " .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 -cmd 'PRAGMA "
                 "application_id=%d' -cmd 'PRAGMA user_version=%d' ",
                 LAB_APPLICATION_ID, database_schema_of(path));
    lab_shell_add_word(out, lab_str_text(&saved), true);
    lab_str_add(out, "`, or name another file with --db FILE");
    lab_str_release(&saved);
}

/* The first thing that SQLite complains of, without the line above it that
 * names the schema ("*** in database src ***"). */
static void first_complaint(const char *text, char *out, size_t size)
{
    while (strncmp(text, "***", 3) == 0 && strchr(text, '\n'))
        text = strchr(text, '\n') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

enum lab_status lab_database_integrity(struct lab_database *db,
                                       const char *pragma, const char *path,
                                       const char *other)
{
    char complaint[200] = "no memory for where it is";
    struct lab_str instead;
    struct lab_stmt s = lab_stmt_new(db, pragma);
    const char *text = lab_stmt_next(&s) ? lab_column_text(&s) : NULL;
    bool whole = text && strcmp(text, "ok") == 0;
    if (text)
        first_complaint(text, complaint, sizeof(complaint));
    enum lab_status st = lab_stmt_end(&s);
    if (st || whole)
        return st;
    lab_str_init(&instead);
    if (other)
        lab_str_add(&instead, other);
    else
        database_recover_hint(&instead, path);
    st = lab_fail(LAB_E_DB, "[db.damaged] %s: damaged (%s); %s", path,
                  complaint, lab_str_text(&instead));
    lab_str_release(&instead);
    return st;
}

enum lab_status lab_database_check(struct lab_database *db)
{
    return lab_database_integrity(db, "PRAGMA integrity_check(1)", db->path,
                                  NULL);
}

enum lab_status lab_database_check_most(struct lab_database *db,
                                        int64_t most_bytes, bool *checked)
{
    struct stat info;
    *checked = stat(db->path, &info) == 0 && info.st_size <= most_bytes;
    return *checked ? lab_database_integrity(db, "PRAGMA quick_check(1)",
                                             db->path, NULL)
                    : LAB_OK;
}

enum lab_status lab_database_migrate(struct lab_database *db,
                                     const struct lab_migration *steps,
                                     int count)
{
    int64_t version;
    char sql[128];
    enum lab_status st =
        lab_database_int(db, "PRAGMA user_version", 0, &version);
    if (st || version >= count)
        return st;
    st = lab_database_begin(db, "bringing it up to date");
    if (st)
        return st;
    /* Another process may have done it while we waited for the lock. */
    st = lab_database_int(db, "PRAGMA user_version", 0, &version);
    for (; st == LAB_OK && version < count; version++)
        st =
            lab_database_exec(db, steps[version].sql, "bringing it up to date");
    if (st == LAB_OK) {
        sqlite3_snprintf(sizeof(sql), sql,
                         "PRAGMA user_version = %d; PRAGMA application_id = %d",
                         count, LAB_APPLICATION_ID);
        st = lab_database_exec(db, sql, "bringing it up to date");
    }
    if (st == LAB_OK)
        st = lab_database_exec(db, "COMMIT", "bringing it up to date");
    if (st)
        lab_database_rollback(db);
    return st;
}

enum { BUSY_MS = 5000, HEADER_BYTES = 100 };

enum lab_status lab_database_default_path(struct lab_str *out)
{
    char path[PATH_MAX];
    int n = lab_user_path("XDG_STATE_HOME", ".local/state", "profiles.db", path,
                          sizeof(path));
    if (n < 0)
        return lab_fail(
            LAB_E_STATE,
            "[db.place] no place for recorded runs: neither XDG_STATE_HOME nor "
            "HOME is set; name a file with --db FILE");
    if ((size_t)n >= sizeof(path))
        return lab_fail(LAB_E_RANGE,
                        "[db.place] no place for recorded runs: XDG_STATE_HOME "
                        "or HOME is too long; name a file with --db FILE");
    lab_str_add(out, path);
    if (out->failed)
        return lab_no_memory("a path");
    return LAB_OK;
}

const char *lab_database_path(const struct lab_database *db)
{
    return db->path;
}

int lab_database_schema_version(void)
{
    return lab_sql_migration_count;
}

/* The usual place is the user's own: runs name machines and users. Others may
 * be meant to be shared. */
static bool is_usual_place(const char *path)
{
    struct lab_str usual;
    lab_str_init(&usual);
    bool same = lab_database_default_path(&usual) == LAB_OK &&
                strcmp(lab_str_text(&usual), path) == 0;
    lab_str_release(&usual);
    return same;
}

/* Makes the directories above `path`, as mkdir -p does. */
static enum lab_status make_parents(const char *path)
{
    enum lab_status st = LAB_OK;
    mode_t mode = is_usual_place(path) ? 0700 : 0777;
    char *copy = lab_strdup(path);
    if (!copy)
        return lab_no_memory("a path");
    for (char *p = copy + 1; *p && st == LAB_OK; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(copy, mode) && errno != EEXIST)
            st = lab_fail(LAB_E_DB,
                          "[db.directory] %s: cannot make the directory %s: "
                          "%s; name a file in another place with --db FILE",
                          path, copy, strerror(errno));
        *p = '/';
    }
    lab_free(copy);
    return st;
}

/* SQLite's own message is of its second try, to read a file that is
 * not there. */
static enum lab_status check_place(const char *path)
{
    char *copy;
    if (access(path, F_OK) == 0)
        return LAB_OK;
    copy = lab_strdup(path);
    if (!copy)
        return lab_no_memory("a path");
    char *slash = strrchr(copy, '/');
    if (slash)
        slash[slash == copy] = '\0';
    const char *dir = slash ? copy : ".";
    enum lab_status st = LAB_OK;
    if (access(dir, W_OK | X_OK))
        st = lab_fail(
            LAB_E_DB,
            "[db.create] %s: cannot make a file in %s: %s; change that with "
            "`chmod u+wx`, or name a file in another place with --db FILE",
            path, dir, strerror(errno));
    lab_free(copy);
    return st;
}

static unsigned long big_endian_4(const unsigned char *p)
{
    return (unsigned long)p[0] << 24 | (unsigned long)p[1] << 16 |
           (unsigned long)p[2] << 8 | p[3];
}

static bool has_log(const char *path)
{
    struct lab_str log;
    struct stat info;
    lab_str_init(&log);
    lab_str_addf(&log, "%s-wal", path);
    bool found = stat(lab_str_text(&log), &info) == 0 && info.st_size > 0;
    lab_str_release(&log);
    return found;
}

static enum lab_status refuse_short(const char *path, long long bytes,
                                    unsigned long long whole, const char *other)
{
    struct lab_str instead;
    lab_str_init(&instead);
    if (other) {
        lab_str_add(&instead, other);
    } else {
        lab_str_add(&instead, "take a copy from elsewhere, ");
        database_recover_hint(&instead, path);
    }
    enum lab_status st = lab_fail(
        LAB_E_DB, "[db.cut] %s: the file is cut short (%lld of %llu bytes); %s",
        path, bytes, whole, lab_str_text(&instead));
    lab_str_release(&instead);
    return st;
}

/* The length that the header of `f` states; 0: it states none that is true now.
 * `*n` is how much of a header there was. */
static unsigned long long
stated_length(sqlite3_file *f, unsigned char h[HEADER_BYTES], size_t *n)
{
    *n = raw_read(f, h, HEADER_BYTES, 0);
    if (*n < HEADER_BYTES || memcmp(h + 24, h + 92, 4) != 0)
        return 0;
    unsigned long page = (unsigned long)h[16] << 8 | h[17];
    return (unsigned long long)(page == 1 ? 65536 : page) *
           big_endian_4(h + 28);
}

/* The file's own header states how long the file must be. SQLite would find out
 * only when it needs a page that is not there, in the middle of a run. With a
 * write-ahead log beside it the newest pages may still be in the log; and while
 * another process makes the file, its header comes before its end. */
enum lab_status lab_database_check_length(const char *path, const char *other)
{
    enum { LOOKS = 5 };
    const struct timespec pause = {.tv_nsec = 10000000};
    unsigned char h[HEADER_BYTES];
    struct stat info;
    size_t n;
    if (stat(path, &info))
        return LAB_OK; /* opening it reports why */
    if (S_ISDIR(info.st_mode))
        return lab_fail(LAB_E_DB,
                        "[db.is-directory] %s: a directory; name a file in it "
                        "with --db FILE",
                        path);
    if (!S_ISREG(info.st_mode)) /* opening a pipe would wait for a writer */
        return lab_fail(LAB_E_DB, "[db.not-file] %s: not a file; name one",
                        path);
    sqlite3_file *f = raw_open(path);
    if (!f)
        return LAB_OK;
    enum lab_status st = LAB_OK;
    long long bytes = 0;
    unsigned long long whole = stated_length(f, h, &n);
    if (n > 0 && (n < sizeof(h) || memcmp(h, "SQLite format 3", 16) != 0)) {
        st = lab_fail(LAB_E_DB,
                      "[db.foreign-file] %s: this is not a database of "
                      "recorded runs (or its beginning is damaged); %s",
                      path,
                      other ? other
                            : "move it away, or name another file with --db "
                              "FILE");
        goto out;
    }
    for (int look = 0; look < LOOKS; look++) {
        bytes = raw_bytes(f);
        if (whole <= (unsigned long long)bytes || has_log(path))
            goto out;
        nanosleep(&pause, NULL);
    }
    st = refuse_short(path, bytes, whole, other);
out:
    raw_close(f);
    return st;
}

/* A path as an SQLite URI, so that no character of it means anything. */
static void add_uri(struct lab_str *uri, const char *path, const char *query)
{
    lab_str_add(uri, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p))
            lab_str_addf(uri, "%%%02X", (unsigned char)*p);
        else
            lab_str_add_char(uri, *p);
    }
    lab_str_add(uri, query);
}

enum lab_status lab_database_attach(struct lab_database *db, const char *path,
                                    const char *query)
{
    struct lab_str uri;
    lab_str_init(&uri);
    add_uri(&uri, path, query);
    enum lab_status st = lab_str_check(&uri, "a path");
    if (st == LAB_OK) {
        struct lab_stmt s = lab_stmt_new(db, "ATTACH ?1 AS src");
        lab_bind_text(s.sql, 1, lab_str_text(&uri));
        st = lab_stmt_once(&s, "reading it");
    }
    lab_str_release(&uri);
    return st;
}

static enum lab_status connect_to(struct lab_database *db, const char *query)
{
    struct lab_str uri;
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
    lab_str_init(&uri);
    add_uri(&uri, db->path, query);
    if (uri.failed) {
        lab_str_release(&uri);
        return lab_fail(LAB_E_NOMEM, "%s: no memory", db->path);
    }
    flags |= db->read_only ? SQLITE_OPEN_READONLY
                           : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3_close(db->sql);
    db->sql = NULL;
    int rc = sqlite3_open_v2(lab_str_text(&uri), &db->sql, flags, NULL);
    lab_str_release(&uri);
    if (rc)
        return lab_database_error(db, "opening it");
    db->query = query;
    /* What is in a file may have been put there: no function, trigger or view
     * of its schema runs here. */
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_extended_result_codes(db->sql, 1);
    /* a damaged page is found where it is read; no file is mapped, for one
     * that becomes shorter would end the program with SIGBUS */
    sqlite3_exec(db->sql, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0",
                 NULL, NULL, NULL);
    sqlite3_busy_timeout(db->sql, db->busy_timeout_ms);
    return LAB_OK;
}

static bool no_files_beside(sqlite3 *sql)
{
    int rc = sqlite3_extended_errcode(sql);
    switch (rc & 0xFF) {
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_FULL:
        return true;
    default:
        return rc == SQLITE_IOERR_SHMOPEN || rc == SQLITE_IOERR_SHMSIZE ||
               rc == SQLITE_IOERR_SHMMAP;
    }
}

bool lab_database_cannot_change(sqlite3 *sql, const char *path)
{
    return no_files_beside(sql) && !has_log(path);
}

static enum lab_status connect_for_reading(struct lab_database *db)
{
    int64_t ignored;
    enum lab_status st = connect_to(db, "?mode=ro");
    if (st == LAB_OK)
        st = lab_database_int(db, "PRAGMA schema_version", 0, &ignored);
    if (st && access(db->path, R_OK) == 0 &&
        lab_database_cannot_change(db->sql, db->path))
        st = connect_to(db, "?mode=ro&immutable=1");
    return st;
}

static enum lab_status check_owner(struct lab_database *db)
{
    int64_t id;
    int64_t tables;
    int64_t version;
    /* one look: another process may be making the file */
    enum lab_status st = lab_database_exec(db, "BEGIN", "reading it");
    if (st == LAB_OK)
        st = lab_database_int(db, "PRAGMA application_id", 0, &id);
    if (st == LAB_OK)
        st = lab_database_int(db, "SELECT count(*) FROM sqlite_master", 0,
                              &tables);
    if (st == LAB_OK)
        st = lab_database_int(db, "PRAGMA user_version", 0, &version);
    lab_database_rollback(db); /* nothing was written */
    if (st)
        return st;
    if (id != LAB_APPLICATION_ID && (id != 0 || tables > 0))
        return lab_fail(LAB_E_DB,
                        "[db.foreign] %s: a database of another program; name "
                        "another file with --db FILE",
                        db->path);
    if (version < 0 || (version == 0 && tables > 0))
        return lab_fail(LAB_E_DB,
                        "[db.schema] %s: damaged: its schema is %lld, where "
                        "the first is 1; name another file with --db FILE",
                        db->path, (long long)version);
    if (version > lab_database_schema_version())
        return lab_fail(LAB_E_DB,
                        "[db.newer] %s: written by a newer program (schema "
                        "%lld, this one knows up to %d); update lapenna-lab, "
                        "or name another file with --db FILE",
                        db->path, (long long)version,
                        lab_database_schema_version());
    if (db->read_only && version == 0 && tables == 0)
        return lab_fail(
            LAB_E_STATE,
            "[db.empty] %s: nothing is in it, as where the first writing was "
            "cut off; the next run or import into it makes it whole",
            db->path);
    db->behind = lab_database_schema_version() - (int)version;
    if (db->read_only && version < lab_sql_oldest_read)
        return lab_fail(LAB_E_STATE,
                        "[db.older] %s: of an older program (schema %lld, now "
                        "%d); record a run into it to bring it up to date",
                        db->path, (long long)version,
                        lab_database_schema_version());
    return LAB_OK;
}

/* Large pages suit long rows that are written once. The page size of an
 * existing file stays as it is. */
static const char for_writing[] = "PRAGMA page_size = 16384;"
                                  "PRAGMA journal_mode = WAL;"
                                  "PRAGMA synchronous = NORMAL;"
                                  "PRAGMA wal_autocheckpoint = 4000;"
                                  "PRAGMA journal_size_limit = 67108864;"
                                  "PRAGMA cache_size = -16384;";

/* The first run after `*run` that is marked as running and the process of which
 * is gone; LAB_UNKNOWN: none. */
static enum lab_status find_interrupted(struct lab_stmt *find, int64_t *run)
{
    int64_t found = LAB_UNKNOWN;
    sqlite3_bind_int64(find->sql, 2, *run);
    while (found == LAB_UNKNOWN && lab_stmt_next(find)) {
        int64_t start = lab_process_start(sqlite3_column_int64(find->sql, 1));
        if (start < 0 || start != sqlite3_column_int64(find->sql, 2))
            found = sqlite3_column_int64(find->sql, 0);
    }
    sqlite3_reset(find->sql); /* reading ends before anything is written */
    *run = found;
    return find->st;
}

/* Runs the process of which ended without recording an end. */
static enum lab_status mark_interrupted(struct lab_database *db)
{
    char host[256];
    int64_t run = INT64_MIN;
    lab_host_name(host, sizeof(host));
    struct lab_stmt find = lab_stmt_new(
        db, "SELECT id, pid, processStart FROM run WHERE status = 'running' "
            "AND hostname = ?1 AND id > ?2 ORDER BY id");
    lab_bind_text(find.sql, 1, host);
    enum lab_status st = find.st;
    while (st == LAB_OK) {
        st = find_interrupted(&find, &run);
        if (st || run == LAB_UNKNOWN)
            break;
        st = lab_database_exec_of(db,
                                  "UPDATE run SET status = 'interrupted' "
                                  "WHERE id = ?1 AND status = 'running'",
                                  run, "marking an interrupted run");
    }
    lab_stmt_end(&find);
    return st;
}

/* SQLite changes a new file to a write-ahead log by making a reader a writer,
 * and asks no busy handler then. */
static enum lab_status begin_log(struct lab_database *db)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    int64_t end =
        lab_clock_monotonic_ns() + db->busy_timeout_ms * INT64_C(1000000);
    int rc;
    while ((rc = sqlite3_exec(db->sql, for_writing, NULL, NULL, NULL)) &&
           (rc & 0xFF) == SQLITE_BUSY && lab_clock_monotonic_ns() < end)
        nanosleep(&pause, NULL);
    return rc ? lab_database_error(db, "preparing it") : LAB_OK;
}

/* Only a file of this schema is read as it is. One of an older schema that
 * cannot be brought up to date can be copied. */
static enum lab_status refuse_read_only(const struct lab_database *db)
{
    struct lab_str why;
    int schema = database_schema_of(db->path);
    lab_str_init(&why);
    lab_str_add(&why, "no right to write it; ");
    if (schema < lab_database_schema_version()) {
        lab_str_addf(&why, "it is of an older program (schema %d, now %d): `",
                     schema, lab_database_schema_version());
        lab_command_add(&why, true);
        lab_str_add(&why, " profile import ");
        lab_shell_add_word(&why, db->path, true);
        lab_str_add(&why, " --db FILE` copies its runs into another file, and "
                          "`chmod u+w` lets this one be brought up to date");
    } else {
        lab_str_add(&why, "change that with `chmod u+w`, or name another file "
                          "with --db FILE");
    }
    enum lab_status st =
        lab_fail(LAB_E_DB, "[db.open] %s: %s", db->path, lab_str_text(&why));
    lab_str_release(&why);
    return st;
}

static enum lab_status open_for_writing(struct lab_database *db)
{
    enum lab_status st = make_parents(db->path);
    if (st == LAB_OK)
        st = check_place(db->path);
    if (st)
        return st;
    if (is_usual_place(db->path)) { /* SQLite's log and index take its mode */
        int made =
            open(db->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (made >= 0)
            close(made);
    }
    st = connect_to(db, "");
    if (st)
        return st;
    if (sqlite3_db_readonly(db->sql, "main") == 1)
        return refuse_read_only(db);
    st = check_owner(db); /* before anything is changed */
    if (st)
        return st;
    st = begin_log(db);
    if (st)
        return st;
    st = lab_database_migrate(db, lab_sql_migrations, lab_sql_migration_count);
    if (st)
        return st;
    return mark_interrupted(db);
}

static enum lab_status open_for_reading(struct lab_database *db)
{
    if (access(db->path, F_OK))
        return lab_fail(LAB_E_NOTFOUND, "[db.missing] %s: %s", db->path,
                        strerror(errno));
    enum lab_status st = connect_for_reading(db);
    if (!st)
        st = check_owner(db);
    if (st || db->behind == 0)
        return st;
    int version = lab_sql_migration_count - db->behind;
    return lab_database_exec(
        db, lab_sql_readings[version - lab_sql_oldest_read], "reading it");
}

enum lab_status lab_database_open(struct lab_database **out, const char *path,
                                  const struct lab_database_options *options)
{
    enum lab_status st;
    if (!path || !*path)
        return lab_fail(LAB_E_ARG, "[db.no-name] no name for a database");
    struct lab_database *db = lab_alloc(sizeof(*db));
    if (db)
        db->path = lab_strdup(path);
    if (!db || !db->path) {
        lab_free(db);
        return lab_fail(LAB_E_NOMEM, "%s: no memory", path);
    }
    db->busy_timeout_ms = BUSY_MS;
    if (options && options->busy_timeout_ms > 0)
        db->busy_timeout_ms = options->busy_timeout_ms;
    db->read_only = options && options->read_only;
    db->traced_first = options && options->traced_first;
    st = lab_database_check_length(path, NULL);
    if (st == LAB_OK)
        st = db->read_only ? open_for_reading(db) : open_for_writing(db);
    if (st) {
        lab_database_close(db);
        return st;
    }
    *out = db;
    return LAB_OK;
}

void lab_database_close(struct lab_database *db)
{
    if (!db)
        return;
    sqlite3_close(db->sql);
    lab_free(db->path);
    lab_free(db);
}

/* ---- statements with a sticky error, and the columns of their rows: a value
 * that is no number, or has no room in 64 bits, is unknown ---- */

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

enum lab_status lab_query_require_run(struct lab_database *db, int64_t run)
{
    struct lab_stmt s = lab_stmt_new(db, "SELECT 1 FROM run WHERE id = ?1");
    sqlite3_bind_int64(s.sql, 1, run);
    bool found = lab_stmt_next(&s);
    enum lab_status st = lab_stmt_end(&s);
    if (!st && !found)
        st = lab_fail(LAB_E_NOTFOUND, "[run.missing] %s: there is no run %lld",
                      db->path, (long long)run);
    return st;
}

const char *lab_run_status_text(enum lab_run_status status)
{
    static const char *const text[LAB_RUN_STATUS_COUNT] = {
        "running", "done", "cancelled", "failed", "interrupted",
    };
    return (unsigned)status < LAB_RUN_STATUS_COUNT ? text[status] : "failed";
}
