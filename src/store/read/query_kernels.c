/* The kernels of a run, sorted, and the first of a sort without the rest. */
#include "store/launch.h"

#include "db/row.h"
#include "index/index.h"
#include "store/limit_words.h"
#include "store/row_fields.h"

/* What kernels are sorted by. A key is a number, or unknown: where one of its
 * columns is NULL, a text or a blob, and where it has no room in 64 bits. SQL
 * by itself would take a text for 0 and turn a large product into a real. Texts
 * and blobs are above every number; the least of these is taken for unknown. A
 * real in a column of integers counts as C reads it. */
#define KNOWN(column) column " BETWEEN -9223372036854775807 AND 1e999"
#define INT(column) "CAST(" column " AS INTEGER)"
#define WITH_ROOM(known, value)                                                \
    "CASE WHEN " known " AND " value " BETWEEN -9223372036854775807 AND "      \
    "9223372036854775807 THEN CAST(" value " AS INTEGER) END"
#define ONE(a) WITH_ROOM(KNOWN(a), INT(a))
#define TWO(a, sign, b) WITH_ROOM(KNOWN(a) " AND " KNOWN(b), INT(a) sign INT(b))
#define PRODUCT(a, b, c)                                                       \
    WITH_ROOM(KNOWN(a) " AND " KNOWN(b) " AND " KNOWN(c),                      \
              INT(a) " * " INT(b) " * " INT(c))
#define REAL(a) "CASE WHEN " a " <= 1e999 THEN " a " END"

/* The only text that is put into a query: constants of the program. */
static const struct {
    const char *name;
    const char *key;
    char table; /* of the key: o, op_kernel; k, the kernel; s, the step; d, the
                   text of its name */
} sorts[LAB_KERNEL_SORT_COUNT] = {
    [LAB_KERNEL_BY_ROW] = {"row", "o.kernelRow", 'o'},
    [LAB_KERNEL_BY_START] = {"start", ONE("k.start"), 'k'},
    [LAB_KERNEL_BY_TIME] = {"time", TWO("k.\"end\"", " - ", "k.start"), 'k'},
    [LAB_KERNEL_BY_NAME] = {"name", "demangled.value", 'd'},
    [LAB_KERNEL_BY_STEP] = {"step", ONE("s.stepIndex"), 's'},
    [LAB_KERNEL_BY_GRID] = {"grid", PRODUCT("k.gridX", "k.gridY", "k.gridZ"),
                            'k'},
    [LAB_KERNEL_BY_BLOCK] = {"block",
                             PRODUCT("k.blockX", "k.blockY", "k.blockZ"), 'k'},
    [LAB_KERNEL_BY_REGISTERS] = {"registers", ONE("k.registersPerThread"), 'k'},
    [LAB_KERNEL_BY_SHARED] = {"shared",
                              TWO("k.staticSharedMemory", " + ",
                                  "k.dynamicSharedMemory"),
                              'k'},
    [LAB_KERNEL_BY_OCCUPANCY] = {"occupancy", REAL("o.occupancy_pct"), 'o'},
};

const char *lab_kernel_sort_name(enum lab_kernel_sort sort)
{
    return (unsigned)sort < LAB_KERNEL_SORT_COUNT ? sorts[sort].name : NULL;
}

/* "registers+blocks", or NULL. */
static const char *limit_text(const void *row, char *out, size_t cap)
{
    const struct lab_kernel_row *r = row;
    return lab_limit_text(r->occupancy_limit, out, cap);
}

static const char *step_text(const void *row, char *out, size_t cap)
{
    const struct lab_kernel_row *r = row;
    (void)out;
    (void)cap;
    return lab_bench_name_text(r->rung, r->step);
}

static const char *kernel_text(const void *row, char *out, size_t cap)
{
    const struct lab_kernel_row *r = row;
    (void)out;
    (void)cap;
    return r->short_name ? r->short_name : r->name;
}

#define FIELD(column_, kind_, member, ...)                                     \
    {                                                                          \
        .column = column_, .kind = LAB_FIELD_##kind_,                          \
        .at = offsetof(struct lab_kernel_row, member), __VA_ARGS__             \
    }
