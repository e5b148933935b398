/* Which part of a stretch of time goes to what. */
#include <stdlib.h>

#include "timeline_priv.h"

static int by_start(const void *a, const void *b)
{
    const struct lab_interval *x = a;
    const struct lab_interval *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* One pass: for each kind, how far what it and those before it cover together
 * reaches. Streams overlap, and are not counted twice. */
void lab_cover_sum(struct lab_interval *list, size_t n, int64_t from,
                   int64_t to, int64_t out[LAB_COVER_COUNT])
{
    int64_t end[LAB_COVER_REST];
    int64_t covered[LAB_COVER_REST] = {0};
    if (n)
        qsort(list, n, sizeof(*list), by_start);
    for (int k = 0; k < LAB_COVER_REST; k++)
        end[k] = from;
    for (size_t i = 0; i < n; i++) {
        int64_t stop = list[i].end_ns < to ? list[i].end_ns : to;
        for (int k = (int)list[i].of; k < LAB_COVER_REST; k++) {
            int64_t start =
                list[i].start_ns > end[k] ? list[i].start_ns : end[k];
            if (stop <= start)
                continue;
            covered[k] += stop - start;
            end[k] = stop;
        }
    }
    out[0] = covered[0];
    for (int k = 1; k < LAB_COVER_REST; k++)
        out[k] = covered[k] - covered[k - 1];
    out[LAB_COVER_REST] = to - from - covered[LAB_COVER_REST - 1];
}

/* What the device did, and from each call to what it launched; steps behind
 * them. Returns how many. */
static size_t gather(const struct lab_timeline_build *b,
                     struct lab_interval *list, int64_t *called)
{
    const struct lab_device_time *d = b->device.items;
    const struct lab_step_time *steps = b->steps.items;
    size_t n = 0;
    for (int32_t i = 0; i < b->device.count; i++) {
        const struct lab_call_time *call =
            d[i].correlation == LAB_UNKNOWN
                ? NULL
                : lab_timeline_call(&b->calls, d[i].process, d[i].correlation);
        list[n++] =
            (struct lab_interval){d[i].start_ns, d[i].end_ns, d[i].cover};
        *called += call != NULL;
        if (call && call->start_ns < d[i].start_ns)
            list[n++] = (struct lab_interval){call->start_ns, d[i].start_ns,
                                              LAB_COVER_LAUNCH};
    }
    for (int32_t i = 0; i < b->steps.count; i++)
        if (steps[i].start_ns != LAB_UNKNOWN)
            list[n++] = (struct lab_interval){steps[i].start_ns,
                                              steps[i].end_ns, LAB_COVER_STEP};
    return n;
}

enum lab_status lab_timeline_cover(struct lab_timeline_build *b)
{
    const struct lab_timeline *t = b->t;
    struct lab_timeline_sums *sums = &b->t->sums;
    size_t most = 2 * (size_t)b->device.count + (size_t)b->steps.count;
    sums->busy_ns = b->device.count ? 0 : LAB_UNKNOWN;
    if (t->from_ns == LAB_UNKNOWN || t->to_ns < t->from_ns) {
        for (int k = 0; k < LAB_COVER_COUNT; k++)
            sums->cover_ns[k] = LAB_UNKNOWN;
        return LAB_OK;
    }
    struct lab_interval *list = lab_alloc_array(most + 1, sizeof(*list));
    if (!list)
        return lab_no_memory("a timeline");
    size_t n = gather(b, list, &sums->called);
    lab_cover_sum(list, n, t->from_ns, t->to_ns, sums->cover_ns);
    lab_free(list);
    if (b->device.count)
        sums->busy_ns =
            sums->cover_ns[LAB_COVER_KERNEL] + sums->cover_ns[LAB_COVER_COPY];
    return LAB_OK;
}
