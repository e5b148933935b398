#include "store/import.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "import_priv.h"
#include "store/time_sum.h"

/* ---- errors ---- */

/* Whether the error's text begins with the file's name. */
static bool names_file(const struct lab_import *in)
{
    size_t n = strlen(in->path);
    return strncmp(lab_error(), in->path, n) == 0 && lab_error()[n] == ':';
}

/* What SQLite's error means where the file is read that is imported: here no
 * other database helps, another file does. */
static const char *remedy(int rc)
{
    switch (rc) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "another program holds it locked; wait for that program or end "
               "it";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return "it or its directory cannot be opened; check the rights";
    case SQLITE_IOERR:
        return "the disk refused; check it";
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return "its rows are not what a recording writes: refused";
    default:
        return "the file is damaged; take another copy of it";
    }
}

/* The connection's last error, as one of the file: lab_database_error() speaks
 * of the database that is written. */
static enum lab_status blame_file(const struct lab_import *in,
                                  enum lab_status st)
{
    if (st != LAB_E_DB || names_file(in))
        return st;
    sqlite3 *sql = in->db->sql;
    int rc = sqlite3_extended_errcode(sql) & 0xFF;
    int sys = sqlite3_system_errno(sql);
    bool by_system = sys && (rc == SQLITE_CANTOPEN || rc == SQLITE_IOERR);
    return lab_fail(st, "%s: %.300s: %s", in->path,
                    by_system ? strerror(sys) : sqlite3_errmsg(sql),
                    remedy(rc));
}

/* While rows are written only their own faults are the file's. */
static enum lab_status blame_rows(const struct lab_import *in,
                                  enum lab_status st)
{
    int rc = sqlite3_extended_errcode(in->db->sql) & 0xFF;
    bool rows =
        rc == SQLITE_CONSTRAINT || rc == SQLITE_MISMATCH || rc == SQLITE_TOOBIG;
    return rows ? blame_file(in, st) : st;
}

/* ---- the file ---- */

static enum lab_status attach_as(struct lab_import *in, const char *query,
                                 bool *again)
{
    struct lab_str uri;
    sqlite3_stmt *stmt;
    int64_t ignored;
    lab_str_init(&uri);
    lab_database_uri(&uri, in->path, query);
    enum lab_status st = LAB_OK;
    *again = false;
    if (uri.failed)
        st = lab_no_memory("a path");
    if (st == LAB_OK)
        st = lab_database_prepare(in->db, "ATTACH ?1 AS src", &stmt);
    if (st == LAB_OK) {
        lab_bind_text(stmt, 1, lab_str_text(&uri));
        st = lab_query_end(in->db, stmt, sqlite3_step(stmt));
    }
    lab_str_release(&uri);
    if (st == LAB_OK)
        st = lab_database_int(in->db, "SELECT count(*) FROM src.sqlite_master",
                              0, &ignored);
    if (st == LAB_OK)
        return st;
    *again = lab_database_no_files_beside(in->db->sql);
    st = blame_file(in, st); /* before anything else runs */
    sqlite3_exec(in->db->sql, "DETACH src", NULL, NULL, NULL);
    return st;
}

/* A database in WAL mode in a place that is only for reading: see
 * connect_for_reading(). */
static enum lab_status attach(struct lab_import *in)
{
    bool again;
    enum lab_status st = attach_as(in, "?mode=ro", &again);
    if (st && again && !lab_database_has_log(in->path))
        st = attach_as(in, "?mode=ro&immutable=1", &again);
    return st;
}

static const char take_another[] = "take another copy of it";

