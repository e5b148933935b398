#include <math.h>
#include <string.h>

#include "kernel_zone.h"

static enum lab_status no_memory(void)
{
    return lab_fail(LAB_E_NOMEM, "no memory for the zones of a run");
}

/* The bits of a double, turned so that integers compare as it does. */
int64_t lab_zone_real(double v)
{
    int64_t bits;
    if (isnan(v))
        return LAB_UNKNOWN;
    memcpy(&bits, &v, sizeof(bits));
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static enum lab_status new_zone(struct lab_zones *z, int64_t first)
{
    if (z->count == z->room) {
        size_t room = z->room ? z->room * 2 : 64;
        struct lab_zone *zones =
            lab_realloc_array(z->zones, room, sizeof(*zones));
        if (!zones)
            return no_memory();
        z->zones = zones;
        z->room = room;
    }
    z->zones[z->count++] = (struct lab_zone){.first = first};
    z->first_name = z->n_names;
    z->in_last = 0;
    return LAB_OK;
}

static enum lab_status add_name(struct lab_zones *z, int64_t name)
{
    for (size_t i = z->n_names; i > z->first_name; i--) {
        if (z->names[i - 1][1] == name)
            return LAB_OK;
    }
    if (z->n_names == z->names_room) {
        size_t room = z->names_room ? z->names_room * 2 : 256;
        int64_t(*names)[2] = lab_realloc_array(z->names, room, sizeof(*names));
        if (!names)
            return no_memory();
        z->names = names;
        z->names_room = room;
    }
    z->names[z->n_names][0] = z->zones[z->count - 1].first;
    z->names[z->n_names++][1] = name;
    return LAB_OK;
}

void lab_zone_widen(struct lab_zone_range *r, int64_t v)
{
    if (v == LAB_UNKNOWN)
        return;
    if (!r->known || v < r->least)
        r->least = v;
    if (!r->known || v > r->greatest)
        r->greatest = v;
    r->known = true;
}

enum lab_status lab_zones_add(struct lab_zones *z,
                              const struct lab_zone_kernel *k)
{
    enum lab_status st = LAB_OK;
    if (z->count == 0 || z->in_last == LAB_ZONE_ROWS)
        st = new_zone(z, k->row);
    if (st)
        return st;
    struct lab_zone *zone = &z->zones[z->count - 1];
    zone->last = k->row;
    z->in_last++;
    z->kernels++;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++)
        lab_zone_widen(&zone->range[i], k->value[i]);
    return k->name == LAB_UNKNOWN ? LAB_OK : add_name(z, k->name);
}

void lab_zones_release(struct lab_zones *z)
{
    lab_free(z->zones);
    lab_free(z->names);
    *z = (struct lab_zones){0};
}

static enum lab_status insert(struct lab_database *db, sqlite3_stmt *stmt)
{
    enum lab_status st = LAB_OK;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        st = lab_database_error(db, "storing the zones of a run");
    sqlite3_reset(stmt);
    return st;
}

static enum lab_status store_zones(const struct lab_zones *z,
                                   struct lab_database *db, int64_t run)
{
    sqlite3_stmt *s;
    enum lab_status st = lab_database_prepare(
        db,
        "INSERT INTO kernel_zone (runId, sort, kernelRowFirst, kernelRowLast, "
        "least, greatest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &s);
    if (st)
        return st;
    for (size_t i = 0; i < z->count * LAB_KERNEL_SORT_COUNT && !st; i++) {
        const struct lab_zone *zone = &z->zones[i / LAB_KERNEL_SORT_COUNT];
        int sort = (int)(i % LAB_KERNEL_SORT_COUNT);
        const struct lab_zone_range *r = &zone->range[sort];
        if (!r->known)
            continue;
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int(s, 2, sort);
        sqlite3_bind_int64(s, 3, zone->first);
        sqlite3_bind_int64(s, 4, zone->last);
        sqlite3_bind_int64(s, 5, r->least);
        sqlite3_bind_int64(s, 6, r->greatest);
        st = insert(db, s);
    }
    sqlite3_finalize(s);
    return st;
}

static enum lab_status store_names(const struct lab_zones *z,
                                   struct lab_database *db, int64_t run)
{
    sqlite3_stmt *s;
    enum lab_status st = lab_database_prepare(
        db,
        "INSERT INTO kernel_zone_name (runId, nameId, kernelRowFirst) VALUES "
        "(?1, ?2, ?3)",
        &s);
    if (st)
        return st;
    for (size_t i = 0; i < z->n_names && !st; i++) {
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, z->names[i][1]);
        sqlite3_bind_int64(s, 3, z->names[i][0]);
        st = insert(db, s);
    }
    sqlite3_finalize(s);
    return st;
}

enum lab_status lab_zones_store(const struct lab_zones *z,
                                struct lab_database *db, int64_t run)
{
    char sql[160];
    sqlite3_snprintf(sizeof(sql), sql,
                     "DELETE FROM kernel_zone WHERE runId = %lld; DELETE FROM "
                     "kernel_zone_name WHERE runId = %lld",
                     run, run);
    enum lab_status st =
        lab_database_exec(db, sql, "storing the zones of a run");
    if (st || z->kernels < LAB_ZONE_LEAST_KERNELS)
        return st;
    st = store_zones(z, db, run);
    return st ? st : store_names(z, db, run);
}