#define SHOWN(title_, place_, show_)                                           \
    .title = title_, .place = place_, .show = LAB_SHOW_##show_

/* In the order of CSV and JSON. */
static const struct lab_field fields[] = {
    FIELD("k.kernelRow", INT, row, .key = ""),
    FIELD("o.stepExec", INT, exec, .key = "exec"),
    FIELD("s.iteration", INT, iteration, .key = "iteration",
          SHOWN(">iteration", 1, PLAIN)),
    FIELD("s.stepIndex", INT, step_index, .key = "step_index"),
    FIELD("stepName.value", TEXT, step, .key = "step", .csv = "step_of"),
    FIELD(NULL, TEXT, step, SHOWN("step", 2, PLAIN), .text = step_text),
    FIELD("phaseName.name", TEXT, phase, .key = "phase", .csv = "phase_of",
          SHOWN("phase", 3, PLAIN)),
    FIELD("demangled.value", TEXT, name, .key = "name", .csv = "kernel"),
    FIELD("short.value", TEXT, short_name, .key = "short_name",
          .csv = "kernel_short"),
    FIELD("k.start", INT, start_ns, .key = "start_ns"),
    FIELD("k.\"end\"", INT, end_ns, .key = "end_ns"),
    FIELD(NULL, INT, time_ns, .key = "time_ns", SHOWN(">time", 4, NS)),
    FIELD("k.deviceId", INT, device, .key = "device"),
    FIELD("k.contextId", INT, context, .key = "context"),
    FIELD("k.streamId", INT, stream, .key = "stream"),
    FIELD("k.correlationId", INT, correlation, .key = "correlation"),
    FIELD("k.gridX, k.gridY, k.gridZ", DIMS, launch.grid, .key = "grid",
          SHOWN(">grid", 5, PLAIN)),
    FIELD("k.blockX, k.blockY, k.blockZ", DIMS, launch.block, .key = "block",
          SHOWN(">block", 6, PLAIN)),
    FIELD("k.clusterX, k.clusterY, k.clusterZ", DIMS, launch.cluster,
          .key = "cluster"),
    FIELD("k.registersPerThread", INT, launch.registers_per_thread,
          .key = "registers_per_thread", SHOWN(">registers", 7, PLAIN)),
    FIELD("k.staticSharedMemory", INT, launch.static_shared_bytes,
          .key = "static_shared_bytes"),
    FIELD("k.dynamicSharedMemory", INT, launch.dynamic_shared_bytes,
          .key = "dynamic_shared_bytes"),
    FIELD(NULL, INT, shared_bytes, SHOWN(">shared", 8, BYTES)),
    FIELD("k.sharedMemoryExecuted", INT, shared_executed_bytes,
          .key = "shared_executed_bytes"),
    FIELD("k.localMemoryPerThread", INT, local_per_thread_bytes,
          .key = "local_per_thread_bytes"),
    FIELD("k.graphNodeId", INT, graph_node, .key = "graph_node"),
    FIELD("o.occupancy_pct", REAL, occupancy_pct, .key = "occupancy_pct",
          SHOWN(">occupancy", 9, PCT)),
    FIELD("o.occupancyLimit", INT, occupancy_limit, .key = "occupancy_limit",
          SHOWN("limit", 10, PLAIN), .text = limit_text),
    FIELD("o.activeBlocksPerSm", INT, active_blocks_per_sm,
          .key = "active_blocks_per_sm"),
    FIELD(NULL, TEXT, name, SHOWN("kernel", 14, PLAIN), .text = kernel_text),
};
LAB_FIELDS_TABLE(lab_kernel_fields, lab_kernel_row);

static void read_kernel(sqlite3_stmt *stmt, struct lab_kernel_row *r)
{
    struct lab_columns c = {stmt, 0};
    lab_fields_take(&c, &lab_kernel_fields, r);
    r->time_ns = lab_span_ns(r->start_ns, r->end_ns);
    r->shared_bytes = lab_launch_shared(&r->launch);
}

/* ---- the rows of a page ---- */

struct page {
    int64_t *rows;
    int64_t n;
};

/* A narrow query: without the names and steps of every row. `zones`: of the
 * zones that have the page (index/index.h), and of kernels with a value; the
 * others come last, and may be in no zone. */
