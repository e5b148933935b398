/* import.c -- the runs of another database, or of a report of nsys, into this one:
 * what the file is checked for, its tables, devices, names and ranges, and what is
 * reported of it. */
#include "store/import.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "db/row.h"
#include "base/clock.h"
#include "store/time_sum.h"

/* No text or blob of a file may be longer. */
enum { LAB_IMPORT_MOST_BYTES = 16 << 20 };

/* A column that a table has here and in the file, and what it holds: i an
 * integer, r a real, t a text, a anything (kept, and not read here), s the id of
 * a string, m a moment (nsys: from its session's start), p a phase, K C S the
 * row of a kernel, a copy, a memset. */
struct column {
    char name[48];
    char kind;
};

enum { MOST_COLUMNS = 96 };
struct columns {
    struct column list[MOST_COLUMNS];
    int count;
};

/* The tables with rows of runs. `row` names the rowid's column, where
 * that has a name; `runId` is mapped. */
static const struct table {
    const char *name;
    int own; /* since which schema our databases have it; 0: nsys too, and ours
              * since the first */
    const char *row;
} tables[] = {
    {"step", 1, NULL},
    {"op_kernel", 1, "kernelRow"},
    {"op_memory", 1, NULL},
    {"metric_value", 1, NULL},
    {"loss", 1, NULL},
    {"time_sum", 2, NULL},
    {"lab_row", 4, NULL},
    {"lab_said", 5, NULL},
    {"sweep_row", 5, NULL},
    {"choice", 11, NULL},
    {"CUPTI_ACTIVITY_KIND_KERNEL", 0, "kernelRow"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", 0, NULL},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", 0, "memcpyRow"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", 0, "memsetRow"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 0, NULL},
    {"NVTX_EVENTS", 0, NULL},
    {"PROFILER_OVERHEAD", 0, NULL},
    {"TARGET_INFO_GPU", 0, NULL},
    {"TARGET_INFO_SESSION_START_TIME", 0, NULL},
    {"META_DATA_CAPTURE", 0, NULL},
    {"META_DATA_EXPORT", 1, NULL},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* Tables with rows of devices, which only name the run that measured them. Two rows are the same when `same` is; the first `needed` of those
 * columns always have a value. */
enum { SAME = 9 };
static const struct device_table {
    const char *name;
    int since; /* which schema of ours has it */
    int needed;
    const char *same[SAME];
} device_tables[] = {
    {"ceiling",
     3,
     3,
     {"backend", "device", "name", "uuid", "hostname", "measured_ns"}},
    {"lab_tuned",
     5,
     6,
     {"backend", "device", "lab", "sizeClass", "precision", "candidate", "uuid",
      "hostname", "measured_ns"}},
};
enum { DEVICE_TABLES = sizeof(device_tables) / sizeof(device_tables[0]) };

/* The file is attached to the database's connection as `src`. */
struct lab_import {
    struct lab_database *db;
    const char *path;
    const struct lab_import_options *options;
    bool host;      /* of nsys: this program made it, of a run without a GPU */
    bool nsys;      /* else one of our own */
    int64_t schema; /* of ours: which version */
    int64_t rows_before[3];    /* kernel, memcpy, memset: theirs come after */
    int64_t epoch_ns;          /* nsys: added to its moments */
    struct columns of[TABLES]; /* none: the file has no such table */
    struct columns of_device[DEVICE_TABLES];
    struct columns of_run;
};

/* What is reported once it is certain: the texts are its own. Begins as {0}. */
struct lab_import_report {
    struct lab_imported *runs;
    size_t count;
    size_t room;
};

static enum lab_status import_exec(struct lab_import *in, const char *format,
                                   ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    enum lab_status st = sql ? lab_database_exec(in->db, sql, "importing")
                             : lab_no_memory("a query");
    sqlite3_free(sql);
    return st;
}

static enum lab_status exec_built(struct lab_import *in, struct lab_str *sql)
{
    enum lab_status st = lab_str_check(sql, "a query");
    if (st == LAB_OK)
        st = lab_database_exec(in->db, lab_str_text(sql), "importing");
    lab_str_release(sql);
    return st;
}

/* ---- what is there ---- */

static enum lab_status import_has_table(struct lab_import *in, const char *name,
                                        bool *out)
{
    struct lab_stmt s = lab_stmt_new(
        in->db,
        "SELECT type = 'table' AND rootpage > 0 FROM src.sqlite_master WHERE "
        "name = ?1 COLLATE NOCASE AND type IN ('table', 'view')");
    lab_bind_text(s.sql, 1, name);
    bool found = lab_stmt_next(&s);
    *out = found && lab_column_int(&s) == 1;
    enum lab_status st = lab_stmt_end(&s);
    if (st == LAB_OK && found && !*out)
        st = lab_fail(LAB_E_DB,
                      "[import.view] %s: %s is a view, or virtual: refused",
                      in->path, name);
    return st;
}

/* Whether a table is there, and has the column. */
static enum lab_status import_has_column(struct lab_import *in,
                                         const char *table, const char *column,
                                         bool *out)
{
    enum lab_status st = import_has_table(in, table, out);
    if (st || !*out)
        return st;
    struct lab_stmt s = lab_stmt_new(
        in->db, "SELECT 1 FROM pragma_table_xinfo(?1, 'src') WHERE name = ?2 "
                "COLLATE NOCASE AND hidden = 0");
    lab_bind_text(s.sql, 1, table);
    lab_bind_text(s.sql, 2, column);
    *out = lab_stmt_next(&s);
    return lab_stmt_end(&s);
}

static enum lab_status import_find_table(struct lab_import *in,
                                         const char *name, int since,
                                         bool *there)
{
    enum lab_status st = import_has_table(in, name, there);
    if (st == LAB_OK && !*there && !in->nsys && in->schema >= since)
        st = lab_fail(LAB_E_DB,
                      "[import.table] %s: it has no table %s, which every "
                      "database of schema %d has: refused",
                      in->path, name, (int)in->schema);
    return st;
}

/* ---- columns and their values ---- */

/* Of what is not of the declared type alone. */
static const struct {
    char kind;
    const char *names;
} special_columns[] = {
    {'s', " nameId nodeId opId variantId backendId metricId demangledName "
          "shortName mangledName textId jsonTextId "},
    {'m', " start end start_ns end_ns "},
    {'p', " phase "},
    {'K', " kernelRow kernelRowFirst kernelRowLast "},
    {'C', " memcpyRow "},
    {'S', " memsetRow "},
    {'a', " times binaryData luid ctxswDevPath ctrlDevPath revision nodeMask "
          "maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY "
          "maxGridDimZ "},
};

static char kind_of_column(const char *name, const char *type)
{
    char word[64];
    snprintf(word, sizeof(word), " %s ", name);
    for (size_t i = 0; i < sizeof(special_columns) / sizeof(special_columns[0]);
         i++)
        if (strstr(special_columns[i].names, word))
            return special_columns[i].kind;
    return strcmp(type, "TEXT") == 0   ? 't'
           : strcmp(type, "REAL") == 0 ? 'r'
                                       : 'i';
}

/* The columns that a table has in the file and here, in our order. */
static enum lab_status load_columns(struct lab_import *in, const char *table,
                                    struct columns *out)
{
    struct lab_stmt s = lab_stmt_new(
        in->db,
        "SELECT h.name, h.type, s.hidden FROM pragma_table_info(?1, 'main') AS "
        "h JOIN pragma_table_xinfo(?1, 'src') AS s ON s.name = h.name COLLATE "
        "NOCASE ORDER BY h.cid");
    lab_bind_text(s.sql, 1, table);
    out->count = 0;
    while (lab_stmt_next(&s) && out->count < MOST_COLUMNS) {
        struct column *c = &out->list[out->count++];
        const char *name = lab_column_text(&s);
        const char *type = lab_column_text(&s);
        snprintf(c->name, sizeof(c->name), "%s", name);
        c->kind = kind_of_column(name, type);
        if (lab_column_int(&s) != 0)
            s.st = lab_fail(LAB_E_DB,
                            "[import.computed] %s: the column %s of %s is "
                            "computed: refused",
                            in->path, name, table);
    }
    return lab_stmt_end(&s);
}

static bool has(const struct columns *c, const char *name)
{
    int i = 0;
    while (i < c->count && strcmp(c->list[i].name, name) != 0)
        i++;
    return i < c->count;
}

static enum lab_status require(const struct lab_import *in, const char *table,
                               const struct columns *c, const char *name)
{
    return has(c, name)
               ? LAB_OK
               : lab_fail(LAB_E_DB,
                          "[import.column] %s: %s has no column %s: refused",
                          in->path, table, name);
}

static void drop(struct columns *c, const char *name)
{
    int n = 0;
    for (int i = 0; i < c->count; i++)
        if (strcmp(c->list[i].name, name) != 0)
            c->list[n++] = c->list[i];
    c->count = n;
}

/* What is wrong with a value of a column, as SQL. */
static void add_complaint(struct lab_str *sql, const struct column *c)
{
    const char *name = c->name;
    switch (c->kind) {
    case 'r':
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('real','integer','null')",
                     name);
        break;
    case 't':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('text','null') OR "
                     "length(\"%s\") > %d",
                     name, name, LAB_IMPORT_MOST_BYTES);
        break;
    case 'a':
        lab_str_add(sql, "0");
        break;
    default:
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('integer','null')", name);
        if (c->kind == 'm') /* so that sums and differences have room */
            lab_str_addf(sql,
                         " OR \"%s\" NOT BETWEEN -0x1FFFFFFFFFFFFFFF AND "
                         "0x1FFFFFFFFFFFFFFF",
                         name);
        else if (c->kind == 'p')
            lab_str_addf(sql, " OR \"%s\" NOT BETWEEN 0 AND 3", name);
        else if (strchr("KCS", c->kind))
            lab_str_addf(sql, " OR \"%s\" NOT BETWEEN 1 AND 0x1FFFFFFFFFFFFF",
                         name);
    }
}

