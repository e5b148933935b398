/* timeline.c -- an iteration's timeline: its spans read and put together, what
 * covers which stretch of time, and the pauses of a walk. */
#include "store/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "db/row.h"
#include "store/lab_names.h"
#include "trace/intern.h"

/* Something the device did: what the sums are made of. */
struct device_time {
    int64_t start_ns;
    int64_t end_ns;
    int64_t correlation;
    int64_t process;
    int64_t device;
    int64_t exec;
    uint32_t name;
    enum lab_cover cover;
    bool own; /* a kernel of the iteration's */
};

/* A call's start by its correlation id: launches need it though their span be
 * one of those that are left out. */
struct call_time {
    int64_t correlation;
    int64_t process;
    int64_t start_ns;
    int32_t span; /* in spans[], -1: left out */
};

/* A step, whether its span stays or not. */
struct step_time {
    int64_t exec;
    int64_t row;
    int64_t start_ns; /* LAB_UNKNOWN: without moments */
    int64_t end_ns;
    int64_t phase;
    uint32_t name;
    int32_t span; /* in spans[], -1: left out */
};

struct growing {
    void *items;
    int32_t count;
    size_t room;
};

/* The step that a copy or set belongs to. */
struct owner {
    int64_t row;
    int64_t exec;
};

/* A timeline while it is read and put together. */
struct build {
    struct lab_database *db;
    struct lab_timeline *t;
    bool part;                          /* a window was asked for */
    struct lab_bench_names bench_names; /* of a lab: its steps are called so */
    struct growing copies;              /* owner, by row */
    struct growing sets;
    struct growing spans[LAB_SPAN_KIND_COUNT]; /* struct lab_span */
    struct growing device;                     /* device_time */
    struct growing steps;                      /* step_time */
    struct growing calls;                      /* call_time */
    struct growing launched; /* int64_t: correlation ids of kernels */
    int32_t most;
};

static struct call_time *timeline_call(const struct growing *calls,
                                       int64_t process, int64_t correlation);

static int compare_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Of numbers, and of structs that begin with one. */
static int by_first(const void *a, const void *b)
{
    return compare_int(*(const int64_t *)a, *(const int64_t *)b);
}

static void sort_by(struct growing *list, size_t each,
                    int (*by)(const void *, const void *))
{
    if (list->count)
        qsort(list->items, (size_t)list->count, each, by);
}

/* One pass: for each kind, how far what it and those before it cover together
 * reaches. Streams overlap, and are not counted twice. */
