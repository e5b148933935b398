#include "store/lab_said.h"

#include "row.h"

enum lab_status lab_said_row_add(struct lab_database *db, int64_t run,
                                 const struct lab_said_row *row)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_query_require_run(db, run);
    if (!st)
        st = lab_database_prepare(
            db,
            "INSERT INTO lab_said (runId, place, rung, precision, size, bound, "
            "rate, time_ns, occupancy_pct) "
            "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int64(stmt, 2, row->place);
    lab_bind_text(stmt, 3, row->rung);
    lab_bind_text(stmt, 4, row->precision);
    lab_bind_text(stmt, 5, row->size);
    lab_bind_text(stmt, 6, row->bound);
    lab_bind_real(stmt, 7, row->rate);
    lab_bind_real(stmt, 8, row->time_ns);
    lab_bind_real(stmt, 9, row->occupancy_pct);
    return lab_query_end(db, stmt, sqlite3_step(stmt));
}

enum lab_status lab_said_rows_read(struct lab_database *db, int64_t run,
                                   lab_said_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    int rc;
    bool more = true;
    enum lab_status st = lab_query_require_run(db, run);
    if (!st)
        st = lab_database_prepare(
            db,
            "SELECT place, rung, precision, size, bound, rate, time_ns, "
            "occupancy_pct FROM lab_said WHERE runId = ?1 ORDER BY place",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while (more && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_columns c = {.stmt = stmt};
        struct lab_said_row row;
        row.place = lab_column_int(&c);
        row.rung = lab_column_text(&c);
        row.precision = lab_column_text(&c);
        row.size = lab_column_text(&c);
        row.bound = lab_column_text(&c);
        row.rate = lab_column_real(&c);
        row.time_ns = lab_column_real(&c);
        row.occupancy_pct = lab_column_real(&c);
        more = each(user, &row);
    }
    return lab_query_end(db, stmt, more ? rc : SQLITE_DONE);
}

enum lab_status lab_lab_run_newest(struct lab_database *db, const char *lab,
                                   const char *lesson, const char *but,
                                   int64_t *run)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT max(id) FROM run WHERE (?2 IS NULL OR lesson = ?2) AND "
        "(?3 IS NULL OR backend <> ?3) AND id IN "
        "(SELECT runId FROM lab_row WHERE lab = ?1 AND status = 'done')",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, lab);
    lab_bind_text(stmt, 2, lesson);
    lab_bind_text(stmt, 3, but);
    int rc = sqlite3_step(stmt);
    bool found =
        rc == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL;
    int64_t id = found ? sqlite3_column_int64(stmt, 0) : 0;
    st = lab_query_end(db, stmt, rc == SQLITE_ROW ? SQLITE_DONE : rc);
    if (st)
        return st;
    if (!found)
        return lab_fail(LAB_E_NOTFOUND, "there is no run of the lab %s", lab);
    *run = id;
    return LAB_OK;
}