/* The first text that is too long: SQLite does not report where it found it. It is
 * measured, and for that read, without the limit. */
static enum lab_status blame_long_text(struct lab_import *in, const char *table,
                                       const struct columns *columns)
{
    enum lab_status st = LAB_OK;
    int limit = sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, INT_MAX);
    for (int i = 0; i < columns->count && st == LAB_OK; i++) {
        const struct column *c = &columns->list[i];
        char sql[256];
        int64_t row;
        if (c->kind != 't')
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "SELECT rowid FROM src.%s WHERE length(CAST(\"%w\" AS "
                         "BLOB)) > %d LIMIT 1",
                         table, c->name, LAB_IMPORT_MOST_BYTES);
        st = lab_database_int(in->db, sql, LAB_UNKNOWN, &row);
        if (st == LAB_OK && row != LAB_UNKNOWN)
            st = lab_fail(LAB_E_DB,
                          "[import.text-long] %s: the text %s.%s of row %lld "
                          "is longer than %d bytes: refused",
                          in->path, table, c->name, (long long)row,
                          LAB_IMPORT_MOST_BYTES);
    }
    sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, limit);
    return st ? st
              : lab_fail(LAB_E_DB,
                         "[import.value-long] %s: a value of %s is longer than "
                         "%d bytes: refused",
                         in->path, table, LAB_IMPORT_MOST_BYTES);
}