void lab_cover_sum(struct lab_interval *list, size_t n, int64_t from,
                   int64_t to, int64_t out[LAB_COVER_COUNT])
{
    int64_t end[LAB_COVER_REST];
    int64_t covered[LAB_COVER_REST] = {0};
    if (n)
        qsort(list, n, sizeof(*list), by_first);
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
static size_t gather(const struct build *b, struct lab_interval *list,
                     int64_t *called)
{
    const struct device_time *d = b->device.items;
    const struct step_time *steps = b->steps.items;
    size_t n = 0;
    for (int32_t i = 0; i < b->device.count; i++) {
        const struct call_time *call =
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

static enum lab_status timeline_cover(struct build *b)
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

static int compare_calls(const void *a, const void *b)
{
    const struct call_time *x = a;
    const struct call_time *y = b;
    int by = compare_int(x->correlation, y->correlation);
    if (!by)
        by = compare_int(x->process, y->process);
    return by ? by : compare_int(x->start_ns, y->start_ns);
}

/* The runtime's call and the driver's under it may share an id: the one that
 * began first counts. */
static struct call_time *timeline_call(const struct growing *calls,
                                       int64_t process, int64_t correlation)
{
    struct call_time *list = calls->items;
    int32_t lo = 0;
    int32_t hi = calls->count;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        const struct call_time *c = &list[mid];
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
                            const struct growing *calls)
{
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *s = &t->spans[i];
        struct call_time *c =
            s->kind == LAB_SPAN_CALL && s->correlation != LAB_UNKNOWN
                ? timeline_call(calls, s->process, s->correlation)
                : NULL;
        if (c && c->start_ns == s->start_ns && c->span < 0)
            c->span = i;
    }
}

/* ---- steps, by exec and by start: few may be left of their spans ---- */

struct steps {
    struct step_time *by_exec;
    struct step_time *by_start; /* those with moments */
    int32_t n;
    int32_t timed;
};

static int sums_by_start(const void *a, const void *b)
{
    const struct step_time *x = a;
    const struct step_time *y = b;
    int by = compare_int(x->start_ns, y->start_ns);
    return by ? by : compare_int(x->row, y->row);
}

static struct step_time *step_of_exec(const struct steps *steps, int64_t exec)
{
    const struct step_time key = {.exec = exec};
    return steps->n ? bsearch(&key, steps->by_exec, (size_t)steps->n,
                              sizeof(key), by_first)
                    : NULL;
}

/* The step that the host was in at a moment, of steps by start; they do not
 * nest. */
static const struct step_time *step_at(const struct step_time *list, int32_t n,
                                       int64_t moment)
{
    int32_t lo = 0;
    int32_t hi = n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (list[mid].start_ns <= moment)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && list[lo - 1].end_ns >= moment ? &list[lo - 1] : NULL;
}

static enum lab_status sort_steps(const struct build *b, struct steps *out)
{
    const struct lab_timeline *t = b->t;
    size_t n = (size_t)b->steps.count;
    struct step_time *list = b->steps.items;
    out->by_exec = list;
    out->n = b->steps.count;
    out->by_start = lab_alloc_array(n + 1, sizeof(*out->by_start));
    if (!out->by_start)
        return lab_no_memory("a timeline");
    if (n)
        qsort(list, n, sizeof(*list), by_first);
    for (int32_t i = 0; i < t->count && t->spans[i].kind == LAB_SPAN_STEP;
         i++) {
        struct step_time *s = step_of_exec(out, t->spans[i].exec);
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

static void link_span(struct lab_span *s, const struct growing *calls,
                      const struct steps *steps)
{
    const struct call_time *call = NULL;
    const struct step_time *step = NULL;
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
        step = step_at(steps->by_start, steps->timed, made);
    if (!step)
        return;
    s->exec = step->exec;
    s->step = step->span;
    s->step_name = step->name;
    s->step_phase = step->phase;
}

static enum lab_status timeline_link(struct build *b)
{
    struct lab_timeline *t = b->t;
    struct steps steps = {0};
    enum lab_status st = sort_steps(b, &steps);
    if (st)
        return st;
    sort_by(&b->calls, sizeof(struct call_time), compare_calls);
    note_call_spans(t, &b->calls);
    for (int32_t i = 0; i < t->count; i++)
        link_span(&t->spans[i], &b->calls, &steps);
    lab_free(steps.by_start);
    return LAB_OK;
}

/* ---- sums ---- */

static int compare_device(const void *a, const void *b)
{
    const struct device_time *x = a;
    const struct device_time *y = b;
    int by = compare_int(x->device, y->device);
    if (!by)
        by = compare_int(x->start_ns, y->start_ns);
    return by ? by : compare_int(x->end_ns, y->end_ns);
}

static void add_gap(struct lab_timeline *t, struct lab_timeline_device *of,
                    const struct device_time *before,
                    const struct device_time *after)
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
                             const struct device_time *d)
{
    int64_t from = d->start_ns > since ? d->start_ns : since;
    int64_t to = d->end_ns < t->to_ns ? d->end_ns : t->to_ns;
    if (from < t->from_ns)
        from = t->from_ns;
    return to > from ? to - from : 0;
}

/* One pass over each device's spans by start, whatever the stream. */
static enum lab_status sum_devices(struct build *b)
{
    struct lab_timeline *t = b->t;
    struct device_time *d = b->device.items;
    const struct device_time *last = NULL;
    int32_t devices = 0;
    sort_by(&b->device, sizeof(*d), compare_device);
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

static enum lab_status sum_latencies(struct build *b)
{
    struct lab_timeline_sums *sums = &b->t->sums;
    const struct device_time *d = b->device.items;
    int64_t *v = lab_alloc_array((size_t)b->device.count + 1, sizeof(*v));
    size_t n = 0;
    if (!v)
        return lab_no_memory("a timeline");
    for (int32_t i = 0; i < b->device.count; i++) {
        const struct call_time *call =
            d[i].own && d[i].correlation != LAB_UNKNOWN
                ? timeline_call(&b->calls, d[i].process, d[i].correlation)
                : NULL;
        if (call)
            v[n++] = d[i].start_ns - call->start_ns;
    }
    if (n) {
        qsort(v, n, sizeof(*v), by_first);
        sums->latency_max_ns = v[n - 1];
        sums->latency_median_ns =
            v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2;
    }
    lab_free(v);
    return LAB_OK;
}

static enum lab_status timeline_sum(struct build *b)
{
    struct lab_timeline_sums *sums = &b->t->sums;
    const int64_t *ids = b->launched.items;
    sums->busy_ns = sums->gap_sum_ns = sums->gap_longest_ns = LAB_UNKNOWN;
    sums->gap_start_ns = LAB_UNKNOWN;
    sums->latency_median_ns = sums->latency_max_ns = LAB_UNKNOWN;
    sort_by(&b->launched, sizeof(*ids), by_first);
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

static void *add_item(struct growing *list, size_t each)
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

static void cut_to(struct growing *list, int32_t most, int64_t *left_out)
{
    if (list->count <= most)
        return;
    qsort(list->items, (size_t)list->count, sizeof(struct lab_span),
          compare_times);
    *left_out += list->count - most;
    list->count = most;
}

static enum lab_status add_call(struct build *b, const struct lab_span *s)
{
    struct call_time *c;
    if (s->correlation == LAB_UNKNOWN || !timed(s))
        return LAB_OK;
    c = add_item(&b->calls, sizeof(*c));
    if (!c)
        return lab_no_memory("a timeline");
    *c = (struct call_time){s->correlation, s->process, s->start_ns, -1};
    return LAB_OK;
}

static bool pass_owns(const struct lab_iteration_row *of, int64_t exec)
{
    return of->steps == 0 || (exec != LAB_UNKNOWN && exec >= of->exec_first &&
                              exec <= of->exec_last);
}

static enum lab_status count_device(struct build *b, const struct lab_span *s)
{
    struct lab_timeline_sums *sums = &b->t->sums;
    bool kernel = s->kind == LAB_SPAN_KERNEL;
    bool own = pass_owns(&b->t->of, s->exec);
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
        int64_t *c = add_item(&b->launched, sizeof(*c));
        if (!c)
            return lab_no_memory("a timeline");
        *c = s->correlation;
    }
    if (!timed(s))
        return LAB_OK;
    struct device_time *d = add_item(&b->device, sizeof(*d));
    if (!d)
        return lab_no_memory("a timeline");
    *d = (struct device_time){
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

static enum lab_status note_step(struct build *b, const struct lab_span *s)
{
    struct step_time *i = add_item(&b->steps, sizeof(*i));
    if (!i)
        return lab_no_memory("a timeline");
    *i = (struct step_time){.exec = s->exec,
                            .row = s->row,
                            .start_ns = s->start_ns,
                            .end_ns = s->end_ns,
                            .phase = s->phase,
                            .name = s->name,
                            .span = -1};
    return LAB_OK;
}

static enum lab_status add_span(struct build *b, const struct lab_span *s)
{
    struct growing *list = &b->spans[s->kind];
    enum lab_status st = LAB_OK;
    if (s->kind == LAB_SPAN_STEP)
        st = note_step(b, s);
    else if (s->kind == LAB_SPAN_CALL)
        st = add_call(b, s);
    else if (s->kind >= LAB_SPAN_KERNEL)
        st = count_device(b, s);
    if (st)
        return st;
    /* Sorting at every second span costs little a span. */
    if (list->count / 2 >= b->most)
        cut_to(list, b->most, &b->t->left_out[s->kind]);
    struct lab_span *place = add_item(list, sizeof(*place));
    if (!place)
        return lab_no_memory("a timeline");
    *place = *s;
    return LAB_OK;
}

static void release_build(struct build *b)
{
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        lab_free(b->spans[k].items);
    lab_free(b->device.items);
    lab_free(b->steps.items);
    lab_free(b->calls.items);
    lab_free(b->launched.items);
    lab_free(b->copies.items);
    lab_free(b->sets.items);
    lab_bench_names_release(&b->bench_names);
}

void lab_timeline_free(struct lab_timeline *t)
{
    if (!t)
        return;
    lab_free(t->spans);
    lab_free(t->lanes);
    lab_free(t->devices);
    lab_free(t->pause_ns);
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

static enum lab_status gather_spans(struct build *b)
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

static enum lab_status finish(struct build *b)
{
    enum lab_status st = gather_spans(b);
    if (st == LAB_OK)
        st = make_lanes(b->t);
    if (st == LAB_OK)
        st = timeline_link(b);
    return st ? st : timeline_sum(b);
}

/* ---- rows of a run, and of a time, in tables that have no index but their rowid.
 *
 * Rows are only ever appended. So the rows of a run lie together, unless
 * another run was recorded at the same time; and within a run they lie in the
 * order in which things ended, but for what the ring and CUPTI's buffers turn
 * over. Bisection finds the position, a margin makes up for the disorder. ---- */

struct rowid_range {
    int64_t first;
    int64_t last;
};

enum { MARGIN = 40000 }; /* rows: more than the ring holds */

/* The first row of *range, a part of `table`, with `column` of at least
 * `value`; its end + 1 when there is none. */
static enum lab_status lower_bound(struct lab_database *db, const char *table,
                                   const char *column,
                                   const struct rowid_range *range,
                                   int64_t value, int64_t *out)
{
    struct lab_str sql;
    int64_t lo = range->first;
    int64_t hi = range->last + 1;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "SELECT rowid, %s FROM %s WHERE rowid BETWEEN ?1 AND ?2 AND "
                 "%s IS NOT NULL ORDER BY rowid LIMIT 1",
                 column, table, column);
    struct lab_stmt s = lab_stmt_built(db, &sql);
    while (lo < hi && !s.st) {
        int64_t mid = lo + (hi - lo) / 2;
        sqlite3_bind_int64(s.sql, 1, mid); /* the first that has a value */
        sqlite3_bind_int64(s.sql, 2, hi - 1);
        if (!lab_stmt_next(&s) || sqlite3_column_int64(s.sql, 1) >= value)
            hi = mid;
        else
            lo = sqlite3_column_int64(s.sql, 0) + 1;
        sqlite3_reset(s.sql);
    }
    *out = lo;
    return lab_stmt_end(&s);
}

/* The runs that may have rows between those of `run`. */
static enum lab_status companions(struct lab_database *db, int64_t run,
                                  int64_t *first, int64_t *last)
{
    struct lab_stmt s = lab_stmt_new(
        db,
        "WITH spans AS (SELECT id, hostname, started_ns AS a, ifnull(ended_ns,"
        " ifnull((SELECT s.end_ns FROM step AS s WHERE s.runId = run.id"
        " ORDER BY s.exec DESC LIMIT 1), started_ns)) AS b FROM run) "
        "SELECT min(o.id), max(o.id) FROM spans AS me JOIN spans AS o "
        "ON o.id = me.id OR (o.hostname IS me.hostname AND o.a <= me.b "
        "AND o.b >= me.a) WHERE me.id = ?1");
    sqlite3_bind_int64(s.sql, 1, run);
    *first = *last = run;
    if (lab_stmt_next(&s) && sqlite3_column_type(s.sql, 0) != SQLITE_NULL) {
        *first = sqlite3_column_int64(s.sql, 0);
        *last = sqlite3_column_int64(s.sql, 1);
    }
    return lab_stmt_end(&s);
}

static enum lab_status whole_table(struct lab_database *db, const char *table,
                                   struct rowid_range *out)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT min(rowid) FROM %s", table);
    enum lab_status st = lab_database_int(db, sql, 0, &out->first);
    snprintf(sql, sizeof(sql), "SELECT max(rowid) FROM %s", table);
    if (st == LAB_OK)
        st = lab_database_int(db, sql, -1, &out->last);
    /* A foreign file may hold any rowid: these cannot overflow below. */
    if (out->first < 0)
        out->first = 0;
    if (out->last > INT64_MAX / 2)
        out->last = INT64_MAX / 2;
    return st;
}

/* *range becomes that of the rows of runs `first` to `last`. */
static enum lab_status narrow_to_runs(struct lab_database *db,
                                      const char *table, int64_t first,
                                      int64_t last, struct rowid_range *range)
{
    int64_t from;
    int64_t to;
    enum lab_status st = lower_bound(db, table, "runId", range, first, &from);
    if (st == LAB_OK)
        st = lower_bound(db, table, "runId", range,
                         last < INT64_MAX ? last + 1 : last, &to);
    if (st == LAB_OK)
        *range = (struct rowid_range){from, to - 1};
    return st;
}

static enum lab_status narrow_to_values(struct lab_database *db,
                                        const char *table, const char *column,
                                        int64_t from, int64_t to,
                                        struct rowid_range *range)
{
    int64_t a;
    int64_t b;
    enum lab_status st = lower_bound(db, table, column, range, from, &a);
    if (st == LAB_OK)
        st = lower_bound(db, table, column, range, to, &b);
    if (st)
        return st;
    if (a - MARGIN > range->first)
        range->first = a - MARGIN;
    if (b + MARGIN < range->last)
        range->last = b + MARGIN;
    return LAB_OK;
}

/* Rowids between which every row of `run` is in which `column`, a number that
 * grows along the table but for small disorder, is from `from` to `to`. Both
 * names are constants of the program. */
static enum lab_status find_rowids(struct lab_database *db, int64_t run,
                                   const char *table, const char *column,
                                   int64_t from, int64_t to,
                                   struct rowid_range *out)
{
    int64_t first;
    int64_t last;
    struct rowid_range range = {0, -1};
    enum lab_status st = companions(db, run, &first, &last);
    if (st == LAB_OK)
        st = whole_table(db, table, &range);
    if (st == LAB_OK)
        st = narrow_to_runs(db, table, first, last, &range);
    /* Two runs at once: their rows are mixed, and all are read. */
    if (st == LAB_OK && first == last)
        st = narrow_to_values(db, table, column, from, to, &range);
    if (st == LAB_OK)
        *out = range;
    return st;
}

/* ---- reading ---- */

typedef enum lab_status read_fn(struct build *l, struct lab_stmt *c);

/* Names are made safe for a terminal once, here. */
static uint32_t safe_name(const char *text)
{
    struct lab_str s;
    bool plain = true;
    if (!text)
        return lab_intern("?");
    for (const char *p = text; *p; p++)
        plain = plain && *p >= ' ' && *p < 0x7F;
    if (plain)
        return lab_intern(text);
    lab_str_init(&s);
    lab_str_add_visible(&s, text, strlen(text), false);
    uint32_t id = lab_intern(lab_str_text(&s));
    lab_str_release(&s);
    return id;
}

/* Times first: a span of this iteration makes the iteration longer, unless a
 * window was asked for. One without times stays when it is the iteration's. */
static enum lab_status take(struct build *l, struct lab_span *s, bool own)
{
    struct lab_timeline *t = l->t;
    bool timed = lab_moment_known(s->start_ns) && lab_moment_known(s->end_ns) &&
                 s->end_ns >= s->start_ns;
    if (!timed)
        s->start_ns = s->end_ns = LAB_UNKNOWN;
    if (!timed && !own)
        return LAB_OK;
    if (timed && own) {
        lab_moments_widen(&t->start_ns, &t->end_ns, s->start_ns, s->end_ns);
        if (!l->part) {
            t->from_ns = t->start_ns;
            t->to_ns = t->end_ns;
        }
    }
    bool outside = s->start_ns >= t->to_ns || s->end_ns <= t->from_ns;
    /* Steps are few, and everything else points to them. */
    if (timed && outside && s->kind != LAB_SPAN_STEP)
        return LAB_OK;
    if (t->lab && !own && timed && s->kind != LAB_SPAN_RANGE &&
        !step_at(l->steps.items, l->steps.count, s->start_ns)) {
        t->set_up++;
        return LAB_OK;
    }
    return add_span(l, s);
}

static struct lab_span blank(enum lab_span_kind kind)
{
    return (struct lab_span){.kind = kind,
                             .exec = LAB_UNKNOWN,
                             .correlation = LAB_UNKNOWN,
                             .process = LAB_UNKNOWN,
                             .step_phase = LAB_UNKNOWN,
                             .bytes = LAB_UNKNOWN,
                             .graph_node = LAB_UNKNOWN,
                             .where = LAB_UNKNOWN,
                             .device = LAB_UNKNOWN,
                             .gap_ns = LAB_UNKNOWN,
                             .latency_ns = LAB_UNKNOWN,
                             .phase = LAB_UNKNOWN,
                             .call = -1,
                             .step = -1};
}

/* What this program recorded is of one process, and older versions kept other
 * numbers for its threads. nsys: the upper bytes of a thread are its process. */
static int64_t process_of(const struct build *l, int64_t global)
{
    if (l->t->of.steps > 0)
        return 0;
    return global == LAB_UNKNOWN ? LAB_UNKNOWN : global & ~INT64_C(0xFFFFFF);
}

static void read_place(struct lab_span *s, struct lab_stmt *c)
{
    s->row = lab_column_int(c);
    s->start_ns = lab_column_int(c);
    s->end_ns = lab_column_int(c);
}

static enum lab_status read_step(struct build *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_STEP);
    read_place(&s, c);
    s.exec = s.row;
    s.phase = lab_column_int(c);
    const char *name = lab_column_text(c);
    s.name = safe_name(lab_bench_name_text(
        lab_bench_name_find(&l->bench_names, lab_column_int(c)), name));
    return take(l, &s, true);
}

/* The range of the iteration itself begins before its first step. */
static enum lab_status read_range(struct build *l, struct lab_stmt *c)
{
    enum { LEVEL_RUN, LEVEL_ITERATION };
    struct lab_span s = blank(LAB_SPAN_RANGE);
    const struct lab_timeline *t = l->t;
    read_place(&s, c);
    s.where = lab_column_int(c);
    s.name = safe_name(lab_column_text(c));
    if (s.where == LEVEL_RUN && t->of.steps > 0)
        return LAB_OK;
    bool own = t->of.steps == 0;
    own |= s.where == LEVEL_ITERATION && s.start_ns != LAB_UNKNOWN &&
           s.end_ns != LAB_UNKNOWN && s.start_ns < t->of.end_ns &&
           s.end_ns > t->of.start_ns;
    return take(l, &s, own);
}

static enum lab_status read_call(struct build *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_CALL);
    read_place(&s, c);
    s.where = lab_column_int(c);
    s.process = process_of(l, s.where);
    s.correlation = lab_column_int(c);
    s.name = safe_name(lab_column_text(c));
    return take(l, &s, l->t->of.steps == 0);
}

/* Of a call that lies outside of the window: its moment alone. */
static enum lab_status read_launch(struct build *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_CALL);
    s.correlation = lab_column_int(c);
    s.start_ns = lab_column_int(c);
    s.process = process_of(l, lab_column_int(c));
    if (!lab_moment_known(s.start_ns))
        return LAB_OK;
    return add_call(l, &s);
}

static void read_device(const struct build *l, struct lab_span *s,
                        struct lab_stmt *c)
{
    read_place(s, c);
    s->device = lab_column_int(c);
    s->where = lab_column_int(c);
    s->correlation = lab_column_int(c);
    s->graph_node = lab_column_int(c);
    s->process = process_of(l, lab_column_int(c));
}

static enum lab_status read_kernel(struct build *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_KERNEL);
    read_device(l, &s, c);
    s.exec = lab_column_int(c);
    s.name = safe_name(lab_column_text(c));
    return take(l, &s, pass_owns(&l->t->of, s.exec));
}

static enum lab_status read_memory(struct build *l, struct lab_span *s,
                                   struct lab_stmt *c,
                                   const struct growing *owners)
{
    read_device(l, s, c);
    s->bytes = lab_column_int(c);
    s->name = safe_name(lab_column_text(c));
    const struct owner key = {s->row, 0};
    const struct owner *o = NULL;
    if (owners->count)
        o = bsearch(&key, owners->items, (size_t)owners->count, sizeof(key),
                    by_first);
    if (o)
        s->exec = o->exec;
    return take(l, s, o != NULL || l->t->of.steps == 0);
}

static enum lab_status read_copy(struct build *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_COPY);
    return read_memory(l, &s, c, &l->copies);
}

