/* The kernels of a run: sorted, of a step or an iteration, page by page. */
#include "store/launch.h"

#include "db/row.h"
#include "index/index.h"

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

static void read_kernel(sqlite3_stmt *stmt, struct lab_kernel_row *r)
{
    struct lab_columns c = {stmt, 0};
    r->row = lab_column_int(&c);
    r->exec = lab_column_int(&c);
    r->iteration = lab_column_int(&c);
    r->step_index = lab_column_int(&c);
    r->step = lab_column_text(&c);
    r->phase = lab_column_text(&c);
    r->name = lab_column_text(&c);
    r->short_name = lab_column_text(&c);
    r->start_ns = lab_column_int(&c);
    r->end_ns = lab_column_int(&c);
    r->time_ns = lab_span_ns(r->start_ns, r->end_ns);
    r->device = lab_column_int(&c);
    r->context = lab_column_int(&c);
    r->stream = lab_column_int(&c);
    r->correlation = lab_column_int(&c);
    for (int i = 0; i < 3; i++)
        r->grid[i] = lab_column_int(&c);
    for (int i = 0; i < 3; i++)
        r->block[i] = lab_column_int(&c);
    for (int i = 0; i < 3; i++)
        r->cluster[i] = lab_column_int(&c);
    r->registers_per_thread = lab_column_int(&c);
    r->static_shared_bytes = lab_column_int(&c);
    r->dynamic_shared_bytes = lab_column_int(&c);
    r->shared_bytes =
        lab_add_known(r->static_shared_bytes, r->dynamic_shared_bytes);
    r->shared_executed_bytes = lab_column_int(&c);
    r->local_per_thread_bytes = lab_column_int(&c);
    r->graph_node = lab_column_int(&c);
    r->occupancy_pct = lab_column_real(&c);
    r->occupancy_limit = lab_column_int(&c);
    r->active_blocks_per_sm = lab_column_int(&c);
}

/* The rows that a run's kernels are in. */
struct span {
    int64_t first;
    int64_t last;
    int64_t exec_first; /* of the steps that are asked for */
    int64_t exec_last;
    bool ended; /* every step knows its kernels */
};