/* `sql` finds what is wrong in the table; its first column names it, after
 * `what`. */
static enum lab_status check_none(struct lab_import *in, const char *table,
                                  const struct columns *columns,
                                  struct lab_str *sql, const char *what)
{
    struct lab_stmt s = lab_stmt_built(in->db, sql);
    if (lab_stmt_next(&s))
        s.st = lab_fail(LAB_E_DB,
                        "[import.value] %s: a value of %s%s is not what it "
                        "should be (its type or its range): refused",
                        in->path, what, lab_column_text(&s));
    else if (s.st &&
             (sqlite3_extended_errcode(in->db->sql) & 0xFF) == SQLITE_TOOBIG)
        s.st = blame_long_text(in, table, columns);
    return lab_stmt_end(&s);
}

static enum lab_status check_columns(struct lab_import *in, const char *table,
                                     const struct columns *columns)
{
    struct lab_str sql;
    if (columns->count == 0)
        return LAB_OK;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT CASE");
    for (int i = 0; i < columns->count; i++) {
        lab_str_add(&sql, " WHEN ");
        add_complaint(&sql, &columns->list[i]);
        lab_str_addf(&sql, " THEN '%s.%s'", table, columns->list[i].name);
    }
    lab_str_addf(&sql, " END AS bad FROM src.%s WHERE bad IS NOT NULL LIMIT 1",
                 table);
    return check_none(in, table, columns, &sql, "");
}

/* ---- checking ---- */

static enum lab_status check_table(struct lab_import *in, const struct table *t,
                                   struct columns *c)
{
    bool there;
    enum lab_status st = import_find_table(in, t->name, t->own, &there);
    if (st || !there)
        return st;
    st = load_columns(in, t->name, c);
    if (in->nsys) { /* nsys knows neither */
        drop(c, "runId");
        drop(c, t->row ? t->row : "");
    } else {
        if (st == LAB_OK)
            st = require(in, t->name, c, "runId");
        if (st == LAB_OK && t->row)
            st = require(in, t->name, c, t->row);
    }
    return st ? st : check_columns(in, t->name, c);
}

static enum lab_status import_check_tables(struct lab_import *in)
{
    static const struct table strings = {"StringIds", 1, NULL};
    struct columns c = {.count = 0};
    bool there;
    enum lab_status st = import_find_table(in, strings.name, 1, &there);
    if (st == LAB_OK && there)
        st = load_columns(in, strings.name, &c);
    if (st == LAB_OK)
        st = check_columns(in, strings.name, &c);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (!tables[i].own || !in->nsys)
            st = check_table(in, &tables[i], &in->of[i]);
    return st;
}

/* ---- copying ---- */

/* Which of the row maps a kind's rows are in. */
static int map_of(char kind)
{
    return kind == 'K' ? 0 : kind == 'C' ? 1 : 2;
}

static int map_of_table(const struct table *t)
{
    return map_of(kind_of_column(t->row, "INTEGER"));
}

/* Theirs are numbered anew without gaps: added to ours a number near the last
 * one would leave no room for what is recorded next. */
static enum lab_status map_rows(struct lab_import *in, const struct table *t)
{
    int map = map_of_table(t);
    const char *row = in->nsys ? "rowid" : t->row;
    return import_exec(
        in,
        "INSERT OR IGNORE INTO temp.row_map_%d (old, new) SELECT t.%s, %lld + "
        "row_number() OVER (ORDER BY t.%s) FROM src.%s AS t CROSS JOIN "
        "temp.run_map AS m%s WHERE t.%s IS NOT NULL",
        map, row, in->rows_before[map], row, t->name,
        in->nsys ? "" : " ON m.old = t.runId", row);
}

/* A row's new number. A step's first and last kernel are the ends of a range,
 * and need not be there themselves. */
static void add_row(struct lab_str *from, const struct column *c)
{
    bool first = strcmp(c->name, "kernelRowFirst") == 0;
    bool last = strcmp(c->name, "kernelRowLast") == 0;
    lab_str_addf(from,
                 "(SELECT x.new FROM temp.row_map_%d AS x WHERE x.old %s "
                 "t.\"%s\"%s)",
                 map_of(c->kind),
                 first  ? ">="
                 : last ? "<="
                        : "=",
                 c->name,
                 first  ? " ORDER BY x.old LIMIT 1"
                 : last ? " ORDER BY x.old DESC LIMIT 1"
                        : "");
}

static void add_value(struct lab_str *from, const struct lab_import *in,
                      const struct column *c)
{
    if (c->kind == 's')
        lab_str_addf(from,
                     "(SELECT new FROM temp.string_map AS x WHERE x.id = "
                     "t.\"%s\")",
                     c->name);
    else if (strchr("KCS", c->kind))
        add_row(from, c);
    else if (c->kind == 'm' && in->nsys)
        lab_str_addf(from, "t.\"%s\" + %lld", c->name, (long long)in->epoch_ns);
    else
        lab_str_addf(from, "t.\"%s\"", c->name);
}

