/* import.c -- the runs of another database, or of a report of nsys, into this one:
 * what the file is checked for, its tables, devices, names and ranges, and what is
 * reported of it. */
#include "store/import.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "db/row.h"
#include "base/clock.h"
#include "store/time_sum.h"
#include "store/row_fields.h"

/* No text or blob of a file may be longer. */
enum { LAB_IMPORT_MOST_BYTES = 16 << 20 };

/* The file is attached to the database's connection as `src`. */
struct lab_import {
    struct lab_database *db;
    const char *path;
    const struct lab_import_options *options;
    bool host;      /* of nsys: this program made it, of a run without a GPU */
    bool nsys;      /* else one of our own */
    bool kinds;     /* it says which of its runs are labs */
    int64_t schema; /* of ours: which version */
    int64_t rows_before[3]; /* kernel, memcpy, memset: theirs come after */
    int64_t epoch_ns;       /* nsys: added to its moments */
};

/* What is to be told once it is certain: the texts are its own. Begins as {0}.
 */
struct lab_import_report {
    struct lab_imported *runs;
    size_t count;
    size_t room;
};

/* The columns of a table, one after another: of a list, a letter for the kind
 * before each name (import_tables.c says which), or of fields, where there are.
 * Begins with one of the two; the rest is zero. */
struct lab_import_columns {
    const char *list;
    const struct lab_fields *fields;
    int next;
    char kind; /* of the column that was just found */
    char name[48];
};

/* What a file holds that is imported: its tables, their columns, and whether
 * the values are what they should be. */

/* ---- what is there ---- */

static enum lab_status import_has_table(struct lab_import *in, const char *name,
                                        bool *out)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        in->db,
        "SELECT type = 'table' AND rootpage > 0 FROM src.sqlite_master WHERE "
        "name = ?1 COLLATE NOCASE AND type IN ('table', 'view')",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, name);
    int rc = sqlite3_step(stmt);
    bool real = rc == SQLITE_ROW && sqlite3_column_int(stmt, 0);
    st = lab_query_end(in->db, stmt, rc);
    if (st == LAB_OK && rc == SQLITE_ROW && !real)
        st = lab_fail(LAB_E_DB, "%s: %s is a view, or virtual: refused",
                      in->path, name);
    *out = real;
    return st;
}

static enum lab_status import_column(struct lab_import *in, const char *table,
                                     const char *name, bool *out)
{
    char sql[128];
    sqlite3_stmt *stmt;
    int rc;
    bool hidden = false;
    sqlite3_snprintf(sizeof(sql), sql, "PRAGMA src.table_xinfo(%s)", table);
    enum lab_status st = lab_database_prepare(in->db, sql, &stmt);
    *out = false;
    if (st)
        return st;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *is = (const char *)sqlite3_column_text(stmt, 1);
        if (!is || sqlite3_stricmp(is, name) != 0)
            continue;
        *out = true;
        hidden = sqlite3_column_int(stmt, 6) != 0;
    }
    st = lab_query_end(in->db, stmt, rc);
    if (st == LAB_OK && hidden)
        st = lab_fail(LAB_E_DB, "%s: the column %s of %s is computed: refused",
                      in->path, name, table);
    return st;
}

static enum lab_status import_find_table(struct lab_import *in,
                                         const char *name, int since,
                                         bool *there)
{
    enum lab_status st = import_has_table(in, name, there);
    if (st == LAB_OK && !*there && !in->nsys && in->schema >= since)
        st = lab_fail(LAB_E_DB,
                      "%s: it has no table %s, which every database of schema "
                      "%d has: refused",
                      in->path, name, (int)in->schema);
    return st;
}

/* ---- columns and their values ---- */

static bool import_next_column(struct lab_import_columns *c)
{
    static const char kinds[] = {
        [LAB_FIELD_INT] = 'i', [LAB_FIELD_TEXT] = 't', [LAB_FIELD_REAL] = 'r'};
    if (c->fields) {
        if (c->next == c->fields->count)
            return false;
        const struct lab_field *f = &c->fields->list[c->next++];
        c->kind = kinds[f->kind];
        snprintf(c->name, sizeof(c->name), "%s", f->column);
        return true;
    }
    if (!*c->list)
        return false;
    c->kind = *c->list++;
    int n = (int)strcspn(c->list, " ");
    snprintf(c->name, sizeof(c->name), "%.*s", n, c->list);
    c->list += n + (c->list[n] == ' ');
    return true;
}

/* What is wrong with a value of a kind, as SQL; %1$s is the column. */
static void add_complaint(struct lab_str *sql, char kind, const char *column)
{
    switch (kind) {
    case 'r':
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('real','integer','null')",
                     column);
        break;
    case 't':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('text','null') OR "
                     "length(\"%s\") > %d",
                     column, column, LAB_IMPORT_MOST_BYTES);
        break;
    case 'm': /* so that sums and differences have room */
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('integer','null') OR \"%s\" NOT "
                     "BETWEEN -0x1FFFFFFFFFFFFFFF AND 0x1FFFFFFFFFFFFFFF",
                     column, column);
        break;
    case 'p':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('integer','null') OR \"%s\" NOT "
                     "BETWEEN 0 AND 3",
                     column, column);
        break;
    case 'K':
    case 'C':
    case 'S':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('integer','null') OR \"%s\" NOT "
                     "BETWEEN 1 AND 0x1FFFFFFFFFFFFF",
                     column, column);
        break;
    case 'a':
        lab_str_add(sql, "0");
        break;
    default:
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('integer','null')", column);
    }
}

/* The first text that is too long: SQLite does not say where it found it. It is
 * measured, and for that read, without the limit. */
static enum lab_status blame_long_text(struct lab_import *in, const char *table,
                                       struct lab_import_columns columns)
{
    sqlite3_stmt *stmt;
    enum lab_status st = LAB_OK;
    bool there;
    int limit = sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, INT_MAX);
    while (st == LAB_OK && import_next_column(&columns)) {
        char sql[256];
        if (columns.kind != 't')
            continue;
        st = import_column(in, table, columns.name, &there);
        if (st || !there)
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "SELECT rowid FROM src.%s WHERE length(CAST(\"%w\" AS "
                         "BLOB)) > %d LIMIT 1",
                         table, columns.name, LAB_IMPORT_MOST_BYTES);
        st = lab_database_prepare(in->db, sql, &stmt);
        if (st)
            break;
        int rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW)
            st = lab_fail(LAB_E_DB,
                          "%s: the text %s.%s of row %lld is longer than %d "
                          "bytes: refused",
                          in->path, table, columns.name,
                          (long long)sqlite3_column_int64(stmt, 0),
                          LAB_IMPORT_MOST_BYTES);
        enum lab_status end = lab_query_end(in->db, stmt, rc);
        st = st ? st : end;
    }
    sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, limit);
    return st ? st
              : lab_fail(LAB_E_DB,
                         "%s: a value of %s is longer than %d bytes: "
                         "refused",
                         in->path, table, LAB_IMPORT_MOST_BYTES);
}

