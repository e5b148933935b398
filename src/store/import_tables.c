#include <stdlib.h>
#include <string.h>

#include "import_priv.h"

/* Columns by what they hold, a letter before each: i number, r real, t text, s
 * id of a string, m moment (nsys: from its session's start), p phase, K C S row
 * of a kernel, a copy, a memset. `runId` is left out: it is mapped. */
static const struct table {
    const char *name;
    int own; /* since which schema our databases have it; 0: nsys too, and ours
              * since the first */
    const char *row; /* its rowid's column, where that has a name */
    char row_kind;
    const char *columns;
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
    {"lab_row", 4, NULL, 0,
     "iplace tlab tsize trung tprecision tstatus treason rcheck_error "
     "rsample_error irepeats rmin_ns rquarter_ns rmedian_ns rthreeQuarters_ns "
     "rmax_ns rflop rbytes rtraffic_bytes tunit rrate rrateModel "
     "rratePredicted rgain rgainModel rceilingCopy_B_s rceilingFp32_FLOP_s "
     "iflush_bytes rsmClockBefore_hz rsmClockAfter_hz rmemoryClock_hz "
     "rtemperature_c rpower_w tnote iworkspace_bytes itracedExec"},
    {"lab_said", 5, NULL, 0,
     "iplace trung tprecision tsize rrate rtime_ns tbound roccupancy_pct"},
    {"sweep_row", 5, NULL, 0,
     "iplace tsweep tlesson tbackend tname rx tstatus treason iiterations "
     "isamples rmedian_ns rquarter_ns rthreeQuarters_ns rsamples_per_s "
     "imemory_bytes iparameters rflop rloss rlossIterations rshare"},
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
     "iuint32Value iint32Value rfloatValue sjsonTextId tjsonText"},
    {"PROFILER_OVERHEAD", 0, NULL, 0,
     "mstart mend iglobalTid snameId ireturnValue"},
    {"TARGET_INFO_GPU", 0, NULL, 0,
     "ivmId iid tname tbusLocation iisDiscrete il2CacheSize itotalMemory "
     "imemoryBandwidth iclockRate ismCount ipwGpuId tuuid tchipName icuDevice "
     "iconstantMemory imaxIPC imaxRegistersPerBlock imaxShmemPerBlock "
     "imaxShmemPerBlockOptin imaxShmemPerSm imaxRegistersPerSm ithreadsPerWarp "
     "iasyncEngines imaxWarpsPerSm imaxBlocksPerSm imaxThreadsPerBlock "
     "icomputeMajor icomputeMinor ismMajor ismMinor"},
    {"TARGET_INFO_SESSION_START_TIME", 0, NULL, 0,
     "iutcEpochNs tutcTime tlocalTime"},
    {"META_DATA_CAPTURE", 0, NULL, 0, "tname tvalue"},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]), NAME = 48 };

/* The next column of a list: its kind and its name. */
static const char *next_column(const char *list, char *kind, char name[NAME])
{
    if (!*list)
        return NULL;
    *kind = *list++;
    size_t n = strcspn(list, " ");
    memcpy(name, list, n);
    name[n] = '\0';
    return list + n + (list[n] == ' ');
}

enum lab_status lab_import_exec(struct lab_import *in, const char *sql)
{
    return lab_database_exec(in->db, sql, "importing");
}

/* ---- what is there ---- */

enum lab_status lab_import_has_table(struct lab_import *in, const char *name,
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

enum lab_status lab_import_column(struct lab_import *in, const char *table,
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

/* ---- values ---- */

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
                     "length(\"%s\") > 65536",
                     column, column);
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
    default:
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('integer','null')", column);
    }
}

