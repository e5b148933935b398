/* timeline.c -- an iteration's timeline: its spans put together, what covers
 * which stretch of time, and the walk from span to span. */
#include "store/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_priv.h"
#include "base/mem.h"

static struct lab_call_time *timeline_call(const struct lab_growing *calls,
                                           int64_t process,
                                           int64_t correlation);

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
                : timeline_call(&b->calls, d[i].process, d[i].correlation);
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

static enum lab_status timeline_cover(struct lab_timeline_build *b)
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

/* What belongs to what, and what it all adds up to. */

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
static struct lab_call_time *timeline_call(const struct lab_growing *calls,
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
                ? timeline_call(calls, s->process, s->correlation)
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

static int sums_by_start(const void *a, const void *b)
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
        qsort(out->by_start, (size_t)out->timed, sizeof(*list), sums_by_start);
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
            call = timeline_call(calls, s->process, s->correlation);
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

static enum lab_status timeline_link(struct lab_timeline_build *b)
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
                ? timeline_call(&b->calls, d[i].process, d[i].correlation)
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

static enum lab_status timeline_sum(struct lab_timeline_build *b)
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
        st = timeline_cover(b);
    return st ? st : sum_latencies(b);
}

static bool timed(const struct lab_span *s)
{
    return s->start_ns != LAB_UNKNOWN;
}

int64_t lab_span_time(const struct lab_span *s)
{
    return timed(s) ? s->end_ns - s->start_ns : LAB_UNKNOWN;
}

/* ---- collecting ---- */

void *lab_timeline_grow(struct lab_growing *list, size_t each)
{
    if (list->count == INT32_MAX || lab_grow(&list->items, (size_t)list->count,
                                             &list->room, each, "a timeline"))
        return NULL;
    char *place = (char *)list->items + (size_t)list->count++ * each;
    memset(place, 0, each);
    return place;
}