static enum lab_status read_set(struct build *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_SET);
    return read_memory(l, &s, c, &l->sets);
}

static enum lab_status read_owner(struct build *l, struct lab_stmt *c)
{
    struct owner o = {.exec = lab_column_int(c)};
    int64_t copy = lab_column_int(c);
    int64_t set = lab_column_int(c);
    struct growing *list = copy != LAB_UNKNOWN ? &l->copies : &l->sets;
    o.row = copy != LAB_UNKNOWN ? copy : set;
    struct owner *place = add_item(list, sizeof(o));
    if (!place)
        return lab_no_memory("the copies of a run");
    *place = o;
    return LAB_OK;
}

/* What a query may ask for. */
struct asked {
    struct rowid_range rows;
    int64_t first; /* of what is the iteration's: rows, or execs */
    int64_t last;
    int64_t from;
    int64_t to;
};

static void bind(sqlite3_stmt *stmt, const char *name, int64_t v)
{
    int i = sqlite3_bind_parameter_index(stmt, name);
    if (i > 0)
        sqlite3_bind_int64(stmt, i, v);
}

static enum lab_status read_rows(struct build *l, const char *sql,
                                 const struct asked *asked, read_fn *read)
{
    struct lab_stmt s = lab_stmt_new(l->db, sql);
    sqlite3_bind_int64(s.sql, 1, l->t->run);
    sqlite3_bind_int64(s.sql, 2, asked->rows.first);
    sqlite3_bind_int64(s.sql, 3, asked->rows.last);
    bind(s.sql, ":first", asked->first);
    bind(s.sql, ":last", asked->last);
    bind(s.sql, ":from", asked->from);
    bind(s.sql, ":to", asked->to);
    while (lab_stmt_next(&s))
        s.st = read(l, &s);
    return lab_stmt_end(&s);
}

