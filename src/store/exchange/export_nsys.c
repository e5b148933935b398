/* export_nsys.c -- a run as an SQLite file with the tables of an Nsight Systems
 * export. */
#include <string.h>

#include "export_priv.h"

/* The tables that hold a run's rows; `range` where the run has between which
 * rows they lie. */
static const struct table {
    const char *name;
    bool kernels;      /* between run.kernelRowFirst and kernelRowLast */
    bool all;          /* of every run: constants */
    bool cut;          /* to the time of the iterations */
    const char *whole; /* these rows stay, whenever they were */
    bool stays;        /* without rows too: its readers look without asking */
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", true, .cut = true,
     .whole = "(SELECT o.stepExec FROM src.op_kernel AS o WHERE o.kernelRow = "
              "CUPTI_ACTIVITY_KIND_KERNEL.kernelRow) IS NOT -1"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", .cut = true, .stays = true},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", .cut = true},
    {"CUPTI_ACTIVITY_KIND_MEMSET", .cut = true},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", .cut = true},
    {"NVTX_EVENTS", .cut = true, .whole = "category IS NOT 5", .stays = true},
    {"PROFILER_OVERHEAD", false, false},
    {"TARGET_INFO_GPU", false, false},
    {"TARGET_INFO_SESSION_START_TIME", false, false},
    {"META_DATA_CAPTURE", false, false},
    {"ENUM_CUDA_MEMCPY_OPER", false, true},
    {"ENUM_CUDA_MEM_KIND", false, true},
    {"ENUM_CUDA_KERNEL_LAUNCH_TYPE", false, true},
    {"ENUM_CUDA_FUNC_CACHE_CONFIG", false, true},
    {"ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG", false, true},
    {"ENUM_CUPTI_SYNC_TYPE", false, true},
    {"ENUM_NSYS_EVENT_TYPE", false, true},
    {"ENUM_NSYS_EVENT_CLASS", false, true},
};

static const char kernel_range[] =
    " AND kernelRow >= ifnull((SELECT kernelRowFirst FROM src.run WHERE id = "
    "?1), 0) AND kernelRow <= ifnull((SELECT kernelRowLast FROM src.run WHERE "
    "id = ?1), 0x7FFFFFFFFFFFFFFF)";

/* The last iteration that began before its end, and whether it was over. */
static const char in_window[] =
    "(SELECT w.to_ns FROM temp.iteration AS w WHERE w.from_ns <= \"end\" "
    "ORDER BY w.from_ns DESC LIMIT 1) >= start";

/* Calls and ranges of one thread have one number in nsys, and its reports join
 * by it. Older versions recorded the number of CUPTI's default kind for calls:
 * where there is but one of each it is the same thread. */
static const char one_thread_sql[] =
    "UPDATE main.CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = (SELECT "
    "min(globalTid) FROM main.NVTX_EVENTS) WHERE (SELECT uuid NOT LIKE "
    "'nsys-%' FROM src.run WHERE id = ?1) AND (SELECT count(DISTINCT globalTid)"
    " = 1 FROM main.NVTX_EVENTS) AND (SELECT count(DISTINCT globalTid) = 1 FROM"
    " main.CUPTI_ACTIVITY_KIND_RUNTIME) AND globalTid >> 24 = (SELECT "
    "min(globalTid) >> 24 FROM main.NVTX_EVENTS)";

/* Rows that describe the database, and the names that are in use. A range has
 * its name in both places, for some readers look at one only. */
