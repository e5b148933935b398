/* query_kernels.c -- the kernels of a run, sorted, and the first of a sort without
 * the rest.
 *
 * `profile kernels`, exports and labs read up to millions of rows with it. A
 * page of a sort keeps a heap of its best rows and skips the zones of the index
 * (store/index) that cannot hold a better one. */
#include "store/launch.h"

#include <stdio.h>
#include <string.h>

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
    return lab_bench_name_text(r->bench_name, r->step);
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
    FIELD("k.sharedMemoryExecuted", INT, facts.shared_executed_bytes,
          .key = "shared_executed_bytes"),
    FIELD("k.localMemoryPerThread", INT, facts.local_per_thread_bytes,
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

/* ---- the rows of a page ---- */

/* A row with its key, in the order of the zones' values (index/index.h); or the rows
 * from `row` on to `last`, and the best key that one of them may have. */
struct place {
    int64_t row;
    int64_t key;
    int64_t last;
};

/* A heap of places. */
struct page {
    struct place *rows;
    int64_t n;
    int64_t limit;
    bool descending;
    bool best_on_top; /* else the last one is */
};

/* The rows that a run's kernels are in. */
struct span {
    int64_t first;
    int64_t last;
};

/* Adds a narrow query: without the names and steps of every row. A key of the
 * kernel's alone is known before the other table is looked into. */
static void add_pick(struct lab_str *sql, enum lab_kernel_sort sort)
{
    char table = sorts[sort].table;
    const char *outer = table == 'k' ? "k" : "o";
    lab_str_addf(sql, "SELECT o.kernelRow, %s AS key FROM ", sorts[sort].key);
    if (table == 'k')
        lab_str_add(sql, "CUPTI_ACTIVITY_KIND_KERNEL AS k CROSS JOIN op_kernel "
                         "AS o ON o.kernelRow = k.kernelRow ");
    else
        lab_str_add(sql, "op_kernel AS o ");
    if (table == 'd')
        lab_str_add(sql, "CROSS JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON "
                         "k.kernelRow = o.kernelRow LEFT JOIN StringIds AS "
                         "demangled ON demangled.id = k.demangledName ");
    if (table == 's')
        lab_str_add(sql, "LEFT JOIN step AS s ON s.runId = o.runId AND s.exec "
                         "= o.stepExec ");
    lab_str_addf(sql,
                 "WHERE %s.kernelRow BETWEEN ?2 AND ?3 AND o.runId = ?1 AND "
                 "o.stepExec IS NOT -1 ",
                 outer);
}

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

static void bind(sqlite3_stmt *stmt, int64_t run, int64_t limit,
                 const struct span *at)
{
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int64(stmt, 2, at->first);
    sqlite3_bind_int64(stmt, 3, at->last);
    sqlite3_bind_int64(stmt, 4, limit > 0 ? limit : -1);
}

static bool comes_before(const struct page *p, struct place a, struct place b)
{
    if (a.key != b.key)
        return p->descending ? a.key > b.key : a.key < b.key;
    return a.row < b.row;
}

/* a is to be below b in the heap. */
static bool below(const struct page *p, struct place a, struct place b)
{
    return p->best_on_top ? comes_before(p, b, a) : comes_before(p, a, b);
}

static void sink_top(struct page *p)
{
    struct place top = p->rows[0];
    int64_t at = 0;
    for (int64_t child = 1; child < p->n; child = 2 * at + 1) {
        if (child + 1 < p->n && below(p, p->rows[child], p->rows[child + 1]))
            child++;
        if (!below(p, top, p->rows[child]))
            break;
        p->rows[at] = p->rows[child];
        at = child;
    }
    p->rows[at] = top;
}

/* There is room for one more. */
static void put_place(struct page *p, struct place new)
{
    int64_t at = p->n++;
    for (; at > 0 && below(p, p->rows[(at - 1) / 2], new); at = (at - 1) / 2)
        p->rows[at] = p->rows[(at - 1) / 2];
    p->rows[at] = new;
}

static struct place take_top(struct page *p)
{
    struct place top = p->rows[0];
    p->rows[0] = p->rows[--p->n];
    sink_top(p);
    return top;
}

/* To a page, which keeps its first rows. */
static void add_place(struct page *p, struct place new)
{
    if (p->n < p->limit)
        put_place(p, new);
    else if (comes_before(p, new, p->rows[0])) {
        p->rows[0] = new;
        sink_top(p);
    }
}

static void sort_page(struct page *p)
{
    int64_t n = p->n;
    while (p->n > 1) {
        struct place last = take_top(p);
        p->rows[p->n] = last;
    }
    p->n = n;
}

/* The zones of a run, or the groups of them, that begin in a stretch of rows. */
static struct lab_stmt prepare_zones(struct lab_database *db, int64_t run,
                                     int sort, const struct page *page,
                                     const char *order)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "SELECT kernelRowFirst, kernelRowLast, %s AS best FROM "
                 "kernel_zone WHERE runId = ?1 AND sort = %d AND "
                 "kernelRowFirst BETWEEN ?2 AND ?3%s",
                 page->descending ? "greatest" : "least", sort, order);
    struct lab_stmt s = lab_stmt_built(db, &sql);
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int64(s.sql, 2, 0);
    sqlite3_bind_int64(s.sql, 3, INT64_MAX);
    return s;
}