/* Longest first; those without a time are the shortest. */
static int compare_times(const void *a, const void *b)
{
    const struct lab_span *x = a;
    const struct lab_span *y = b;
    int64_t s = lab_span_time(x);
    int64_t t = lab_span_time(y);
    if (s != t)
        return s < t ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

static void cut_to(struct lab_growing *list, int32_t most, int64_t *left_out)
{
    if (list->count <= most)
        return;
    qsort(list->items, (size_t)list->count, sizeof(struct lab_span),
          compare_times);
    *left_out += list->count - most;
    list->count = most;
}

enum lab_status lab_timeline_add_call(struct lab_timeline_build *b,
                                      const struct lab_span *s)
{
    struct lab_call_time *c;
    if (s->correlation == LAB_UNKNOWN || !timed(s))
        return LAB_OK;
    c = lab_timeline_grow(&b->calls, sizeof(*c));
    if (!c)
        return lab_no_memory("a timeline");
    *c = (struct lab_call_time){s->correlation, s->process, s->start_ns, -1};
    return LAB_OK;
}

bool lab_pass_owns(const struct lab_iteration_row *of, int64_t exec)
{
    return of->steps == 0 || (exec != LAB_UNKNOWN && exec >= of->exec_first &&
                              exec <= of->exec_last);
}

static enum lab_status count_device(struct lab_timeline_build *b,
                                    const struct lab_span *s)
{
    struct lab_timeline_sums *sums = &b->t->sums;
    bool kernel = s->kind == LAB_SPAN_KERNEL;
    bool own = lab_pass_owns(&b->t->of, s->exec);
    if (own) {
        sums->kernels += kernel;
        sums->kernels_untimed += kernel && !timed(s);
        sums->graph_kernels += kernel && s->graph_node != LAB_UNKNOWN;
    }
    if (!kernel) {
        sums->copies++;
        sums->copied_bytes +=
            s->bytes > 0 && s->bytes >> 44 == 0 ? s->bytes : 0;
    }
    if (kernel && own && s->correlation != LAB_UNKNOWN) {
        int64_t *c = lab_timeline_grow(&b->launched, sizeof(*c));
        if (!c)
            return lab_no_memory("a timeline");
        *c = s->correlation;
    }
    if (!timed(s))
        return LAB_OK;
    struct lab_device_time *d = lab_timeline_grow(&b->device, sizeof(*d));
    if (!d)
        return lab_no_memory("a timeline");
    *d = (struct lab_device_time){
        .start_ns = s->start_ns,
        .end_ns = s->end_ns,
        .correlation = s->correlation,
        .process = s->process,
        .device = s->device,
        .name = s->name,
        .exec = s->exec,
        .cover = kernel ? LAB_COVER_KERNEL : LAB_COVER_COPY,
        .own = kernel && own,
    };
    return LAB_OK;
}

static enum lab_status note_step(struct lab_timeline_build *b,
                                 const struct lab_span *s)
{
    struct lab_step_time *i = lab_timeline_grow(&b->steps, sizeof(*i));
    if (!i)
        return lab_no_memory("a timeline");
    *i = (struct lab_step_time){.exec = s->exec,
                                .row = s->row,
                                .start_ns = s->start_ns,
                                .end_ns = s->end_ns,
                                .phase = s->phase,
                                .name = s->name,
                                .span = -1};
    return LAB_OK;
}

enum lab_status lab_timeline_add(struct lab_timeline_build *b,
                                 const struct lab_span *s)
{
    struct lab_growing *list = &b->spans[s->kind];
    enum lab_status st = LAB_OK;
    if (s->kind == LAB_SPAN_STEP)
        st = note_step(b, s);
    else if (s->kind == LAB_SPAN_CALL)
        st = lab_timeline_add_call(b, s);
    else if (s->kind >= LAB_SPAN_KERNEL)
        st = count_device(b, s);
    if (st)
        return st;
    /* Sorting at every second span costs little a span. */
    if (list->count / 2 >= b->most)
        cut_to(list, b->most, &b->t->left_out[s->kind]);
    struct lab_span *place = lab_timeline_grow(list, sizeof(*place));
    if (!place)
        return lab_no_memory("a timeline");
    *place = *s;
    return LAB_OK;
}

void lab_timeline_build_release(struct lab_timeline_build *b)
{
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        lab_free(b->spans[k].items);
    lab_free(b->device.items);
    lab_free(b->steps.items);
    lab_free(b->calls.items);
    lab_free(b->launched.items);
}

void lab_timeline_free(struct lab_timeline *t)
{
    if (!t)
        return;
    lab_free(t->spans);
    lab_free(t->lanes);
    lab_free(t->devices);
    lab_free(t);
}

/* ---- lanes ---- */

static int compare_lanes(const struct lab_span *x, const struct lab_span *y)
{
    int by = compare_int((int64_t)x->kind, (int64_t)y->kind);
    if (!by)
        by = compare_int(x->device, y->device);
    return by ? by : compare_int(x->where, y->where);
}

/* By lane, start, and the longest first: a range before what lies in it. */
static int compare_spans(const void *a, const void *b)
{
    const struct lab_span *x = a;
    const struct lab_span *y = b;
    int by = compare_lanes(x, y);
    if (!by)
        by = timed(y) - timed(x);
    if (!by)
        by = compare_int(x->start_ns, y->start_ns);
    if (!by)
        by = compare_int(y->end_ns, x->end_ns);
    return by ? by : compare_int(x->row, y->row);
}

static enum lab_status gather_spans(struct lab_timeline_build *b)
{
    struct lab_timeline *t = b->t;
    size_t all = 0;
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++) {
        cut_to(&b->spans[k], b->most, &t->left_out[k]);
        all += (size_t)b->spans[k].count;
    }
    t->spans = lab_alloc_array(all + 1, sizeof(*t->spans));
    if (!t->spans)
        return lab_no_memory("a timeline");
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++) {
        size_t n = (size_t)b->spans[k].count;
        if (n)
            memcpy(t->spans + t->count, b->spans[k].items,
                   n * sizeof(*t->spans));
        t->count += b->spans[k].count;
    }
    qsort(t->spans, (size_t)t->count, sizeof(*t->spans), compare_spans);
    return LAB_OK;
}

/* Idle time before each span, and how much of the time is covered. */
static void measure_lane(struct lab_timeline *t, struct lab_lane *lane)
{
    struct lab_span *s = t->spans + lane->first;
    bool whole = t->left_out[lane->kind] == 0;
    int64_t end = 0;
    for (int32_t i = 0; i < lane->count && timed(&s[i]); i++) {
        int64_t time = lab_span_time(&s[i]);
        int64_t new_from = i && end > s[i].start_ns ? end : s[i].start_ns;
        if (i && whole &&
            (!t->lab ||
             (s[i].exec != LAB_UNKNOWN && s[i].exec == s[i - 1].exec)))
            s[i].gap_ns = s[i].start_ns > end ? s[i].start_ns - end : 0;
        if (s[i].end_ns > new_from)
            lane->busy_ns += s[i].end_ns - new_from;
        if (!i || s[i].end_ns > end)
            end = s[i].end_ns;
        if (time > lane->longest_ns)
            lane->longest_ns = time;
        lane->timed++;
    }
}