/* A column that copy_table() maps by itself. */
static bool is_mapped(const struct table *t, const struct column *c)
{
    return strcmp(c->name, "runId") == 0 ||
           (t->row && strcmp(c->name, t->row) == 0);
}

static enum lab_status copy_table(struct lab_import *in, const struct table *t,
                                  const struct columns *columns)
{
    struct lab_str sql;
    struct lab_str from;
    lab_str_init(&sql);
    lab_str_init(&from);
    lab_str_addf(&sql, "INSERT INTO main.%s (runId", t->name);
    if (t->row) {
        lab_str_addf(&sql, ", %s", t->row);
        lab_str_add(&from, ", r.new");
    }
    for (int i = 0; i < columns->count; i++) {
        const struct column *c = &columns->list[i];
        if (is_mapped(t, c))
            continue;
        lab_str_addf(&sql, ", \"%s\"", c->name);
        lab_str_add(&from, ", ");
        add_value(&from, in, c);
    }
    lab_str_addf(&sql,
                 ") SELECT m.new%s FROM src.%s AS t CROSS JOIN temp.run_map AS "
                 "m%s",
                 lab_str_text(&from), t->name,
                 in->nsys ? "" : " ON m.old = t.runId");
    if (t->row)
        lab_str_addf(&sql, " CROSS JOIN temp.row_map_%d AS r ON r.old = t.%s",
                     map_of_table(t), in->nsys ? "rowid" : t->row);
    sql.failed |= from.failed;
    lab_str_release(&from);
    return exec_built(in, &sql);
}

/* ---- names ---- */

static enum lab_status add_names_of(struct lab_import *in,
                                    const struct table *t,
                                    const struct columns *columns)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < columns->count && st == LAB_OK; i++) {
        const struct column *c = &columns->list[i];
        if (c->kind == 's')
            st = import_exec(in,
                             "INSERT OR IGNORE INTO temp.string_map (id) "
                             "SELECT t.\"%w\" FROM src.%s AS t CROSS JOIN "
                             "temp.run_map AS m%s WHERE t.\"%w\" IS NOT NULL",
                             c->name, t->name,
                             in->nsys ? "" : " ON m.old = t.runId", c->name);
    }
    return st;
}

/* The names that the runs use, and their ids here. */
static enum lab_status map_names(struct lab_import *in)
{
    bool strings;
    enum lab_status st = import_has_table(in, "StringIds", &strings);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        st = add_names_of(in, &tables[i], &in->of[i]);
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
    enum lab_status st = map_names(in);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (in->of[i].count && tables[i].row && !tables[i].own)
            st = map_rows(in, &tables[i]);
    for (int i = 0; i < TABLES && st == LAB_OK; i++)
        if (in->of[i].count)
            st = copy_table(in, &tables[i], &in->of[i]);
    return st;
}

/* ---- tables of devices ---- */

/* The number that a run of theirs has here; NULL: it did not come. */
#define RUN_HERE                                                               \
    "(SELECT ifnull(m.new, c.here) FROM temp.candidate AS c LEFT JOIN "        \
    "temp.run_map AS m ON m.old = c.old WHERE c.old = t.runId)"

static enum lab_status import_check_devices(struct lab_import *in)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < DEVICE_TABLES && st == LAB_OK && !in->nsys; i++) {
        const struct device_table *t = &device_tables[i];
        struct columns *c = &in->of_device[i];
        bool there;
        st = import_find_table(in, t->name, t->since, &there);
        if (st || !there)
            continue;
        st = load_columns(in, t->name, c);
        drop(c, "id");
        for (int k = 0; k < SAME && t->same[k] && st == LAB_OK; k++)
            st = require(in, t->name, c, t->same[k]);
        if (st == LAB_OK)
            st = check_columns(in, t->name, c);
    }
    return st;
}

/* `h`, a row here, is the same as `t`, one of theirs. */
static void add_same(struct lab_str *sql, const struct device_table *t)
{
    for (int i = 0; i < SAME && t->same[i]; i++)
        lab_str_addf(sql, "%sh.%s IS t.%s", i ? " AND " : "", t->same[i],
                     t->same[i]);
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
    return exec_built(in, &sql);
}

/* Of those that are alike in the file the first. They are joined with ours, not
 * looked for one by one: for a join SQLite makes an index. */
static enum lab_status copy_new(struct lab_import *in,
                                const struct device_table *t,
                                const struct columns *columns)
{
    struct lab_str sql;
    struct lab_str from;
    lab_str_init(&sql);
    lab_str_init(&from);
    lab_str_addf(&sql, "INSERT INTO main.%s (", t->name);
    for (int i = 0; i < columns->count; i++) {
        const char *name = columns->list[i].name;
        bool run = strcmp(name, "runId") == 0;
        lab_str_addf(&sql, "%s%s", i ? ", " : "", name);
        lab_str_addf(&from, "%s%s%s", i ? ", " : "", run ? RUN_HERE : "t.",
                     run ? "" : name);
    }
    lab_str_addf(&sql,
                 ") SELECT %s FROM src.%s AS t LEFT JOIN main.%s AS h ON ",
                 lab_str_text(&from), t->name, t->name);
    add_same(&sql, t);
    lab_str_add(&sql, " WHERE h.id IS NULL");
    for (int i = 0; i < t->needed; i++)
        lab_str_addf(&sql, " AND t.%s IS NOT NULL", t->same[i]);
    for (int i = 0; i < SAME && t->same[i]; i++)
        lab_str_addf(&sql, "%s t.%s", i ? "," : " GROUP BY", t->same[i]);
    lab_str_add(&sql, " ORDER BY min(t.rowid)");
    sql.failed |= from.failed;
    lab_str_release(&from);
    return exec_built(in, &sql);
}

