#include <stdlib.h>

#include "kernel_key.h"
#include "kernel_zone.h"
#include "db/row.h"
#include "top_rows.h"

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
    size_t room;
    struct lab_top top;
    bool wrong; /* the zones are not those of the run */
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
    "kernelRowLast FROM kernel_zone WHERE runId = ?1 AND sort = ?2 ORDER BY "
    "kernelRowFirst";
static const char names_sql[] =
    "WITH name AS MATERIALIZED (SELECT id, row_number() OVER (ORDER BY value) "
    "AS rank FROM StringIds) SELECT CASE WHEN ?3 THEN max(name.rank) ELSE "
    "min(name.rank) END, z.kernelRowFirst, (SELECT max(kernelRowLast) FROM "
    "kernel_zone AS k WHERE k.runId = ?1 AND k.kernelRowFirst = "
    "z.kernelRowFirst AND k.sort = ?2) FROM kernel_zone_name AS z JOIN name ON "
    "name.id = z.nameId WHERE z.runId = ?1 GROUP BY z.kernelRowFirst ORDER BY "
    "z.kernelRowFirst";

/* Zones lie one after the other: no row is read twice. */
static bool is_sound(const struct pick *p, const struct place *zone)
{
    int64_t before = p->n_places ? p->places[p->n_places - 1].last : 0;
    return !zone->best.unknown && zone->best.row > before &&
           zone->best.row <= zone->last;
}

static enum lab_status read_place(struct pick *p, sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    struct place zone = {.best.key = lab_column_int(&c)};
    zone.best.unknown = zone.best.key == LAB_UNKNOWN;
    zone.best.row = lab_column_int(&c);
    zone.last = lab_column_int(&c);
    p->wrong = !is_sound(p, &zone);
    if (p->n_places == p->room) {
        size_t room = p->room ? p->room * 2 : 1024;
        struct place *more = lab_realloc_array(p->places, room, sizeof(*more));
        if (!more)
            return lab_fail(LAB_E_NOMEM, "no memory for a run's zones");
        p->places = more;
        p->room = room;
    }
    p->places[p->n_places++] = zone;
    return LAB_OK;
}

static enum lab_status read_places(struct pick *p)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    bool names = p->sort == LAB_KERNEL_BY_NAME;
    enum lab_status st =
        lab_database_prepare(p->db, names ? names_sql : zones_sql, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, p->run);
    sqlite3_bind_int(stmt, 2, names ? LAB_KERNEL_BY_START : (int)p->sort);
    sqlite3_bind_int(stmt, 3, p->top.descending);
    while (!st && !p->wrong && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_place(p, stmt);
    enum lab_status end = lab_query_end(p->db, stmt, st ? SQLITE_DONE : rc);
    if (st == LAB_OK && end == LAB_OK && p->n_places)
        qsort_r(p->places, p->n_places, sizeof(*p->places), by_best, &p->top);
    return st ? st : end;
}

/* ---- the best rows ---- */

static enum lab_status prepare_rows(const struct pick *p, sqlite3_stmt **out)
{
    struct lab_str sql;
    const struct lab_kernel_key *key = &lab_kernel_keys[p->sort];
    lab_str_init(&sql);
    if (p->sort == LAB_KERNEL_BY_NAME)
        lab_str_add(&sql,
                    "WITH name AS MATERIALIZED (SELECT id, row_number() OVER "
                    "(ORDER BY value) AS rank FROM StringIds) SELECT "
                    "k.kernelRow, name.rank FROM CUPTI_ACTIVITY_KIND_KERNEL AS "
                    "k JOIN name ON name.id = k.demangledName WHERE "
                    "k.kernelRow BETWEEN ?2 AND ?3 AND k.runId = ?1 "
                    "AND " LAB_KERNEL_OF_STEP);
    else if (key->table == 'k')
        lab_str_addf(&sql,
                     "SELECT k.kernelRow, %s FROM CUPTI_ACTIVITY_KIND_KERNEL "
                     "AS k WHERE k.kernelRow BETWEEN ?2 AND ?3 AND k.runId = "
                     "?1 AND " LAB_KERNEL_OF_STEP,
                     key->columns);
    else
        lab_str_addf(&sql,
                     "SELECT o.kernelRow, %s FROM op_kernel AS o%s WHERE "
                     "o.kernelRow BETWEEN ?2 AND ?3 AND o.runId = ?1 AND "
                     "o.stepExec IS NOT -1",
                     key->columns,
                     key->table == 's' ? " JOIN step AS s ON s.runId = o.runId "
                                         "AND s.exec = o.stepExec"
                                       : "");
    enum lab_status st =
        sql.failed ? lab_fail(LAB_E_NOMEM, "no memory for a query")
                   : lab_database_prepare(p->db, lab_str_text(&sql), out);
    lab_str_release(&sql);
    return st;
}

/* Rows without a value come after the others, not through zones. A row that
 * goes before what its zone says is best belongs to no zone that is true. */
static enum lab_status read_zone(struct pick *p, sqlite3_stmt *stmt,
                                 const struct place *zone)
{
    int rc;
    sqlite3_bind_int64(stmt, 1, p->run);
    sqlite3_bind_int64(stmt, 2, zone->best.row);
    sqlite3_bind_int64(stmt, 3, zone->last);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_columns c = {stmt, 1};
        struct lab_top_row row = {.row = sqlite3_column_int64(stmt, 0)};
        row.key = lab_kernel_key_read(&c, p->sort);
        if (row.key == LAB_UNKNOWN)
            continue;
        p->wrong = p->wrong || lab_top_order(&p->top, &row, &zone->best) < 0;
        lab_top_offer(&p->top, row);
    }
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? LAB_OK : lab_database_error(p->db, "reading it");
}

/* From the most promising zone on, until no zone can hold a better row. */
static enum lab_status read_zones(struct pick *p)
{
    sqlite3_stmt *stmt;
    enum lab_status st = prepare_rows(p, &stmt);
    if (st)
        return st;
    for (size_t i = 0; i < p->n_places && st == LAB_OK && !p->wrong; i++) {
        const struct place *zone = &p->places[i];
        if (lab_top_is_beyond(&p->top, &zone->best))
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
        "AND stepExec IS NOT -1 ORDER BY kernelRow LIMIT ?2 OFFSET ?3",
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
    *n = -1;
    if (!lab_top_fits(f->limit, f->offset) || f->sort == LAB_KERNEL_BY_ROW)
        return LAB_OK;
    enum lab_status st = read_places(&p);
    if (st == LAB_OK && p.n_places == 0)
        st = pick_unknown(&p, f, rows, n);
    if (st == LAB_OK && p.n_places && !p.wrong) {
        st = lab_top_begin(&p.top, f->limit, f->offset);
        if (st == LAB_OK)
            st = read_zones(&p);
        if (st == LAB_OK && !p.wrong && lab_top_is_full(&p.top))
            *n = lab_top_page(&p.top, f->offset, rows);
    }
    lab_top_release(&p.top);
    lab_free(p.places);
    return st;
}
