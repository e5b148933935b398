#include "store/sweeps.h"

#include "row.h"

#define COLUMNS                                                                \
    "place, iterations, samples, memory_bytes, parameters, sweep, lesson, "    \
    "backend, name, status, reason, x, median_ns, quarter_ns, "                \
    "threeQuarters_ns, samples_per_s, flop, loss, lossIterations, share"

enum { INTS = 5, TEXTS = 6, REALS = 9 };

/* The members in the order of COLUMNS. */
struct members {
    int64_t *ints[INTS];
    const char **texts[TEXTS];
    double *reals[REALS];
};

static struct members members_of(struct lab_sweep_row *r)
{
    return (struct members){
        {&r->place, &r->iterations, &r->samples, &r->memory_bytes,
         &r->parameters},
        {&r->sweep, &r->lesson, &r->backend, &r->name, &r->status, &r->reason},
        {&r->x, &r->median_ns, &r->quarter_ns, &r->three_quarters_ns,
         &r->samples_per_s, &r->flop, &r->loss, &r->loss_iterations,
         &r->share}};
}

enum lab_status lab_sweep_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_sweep_row *row)
{
    sqlite3_stmt *stmt;
    struct lab_sweep_row copy = *row;
    struct members m = members_of(&copy);
    int at = 1;
    enum lab_status st = lab_query_require_run(db, run);
    if (!st)
        st = lab_database_prepare(
            db,
            "INSERT INTO sweep_row (runId, " COLUMNS ") VALUES (?1, ?2, ?3, "
            "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
            "?18, ?19, ?20, ?21)",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, at++, run);
    for (int i = 0; i < INTS; i++)
        lab_bind_int(stmt, at++, *m.ints[i]);
    for (int i = 0; i < TEXTS; i++)
        lab_bind_text(stmt, at++, *m.texts[i]);
    for (int i = 0; i < REALS; i++)
        lab_bind_real(stmt, at++, *m.reals[i]);
    return lab_query_end(db, stmt, sqlite3_step(stmt));
}

enum lab_status lab_sweep_rows_read(struct lab_database *db, int64_t run,
                                    lab_sweep_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    bool more = true;
    enum lab_status st = lab_query_require_run(db, run);
    if (!st)
        st = lab_database_prepare(
            db,
            "SELECT " COLUMNS " FROM sweep_row WHERE runId = ?1 ORDER BY place",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while (more && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_sweep_row row;
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
