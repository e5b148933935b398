#include "insert.h"

enum { FIRST_PLACES = 1024 };

void lab_exec_sums_release(struct lab_exec_sums *sums)
{
    lab_free(sums->place);
    *sums = (struct lab_exec_sums){0};
}

static struct lab_exec_sum *find_place(const struct lab_exec_sums *sums,
                                       int64_t exec)
{
    size_t mask = sums->places - 1;
    size_t i = (size_t)exec & mask; /* they count on: neighbours in memory */
    while (sums->place[i].count && sums->place[i].exec != exec)
        i = (i + 1) & mask;
    return &sums->place[i];
}

static enum lab_status grow(struct lab_exec_sums *sums)
{
    struct lab_exec_sums bigger = {0};
    bigger.places = sums->places ? sums->places * 2 : FIRST_PLACES;
    bigger.place = lab_alloc_array(bigger.places, sizeof(*bigger.place));
    if (!bigger.place)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu steps", bigger.places);
    for (size_t i = 0; i < sums->places; i++)
        if (sums->place[i].count)
            *find_place(&bigger, sums->place[i].exec) = sums->place[i];
    bigger.used = sums->used;
    lab_free(sums->place);
    *sums = bigger;
    return LAB_OK;
}

enum lab_status lab_exec_sums_add(struct lab_exec_sums *sums,
                                  const struct lab_exec_sum *part)
{
    if (sums->used * 2 >= sums->places) {
        enum lab_status st = grow(sums);
        if (st)
            return st;
    }
    struct lab_exec_sum *s = find_place(sums, part->exec);
    if (s->count == 0) {
        *s = *part;
        sums->used++;
        return LAB_OK;
    }
    if (part->time_ns == LAB_UNKNOWN || s->time_ns == LAB_UNKNOWN)
        s->time_ns = LAB_UNKNOWN;
    else
        s->time_ns += part->time_ns;
    s->count += part->count;
    if (part->first_row < s->first_row)
        s->first_row = part->first_row;
    if (part->last_row > s->last_row)
        s->last_row = part->last_row;
    return LAB_OK;
}
