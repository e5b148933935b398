/* timeline_text.c -- a timeline as text, for --plain and the summary line. */
#include "report/timeline_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace/intern.h"
#include "base/format.h"

struct line {
    char text[LAB_TIMELINE_LINE];
    size_t used;
};

static void add(struct line *l, const char *fmt, ...) LAB_PRINTF(2, 3);
static void add(struct line *l, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(l->text + l->used, sizeof(l->text) - l->used, fmt, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n;
    if (l->used >= sizeof(l->text))
        l->used = sizeof(l->text) - 1;
}

const char *lab_timeline_time(int64_t ns, char *out, size_t cap)
{
    return lab_format_ns(ns == LAB_UNKNOWN ? NAN : (double)ns, out, cap);
}

const char *lab_timeline_moment(const struct lab_timeline *t, int64_t moment,
                                char *out, size_t cap)
{
    bool known = moment != LAB_UNKNOWN && t->start_ns != LAB_UNKNOWN;
    return lab_format_difference(
        known ? (double)(moment - t->start_ns) : (double)NAN, out, cap);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static int64_t whole(const struct lab_timeline *t)
{
    return t->start_ns == LAB_UNKNOWN || t->end_ns == LAB_UNKNOWN
               ? LAB_UNKNOWN
               : t->end_ns - t->start_ns;
}

static const char *share_text(int64_t of, int64_t all, char *out, size_t cap)
{
    double share = of == LAB_UNKNOWN || all == LAB_UNKNOWN || all <= 0
                       ? (double)NAN
                       : (double)of / (double)all;
    return lab_format_share(share, out, cap);
}

/* The time of the whole is mostly that of set-up and checks. */
static void what_a_lab_ran(const struct lab_timeline *t,
                           const struct lab_timeline_sums *sums, struct line *l)
{
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    add(l, "%lld launch%s of rungs traced: %s kernel%s, %s on the GPU",
        (long long)t->of.steps, t->of.steps == 1 ? "" : "es",
        lab_format_int(sums->kernels, a, sizeof(a)), plural(sums->kernels),
        lab_timeline_time(sums->busy_ns, b, sizeof(b)));
    if (t->set_up)
        add(l, "; %s span%s of set-up and checks between them left out",
            lab_format_int(t->set_up, a, sizeof(a)), plural(t->set_up));
}

static void what_ran(const struct lab_timeline *t,
                     const struct lab_timeline_sums *sums, struct line *l)
{
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    int64_t time = whole(t);
    if (t->lab && sums->kernels) {
        what_a_lab_ran(t, sums, l);
        return;
    }
    add(l, "%s", lab_timeline_time(time, a, sizeof(a)));
    if (t->pauses)
        add(l, " (%s of pauses not drawn)",
            lab_timeline_time(t->paused_ns, a, sizeof(a)));
    if (sums->kernels == 0 && sums->copies == 0) {
        add(l, ", %lld step%s, no kernels recorded", (long long)t->of.steps,
            plural(t->of.steps));
        return;
    }
    add(l, ", %s busy %s, %s kernel%s",
        t->device_count > 1 ? "at least one GPU" : "GPU",
        share_text(sums->busy_ns, time, a, sizeof(a)),
        lab_format_int(sums->kernels, b, sizeof(b)), plural(sums->kernels));
    if (sums->graph_kernels)
        add(l, " (%s graph node%s%s",
            lab_format_int(sums->graph_kernels, a, sizeof(a)),
            plural(sums->graph_kernels), sums->kernels_untimed ? "" : ")");
    if (sums->kernels_untimed)
        add(l, "%s%s untimed)", sums->graph_kernels ? ", " : " (",
            lab_format_int(sums->kernels_untimed, a, sizeof(a)));
    if (sums->launches)
        add(l, " by %s launch%s", lab_format_int(sums->launches, a, sizeof(a)),
            sums->launches == 1 ? "" : "es");
    if (sums->copies)
        add(l, ", %s cop%s", lab_format_int(sums->copies, a, sizeof(a)),
            sums->copies == 1 ? "y" : "ies");
}

/* One of several: each has its own gaps. */
static void what_one_did(const struct lab_timeline *t,
                         const struct lab_timeline_device *d, struct line *l)
{
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    if (d->device == LAB_UNKNOWN)
        add(l, "GPU n/a");
    else
        add(l, "GPU %lld", (long long)d->device);
    add(l, ": busy %s, %s gap%s",
        share_text(d->busy_ns, whole(t), a, sizeof(a)),
        lab_format_int(d->gaps, b, sizeof(b)), plural(d->gaps));
    if (d->gaps)
        add(l, ", %s; longest %s",
            lab_timeline_time(d->gap_sum_ns, a, sizeof(a)),
            lab_timeline_time(d->gap_longest_ns, b, sizeof(b)));
}

static void what_stood_idle(const struct lab_timeline_sums *sums,
                            int32_t devices, struct line *l)
{
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    add(l, "%s gap%s on %s, %s", lab_format_int(sums->gaps, a, sizeof(a)),
        plural(sums->gaps), devices > 1 ? "all GPUs together" : "the GPU",
        lab_timeline_time(sums->gap_sum_ns, b, sizeof(b)));
    if (sums->gaps)
        add(l, "; longest %s: %s to %s",
            lab_timeline_time(sums->gap_longest_ns, a, sizeof(a)),
            lab_intern_text(sums->gap_after),
            lab_intern_text(sums->gap_before));
}

/* Without calls there is nothing to count the wait from. */
static bool has_calls(const struct lab_timeline *t)
{
    for (int32_t i = 0; i < t->lane_count; i++) {
        if (t->lanes[i].kind == LAB_SPAN_CALL)
            return true;
    }
    return t->left_out[LAB_SPAN_CALL] > 0;
}

static void what_waited(const struct lab_timeline *t,
                        const struct lab_timeline_sums *sums, struct line *l)
{
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    if (sums->latency_median_ns == LAB_UNKNOWN && !has_calls(t)) {
        add(l, "launch latency n/a: no CUDA calls recorded");
        return;
    }
    add(l, "launch latency %s, at most %s",
        lab_timeline_time(sums->latency_median_ns, a, sizeof(a)),
        lab_timeline_time(sums->latency_max_ns, b, sizeof(b)));
}

void lab_timeline_summary(const struct lab_timeline *t,
                          const struct lab_timeline_sums *sums,
                          lab_timeline_line_fn *each, void *user)
{
    struct line l = {.used = 0};
    char text[LAB_FORMAT_BYTES];
    int64_t left_out = 0;
    what_ran(t, sums, &l);
    each(user, l.text);
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        left_out += t->left_out[k];
    l.used = 0;
    if (left_out)
        add(&l,
            "%s short spans are left out; a smaller part of the time "
            "shows them",
            lab_format_int(left_out, text, sizeof(text)));
    if (left_out)
        each(user, l.text);
    for (int32_t i = 0; t->device_count > 1 && i < t->device_count; i++) {
        l.used = 0;
        what_one_did(t, &t->devices[i], &l);
        each(user, l.text);
    }
    l.used = 0;
    if (sums->gap_sum_ns != LAB_UNKNOWN)
        what_stood_idle(sums, t->device_count, &l);
    if (l.used)
        each(user, l.text);
    l.used = 0;
    if (sums->kernels)
        what_waited(t, sums, &l);
    if (l.used)
        each(user, l.text);
}

/* ---- one span ---- */

static void when(const struct lab_timeline *t, const struct lab_span *s,
                 struct line *l)
{
    char lane[64];
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    int64_t time = lab_span_time(s);
    lab_lane_name(t, s->lane, lane, sizeof(lane));
    add(l, "%s: lasts %s, begins at %s", lane,
        lab_timeline_time(time, a, sizeof(a)),
        lab_timeline_moment(t, s->start_ns, b, sizeof(b)));
    add(l, ", %s of the iteration", share_text(time, whole(t), a, sizeof(a)));
}

static void waited(const struct lab_timeline *t, const struct lab_span *s,
                   struct line *l)
{
    char a[LAB_FORMAT_BYTES];
    if (s->kind >= LAB_SPAN_KERNEL) {
        add(l, "launch latency %s",
            lab_timeline_time(s->latency_ns, a, sizeof(a)));
        if (s->call >= 0)
            add(l, " from %s", lab_intern_text(t->spans[s->call].name));
        add(l, "; ");
    }
    add(l, "gap before it %s", lab_timeline_time(s->gap_ns, a, sizeof(a)));
    if (s->gap_ns == LAB_UNKNOWN && s->start_ns != LAB_UNKNOWN)
        add(l, t->left_out[s->kind] ? " (spans are left out)"
                                    : " (the first of its lane)");
}

static const char *phase_text(int64_t phase)
{
    static const char *const names[] = {"forward", "loss", "backward",
                                        "update"};
    return phase >= 0 && phase < 4 ? names[phase] : "phase n/a";
}

static void belongs(const struct lab_timeline *t, int32_t span, struct line *l)
{
    const struct lab_span *s = &t->spans[span];
    int64_t kernels = 0;
    int64_t busy = 0;
    char a[LAB_FORMAT_BYTES];
    if (s->kind != LAB_SPAN_STEP) {
        if (s->step_name)
            add(l, "belongs to step %s, %s", lab_intern_text(s->step_name),
                phase_text(s->step_phase));
        else
            add(l, "%s",
                s->kind == LAB_SPAN_RANGE
                    ? "a range of the host"
                    : "belongs to no step of this iteration");
        return;
    }
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *o = &t->spans[i];
        if (o->kind != LAB_SPAN_KERNEL || o->exec != s->exec)
            continue;
        kernels++;
        busy += lab_span_time(o) == LAB_UNKNOWN ? 0 : lab_span_time(o);
    }
    add(l, "%s", phase_text(s->phase));
    if (t->sums.kernels)
        add(l, "; it launched %lld kernel%s", (long long)kernels,
            plural(kernels));
    if (kernels)
        add(l, " of %s in all", lab_timeline_time(busy, a, sizeof(a)));
}

/* A launch of a CUDA graph has many kernels, others one. */
static void launched(const struct lab_timeline *t, int32_t call, struct line *l)
{
    int64_t nodes = 0;
    int32_t one = -1;
    for (int32_t i = 0; i < t->count; i++) {
        if (t->spans[i].call != call)
            continue;
        nodes += t->spans[i].graph_node != LAB_UNKNOWN;
        one = one < 0 ? i : one;
    }
    if (nodes)
        add(l, "launched a CUDA graph: %lld node%s", (long long)nodes,
            plural(nodes));
    else if (one >= 0)
        add(l, "launched %s", lab_intern_text(t->spans[one].name));
}

static void more(const struct lab_timeline *t, int32_t span, struct line *l)
{
    const struct lab_span *s = &t->spans[span];
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    int64_t time = lab_span_time(s);
    if (s->kind == LAB_SPAN_CALL)
        launched(t, span, l);
    if (s->graph_node != LAB_UNKNOWN)
        add(l, "node %lld of a CUDA graph", (long long)s->graph_node);
    if (s->bytes == LAB_UNKNOWN)
        return;
    add(l, "%s%s", l->used ? "; " : "",
        lab_format_bytes((double)s->bytes, a, sizeof(a)));
    if (time != LAB_UNKNOWN)
        add(l, ", %s",
            lab_format_rate((double)s->bytes, (double)time, b, sizeof(b)));
}

void lab_span_lines(const struct lab_timeline *t, int32_t span,
                    lab_timeline_line_fn *each, void *user)
{
    const struct lab_span *s = &t->spans[span];
    struct line lines[4] = {{.used = 0}, {.used = 0}, {.used = 0}, {.used = 0}};
    when(t, s, &lines[0]);
    waited(t, s, &lines[1]);
    belongs(t, span, &lines[2]);
    more(t, span, &lines[3]);
    for (int i = 0; i < 4; i++)
        if (lines[i].used)
            each(user, lines[i].text);
}