static enum lab_status check_file(const struct lab_import *in)
{
    struct stat info;
    if (stat(in->path, &info))
        return lab_fail(errno == ENOENT ? LAB_E_NOTFOUND : LAB_E_DB, "%s: %s",
                        in->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return lab_fail(LAB_E_DB, "%s: not a file", in->path);
    if (info.st_size == 0)
        return lab_fail(LAB_E_DB, "%s: the file is empty", in->path);
    return lab_database_check_length(in->path, take_another);
}

static enum lab_status check_structure(struct lab_import *in)
{
    return lab_database_integrity(in->db, "PRAGMA src.integrity_check(1)",
                                  in->path, take_another);
}

/* Ours, or an export of nsys; else the file is refused. */
static enum lab_status find_kind(struct lab_import *in)
{
    static const char *const nsys[] = {"StringIds", "META_DATA_EXPORT",
                                       "CUPTI_ACTIVITY_KIND_KERNEL",
                                       "CUPTI_ACTIVITY_KIND_RUNTIME"};
    int64_t id;
    int64_t version;
    bool there = false;
    enum lab_status st =
        lab_database_int(in->db, "PRAGMA src.application_id", 0, &id);
    if (st == LAB_OK)
        st = lab_database_int(in->db, "PRAGMA src.user_version", 0, &version);
    if (st)
        return st;
    if (id == LAB_APPLICATION_ID) {
        if (version < 1 || version > lab_database_schema_version())
            return lab_fail(LAB_E_DB,
                            "%s: written by a newer program (schema %lld, this "
                            "one knows up to %d); update lapenna-lab",
                            in->path, (long long)version,
                            lab_database_schema_version());
        in->schema = version;
        return LAB_OK;
    }
    in->nsys = true;
    /* An export in which nothing was measured has none of CUPTI's tables. */
    int64_t found;
    st = lab_database_int(
        in->db,
        "SELECT count(*) > 0 FROM src.sqlite_master WHERE type = 'table' AND "
        "(name GLOB 'ENUM_*' OR name GLOB 'TARGET_INFO_*')",
        0, &found);
    for (size_t i = 0; i < 4 && st == LAB_OK; i++) {
        st = lab_import_has_table(in, nsys[i], &there);
        found += there;
    }
    if (st == LAB_OK && (found < 2 || id != 0))
        st = lab_fail(LAB_E_DB,
                      "%s: neither a database of lapenna-lab nor an SQLite "
                      "export of Nsight Systems (nsys export --type sqlite)",
                      in->path);
    return st;
}

/* ---- afterwards ---- */

static enum lab_status each_new_run(struct lab_import *in,
                                    enum lab_status (*does)(struct lab_import *,
                                                            int64_t run))
{
    enum lab_status st = LAB_OK;
    int64_t run = 0;
    while (st == LAB_OK && run != LAB_UNKNOWN) {
        char sql[96];
        sqlite3_snprintf(sizeof(sql), sql,
                         "SELECT min(new) FROM temp.run_map WHERE new > %lld",
                         run);
        st = lab_database_int(in->db, sql, LAB_UNKNOWN, &run);
        if (st == LAB_OK && run != LAB_UNKNOWN)
            st = does(in, run);
    }
    return st;
}

/* Adding up reads the rows between a run's first and last kernel. A file whose
 * many runs are mixed row by row would have all of them read for each run: such
 * runs are added up when they are looked at. */
static enum lab_status sum_up(struct lab_import *in, int64_t run)
{
    char sql[400];
    int64_t near = 0;
    sqlite3_snprintf(
        sizeof(sql), sql,
        "SELECT kernelRowLast - kernelRowFirst < 4096 + 8 * (SELECT n FROM "
        "temp.kernel_range WHERE run = %lld) OR kernelRowLast < kernelRowFirst "
        "FROM main.run WHERE id = %lld",
        run, run);
    enum lab_status st = lab_database_int(in->db, sql, 0, &near);
    return st || !near ? st : lab_time_sums_keep(in->db, run);
}

static enum lab_status find_steps(struct lab_import *in, int64_t run)
{
    return lab_import_range_steps(in, run);
}

/* Between which rows a run's kernels lie; none: between 1 and 0. */
static enum lab_status find_ranges(struct lab_import *in)
{
    char sql[700];
    sqlite3_snprintf(
        sizeof(sql), sql,
        "CREATE TEMP TABLE kernel_range (run INTEGER PRIMARY KEY, low, high, "
        "n);"
        "INSERT INTO temp.kernel_range SELECT runId, min(kernelRow), "
        "max(kernelRow), count(*) FROM main.op_kernel WHERE kernelRow > %lld "
        "GROUP BY runId;"
        "UPDATE main.run SET kernelRowFirst = ifnull((SELECT low FROM "
        "temp.kernel_range WHERE run = id), 1), kernelRowLast = ifnull((SELECT "
        "high FROM temp.kernel_range WHERE run = id), 0) WHERE id IN (SELECT "
        "new FROM temp.run_map)",
        in->rows_before[0]);
    return lab_import_exec(in, sql);
}

/* A file of an older version does not say which of its runs are labs. */
static enum lab_status find_labs(struct lab_import *in)
{
    return lab_import_exec(
        in, "UPDATE main.run SET kind = 'lab' WHERE kind = 'lesson' AND id IN "
            "(SELECT new FROM temp.run_map) AND id IN (SELECT runId FROM "
            "main.lab_row)");
}

static enum lab_status copy_rows(struct lab_import *in)
{
    static const char *const last[3] = {
        "SELECT max(kernelRow) FROM main.CUPTI_ACTIVITY_KIND_KERNEL",
        "SELECT max(memcpyRow) FROM main.CUPTI_ACTIVITY_KIND_MEMCPY",
        "SELECT max(memsetRow) FROM main.CUPTI_ACTIVITY_KIND_MEMSET"};
    enum lab_status st = LAB_OK;
    char sql[200];
    for (int i = 0; i < 3 && st == LAB_OK; i++)
        st = lab_database_int(in->db, last[i], 0, &in->rows_before[i]);
    if (st == LAB_OK)
        st = lab_import_copy_tables(in);
    if (st == LAB_OK)
        st = lab_import_copy_devices(in);
    sqlite3_snprintf(sizeof(sql), sql,
                     "INSERT INTO main.op_kernel (kernelRow, runId) SELECT "
                     "kernelRow, runId FROM main.CUPTI_ACTIVITY_KIND_KERNEL "
                     "WHERE kernelRow > %lld",
                     in->rows_before[0]);
    if (st == LAB_OK && in->nsys)
        st = lab_import_exec(in, sql);
    if (st == LAB_OK)
        st = find_ranges(in);
    if (st == LAB_OK && in->nsys && in->host)
        st = each_new_run(in, find_steps);
    if (st == LAB_OK && !in->nsys && !in->kinds)
        st = find_labs(in);
    return st ? st : each_new_run(in, sum_up);
}

/* All but the end of the transaction. */
static enum lab_status import_all(struct lab_import *in,
                                  struct lab_import_report *report)
{
    enum lab_status st = check_structure(in);
    /* Not before: it would end at a long text, and not say where that is. */
    sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, LAB_IMPORT_MOST_BYTES);
    if (st == LAB_OK)
        st = find_kind(in);
    if (st == LAB_OK)
        st = lab_import_check_tables(in);
    if (st == LAB_OK)
        st = lab_import_check_devices(in);
    if (st)
        return blame_file(in, st); /* until here it is only read */
    /* Checking may take long and needs only the file. What is read here from
     * now on must not change before the rows are written: this writes nothing,
     * and waits for the lock. */
    st = lab_import_exec(in, "DELETE FROM main.run WHERE 0");
    if (st)
        return st;
    st = lab_import_exec(
        in, "CREATE TEMP TABLE run_map (old INTEGER PRIMARY KEY, new INTEGER "
            "NOT NULL UNIQUE);"
            "CREATE TEMP TABLE string_map (id INTEGER PRIMARY KEY, new "
            "INTEGER);"
            "CREATE TEMP TABLE row_map_0 (old INTEGER PRIMARY KEY, new INTEGER "
            "NOT NULL);"
            "CREATE TEMP TABLE row_map_1 (old INTEGER PRIMARY KEY, new INTEGER "
            "NOT NULL);"
            "CREATE TEMP TABLE row_map_2 (old INTEGER PRIMARY KEY, new INTEGER "
            "NOT NULL)");
    if (st == LAB_OK)
        st = in->nsys ? lab_import_nsys_run(in) : lab_import_own_runs(in);
    if (st == LAB_OK)
        st = copy_rows(in);
    if (st)
        return blame_rows(in, st);
    return lab_import_report_load(report, in);
}

