#include "store/predictions.h"

#include "db/row.h"
#include "store/row_fields.h"

#define FIELD(column, kind, member)                                            \
    LAB_FIELD(lab_prediction_row, column, kind, member)

static const struct lab_field fields[] = {
    FIELD("place", INT, place),
    FIELD("rung", TEXT, rung),
    FIELD("precision", TEXT, precision),
    FIELD("size", TEXT, size),
    FIELD("rate", REAL, rate),
    FIELD("time_ns", REAL, time_ns),
    FIELD("bound", TEXT, bound),
    FIELD("occupancy_pct", REAL, occupancy_pct),
};

LAB_FIELDS(lab_prediction_row, lab_prediction_rows_read, "lab_said", "place",
           "said_")

enum lab_status lab_prediction_row_add(struct lab_database *db, int64_t run,
                                       const struct lab_prediction_row *row)
{
    return lab_fields_add(db, run, &lab_prediction_row_fields, row);
}

/* Candidates of a tuned rung, which tuning alone climbs, are named by their
 * tiles (64x64x8): they are no rungs of the ladder. */
enum lab_status lab_bench_run_fullest(struct lab_database *db, const char *lab,
                                      const char *lesson, const char *but,
                                      int64_t *run)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT id FROM run JOIN lab_row AS l ON l.runId = id WHERE "
        "(?2 IS NULL OR lesson = ?2) AND (?3 IS NULL OR backend <> ?3) AND "
        "l.lab = ?1 AND l.status = 'done' GROUP BY id ORDER BY "
        "count(DISTINCT CASE WHEN rung GLOB '[0-9]*' THEN NULL ELSE rung END) "
        "DESC, count(DISTINCT size) DESC," LAB_SQL_NEWEST " LIMIT 1",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, lab);
    lab_bind_text(stmt, 2, lesson);
    lab_bind_text(stmt, 3, but);
    return lab_query_first_run(db, stmt, lab, run);
}