static enum lab_status check_values(struct lab_import *in, const char *table,
                                    struct lab_import_columns columns,
                                    struct lab_str *sql)
{
    sqlite3_stmt *stmt;
    enum lab_status st = LAB_OK;
    lab_str_addf(sql, " END AS bad FROM src.%s WHERE bad IS NOT NULL LIMIT 1",
                 table);
    if (sql->failed)
        return lab_no_memory("a query");
    st = lab_database_prepare(in->db, lab_str_text(sql), &stmt);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    if ((rc & 0xFF) == SQLITE_TOOBIG) {
        sqlite3_finalize(stmt);
        return blame_long_text(in, table, columns);
    }
    if (rc == SQLITE_ROW)
        st = lab_fail(LAB_E_DB,
                      "%s: a value of %s.%s is not what it should be (its "
                      "type or its range): refused",
                      in->path, table,
                      (const char *)sqlite3_column_text(stmt, 0));
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

static enum lab_status import_check_columns(struct lab_import *in,
                                            const char *table,
                                            struct lab_import_columns columns)
{
    struct lab_import_columns all = columns;
    struct lab_str sql;
    bool there;
    bool any = false;
    enum lab_status st = LAB_OK;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT CASE");
    while (st == LAB_OK && import_next_column(&columns)) {
        st = import_column(in, table, columns.name, &there);
        if (st || !there)
            continue;
        any = true;
        lab_str_add(&sql, " WHEN ");
        add_complaint(&sql, columns.kind, columns.name);
        lab_str_addf(&sql, " THEN '%s'", columns.name);
    }
    if (st == LAB_OK && any)
        st = check_values(in, table, all, &sql);
    lab_str_release(&sql);
    return st;
}

/* Columns by what they hold, a letter before each: i number, r real, t text, a
 * anything (kept, and read by nobody here), s id of a string, m moment (nsys:
 * from its session's start), p phase, K C S row of a kernel, a copy, a memset.
 * `runId` is left out: it is mapped. */
static const struct table {
    const char *name;
    int own; /* since which schema our databases have it; 0: nsys too, and ours
              * since the first */
    const char *row; /* its rowid's column, where that has a name */
    char row_kind;
    const char *columns;
    const struct lab_fields *fields; /* or these, where rows are structs */
} tables[] = {
    {"step", 1, NULL, 0,
     "iexec iiteration istepIndex pphase snameId snodeId sopId svariantId "
     "sbackendId mstart_ns mend_ns itime_ns itimeSource rflop rbytes "
     "ikernelCount KkernelRowFirst KkernelRowLast"},
    {"op_kernel", 1, "kernelRow", 'K',
     "istepExec roccupancy_pct ioccupancyLimit iactiveBlocksPerSm"},
    {"op_memory", 1, NULL, 0, "istepExec CmemcpyRow SmemsetRow"},
    {"metric_value", 1, NULL, 0,
     "istepExec ikernelOrdinal smetricId rvalue ipasses"},
    {"loss", 1, NULL, 0, "iiteration rloss raccuracy imoment_ns"},
    {"lab_row", 4, NULL, 0, NULL, &lab_bench_result_fields},
    {"lab_said", 5, NULL, 0, NULL, &lab_prediction_fields},
    {"sweep_row", 5, NULL, 0, NULL, &lab_sweep_row_fields},
    {"CUPTI_ACTIVITY_KIND_KERNEL", 0, "kernelRow", 'K',
     "mstart mend ideviceId icontextId igreenContextId istreamId "
     "icorrelationId iglobalPid sdemangledName sshortName smangledName "
     "ilaunchType icacheConfig iregistersPerThread igridX igridY igridZ "
     "iblockX iblockY iblockZ istaticSharedMemory idynamicSharedMemory "
     "ilocalMemoryPerThread ilocalMemoryTotal igridId isharedMemoryExecuted "
     "igraphNodeId isharedMemoryLimitConfig igraphId iclusterX iclusterY "
     "iclusterZ iclusterSchedulingPolicy imaxPotentialClusterSize "
     "imaxActiveClusters"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", 0, NULL, 0,
     "mstart mend ieventClass iglobalTid icorrelationId snameId ireturnValue "
     "icallchainId"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", 0, "memcpyRow", 'C',
     "mstart mend ideviceId icontextId igreenContextId istreamId "
     "icorrelationId iglobalPid ibytes icopyKind ideprecatedSrcId isrcKind "
     "idstKind isrcDeviceId isrcContextId idstDeviceId idstContextId "
     "imigrationCause igraphNodeId ivirtualAddress"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", 0, "memsetRow", 'S',
     "mstart mend ideviceId icontextId igreenContextId istreamId "
     "icorrelationId iglobalPid ivalue ibytes igraphNodeId imemKind"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 0, NULL, 0,
     "mstart mend ideviceId icontextId igreenContextId istreamId "
     "icorrelationId iglobalPid ideprecatedSyncType isyncType ieventId "
     "ieventSyncId"},
    {"NVTX_EVENTS", 0, NULL, 0,
     "mstart mend ieventType irangeId icategory icolor ttext iglobalTid "
     "iendGlobalTid stextId idomainId iuint64Value iint64Value rdoubleValue "
     "iuint32Value iint32Value rfloatValue sjsonTextId tjsonText abinaryData"},
    {"PROFILER_OVERHEAD", 0, NULL, 0,
     "mstart mend iglobalTid snameId ireturnValue"},
    {"TARGET_INFO_GPU", 0, NULL, 0,
     "ivmId iid tname tbusLocation iisDiscrete il2CacheSize itotalMemory "
     "imemoryBandwidth iclockRate ismCount ipwGpuId tuuid aluid tchipName "
     "icuDevice actxswDevPath actrlDevPath arevision anodeMask "
     "iconstantMemory imaxIPC imaxRegistersPerBlock imaxShmemPerBlock "
     "imaxShmemPerBlockOptin imaxShmemPerSm imaxRegistersPerSm ithreadsPerWarp "
     "iasyncEngines imaxWarpsPerSm imaxBlocksPerSm imaxThreadsPerBlock "
     "amaxBlockDimX amaxBlockDimY amaxBlockDimZ amaxGridDimX amaxGridDimY "
     "amaxGridDimZ icomputeMajor icomputeMinor ismMajor ismMinor"},
    {"TARGET_INFO_SESSION_START_TIME", 0, NULL, 0,
     "iutcEpochNs tutcTime tlocalTime"},
    {"META_DATA_CAPTURE", 0, NULL, 0, "tname tvalue"},
    {"META_DATA_EXPORT", 1, NULL, 0, "tname tvalue"},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static struct lab_import_columns columns_of(const struct table *t)
{
    return (struct lab_import_columns){.list = t->columns, .fields = t->fields};
}

static enum lab_status import_exec(struct lab_import *in, const char *sql)
{
    return lab_database_exec(in->db, sql, "importing");
}

/* ---- checking ---- */

static enum lab_status check_list(struct lab_import *in, const char *table,
                                  const char *list)
{
    return import_check_columns(in, table,
                                (struct lab_import_columns){.list = list});
}

static enum lab_status check_run_column(struct lab_import *in,
                                        const struct table *t)
{
    bool there;
    enum lab_status st = LAB_OK;
    if (in->nsys)
        return LAB_OK;
    st = import_column(in, t->name, "runId", &there);
    if (st == LAB_OK && !there)
        st = lab_fail(LAB_E_DB, "%s: %s has no column runId: refused", in->path,
                      t->name);
    if (st == LAB_OK && t->row) {
        st = import_column(in, t->name, t->row, &there);
        if (st == LAB_OK && !there)
            st = lab_fail(LAB_E_DB, "%s: %s has no column %s: refused",
                          in->path, t->name, t->row);
    }
    return st ? st : check_list(in, t->name, "irunId");
}

static enum lab_status check_one(struct lab_import *in, const struct table *t)
{
    bool there;
    char row[48];
    enum lab_status st = import_find_table(in, t->name, t->own, &there);
    if (st || !there)
        return st;
    st = check_run_column(in, t);
    if (st == LAB_OK && t->row && !in->nsys) {
        snprintf(row, sizeof(row), "%c%s", t->row_kind, t->row);
        st = check_list(in, t->name, row);
    }
    return st ? st : import_check_columns(in, t->name, columns_of(t));
}

static enum lab_status import_check_tables(struct lab_import *in)
{
    bool there;
    enum lab_status st = import_find_table(in, "StringIds", 1, &there);
    if (st == LAB_OK && there)
        st = check_list(in, "StringIds", "iid tvalue");
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (!tables[i].own || !in->nsys)
            st = check_one(in, &tables[i]);
    return st;
}

/* ---- copying ---- */

/* Which of the row maps a kind's rows are in. */
static int map_of(char kind)
{
    return kind == 'K' ? 0 : kind == 'C' ? 1 : 2;
}

/* Theirs are numbered anew without gaps: added to ours a number near the last
 * one would leave no room for what is recorded next. */
static enum lab_status map_rows(struct lab_import *in, const struct table *t)
{
    int map = map_of(t->row_kind);
    char sql[400];
    sqlite3_snprintf(sizeof(sql), sql,
                     "INSERT OR IGNORE INTO temp.row_map_%d (old, new) SELECT "
                     "t.%s, %lld + row_number() OVER (ORDER BY t.%s) FROM "
                     "src.%s AS t CROSS JOIN temp.run_map AS m%s WHERE t.%s IS "
                     "NOT NULL",
                     map, in->nsys ? "rowid" : t->row, in->rows_before[map],
                     in->nsys ? "rowid" : t->row, t->name,
                     in->nsys ? "" : " ON m.old = t.runId",
                     in->nsys ? "rowid" : t->row);
    return import_exec(in, sql);
}

static enum lab_status map_all_rows(struct lab_import *in, const bool *there)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (there[i] && tables[i].row && !tables[i].own)
            st = map_rows(in, &tables[i]);
    return st;
}

/* A row's new number. A step's first and last kernel are the ends of a range,
 * and need not be there themselves. */
static void add_row(struct lab_str *from, char kind, const char *column)
{
    bool first = strcmp(column, "kernelRowFirst") == 0;
    bool last = strcmp(column, "kernelRowLast") == 0;
    lab_str_addf(from,
                 "(SELECT x.new FROM temp.row_map_%d AS x WHERE x.old %s "
                 "t.\"%s\"%s)",
                 map_of(kind),
                 first  ? ">="
                 : last ? "<="
                        : "=",
                 column,
                 first  ? " ORDER BY x.old LIMIT 1"
                 : last ? " ORDER BY x.old DESC LIMIT 1"
                        : "");
}

static void add_value(struct lab_str *from, const struct lab_import *in,
                      char kind, const char *column)
{
    if (kind == 's')
        lab_str_addf(from,
                     "(SELECT new FROM temp.string_map AS x WHERE x.id = "
                     "t.\"%s\")",
                     column);
    else if (kind == 'K' || kind == 'C' || kind == 'S')
        add_row(from, kind, column);
    else if (kind == 'm' && in->nsys)
        lab_str_addf(from, "t.\"%s\" + %lld", column, (long long)in->epoch_ns);
    else
        lab_str_addf(from, "t.\"%s\"", column);
}

static enum lab_status list_values(struct lab_import *in, const struct table *t,
                                   struct lab_str *to, struct lab_str *from)
{
    struct lab_import_columns c = columns_of(t);
    bool there;
    enum lab_status st = LAB_OK;
    lab_str_add(to, "runId");
    lab_str_add(from, "m.new");
    if (t->row) {
        lab_str_addf(to, ", %s", t->row);
        lab_str_add(from, ", r.new");
    }
    while (st == LAB_OK && import_next_column(&c)) {
        st = import_column(in, t->name, c.name, &there);
        if (st || !there)
            continue;
        lab_str_addf(to, ", \"%s\"", c.name);
        lab_str_add(from, ", ");
        add_value(from, in, c.kind, c.name);
    }
    return st;
}

static enum lab_status copy_table(struct lab_import *in, const struct table *t)
{
    struct lab_str to;
    struct lab_str from;
    lab_str_init(&to);
    lab_str_init(&from);
    enum lab_status st = list_values(in, t, &to, &from);
    if (st == LAB_OK) {
        struct lab_str sql;
        lab_str_init(&sql);
        lab_str_addf(&sql,
                     "INSERT INTO main.%s (%s) SELECT %s FROM src.%s AS t "
                     "CROSS JOIN temp.run_map AS m%s",
                     t->name, lab_str_text(&to), lab_str_text(&from), t->name,
                     in->nsys ? "" : " ON m.old = t.runId");
        if (t->row)
            lab_str_addf(&sql,
                         " CROSS JOIN temp.row_map_%d AS r ON r.old = t.%s",
                         map_of(t->row_kind), in->nsys ? "rowid" : t->row);
        if (sql.failed || to.failed || from.failed)
            st = lab_no_memory("a query");
        else
            st = import_exec(in, lab_str_text(&sql));
        lab_str_release(&sql);
    }
    lab_str_release(&to);
    lab_str_release(&from);
    return st;
}

/* ---- names ---- */

static enum lab_status add_names_of(struct lab_import *in,
                                    const struct table *t)
{
    struct lab_import_columns c = columns_of(t);
    char sql[512];
    bool there;
    enum lab_status st = LAB_OK;
    while (st == LAB_OK && import_next_column(&c)) {
        if (c.kind != 's')
            continue;
        st = import_column(in, t->name, c.name, &there);
        if (st || !there)
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "INSERT OR IGNORE INTO temp.string_map (id) SELECT "
                         "t.\"%w\" FROM src.%s AS t CROSS JOIN temp.run_map AS "
                         "m%s WHERE t.\"%w\" IS NOT NULL",
                         c.name, t->name, in->nsys ? "" : " ON m.old = t.runId",
                         c.name);
        st = import_exec(in, sql);
    }
    return st;
}