static enum lab_status make_lanes(struct lab_timeline *t)
{
    int32_t lanes = 0;
    for (int32_t i = 0; i < t->count; i++)
        lanes += i == 0 || compare_lanes(&t->spans[i - 1], &t->spans[i]) != 0;
    t->lanes = lab_alloc_array((size_t)lanes + 1, sizeof(*t->lanes));
    if (!t->lanes)
        return lab_no_memory("a timeline");
    for (int32_t i = 0; i < t->count; i++) {
        struct lab_span *s = &t->spans[i];
        if (i == 0 || compare_lanes(s - 1, s) != 0)
            t->lanes[t->lane_count++] = (struct lab_lane){.kind = s->kind,
                                                          .where = s->where,
                                                          .device = s->device,
                                                          .first = i};
        s->lane = t->lane_count - 1;
        t->lanes[s->lane].count++;
    }
    const struct lab_lane *first = NULL; /* of a device, of calls */
    const struct lab_lane *call = NULL;
    for (int32_t i = 0; i < t->lane_count; i++) {
        struct lab_lane *l = &t->lanes[i];
        measure_lane(t, l);
        if (l->kind == LAB_SPAN_CALL) {
            t->many_threads |= call != NULL;
            call = l;
        } else if (l->kind >= LAB_SPAN_KERNEL) {
            t->many_devices |= first && first->device != l->device;
            first = first ? first : l;
        }
    }
    return LAB_OK;
}

enum lab_status lab_timeline_finish(struct lab_timeline_build *b)
{
    enum lab_status st = gather_spans(b);
    if (st == LAB_OK)
        st = make_lanes(b->t);
    if (st == LAB_OK)
        st = timeline_link(b);
    return st ? st : timeline_sum(b);
}

/* ---- asking ---- */

const char *lab_span_kind_name(enum lab_span_kind kind)
{
    static const char *const names[LAB_SPAN_KIND_COUNT] = {
        "step", "range", "call", "kernel", "copy", "set"};
    return (unsigned)kind < LAB_SPAN_KIND_COUNT ? names[kind] : "?";
}

static const char *range_level(int64_t level)
{
    static const char *const names[] = {"run",  "iteration", "phase",
                                        "node", "step",      "between steps"};
    return level >= 0 && level < 6 ? names[level] : "ranges";
}

const char *lab_lane_name(const struct lab_timeline *t, int32_t lane, char *out,
                          size_t cap)
{
    static const char *const heads[LAB_SPAN_KIND_COUNT] = {
        "steps", "NVTX", "CUDA calls", "kernels", "copies", "memsets"};
    const struct lab_lane *l = &t->lanes[lane];
    bool device = l->kind >= LAB_SPAN_KERNEL;
    int n = snprintf(out, cap, "%s", heads[l->kind]);
    if (l->kind == LAB_SPAN_RANGE)
        n += snprintf(out + n, cap - (size_t)n, " %s", range_level(l->where));
    else if (l->kind == LAB_SPAN_CALL && t->many_threads &&
             l->where != LAB_UNKNOWN)
        n += snprintf(out + n, cap - (size_t)n, ", thread %lld",
                      (long long)(l->where & 0xFFFFFF));
    else if (device && l->where != LAB_UNKNOWN)
        n += snprintf(out + n, cap - (size_t)n, ", stream %lld",
                      (long long)l->where);
    if (device && t->many_devices && n > 0 && (size_t)n < cap &&
        l->device != LAB_UNKNOWN)
        snprintf(out + n, cap - (size_t)n, ", GPU %lld", (long long)l->device);
    return out;
}

/* Starts grow along the lane; nothing is longer than its longest. */
int32_t lab_lane_find(const struct lab_timeline *t, int32_t lane, int64_t from,
                      int64_t to, int32_t *count)
{
    const struct lab_lane *l = &t->lanes[lane];
    const struct lab_span *s = t->spans + l->first;
    int32_t edge[2];
    int64_t wanted[2] = {from - l->longest_ns, to};
    for (int e = 0; e < 2; e++) {
        int32_t lo = 0;
        int32_t hi = l->timed;
        while (lo < hi) {
            int32_t mid = lo + (hi - lo) / 2;
            if (s[mid].start_ns < wanted[e])
                lo = mid + 1;
            else
                hi = mid;
        }
        edge[e] = lo;
    }
    *count = edge[1] - edge[0];
    return l->first + edge[0];
}

/* The pauses of a walk: an iteration that was stepped through by hand consists
 * of the reader's thinking, and on a true scale no step of it can be seen. */

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

static int walk_by_start(const void *a, const void *b)
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
    qsort(out, (size_t)n, sizeof(*out), walk_by_start);
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
