/* What belongs to what, and what it all adds up to. */
#include <stdlib.h>

#include "timeline_priv.h"

static int compare_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_calls(const void *a, const void *b)
{
    const struct lab_call_time *x = a;
    const struct lab_call_time *y = b;
    int by = compare_int(x->correlation, y->correlation);
    return by ? by : compare_int(x->start_ns, y->start_ns);
}

/* The runtime's call and the driver's under it may share an id: the one that
 * began first counts. */
struct lab_call_time *lab_timeline_call(const struct lab_growing *calls,
                                        int64_t correlation)
{
    struct lab_call_time *list = calls->items;
    int32_t lo = 0;
    int32_t hi = calls->count;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (list[mid].correlation < correlation)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < calls->count && list[lo].correlation == correlation ? &list[lo]
                                                                    : NULL;
}

static void note_call_spans(const struct lab_timeline *t,
                            const struct lab_growing *calls)
{
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *s = &t->spans[i];
        struct lab_call_time *c =
            s->kind == LAB_SPAN_CALL && s->correlation != LAB_UNKNOWN
                ? lab_timeline_call(calls, s->correlation)
                : NULL;
        if (c && c->start_ns == s->start_ns && c->span < 0)
            c->span = i;
    }
}

struct step_place {
    int64_t exec;
    int32_t span;
};

static int compare_places(const void *a, const void *b)
{
    const struct step_place *x = a;
    const struct step_place *y = b;
    return compare_int(x->exec, y->exec);
}

static int32_t step_of_exec(const struct step_place *places, int32_t n,
                            int64_t exec)
{
    const struct step_place key = {exec, 0};
    const struct step_place *found = NULL;
    if (n)
        found = bsearch(&key, places, (size_t)n, sizeof(key), compare_places);
    return found ? found->span : -1;
}

/* The step that the host was in at a moment; steps do not nest. */
static int32_t step_at(const struct lab_timeline *t, int64_t moment)
{
    int32_t lo = 0;
    int32_t hi = t->lane_count && t->lanes[0].kind == LAB_SPAN_STEP
                     ? t->lanes[0].timed
                     : 0;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (t->spans[mid].start_ns <= moment)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && t->spans[lo - 1].end_ns >= moment ? lo - 1 : -1;
}

static void link_span(struct lab_timeline *t, struct lab_span *s,
                      const struct lab_growing *calls,
                      const struct step_place *places, int32_t steps)
{
    const struct lab_call_time *call = NULL;
    int64_t made = s->start_ns;
    if (s->kind >= LAB_SPAN_KERNEL) {
        if (s->correlation != LAB_UNKNOWN)
            call = lab_timeline_call(calls, s->correlation);
        s->call = call ? call->span : -1;
        made = call ? call->start_ns : LAB_UNKNOWN;
        if (call && s->start_ns != LAB_UNKNOWN)
            s->latency_ns = s->start_ns - call->start_ns;
    }
    if (s->exec != LAB_UNKNOWN) {
        s->step = step_of_exec(places, steps, s->exec);
    } else if (s->kind != LAB_SPAN_RANGE && made != LAB_UNKNOWN) {
        s->step = step_at(t, made);
        s->exec = s->step < 0 ? LAB_UNKNOWN : t->spans[s->step].exec;
    }
}

enum lab_status lab_timeline_link(struct lab_timeline_build *b)
{
    struct lab_timeline *t = b->t;
    int32_t steps = 0;
    while (steps < t->count && t->spans[steps].kind == LAB_SPAN_STEP)
        steps++;
    struct step_place *places =
        lab_alloc_array((size_t)steps + 1, sizeof(*places));
    if (!places)
        return lab_fail(LAB_E_NOMEM, "no memory for a timeline");
    for (int32_t i = 0; i < steps; i++)
        places[i] = (struct step_place){t->spans[i].exec, i};
    qsort(places, (size_t)steps, sizeof(*places), compare_places);
    if (b->calls.count)
        qsort(b->calls.items, (size_t)b->calls.count,
              sizeof(struct lab_call_time), compare_calls);
    note_call_spans(t, &b->calls);
    for (int32_t i = 0; i < t->count; i++)
        link_span(t, &t->spans[i], &b->calls, places, steps);
    lab_free(places);
    return LAB_OK;
}