/* The names that the runs use, and their ids here. */
static enum lab_status map_names(struct lab_import *in, const bool *there)
{
    bool strings;
    enum lab_status st = import_has_table(in, "StringIds", &strings);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (there[i])
            st = add_names_of(in, &tables[i]);
    if (st || !strings)
        return st;
    return import_exec(
        in, "INSERT OR IGNORE INTO main.StringIds (value) SELECT s.value FROM "
            "temp.string_map AS x CROSS JOIN src.StringIds AS s ON s.id = x.id "
            "WHERE s.value IS NOT NULL;"
            "UPDATE temp.string_map SET new = (SELECT here.id FROM "
            "src.StringIds AS s JOIN main.StringIds AS here ON here.value = "
            "s.value WHERE s.id = string_map.id)");
}

static enum lab_status import_copy_tables(struct lab_import *in)
{
    bool there[TABLES] = {false};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (!tables[i].own || !in->nsys)
            st = import_has_table(in, tables[i].name, &there[i]);
    if (st == LAB_OK)
        st = map_names(in, there);
    if (st == LAB_OK)
        st = map_all_rows(in, there);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (there[i])
            st = copy_table(in, &tables[i]);
    return st;
}

/* Tables whose rows belong to a device, and only name the run that measured
 * them. Two rows are the same when `same` is; the first `needed` of those
 * columns always have a value. */