static enum lab_status make_pick(const struct lab_kernel_filter *f, bool zones,
                                 struct lab_str *sql)
{
    char table = sorts[f->sort].table;
    const char *key = sorts[f->sort].key;
    lab_str_add(sql, "SELECT o.kernelRow FROM ");
    if (zones) {
        lab_index_add_zones(sql, f->sort, f->descending);
        lab_str_add(sql, " AS z CROSS JOIN ");
    }
    lab_str_add(sql, "op_kernel AS o ");
    if (table == 'k' || table == 'd')
        lab_str_add(sql, "CROSS JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON "
                         "k.kernelRow = o.kernelRow ");
    if (table == 'd')
        lab_str_add(sql, "LEFT JOIN StringIds AS demangled ON demangled.id = "
                         "k.demangledName ");
    if (table == 's')
        lab_str_add(sql, "LEFT JOIN step AS s ON s.runId = o.runId AND s.exec "
                         "= o.stepExec ");
    lab_str_add(sql, "WHERE o.kernelRow BETWEEN ?2 AND ?3 AND o.runId = ?1 AND "
                     "o.stepExec IS NOT -1 ");
    if (zones)
        lab_str_addf(sql,
                     "AND o.kernelRow BETWEEN z.first AND z.last AND %s "
                     "NOTNULL ",
                     key);
    lab_str_addf(sql, "ORDER BY %s %s NULLS LAST, o.kernelRow LIMIT ?4", key,
                 f->descending ? "DESC" : "ASC");
    return lab_str_check(sql, "a query");
}

/* The rows that a run's kernels are in. */
struct span {
    int64_t first;
    int64_t last;
};

static enum lab_status find_span(struct lab_database *db, int64_t run,
                                 struct span *out)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT ifnull(kernelRowFirst, 0), ifnull(kernelRowLast, "
        "0x7FFFFFFFFFFFFFFF) FROM run WHERE id = ?1",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    *out = (struct span){0, INT64_MAX};
    if (rc == SQLITE_ROW) {
        out->first = lab_column_int(&c);
        out->last = lab_column_int(&c);
    }
    return lab_query_end(db, stmt, rc);
}

static void bind(sqlite3_stmt *stmt, int64_t run,
                 const struct lab_kernel_filter *f, const struct span *at)
{
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int64(stmt, 2, at->first);
    sqlite3_bind_int64(stmt, 3, at->last);
    sqlite3_bind_int64(stmt, 4, f->limit > 0 ? f->limit : -1);
}