/* Another tool's tables need not lie in the order of time. */
static enum lab_status find_rows(struct build *l, const char *table,
                                 const char *column, int64_t from, int64_t to,
                                 struct rowid_range *rows)
{
    bool sorted = l->t->of.steps > 0;
    return find_rowids(l->db, l->t->run, table, column, sorted ? from : 0,
                       sorted ? to : INT64_MAX / 2, rows);
}

static enum lab_status read_table(struct build *l, const char *table,
                                  const char *sql, read_fn *read)
{
    const struct lab_timeline *t = l->t;
    struct asked asked = {.from = t->from_ns, .to = t->to_ns};
    if (t->of.steps == 0 && !l->part) {
        asked.from = 0;
        asked.to = INT64_MAX / 2;
    }
    enum lab_status st =
        find_rows(l, table, "\"end\"", asked.from, asked.to, &asked.rows);
    return st ? st : read_rows(l, sql, &asked, read);
}

static enum lab_status read_owners(struct build *l)
{
    const struct lab_iteration_row *of = &l->t->of;
    struct asked asked = {.first = of->exec_first, .last = of->exec_last};
    enum lab_status st = find_rows(l, "op_memory", "stepExec", asked.first,
                                   asked.last, &asked.rows);
    if (st == LAB_OK)
        st = read_rows(l, lab_sql_timeline_memory, &asked, read_owner);
    sort_by(&l->copies, sizeof(struct owner), by_first);
    sort_by(&l->sets, sizeof(struct owner), by_first);
    return st;
}

