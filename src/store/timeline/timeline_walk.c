/* The pauses of a walk: an iteration that was stepped through by hand consists
 * of the reader's thinking, and on a true scale no step of it can be seen. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/timeline.h"

enum {
    LEAST_NS = 20000000, /* no program waits so long between two steps: of an
                            iteration that has such a pause */
    BUSY_PART = 10,      /* those longer than this part of the work go */
    KEEP_PART = 40       /* of the work: what stays of a pause */
};

struct stretch {
    int64_t from;
    int64_t to;
};

static int by_start(const void *a, const void *b)
{
    const struct stretch *x = a;
    const struct stretch *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* What ran, joined where it overlaps, by time. Ranges last through the pauses.
 * Returns how many there are. */
static int32_t collect(const struct lab_timeline *t, struct stretch *out)
{
    int32_t n = 0;
    int32_t joined = 0;
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *s = &t->spans[i];
        if (s->kind != LAB_SPAN_RANGE && s->start_ns != LAB_UNKNOWN)
            out[n++] = (struct stretch){s->start_ns, s->end_ns};
    }
    qsort(out, (size_t)n, sizeof(*out), by_start);
    for (int32_t i = 0; i < n; i++) {
        struct stretch *last = &out[joined > 0 ? joined - 1 : 0];
        if (joined == 0 || out[i].from > last->to)
            out[joined++] = out[i];
        else if (out[i].to > last->to)
            last->to = out[i].to;
    }
    return joined;
}

static bool is_walk(const struct stretch *of, int32_t n, int64_t least)
{
    for (int32_t i = 0; i + 1 < n; i++)
        if (of[i + 1].from - of[i].to >= least)
            return true;
    return false;
}

/* Makes pauses of what lies between; returns how many there are. */
static int32_t find_pauses(struct stretch *of, int32_t n, int64_t least)
{
    int32_t pauses = 0;
    for (int32_t i = 0; i + 1 < n; i++) {
        struct stretch between = {of[i].to, of[i + 1].from};
        if (between.to - between.from >= least)
            of[pauses++] = between;
    }
    return pauses;
}

/* Where a moment is when `keep` is left of each pause. */
static int64_t moved(int64_t at, const struct stretch *pauses, int32_t n,
                     int64_t keep)
{
    int64_t off = 0;
    for (int32_t i = 0; i < n && at > pauses[i].from; i++) {
        int64_t span = pauses[i].to - pauses[i].from;
        int64_t in = at < pauses[i].to ? at - pauses[i].from : span;
        off += in - (int64_t)((double)keep * (double)in / (double)span);
    }
    return at - off;
}

static void move(int64_t *at, const struct stretch *pauses, int32_t n,
                 int64_t keep)
{
    if (*at != LAB_UNKNOWN)
        *at = moved(*at, pauses, n, keep);
}

enum lab_status lab_timeline_close_pauses(struct lab_timeline *t)
{
    int64_t busy = 0;
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        if (t->left_out[k] > 0)
            return LAB_OK;
    if (t->of.steps <= 0 || t->count == 0)
        return LAB_OK;
    struct stretch *list =
        lab_alloc_array((size_t)t->count, sizeof(struct stretch));
    if (!list)
        return lab_no_memory("the pauses of a walk");
    int32_t n = collect(t, list);
    for (int32_t i = 0; i < n; i++)
        busy += list[i].to - list[i].from;
    int64_t least = busy / BUSY_PART + 1;
    n = is_walk(list, n, least > LEAST_NS ? least : LEAST_NS)
            ? find_pauses(list, n, least)
            : 0;
    int64_t keep = busy / KEEP_PART;
    for (int32_t i = 0; i < n; i++)
        t->paused_ns += list[i].to - list[i].from - keep;
    t->pauses = n;
    for (int32_t i = 0; i < t->count; i++) {
        move(&t->spans[i].start_ns, list, n, keep);
        move(&t->spans[i].end_ns, list, n, keep);
    }
    move(&t->start_ns, list, n, keep);
    move(&t->end_ns, list, n, keep);
    move(&t->from_ns, list, n, keep);
    move(&t->to_ns, list, n, keep);
    lab_free(list);
    return LAB_OK;
}
