#include "store/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_priv.h"

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

static int compare_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

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

static enum lab_status gather(struct lab_timeline_build *b)
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
    enum lab_status st = gather(b);
    if (st == LAB_OK)
        st = make_lanes(b->t);
    if (st == LAB_OK)
        st = lab_timeline_link(b);
    return st ? st : lab_timeline_sum(b);
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