static enum lab_status read_steps(struct build *l)
{
    const struct asked asked = {
        .rows = {l->t->of.exec_first, l->t->of.exec_last}};
    return read_rows(l, lab_sql_timeline_steps, &asked, read_step);
}

/* The rows of the steps' kernels, and of what else ran then. A part has those
 * of its time only: there may be very many. */
static enum lab_status read_kernels(struct build *l)
{
    const struct lab_timeline *t = l->t;
    struct asked asked = {.first = t->of.kernel_row_first,
                          .last = t->of.kernel_row_last,
                          .from = t->from_ns,
                          .to = t->to_ns};
    enum lab_status st = find_rows(l, "CUPTI_ACTIVITY_KIND_KERNEL", "\"end\"",
                                   asked.from, asked.to, &asked.rows);
    if (st)
        return st;
    if (l->part)
        asked.first = asked.last = LAB_UNKNOWN;
    if (asked.first != LAB_UNKNOWN) {
        if (asked.rows.first > asked.first)
            asked.rows.first = asked.first;
        if (asked.rows.last < asked.last)
            asked.rows.last = asked.last;
    }
    return read_rows(l, lab_sql_timeline_kernels, &asked, read_kernel);
}

/* What runs in a part of the time may have been launched long before. Ids of
 * calls grow as the calls are made. */
