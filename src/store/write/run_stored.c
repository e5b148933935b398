/* The figures of a run that ended without a word: from its stored losses. */
#include <math.h>

#include "db/row.h"
#include "run_stored.h"

static const char figures[] =
    "SELECT count(*),"
    " (SELECT loss FROM loss WHERE runId = ?1 ORDER BY iteration LIMIT 1),"
    " (SELECT loss FROM loss WHERE runId = ?1 ORDER BY iteration DESC LIMIT 1),"
    " (SELECT accuracy FROM loss WHERE runId = ?1 AND accuracy IS NOT NULL"
    "  ORDER BY iteration DESC LIMIT 1),"
    " min(moment_ns), max(moment_ns) FROM loss WHERE runId = ?1";

static void take(sqlite3_stmt *stmt, struct lab_run_row *r)
{
    struct lab_columns c = {stmt, 0};
    int64_t n = lab_column_int(&c);
    if (n < 1)
        return;
    r->figures_from_rows = true;
    r->iterations = n;
    r->loss_first = lab_column_real(&c);
    r->loss_last = lab_column_real(&c);
    r->accuracy = lab_column_real(&c);
    int64_t first = lab_column_int(&c);
    int64_t last = lab_column_int(&c);
    int64_t span = lab_span_ns(first, last);
    /* The first loss is known at the end of the first iteration. */
    if (n > 1 && span != LAB_UNKNOWN && span > 0 && r->batch != LAB_UNKNOWN)
        r->samples_per_s =
            (double)(n - 1) * (double)r->batch * 1e9 / (double)span;
}

enum lab_status lab_run_fill_from_rows(struct lab_database *db,
                                       struct lab_run_row *r)
{
    sqlite3_stmt *stmt;
    bool told = r->iterations != LAB_UNKNOWN || !isnan(r->loss_first) ||
                !isnan(r->loss_last) || !isnan(r->samples_per_s) ||
                r->iteration_median_ns != LAB_UNKNOWN;
    if (told)
        return LAB_OK;
    enum lab_status st = lab_database_prepare(db, figures, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, r->id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        take(stmt, r);
    return lab_query_end(db, stmt, rc);
}
