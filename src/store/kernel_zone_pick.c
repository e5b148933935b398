#include <stdlib.h>

#include "kernel_zone.h"
#include "row.h"
#include "top_rows.h"

enum { MOST_PAGE = 20000 };

struct place { /* of a zone, the best first */
    struct lab_top_row best;
    int64_t last;
};

struct pick {
    struct lab_database *db;
    int64_t run;
    enum lab_kernel_sort sort;
    struct place *places;
    size_t n_places;
    struct lab_top top;
};

/* ---- the zones ---- */

static int by_best(const void *a, const void *b, void *user)
{
    const struct place *x = a;
    const struct place *y = b;
    return lab_top_order(user, &x->best, &y->best);
}

/* Names have no numbers of their own: their ranks among all texts are theirs.
 */
static const char zones_sql[] =
    "SELECT CASE WHEN ?3 THEN greatest ELSE least END, kernelRowFirst, "
    "kernelRowLast FROM kernel_zone WHERE runId = ?1 AND sort = ?2";
static const char names_sql[] =
    "WITH name AS MATERIALIZED (SELECT id, row_number() OVER (ORDER BY value) "
    "AS rank FROM StringIds) SELECT CASE WHEN ?3 THEN max(name.rank) ELSE "
    "min(name.rank) END, z.kernelRowFirst, (SELECT max(kernelRowLast) FROM "
    "kernel_zone AS k WHERE k.runId = ?1 AND k.kernelRowFirst = "
    "z.kernelRowFirst AND k.sort = ?2) FROM kernel_zone_name AS z JOIN name ON "
    "name.id = z.nameId WHERE z.runId = ?1 GROUP BY z.kernelRowFirst";

static enum lab_status read_places(struct pick *p)
{
    sqlite3_stmt *stmt;
    size_t room = 0;
    int rc = SQLITE_DONE;
    bool names = p->sort == LAB_KERNEL_BY_NAME;
    enum lab_status st =
        lab_database_prepare(p->db, names ? names_sql : zones_sql, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, p->run);
    sqlite3_bind_int(stmt, 2, names ? LAB_KERNEL_BY_START : (int)p->sort);
    sqlite3_bind_int(stmt, 3, p->top.descending);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        if (p->n_places == room) {
            room = room ? room * 2 : 1024;
            struct place *more =
                lab_realloc_array(p->places, room, sizeof(*more));
            if (!more) {
                st = lab_fail(LAB_E_NOMEM, "no memory for a run's zones");
                break;
            }
            p->places = more;
        }
        p->places[p->n_places++] =
            (struct place){{.key = sqlite3_column_int64(stmt, 0),
                            .row = sqlite3_column_int64(stmt, 1)},
                           sqlite3_column_int64(stmt, 2)};
    }
    enum lab_status end = lab_query_end(p->db, stmt, rc);
    if (st == LAB_OK && end == LAB_OK && p->n_places)
        qsort_r(p->places, p->n_places, sizeof(*p->places), by_best, &p->top);
    return st ? st : end;
}

/* ---- the best rows ---- */

/* A row's key, as the zones have it. */
static const char *const keys[LAB_KERNEL_SORT_COUNT] = {
    [LAB_KERNEL_BY_START] = "k.start",
    [LAB_KERNEL_BY_TIME] = "k.end - k.start",
    [LAB_KERNEL_BY_NAME] = "name.rank",
    [LAB_KERNEL_BY_STEP] = "s.stepIndex",
    [LAB_KERNEL_BY_GRID] = "k.gridX * k.gridY * k.gridZ",
    [LAB_KERNEL_BY_BLOCK] = "k.blockX * k.blockY * k.blockZ",
    [LAB_KERNEL_BY_REGISTERS] = "k.registersPerThread",
    [LAB_KERNEL_BY_SHARED] = "k.staticSharedMemory + k.dynamicSharedMemory",
    [LAB_KERNEL_BY_OCCUPANCY] = "o.occupancy_pct",
};

static enum lab_status prepare_rows(const struct pick *p, sqlite3_stmt **out)
{
    char sql[512];
    const char *key = keys[p->sort];
    if (p->sort == LAB_KERNEL_BY_STEP)
        sqlite3_snprintf(sizeof(sql), sql,
                         "SELECT o.kernelRow, %s FROM op_kernel AS o JOIN step "
                         "AS s ON s.runId = o.runId AND s.exec = o.stepExec "
                         "WHERE o.kernelRow BETWEEN ?2 AND ?3 AND o.runId = ?1",
                         key);
    else if (p->sort == LAB_KERNEL_BY_OCCUPANCY)
        sqlite3_snprintf(sizeof(sql), sql,
                         "SELECT o.kernelRow, %s FROM op_kernel AS o WHERE "
                         "o.kernelRow BETWEEN ?2 AND ?3 AND o.runId = ?1",
                         key);
    else
        sqlite3_snprintf(
            sizeof(sql), sql,
            "%sSELECT k.kernelRow, %s FROM CUPTI_ACTIVITY_KIND_KERNEL AS k%s "
            "WHERE k.kernelRow BETWEEN ?2 AND ?3 AND k.runId = ?1",
            p->sort == LAB_KERNEL_BY_NAME
                ? "WITH name AS MATERIALIZED (SELECT id, row_number() OVER "
                  "(ORDER BY value) AS rank FROM StringIds) "
                : "",
            key,
            p->sort == LAB_KERNEL_BY_NAME
                ? " JOIN name ON name.id = k.demangledName"
                : "");
    return lab_database_prepare(p->db, sql, out);
}

