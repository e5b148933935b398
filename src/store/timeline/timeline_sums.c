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
    if (!by)
        by = compare_int(x->process, y->process);
    return by ? by : compare_int(x->start_ns, y->start_ns);
}

/* The runtime's call and the driver's under it may share an id: the one that
 * began first counts. */
struct lab_call_time *lab_timeline_call(const struct lab_growing *calls,
                                        int64_t process, int64_t correlation)
{
    struct lab_call_time *list = calls->items;
    int32_t lo = 0;
    int32_t hi = calls->count;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        const struct lab_call_time *c = &list[mid];
        if (c->correlation < correlation ||
            (c->correlation == correlation && process != LAB_UNKNOWN &&
             c->process < process))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < calls->count && list[lo].correlation == correlation &&
                   (process == LAB_UNKNOWN || list[lo].process == process)
               ? &list[lo]
               : NULL;
}

static void note_call_spans(const struct lab_timeline *t,
                            const struct lab_growing *calls)
{
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *s = &t->spans[i];
        struct lab_call_time *c =
            s->kind == LAB_SPAN_CALL && s->correlation != LAB_UNKNOWN
                ? lab_timeline_call(calls, s->process, s->correlation)
                : NULL;
        if (c && c->start_ns == s->start_ns && c->span < 0)
            c->span = i;
    }
}

/* ---- steps, by exec and by start: few may be left of their spans ---- */

struct steps {
    struct lab_step_time *by_exec;
    struct lab_step_time *by_start; /* those with moments */
    int32_t n;
    int32_t timed;
};

static int by_exec(const void *a, const void *b)
{
    const struct lab_step_time *x = a;
    const struct lab_step_time *y = b;
    return compare_int(x->exec, y->exec);
}

static int by_start(const void *a, const void *b)
{
    const struct lab_step_time *x = a;
    const struct lab_step_time *y = b;
    int by = compare_int(x->start_ns, y->start_ns);
    return by ? by : compare_int(x->row, y->row);
}

static struct lab_step_time *step_of_exec(const struct steps *steps,
                                          int64_t exec)
{
    const struct lab_step_time key = {.exec = exec};
    return steps->n ? bsearch(&key, steps->by_exec, (size_t)steps->n,
                              sizeof(key), by_exec)
                    : NULL;
}

/* The step that the host was in at a moment; steps do not nest. */
static const struct lab_step_time *step_at(const struct steps *steps,
                                           int64_t moment)
{
    int32_t lo = 0;
    int32_t hi = steps->timed;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (steps->by_start[mid].start_ns <= moment)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && steps->by_start[lo - 1].end_ns >= moment
               ? &steps->by_start[lo - 1]
               : NULL;
}

static enum lab_status sort_steps(const struct lab_timeline_build *b,
                                  struct steps *out)
{
    const struct lab_timeline *t = b->t;
    size_t n = (size_t)b->steps.count;
    struct lab_step_time *list = b->steps.items;
    out->by_exec = list;
    out->n = b->steps.count;
    out->by_start = lab_alloc_array(n + 1, sizeof(*out->by_start));
    if (!out->by_start)
        return lab_no_memory("a timeline");
    if (n)
        qsort(list, n, sizeof(*list), by_exec);
    for (int32_t i = 0; i < t->count && t->spans[i].kind == LAB_SPAN_STEP;
         i++) {
        struct lab_step_time *s = step_of_exec(out, t->spans[i].exec);
        if (s)
            s->span = i;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].start_ns != LAB_UNKNOWN)
            out->by_start[out->timed++] = list[i];
    if (out->timed)
        qsort(out->by_start, (size_t)out->timed, sizeof(*list), by_start);
    return LAB_OK;
}

static void link_span(struct lab_span *s, const struct lab_growing *calls,
                      const struct steps *steps)
{
    const struct lab_call_time *call = NULL;
    const struct lab_step_time *step = NULL;
    int64_t made = s->start_ns;
    if (s->kind >= LAB_SPAN_KERNEL) {
        if (s->correlation != LAB_UNKNOWN)
            call = lab_timeline_call(calls, s->process, s->correlation);
        s->call = call ? call->span : -1;
        made = call ? call->start_ns : LAB_UNKNOWN;
        if (call && s->start_ns != LAB_UNKNOWN)
            s->latency_ns = s->start_ns - call->start_ns;
    }
    if (s->exec != LAB_UNKNOWN)
        step = step_of_exec(steps, s->exec);
    else if (s->kind != LAB_SPAN_RANGE && made != LAB_UNKNOWN)
        step = step_at(steps, made);
    if (!step)
        return;
    s->exec = step->exec;
    s->step = step->span;
    s->step_name = step->name;
    s->step_phase = step->phase;
}

