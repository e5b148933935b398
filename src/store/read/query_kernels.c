/* The kernels of a run, sorted, and the first of a sort without the rest. */
#include "store/launch.h"

#include <stdio.h>

#include "db/row.h"
#include "index/index.h"
#include "store/query.h"
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

void lab_limit_words(int64_t limit, const char *between, char *out,
                     size_t bytes)
{
    static const struct {
        int64_t bit;
        const char *name;
    } bits[] = {
        {LAB_LIMIT_WARPS, "warps"},         {LAB_LIMIT_BLOCKS, "blocks"},
        {LAB_LIMIT_REGISTERS, "registers"}, {LAB_LIMIT_SHARED, "shared"},
        {LAB_LIMIT_BARRIERS, "barriers"},   {LAB_LIMIT_GRID, "grid"},
    };
    size_t n = 0;
    out[0] = '\0';
    if (limit == LAB_UNKNOWN)
        return;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        if ((limit & bits[i].bit) && n < bytes)
            n += (size_t)snprintf(out + n, bytes - n, "%s%s", n ? between : "",
                                  bits[i].name);
}

/* "registers+blocks", "none"; NULL: unknown. */
static const char *limit_text(const void *row, char *out, size_t cap)
{
    int64_t limit = ((const struct lab_kernel_row *)row)->occupancy_limit;
    lab_limit_words(limit, "+", out, cap);
    if (limit == LAB_UNKNOWN)
        return NULL;
    return out[0] ? out : "none";
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

static void read_kernel(struct lab_stmt *s, struct lab_kernel_row *r)
{
    lab_fields_take(s, &lab_kernel_fields, r);
    r->time_ns = lab_span_ns(r->start_ns, r->end_ns);
    r->shared_bytes = lab_launch_shared(&r->launch);
}

/* Adds a subquery to `sql`: `first` and `last` row of the zones of run ?1 that
 * have the first ?4 rows of the sort, if so many have a value. No rows:
 * the run has no zones. */
static void add_zones(struct lab_str *sql, enum lab_kernel_sort sort,
                      bool descending)
{
    const char *turn = descending ? "DESC" : "ASC";
    if (sort == LAB_KERNEL_BY_NAME)
        lab_str_addf(
            sql,
            "(SELECT first, last FROM (SELECT first, best, lead(first, 1, "
            "0x7FFFFFFFFFFFFFFF) OVER (ORDER BY first) - 1 AS last FROM "
            "(SELECT n.kernelRowFirst AS first, %s(t.value) AS best FROM "
            "kernel_zone_name AS n JOIN StringIds AS t ON t.id = n.nameId "
            "WHERE n.runId = ?1 GROUP BY first)) ORDER BY best %s, first LIMIT "
            "?4)",
            descending ? "max" : "min", turn);
    else
        lab_str_addf(
            sql,
            "(SELECT first, ifnull((SELECT min(kernelRowFirst) FROM "
            "kernel_zone WHERE runId = ?1 AND sort = %d AND kernelRowFirst > "
            "first), 0x7FFFFFFFFFFFFFFF) - 1 AS last FROM (SELECT "
            "kernelRowFirst AS first FROM kernel_zone WHERE runId = ?1 AND "
            "sort = %d ORDER BY %s %s, first LIMIT ?4))",
            sort, sort, descending ? "greatest" : "least", turn);
}

/* ---- the rows of a page ---- */

struct page {
    int64_t *rows;
    int64_t n;
};

/* A narrow query: without the names and steps of every row. `zones`: of the
 * zones that have the page (index/index.h), and of kernels with a value; the
 * others come last, and may be in no zone. */
static void make_pick(const struct lab_kernel_filter *f, bool zones,
                      struct lab_str *sql)
{
    char table = sorts[f->sort].table;
    const char *key = sorts[f->sort].key;
    lab_str_add(sql, "SELECT o.kernelRow FROM ");
    if (zones) {
        add_zones(sql, f->sort, f->descending);
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
}

/* The rows that a run's kernels are in. */
struct span {
    int64_t first;
    int64_t last;
};

static enum lab_status find_span(struct lab_database *db, int64_t run,
                                 struct span *out)
{
    struct lab_stmt s =
        lab_stmt_new(db, "SELECT ifnull(kernelRowFirst, 0), "
                         "ifnull(kernelRowLast, 0x7FFFFFFFFFFFFFFF) FROM run "
                         "WHERE id = ?1");
    sqlite3_bind_int64(s.sql, 1, run);
    *out = (struct span){0, INT64_MAX};
    if (lab_stmt_next(&s)) {
        out->first = lab_column_int(&s);
        out->last = lab_column_int(&s);
    }
    return lab_stmt_end(&s);
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
    page->n = 0;
    lab_str_init(&sql);
    make_pick(f, zones, &sql);
    struct lab_stmt s = lab_stmt_built(db, &sql);
    bind(s.sql, run, f, at);
    while (page->n < f->limit && lab_stmt_next(&s))
        page->rows[page->n++] = sqlite3_column_int64(s.sql, 0);
    return lab_stmt_end(&s);
}

/* ---- rows with everything ---- */

static struct lab_stmt prepare_kernels(struct lab_database *db,
                                       const struct lab_kernel_filter *f)
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
    return lab_stmt_built(db, &sql);
}

/* The receiver of the rows. */
struct taker {
    lab_kernel_row_fn *each;
    void *user;
    struct lab_bench_names rungs; /* of a lab: which each kernel is of */
};

static bool give(const struct taker *t, struct lab_stmt *s)
{
    struct lab_kernel_row row;
    read_kernel(s, &row);
    row.rung = lab_bench_name_find(&t->rungs, row.step_index);
    return t->each(t->user, &row);
}

static enum lab_status query_all(struct lab_database *db, int64_t run,
                                 const struct lab_kernel_filter *filter,
                                 const struct span *at,
                                 const struct taker *taker)
{
    struct lab_stmt s = prepare_kernels(db, filter);
    bind(s.sql, run, filter, at);
    while (lab_stmt_next(&s) && give(taker, &s))
        ;
    return lab_stmt_end(&s);
}

static enum lab_status query_page(struct lab_database *db, int64_t run,
                                  const struct page *page,
                                  const struct taker *taker)
{
    const struct lab_kernel_filter one = {.between = true};
    struct lab_stmt s = prepare_kernels(db, &one);
    bool more = true;
    for (int64_t i = 0; i < page->n && more && !s.st; i++) {
        const struct span at = {page->rows[i], page->rows[i]};
        bind(s.sql, run, &one, &at);
        if (lab_stmt_next(&s))
            more = give(taker, &s);
        sqlite3_reset(s.sql);
    }
    return lab_stmt_end(&s);
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
    return lab_fail(LAB_E_NOTFOUND,
                    "[run.no-kernel] %s: run %lld has no such launch", db->path,
                    (long long)run);
}

enum lab_status lab_query_kernels(struct lab_database *db, int64_t run,
                                  const struct lab_kernel_filter *filter,
                                  lab_kernel_row_fn *each, void *user)
{
    struct taker taker = {.each = each, .user = user};
    if ((unsigned)filter->sort >= LAB_KERNEL_SORT_COUNT)
        return lab_fail(
            LAB_E_ARG,
            "[run.kernel-sort] kernels have no such column to sort by");
    enum lab_status st = lab_bench_names_load(&taker.rungs, db, run);
    if (st)
        return st;
    st = query(db, run, filter, &taker);
    lab_bench_names_release(&taker.rungs);
    return st;
}