static bool next_zone(struct lab_stmt *s, struct place *out)
{
    if (!lab_stmt_next(s))
        return false;
    out->row = lab_column_int(s);
    out->last = lab_column_int(s);
    out->key = lab_column_int(s);
    return true;
}

/* Adds the zones that begin in the rows of `group`. */
static enum lab_status open_group(struct page *zones, struct lab_stmt *s,
                                  const struct place *group)
{
    struct place zone;
    sqlite3_reset(s->sql);
    sqlite3_bind_int64(s->sql, 2, group->row);
    sqlite3_bind_int64(s->sql, 3, group->last);
    while (next_zone(s, &zone)) {
        if (zones->n == zones->limit) {
            int64_t room = zones->limit ? 2 * zones->limit : 256;
            struct place *rows =
                lab_realloc_array(zones->rows, (size_t)room, sizeof(*rows));
            if (!rows)
                return lab_no_memory("the zones of a run");
            zones->rows = rows;
            zones->limit = room;
        }
        put_place(zones, zone);
    }
    return s->st;
}

/* Adds a zone's rows to the page, those that are before its last one. */
static void read_zone(struct page *page, struct lab_stmt *s, int64_t run,
                      const struct place *zone, bool real)
{
    bool full = page->n == page->limit;
    bind(s->sql, run, 0, &(struct span){zone->row, zone->last});
    if (!real)
        sqlite3_bind_int64(s->sql, 5,
                           full               ? page->rows[0].key
                           : page->descending ? -INT64_MAX
                                              : INT64_MAX);
    while (lab_stmt_next(s)) {
        struct place new = {.row = lab_column_int(s)};
        new.key = real ? lab_zone_value(lab_column_real(s)) : lab_column_int(s);
        add_place(page, new);
    }
    sqlite3_reset(s->sql);
}

/* Zones from the best value on, until the page is full and the next zone's best
 * row would come behind its last one; a group's zones are read when none of those
 * that were read is better than it can be. Kernels without a value are left out:
 * they come last, and may be in no zone. */
static enum lab_status pick_by_value(struct lab_database *db, int64_t run,
                                     enum lab_kernel_sort sort,
                                     struct page *page)
{
    const bool real = sort == LAB_KERNEL_BY_OCCUPANCY;
    struct page near = {.descending = page->descending, .best_on_top = true};
    struct lab_str sql;
    lab_str_init(&sql);
    add_pick(&sql, sort);
    if (real)
        lab_str_add(&sql, "AND key NOTNULL");
    else
        lab_str_addf(&sql, "AND key %s= ?5", page->descending ? ">" : "<");
    struct lab_stmt rows = lab_stmt_built(db, &sql);
    struct lab_stmt groups =
        prepare_zones(db, run, LAB_ZONE_GROUP + (int)sort, page,
                      page->descending ? " ORDER BY best DESC, kernelRowFirst"
                                       : " ORDER BY best, kernelRowFirst");
    struct lab_stmt zones = prepare_zones(db, run, (int)sort, page, "");
    struct place group;
    enum lab_status st = LAB_OK;
    bool more = next_zone(&groups, &group);
    if (!more && !groups.st) /* as an earlier version stored them */
        st = open_group(&near, &zones, &(struct place){0, 0, INT64_MAX});
    while (!st && !rows.st) {
        for (; !st && more &&
               (!near.n || comes_before(page, group, near.rows[0]));
             more = next_zone(&groups, &group))
            st = open_group(&near, &zones, &group);
        if (st || near.n == 0)
            break;
        const struct place zone = take_top(&near);
        if (page->n == page->limit && comes_before(page, page->rows[0], zone))
            break;
        read_zone(page, &rows, run, &zone, real);
    }
    sort_page(page);
    lab_free(near.rows);
    struct lab_stmt *all[] = {&rows, &groups, &zones};
    for (int i = 0; i < 3; i++) {
        enum lab_status ended = lab_stmt_end(all[i]);
        st = st ? st : ended;
    }
    return st;
}

/* One name after the other, and of each its zones in the order of their rows.
 * The zones by start have where each ends; without them it goes on to the
 * name's next zone. */
