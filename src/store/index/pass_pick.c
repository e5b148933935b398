/* Kernels of one step of the schedule, or of one iteration, in a long run. */
#include <stdlib.h>

#include "kernel_key.h"
#include "pass.h"
#include "db/row.h"
#include "step_range.h"
#include "top_rows.h"

/* Every name's place among all of them, by id: SQL would put them in order
 * again for every pass. */
struct rank {
    int64_t id;
    int64_t rank;
};

/* LAB_RANGE_PASSES passes: which row could be the best of them. */
struct group {
    struct lab_top_row best;
    size_t first; /* pass */
};

struct pick {
    struct lab_database *db;
    int64_t run;
    const struct lab_kernel_filter *f;
    const int64_t *stretch;
    sqlite3_stmt *stmt; /* of one pass, or of one step of it */
    struct rank *ranks;
    size_t n_ranks;
    size_t ranks_room;
    struct lab_top top;
    struct group *groups; /* of a step's sort, the best first; NULL: none */
    size_t n_groups;
    struct lab_top_row best; /* row of the group that is being read */
    bool wrong;              /* a group is not what was said of it */
    int64_t *rows;           /* as recorded: no sort, and full soon */
    int64_t skip;
    int64_t n;
};

/* A step whose kernels fill the rows between its first and its last has no
 * other's among them: nobody needs to look who each belongs to. */
static enum lab_status prepare(struct pick *p)
{
    struct lab_str sql;
    const char *turn = p->f->descending ? "DESC" : "ASC";
    const struct lab_kernel_key *key = &lab_kernel_keys[p->f->sort];
    bool name = p->f->sort == LAB_KERNEL_BY_NAME;
    const char *columns = name ? "k.demangledName" : key->columns;
    bool launch = name || key->table == 'k';
    const char *of = launch ? "k" : "o";
    lab_str_init(&sql);
    lab_str_addf(
        &sql,
        "SELECT %s.kernelRow, %s FROM step AS s CROSS JOIN %s AS %s ON "
        "%s.kernelRow BETWEEN max(s.kernelRowFirst, ?6) AND "
        "min(s.kernelRowLast, ?7) WHERE s.runId = ?1 AND s.exec BETWEEN ?4 AND "
        "?5 AND (?2 IS NULL OR s.stepIndex = ?2) AND (?3 IS NULL OR "
        "s.iteration = ?3) AND ",
        of, columns ? columns : "NULL",
        launch ? "CUPTI_ACTIVITY_KIND_KERNEL" : "op_kernel", of, of);
    if (launch)
        lab_str_add(&sql,
                    "(s.kernelRowLast - s.kernelRowFirst + 1 = s.kernelCount "
                    "OR EXISTS (SELECT 1 FROM op_kernel AS o WHERE o.kernelRow "
                    "= k.kernelRow AND o.runId = ?1 AND o.stepExec = s.exec))");
    else
        lab_str_add(&sql, "o.runId = ?1 AND o.stepExec = s.exec");
    if (p->f->sort == LAB_KERNEL_BY_ROW)
        lab_str_addf(&sql, " ORDER BY s.exec %s, o.kernelRow %s", turn, turn);
    enum lab_status st =
        sql.failed ? lab_fail(LAB_E_NOMEM, "no memory for a query")
                   : lab_database_prepare(p->db, lab_str_text(&sql), &p->stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    sqlite3_bind_int64(p->stmt, 1, p->run);
    lab_bind_int(p->stmt, 2, p->f->step_index);
    lab_bind_int(p->stmt, 3, p->f->iteration);
    sqlite3_bind_int64(p->stmt, 6, p->stretch[0]);
    sqlite3_bind_int64(p->stmt, 7, p->stretch[1]);
    return LAB_OK;
}

/* ---- names ---- */

static int by_id(const void *a, const void *b)
{
    const struct rank *x = a;
    const struct rank *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static enum lab_status read_ranks(struct pick *p)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(
        p->db, "SELECT id FROM StringIds ORDER BY value", &stmt);
    if (st)
        return st;
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (p->n_ranks == p->ranks_room) {
            size_t room = p->ranks_room ? p->ranks_room * 2 : 1024;
            struct rank *more =
                lab_realloc_array(p->ranks, room, sizeof(*more));
            if (!more) {
                st = lab_fail(LAB_E_NOMEM, "no memory for the names");
                break;
            }
            p->ranks = more;
            p->ranks_room = room;
        }
        p->ranks[p->n_ranks] =
            (struct rank){sqlite3_column_int64(stmt, 0), (int64_t)p->n_ranks};
        p->n_ranks++;
    }
    enum lab_status end = lab_query_end(p->db, stmt, st ? SQLITE_DONE : rc);
    if (p->n_ranks)
        qsort(p->ranks, p->n_ranks, sizeof(*p->ranks), by_id);
    return st ? st : end;
}

