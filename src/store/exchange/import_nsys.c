#include <string.h>

#include "base/clock.h"
#include "import_priv.h"

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
    enum lab_status st = lab_import_has_table(in, table, &there);
    if (st == LAB_OK && there)
        st = lab_import_column(in, table, column, &there);
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
    enum lab_status st = lab_import_has_table(in, table, &there);
    if (st == LAB_OK && there)
        st = lab_import_column(in, table, column, &there);
    if (st == LAB_OK && there)
        lab_str_addf(sql, "(SELECT \"%s\" FROM src.%s LIMIT 1)", column, table);
    else
        lab_str_add(sql, "NULL");
    return st;
}

/* nsys gives no run a name: what was measured does. */
static enum lab_status make_uuid(struct lab_import *in, char *out, size_t bytes)
{
    static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
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
            st = number_of(in, tables[i], "start", facts[k], &v);
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
    static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                         "TARGET_INFO_GPU"};
    int64_t n = 0;
    enum lab_status st = LAB_OK;
    *gpu = false;
    for (size_t i = 0; i < 3 && st == LAB_OK; i++) {
        st = number_of(in, tables[i], i < 2 ? "start" : "name", "count(*)", &n);
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

static enum lab_status list_values(struct lab_import *in, struct lab_str *sql)
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
        st = lab_import_has_table(in, "TARGET_INFO_GPU", &now);
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

static enum lab_status add_run(struct lab_import *in, const char *uuid)
{
    struct lab_str sql;
    sqlite3_stmt *stmt;
    char now[32];
    const char *slash = strrchr(in->path, '/');
    lab_str_init(&sql);
    enum lab_status st = list_values(in, &sql);
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
    return lab_import_exec(in, map);
}

enum lab_status lab_import_nsys_run(struct lab_import *in)
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
        st = lab_import_exec(in, sql);
    if (st == LAB_OK)
        st = lab_database_int(in->db, "SELECT here FROM temp.candidate",
                              LAB_UNKNOWN, &here);
    if (st == LAB_OK && here == LAB_UNKNOWN)
        st = add_run(in, uuid);
    return st;
}