enum lab_status lab_timeline_link(struct lab_timeline_build *b)
{
    struct lab_timeline *t = b->t;
    struct steps steps = {0};
    enum lab_status st = sort_steps(b, &steps);
    if (st)
        return st;
    if (b->calls.count)
        qsort(b->calls.items, (size_t)b->calls.count,
              sizeof(struct lab_call_time), compare_calls);
    note_call_spans(t, &b->calls);
    for (int32_t i = 0; i < t->count; i++)
        link_span(&t->spans[i], &b->calls, &steps);
    lab_free(steps.by_start);
    return LAB_OK;
}

/* ---- sums ---- */

static int compare_device(const void *a, const void *b)
{
    const struct lab_device_time *x = a;
    const struct lab_device_time *y = b;
    int by = compare_int(x->device, y->device);
    if (!by)
        by = compare_int(x->start_ns, y->start_ns);
    return by ? by : compare_int(x->end_ns, y->end_ns);
}

static int compare_numbers(const void *a, const void *b)
{
    return compare_int(*(const int64_t *)a, *(const int64_t *)b);
}

static void add_gap(struct lab_timeline *t, struct lab_timeline_device *of,
                    const struct lab_device_time *before,
                    const struct lab_device_time *after)
{
    struct lab_timeline_sums *sums = &t->sums;
    int64_t gap = after->start_ns - before->end_ns;
    if (sums->gap_sum_ns == LAB_UNKNOWN)
        sums->gap_sum_ns = sums->gap_longest_ns = 0;
    if (of->gap_sum_ns == LAB_UNKNOWN)
        of->gap_sum_ns = of->gap_longest_ns = 0;
    if (gap <= 0)
        return;
    of->gaps++;
    of->gap_sum_ns += gap;
    if (gap > of->gap_longest_ns)
        of->gap_longest_ns = gap;
    sums->gaps++;
    sums->gap_sum_ns += gap;
    if (gap > sums->gap_longest_ns) {
        sums->gap_longest_ns = gap;
        sums->gap_start_ns = before->end_ns;
        sums->gap_after = before->name;
        sums->gap_before = after->name;
    }
}

/* What a span covers of the time that was loaded and an earlier one does not. */
static int64_t newly_covered(const struct lab_timeline *t, int64_t since,
                             const struct lab_device_time *d)
{
    int64_t from = d->start_ns > since ? d->start_ns : since;
    int64_t to = d->end_ns < t->to_ns ? d->end_ns : t->to_ns;
    if (from < t->from_ns)
        from = t->from_ns;
    return to > from ? to - from : 0;
}

/* One pass over each device's spans by start, whatever the stream. */
static enum lab_status sum_devices(struct lab_timeline_build *b)
{
    struct lab_timeline *t = b->t;
    struct lab_device_time *d = b->device.items;
    const struct lab_device_time *last = NULL;
    int32_t devices = 0;
    if (b->device.count)
        qsort(d, (size_t)b->device.count, sizeof(*d), compare_device);
    for (int32_t i = 0; i < b->device.count; i++)
        devices += i == 0 || d[i].device != d[i - 1].device;
    t->devices = lab_alloc_array((size_t)devices + 1, sizeof(*t->devices));
    if (!t->devices)
        return lab_no_memory("a timeline");
    for (int32_t i = 0; i < b->device.count; i++) {
        struct lab_timeline_device *of;
        if (i == 0 || d[i].device != d[i - 1].device) {
            of = &t->devices[t->device_count++];
            *of = (struct lab_timeline_device){.device = d[i].device,
                                               .gap_sum_ns = LAB_UNKNOWN,
                                               .gap_longest_ns = LAB_UNKNOWN};
            last = NULL;
        }
        of = &t->devices[t->device_count - 1];
        of->busy_ns += newly_covered(t, last ? last->end_ns : 0, &d[i]);
        if (last &&
            (!t->lab || (d[i].exec != LAB_UNKNOWN && d[i].exec == last->exec)))
            add_gap(t, of, last, &d[i]);
        if (!last || d[i].end_ns > last->end_ns)
            last = &d[i];
    }
    return LAB_OK;
}

static enum lab_status sum_latencies(struct lab_timeline_build *b)
{
    struct lab_timeline_sums *sums = &b->t->sums;
    const struct lab_device_time *d = b->device.items;
    int64_t *v = lab_alloc_array((size_t)b->device.count + 1, sizeof(*v));
    size_t n = 0;
    if (!v)
        return lab_no_memory("a timeline");
    for (int32_t i = 0; i < b->device.count; i++) {
        const struct lab_call_time *call =
            d[i].own && d[i].correlation != LAB_UNKNOWN
                ? lab_timeline_call(&b->calls, d[i].process, d[i].correlation)
                : NULL;
        if (call)
            v[n++] = d[i].start_ns - call->start_ns;
    }
    if (n) {
        qsort(v, n, sizeof(*v), compare_numbers);
        sums->latency_max_ns = v[n - 1];
        sums->latency_median_ns =
            v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2;
    }
    lab_free(v);
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
    enum lab_status st = sum_devices(b);
    if (st == LAB_OK)
        st = lab_timeline_cover(b);
    return st ? st : sum_latencies(b);
}