/* The error's text names the database that is written; the file comes first. */
static enum lab_status name_file(const struct lab_import *in,
                                 enum lab_status st)
{
    if (names_file(in))
        return st;
    return lab_fail_context(st, "%s", in->path);
}

enum lab_status lab_import_file(struct lab_database *db, const char *path,
                                const struct lab_import_options *options,
                                lab_imported_fn *each, void *user)
{
    struct lab_import in = {.db = db, .path = path, .options = options};
    struct lab_import_report report = {0};
    enum lab_status st = check_file(&in);
    if (st == LAB_OK)
        st = attach(&in);
    if (st)
        return name_file(&in, st);
    int length = sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, -1);
    st = lab_import_exec(&in, "BEGIN");
    if (st == LAB_OK)
        st = import_all(&in, &report);
    bool keep = st == LAB_OK && !options->dry_run;
    if (keep)
        st = lab_import_exec(&in, "COMMIT");
    if (st)
        st = name_file(&in, st); /* the text, before anything else runs */
    lab_database_rollback(db);
    sqlite3_exec(db->sql,
                 "DROP TABLE IF EXISTS temp.known; DROP TABLE IF EXISTS "
                 "temp.run_map; DROP TABLE IF EXISTS "
                 "temp.string_map; DROP TABLE IF EXISTS temp.candidate; DROP "
                 "TABLE IF EXISTS temp.kernel_range; DROP TABLE IF EXISTS "
                 "temp.row_map_0; DROP TABLE IF EXISTS temp.row_map_1; DROP "
                 "TABLE IF EXISTS temp.row_map_2; DETACH src",
                 NULL, NULL, NULL);
    sqlite3_limit(db->sql, SQLITE_LIMIT_LENGTH, length);
    for (size_t i = 0; i < report.count && st == LAB_OK; i++)
        each(user, &report.runs[i]);
    lab_import_report_release(&report);
    return st;
}
