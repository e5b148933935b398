#include "store/lab_rows.h"

#include "row.h"

#define COLUMNS                                                                \
    "place, repeats, flush_bytes, workspace_bytes, tracedExec, note, lab, "    \
    "size, rung, precision, status, "                                          \
    "reason, "                                                                 \
    "unit, check_error, sample_error, min_ns, quarter_ns, median_ns, "         \
    "threeQuarters_ns, max_ns, flop, bytes, traffic_bytes, rate, rateModel, "  \
    "ratePredicted, gain, gainModel, ceilingCopy_B_s, ceilingFp32_FLOP_s, "    \
    "smClockBefore_hz, smClockAfter_hz, memoryClock_hz, temperature_c, "       \
    "power_w"

enum { INTS = 5, TEXTS = 8, REALS = 22 };

/* The members in the order of COLUMNS. */
struct members {
    int64_t *ints[INTS];
    const char **texts[TEXTS];
    double *reals[REALS];
};

static struct members members_of(struct lab_lab_row *r)
{
    return (struct members){
        {&r->place, &r->repeats, &r->flush_bytes, &r->workspace_bytes,
         &r->traced_exec},
        {&r->note, &r->lab, &r->size, &r->rung, &r->precision, &r->status,
         &r->reason, &r->unit},
        {&r->check_error,
         &r->sample_error,
         &r->min_ns,
         &r->quarter_ns,
         &r->median_ns,
         &r->three_quarters_ns,
         &r->max_ns,
         &r->flop,
         &r->bytes,
         &r->traffic_bytes,
         &r->rate,
         &r->rate_model,
         &r->rate_predicted,
         &r->gain,
         &r->gain_model,
         &r->ceiling_copy,
         &r->ceiling_fp32,
         &r->sm_clock_before_hz,
         &r->sm_clock_after_hz,
         &r->memory_clock_hz,
         &r->temperature_c,
         &r->power_w},
    };
}

enum lab_status lab_lab_row_add(struct lab_database *db, int64_t run,
                                const struct lab_lab_row *row)
{
    sqlite3_stmt *stmt;
    struct lab_lab_row copy = *row;
    struct members m = members_of(&copy);
    enum lab_status st = lab_query_require_run(db, run);
    if (!st)
        st = lab_database_prepare(
            db,
            "INSERT INTO lab_row (runId, " COLUMNS ") VALUES (?1, ?2, ?3, ?4, "
            "?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
            "?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, "
            "?32, ?33, ?34, ?35, ?36)",
            &stmt);
    if (st)
        return st;
    int at = 1;
    sqlite3_bind_int64(stmt, at++, run);
    for (int i = 0; i < INTS; i++)
        lab_bind_int(stmt, at++, *m.ints[i]);
    for (int i = 0; i < TEXTS; i++)
        lab_bind_text(stmt, at++, *m.texts[i]);
    for (int i = 0; i < REALS; i++)
        lab_bind_real(stmt, at++, *m.reals[i]);
    return lab_query_end(db, stmt, sqlite3_step(stmt));
}

enum lab_status lab_lab_row_traced(struct lab_database *db, int64_t run,
                                   int64_t place, int64_t exec)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "UPDATE lab_row SET tracedExec = ?3 WHERE runId = ?1 AND place = ?2",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int64(stmt, 2, place);
    sqlite3_bind_int64(stmt, 3, exec);
    st = lab_query_end(db, stmt, sqlite3_step(stmt));
    return st || sqlite3_changes(db->sql) == 1
               ? st
               : lab_fail(LAB_E_NOTFOUND, "%s: run %lld has no row %lld",
                          db->path, (long long)run, (long long)place);
}

enum lab_status lab_lab_rows_read(struct lab_database *db, int64_t run,
                                  lab_lab_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    int rc;
    bool more = true;
    enum lab_status st = lab_query_require_run(db, run);
    if (!st)
        st = lab_database_prepare(
            db,
            "SELECT " COLUMNS " FROM lab_row WHERE runId = ?1 ORDER BY place",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while (more && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_lab_row row;
        struct members m = members_of(&row);
        struct lab_columns c = {.stmt = stmt};
        for (int i = 0; i < INTS; i++)
            *m.ints[i] = lab_column_int(&c);
        for (int i = 0; i < TEXTS; i++)
            *m.texts[i] = lab_column_text(&c);
        for (int i = 0; i < REALS; i++)
            *m.reals[i] = lab_column_real(&c);
        more = each(user, &row);
    }
    return lab_query_end(db, stmt, more ? rc : SQLITE_DONE);
}