enum { SAME = 9 };
static const struct device_table {
    const char *name;
    int since; /* which schema of ours has it */
    struct lab_import_columns columns;
    int needed;
    const char *same[SAME];
} device_tables[] = {
    {"ceiling",
     3,
     {.list = "tbackend tdevice tuuid thostname tname rbest_per_s "
              "rmedian_per_s rworst_per_s irepeats isize tmeasured "
              "imeasured_ns tdriver tversion"},
     3,
     {"backend", "device", "name", "uuid", "hostname", "measured_ns"}},
    {"lab_tuned",
     5,
     {.fields = &lab_tuned_row_fields},
     6,
     {"backend", "device", "lab", "sizeClass", "precision", "candidate", "uuid",
      "hostname", "measured_ns"}},
};
enum { DEVICE_TABLES = sizeof(device_tables) / sizeof(device_tables[0]) };

/* The number that a run of theirs has here; NULL: it did not come. */
#define RUN_HERE                                                               \
    "(SELECT ifnull(m.new, c.here) FROM temp.candidate AS c LEFT JOIN "        \
    "temp.run_map AS m ON m.old = c.old WHERE c.old = t.runId)"

/* ---- checking ---- */

static enum lab_status check_same(struct lab_import *in,
                                  const struct device_table *t)
{
    bool there = true;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < SAME && t->same[i] && st == LAB_OK && there; i++) {
        st = import_column(in, t->name, t->same[i], &there);
        if (st == LAB_OK && !there)
            st = lab_fail(LAB_E_DB, "%s: %s has no column %s: refused",
                          in->path, t->name, t->same[i]);
    }
    return st;
}

static enum lab_status import_check_devices(struct lab_import *in)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < DEVICE_TABLES && st == LAB_OK && !in->nsys; i++) {
        const struct device_table *t = &device_tables[i];
        bool there;
        st = import_find_table(in, t->name, t->since, &there);
        if (st == LAB_OK && there)
            st = check_same(in, t);
        if (st == LAB_OK && there)
            st = import_check_columns(in, t->name, t->columns);
    }
    return st;
}

/* ---- copying ---- */

/* `h`, a row here, is the same as `t`, one of theirs. */
static void add_same(struct lab_str *sql, const struct device_table *t)
{
    for (int i = 0; i < SAME && t->same[i]; i++)
        lab_str_addf(sql, "%sh.%s IS t.%s", i ? " AND " : "", t->same[i],
                     t->same[i]);
}

static enum lab_status run_sql(struct lab_import *in, const struct lab_str *sql)
{
    if (sql->failed)
        return lab_no_memory("a query");
    return import_exec(in, lab_str_text(sql));
}

/* A winner may be here without its run: that was deleted, or was still being
 * recorded when the file came before. Now the run is here, and is named. */
static enum lab_status name_runs(struct lab_import *in,
                                 const struct device_table *t)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "CREATE TEMP TABLE found (id INTEGER PRIMARY KEY, run);"
                 "INSERT INTO temp.found SELECT h.id, max(" RUN_HERE
                 ") FROM src.%s AS t JOIN main.%s AS h ON ",
                 t->name, t->name);
    add_same(&sql, t);
    lab_str_addf(&sql,
                 " WHERE NOT EXISTS (SELECT 1 FROM main.run AS r WHERE r.id = "
                 "h.runId) GROUP BY h.id;"
                 "UPDATE main.%s SET runId = (SELECT run FROM temp.found AS f "
                 "WHERE f.id = %s.id) WHERE id IN (SELECT id FROM temp.found "
                 "WHERE run IS NOT NULL);"
                 "DROP TABLE temp.found",
                 t->name, t->name);
    enum lab_status st = run_sql(in, &sql);
    lab_str_release(&sql);
    return st;
}

/* Adds the columns to insert into, and what is inserted. */
static enum lab_status list_columns(struct lab_import *in,
                                    const struct device_table *t,
                                    struct lab_str *to, struct lab_str *from,
                                    bool *run)
{
    struct lab_import_columns c = t->columns;
    bool there;
    enum lab_status st = LAB_OK;
    *run = false;
    while (st == LAB_OK && import_next_column(&c)) {
        st = import_column(in, t->name, c.name, &there);
        if (st || !there)
            continue;
        bool is_run = strcmp(c.name, "runId") == 0;
        lab_str_addf(to, "%s%s", to->len ? ", " : "", c.name);
        lab_str_addf(from, "%s%s%s", from->len ? ", " : "",
                     is_run ? RUN_HERE : "t.", is_run ? "" : c.name);
        *run |= is_run;
    }
    return st;
}

/* Of those that are alike in the file the first. They are joined with ours, not
 * looked for one by one: for a join SQLite makes an index. */
static enum lab_status copy_new(struct lab_import *in,
                                const struct device_table *t,
                                const struct lab_str *to,
                                const struct lab_str *from)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "INSERT INTO main.%s (%s) SELECT %s FROM src.%s AS t LEFT "
                 "JOIN main.%s AS h ON ",
                 t->name, lab_str_text(to), lab_str_text(from), t->name,
                 t->name);
    add_same(&sql, t);
    lab_str_add(&sql, " WHERE h.id IS NULL");
    for (int i = 0; i < t->needed; i++)
        lab_str_addf(&sql, " AND t.%s IS NOT NULL", t->same[i]);
    for (int i = 0; i < SAME && t->same[i]; i++)
        lab_str_addf(&sql, "%s t.%s", i ? "," : " GROUP BY", t->same[i]);
    lab_str_add(&sql, " ORDER BY min(t.rowid)");
    sql.failed |= to->failed || from->failed;
    enum lab_status st = run_sql(in, &sql);
    lab_str_release(&sql);
    return st;
}

static enum lab_status copy_device_table(struct lab_import *in,
                                         const struct device_table *t)
{
    struct lab_str to;
    struct lab_str from;
    bool run;
    lab_str_init(&to);
    lab_str_init(&from);
    enum lab_status st = list_columns(in, t, &to, &from, &run);
    if (st == LAB_OK && run)
        st = name_runs(in, t);
    if (st == LAB_OK)
        st = copy_new(in, t, &to, &from);
    lab_str_release(&to);
    lab_str_release(&from);
    return st;
}

static enum lab_status import_copy_devices(struct lab_import *in)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < DEVICE_TABLES && st == LAB_OK && !in->nsys; i++) {
        bool there;
        st = import_has_table(in, device_tables[i].name, &there);
        if (st == LAB_OK && there)
            st = copy_device_table(in, &device_tables[i]);
    }
    return st;
}

