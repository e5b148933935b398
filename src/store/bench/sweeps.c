#include "db/row.h"
#include "store/sweeps.h"

#include "store/row_fields.h"

#define FIELD(column, kind, member)                                            \
    LAB_FIELD(lab_sweep_row, column, kind, member)

static const struct lab_field fields[] = {
    FIELD("place", INT, place),
    FIELD("sweep", TEXT, sweep),
    FIELD("lesson", TEXT, lesson),
    FIELD("backend", TEXT, backend),
    FIELD("name", TEXT, name),
    FIELD("x", REAL, x),
    FIELD("status", TEXT, status),
    FIELD("reason", TEXT, reason),
    FIELD("iterations", INT, iterations),
    FIELD("samples", INT, samples),
    FIELD("median_ns", REAL, median_ns),
    FIELD("quarter_ns", REAL, quarter_ns),
    FIELD("threeQuarters_ns", REAL, three_quarters_ns),
    FIELD("samples_per_s", REAL, samples_per_s),
    FIELD("memory_bytes", INT, memory_bytes),
    FIELD("parameters", INT, parameters),
    FIELD("flop", REAL, flop),
    FIELD("loss", REAL, loss),
    FIELD("lossIterations", REAL, loss_iterations),
    FIELD("share", REAL, share),
};

LAB_FIELDS(lab_sweep_row, lab_sweep_rows_read, "sweep_row", "place", "sweep_")

enum lab_status lab_sweep_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_sweep_row *row)
{
    return lab_fields_add(db, run, &lab_sweep_row_fields, row);
}

enum lab_status lab_sweep_run_newest(struct lab_database *db, const char *sweep,
                                     const char *lesson, int64_t *run)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT id FROM run JOIN sweep_row AS s ON s.runId = id WHERE "
        "s.sweep = ?1 AND (?2 IS NULL OR s.lesson = ?2) AND "
        "s.status = 'done' GROUP BY id ORDER BY "
        "count(DISTINCT s.lesson) DESC," LAB_SQL_NEWEST " LIMIT 1",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, sweep);
    lab_bind_text(stmt, 2, lesson);
    return lab_query_first_run(db, stmt, sweep, run);
}