static enum lab_status import_copy_devices(struct lab_import *in)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < DEVICE_TABLES && st == LAB_OK; i++) {
        const struct columns *c = &in->of_device[i];
        if (has(c, "runId"))
            st = name_runs(in, &device_tables[i]);
        if (st == LAB_OK && c->count)
            st = copy_new(in, &device_tables[i], c);
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

static enum lab_status add_step(struct lab_stmt *add, int64_t run,
                                struct inside *at, int64_t name, int64_t start,
                                int64_t end)
{
    sqlite3_bind_int64(add->sql, 1, run);
    sqlite3_bind_int64(add->sql, 2, ++at->exec);
    lab_bind_int(add->sql, 3, at->iteration);
    sqlite3_bind_int64(add->sql, 4, at->index++);
    lab_bind_int(add->sql, 5, at->phase);
    sqlite3_bind_int64(add->sql, 6, name);
    lab_bind_int(add->sql, 7, at->node);
    sqlite3_bind_int64(add->sql, 8, start);
    sqlite3_bind_int64(add->sql, 9, end);
    lab_bind_int(add->sql, 10, lab_span_ns(start, end));
    sqlite3_bind_int(add->sql, 11, LAB_TIME_CPU_CLOCK);
    return lab_stmt_run(add, "importing steps");
}

static enum lab_status read_range(struct lab_stmt *range, struct lab_stmt *add,
                                  int64_t run, struct inside *at)
{
    int64_t category = lab_column_int(range);
    int64_t start = lab_column_int(range);
    int64_t end = lab_column_int(range);
    int64_t name = lab_column_int(range);
    const char *text = lab_column_text(range);
    int64_t phase = lab_column_int(range);
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
        return add_step(add, run, at, name, start, end);
    }
    return LAB_OK;
}