static enum lab_status pick_rows(struct lab_database *db, int64_t run,
                                 const struct lab_kernel_filter *f,
                                 const struct span *at, bool zones,
                                 struct page *page)
{
    struct lab_str sql;
    sqlite3_stmt *stmt = NULL;
    int rc = SQLITE_DONE;
    page->n = 0;
    lab_str_init(&sql);
    enum lab_status st = make_pick(f, zones, &sql);
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    bind(stmt, run, f, at);
    while (page->n < f->limit && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        page->rows[page->n++] = sqlite3_column_int64(stmt, 0);
    return lab_query_end(db, stmt, rc);
}

/* ---- rows with everything ---- */

static enum lab_status prepare_kernels(struct lab_database *db,
                                       const struct lab_kernel_filter *f,
                                       sqlite3_stmt **out)
{
    struct lab_str sql;
    const char *turn = f->descending ? "DESC" : "ASC";
    lab_str_init(&sql);
    lab_fields_select(&sql, &lab_kernel_fields);
    lab_str_addf(&sql, " %s", lab_sql_kernels);
    if (!f->between)
        lab_str_add(&sql, "AND o.stepExec IS NOT -1 ");
    if (f->sort == LAB_KERNEL_BY_ROW)
        lab_str_addf(&sql, "ORDER BY o.kernelRow %s LIMIT ?4", turn);
    else
        lab_str_addf(&sql, "ORDER BY %s %s NULLS LAST, o.kernelRow LIMIT ?4",
                     sorts[f->sort].key, turn);
    enum lab_status st =
        sql.failed ? lab_no_memory("a query")
                   : lab_database_prepare(db, lab_str_text(&sql), out);
    lab_str_release(&sql);
    return st;
}

/* Who gets the rows. */
struct taker {
    lab_kernel_row_fn *each;
    void *user;
    struct lab_bench_names rungs; /* of a lab: which each kernel is of */
};

static bool give(const struct taker *t, sqlite3_stmt *stmt)
{
    struct lab_kernel_row row;
    read_kernel(stmt, &row);
    row.rung = lab_bench_name_find(&t->rungs, row.step_index);
    return t->each(t->user, &row);
}

static enum lab_status query_all(struct lab_database *db, int64_t run,
                                 const struct lab_kernel_filter *filter,
                                 const struct span *at,
                                 const struct taker *taker)
{
    sqlite3_stmt *stmt;
    int rc;
    enum lab_status st = prepare_kernels(db, filter, &stmt);
    if (st)
        return st;
    bind(stmt, run, filter, at);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        if (!give(taker, stmt))
            break;
    return lab_query_end(db, stmt, rc);
}

static enum lab_status query_page(struct lab_database *db, int64_t run,
                                  const struct page *page,
                                  const struct taker *taker)
{
    const struct lab_kernel_filter one = {.between = true};
    sqlite3_stmt *stmt;
    bool more = true;
    enum lab_status st = prepare_kernels(db, &one, &stmt);
    if (st)
        return st;
    for (int64_t i = 0; i < page->n && more && st == LAB_OK; i++) {
        const struct span at = {page->rows[i], page->rows[i]};
        bind(stmt, run, &one, &at);
        int rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW)
            more = give(taker, stmt);
        else if (rc != SQLITE_DONE)
            st = lab_database_error(db, "reading it");
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    return st;
}

/* The first rows of a sort are picked before they are read whole. */
static enum lab_status query(struct lab_database *db, int64_t run,
                             const struct lab_kernel_filter *filter,
                             const struct taker *taker)
{
    enum { MOST = 100000 };
    struct span at;
    struct page page = {.n = 0};
    enum lab_status st = find_span(db, run, &at);
    if (st)
        return st;
    if (filter->limit <= 0 || filter->limit > MOST || filter->between ||
        filter->sort == LAB_KERNEL_BY_ROW)
        return query_all(db, run, filter, &at, taker);
    page.rows = lab_alloc_array((size_t)filter->limit, sizeof(*page.rows));
    if (!page.rows)
        return lab_no_memory("a page of kernels");
    st = pick_rows(db, run, filter, &at, true, &page);
    if (st == LAB_OK && page.n < filter->limit)
        st = pick_rows(db, run, filter, &at, false, &page);
    if (st == LAB_OK)
        st = query_page(db, run, &page, taker);
    lab_free(page.rows);
    return st;
}

struct one {
    lab_kernel_row_fn *each;
    void *user;
    bool found;
};

static bool take_one(void *user, const struct lab_kernel_row *row)
{
    struct one *one = user;
    one->found = true;
    return one->each(one->user, row);
}

enum lab_status lab_query_launch(struct lab_database *db, int64_t run,
                                 int64_t row, lab_kernel_row_fn *each,
                                 void *user)
{
    struct one one = {each, user, false};
    struct taker taker = {.each = take_one, .user = &one};
    const struct page page = {&row, 1};
    enum lab_status st = lab_bench_names_load(&taker.rungs, db, run);
    if (st)
        return st;
    st = query_page(db, run, &page, &taker);
    lab_bench_names_release(&taker.rungs);
    if (st || one.found)
        return st;
    return lab_fail(LAB_E_NOTFOUND, "%s: run %lld has no such launch", db->path,
                    (long long)run);
}

enum lab_status lab_query_kernels(struct lab_database *db, int64_t run,
                                  const struct lab_kernel_filter *filter,
                                  lab_kernel_row_fn *each, void *user)
{
    struct taker taker = {.each = each, .user = user};
    if ((unsigned)filter->sort >= LAB_KERNEL_SORT_COUNT)
        return lab_fail(LAB_E_ARG, "kernels have no such column to sort by");
    enum lab_status st = lab_bench_names_load(&taker.rungs, db, run);
    if (st)
        return st;
    st = query(db, run, filter, &taker);
    lab_bench_names_release(&taker.rungs);
    return st;
}