static enum lab_status read_launches(struct build *l)
{
    struct asked asked = {.first = LAB_UNKNOWN, .last = LAB_UNKNOWN};
    const struct device_time *d = l->device.items;
    for (int32_t i = 0; i < l->device.count; i++)
        lab_moments_widen(&asked.first, &asked.last, d[i].correlation,
                          d[i].correlation);
    if (asked.first == LAB_UNKNOWN)
        return LAB_OK;
    enum lab_status st =
        find_rows(l, "CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId",
                  asked.first, asked.last, &asked.rows);
    return st ? st
              : read_rows(l, lab_sql_timeline_launches, &asked, read_launch);
}

/* What makes the iteration longer comes first. */
static enum lab_status read_all(struct build *l)
{
    enum lab_status st =
        lab_bench_names_load(&l->bench_names, l->db, l->t->run);
    l->t->lab = l->bench_names.count > 0;
    if (st == LAB_OK)
        st = read_owners(l);
    if (st == LAB_OK)
        st = read_steps(l);
    if (st == LAB_OK)
        st = read_table(l, "NVTX_EVENTS", lab_sql_timeline_ranges, read_range);
    if (st == LAB_OK)
        st = read_kernels(l);
    if (st == LAB_OK)
        st = read_table(l, "CUPTI_ACTIVITY_KIND_MEMCPY",
                        lab_sql_timeline_copies, read_copy);
    if (st == LAB_OK)
        st = read_table(l, "CUPTI_ACTIVITY_KIND_MEMSET", lab_sql_timeline_sets,
                        read_set);
    if (st == LAB_OK)
        st = read_table(l, "CUPTI_ACTIVITY_KIND_RUNTIME",
                        lab_sql_timeline_calls, read_call);
    if (st == LAB_OK && l->part)
        st = read_launches(l);
    return st ? st : finish(l);
}