static const char rest_sql[] =
    "UPDATE main.NVTX_EVENTS SET text = (SELECT value FROM src.StringIds WHERE "
    "id = textId) WHERE text IS NULL;"
    "INSERT INTO main.META_DATA_EXPORT (name, value) SELECT name, value FROM "
    "src.META_DATA_EXPORT WHERE runId IS NULL OR runId = ?1;"
    "INSERT INTO main.TARGET_INFO_CUDA_DEVICE SELECT g.id, ifnull(g.cuDevice, "
    "g.id), r.pid, g.uuid, g.smCount FROM src.TARGET_INFO_GPU AS g JOIN "
    "src.run AS r ON r.id = g.runId WHERE g.runId = ?1;"
    "UPDATE main.TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?2;"
    "INSERT INTO main.StringIds (id, value) SELECT id, value FROM "
    "src.StringIds WHERE id IN ("
    " SELECT demangledName FROM main.CUPTI_ACTIVITY_KIND_KERNEL"
    " UNION SELECT shortName FROM main.CUPTI_ACTIVITY_KIND_KERNEL"
    " UNION SELECT mangledName FROM main.CUPTI_ACTIVITY_KIND_KERNEL"
    " UNION SELECT nameId FROM main.CUPTI_ACTIVITY_KIND_RUNTIME"
    " UNION SELECT textId FROM main.NVTX_EVENTS"
    " UNION SELECT nameId FROM main.PROFILER_OVERHEAD)";

/* The processes of the threads. Of a run that was imported from nsys only their
 * numbers are known. */
static const char threads_sql[] =
    "CREATE TEMP TABLE thread AS SELECT globalTid AS tid, CASE WHEN globalTid "
    "& 0xFFFFFF = globalTid >> 24 & 0xFFFFFF AND (SELECT uuid NOT LIKE "
    "'nsys-%' FROM src.run WHERE id = ?1) THEN 'lapenna-lab' ELSE 'thread ' "
    "|| (globalTid & 0xFFFFFF) END AS name FROM "
    "(SELECT globalTid FROM main.CUPTI_ACTIVITY_KIND_RUNTIME"
    " UNION SELECT globalTid FROM main.NVTX_EVENTS"
    " UNION SELECT globalTid FROM main.PROFILER_OVERHEAD)"
    " WHERE globalTid IS NOT NULL;"
    "INSERT INTO main.StringIds (value) SELECT DISTINCT name FROM temp.thread "
    "WHERE name NOT IN (SELECT value FROM main.StringIds);"
    "INSERT INTO main.ThreadNames (nameId, globalTid) SELECT min(s.id), t.tid "
    "FROM temp.thread AS t JOIN main.StringIds AS s ON s.value = t.name "
    "GROUP BY t.tid;"
    "INSERT INTO main.PROCESSES SELECT pid, pid >> 24 & 0xFFFFFF, (SELECT "
    "'lapenna-lab' FROM src.run WHERE id = ?1 AND uuid NOT LIKE 'nsys-%') "
    "FROM (SELECT tid & ~0xFFFFFF AS pid FROM temp.thread UNION SELECT "
    "globalPid FROM main.CUPTI_ACTIVITY_KIND_KERNEL) WHERE pid IS NOT NULL";

/* The launch of a variant that was traced, as a range of the thread that made it. A
 * lab records none of its own, and of its kernels one is called like another. */
static const char variant_range_sql[] =
    "INSERT INTO main.NVTX_EVENTS (start, end, eventType, category, globalTid, "
    "domainId, textId, text) SELECT s.start_ns - ?2, s.end_ns - ?2, 59, 4, "
    "(r.pid & 0xFFFFFF) << 24 | (r.pid & 0xFFFFFF), 1, t.id, t.value FROM "
    "src.step AS s JOIN src.run AS r ON r.id = s.runId JOIN main.StringIds AS "
    "t ON t.value = ?4 WHERE s.runId = ?1 AND s.stepIndex = ?3 AND s.start_ns "
    "IS NOT NULL AND s.end_ns IS NOT NULL";
static const char variant_name_sql[] =
    "INSERT INTO main.StringIds (value) SELECT ?1 WHERE NOT EXISTS (SELECT 1 "
    "FROM main.StringIds WHERE value = ?1)";