static enum lab_status import_range_steps(struct lab_import *in, int64_t run)
{
    struct inside at = {
        .iteration = LAB_UNKNOWN, .phase = LAB_UNKNOWN, .node = LAB_UNKNOWN};
    struct lab_stmt ranges = lab_stmt_new(in->db, ranges_sql);
    struct lab_stmt add = lab_stmt_new(in->db, step_sql);
    sqlite3_bind_int64(ranges.sql, 1, run);
    while (lab_stmt_next(&ranges))
        ranges.st = read_range(&ranges, &add, run, &at);
    lab_stmt_end(&add);
    return lab_stmt_end(&ranges);
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

static enum lab_status read_run(struct lab_import_report *report,
                                const struct lab_import *in, struct lab_stmt *s)
{
    const char **texts[TEXTS];
    if (lab_grow(&report->runs, report->count, &report->room,
                 sizeof(*report->runs), "what was imported"))
        return LAB_E_NOMEM;
    struct lab_imported *run = &report->runs[report->count++];
    *run = (struct lab_imported){.run = lab_column_int(s)};
    run->as = lab_column_int(s);
    run->skipped = lab_column_int(s) != 0;
    bool alive = lab_column_int(s) != 0;
    run->reason = !run->skipped ? NULL
                  : alive       ? "it is still being recorded"
                                : "it is here already";
    list_texts(run, texts);
    for (int i = 0; i < TEXTS; i++) {
        const char *text = lab_column_text(s);
        if (text && !(*texts[i] = lab_strdup(text)))
            return lab_no_memory("what was imported");
    }
    run->steps = lab_column_int(s);
    run->kernels = lab_column_int(s);
    if (in->nsys)
        run->run = LAB_UNKNOWN;
    return LAB_OK;
}

static enum lab_status import_report_load(struct lab_import_report *report,
                                          struct lab_import *in)
{
    struct lab_stmt s = lab_stmt_new(
        in->db,
        "SELECT c.old, ifnull(m.new, c.here), m.new IS NULL, c.alive, c.uuid, "
        "r.lesson, r.hostname, ifnull(r.label, r.user), "
        "(SELECT count(*) FROM main.step AS s WHERE s.runId = m.new), "
        "(SELECT ifnull(sum(t.count), 0) FROM main.time_sum AS t WHERE t.runId "
        "= m.new AND t.level = 4) FROM temp.candidate AS c LEFT JOIN "
        "temp.run_map AS m ON m.old = c.old LEFT JOIN main.run AS r ON r.id = "
        "ifnull(m.new, c.here) ORDER BY c.old");
    while (lab_stmt_next(&s))
        s.st = read_run(report, in, &s);
    return lab_stmt_end(&s);
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
    enum lab_status st = import_has_column(in, table, column, &there);
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
    enum lab_status st = import_has_column(in, table, column, &there);
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

static const char *file_name(const struct lab_import *in)
{
    const char *slash = strrchr(in->path, '/');
    return slash ? slash + 1 : in->path;
}

/* The run that was just added is run `old` of the file. */
static enum lab_status map_run(struct lab_import *in, int64_t old)
{
    return import_exec(in,
                       "INSERT INTO temp.run_map (old, new) VALUES (%lld, "
                       "%lld)",
                       old, sqlite3_last_insert_rowid(in->db->sql));
}

static enum lab_status add_nsys_run(struct lab_import *in, const char *uuid)
{
    struct lab_str sql;
    char now[32];
    lab_str_init(&sql);
    enum lab_status st = list_nsys_values(in, &sql);
    struct lab_stmt s = lab_stmt_built(in->db, &sql);
    if (st)
        s.st = st;
    lab_utc_text(lab_clock_wall_ns(), now);
    lab_bind_text(s.sql, 1, uuid);
    lab_bind_text(s.sql, 2, in->options->label);
    lab_bind_text(s.sql, 3, file_name(in));
    lab_bind_text(s.sql, 4, now);
    lab_bind_int(s.sql, 5, in->epoch_ns ? in->epoch_ns : LAB_UNKNOWN);
    st = lab_stmt_once(&s, "importing a run");
    return st ? st : map_run(in, 1);
}

static enum lab_status import_nsys_run(struct lab_import *in)
{
    char uuid[80];
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
    if (st == LAB_OK)
        st = import_exec(in,
                         "INSERT INTO temp.candidate VALUES (1, '%q', NULL, "
                         "(SELECT id FROM main.run WHERE uuid = '%q'), 0)",
                         uuid, uuid);
    if (st == LAB_OK)
        st = lab_database_int(in->db, "SELECT here FROM temp.candidate",
                              LAB_UNKNOWN, &here);
    if (st == LAB_OK && here == LAB_UNKNOWN)
        st = add_nsys_run(in, uuid);
    return st;
}

/* What every copy of a run of version 1 is called (profiles/schema_2.sql). */
#define OLD_UUID "printf('v1-%x-%x-%x-%x', started_ns, pid, processStart, id)"

/* What a run's columns must be beside their types; of some the value is another
 * here, as SQL. The others are copied as they are. */
static const struct run_column {
    const char *name;
    const char *bad;
    const char *value; /* "": not copied */
} run_columns[] = {
    {"id", "id NOT BETWEEN 1 AND 0x1FFFFFFFFFFFFF", ""},
    {"status",
     "status IS NULL OR status NOT IN ('running', 'done', 'cancelled', "
     "'failed', 'interrupted')",
     "CASE s.status WHEN 'running' THEN 'interrupted' ELSE s.status END"},
    {"rank", NULL, "ifnull(s.rank, 0)"},
    {"uuid", "length(uuid) > 80 OR uuid GLOB '*[^0-9A-Za-z-]*'", ""},
    {"label", NULL, ""},
    {"traceState",
     "traceState NOT IN ('never', 'on', 'off', 'mixed', 'kernels')", NULL},
    {"threads", "threads < 1", NULL},
    {"variantsFrom", "variantsFrom NOT IN ('measured', 'table', 'chosen')",
     NULL},
    {"validation", "NOT validation BETWEEN 0 AND 1", NULL},
    {"earlyStop", "earlyStop < 0", NULL},
    {"memoryPeak_bytes", "memoryPeak_bytes < 0", NULL},
    /* The program's own threads beside those that compute make it more than 100. */
    {"utilization_pct", "utilization_pct NOT BETWEEN 0 AND 1e5", NULL},
    {"energy_j", "energy_j NOT BETWEEN 0 AND 1e18", NULL},
    {"iteration_flop", "iteration_flop NOT BETWEEN 0 AND 1e18", NULL},
    {"warmIterations", "warmIterations < 0", NULL},
    {"warm_ns", "warm_ns < 0", NULL},
    {"warmEnergy_j", "warmEnergy_j NOT BETWEEN 0 AND 1e18", NULL},
    {"kind", "kind NOT IN ('lesson', 'lab')", ""},
    {"importedFrom", NULL, ""},
    {"imported", NULL, ""},
    {"summed", NULL, ""},
};
enum { RUN_COLUMNS = sizeof(run_columns) / sizeof(run_columns[0]) };

static const struct run_column *run_column(const char *name)
{
    for (int i = 0; i < RUN_COLUMNS; i++)
        if (strcmp(run_columns[i].name, name) == 0)
            return &run_columns[i];
    return NULL;
}

/* Those of the first version are in every file: so many without the last two,
 * which are of rows. */
static enum lab_status load_run_columns(struct lab_import *in)
{
    enum { FIRST = 42 };
    static const char *const later[] = {"uuid",
                                        "label",
                                        "importedFrom",
                                        "imported",
                                        "summed",
                                        "traceState",
                                        "learningRate",
                                        "lessonLearningRate",
                                        "kind",
                                        "threads",
                                        "variantsFrom",
                                        "optimizer",
                                        "rateSchedule",
                                        "validation",
                                        "earlyStop",
                                        "memoryPeak_bytes",
                                        "utilization_pct",
                                        "energy_j",
                                        "iteration_flop",
                                        "warmIterations",
                                        "warm_ns",
                                        "warmEnergy_j"};
    bool there;
    enum lab_status st = import_has_table(in, "run", &there);
    if (st == LAB_OK && there)
        st = load_columns(in, "run", &in->of_run);
    drop(&in->of_run, "kernelRowFirst");
    drop(&in->of_run, "kernelRowLast");
    int first = in->of_run.count;
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        first -= has(&in->of_run, later[i]);
    if (st == LAB_OK && first < FIRST)
        st = lab_fail(LAB_E_DB,
                      "[import.runs] %s: its table of runs is not one of "
                      "lapenna-lab: refused",
                      in->path);
    return st;
}

static enum lab_status check_run_values(struct lab_import *in)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT id FROM src.run WHERE 0");
    for (int i = 0; i < in->of_run.count; i++) {
        const struct column *c = &in->of_run.list[i];
        const struct run_column *special = run_column(c->name);
        lab_str_add(&sql, " OR ");
        add_complaint(&sql, c);
        if (special && special->bad)
            lab_str_addf(&sql, " OR %s", special->bad);
    }
    lab_str_add(&sql, " LIMIT 1");
    return check_none(in, "run", &in->of_run, &sql, "run ");
}

/* Every run of the file, and what is here of it. A run that its recorder left
 * as running is interrupted, unless the recorder lives on this machine. */
static enum lab_status list_runs(struct lab_import *in)
{
    return import_exec(
        in,
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
        has(&in->of_run, "uuid") ? "ifnull(uuid, " OLD_UUID ")" : OLD_UUID,
        has(&in->of_run, "label") ? "label" : "NULL");
}

static enum lab_status mark_living(struct lab_import *in)
{
    char host[256];
    lab_host_name(host, sizeof(host));
    struct lab_stmt s = lab_stmt_new(
        in->db, "SELECT id, pid, processStart FROM src.run WHERE status = "
                "'running' AND hostname = ?1");
    lab_bind_text(s.sql, 1, host);
    while (lab_stmt_next(&s)) {
        int64_t start = lab_process_start(sqlite3_column_int64(s.sql, 1));
        if (start >= 0 && start == sqlite3_column_int64(s.sql, 2))
            s.st = import_exec(
                in, "UPDATE temp.candidate SET alive = 1 WHERE old = %lld",
                sqlite3_column_int64(s.sql, 0));
    }
    return lab_stmt_end(&s);
}

/* What a run is; a file without it has it by the rule of
 * profiles/schema_5.sql, which has "lesson" for what may turn out a lab. */
static const char *kind_of(const struct columns *c)
{
    return has(c, "kind")           ? "s.kind"
           : has(c, "importedFrom") ? "CASE WHEN s.lesson NOTNULL OR "
                                      "s.importedFrom ISNULL THEN 'lesson' END"
                                    : "'lesson'";
}

static enum lab_status add_runs(struct lab_import *in)
{
    struct lab_str sql;
    struct lab_str from;
    char now[32];
    int64_t old = 0;
    lab_str_init(&sql);
    lab_str_init(&from);
    lab_str_add(&sql, "INSERT INTO main.run (uuid, label, importedFrom, "
                      "imported, kind");
    for (int i = 0; i < in->of_run.count; i++) {
        const char *name = in->of_run.list[i].name;
        const struct run_column *special = run_column(name);
        const char *value = special ? special->value : NULL;
        if (value && !*value)
            continue;
        lab_str_addf(&sql, ", \"%s\"", name);
        if (value)
            lab_str_addf(&from, ", %s", value);
        else
            lab_str_addf(&from, ", s.\"%s\"", name);
    }
    lab_str_addf(&sql,
                 ") SELECT c.uuid, ifnull(?2, c.label), ?3, ?4, %s%s FROM "
                 "src.run AS s JOIN temp.candidate AS c ON c.old = s.id WHERE "
                 "s.id = ?1",
                 kind_of(&in->of_run), lab_str_text(&from));
    sql.failed |= from.failed;
    lab_str_release(&from);
    struct lab_stmt s = lab_stmt_built(in->db, &sql);
    lab_utc_text(lab_clock_wall_ns(), now);
    lab_bind_text(s.sql, 2, in->options->label);
    lab_bind_text(s.sql, 3, file_name(in));
    lab_bind_text(s.sql, 4, now);
    while (!s.st) { /* one after the other, so that each new number is known */
        s.st = lab_database_int_of(in->db,
                                   "SELECT min(old) FROM temp.candidate WHERE "
                                   "here IS NULL AND NOT alive AND old > ?1",
                                   old, LAB_UNKNOWN, &old);
        if (s.st || old == LAB_UNKNOWN)
            break;
        sqlite3_bind_int64(s.sql, 1, old);
        lab_stmt_run(&s, "importing a run");
        if (!s.st)
            s.st = map_run(in, old);
    }
    return lab_stmt_end(&s);
}

static enum lab_status import_own_runs(struct lab_import *in)
{
    enum lab_status st = load_run_columns(in);
    if (st == LAB_OK)
        st = check_run_values(in);
    if (st == LAB_OK)
        st = list_runs(in);
    if (st == LAB_OK)
        st = mark_living(in);
    return st ? st : add_runs(in);
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
    int64_t ignored;
    enum lab_status st = lab_database_attach(in->db, in->path, query);
    if (st == LAB_OK)
        st = lab_database_int(in->db, "SELECT count(*) FROM src.sqlite_master",
                              0, &ignored);
    if (st == LAB_OK)
        return st;
    *again = lab_database_cannot_change(in->db->sql, in->path);
    st = blame_file(in, st); /* before anything else runs */
    sqlite3_exec(in->db->sql, "DETACH src", NULL, NULL, NULL);
    return st;
}

/* A database in WAL mode in a place that is only for reading: see
 * connect_for_reading(). */
static enum lab_status attach(struct lab_import *in)
{
    bool again = false;
    enum lab_status st = attach_as(in, "?mode=ro", &again);
    if (st && again)
        st = attach_as(in, "?mode=ro&immutable=1", &again);
    return st;
}

static const char take_another[] = "take another copy of it";

static enum lab_status check_file(const struct lab_import *in)
{
    struct stat info;
    if (stat(in->path, &info))
        return lab_fail(errno == ENOENT ? LAB_E_NOTFOUND : LAB_E_DB,
                        "[import.open] %s: %s", in->path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return lab_fail(LAB_E_DB, "[import.not-file] %s: not a file", in->path);
    if (info.st_size == 0)
        return lab_fail(LAB_E_DB, "[import.empty] %s: the file is empty",
                        in->path);
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
        if (version < 1)
            return lab_fail(LAB_E_DB,
                            "[import.schema] %s: damaged: its schema is %lld, "
                            "where the first is 1; %s",
                            in->path, (long long)version, take_another);
        if (version > lab_database_schema_version())
            return lab_fail(
                LAB_E_DB,
                "[import.newer] %s: written by a newer program (schema %lld, "
                "this one knows up to %d); update lapenna-lab",
                in->path, (long long)version, lab_database_schema_version());
        in->schema = version;
        return LAB_OK;
    }
    st = import_has_table(in, "op_kernel", &there);
    if (st == LAB_OK && there && id == 0)
        return lab_fail(
            LAB_E_DB,
            "[import.no-id] %s: tables of lapenna-lab, without its "
            "application_id: damaged, or a copy of the tables alone; %s",
            in->path, take_another);
    if (st)
        return st;
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
        st = lab_fail(
            LAB_E_DB,
            "[import.foreign] %s: neither a database of lapenna-lab nor an "
            "SQLite export of Nsight Systems (nsys export --type sqlite)",
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
        st = lab_database_int_of(
            in->db, "SELECT min(new) FROM temp.run_map WHERE new > ?1", run,
            LAB_UNKNOWN, &run);
        if (st == LAB_OK && run != LAB_UNKNOWN)
            st = does(in, run);
    }
    return st;
}

/* A run that ships has the rows of its first iterations and the sums of all:
 * those stay. Of other runs they are added up anew, for a list of iterations in
 * them names rows of the file. */
static enum lab_status keep_sums(struct lab_import *in)
{
    return import_exec(
        in, "DELETE FROM main.time_sum WHERE runId IN (SELECT new FROM "
            "temp.run_map) AND (level NOT BETWEEN 0 AND 4 OR runId NOT IN "
            "(SELECT t.runId FROM main.time_sum AS t WHERE t.level = 3 AND "
            "t.runId IN (SELECT new FROM temp.run_map) GROUP BY t.runId HAVING "
            "sum(t.count) > (SELECT count(*) FROM main.step AS s WHERE s.runId "
            "= t.runId)));"
            "UPDATE main.run SET summed = 1 WHERE id IN (SELECT new FROM "
            "temp.run_map) AND id IN (SELECT runId FROM main.time_sum)");
}

/* Adding up reads the rows between a run's first and last kernel. A file with
 * many runs that are mixed row by row would have all of them read for each run: such
 * runs are added up when they are looked at. */
static enum lab_status sum_up(struct lab_import *in, int64_t run)
{
    int64_t near = 0;
    enum lab_status st = lab_database_int_of(
        in->db,
        "SELECT kernelRowLast - kernelRowFirst < 4096 + 8 * (SELECT n FROM "
        "temp.kernel_range WHERE run = ?1) OR kernelRowLast < kernelRowFirst "
        "FROM main.run WHERE id = ?1",
        run, 0, &near);
    return st || !near ? st : lab_time_sums_keep(in->db, run);
}

/* Between which rows a run's kernels lie; none: between 1 and 0. */
static enum lab_status find_ranges(struct lab_import *in)
{
    return import_exec(
        in,
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
}

/* A file of an older version does not mark which of its runs are labs. */
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
    for (int i = 0; i < 3 && st == LAB_OK; i++)
        st = lab_database_int(in->db, last[i], 0, &in->rows_before[i]);
    if (st == LAB_OK)
        st = import_copy_tables(in);
    if (st == LAB_OK)
        st = import_copy_devices(in);
    if (st == LAB_OK && in->nsys)
        st =
            import_exec(in,
                        "INSERT INTO main.op_kernel (kernelRow, runId) SELECT "
                        "kernelRow, runId FROM main.CUPTI_ACTIVITY_KIND_KERNEL "
                        "WHERE kernelRow > %lld",
                        in->rows_before[0]);
    if (st == LAB_OK)
        st = find_ranges(in);
    if (st == LAB_OK && in->nsys && in->host)
        st = each_new_run(in, import_range_steps);
    if (st == LAB_OK && !in->nsys && !has(&in->of_run, "kind"))
        st = find_labs(in);
    if (st == LAB_OK)
        st = keep_sums(in);
    return st ? st : each_new_run(in, sum_up);
}

/* All but the end of the transaction. */
static enum lab_status import_all(struct lab_import *in,
                                  struct lab_import_report *report)
{
    enum lab_status st = check_structure(in);
    /* Not before: it would end at a long text, and not report where that is. */
    sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, LAB_IMPORT_MOST_BYTES);
    if (st == LAB_OK)
        st = find_kind(in);
    if (st == LAB_OK)
        st = import_check_tables(in);
    if (st == LAB_OK)
        st = import_check_devices(in);
    if (st)
        return blame_file(in, st); /* until here it is only read */
    st = import_exec(
        in, "CREATE TEMP TABLE run_map (old INTEGER PRIMARY KEY, new INTEGER "
            "NOT NULL UNIQUE);"
            "CREATE TEMP TABLE candidate (old INTEGER PRIMARY KEY, uuid TEXT, "
            "label TEXT, here INTEGER, alive INTEGER);"
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
    /* Checking only reads, but the pragmas that list columns read the schema
     * of this database too, and a reader cannot wait to become a writer. */
    st = lab_database_begin(db, "importing");
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
