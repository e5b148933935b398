#include "store/launch.h"

#include "index/kernel_key.h"
#include "index/kernel_zone.h"
#include "index/pass.h"
#include "db/row.h"

/* Where the rows come from that are picked for the first page of a sort: a
 * narrow scan, without the names and steps of every row. */
enum pick { PICK_NOT, PICK_KERNEL, PICK_NAME, PICK_OP, PICK_STEP };

static const struct {
    const char *name;
    enum pick pick;
} sorts[LAB_KERNEL_SORT_COUNT] = {
    [LAB_KERNEL_BY_ROW] = {"row", PICK_NOT},
    [LAB_KERNEL_BY_START] = {"start", PICK_KERNEL},
    [LAB_KERNEL_BY_TIME] = {"time", PICK_KERNEL},
    [LAB_KERNEL_BY_NAME] = {"name", PICK_NAME},
    [LAB_KERNEL_BY_STEP] = {"step", PICK_STEP},
    [LAB_KERNEL_BY_GRID] = {"grid", PICK_KERNEL},
    [LAB_KERNEL_BY_BLOCK] = {"block", PICK_KERNEL},
    [LAB_KERNEL_BY_REGISTERS] = {"registers", PICK_KERNEL},
    [LAB_KERNEL_BY_SHARED] = {"shared", PICK_KERNEL},
    [LAB_KERNEL_BY_OCCUPANCY] = {"occupancy", PICK_OP},
};

/* The only text that is put into a query: constants of the program. */
static const char *key_of(enum lab_kernel_sort sort)
{
    if (sort == LAB_KERNEL_BY_ROW)
        return "o.kernelRow";
    return sort == LAB_KERNEL_BY_NAME ? "demangled.value"
                                      : lab_kernel_keys[sort].sql;
}

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

/* Where a run's kernels lie, and what may be taken for granted. */
struct stretch {
    int64_t first;
    int64_t last;
    bool ended; /* every step knows its kernels */
    bool alone; /* no other run has a row between these */
};