/* Steps of an nsys export that this program made of a run on a processor: no
 * kernels, but the ranges of its steps. */

/* As the ranges were recorded: NVTX_EVENTS.category. */
enum { ITERATION = 1, PHASE, NODE, STEP };

/* Where in the nested ranges the reading is. */
struct inside {
    int64_t iteration;
    int64_t index; /* of the next step in it */
    int64_t phase; /* ENUM_LAB_PHASE */
    int64_t node;  /* StringIds */
    int64_t exec;
};

static const char ranges_sql[] =
    "SELECT n.category, n.start, n.end, n.textId, ifnull(n.text, s.value), "
    "p.id FROM "
    "main.NVTX_EVENTS AS n JOIN main.StringIds AS s ON s.id = n.textId LEFT "
    "JOIN main.ENUM_LAB_PHASE AS p ON p.name = s.value WHERE n.runId = ?1 AND "
    "n.eventType = 59 AND n.category BETWEEN 1 AND 4 AND n.end >= n.start "
    "ORDER BY n.start, n.category";
static const char step_sql[] =
    "INSERT INTO main.step (runId, exec, iteration, stepIndex, phase, nameId, "
    "nodeId, start_ns, end_ns, time_ns, timeSource) VALUES (?1, ?2, ?3, ?4, "
    "?5, ?6, ?7, ?8, ?9, ?10, ?11)";

static enum lab_status add_step(struct lab_import *in, sqlite3_stmt *add,
                                int64_t run, struct inside *at, int64_t name,
                                int64_t start, int64_t end)
{
    enum lab_status st = LAB_OK;
    sqlite3_bind_int64(add, 1, run);
    sqlite3_bind_int64(add, 2, ++at->exec);
    lab_bind_int(add, 3, at->iteration);
    sqlite3_bind_int64(add, 4, at->index++);
    lab_bind_int(add, 5, at->phase);
    sqlite3_bind_int64(add, 6, name);
    lab_bind_int(add, 7, at->node);
    sqlite3_bind_int64(add, 8, start);
    sqlite3_bind_int64(add, 9, end);
    lab_bind_int(add, 10, lab_span_ns(start, end));
    sqlite3_bind_int(add, 11, LAB_TIME_CPU_CLOCK);
    if (sqlite3_step(add) != SQLITE_DONE)
        st = lab_database_error(in->db, "importing steps");
    sqlite3_reset(add);
    return st;
}

static enum lab_status read_range(struct lab_import *in, sqlite3_stmt *add,
                                  int64_t run, struct inside *at,
                                  sqlite3_stmt *range)
{
    struct lab_columns c = {range, 0};
    int64_t category = lab_column_int(&c);
    int64_t start = lab_column_int(&c);
    int64_t end = lab_column_int(&c);
    int64_t name = lab_column_int(&c);
    const char *text = lab_column_text(&c);
    int64_t phase = lab_column_int(&c);
    long long number = -1;
    switch (category) {
    case ITERATION:
        if (text)
            sscanf(text, "iteration %lld", &number);
        at->iteration = number >= 0 ? (int64_t)number : LAB_UNKNOWN;
        at->index = 0;
        break;
    case PHASE:
        at->phase = phase;
        break;
    case NODE:
        at->node = name;
        break;
    default:
        return add_step(in, add, run, at, name, start, end);
    }
    return LAB_OK;
}

static enum lab_status import_range_steps(struct lab_import *in, int64_t run)
{
    struct inside at = {
        .iteration = LAB_UNKNOWN, .phase = LAB_UNKNOWN, .node = LAB_UNKNOWN};
    sqlite3_stmt *ranges = NULL;
    sqlite3_stmt *add = NULL;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(in->db, ranges_sql, &ranges);
    if (st == LAB_OK)
        st = lab_database_prepare(in->db, step_sql, &add);
    if (st == LAB_OK)
        sqlite3_bind_int64(ranges, 1, run);
    while (st == LAB_OK && (rc = sqlite3_step(ranges)) == SQLITE_ROW)
        st = read_range(in, add, run, &at, ranges);
    sqlite3_finalize(add);
    if (!ranges)
        return st;
    enum lab_status end = lab_query_end(in->db, ranges, rc);
    return st ? st : end;
}

/* The texts of a run, in the order of the query's columns. */
enum { TEXTS = 4 };

static void list_texts(struct lab_imported *r, const char **out[TEXTS])
{
    out[0] = &r->uuid;
    out[1] = &r->lesson;
    out[2] = &r->hostname;
    out[3] = &r->user;
}

static struct lab_imported *add_run(struct lab_import_report *report)
{
    if (lab_grow(&report->runs, report->count, &report->room,
                 sizeof(*report->runs), "what was imported"))
        return NULL;
    struct lab_imported *run = &report->runs[report->count++];
    *run = (struct lab_imported){0};
    return run;
}

static enum lab_status read_run(struct lab_import_report *report,
                                const struct lab_import *in, sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    struct lab_imported *run = add_run(report);
    const char **texts[TEXTS];
    if (!run)
        return lab_no_memory("what was imported");
    run->run = lab_column_int(&c);
    run->as = lab_column_int(&c);
    run->skipped = lab_column_int(&c) != 0;
    bool alive = lab_column_int(&c) != 0;
    run->reason = !run->skipped ? NULL
                  : alive       ? "it is still being recorded"
                                : "it is here already";
    list_texts(run, texts);
    for (int i = 0; i < TEXTS; i++) {
        const char *text = lab_column_text(&c);
        if (text && !(*texts[i] = lab_strdup(text)))
            return lab_no_memory("what was imported");
    }
    run->steps = lab_column_int(&c);
    run->kernels = lab_column_int(&c);
    if (in->nsys)
        run->run = LAB_UNKNOWN;
    return LAB_OK;
}

static enum lab_status import_report_load(struct lab_import_report *report,
                                          struct lab_import *in)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(
        in->db,
        "SELECT c.old, ifnull(m.new, c.here), m.new IS NULL, c.alive, c.uuid, "
        "r.lesson, r.hostname, ifnull(r.label, r.user), "
        "(SELECT count(*) FROM main.step AS s WHERE s.runId = m.new), "
        "(SELECT ifnull(sum(t.count), 0) FROM main.time_sum AS t WHERE t.runId "
        "= m.new AND t.level = 4) FROM temp.candidate AS c LEFT JOIN "
        "temp.run_map AS m ON m.old = c.old LEFT JOIN main.run AS r ON r.id = "
        "ifnull(m.new, c.here) ORDER BY c.old",
        &stmt);
    if (st)
        return st;
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_run(report, in, stmt);
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

static void import_report_release(struct lab_import_report *report)
{
    const char **texts[TEXTS];
    for (size_t i = 0; i < report->count; i++) {
        list_texts(&report->runs[i], texts);
        for (int k = 0; k < TEXTS; k++)
            lab_free((void *)*texts[k]);
    }
    lab_free(report->runs);
    *report = (struct lab_import_report){0};
}

/* The first value of a query, or unknown where its table or column is not
 * there: nsys makes tables when they are needed, and every version has other
 * columns. */