static enum lab_status check_values(struct lab_import *in, const char *table,
                                    struct lab_str *sql)
{
    sqlite3_stmt *stmt;
    enum lab_status st = LAB_OK;
    lab_str_addf(sql, " END AS bad FROM src.%s WHERE bad IS NOT NULL LIMIT 1",
                 table);
    if (sql->failed)
        return lab_fail(LAB_E_NOMEM, "no memory for a query");
    st = lab_database_prepare(in->db, lab_str_text(sql), &stmt);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        st = lab_fail(LAB_E_DB,
                      "%s: a value of %s.%s is not what it should be (its "
                      "type, its range or its length): refused",
                      in->path, table,
                      (const char *)sqlite3_column_text(stmt, 0));
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

static enum lab_status check_table(struct lab_import *in, const char *name,
                                   const char *columns)
{
    struct lab_str sql;
    char column[NAME];
    char kind;
    bool there;
    bool any = false;
    enum lab_status st = LAB_OK;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT CASE");
    while (st == LAB_OK && (columns = next_column(columns, &kind, column))) {
        st = lab_import_column(in, name, column, &there);
        if (st || !there)
            continue;
        any = true;
        lab_str_add(&sql, " WHEN ");
        add_complaint(&sql, kind, column);
        lab_str_addf(&sql, " THEN '%s'", column);
    }
    if (st == LAB_OK && any)
        st = check_values(in, name, &sql);
    lab_str_release(&sql);
    return st;
}

static enum lab_status check_run_column(struct lab_import *in,
                                        const struct table *t)
{
    bool there;
    enum lab_status st = LAB_OK;
    if (in->nsys)
        return LAB_OK;
    st = lab_import_column(in, t->name, "runId", &there);
    if (st == LAB_OK && !there)
        st = lab_fail(LAB_E_DB, "%s: %s has no column runId: refused", in->path,
                      t->name);
    if (st == LAB_OK && t->row) {
        st = lab_import_column(in, t->name, t->row, &there);
        if (st == LAB_OK && !there)
            st = lab_fail(LAB_E_DB, "%s: %s has no column %s: refused",
                          in->path, t->name, t->row);
    }
    return st ? st : check_table(in, t->name, "irunId");
}

static const char ceiling_columns[] =
    "tbackend tdevice tuuid thostname tname rbest_per_s rmedian_per_s "
    "rworst_per_s irepeats isize tmeasured imeasured_ns tdriver tversion";

/* A file of ours has every table of its schema: one that lacks some was changed
 * by somebody, and its runs would come without what stood there, for good: the
 * whole ones would be skipped later. */
static enum lab_status find_table(struct lab_import *in, const char *name,
                                  int since, bool *there)
{
    enum lab_status st = lab_import_has_table(in, name, there);
    if (st == LAB_OK && !*there && !in->nsys && in->schema >= since)
        st = lab_fail(LAB_E_DB,
                      "%s: it has no table %s, which every database of schema "
                      "%d has: refused",
                      in->path, name, (int)in->schema);
    return st;
}

enum lab_status lab_import_check_tables(struct lab_import *in)
{
    bool there;
    char row[NAME + 1];
    enum lab_status st = find_table(in, "StringIds", 1, &there);
    if (st == LAB_OK && there)
        st = check_table(in, "StringIds", "iid tvalue");
    if (st == LAB_OK && !in->nsys)
        st = find_table(in, "ceiling", 3, &there);
    if (st == LAB_OK && !in->nsys && there)
        st = check_table(in, "ceiling", ceiling_columns);
    for (int i = 0; i < TABLES && st == LAB_OK; i++) {
        const struct table *t = &tables[i];
        if (t->own && in->nsys)
            continue;
        st = find_table(in, t->name, t->own, &there);
        if (st || !there)
            continue;
        st = check_run_column(in, t);
        if (st == LAB_OK && t->row && !in->nsys) {
            row[0] = t->row_kind;
            strcpy(row + 1, t->row);
            st = check_table(in, t->name, row);
        }
        if (st == LAB_OK)
            st = check_table(in, t->name, t->columns);
    }
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
    return lab_import_exec(in, sql);
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
    const char *columns = t->columns;
    char column[NAME];
    char kind;
    bool there;
    enum lab_status st = LAB_OK;
    lab_str_add(to, "runId");
    lab_str_add(from, "m.new");
    if (t->row) {
        lab_str_addf(to, ", %s", t->row);
        lab_str_add(from, ", r.new");
    }
    while (st == LAB_OK && (columns = next_column(columns, &kind, column))) {
        st = lab_import_column(in, t->name, column, &there);
        if (st || !there)
            continue;
        lab_str_addf(to, ", \"%s\"", column);
        lab_str_add(from, ", ");
        add_value(from, in, kind, column);
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
            st = lab_fail(LAB_E_NOMEM, "no memory for a query");
        else
            st = lab_import_exec(in, lab_str_text(&sql));
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
    const char *columns = t->columns;
    char column[NAME];
    char sql[512];
    char kind;
    bool there;
    enum lab_status st = LAB_OK;
    while (st == LAB_OK && (columns = next_column(columns, &kind, column))) {
        if (kind != 's')
            continue;
        st = lab_import_column(in, t->name, column, &there);
        if (st || !there)
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "INSERT OR IGNORE INTO temp.string_map (id) SELECT "
                         "t.\"%w\" FROM src.%s AS t CROSS JOIN temp.run_map AS "
                         "m%s WHERE t.\"%w\" IS NOT NULL",
                         column, t->name, in->nsys ? "" : " ON m.old = t.runId",
                         column);
        st = lab_import_exec(in, sql);
    }
    return st;
}

/* The names that the runs use, and their ids here. */
static enum lab_status map_names(struct lab_import *in, const bool *there)
{
    bool strings;
    enum lab_status st = lab_import_has_table(in, "StringIds", &strings);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (there[i])
            st = add_names_of(in, &tables[i]);
    if (st || !strings)
        return st;
    return lab_import_exec(
        in, "INSERT OR IGNORE INTO main.StringIds (value) SELECT s.value FROM "
            "temp.string_map AS x CROSS JOIN src.StringIds AS s ON s.id = x.id "
            "WHERE s.value IS NOT NULL;"
            "UPDATE temp.string_map SET new = (SELECT here.id FROM "
            "src.StringIds AS s JOIN main.StringIds AS here ON here.value = "
            "s.value WHERE s.id = string_map.id)");
}

enum lab_status lab_import_copy_tables(struct lab_import *in)
{
    bool there[TABLES] = {false};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (!tables[i].own || !in->nsys)
            st = lab_import_has_table(in, tables[i].name, &there[i]);
    if (st == LAB_OK)
        st = map_names(in, there);
    if (st == LAB_OK)
        st = map_all_rows(in, there);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (there[i])
            st = copy_table(in, &tables[i]);
    return st;
}
