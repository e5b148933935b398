/* trace_lanes.c -- spreads slices that cross over several lanes of a trace.
 *
 * A viewer draws slices of one lane as nested calls; two that cross would be
 * drawn wrong. The first row of a lane where a slice nests gets it.
 * export_trace.c asks for each. */
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

/* A node of a tree: what is below it on the left has a 0 where its depth
 * states, in the bits of its scattered key. */
struct lab_trace_lane {
    uint64_t key;
    int n_rows;
    struct row *rows;
    struct lab_trace_lane *below[2];
};

static uint64_t key_of(int64_t pid, int64_t tid)
{
    return (uint64_t)pid << 32 | (uint64_t)tid;
}

/* Where the lane is, or is to be. An odd factor scatters keys without making
 * two alike, so that they part within 64 bits: no file can choose streams and
 * threads that make this slow. */
static struct lab_trace_lane **find(struct lab_trace_lane **at, uint64_t key,
                                    size_t *compared)
{
    uint64_t bits = key * UINT64_C(0x9E3779B97F4A7C15);
    for (; *at && (*at)->key != key; bits <<= 1) {
        at = &(*at)->below[bits >> 63];
        ++*compared;
    }
    return at;
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
    uint64_t key = key_of(pid, tid);
    struct lab_trace_lane **at = find(&lanes->root, key, &lanes->compared);
    struct lab_trace_lane *lane = *at ? *at : lab_alloc(sizeof(*lane));
    if (!lane)
        return lab_no_memory("a lane of a trace");
    lane->key = key;
    *at = lane;
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
            return lab_no_memory("a lane of a trace");
        lane->rows = rows;
        lane->rows[lane->n_rows++].depth = 0;
    }
    lane->rows[i].end[lane->rows[i].depth++] = end;
    *row = i;
    return LAB_OK;
}

int lab_lanes_rows(const struct lab_lanes *lanes, int64_t pid, int64_t tid)
{
    size_t ignored = 0;
    struct lab_trace_lane *root = lanes->root;
    const struct lab_trace_lane *lane =
        *find(&root, key_of(pid, tid), &ignored);
    return lane ? lane->n_rows : 0;
}

/* The tree is 64 deep at most. */
static void free_lane(struct lab_trace_lane *lane)
{
    if (!lane)
        return;
    free_lane(lane->below[0]);
    free_lane(lane->below[1]);
    lab_free(lane->rows);
    lab_free(lane);
}

void lab_lanes_release(struct lab_lanes *lanes)
{
    free_lane(lanes->root);
    *lanes = (struct lab_lanes){0};
}
