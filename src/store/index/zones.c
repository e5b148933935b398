/* Zones of a long run's kernels: making them, and the SQL that picks those with
 * the first rows of a sort. */
#include "index.h"

static const char storing[] = "storing the zones of a run";

enum lab_status lab_index_begin(struct lab_index *x, struct lab_database *db,
                                int64_t run)
{
    int64_t kernels;
    *x = (struct lab_index){.db = db, .run = run};
    enum lab_status st =
        lab_database_exec_of(db,
                             "DELETE FROM kernel_zone WHERE runId = ?1; DELETE "
                             "FROM kernel_zone_name WHERE runId = ?1",
                             run, storing);
    if (st == LAB_OK)
        st = lab_database_int_of(
            db, "SELECT kernelRowLast - kernelRowFirst FROM run WHERE id = ?1",
            run, 0, &kernels);
    x->zones = st == LAB_OK && kernels >= LAB_ZONE_LEAST_KERNELS - 1;
    if (!x->zones)
        return st;
    x->add_zone = lab_stmt_new(
        db, "INSERT INTO kernel_zone (runId, sort, kernelRowFirst, "
            "kernelRowLast, least, greatest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    x->add_name = lab_stmt_new(db, "INSERT INTO kernel_zone_name (runId, "
                                   "nameId, kernelRowFirst) VALUES (?1, ?2, "
                                   "?3)");
    sqlite3_bind_int64(x->add_zone.sql, 1, run);
    sqlite3_bind_int64(x->add_name.sql, 1, run);
    return x->add_zone.st ? x->add_zone.st : x->add_name.st;
}

/* Stores the open zone. */
static enum lab_status close_zone(struct lab_index *x)
{
    struct lab_stmt *zone = &x->add_zone;
    struct lab_stmt *name = &x->add_name;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++) {
        if (!x->range[i].known)
            continue;
        sqlite3_bind_int(zone->sql, 2, i);
        sqlite3_bind_int64(zone->sql, 3, x->first);
        sqlite3_bind_int64(zone->sql, 4, x->last);
        sqlite3_bind_int64(zone->sql, 5, x->range[i].least);
        sqlite3_bind_int64(zone->sql, 6, x->range[i].greatest);
        lab_stmt_run(zone, storing);
        x->range[i].known = false;
    }
    for (int i = 0; i < x->names; i++) {
        sqlite3_bind_int64(name->sql, 2, x->name[i]);
        sqlite3_bind_int64(name->sql, 3, x->first);
        lab_stmt_run(name, storing);
    }
    x->rows = x->names = 0;
    return zone->st ? zone->st : name->st;
}

static void widen(struct lab_zone_range *r, int64_t v)
{
    if (v == LAB_UNKNOWN)
        return;
    if (!r->known || v < r->least)
        r->least = v;
    if (!r->known || v > r->greatest)
        r->greatest = v;
    r->known = true;
}

static void add_name(struct lab_index *x, int64_t name)
{
    for (int i = x->names; i > 0; i--)
        if (x->name[i - 1] == name)
            return;
    x->name[x->names++] = name;
}

enum lab_status lab_index_add_kernel(struct lab_index *x,
                                     const struct lab_index_kernel *k)
{
    if (!x->zones)
        return LAB_OK;
    if (x->rows++ == 0)
        x->first = k->row;
    x->last = k->row;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++)
        widen(&x->range[i], k->value[i]);
    if (k->name != LAB_UNKNOWN)
        add_name(x, k->name);
    return x->rows == LAB_ZONE_ROWS ? close_zone(x) : LAB_OK;
}

enum lab_status lab_index_store(struct lab_index *x, int64_t place)
{
    enum lab_status st = x->rows ? close_zone(x) : LAB_OK;
    return st ? st : lab_iterations_store(&x->iterations, x->db, x->run, place);
}

void lab_index_release(struct lab_index *x)
{
    lab_stmt_end(&x->add_zone);
    lab_stmt_end(&x->add_name);
    lab_iterations_release(&x->iterations);
}

/* Why n zones are enough: each has a row with its best value. A zone that is
 * not among the first n has n before it, of a better value or of the same and
 * with earlier rows; so n rows go before all of its own. A zone goes on to the
 * next one, so that no row is read twice, whatever the file has. */
void lab_index_add_zones(struct lab_str *sql, enum lab_kernel_sort sort,
                         bool descending)
{
    const char *turn = descending ? "DESC" : "ASC";
    if (sort == LAB_KERNEL_BY_NAME)
        lab_str_addf(
            sql,
            "(SELECT first, last FROM (SELECT first, best, lead(first, 1, "
            "0x7FFFFFFFFFFFFFFF) OVER (ORDER BY first) - 1 AS last FROM "
            "(SELECT n.kernelRowFirst AS first, %s(t.value) AS best FROM "
            "kernel_zone_name AS n JOIN StringIds AS t ON t.id = n.nameId "
            "WHERE n.runId = ?1 GROUP BY first)) ORDER BY best %s, first LIMIT "
            "?4)",
            descending ? "max" : "min", turn);
    else
        lab_str_addf(
            sql,
            "(SELECT first, ifnull((SELECT min(kernelRowFirst) FROM "
            "kernel_zone WHERE runId = ?1 AND sort = %d AND kernelRowFirst > "
            "first), 0x7FFFFFFFFFFFFFFF) - 1 AS last FROM (SELECT "
            "kernelRowFirst AS first FROM kernel_zone WHERE runId = ?1 AND "
            "sort = %d ORDER BY %s %s, first LIMIT ?4))",
            sort, sort, descending ? "greatest" : "least", turn);
}