enum lab_status lab_timeline_load(struct lab_timeline **out,
                                  struct lab_database *db, int64_t run,
                                  const struct lab_iteration_row *of,
                                  const struct lab_timeline_filter *filter)
{
    struct build l = {.db = db};
    enum lab_status st = lab_query_require_run(db, run);
    if (st)
        return st;
    l.t = lab_alloc(sizeof(*l.t));
    if (!l.t)
        return lab_no_memory("a timeline");
    l.most = filter && filter->most > 0 ? filter->most : LAB_TIMELINE_MOST;
    l.part = filter && filter->from_ns != LAB_UNKNOWN &&
             filter->to_ns != LAB_UNKNOWN;
    *l.t = (struct lab_timeline){.run = run, .of = *of};
    l.t->start_ns = of->start_ns;
    l.t->end_ns = of->end_ns;
    l.t->from_ns = l.part ? filter->from_ns : of->start_ns;
    l.t->to_ns = l.part ? filter->to_ns : of->end_ns;
    st = read_all(&l);
    release_build(&l);
    if (st) {
        lab_timeline_free(l.t);
        return st;
    }
    *out = l.t;
    return LAB_OK;
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

/* What ran, joined where it overlaps, by time. Ranges last through the pauses.
 * Returns how many there are. */
static int32_t collect(const struct lab_timeline *t, struct lab_interval *out)
{
    int32_t n = 0;
    int32_t joined = 0;
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *s = &t->spans[i];
        if (s->kind != LAB_SPAN_RANGE && s->start_ns != LAB_UNKNOWN)
            out[n++] =
                (struct lab_interval){s->start_ns, s->end_ns, LAB_COVER_REST};
    }
    qsort(out, (size_t)n, sizeof(*out), by_first);
    for (int32_t i = 0; i < n; i++) {
        struct lab_interval *last = &out[joined > 0 ? joined - 1 : 0];
        if (joined == 0 || out[i].start_ns > last->end_ns)
            out[joined++] = out[i];
        else if (out[i].end_ns > last->end_ns)
            last->end_ns = out[i].end_ns;
    }
    return joined;
}

