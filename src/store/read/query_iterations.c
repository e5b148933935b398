/* Which iterations of a run were recorded, and where. */
#include "db/row.h"
#include "index/index.h"

/* Gives the iteration that the step ends to `each`. */
static bool add_step(struct lab_iteration_row *p, sqlite3_stmt *stmt,
                     lab_iteration_row_fn *each, void *user)
{
    struct lab_columns c = {stmt, 0};
    bool go_on = true;
    struct lab_index_step s;
    s.exec = lab_column_int(&c);
    s.iteration = lab_column_int(&c);
    s.start_ns = lab_column_int(&c);
    s.end_ns = lab_column_int(&c);
    s.kernels = lab_column_int(&c);
    s.kernel_row_first = lab_column_int(&c);
    s.kernel_row_last = lab_column_int(&c);
    if (p->steps == 0 || s.iteration != p->iteration) {
        if (p->steps > 0)
            go_on = each(user, p);
        lab_iteration_begin(p, s.iteration, s.exec);
    }
    lab_iteration_add(p, &s);
    return go_on;
}

/* A run of another tool has no steps: all of it is one pass. */
static enum lab_status whole_run(struct lab_database *db, int64_t run,
                                 lab_iteration_row_fn *each, void *user)
{
    struct lab_iteration_row whole;
    sqlite3_stmt *stmt;
    enum lab_status st =
        lab_database_prepare(db, lab_sql_timeline_whole, &stmt);
    if (st)
        return st;
    lab_iteration_begin(&whole, LAB_UNKNOWN, 1);
    whole.exec_last = 0; /* no step is its */
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        struct lab_columns c = {stmt, 0};
        int64_t start = lab_column_int(&c);
        int64_t end = lab_column_int(&c);
        whole.kernels = lab_column_int(&c);
        int64_t first = lab_column_int(&c);
        int64_t last = lab_column_int(&c);
        lab_moments_widen(&whole.start_ns, &whole.end_ns, start, end);
        lab_moments_widen(&whole.kernel_row_first, &whole.kernel_row_last,
                          first, last);
    }
    st = lab_query_end(db, stmt, rc);
    if (st == LAB_OK && whole.kernels > 0)
        each(user, &whole);
    return st;
}

static enum lab_status read_steps(struct lab_database *db, int64_t run,
                                  lab_iteration_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    struct lab_iteration_row last = {0};
    int rc;
    enum lab_status st =
        lab_database_prepare(db, lab_sql_timeline_passes, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        if (!add_step(&last, stmt, each, user))
            break;
    st = lab_query_end(db, stmt, rc);
    if (st || rc != SQLITE_DONE)
        return st;
    if (last.steps == 0)
        return whole_run(db, run, each, user);
    each(user, &last);
    return LAB_OK;
}

enum lab_status lab_query_iterations(struct lab_database *db, int64_t run,
                                     lab_iteration_row_fn *each, void *user)
{
    struct lab_iterations kept = {0};
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_iterations_load(&kept, db, run);
    if (st == LAB_OK && kept.count == 0)
        st = read_steps(db, run, each, user);
    for (size_t i = 0; i < kept.count && each(user, &kept.list[i]); i++)
        ;
    lab_iterations_release(&kept);
    return st;
}

static int worth(const struct lab_iteration_row *row)
{
    return row->kernels > 0 ? 2 : row->start_ns != LAB_UNKNOWN;
}

bool lab_iteration_prefer(const struct lab_iteration_row *best,
                          const struct lab_iteration_row *row)
{
    return worth(row) >= worth(best);
}

struct wanted {
    int64_t iteration;
    struct lab_iteration_row found;
    struct lab_iteration_row last;
    int64_t first;
    bool any; /* one was found; some are there */
    bool some;
};

static bool look_at(void *user, const struct lab_iteration_row *row)
{
    struct wanted *w = user;
    if (!w->some)
        w->first = row->iteration;
    w->last = *row;
    w->some = true;
    if (w->iteration != LAB_UNKNOWN
            ? row->iteration == w->iteration
            : !w->any || lab_iteration_prefer(&w->found, row)) {
        w->found = *row;
        w->any = true;
    }
    return true;
}

enum lab_status lab_query_iteration(struct lab_database *db, int64_t run,
                                    int64_t iteration,
                                    struct lab_iteration_row *out)
{
    struct wanted w = {.iteration = iteration};
    enum lab_status st = lab_query_iterations(db, run, look_at, &w);
    if (st)
        return st;
    if (!w.some)
        return lab_fail(LAB_E_NOTFOUND,
                        "%s: run %lld has no recorded steps or kernels",
                        db->path, (long long)run);
    if (!w.any && w.last.steps == 0)
        return lab_fail(LAB_E_NOTFOUND,
                        "%s: run %lld has no iterations: all "
                        "of it is one timeline",
                        db->path, (long long)run);
    if (!w.any)
        return lab_fail(LAB_E_NOTFOUND,
                        "%s: iteration %lld of run %lld was not recorded; the "
                        "first is %lld, the last %lld, and of a long training "
                        "some between them",
                        db->path, (long long)iteration, (long long)run,
                        (long long)w.first, (long long)w.last.iteration);
    *out = w.found;
    return LAB_OK;
}
