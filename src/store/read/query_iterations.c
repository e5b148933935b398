/* Which iterations of a run were recorded, and where. */
#include "db/row.h"
#include "index/index.h"

/* A run of another tool has no steps: all of it is one pass. */
static enum lab_status whole_run(struct lab_database *db, int64_t run,
                                 lab_iteration_row_fn *each, void *user)
{
    struct lab_iteration_row whole;
    struct lab_stmt s = lab_stmt_new(db, lab_sql_timeline_whole);
    sqlite3_bind_int64(s.sql, 1, run);
    lab_iteration_begin(&whole, LAB_UNKNOWN, 1);
    whole.exec_last = 0; /* no step is its */
    if (lab_stmt_next(&s)) {
        int64_t start = lab_column_int(&s);
        int64_t end = lab_column_int(&s);
        whole.kernels = lab_column_int(&s);
        int64_t first = lab_column_int(&s);
        lab_moments_widen(&whole.start_ns, &whole.end_ns, start, end);
        lab_moments_widen(&whole.kernel_row_first, &whole.kernel_row_last,
                          first, lab_column_int(&s));
    }
    enum lab_status st = lab_stmt_end(&s);
    if (st == LAB_OK && whole.kernels > 0)
        each(user, &whole);
    return st;
}

static enum lab_status read_steps(struct lab_database *db, int64_t run,
                                  struct lab_iterations *out)
{
    struct lab_stmt s = lab_stmt_new(db, lab_sql_timeline_passes);
    sqlite3_bind_int64(s.sql, 1, run);
    while (lab_stmt_next(&s)) {
        struct lab_index_step step;
        step.exec = lab_column_int(&s);
        step.iteration = lab_column_int(&s);
        step.start_ns = lab_column_int(&s);
        step.end_ns = lab_column_int(&s);
        step.kernels = lab_column_int(&s);
        step.kernel_row_first = lab_column_int(&s);
        step.kernel_row_last = lab_column_int(&s);
        s.st = lab_iterations_add(out, &step);
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_query_iterations(struct lab_database *db, int64_t run,
                                     lab_iteration_row_fn *each, void *user)
{
    struct lab_iterations all = {0};
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_iterations_load(&all, db, run);
    if (st == LAB_OK && all.count == 0)
        st = read_steps(db, run, &all);
    if (st == LAB_OK && all.count == 0)
        st = whole_run(db, run, each, user);
    for (size_t i = 0; !st && i < all.count && each(user, &all.list[i]); i++)
        ;
    lab_iterations_release(&all);
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