static enum lab_status find_span(struct lab_database *db, int64_t run,
                                 struct span *out)
{
    sqlite3_stmt *stmt;
    *out = (struct span){0, INT64_MAX, INT64_MIN, INT64_MAX, false};
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT kernelRowFirst, kernelRowLast, status IN ('done', 'cancelled', "
        "'failed') FROM run WHERE id = ?1",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    if (rc == SQLITE_ROW) {
        int64_t first = lab_column_int(&c);
        int64_t last = lab_column_int(&c);
        if (first != LAB_UNKNOWN && last != LAB_UNKNOWN) {
            out->first = first;
            out->last = last;
            out->ended = lab_column_int(&c) == 1;
        }
    }
    return lab_query_end(db, stmt, rc);
}

/* In a long run the steps of an iteration are found through the list of all. */
static enum lab_status narrow_to_iteration(struct lab_database *db, int64_t run,
                                           int64_t iteration, struct span *at)
{
    struct lab_iterations it;
    enum lab_status st = lab_iterations_load(&it, db, run);
    if (st || it.count == 0)
        return st;
    at->exec_first = INT64_MAX;
    at->exec_last = INT64_MIN;
    for (size_t i = 0; i < it.count; i++) {
        const struct lab_iteration_row *r = &it.list[i];
        if (r->iteration != iteration)
            continue;
        if (r->exec_first < at->exec_first)
            at->exec_first = r->exec_first;
        if (r->exec_last > at->exec_last)
            at->exec_last = r->exec_last;
    }
    lab_iterations_release(&it);
    return LAB_OK;
}

/* ---- the rows of a page ---- */

struct page {
    int64_t *rows;
    int64_t n;
};

static bool is_filtered(const struct lab_kernel_filter *f)
{
    return f->step_index != LAB_UNKNOWN || f->iteration != LAB_UNKNOWN;
}

/* Which rows are read for a page. */
enum source {
    FROM_STEPS, /* of the steps that are asked for, in a run that has ended */
    FROM_ZONES, /* of the zones that have the page: index/index.h */
    FROM_ALL
};

/* A narrow query: without the names and steps of every row. As recorded is the
 * order of steps' executions, which needs no sort. */
static enum lab_status make_pick(const struct lab_kernel_filter *f,
                                 enum source from, struct lab_str *sql)
{
    const char *turn = f->descending ? "DESC" : "ASC";
    char table = sorts[f->sort].table;
    lab_str_add(sql, "SELECT o.kernelRow FROM ");
    if (from == FROM_STEPS)
        lab_str_add(sql, "step AS s CROSS JOIN op_kernel AS o ON o.kernelRow "
                         "BETWEEN s.kernelRowFirst AND s.kernelRowLast AND "
                         "o.stepExec = s.exec");
    else if (from == FROM_ALL)
        lab_str_add(sql, "op_kernel AS o");
    else
        lab_index_add_zones(sql, f->sort, f->descending);
    if (from == FROM_ZONES)
        lab_str_add(sql, " AS z CROSS JOIN op_kernel AS o ON o.kernelRow "
                         "BETWEEN z.first AND z.last");
    if (table == 'k' || table == 'd')
        lab_str_add(sql, " CROSS JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON "
                         "k.kernelRow = o.kernelRow");
    if (table == 'd')
        lab_str_add(sql, " LEFT JOIN StringIds AS demangled ON demangled.id = "
                         "k.demangledName");
    if (table == 's' && from != FROM_STEPS)
        lab_str_add(sql, " LEFT JOIN step AS s ON s.runId = o.runId AND s.exec "
                         "= o.stepExec");
    lab_str_add(sql, " WHERE o.runId = ?1 AND o.kernelRow BETWEEN ?6 AND ?7");
    if (from == FROM_STEPS)
        lab_str_add(sql, " AND s.runId = ?1 AND s.exec BETWEEN ?8 AND ?9 AND "
                         "(?2 IS NULL OR s.stepIndex = ?2) AND (?3 IS NULL "
                         "OR s.iteration = ?3)");
    else
        lab_str_add(sql, " AND o.stepExec IS NOT -1");
    if (from == FROM_ZONES) /* the others come last, and may be in no zone */
        lab_str_addf(sql, " AND %s NOTNULL", sorts[f->sort].key);
    lab_str_add(sql, " ORDER BY ");
    if (f->sort != LAB_KERNEL_BY_ROW)
        lab_str_addf(sql, "%s %s NULLS LAST, o.kernelRow", sorts[f->sort].key,
                     turn);
    else if (from == FROM_STEPS)
        lab_str_addf(sql, "s.exec %s, o.kernelRow %s", turn, turn);
    else
        lab_str_addf(sql, "o.kernelRow %s", turn);
    lab_str_add(sql, " LIMIT ?4 OFFSET ?5");
    return sql->failed ? lab_fail(LAB_E_NOMEM, "no memory for a query")
                       : LAB_OK;
}

static void bind_filter(sqlite3_stmt *stmt, int64_t run,
                        const struct lab_kernel_filter *f,
                        const struct span *at)
{
    sqlite3_bind_int64(stmt, 1, run);
    lab_bind_int(stmt, 2, f->step_index);
    lab_bind_int(stmt, 3, f->iteration);
    sqlite3_bind_int64(stmt, 4, f->limit > 0 ? f->limit : -1);
    sqlite3_bind_int64(stmt, 5, f->offset);
    sqlite3_bind_int64(stmt, 6, at->first);
    sqlite3_bind_int64(stmt, 7, at->last);
    if (sqlite3_bind_parameter_count(stmt) >= 8)
        sqlite3_bind_int(stmt, 8, f->between);
}

static enum lab_status pick_rows(struct lab_database *db, int64_t run,
                                 const struct lab_kernel_filter *f,
                                 const struct span *at, enum source from,
                                 struct page *page)
{
    struct lab_str sql;
    sqlite3_stmt *stmt = NULL;
    int rc = SQLITE_DONE;
    page->n = 0;
    lab_str_init(&sql);
    enum lab_status st = make_pick(f, from, &sql);
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    bind_filter(stmt, run, f, at);
    if (from == FROM_STEPS) {
        sqlite3_bind_int64(stmt, 8, at->exec_first);
        sqlite3_bind_int64(stmt, 9, at->exec_last);
    }
    while (page->n < f->limit && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        page->rows[page->n++] = sqlite3_column_int64(stmt, 0);
    return lab_query_end(db, stmt, rc);
}

/* ---- rows with everything ---- */

static enum lab_status prepare_kernels(struct lab_database *db,
                                       const struct lab_kernel_filter *filter,
                                       bool by_steps, sqlite3_stmt **out)
{
    struct lab_str sql;
    enum lab_status st;
    lab_str_init(&sql);
    lab_str_add(&sql, by_steps ? lab_sql_kernels_of_steps : lab_sql_kernels);
    lab_str_add(&sql, "ORDER BY ");
    if (filter->sort != LAB_KERNEL_BY_ROW)
        lab_str_addf(&sql, "%s %s NULLS LAST, ", sorts[filter->sort].key,
                     filter->descending ? "DESC" : "ASC");
    else if (filter->descending)
        lab_str_add(&sql, "o.kernelRow DESC, ");
    lab_str_add(&sql, "o.kernelRow LIMIT ?4 OFFSET ?5");
    if (sql.failed)
        st = lab_fail(LAB_E_NOMEM, "no memory for a query");
    else
        st = lab_database_prepare(db, lab_str_text(&sql), out);
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
    bool filtered = is_filtered(filter);
    enum lab_status st =
        prepare_kernels(db, filter, filtered && at->ended, &stmt);
    if (st)
        return st;
    bind_filter(stmt, run, filter, at);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        if (!give(taker, stmt))
            break;
    return lab_query_end(db, stmt, rc);
}

static enum lab_status query_page(struct lab_database *db, int64_t run,
                                  const struct page *page,
                                  const struct taker *taker)
{
    const struct lab_kernel_filter one = {
        .step_index = LAB_UNKNOWN, .iteration = LAB_UNKNOWN, .between = true};
    sqlite3_stmt *stmt;
    bool more = true;
    enum lab_status st = prepare_kernels(db, &one, false, &stmt);
    if (st)
        return st;
    for (int64_t i = 0; i < page->n && more && st == LAB_OK; i++) {
        const struct span at = {.first = page->rows[i], .last = page->rows[i]};
        bind_filter(stmt, run, &one, &at);
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

/* A page is picked first. false: by the whole query. */
static bool is_picked(const struct lab_kernel_filter *f, const struct span *at)
{
    enum { MOST = 100000 };
    return f->limit > 0 && f->limit <= MOST && f->offset >= 0 &&
           f->offset <= INT32_MAX && !f->between &&
           (at->ended || !is_filtered(f));
}

static enum lab_status query(struct lab_database *db, int64_t run,
                             const struct lab_kernel_filter *filter,
                             const struct taker *taker)
{
    struct span at;
    struct page page = {.n = 0};
    bool filtered = is_filtered(filter);
    enum lab_status st = find_span(db, run, &at);
    if (st)
        return st;
    if (!is_picked(filter, &at))
        return query_all(db, run, filter, &at, taker);
    page.rows = lab_alloc_array((size_t)filter->limit, sizeof(*page.rows));
    if (!page.rows)
        return lab_fail(LAB_E_NOMEM, "no memory for a page of kernels");
    if (filter->iteration != LAB_UNKNOWN)
        st = narrow_to_iteration(db, run, filter->iteration, &at);
    else if (!filtered && at.ended && filter->sort != LAB_KERNEL_BY_ROW)
        st = pick_rows(db, run, filter, &at, FROM_ZONES, &page);
    if (st == LAB_OK && page.n < filter->limit)
        st = pick_rows(db, run, filter, &at, filtered ? FROM_STEPS : FROM_ALL,
                       &page);
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