static enum lab_status number_of(struct lab_import *in, const char *table,
                                 const char *column, const char *expression,
                                 int64_t *out)
{
    char sql[256];
    bool there;
    *out = LAB_UNKNOWN;
    enum lab_status st = import_has_table(in, table, &there);
    if (st == LAB_OK && there)
        st = import_column(in, table, column, &there);
    if (st || !there)
        return st;
    sqlite3_snprintf(sizeof(sql), sql, "SELECT %s FROM src.%s", expression,
                     table);
    return lab_database_int(in->db, sql, LAB_UNKNOWN, out);
}

/* "(SELECT column FROM src.table LIMIT 1)", or NULL where there is none. */
static enum lab_status add_first(struct lab_import *in, struct lab_str *sql,
                                 const char *table, const char *column)
{
    bool there;
    enum lab_status st = import_has_table(in, table, &there);
    if (st == LAB_OK && there)
        st = import_column(in, table, column, &there);
    if (st == LAB_OK && there)
        lab_str_addf(sql, "(SELECT \"%s\" FROM src.%s LIMIT 1)", column, table);
    else
        lab_str_add(sql, "NULL");
    return st;
}

/* nsys gives no run a name: what was measured does. */
static enum lab_status make_uuid(struct lab_import *in, char *out, size_t bytes)
{
    static const char *const of[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                     "CUPTI_ACTIVITY_KIND_RUNTIME",
                                     "NVTX_EVENTS"};
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < 3 && st == LAB_OK; i++) {
        static const char *const facts[] = {
            "count(*)", "min(start)", "max(end)",
            "CAST(total(end - start) AS INTEGER)"};
        for (size_t k = 0; k < 4 && st == LAB_OK; k++) {
            int64_t v;
            st = number_of(in, of[i], "start", facts[k], &v);
            hash = (hash ^ (uint64_t)v) * UINT64_C(0x100000001B3);
            hash ^= hash >> 31;
        }
    }
    sqlite3_snprintf((int)bytes, out, "nsys-%llx-%llx", in->epoch_ns, hash);
    return st;
}

/* Whether this program made the file, and whether a GPU was there. */
static enum lab_status find_maker(struct lab_import *in, bool *gpu)
{
    static const char *const of[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                     "CUPTI_ACTIVITY_KIND_RUNTIME",
                                     "TARGET_INFO_GPU"};
    int64_t n = 0;
    enum lab_status st = LAB_OK;
    *gpu = false;
    for (size_t i = 0; i < 3 && st == LAB_OK; i++) {
        st = number_of(in, of[i], i < 2 ? "start" : "name", "count(*)", &n);
        *gpu |= n != LAB_UNKNOWN && n > 0;
    }
    n = 0;
    if (st == LAB_OK)
        st = number_of(in, "META_DATA_EXPORT", "value",
                       "sum(name = 'EXPORT_PRODUCT_NAME' AND value = "
                       "'lapenna-lab')",
                       &n);
    in->host = !*gpu && n == 1;
    return st;
}

static enum lab_status list_nsys_values(struct lab_import *in,
                                        struct lab_str *sql)
{
    static const struct {
        const char *table;
        const char *column;
    } values[2][4] = {{{"TARGET_INFO_GPU", "name"},
                       {"TARGET_INFO_GPU", "chipName"},
                       {"TARGET_INFO_GPU", "smCount"},
                       {"TARGET_INFO_SESSION_START_TIME", "utcTime"}},
                      {{"TARGET_INFO_CUDA_GPU", "name"},
                       {"TARGET_INFO_CUDA_GPU", "chipName"},
                       {"TARGET_INFO_CUDA_GPU", "numMultiprocessors"},
                       {"TARGET_INFO_SESSION_START_TIME", "utcTime"}}};
    bool gpu;
    bool now = true; /* the first half of 2021 had the other table */
    enum lab_status st = find_maker(in, &gpu);
    if (st == LAB_OK)
        st = import_has_table(in, "TARGET_INFO_GPU", &now);
    lab_str_addf(
        sql,
        "INSERT INTO main.run (uuid, label, importedFrom, imported, title, "
        "backend, status, timeSource, counters, started_ns, device, chip, "
        "smCount, started) SELECT ?1, ?2, ?3, ?4, '%s', %s, 'done', %s, 'off', "
        "?5",
        in->host ? "An export of lapenna-lab" : "An export of Nsight Systems",
        gpu        ? "'cuda'"
        : in->host ? "'cpu'"
                   : "NULL",
        gpu        ? "'cupti'"
        : in->host ? "'cpu_clock'"
                   : "NULL");
    for (size_t i = 0; i < 4 && st == LAB_OK; i++) {
        lab_str_add(sql, ", ");
        st = add_first(in, sql, values[!now][i].table, values[!now][i].column);
    }
    return st;
}