static bool is_walk(const struct lab_interval *of, int32_t n, int64_t least)
{
    for (int32_t i = 0; i + 1 < n; i++)
        if (of[i + 1].start_ns - of[i].end_ns >= least)
            return true;
    return false;
}

/* Makes pauses of what lies between; returns how many there are. */
static int32_t find_pauses(struct lab_interval *of, int32_t n, int64_t least)
{
    int32_t pauses = 0;
    for (int32_t i = 0; i + 1 < n; i++) {
        struct lab_interval between = {of[i].end_ns, of[i + 1].start_ns,
                                       LAB_COVER_REST};
        if (between.end_ns - between.start_ns >= least)
            of[pauses++] = between;
    }
    return pauses;
}

/* Where a moment is when `keep` is left of each pause. */
static int64_t moved(int64_t at, const struct lab_interval *pauses, int32_t n,
                     int64_t keep)
{
    int64_t off = 0;
    for (int32_t i = 0; i < n && at > pauses[i].start_ns; i++) {
        int64_t span = pauses[i].end_ns - pauses[i].start_ns;
        int64_t in = at < pauses[i].end_ns ? at - pauses[i].start_ns : span;
        off += in - (int64_t)((double)keep * (double)in / (double)span);
    }
    return at - off;
}

static void move(int64_t *at, const struct lab_interval *pauses, int32_t n,
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
    struct lab_interval *list =
        lab_alloc_array((size_t)t->count, sizeof(struct lab_interval));
    int64_t *at = lab_alloc_array((size_t)t->count, sizeof(*at));
    if (!list || !at) {
        lab_free(list);
        lab_free(at);
        return lab_no_memory("the pauses of a walk");
    }
    lab_free(t->pause_ns);
    t->pause_ns = at;
    int32_t n = collect(t, list);
    for (int32_t i = 0; i < n; i++)
        busy += list[i].end_ns - list[i].start_ns;
    int64_t least = busy / BUSY_PART + 1;
    n = is_walk(list, n, least > LEAST_NS ? least : LEAST_NS)
            ? find_pauses(list, n, least)
            : 0;
    int64_t keep = busy / KEEP_PART;
    for (int32_t i = 0; i < n; i++)
        t->paused_ns += list[i].end_ns - list[i].start_ns - keep;
    t->pauses = n;
    for (int32_t i = 0; i < n; i++)
        t->pause_ns[i] = moved(list[i].start_ns + 1, list, n, keep);
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