static void rank_row(const struct pick *p, struct lab_top_row *row)
{
    const struct rank wanted = {row->key, 0};
    const struct rank *found = NULL;
    if (p->n_ranks && !row->unknown)
        found = bsearch(&wanted, p->ranks, p->n_ranks, sizeof(wanted), by_id);
    if (found)
        row->key = found->rank;
    else
        row->unknown = true;
}

/* ---- rows ---- */

static void take(struct pick *p)
{
    struct lab_columns c = {p->stmt, 1};
    struct lab_top_row row = {.row = sqlite3_column_int64(p->stmt, 0)};
    if (p->f->sort == LAB_KERNEL_BY_ROW) {
        if (p->skip > 0)
            p->skip--;
        else
            p->rows[p->n++] = row.row;
        return;
    }
    row.key = lab_kernel_key_read(&c, p->f->sort);
    row.unknown = row.key == LAB_UNKNOWN;
    if (p->f->sort == LAB_KERNEL_BY_NAME)
        rank_row(p, &row);
    if (lab_top_order(&p->top, &row, &p->best) < 0)
        p->best = row;
    lab_top_offer(&p->top, row);
}

static bool is_full(const struct pick *p)
{
    return p->f->sort == LAB_KERNEL_BY_ROW && p->n == p->f->limit;
}

static enum lab_status read_pass(struct pick *p, const struct lab_pass *pass)
{
    const struct lab_iteration_row *r = &pass->row;
    int64_t first = r->exec_first;
    int64_t last = r->exec_last;
    int rc = SQLITE_DONE;
    if (p->f->iteration != LAB_UNKNOWN && r->iteration != p->f->iteration)
        return LAB_OK;
    if (p->f->step_index != LAB_UNKNOWN && pass->zero != LAB_UNKNOWN) {
        int64_t exec;
        if (__builtin_add_overflow(pass->zero, p->f->step_index, &exec) ||
            exec < first || exec > last)
            return LAB_OK;
        first = last = exec;
    }
    sqlite3_bind_int64(p->stmt, 4, first);
    sqlite3_bind_int64(p->stmt, 5, last);
    while (!is_full(p) && (rc = sqlite3_step(p->stmt)) == SQLITE_ROW)
        take(p);
    sqlite3_reset(p->stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return lab_database_error(p->db, "reading it");
    return LAB_OK;
}

/* ---- groups of passes ---- */

/* The names that a step's kernels have in the whole run: in no group can there
 * be a better one. */
static enum lab_status best_name(struct pick *p, struct lab_top_row *best)
{
    sqlite3_stmt *stmt;
    int rc;
    enum lab_status st = lab_database_prepare(
        p->db,
        "SELECT demangledName FROM time_sum WHERE runId = ?1 AND level = ?2 "
        "AND stepIndex = ?3 AND demangledName NOTNULL",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, p->run);
    sqlite3_bind_int(stmt, 2, LAB_SUM_KERNEL);
    sqlite3_bind_int64(stmt, 3, p->f->step_index);
    best->unknown = true;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_columns c = {stmt, 0};
        struct lab_top_row row = {.key = lab_column_int(&c)};
        row.unknown = row.key == LAB_UNKNOWN;
        rank_row(p, &row);
        if (lab_top_order(&p->top, &row, best) < 0)
            *best = row;
    }
    return lab_query_end(p->db, stmt, rc);
}

static int by_best(const void *a, const void *b, void *user)
{
    const struct group *x = a;
    const struct group *y = b;
    return lab_top_order(user, &x->best, &y->best);
}

/* No row of the group comes before this one. */
static int64_t first_row(const struct lab_passes *passes, size_t group)
{
    int64_t row = INT64_MAX;
    size_t end = (group + 1) * LAB_RANGE_PASSES;
    end = end < passes->count ? end : passes->count;
    for (size_t i = group * LAB_RANGE_PASSES; i < end; i++) {
        int64_t first = passes->list[i].row.kernel_row_first;
        if (first != LAB_UNKNOWN && first < row)
            row = first;
    }
    return row;
}