static enum lab_status read_zone(struct pick *p, sqlite3_stmt *stmt,
                                 const struct place *zone)
{
    int rc;
    sqlite3_bind_int64(stmt, 1, p->run);
    sqlite3_bind_int64(stmt, 2, zone->best.row);
    sqlite3_bind_int64(stmt, 3, zone->last);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_top_row i = {.row = sqlite3_column_int64(stmt, 0)};
        if (sqlite3_column_type(stmt, 1) == SQLITE_NULL)
            continue;
        i.key = p->sort == LAB_KERNEL_BY_OCCUPANCY
                    ? lab_zone_real(sqlite3_column_double(stmt, 1))
                    : sqlite3_column_int64(stmt, 1);
        lab_top_offer(&p->top, i);
    }
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? LAB_OK : lab_database_error(p->db, "reading it");
}

/* From the most promising zone on, until no zone can hold a better row. */
static enum lab_status read_rows(struct pick *p)
{
    sqlite3_stmt *stmt;
    enum lab_status st = prepare_rows(p, &stmt);
    if (st)
        return st;
    for (size_t i = 0; i < p->n_places && st == LAB_OK; i++) {
        const struct place *zone = &p->places[i];
        if (p->top.n == p->top.most &&
            lab_top_order(&p->top, &zone->best, &p->top.heap[0]) > 0)
            break;
        st = read_zone(p, stmt, zone);
    }
    sqlite3_finalize(stmt);
    return st;
}

/* No zone has a value of this column, so no kernel has one: they come as they
 * were recorded. *n stays below 0 where the run has no zones at all. */
static enum lab_status pick_unknown(const struct pick *p,
                                    const struct lab_kernel_filter *f,
                                    int64_t *rows, int64_t *n)
{
    sqlite3_stmt *stmt;
    int rc;
    enum lab_status st = lab_database_prepare(
        p->db,
        "SELECT kernelRow FROM op_kernel WHERE kernelRow BETWEEN (SELECT "
        "min(kernelRowFirst) FROM kernel_zone WHERE runId = ?1) AND (SELECT "
        "max(kernelRowLast) FROM kernel_zone WHERE runId = ?1) AND runId = ?1 "
        "ORDER BY kernelRow LIMIT ?2 OFFSET ?3",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, p->run);
    sqlite3_bind_int64(stmt, 2, f->limit);
    sqlite3_bind_int64(stmt, 3, f->offset);
    int64_t found = 0;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        rows[found++] = sqlite3_column_int64(stmt, 0);
    if (found > 0)
        *n = found;
    return lab_query_end(p->db, stmt, rc);
}

enum lab_status lab_zones_pick(struct lab_database *db, int64_t run,
                               const struct lab_kernel_filter *f, int64_t *rows,
                               int64_t *n)
{
    struct pick p = {.db = db,
                     .run = run,
                     .sort = f->sort,
                     .top = {.descending = f->descending}};
    struct lab_top *top = &p.top;
    *n = -1;
    if (f->limit <= 0 || f->offset < 0 || f->limit > MOST_PAGE ||
        f->offset > MOST_PAGE || !keys[f->sort])
        return LAB_OK;
    top->most = (size_t)(f->limit + f->offset);
    enum lab_status st = read_places(&p);
    if (st == LAB_OK && p.n_places == 0)
        st = pick_unknown(&p, f, rows, n);
    if (st == LAB_OK && p.n_places) {
        top->heap = lab_alloc_array(top->most, sizeof(*top->heap));
        st = top->heap
                 ? read_rows(&p)
                 : lab_fail(LAB_E_NOMEM, "no memory for a page of kernels");
    }
    /* Rows without a value come after the others: not through zones. */
    if (st == LAB_OK && p.n_places && top->n == top->most) {
        lab_top_sort(top);
        for (*n = 0; *n < f->limit; ++*n)
            rows[*n] = top->heap[f->offset + *n].row;
    }
    lab_free(top->heap);
    lab_free(p.places);
    return st;
}
