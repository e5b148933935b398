#include "store/query.h"

#include "row.h"

/* The only text that is put into a query comes from this table. */
static const struct {
    const char *name;
    const char *expression;
} sorts[LAB_KERNEL_SORT_COUNT] = {
    [LAB_KERNEL_BY_ROW] = {"row", "o.kernelRow"},
    [LAB_KERNEL_BY_START] = {"start", "k.start"},
    [LAB_KERNEL_BY_TIME] = {"time", "k.end - k.start"},
    [LAB_KERNEL_BY_NAME] = {"name", "demangled.value"},
    [LAB_KERNEL_BY_STEP] = {"step", "s.stepIndex"},
    [LAB_KERNEL_BY_GRID] = {"grid", "k.gridX * k.gridY * k.gridZ"},
    [LAB_KERNEL_BY_BLOCK] = {"block", "k.blockX * k.blockY * k.blockZ"},
    [LAB_KERNEL_BY_REGISTERS] = {"registers", "k.registersPerThread"},
    [LAB_KERNEL_BY_SHARED] = {"shared",
                              "k.staticSharedMemory + k.dynamicSharedMemory"},
    [LAB_KERNEL_BY_OCCUPANCY] = {"occupancy", "o.occupancy_pct"},
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
    r->shared_executed_bytes = lab_column_int(&c);
    r->local_per_thread_bytes = lab_column_int(&c);
    r->graph_node = lab_column_int(&c);
    r->occupancy_pct = lab_column_real(&c);
    r->occupancy_limit = lab_column_int(&c);
    r->active_blocks_per_sm = lab_column_int(&c);
}

static enum lab_status prepare_kernels(struct lab_database *db,
                                       const struct lab_kernel_filter *filter,
                                       sqlite3_stmt **out)
{
    struct lab_str sql;
    enum lab_status st;
    const char *key = sorts[filter->sort].expression;
    lab_str_init(&sql);
    lab_str_add(&sql, lab_sql_kernels);
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

enum lab_status lab_query_kernels(struct lab_database *db, int64_t run,
                                  const struct lab_kernel_filter *filter,
                                  lab_kernel_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    struct lab_kernel_row row;
    int rc;
    if ((unsigned)filter->sort >= LAB_KERNEL_SORT_COUNT)
        return lab_fail(LAB_E_ARG, "kernels have no such column to sort by");
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = prepare_kernels(db, filter, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    lab_bind_int(stmt, 2, filter->step_index);
    lab_bind_int(stmt, 3, filter->iteration);
    sqlite3_bind_int64(stmt, 4, filter->limit > 0 ? filter->limit : -1);
    sqlite3_bind_int64(stmt, 5, filter->offset);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        read_kernel(stmt, &row);
        if (!each(user, &row))
            break;
    }
    return lab_query_end(db, stmt, rc);
}
