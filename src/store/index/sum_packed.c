#include "sum_packed.h"

enum lab_status lab_packed_begin(struct lab_packed *p, struct lab_database *db,
                                 int64_t run, int level)
{
    *p = (struct lab_packed){.db = db};
    enum lab_status st = lab_database_prepare(
        db,
        "INSERT INTO time_sum (runId, level, place, stepIndex, phase, count, "
        "timed, times) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)",
        &p->stmt);
    if (st)
        return st;
    sqlite3_bind_int64(p->stmt, 1, run);
    sqlite3_bind_int(p->stmt, 2, level);
    return LAB_OK;
}

enum lab_status lab_packed_add(struct lab_packed *p, int64_t *place,
                               int64_t step, int64_t phase, int64_t count,
                               const void *bytes, size_t size)
{
    enum lab_status st = LAB_OK;
    sqlite3_bind_int64(p->stmt, 3, (*place)++);
    lab_bind_int(p->stmt, 4, step);
    lab_bind_int(p->stmt, 5, phase);
    sqlite3_bind_int64(p->stmt, 6, count);
    sqlite3_bind_blob64(p->stmt, 7, bytes, size, SQLITE_STATIC);
    if (sqlite3_step(p->stmt) != SQLITE_DONE)
        st = lab_database_error(p->db, "storing what is kept of a run");
    sqlite3_reset(p->stmt);
    return st;
}

void lab_packed_end(struct lab_packed *p)
{
    sqlite3_finalize(p->stmt);
    p->stmt = NULL;
}
