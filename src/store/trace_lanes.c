#include "trace_lanes.h"

#include <stdbool.h>

#include "base/mem.h"

/* Deeper than calls nest; one more counts as crossing. */
enum { DEPTH = 16 };

/* The ends of the slices that are open, the innermost last. */
struct row {
    int depth;
    int64_t end[DEPTH];
};

struct lab_lane {
    int64_t pid;
    int64_t tid;
    int n_rows;
    struct row *rows;
    struct lab_lane *next;
};

static size_t bucket_of(int64_t pid, int64_t tid)
{
    uint64_t h = (uint64_t)pid * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)tid;
    return (h * UINT64_C(0x9E3779B97F4A7C15)) >> 56;
}

static struct lab_lane *find(const struct lab_lanes *lanes, int64_t pid,
                             int64_t tid)
{
    struct lab_lane *lane = lanes->bucket[bucket_of(pid, tid)];
    while (lane && (lane->pid != pid || lane->tid != tid))
        lane = lane->next;
    return lane;
}

static struct lab_lane *add_lane(struct lab_lanes *lanes, int64_t pid,
                                 int64_t tid)
{
    struct lab_lane **bucket = &lanes->bucket[bucket_of(pid, tid)];
    struct lab_lane *lane = lab_alloc(sizeof(*lane));
    if (lane) {
        *lane = (struct lab_lane){.pid = pid, .tid = tid, .next = *bucket};
        *bucket = lane;
    }
    return lane;
}

/* Whether the slice lies beside or inside what is open on the row. */
static bool fits(struct row *row, int64_t start, int64_t end)
{
    while (row->depth > 0 && row->end[row->depth - 1] <= start)
        row->depth--;
    if (row->depth == DEPTH)
        return false;
    return row->depth == 0 || end <= row->end[row->depth - 1];
}

enum lab_status lab_lanes_place(struct lab_lanes *lanes, int64_t pid,
                                int64_t tid, int64_t start, int64_t end,
                                int *row)
{
    struct lab_lane *lane = find(lanes, pid, tid);
    if (!lane)
        lane = add_lane(lanes, pid, tid);
    if (!lane)
        return lab_fail(LAB_E_NOMEM, "no memory for a lane of a trace");
    int i = 0;
    while (i < lane->n_rows && !fits(&lane->rows[i], start, end))
        i++;
    if (i == LAB_LANE_ROWS) {
        *row = i - 1;
        return LAB_OK;
    }
    if (i == lane->n_rows) {
        struct row *rows =
            lab_realloc_array(lane->rows, (size_t)i + 1, sizeof(*rows));
        if (!rows)
            return lab_fail(LAB_E_NOMEM, "no memory for a lane of a trace");
        lane->rows = rows;
        lane->rows[lane->n_rows++].depth = 0;
    }
    lane->rows[i].end[lane->rows[i].depth++] = end;
    *row = i;
    return LAB_OK;
}

int lab_lanes_rows(const struct lab_lanes *lanes, int64_t pid, int64_t tid)
{
    const struct lab_lane *lane = find(lanes, pid, tid);
    return lane ? lane->n_rows : 0;
}

void lab_lanes_release(struct lab_lanes *lanes)
{
    for (size_t i = 0; i < 256; i++)
        while (lanes->bucket[i]) {
            struct lab_lane *lane = lanes->bucket[i];
            lanes->bucket[i] = lane->next;
            lab_free(lane->rows);
            lab_free(lane);
        }
}