/* ---- sums ---- */

static int compare_device(const void *a, const void *b)
{
    const struct lab_device_time *x = a;
    const struct lab_device_time *y = b;
    int by = compare_int(x->start_ns, y->start_ns);
    return by ? by : compare_int(x->end_ns, y->end_ns);
}

static int compare_numbers(const void *a, const void *b)
{
    return compare_int(*(const int64_t *)a, *(const int64_t *)b);
}

static void add_gap(struct lab_timeline_sums *sums,
                    const struct lab_device_time *before,
                    const struct lab_device_time *after)
{
    int64_t gap = after->start_ns - before->end_ns;
    if (sums->gap_sum_ns == LAB_UNKNOWN)
        sums->gap_sum_ns = sums->gap_longest_ns = 0;
    if (gap <= 0)
        return;
    sums->gaps++;
    sums->gap_sum_ns += gap;
    if (gap > sums->gap_longest_ns) {
        sums->gap_longest_ns = gap;
        sums->gap_start_ns = before->end_ns;
        sums->gap_after = before->name;
        sums->gap_before = after->name;
    }
}

/* One pass over all of it by start, whatever the stream. */
static void sum_gaps(struct lab_timeline_build *b)
{
    struct lab_device_time *d = b->device.items;
    struct lab_device_time last = {0};
    if (b->device.count)
        qsort(d, (size_t)b->device.count, sizeof(*d), compare_device);
    for (int32_t i = 0; i < b->device.count; i++) {
        if (i)
            add_gap(&b->t->sums, &last, &d[i]);
        if (i == 0 || d[i].end_ns > last.end_ns)
            last = d[i];
    }
}

/* Over every kernel that was read, whether its span is kept or left out. */
static enum lab_status sum_latencies(struct lab_timeline_build *b)
{
    struct lab_timeline *t = b->t;
    struct lab_growing list = {0};
    const struct lab_device_time *d = b->device.items;
    for (int32_t i = 0; i < b->device.count; i++) {
        const struct lab_call_time *call =
            d[i].own_kernel && d[i].correlation != LAB_UNKNOWN
                ? lab_timeline_call(&b->calls, d[i].correlation)
                : NULL;
        if (!call)
            continue;
        int64_t *v = lab_timeline_grow(&list, sizeof(*v));
        if (!v) {
            lab_free(list.items);
            return lab_fail(LAB_E_NOMEM, "no memory for a timeline");
        }
        *v = d[i].start_ns - call->start_ns;
    }
    if (list.count) {
        const int64_t *v = list.items;
        int32_t n = list.count;
        qsort(list.items, (size_t)n, sizeof(*v), compare_numbers);
        t->sums.latency_max_ns = v[n - 1];
        t->sums.latency_median_ns =
            v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2;
    }
    lab_free(list.items);
    return LAB_OK;
}

enum lab_status lab_timeline_sum(struct lab_timeline_build *b)
{
    struct lab_timeline_sums *sums = &b->t->sums;
    const int64_t *ids = b->launched.items;
    sums->busy_ns = sums->gap_sum_ns = sums->gap_longest_ns = LAB_UNKNOWN;
    sums->gap_start_ns = LAB_UNKNOWN;
    sums->latency_median_ns = sums->latency_max_ns = LAB_UNKNOWN;
    if (b->launched.count)
        qsort(b->launched.items, (size_t)b->launched.count, sizeof(*ids),
              compare_numbers);
    for (int32_t i = 0; i < b->launched.count; i++)
        sums->launches += i == 0 || ids[i] != ids[i - 1];
    sum_gaps(b);
    enum lab_status st = lab_timeline_cover(b);
    return st ? st : sum_latencies(b);
}
