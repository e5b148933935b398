/* Which iterations of a run were recorded, and where. */
#include "row.h"
#include "timeline_priv.h"

bool lab_moment_known(int64_t v)
{
    return v > 0 && v <= INT64_MAX / 2;
}

void lab_moments_widen(int64_t *from, int64_t *to, int64_t start, int64_t end)
{
    if (lab_moment_known(start) && (*from == LAB_UNKNOWN || start < *from))
        *from = start;
    if (lab_moment_known(end) && (*to == LAB_UNKNOWN || end > *to))
        *to = end;
}

static void begin_pass(struct lab_iteration_row *p, int64_t iteration,
                       int64_t exec)
{
    *p = (struct lab_iteration_row){.iteration = iteration,
                                    .start_ns = LAB_UNKNOWN,
                                    .end_ns = LAB_UNKNOWN,
                                    .kernels = LAB_UNKNOWN,
                                    .exec_first = exec,
                                    .kernel_row_first = LAB_UNKNOWN,
                                    .kernel_row_last = LAB_UNKNOWN};
}

static bool add_step(struct lab_iteration_row *p, sqlite3_stmt *stmt,
                     lab_iteration_row_fn *each, void *user)
{
    struct lab_columns c = {stmt, 0};
    bool go_on = true;
    int64_t exec = lab_column_int(&c);
    int64_t iteration = lab_column_int(&c);
    if (p->steps == 0 || iteration != p->iteration) {
        if (p->steps > 0)
            go_on = each(user, p);
        begin_pass(p, iteration, exec);
    }
    int64_t start = lab_column_int(&c);
    int64_t end = lab_column_int(&c);
    int64_t kernels = lab_column_int(&c);
    int64_t first = lab_column_int(&c);
    int64_t last = lab_column_int(&c);
    p->steps++;
    p->exec_last = exec;
    lab_moments_widen(&p->start_ns, &p->end_ns, start, end);
    lab_moments_widen(&p->kernel_row_first, &p->kernel_row_last, first, last);
    if (kernels >= 0 && kernels <= INT32_MAX)
        p->kernels = (p->kernels == LAB_UNKNOWN ? 0 : p->kernels) + kernels;
    return go_on;
}

/* A run of another tool has no steps: all of it is one pass. */
static enum lab_status whole_run(struct lab_database *db, int64_t run,
                                 lab_iteration_row_fn *each, void *user)
{
    struct lab_iteration_row pass;
    sqlite3_stmt *stmt;
    enum lab_status st =
        lab_database_prepare(db, lab_sql_timeline_whole, &stmt);
    if (st)
        return st;
    begin_pass(&pass, LAB_UNKNOWN, 1);
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        struct lab_columns c = {stmt, 0};
        int64_t start = lab_column_int(&c);
        int64_t end = lab_column_int(&c);
        pass.kernels = lab_column_int(&c);
        int64_t first = lab_column_int(&c);
        int64_t last = lab_column_int(&c);
        lab_moments_widen(&pass.start_ns, &pass.end_ns, start, end);
        lab_moments_widen(&pass.kernel_row_first, &pass.kernel_row_last, first,
                          last);
    }
    st = lab_query_end(db, stmt, rc);
    if (st == LAB_OK && pass.kernels > 0)
        each(user, &pass);
    return st;
}

enum lab_status lab_query_iterations(struct lab_database *db, int64_t run,
                                     lab_iteration_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    struct lab_iteration_row pass = {0};
    int rc;
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_sql_timeline_passes, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        if (!add_step(&pass, stmt, each, user))
            break;
    st = lab_query_end(db, stmt, rc);
    if (st || rc != SQLITE_DONE)
        return st;
    if (pass.steps == 0)
        return whole_run(db, run, each, user);
    each(user, &pass);
    return LAB_OK;
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
