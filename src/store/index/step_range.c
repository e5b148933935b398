#include "step_range.h"

#include "db/row.h"
#include "sum_packed.h"
#include "varint.h"

enum { MOST_BYTES = 48 << 20, SORTS = LAB_KERNEL_SORT_COUNT };

static enum lab_status no_memory(void)
{
    return lab_fail(LAB_E_NOMEM, "no memory for the kernels of a run's steps");
}

static struct lab_zone_range *range_of(const struct lab_step_ranges *r,
                                       size_t place, int sort, size_t group)
{
    return &r->list[(place * SORTS + (size_t)sort) * r->groups + group];
}

static enum lab_status begin(struct lab_step_ranges *r,
                             const struct lab_passes *passes)
{
    size_t groups = (passes->count + LAB_RANGE_PASSES - 1) / LAB_RANGE_PASSES;
    size_t each = groups * SORTS * sizeof(*r->list);
    r->off = !lab_passes_are_kept(passes) || passes->last_index < 0 ||
             (size_t)passes->last_index >= MOST_BYTES / each;
    if (r->off)
        return LAB_OK;
    r->groups = groups;
    r->places = (size_t)passes->last_index + 1;
    r->list = lab_alloc_array(r->places * SORTS * groups, sizeof(*r->list));
    return r->list ? LAB_OK : no_memory();
}

/* Kernels come nearly in the order of their steps: often the pass before is
 * the one. Passes lie in the order of their execs. */
static bool find_pass(struct lab_step_ranges *r,
                      const struct lab_passes *passes, int64_t exec)
{
    const struct lab_pass *list = passes->list;
    size_t low = 0;
    size_t high = passes->count - 1;
    bool same = exec >= list[r->pass].row.exec_first &&
                exec <= list[r->pass].row.exec_last;
    while (!same && low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].row.exec_last < exec)
            low = middle + 1;
        else
            high = middle;
    }
    r->pass = same ? r->pass : low;
    const struct lab_iteration_row *row = &list[r->pass].row;
    return exec >= row->exec_first && exec <= row->exec_last;
}

enum lab_status lab_step_ranges_add(struct lab_step_ranges *r,
                                    const struct lab_passes *passes,
                                    int64_t exec, int64_t step_index,
                                    const struct lab_zone_kernel *k)
{
    enum lab_status st = LAB_OK;
    if (!r->list && !r->off)
        st = begin(r, passes);
    if (st || r->off || step_index < 0 || (size_t)step_index >= r->places ||
        !find_pass(r, passes, exec))
        return st;
    for (int sort = 0; sort < SORTS; sort++)
        lab_zone_widen(
            range_of(r, (size_t)step_index, sort, r->pass / LAB_RANGE_PASSES),
            k->value[sort]);
    return LAB_OK;
}

void lab_step_ranges_release(struct lab_step_ranges *r)
{
    lab_free(r->list);
    *r = (struct lab_step_ranges){0};
}

/* ---- as bytes: of each group the least value, as the difference to that of
 * the group before with the sign in the lowest bit, then the greatest as 1 +
 * its difference to the least; 0 where no value is known ---- */

static size_t pack(unsigned char *bytes, const struct lab_zone_range *list,
                   size_t groups)
{
    uint64_t before = 0;
    size_t n = 0;
    for (size_t i = 0; i < groups; i++) {
        const struct lab_zone_range *r = &list[i];
        uint64_t least = r->known ? (uint64_t)r->least : before;
        uint64_t wide = (uint64_t)r->greatest - least;
        n += lab_varint_put(bytes + n, lab_zigzag(least - before));
        n += lab_varint_put(bytes + n, r->known ? wide + 1 : 0);
        before = least;
    }
    return n;
}

static bool is_known(const struct lab_zone_range *list, size_t groups)
{
    for (size_t i = 0; i < groups; i++)
        if (list[i].known)
            return true;
    return false;
}

/* The next group's; false: pack() has not made it. */
static bool unpack_range(struct lab_zone_range *out, uint64_t *least,
                         const unsigned char **p, const unsigned char *end)
{
    uint64_t step;
    uint64_t wide;
    if (!lab_varint_get(p, end, &step) || !lab_varint_get(p, end, &wide))
        return false;
    *least += lab_unzigzag(step);
    *out = (struct lab_zone_range){(int64_t)*least,
                                   (int64_t)(*least + wide - 1), wide > 0};
    return out->known ? out->least != LAB_UNKNOWN && out->least <= out->greatest
                      : step == 0;
}

static bool unpack(struct lab_zone_range *list, size_t groups,
                   const unsigned char *p, size_t size)
{
    if (size < 1)
        return false; /* no bytes at all: p is NULL */
    const unsigned char *end = p + size;
    uint64_t least = 0;
    for (size_t i = 0; i < groups; i++)
        if (!unpack_range(&list[i], &least, &p, end))
            return false;
    return p == end && is_known(list, groups);
}

/* ---- in the database ---- */

enum lab_status lab_step_ranges_store(const struct lab_step_ranges *r,
                                      struct lab_database *db, int64_t run,
                                      int64_t *place)
{
    struct lab_packed rows;
    if (!r->list)
        return LAB_OK;
    unsigned char *bytes = lab_alloc_array(r->groups, 2 * LAB_VARINT_MOST);
    if (!bytes)
        return no_memory();
    enum lab_status st = lab_packed_begin(&rows, db, run, LAB_RANGE_LEVEL);
    for (size_t i = 0; i < r->places * SORTS && st == LAB_OK; i++) {
        const struct lab_zone_range *list = r->list + i * r->groups;
        if (!is_known(list, r->groups))
            continue;
        size_t size = pack(bytes, list, r->groups);
        st = lab_packed_add(&rows, place, (int64_t)(i / SORTS),
                            (int64_t)(i % SORTS), (int64_t)r->groups, bytes,
                            size);
    }
    lab_packed_end(&rows);
    lab_free(bytes);
    return st;
}

enum lab_status lab_step_ranges_load(struct lab_zone_range **out, size_t groups,
                                     struct lab_database *db, int64_t run,
                                     int64_t step_index,
                                     enum lab_kernel_sort sort)
{
    sqlite3_stmt *s;
    struct lab_zone_range *list = lab_alloc_array(groups + 1, sizeof(*list));
    bool found = false;
    *out = NULL;
    if (!list)
        return no_memory();
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT times FROM time_sum WHERE runId = ?1 AND level = ?2 AND "
        "stepIndex = ?3 AND phase = ?4 AND count = ?5",
        &s);
    if (st) {
        lab_free(list);
        return st;
    }
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int(s, 2, LAB_RANGE_LEVEL);
    sqlite3_bind_int64(s, 3, step_index);
    sqlite3_bind_int(s, 4, (int)sort);
    sqlite3_bind_int64(s, 5, (int64_t)groups);
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(s, 0);
        size_t size = (size_t)sqlite3_column_bytes(s, 0);
        found = bytes && unpack(list, groups, bytes, size);
    }
    st = lab_query_end(db, s, rc);
    if (st || !found)
        lab_free(list);
    else
        *out = list;
    return st;
}