static enum lab_status make_groups(struct pick *p,
                                   const struct lab_passes *passes)
{
    size_t n = (passes->count + LAB_RANGE_PASSES - 1) / LAB_RANGE_PASSES;
    bool name = p->f->sort == LAB_KERNEL_BY_NAME;
    struct lab_zone_range *ranges = NULL;
    struct lab_top_row best = {0};
    enum lab_status st =
        name ? best_name(p, &best)
             : lab_step_ranges_load(&ranges, n, p->db, p->run, p->f->step_index,
                                    p->f->sort);
    if (st || (!name && !ranges))
        return st;
    p->groups = lab_alloc_array(n, sizeof(*p->groups));
    if (!p->groups)
        st = lab_fail(LAB_E_NOMEM, "no memory for a run's iterations");
    for (size_t i = 0; i < n && st == LAB_OK; i++) {
        if (!name)
            best = (struct lab_top_row){
                .key = p->f->descending ? ranges[i].greatest : ranges[i].least,
                .unknown = !ranges[i].known};
        best.row = first_row(passes, i);
        p->groups[p->n_groups++] = (struct group){best, i * LAB_RANGE_PASSES};
    }
    if (p->n_groups)
        qsort_r(p->groups, n, sizeof(*p->groups), by_best, &p->top);
    lab_free(ranges);
    return st;
}

/* Whether the rows of a group are what was said of it. Of names it was only
 * said that there are none better. */
static bool is_true(const struct pick *p, const struct lab_top_row *said)
{
    const struct lab_top_row *best = &p->best;
    return lab_top_order(&p->top, best, said) >= 0 &&
           (p->f->sort == LAB_KERNEL_BY_NAME ||
            (best->unknown == said->unknown &&
             (best->unknown || best->key == said->key)));
}

/* From the most promising group on, until none can hold a better row. What was
 * found counts for nothing where a group is not what was said of it: others may
 * not be either. */
static enum lab_status read_groups(struct pick *p,
                                   const struct lab_passes *passes)
{
    enum lab_status st = LAB_OK;
    for (size_t g = 0; g < p->n_groups && st == LAB_OK && !p->wrong; g++) {
        const struct group *of = &p->groups[g];
        size_t end = of->first + LAB_RANGE_PASSES;
        if (lab_top_is_beyond(&p->top, &of->best))
            break;
        p->best = (struct lab_top_row){.row = INT64_MAX, .unknown = true};
        for (size_t i = of->first; i < end && i < passes->count && !st; i++)
            st = read_pass(p, &passes->list[i]);
        p->wrong = !is_true(p, &of->best);
    }
    return st;
}

static enum lab_status read_in_turn(struct pick *p,
                                    const struct lab_passes *passes)
{
    bool back = p->f->sort == LAB_KERNEL_BY_ROW && p->f->descending;
    enum lab_status st = LAB_OK;
    p->top.n = 0;
    for (size_t i = 0; i < passes->count && st == LAB_OK && !is_full(p); i++)
        st = read_pass(p, &passes->list[back ? passes->count - 1 - i : i]);
    return st;
}

/* Each pass is a query: in one transaction the file is locked once for all of
 * them. */
static enum lab_status read_passes(struct pick *p,
                                   const struct lab_passes *passes)
{
    bool sorted = p->f->sort != LAB_KERNEL_BY_ROW;
    bool own = sqlite3_get_autocommit(p->db->sql) != 0;
    enum lab_status st = LAB_OK;
    if (own)
        st = lab_database_exec(p->db, "BEGIN", "reading it");
    if (st)
        return st;
    st = prepare(p);
    if (st == LAB_OK && p->f->sort == LAB_KERNEL_BY_NAME)
        st = read_ranks(p);
    if (st == LAB_OK && sorted && p->f->step_index != LAB_UNKNOWN)
        st = make_groups(p, passes);
    if (st == LAB_OK && p->groups)
        st = read_groups(p, passes);
    if (st == LAB_OK && (!p->groups || p->wrong))
        st = read_in_turn(p, passes);
    if (st == LAB_OK && sorted)
        p->n = lab_top_page(&p->top, p->f->offset, p->rows);
    sqlite3_finalize(p->stmt);
    lab_free(p->ranks);
    lab_free(p->groups);
    if (own)
        lab_database_rollback(p->db); /* nothing was written */
    return st;
}

enum lab_status lab_passes_pick(struct lab_database *db, int64_t run,
                                const struct lab_kernel_filter *f,
                                const int64_t stretch[2], int64_t *rows,
                                int64_t *n)
{
    struct lab_passes passes = {0};
    struct pick p = {.db = db,
                     .run = run,
                     .f = f,
                     .stretch = stretch,
                     .rows = rows,
                     .skip = f->offset,
                     .top = {.descending = f->descending}};
    *n = -1;
    if (!lab_top_fits(f->limit, f->offset))
        return LAB_OK;
    enum lab_status st = lab_passes_load(&passes, db, run);
    if (st || passes.count == 0)
        return st;
    if (f->sort != LAB_KERNEL_BY_ROW)
        st = lab_top_begin(&p.top, f->limit, f->offset);
    if (st == LAB_OK)
        st = read_passes(&p, &passes);
    if (st == LAB_OK)
        *n = p.n;
    lab_top_release(&p.top);
    lab_passes_release(&passes);
    return st;
}
