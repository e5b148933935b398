#include <stdio.h>
#include <string.h>

#include "import_priv.h"

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

enum lab_status lab_import_exec(struct lab_import *in, const char *sql)
{
    return lab_database_exec(in->db, sql, "importing");
}

/* ---- checking ---- */

static enum lab_status check_list(struct lab_import *in, const char *table,
                                  const char *list)
{
    return lab_import_check_columns(in, table,
                                    (struct lab_import_columns){.list = list});
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
    return st ? st : check_list(in, t->name, "irunId");
}

static enum lab_status check_one(struct lab_import *in, const struct table *t)
{
    bool there;
    char row[48];
    enum lab_status st = lab_import_find_table(in, t->name, t->own, &there);
    if (st || !there)
        return st;
    st = check_run_column(in, t);
    if (st == LAB_OK && t->row && !in->nsys) {
        snprintf(row, sizeof(row), "%c%s", t->row_kind, t->row);
        st = check_list(in, t->name, row);
    }
    return st ? st : lab_import_check_columns(in, t->name, columns_of(t));
}

enum lab_status lab_import_check_tables(struct lab_import *in)
{
    bool there;
    enum lab_status st = lab_import_find_table(in, "StringIds", 1, &there);
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
    struct lab_import_columns c = columns_of(t);
    bool there;
    enum lab_status st = LAB_OK;
    lab_str_add(to, "runId");
    lab_str_add(from, "m.new");
    if (t->row) {
        lab_str_addf(to, ", %s", t->row);
        lab_str_add(from, ", r.new");
    }
    while (st == LAB_OK && lab_import_next_column(&c)) {
        st = lab_import_column(in, t->name, c.name, &there);
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
    struct lab_import_columns c = columns_of(t);
    char sql[512];
    bool there;
    enum lab_status st = LAB_OK;
    while (st == LAB_OK && lab_import_next_column(&c)) {
        if (c.kind != 's')
            continue;
        st = lab_import_column(in, t->name, c.name, &there);
        if (st || !there)
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "INSERT OR IGNORE INTO temp.string_map (id) SELECT "
                         "t.\"%w\" FROM src.%s AS t CROSS JOIN temp.run_map AS "
                         "m%s WHERE t.\"%w\" IS NOT NULL",
                         c.name, t->name, in->nsys ? "" : " ON m.old = t.runId",
                         c.name);
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