static enum lab_status add_nsys_run(struct lab_import *in, const char *uuid)
{
    struct lab_str sql;
    sqlite3_stmt *stmt;
    char now[32];
    const char *slash = strrchr(in->path, '/');
    lab_str_init(&sql);
    enum lab_status st = list_nsys_values(in, &sql);
    if (st == LAB_OK && sql.failed)
        st = lab_no_memory("a query");
    if (st == LAB_OK)
        st = lab_database_prepare(in->db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    lab_utc_text(lab_clock_wall_ns(), now);
    lab_bind_text(stmt, 1, uuid);
    lab_bind_text(stmt, 2, in->options->label);
    lab_bind_text(stmt, 3, slash ? slash + 1 : in->path);
    lab_bind_text(stmt, 4, now);
    lab_bind_int(stmt, 5, in->epoch_ns ? in->epoch_ns : LAB_UNKNOWN);
    st = lab_query_end(in->db, stmt, sqlite3_step(stmt));
    if (st)
        return st;
    char map[120];
    sqlite3_snprintf(sizeof(map), map,
                     "INSERT INTO temp.run_map (old, new) VALUES (1, %lld)",
                     sqlite3_last_insert_rowid(in->db->sql));
    return import_exec(in, map);
}

static enum lab_status import_nsys_run(struct lab_import *in)
{
    char uuid[80];
    char sql[400];
    int64_t here;
    int64_t epoch;
    enum lab_status st = number_of(in, "TARGET_INFO_SESSION_START_TIME",
                                   "utcEpochNs", "min(utcEpochNs)", &epoch);
    if (st)
        return st;
    /* A moment that no clock has shown yet is no moment. */
    bool sane = epoch > 0 && epoch < INT64_C(0x3FFFFFFFFFFFFFFF);
    in->epoch_ns = sane ? epoch : 0;
    st = make_uuid(in, uuid, sizeof(uuid));
    sqlite3_snprintf(
        sizeof(sql), sql,
        "CREATE TEMP TABLE candidate (old INTEGER PRIMARY KEY, uuid TEXT, "
        "label TEXT, here INTEGER, alive INTEGER);"
        "INSERT INTO temp.candidate VALUES (1, '%q', NULL, (SELECT id FROM "
        "main.run WHERE uuid = '%q'), 0)",
        uuid, uuid);
    if (st == LAB_OK)
        st = import_exec(in, sql);
    if (st == LAB_OK)
        st = lab_database_int(in->db, "SELECT here FROM temp.candidate",
                              LAB_UNKNOWN, &here);
    if (st == LAB_OK && here == LAB_UNKNOWN)
        st = add_nsys_run(in, uuid);
    return st;
}

/* What every copy of a run of version 1 is called (profiles/schema_2.sql). */
#define OLD_UUID "printf('v1-%x-%x-%x-%x', started_ns, pid, processStart, id)"

/* The columns of a run that are copied, the texts first. */
static const char *const run_texts[] = {"lesson",     "lessonPath",
                                        "title",      "backend",
                                        "device",     "chip",
                                        "driver",     "runtime",
                                        "precision",  "variants",
                                        "version",    "commitId",
                                        "hostname",   "user",
                                        "started",    "ended",
                                        "status",     "timeSource",
                                        "counters",   "countersReason",
                                        "writeError", "computeCapability"};
static const char *const run_numbers[] = {"id",
                                          "smCount",
                                          "seed",
                                          "batch",
                                          "iterations",
                                          "pid",
                                          "processStart",
                                          "started_ns",
                                          "ended_ns",
                                          "ringDrops",
                                          "ringWaits",
                                          "ringWait_ns",
                                          "ringHighWater",
                                          "writeErrors",
                                          "iterationMedian_ns",
                                          "rank"};
static const char *const run_reals[] = {"samples_per_s", "loss_first",
                                        "loss_last", "accuracy"};
enum {
    RUNS_TEXTS = sizeof(run_texts) / sizeof(run_texts[0]),
    NUMBERS = sizeof(run_numbers) / sizeof(run_numbers[0]),
    REALS = sizeof(run_reals) / sizeof(run_reals[0])
};

/* Columns that came later: a file of an older version has not got them. */
struct later {
    bool uuid;
    bool label;
    bool trace;
    bool kind;
    bool from;
    bool rate;
};

static enum lab_status check_run_columns(struct lab_import *in,
                                         struct later *later)
{
    bool there;
    enum lab_status st = import_has_table(in, "run", &there);
    for (int i = 0; i < RUNS_TEXTS + NUMBERS + REALS && st == LAB_OK && there;
         i++) {
        const char *name = i < RUNS_TEXTS ? run_texts[i]
                           : i < RUNS_TEXTS + NUMBERS
                               ? run_numbers[i - RUNS_TEXTS]
                               : run_reals[i - RUNS_TEXTS - NUMBERS];
        st = import_column(in, "run", name, &there);
    }
    if (st == LAB_OK && !there)
        st = lab_fail(LAB_E_DB,
                      "%s: its table of runs is not one of "
                      "lapenna-lab: refused",
                      in->path);
    if (st == LAB_OK)
        st = import_column(in, "run", "uuid", &later->uuid);
    if (st == LAB_OK)
        st = import_column(in, "run", "traceState", &later->trace);
    if (st == LAB_OK)
        st = import_column(in, "run", "kind", &later->kind);
    if (st == LAB_OK)
        st = import_column(in, "run", "importedFrom", &later->from);
    if (st == LAB_OK)
        st = import_column(in, "run", "lessonLearningRate", &later->rate);
    return st ? st : import_column(in, "run", "label", &later->label);
}

/* Their lengths too. */
static enum lab_status check_run_texts(struct lab_import *in)
{
    struct lab_str list;
    enum lab_status st = LAB_OK;
    lab_str_init(&list);
    for (int i = 0; i < RUNS_TEXTS; i++)
        lab_str_addf(&list, "t%s ", run_texts[i]);
    lab_str_add(&list, "tlabel");
    if (list.failed)
        st = lab_no_memory("a query");
    if (st == LAB_OK)
        st = import_check_columns(
            in, "run",
            (struct lab_import_columns){.list = lab_str_text(&list)});
    lab_str_release(&list);
    return st;
}

static enum lab_status check_run_values(struct lab_import *in,
                                        const struct later *later)
{
    struct lab_str sql;
    sqlite3_stmt *stmt;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT id FROM src.run WHERE id NOT BETWEEN 1 AND "
                      "0x1FFFFFFFFFFFFF OR status IS NULL OR status NOT IN "
                      "('running', 'done', 'cancelled', 'failed', "
                      "'interrupted')");
    for (int i = 0; i < RUNS_TEXTS; i++)
        lab_str_addf(&sql, " OR typeof(\"%s\") NOT IN ('text', 'null')",
                     run_texts[i]);
    for (int i = 0; i < NUMBERS; i++)
        lab_str_addf(&sql, " OR typeof(\"%s\") NOT IN ('integer', 'null')",
                     run_numbers[i]);
    for (int i = 0; i < REALS; i++)
        lab_str_addf(&sql,
                     " OR typeof(\"%s\") NOT IN ('real', 'integer', 'null')",
                     run_reals[i]);
    if (later->uuid)
        lab_str_add(&sql, " OR typeof(uuid) NOT IN ('text', 'null') OR "
                          "length(uuid) > 80 OR uuid GLOB '*[^0-9A-Za-z-]*'");
    if (later->label)
        lab_str_add(&sql, " OR typeof(label) NOT IN ('text', 'null')");
    if (later->trace)
        lab_str_add(&sql, " OR traceState NOT IN ('never', 'on', 'off', "
                          "'mixed', 'kernels')");
    if (later->kind)
        lab_str_add(&sql, " OR kind NOT IN ('lesson', 'lab')");
    if (later->rate)
        lab_str_add(&sql, " OR typeof(learningRate) NOT IN ('real', 'null') OR "
                          "typeof(lessonLearningRate) NOT IN ('real', 'null')");
    lab_str_add(&sql, " LIMIT 1");
    enum lab_status st =
        sql.failed ? lab_no_memory("a query")
                   : lab_database_prepare(in->db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        st = lab_fail(LAB_E_DB,
                      "%s: a value of run %lld is not what it should be: "
                      "refused",
                      in->path, (long long)sqlite3_column_int64(stmt, 0));
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

/* Every run of the file, and what is here of it. A run that its recorder left
 * as running is interrupted, unless the recorder lives on this machine. */
static enum lab_status list_runs(struct lab_import *in, bool uuid, bool label)
{
    char sql[1800];
    sqlite3_snprintf(
        sizeof(sql), sql,
        "CREATE TEMP TABLE candidate (old INTEGER PRIMARY KEY, uuid TEXT, "
        "label TEXT, here INTEGER, alive INTEGER);"
        "INSERT INTO temp.candidate SELECT id, %s, %s, NULL, 0 FROM src.run;"
        "UPDATE temp.candidate SET here = (SELECT min(r.id) FROM main.run AS r "
        "WHERE r.uuid = candidate.uuid);"
        "CREATE TEMP TABLE known (started_ns, pid, processStart, hostname, id, "
        "PRIMARY KEY (started_ns, pid, processStart, hostname)) WITHOUT ROWID;"
        "INSERT OR IGNORE INTO temp.known SELECT started_ns, pid, "
        "processStart, hostname, id FROM main.run WHERE started_ns NOTNULL AND "
        "pid NOTNULL AND processStart NOTNULL AND hostname NOTNULL ORDER BY "
        "id;"
        "UPDATE temp.candidate SET here = (SELECT k.id FROM src.run AS s JOIN "
        "temp.known AS k ON k.started_ns = s.started_ns AND k.pid = s.pid AND "
        "k.processStart = s.processStart AND k.hostname = s.hostname WHERE "
        "s.id = candidate.old) WHERE here IS NULL",
        uuid ? "ifnull(uuid, " OLD_UUID ")" : OLD_UUID,
        label ? "label" : "NULL");
    return import_exec(in, sql);
}

static enum lab_status mark_living(struct lab_import *in)
{
    char host[256];
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    lab_host_name(host, sizeof(host));
    enum lab_status st = lab_database_prepare(
        in->db,
        "SELECT id, pid, processStart FROM src.run WHERE status = 'running' "
        "AND hostname = ?1",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, host);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        char sql[120];
        int64_t start = lab_process_start(sqlite3_column_int64(stmt, 1));
        if (start < 0 || start != sqlite3_column_int64(stmt, 2))
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "UPDATE temp.candidate SET alive = 1 WHERE old = %lld",
                         sqlite3_column_int64(stmt, 0));
        st = import_exec(in, sql);
    }
    enum lab_status read = lab_query_end(in->db, stmt, st ? SQLITE_DONE : rc);
    return st ? st : read;
}