static enum lab_status find_stretch(struct lab_database *db, int64_t run,
                                    struct stretch *out)
{
    sqlite3_stmt *stmt;
    *out = (struct stretch){0, INT64_MAX, false, false};
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT kernelRowFirst, kernelRowLast, status IN ('done', 'cancelled', "
        "'failed'), NOT EXISTS (SELECT 1 FROM run AS r WHERE r.id <> run.id "
        "AND (r.kernelRowFirst IS NULL OR (r.kernelRowFirst <= "
        "run.kernelRowLast AND r.kernelRowLast >= run.kernelRowFirst))) FROM "
        "run WHERE id = ?1",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    if (rc == SQLITE_ROW) {
        int64_t first = lab_column_int(&c);
        int64_t last = lab_column_int(&c);
        bool known = first != LAB_UNKNOWN && last != LAB_UNKNOWN;
        out->ended = lab_column_int(&c) == 1 && known;
        out->alone = lab_column_int(&c) == 1 && known;
        if (known) {
            out->first = first;
            out->last = last;
        }
    }
    return lab_query_end(db, stmt, rc);
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

/* Of some steps of a run that has ended. As recorded is the order of their
 * executions, which needs no sort: the page is full soon. */
static void add_step_pick(const struct lab_kernel_filter *f,
                          struct lab_str *sql)
{
    bool recorded = f->sort == LAB_KERNEL_BY_ROW;
    bool name = f->sort == LAB_KERNEL_BY_NAME;
    const char *key = recorded ? "s.exec" : key_of(f->sort);
    const char *turn = f->descending ? "DESC" : "ASC";
    lab_str_addf(
        sql,
        "SELECT o.kernelRow FROM step AS s CROSS JOIN op_kernel AS o "
        "ON o.kernelRow BETWEEN s.kernelRowFirst AND s.kernelRowLast "
        "AND o.runId = s.runId AND o.stepExec = s.exec CROSS JOIN "
        "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow "
        "%sWHERE s.runId = ?1 AND (?2 IS NULL OR s.stepIndex = ?2) AND "
        "(?3 IS NULL OR s.iteration = ?3) AND o.kernelRow BETWEEN ?6 "
        "AND ?7 ORDER BY %s %s%s, o.kernelRow %s",
        name ? "LEFT JOIN StringIds AS demangled ON demangled.id = "
               "k.demangledName "
             : "",
        key, turn, recorded ? "" : " NULLS LAST", recorded ? turn : "");
}

static enum lab_status make_pick(const struct lab_kernel_filter *f,
                                 const struct stretch *at, struct lab_str *sql)
{
    const char *key = key_of(f->sort);
    const char *turn = f->descending ? "DESC" : "ASC";
    const char *mine = at->alone ? "" : " AND k.runId = ?1";
    switch (is_filtered(f) ? PICK_NOT : sorts[f->sort].pick) {
    case PICK_NOT:
        add_step_pick(f, sql);
        break;
    case PICK_NAME:
        lab_str_addf(sql,
                     "WITH name AS MATERIALIZED (SELECT id, row_number() OVER "
                     "(ORDER BY value) AS rank FROM StringIds) SELECT "
                     "k.kernelRow FROM CUPTI_ACTIVITY_KIND_KERNEL AS k LEFT "
                     "JOIN name ON name.id = k.demangledName WHERE k.kernelRow "
                     "BETWEEN ?6 AND ?7%s AND " LAB_KERNEL_OF_STEP
                     " ORDER BY name.rank %s NULLS LAST, k.kernelRow",
                     mine, turn);
        break;
    case PICK_OP:
        lab_str_addf(sql,
                     "SELECT o.kernelRow FROM op_kernel AS o WHERE o.kernelRow "
                     "BETWEEN ?6 AND ?7 AND o.runId = ?1 AND o.stepExec IS NOT "
                     "-1 ORDER BY %s %s NULLS LAST, o.kernelRow",
                     key, turn);
        break;
    case PICK_STEP: /* the first steps have at least so many kernels */
        lab_str_addf(sql,
                     "SELECT o.kernelRow FROM (SELECT exec, %s AS place, "
                     "kernelRowFirst, kernelRowLast FROM step AS s WHERE runId "
                     "= ?1 AND kernelCount > 0 AND place IS NOT NULL ORDER BY "
                     "place %s, kernelRowFirst LIMIT ?4 + ?5) AS s CROSS "
                     "JOIN op_kernel AS o ON o.kernelRow BETWEEN "
                     "s.kernelRowFirst AND s.kernelRowLast AND o.stepExec = "
                     "s.exec AND o.runId = ?1 WHERE o.kernelRow BETWEEN ?6 AND "
                     "?7 ORDER BY s.place %s, o.kernelRow",
                     key, turn, turn);
        break;
    default:
        lab_str_addf(
            sql,
            "SELECT k.kernelRow FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
            "WHERE k.kernelRow BETWEEN ?6 AND ?7%s AND " LAB_KERNEL_OF_STEP
            " ORDER BY %s %s NULLS LAST, k.kernelRow",
            mine, key, turn);
    }
    lab_str_add(sql, " LIMIT ?4 OFFSET ?5");
    return sql->failed ? lab_fail(LAB_E_NOMEM, "no memory for a query")
                       : LAB_OK;
}

static void bind_filter(sqlite3_stmt *stmt, int64_t run,
                        const struct lab_kernel_filter *f,
                        const struct stretch *at)
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
                                 const struct stretch *at, struct page *page)
{
    struct lab_str sql;
    sqlite3_stmt *stmt = NULL;
    int rc = SQLITE_DONE;
    lab_str_init(&sql);
    enum lab_status st = make_pick(f, at, &sql);
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    bind_filter(stmt, run, f, at);
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
    const char *key = key_of(filter->sort);
    lab_str_init(&sql);
    lab_str_add(&sql, by_steps ? lab_sql_kernels_of_steps : lab_sql_kernels);
    lab_str_add(&sql, "ORDER BY ");
    if (filter->sort != LAB_KERNEL_BY_ROW)
        lab_str_addf(&sql, "%s %s NULLS LAST, ", key,
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
                                 const struct stretch *at,
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
        const struct stretch at = {.first = page->rows[i],
                                   .last = page->rows[i]};
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

/* A page of a sort is picked first. false: by the whole query. */
static bool is_picked(const struct lab_kernel_filter *f,
                      const struct stretch *at)
{
    enum { MOST = 100000 };
    enum pick pick = sorts[f->sort].pick;
    if (f->limit <= 0 || f->limit > MOST || f->offset < 0 ||
        f->offset > INT32_MAX || f->between)
        return false;
    if (is_filtered(f))
        return at->ended;
    return pick != PICK_NOT && (pick != PICK_STEP || at->ended);
}

static enum lab_status query(struct lab_database *db, int64_t run,
                             const struct lab_kernel_filter *filter,
                             const struct taker *taker)
{
    struct stretch at;
    struct page page = {.n = -1};
    enum lab_status st = find_stretch(db, run, &at);
    if (st)
        return st;
    if (!is_picked(filter, &at))
        return query_all(db, run, filter, &at, taker);
    page.rows = lab_alloc_array((size_t)filter->limit, sizeof(*page.rows));
    if (!page.rows)
        return lab_fail(LAB_E_NOMEM, "no memory for a page of kernels");
    const int64_t rows[2] = {at.first, at.last};
    if (at.ended)
        st = is_filtered(filter)
                 ? lab_passes_pick(db, run, filter, rows, page.rows, &page.n)
                 : lab_zones_pick(db, run, filter, page.rows, &page.n);
    if (st == LAB_OK && page.n < 0) {
        page.n = 0;
        st = pick_rows(db, run, filter, &at, &page);
    }
    /* Kernels of no step come last: the steps did not fill the page. */
    bool short_page = sorts[filter->sort].pick == PICK_STEP &&
                      !is_filtered(filter) && page.n < filter->limit;
    if (st == LAB_OK)
        st = short_page ? query_all(db, run, filter, &at, taker)
                        : query_page(db, run, &page, taker);
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
