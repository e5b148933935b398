#include <math.h>
#include <string.h>

#include "sum_priv.h"
#include "trace/record.h"

enum { FIRST_ROWS = 64 };

static size_t hash_of(const int64_t *key)
{
    uint64_t h = 0;
    for (int i = 0; i < LAB_SUM_KEY; i++) {
        h = (h ^ (uint64_t)key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return (size_t)h;
}

static bool same_key(const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, sizeof(int64_t[LAB_SUM_KEY])) == 0;
}

static bool grow(struct lab_sum_table *t)
{
    size_t room = t->room ? t->room * 2 : FIRST_ROWS;
    size_t *place = lab_alloc_array(room * 2, sizeof(*place));
    struct lab_sum_row *rows =
        place ? lab_realloc_array(t->rows, room, sizeof(*rows)) : NULL;
    if (rows)
        t->rows = rows;
    int64_t(*keys)[LAB_SUM_KEY] =
        rows ? lab_realloc_array(t->keys, room, sizeof(*keys)) : NULL;
    if (!keys) {
        lab_free(place);
        return false;
    }
    t->keys = keys;
    t->room = room;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = hash_of(keys[i]) & (room * 2 - 1);
        while (place[at])
            at = (at + 1) & (room * 2 - 1);
        place[at] = i + 1;
    }
    lab_free(t->place);
    t->place = place;
    t->places = room * 2;
    return true;
}

static void clear_row(struct lab_sum_row *row)
{
    *row = (struct lab_sum_row){0};
    int64_t *unknown[] = {&row->sum.step_index,
                          &row->sum.phase_id,
                          &row->sum.total_ns,
                          &row->sum.min_ns,
                          &row->sum.max_ns,
                          &row->sum.kernels,
                          &row->sum.grid[0],
                          &row->sum.grid[1],
                          &row->sum.grid[2],
                          &row->sum.block[0],
                          &row->sum.block[1],
                          &row->sum.block[2],
                          &row->sum.shared_bytes,
                          &row->sum.registers_per_thread,
                          &row->ids.name,
                          &row->ids.node,
                          &row->ids.op,
                          &row->ids.variant,
                          &row->ids.backend,
                          &row->ids.source,
                          &row->ids.kernel,
                          &row->ids.kernel_short,
                          &row->sum.occupancy_limit};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        *unknown[i] = LAB_UNKNOWN;
    row->sum.flop = row->sum.bytes = row->sum.occupancy_pct = NAN;
}

struct lab_sum_row *lab_sum_find(struct lab_sum_table *t,
                                 const int64_t key[LAB_SUM_KEY])
{
    size_t next = t->last + 1 < t->count ? t->last + 1 : 0;
    if (t->count && same_key(t->keys[next], key)) {
        t->last = next;
        return &t->rows[next];
    }
    if (t->count == t->room && !grow(t))
        return NULL;
    size_t at = hash_of(key) & (t->places - 1);
    for (; t->place[at]; at = (at + 1) & (t->places - 1)) {
        if (same_key(t->keys[t->place[at] - 1], key)) {
            t->last = t->place[at] - 1;
            return &t->rows[t->last];
        }
    }
    t->last = t->count++;
    t->place[at] = t->count;
    memcpy(t->keys[t->last], key, sizeof(t->keys[0]));
    clear_row(&t->rows[t->last]);
    return &t->rows[t->last];
}

enum lab_status lab_sum_add_time(struct lab_sum_row *row, int64_t time_ns)
{
    if (lab_grow(&row->values, row->n, &row->room, sizeof(*row->values),
                 "the times of a step"))
        return LAB_E_NOMEM;
    row->values[row->n++] = time_ns;
    return LAB_OK;
}

void lab_sum_table_release(struct lab_sum_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        lab_times_release(&t->rows[i].sum.times);
        lab_free(t->rows[i].values);
    }
    lab_free(t->rows);
    lab_free(t->keys);
    lab_free(t->place);
    *t = (struct lab_sum_table){0};
}