static void add_names(struct lab_str *sql, const char *prefix)
{
    for (int i = 0; i < RUNS_TEXTS + NUMBERS + REALS; i++) {
        const char *name = i < RUNS_TEXTS ? run_texts[i]
                           : i < RUNS_TEXTS + NUMBERS
                               ? run_numbers[i - RUNS_TEXTS]
                               : run_reals[i - RUNS_TEXTS - NUMBERS];
        if (strcmp(name, "id") == 0)
            continue;
        if (*prefix && strcmp(name, "status") == 0)
            lab_str_add(sql, ", CASE s.status WHEN 'running' THEN "
                             "'interrupted' ELSE s.status END");
        else if (*prefix && strcmp(name, "rank") == 0)
            lab_str_add(sql, ", ifnull(s.rank, 0)");
        else
            lab_str_addf(sql, ", %s\"%s\"", prefix, name);
    }
}

/* One statement for each run, so that its new number is known. */
static enum lab_status add_run_row(struct lab_import *in, sqlite3_stmt *stmt,
                                   int64_t old, const char *from,
                                   const char *now)
{
    char sql[160];
    sqlite3_bind_int64(stmt, 1, old);
    lab_bind_text(stmt, 2, in->options->label);
    lab_bind_text(stmt, 3, from);
    lab_bind_text(stmt, 4, now);
    if (sqlite3_step(stmt) != SQLITE_DONE)
        return lab_database_error(in->db, "importing a run");
    sqlite3_reset(stmt);
    sqlite3_snprintf(sizeof(sql), sql,
                     "INSERT INTO temp.run_map (old, new) VALUES (%lld, %lld)",
                     old, sqlite3_last_insert_rowid(in->db->sql));
    return import_exec(in, sql);
}

/* What a run is; a file that does not say it has it by the rule of
 * profiles/schema_5.sql, which says lesson of what may turn out a lab. */
static const char *kind_of(const struct later *later)
{
    return later->kind   ? "s.kind"
           : later->from ? "CASE WHEN s.lesson NOTNULL OR s.importedFrom "
                           "ISNULL THEN 'lesson' END"
                         : "'lesson'";
}

static enum lab_status add_runs(struct lab_import *in,
                                const struct later *later)
{
    struct lab_str sql;
    sqlite3_stmt *stmt = NULL;
    char now[32];
    int64_t old = 0;
    const char *slash = strrchr(in->path, '/');
    lab_str_init(&sql);
    lab_str_add(&sql, "INSERT INTO main.run (uuid, label, importedFrom, "
                      "imported, traceState, kind, learningRate, "
                      "lessonLearningRate");
    add_names(&sql, "");
    lab_str_addf(
        &sql, ") SELECT c.uuid, ifnull(?2, c.label), ?3, ?4, %s, %s, %s",
        later->trace ? "s.traceState" : "NULL", kind_of(later),
        later->rate ? "s.learningRate, s.lessonLearningRate" : "NULL, NULL");
    add_names(&sql, "s.");
    lab_str_add(&sql, " FROM src.run AS s JOIN temp.candidate AS c ON c.old = "
                      "s.id WHERE s.id = ?1");
    enum lab_status st =
        sql.failed ? lab_no_memory("a query")
                   : lab_database_prepare(in->db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    lab_utc_text(lab_clock_wall_ns(), now);
    while (st == LAB_OK && old != LAB_UNKNOWN) {
        char next[128];
        sqlite3_snprintf(sizeof(next), next,
                         "SELECT min(old) FROM temp.candidate WHERE here IS "
                         "NULL AND NOT alive AND old > %lld",
                         old);
        st = lab_database_int(in->db, next, LAB_UNKNOWN, &old);
        if (st == LAB_OK && old != LAB_UNKNOWN)
            st = add_run_row(in, stmt, old, slash ? slash + 1 : in->path, now);
    }
    sqlite3_finalize(stmt);
    return st;
}

static enum lab_status import_own_runs(struct lab_import *in)
{
    struct later later = {0};
    enum lab_status st = check_run_columns(in, &later);
    if (st == LAB_OK)
        st = check_run_values(in, &later);
    if (st == LAB_OK)
        st = check_run_texts(in);
    if (st == LAB_OK)
        st = list_runs(in, later.uuid, later.label);
    if (st == LAB_OK)
        st = mark_living(in);
    in->kinds = later.kind;
    return st ? st : add_runs(in, &later);
}

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
        st = import_has_table(in, nsys[i], &there);
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
    return import_range_steps(in, run);
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
    return import_exec(in, sql);
}

/* A file of an older version does not say which of its runs are labs. */
static enum lab_status find_labs(struct lab_import *in)
{
    return import_exec(
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
        st = import_copy_tables(in);
    if (st == LAB_OK)
        st = import_copy_devices(in);
    sqlite3_snprintf(sizeof(sql), sql,
                     "INSERT INTO main.op_kernel (kernelRow, runId) SELECT "
                     "kernelRow, runId FROM main.CUPTI_ACTIVITY_KIND_KERNEL "
                     "WHERE kernelRow > %lld",
                     in->rows_before[0]);
    if (st == LAB_OK && in->nsys)
        st = import_exec(in, sql);
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
        st = import_check_tables(in);
    if (st == LAB_OK)
        st = import_check_devices(in);
    if (st)
        return blame_file(in, st); /* until here it is only read */
    /* Checking may take long and needs only the file. What is read here from
     * now on must not change before the rows are written: this writes nothing,
     * and waits for the lock. */
    st = import_exec(in, "DELETE FROM main.run WHERE 0");
    if (st)
        return st;
    st = import_exec(
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
        st = in->nsys ? import_nsys_run(in) : import_own_runs(in);
    if (st == LAB_OK)
        st = copy_rows(in);
    if (st)
        return blame_rows(in, st);
    return import_report_load(report, in);
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
    st = import_exec(&in, "BEGIN");
    if (st == LAB_OK)
        st = import_all(&in, &report);
    bool keep = st == LAB_OK && !options->dry_run;
    if (keep)
        st = import_exec(&in, "COMMIT");
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
    import_report_release(&report);
    return st;
}