struct nsys {
    struct lab_database out;
    struct lab_bench_names bench_names;
    struct lab_export_windows windows;
    int64_t run;
    int64_t base;
};

static const char exporting[] = "exporting a run";

static enum lab_status step_all(struct nsys *n, struct lab_stmt *s)
{
    sqlite3_bind_int64(s->sql, 1, n->run);
    sqlite3_bind_int64(s->sql, 2, n->base);
    return lab_stmt_once(s, exporting);
}

/* Its own columns, as text to select and to insert. */
static enum lab_status list_columns(struct nsys *n, const struct table *table,
                                    struct lab_str *to, struct lab_str *from)
{
    struct lab_stmt s =
        lab_stmt_new(&n->out, "SELECT '\"' || name || '\"', iif(name IN "
                              "('start', 'end'), ' - ?2', '') FROM "
                              "pragma_table_info(?1, 'main')");
    lab_bind_text(s.sql, 1, table->name);
    while (lab_stmt_next(&s)) {
        const char *comma = to->len ? ", " : "";
        const char *name = lab_column_text(&s);
        lab_str_addf(to, "%s%s", comma, name);
        lab_str_addf(from, "%s%s%s", comma, name, lab_column_text(&s));
    }
    return lab_stmt_end(&s);
}

static enum lab_status copy_table(struct nsys *n, const struct table *table)
{
    struct lab_str to;
    struct lab_str from;
    struct lab_str sql;
    lab_str_init(&to);
    lab_str_init(&from);
    lab_str_init(&sql);
    enum lab_status st = list_columns(n, table, &to, &from);
    lab_str_addf(&sql, "INSERT INTO main.%s (%s) SELECT %s FROM src.%s",
                 table->name, lab_str_text(&to), lab_str_text(&from),
                 table->name);
    if (!table->all)
        lab_str_addf(&sql, " WHERE runId = ?1%s",
                     table->kernels ? kernel_range : "");
    if (table->cut && n->windows.count)
        lab_str_addf(&sql, " AND (%s OR %s)", table->whole ? table->whole : "0",
                     in_window);
    sql.failed |= to.failed || from.failed;
    lab_str_release(&to);
    lab_str_release(&from);
    struct lab_stmt s = lab_stmt_built(&n->out, &sql);
    if (st)
        s.st = st;
    return step_all(n, &s);
}

static enum lab_status run_all(struct nsys *n, const char *sql)
{
    for (;;) {
        struct lab_stmt s = lab_stmt_of(&n->out, &sql, exporting);
        if (!s.sql || step_all(n, &s))
            return s.st;
    }
}

static enum lab_status add_variants(struct nsys *n)
{
    struct lab_stmt name = lab_stmt_new(&n->out, variant_name_sql);
    struct lab_stmt range = lab_stmt_new(&n->out, variant_range_sql);
    enum lab_status st = name.st ? name.st : range.st;
    for (size_t i = 0; i < n->bench_names.count && !st; i++) {
        const struct lab_bench_name *bench_name = &n->bench_names.items[i];
        if (!bench_name->traced)
            continue;
        lab_bind_text(name.sql, 1, bench_name->name);
        sqlite3_bind_int64(range.sql, 1, n->run);
        sqlite3_bind_int64(range.sql, 2, n->base);
        sqlite3_bind_int64(range.sql, 3, bench_name->step_index);
        lab_bind_text(range.sql, 4, bench_name->name);
        st = lab_stmt_run(&name, exporting);
        if (!st)
            st = lab_stmt_run(&range, exporting);
    }
    lab_stmt_end(&name);
    lab_stmt_end(&range);
    return st;
}