static enum lab_status pick_by_name(struct lab_database *db, int64_t run,
                                    struct page *page)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(
        &sql,
        "WITH RECURSIVE name(id) AS (SELECT min(nameId) FROM kernel_zone_name "
        "WHERE runId = ?1 UNION ALL SELECT (SELECT min(nameId) FROM "
        "kernel_zone_name WHERE runId = ?1 AND nameId > name.id) FROM name "
        "WHERE name.id NOTNULL) SELECT t.id FROM name JOIN StringIds AS t ON "
        "t.id = name.id ORDER BY t.value %s",
        page->descending ? "DESC" : "ASC");
    struct lab_stmt names = lab_stmt_built(db, &sql);
    lab_str_addf(
        &sql,
        "SELECT o.kernelRow FROM kernel_zone_name AS n CROSS JOIN op_kernel AS "
        "o CROSS JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = "
        "o.kernelRow WHERE n.runId = ?1 AND n.nameId = ?2 AND o.kernelRow "
        "BETWEEN n.kernelRowFirst AND coalesce((SELECT z.kernelRowLast FROM "
        "kernel_zone AS z WHERE z.runId = ?1 AND z.sort = %d AND "
        "z.kernelRowFirst = n.kernelRowFirst), (SELECT "
        "min(next.kernelRowFirst) - 1 FROM kernel_zone_name AS next WHERE "
        "next.runId = ?1 AND next.nameId = ?2 AND next.kernelRowFirst > "
        "n.kernelRowFirst), 0x7FFFFFFFFFFFFFFF) AND k.demangledName = ?2 AND "
        "o.runId = ?1 AND o.stepExec IS NOT -1 ORDER BY n.kernelRowFirst, "
        "o.kernelRow",
        LAB_KERNEL_BY_START);
    struct lab_stmt rows = lab_stmt_built(db, &sql);
    sqlite3_bind_int64(names.sql, 1, run);
    sqlite3_bind_int64(rows.sql, 1, run);
    while (!rows.st && page->n < page->limit && lab_stmt_next(&names)) {
        sqlite3_bind_int64(rows.sql, 2, lab_column_int(&names));
        while (page->n < page->limit && lab_stmt_next(&rows))
            page->rows[page->n++].row = lab_column_int(&rows);
        sqlite3_reset(rows.sql);
    }
    enum lab_status st = lab_stmt_end(&rows);
    enum lab_status ended = lab_stmt_end(&names);
    return st ? st : ended;
}

/* By reading every row. */
static enum lab_status pick_all(struct lab_database *db, int64_t run,
                                enum lab_kernel_sort sort,
                                const struct span *at, struct page *page)
{
    struct lab_str sql;
    page->n = 0;
    lab_str_init(&sql);
    add_pick(&sql, sort);
    lab_str_addf(&sql, "ORDER BY key %s NULLS LAST, o.kernelRow LIMIT ?4",
                 page->descending ? "DESC" : "ASC");
    struct lab_stmt s = lab_stmt_built(db, &sql);
    bind(s.sql, run, page->limit, at);
    while (page->n < page->limit && lab_stmt_next(&s))
        page->rows[page->n++].row = lab_column_int(&s);
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
    struct lab_bench_names bench_names; /* of a lab: which each kernel is of */
};

static bool give(const struct taker *t, struct lab_stmt *s)
{
    struct lab_kernel_row row;
    read_kernel(s, &row);
    row.bench_name = lab_bench_name_find(&t->bench_names, row.step_index);
    return t->each(t->user, &row);
}

static enum lab_status query_all(struct lab_database *db, int64_t run,
                                 const struct lab_kernel_filter *filter,
                                 const struct span *at,
                                 const struct taker *taker)
{
    struct lab_stmt s = prepare_kernels(db, filter);
    bind(s.sql, run, filter->limit, at);
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
        const struct span at = {page->rows[i].row, page->rows[i].row};
        bind(s.sql, run, 0, &at);
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
    struct page page = {.limit = filter->limit,
                        .descending = filter->descending};
    enum lab_status st = find_span(db, run, &at);
    if (st)
        return st;
    if (filter->limit <= 0 || filter->limit > MOST || filter->between ||
        filter->sort == LAB_KERNEL_BY_ROW)
        return query_all(db, run, filter, &at, taker);
    page.rows = lab_alloc_array((size_t)filter->limit, sizeof(*page.rows));
    if (!page.rows)
        return lab_no_memory("a page of kernels");
    st = filter->sort == LAB_KERNEL_BY_NAME
             ? pick_by_name(db, run, &page)
             : pick_by_value(db, run, filter->sort, &page);
    if (st == LAB_OK && page.n < page.limit)
        st = pick_all(db, run, filter->sort, &at, &page);
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
    struct place place = {.row = row};
    const struct page page = {.rows = &place, .n = 1};
    enum lab_status st = lab_bench_names_load(&taker.bench_names, db, run);
    if (st)
        return st;
    st = query_page(db, run, &page, &taker);
    lab_bench_names_release(&taker.bench_names);
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
    enum lab_status st = lab_bench_names_load(&taker.bench_names, db, run);
    if (st)
        return st;
    st = query(db, run, filter, &taker);
    lab_bench_names_release(&taker.bench_names);
    return st;
}