/* nsys makes a table when its first row comes. */
static enum lab_status drop_empty(struct nsys *n)
{
    enum lab_status st = LAB_OK;
    static const char *const more[] = {"TARGET_INFO_CUDA_DEVICE", "PROCESSES",
                                       "ThreadNames"};
    size_t count = sizeof(tables) / sizeof(tables[0]);
    size_t all = count + sizeof(more) / sizeof(more[0]);
    for (size_t i = 0; i < all && st == LAB_OK; i++) {
        char sql[128];
        int64_t rows;
        const char *name = i < count ? tables[i].name : more[i - count];
        sqlite3_snprintf(sizeof(sql), sql, "SELECT 1 FROM main.%s LIMIT 1",
                         name);
        if (i < count && tables[i].stays)
            continue;
        st = lab_database_int(&n->out, sql, 0, &rows);
        sqlite3_snprintf(sizeof(sql), sql, "DROP TABLE main.%s", name);
        if (st == LAB_OK && rows == 0)
            st = lab_database_exec(&n->out, sql, exporting);
    }
    return st;
}

static enum lab_status attach(struct nsys *n, const struct lab_database *db)
{
    bool writing = !db->query || !db->query[0];
    return lab_database_attach(&n->out, db->path,
                               writing ? "?mode=ro" : db->query);
}

static enum lab_status put_windows(struct nsys *n)
{
    enum lab_status st =
        lab_database_exec(&n->out,
                          "CREATE TEMP TABLE iteration (from_ns INTEGER "
                          "PRIMARY KEY, to_ns INTEGER)",
                          exporting);
    if (st)
        return st;
    struct lab_stmt s =
        lab_stmt_new(&n->out, "INSERT INTO temp.iteration VALUES (?1, ?2)");
    for (size_t i = 0; i < n->windows.count && !s.st; i++) {
        sqlite3_bind_int64(s.sql, 1, n->windows.items[i].from_ns);
        sqlite3_bind_int64(s.sql, 2, n->windows.items[i].to_ns);
        lab_stmt_run(&s, exporting);
    }
    return lab_stmt_end(&s);
}

static enum lab_status fill(struct nsys *n)
{
    enum lab_status st = lab_database_exec(&n->out, "BEGIN", exporting);
    if (st == LAB_OK)
        st = put_windows(n);
    if (st == LAB_OK)
        st = run_all(n, lab_sql_nsys_schema);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !st; i++)
        st = copy_table(n, &tables[i]);
    if (st == LAB_OK)
        st = run_all(n, one_thread_sql);
    if (st == LAB_OK)
        st = run_all(n, rest_sql);
    if (st == LAB_OK)
        st = add_variants(n);
    if (st == LAB_OK)
        st = run_all(n, threads_sql);
    if (st == LAB_OK)
        st = drop_empty(n);
    return st ? st : lab_database_exec(&n->out, "COMMIT", exporting);
}

static enum lab_status make_file(struct nsys *n, const char *path,
                                 const struct lab_database *db)
{
    enum lab_status st = LAB_OK;
    n->out.path = lab_strdup(path);
    if (!n->out.path)
        return lab_no_memory("a path");
    if (sqlite3_open_v2(path, &n->out.sql,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                            SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        st = lab_database_error(&n->out, exporting);
    if (st == LAB_OK)
        st = lab_database_exec(&n->out, "PRAGMA journal_mode = MEMORY",
                               exporting);
    if (st == LAB_OK)
        st = attach(n, db);
    if (st == LAB_OK)
        st = fill(n);
    sqlite3_close(n->out.sql);
    lab_free(n->out.path);
    return st;
}

enum lab_status lab_export_nsys(const char *path, struct lab_database *db,
                                int64_t run, bool all)
{
    struct nsys n = {.run = run};
    enum lab_status st = lab_bench_names_load(&n.bench_names, db, run);
    if (st == LAB_OK && !all)
        st = lab_export_windows_load(&n.windows, db, run,
                                     n.bench_names.count > 0);
    if (st == LAB_OK)
        st = lab_export_base(db, run, &n.base);
    if (st == LAB_OK)
        st = make_file(&n, path, db);
    lab_bench_names_release(&n.bench_names);
    lab_export_windows_release(&n.windows);
    return st;
}
