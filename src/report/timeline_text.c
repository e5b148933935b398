/* timeline_text.c -- a timeline as text, for --plain and the summary line.
 *
 * The sums of a timeline (store/timeline.h) in one line, its phases and the
 * facts of a span, for `profile timeline` and the screen of a timeline alike. */
#include "report/timeline_text.h"

#include <math.h>
#include <string.h>

#include "base/format.h"
#include "base/str.h"
#include "engine/plan.h"
#include "trace/intern.h"

#define TIME(ns) LAB_NS_TEXT(lab_to_real(ns))
#define COUNT(n) LAB_INT_TEXT(n)

/* A line that is made, and the function that takes it. */
struct lines {
    const struct lab_timeline *t;
    struct lab_str text;
    lab_timeline_line_fn *each;
    void *user;
};

/* Without memory for its whole the line is given as far as it goes. */
static void end_line(struct lines *l)
{
    if (l->text.len)
        l->each(l->user, lab_str_text(&l->text));
    lab_str_clear(&l->text);
}

/* NaN: unknown. Moments are longer than a double's digits. */
static double between(int64_t from, int64_t to)
{
    return from == LAB_UNKNOWN || to == LAB_UNKNOWN ? (double)NAN
                                                    : (double)(to - from);
}

const char *lab_timeline_moment(const struct lab_timeline *t, int64_t moment,
                                char *out, size_t cap)
{
    return lab_format_difference(between(t->start_ns, moment), out, cap);
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static double whole(const struct lab_timeline *t)
{
    return between(t->start_ns, t->end_ns);
}

/* NaN: unknown. */
static double share_of(const struct lab_timeline *t, int64_t part)
{
    double all = whole(t);
    return lab_to_real(part) / (all > 0 ? all : (double)NAN);
}

/* The time of the whole is mostly that of set-up and checks. */
static void what_a_lab_ran(struct lines *l,
                           const struct lab_timeline_sums *sums)
{
    const struct lab_timeline *t = l->t;
    lab_str_addf(&l->text,
                 "%lld launch%s of variants traced: %s kernel%s, %s on the GPU",
                 (long long)t->of.steps, t->of.steps == 1 ? "" : "es",
                 COUNT(sums->kernels), plural(sums->kernels),
                 TIME(sums->busy_ns));
    if (t->set_up)
        lab_str_addf(&l->text,
                     "; %s span%s of set-up and checks between them left out",
                     COUNT(t->set_up), plural(t->set_up));
}

static void what_ran(struct lines *l, const struct lab_timeline_sums *sums)
{
    const struct lab_timeline *t = l->t;
    struct lab_str *s = &l->text;
    if (t->lab && sums->kernels) {
        what_a_lab_ran(l, sums);
        return;
    }
    lab_str_add(s, LAB_NS_TEXT(whole(t)));
    if (t->pauses)
        lab_str_addf(s, " (%s of pauses not drawn)", TIME(t->paused_ns));
    if (sums->kernels == 0 && sums->copies == 0) {
        lab_str_addf(s, ", %lld step%s, no kernels recorded",
                     (long long)t->of.steps, plural(t->of.steps));
        return;
    }
    lab_str_addf(s, ", %s busy %s, %s kernel%s",
                 t->device_count > 1 ? "at least one GPU" : "GPU",
                 LAB_SHARE_TEXT(share_of(t, sums->busy_ns)),
                 COUNT(sums->kernels), plural(sums->kernels));
    if (sums->graph_kernels)
        lab_str_addf(s, " (%s graph node%s%s", COUNT(sums->graph_kernels),
                     plural(sums->graph_kernels),
                     sums->kernels_untimed ? "" : ")");
    if (sums->kernels_untimed)
        lab_str_addf(s, "%s%s untimed)", sums->graph_kernels ? ", " : " (",
                     COUNT(sums->kernels_untimed));
    if (sums->launches)
        lab_str_addf(s, " by %s launch%s", COUNT(sums->launches),
                     sums->launches == 1 ? "" : "es");
    if (sums->copies)
        lab_str_addf(s, ", %s cop%s", COUNT(sums->copies),
                     sums->copies == 1 ? "y" : "ies");
}

/* One of several: each has its own gaps. */
static void what_one_did(struct lines *l, const struct lab_timeline_device *d)
{
    if (d->device == LAB_UNKNOWN)
        lab_str_add(&l->text, "GPU " LAB_NA);
    else
        lab_str_addf(&l->text, "GPU %lld", (long long)d->device);
    lab_str_addf(&l->text, ": busy %s, %s gap%s",
                 LAB_SHARE_TEXT(share_of(l->t, d->busy_ns)), COUNT(d->gaps),
                 plural(d->gaps));
    if (d->gaps)
        lab_str_addf(&l->text, ", %s; longest %s", TIME(d->gap_sum_ns),
                     TIME(d->gap_longest_ns));
}

static void what_stood_idle(struct lines *l,
                            const struct lab_timeline_sums *sums)
{
    if (sums->gap_sum_ns == LAB_UNKNOWN)
        return;
    lab_str_addf(&l->text, "%s gap%s on %s, %s", COUNT(sums->gaps),
                 plural(sums->gaps),
                 l->t->device_count > 1 ? "all GPUs together" : "the GPU",
                 TIME(sums->gap_sum_ns));
    if (sums->gaps)
        lab_str_addf(&l->text, "; longest %s: %s to %s",
                     TIME(sums->gap_longest_ns),
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

static void what_waited(struct lines *l, const struct lab_timeline_sums *sums)
{
    if (sums->kernels == 0)
        return;
    if (sums->latency_median_ns == LAB_UNKNOWN && !has_calls(l->t))
        lab_str_add(&l->text,
                    "launch latency " LAB_NA ": no CUDA calls recorded");
    else
        lab_str_addf(&l->text, "launch latency %s, at most %s",
                     TIME(sums->latency_median_ns), TIME(sums->latency_max_ns));
}

void lab_timeline_summary(const struct lab_timeline *t,
                          const struct lab_timeline_sums *sums,
                          lab_timeline_line_fn *each, void *user)
{
    struct lines l = {.t = t, .each = each, .user = user};
    int64_t left_out = 0;
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        left_out += t->left_out[k];
    what_ran(&l, sums);
    end_line(&l);
    if (left_out)
        lab_str_addf(&l.text,
                     "%s short spans are left out; a smaller part of the time "
                     "shows them",
                     COUNT(left_out));
    end_line(&l);
    for (int32_t i = 0; t->device_count > 1 && i < t->device_count; i++) {
        what_one_did(&l, &t->devices[i]);
        end_line(&l);
    }
    what_stood_idle(&l, sums);
    end_line(&l);
    what_waited(&l, sums);
    end_line(&l);
    lab_str_release(&l.text);
}

/* ---- one span ---- */

static void when(struct lines *l, const struct lab_span *s)
{
    char lane[64];
    char begins[LAB_FORMAT_BYTES];
    int64_t time = lab_span_time(s);
    lab_str_addf(&l->text, "%s: lasts %s, begins at %s, %s of the iteration",
                 lab_lane_name(l->t, s->lane, lane, sizeof(lane)), TIME(time),
                 lab_timeline_moment(l->t, s->start_ns, begins, sizeof(begins)),
                 LAB_SHARE_TEXT(share_of(l->t, time)));
}

static void waited(struct lines *l, const struct lab_span *s)
{
    const struct lab_timeline *t = l->t;
    if (s->kind >= LAB_SPAN_KERNEL) {
        lab_str_addf(&l->text, "launch latency %s", TIME(s->latency_ns));
        if (s->call >= 0)
            lab_str_addf(&l->text, " from %s",
                         lab_intern_text(t->spans[s->call].name));
        lab_str_add(&l->text, "; ");
    }
    lab_str_addf(&l->text, "gap before it %s", TIME(s->gap_ns));
    if (s->gap_ns == LAB_UNKNOWN && s->start_ns != LAB_UNKNOWN)
        lab_str_add(&l->text, t->left_out[s->kind]
                                  ? " (spans are left out)"
                                  : " (the first of its lane)");
}

const char *lab_timeline_phase(int64_t phase)
{
    return phase >= 0 && phase < LAB_PHASE_COUNT
               ? lab_phase_name((enum lab_phase)phase)
               : NULL;
}

static const char *phase_text(int64_t phase)
{
    const char *name = lab_timeline_phase(phase);
    return name ? name : "phase " LAB_NA;
}

static void what_launched(struct lines *l, const struct lab_span *step)
{
    const struct lab_timeline *t = l->t;
    int64_t kernels = 0;
    int64_t busy = LAB_UNKNOWN;
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *o = &t->spans[i];
        if (o->kind != LAB_SPAN_KERNEL || o->exec != step->exec)
            continue;
        kernels++;
        if (lab_span_time(o) != LAB_UNKNOWN)
            busy = lab_span_time(o) + (busy == LAB_UNKNOWN ? 0 : busy);
    }
    if (t->sums.kernels)
        lab_str_addf(&l->text, "; it launched %lld kernel%s",
                     (long long)kernels, plural(kernels));
    if (kernels)
        lab_str_addf(&l->text, " of %s in all", TIME(busy));
}

static void belongs(struct lines *l, const struct lab_span *s)
{
    if (s->kind == LAB_SPAN_STEP) {
        lab_str_add(&l->text, phase_text(s->phase));
        what_launched(l, s);
    } else if (s->step_name) {
        lab_str_addf(&l->text, "belongs to step %s, %s",
                     lab_intern_text(s->step_name), phase_text(s->step_phase));
    } else {
        lab_str_add(&l->text, s->kind == LAB_SPAN_RANGE
                                  ? "a range of the host"
                                  : "belongs to no step of this iteration");
    }
}

/* A launch of a CUDA graph has many kernels, others one. */
static void launched(struct lines *l, int32_t call)
{
    const struct lab_timeline *t = l->t;
    int64_t nodes = 0;
    int32_t one = -1;
    for (int32_t i = 0; i < t->count; i++) {
        if (t->spans[i].call != call)
            continue;
        nodes += t->spans[i].graph_node != LAB_UNKNOWN;
        one = one < 0 ? i : one;
    }
    if (nodes)
        lab_str_addf(&l->text, "launched a CUDA graph: %lld node%s",
                     (long long)nodes, plural(nodes));
    else if (one >= 0)
        lab_str_addf(&l->text, "launched %s",
                     lab_intern_text(t->spans[one].name));
}

static void more(struct lines *l, int32_t span)
{
    const struct lab_span *s = &l->t->spans[span];
    char rate[LAB_FORMAT_BYTES];
    int64_t time = lab_span_time(s);
    if (s->kind == LAB_SPAN_CALL)
        launched(l, span);
    if (s->graph_node != LAB_UNKNOWN)
        lab_str_addf(&l->text, "node %lld of a CUDA graph",
                     (long long)s->graph_node);
    if (s->bytes == LAB_UNKNOWN)
        return;
    lab_str_addf(&l->text, "%s%s", l->text.len ? "; " : "",
                 LAB_BYTES_TEXT((double)s->bytes));
    if (time != LAB_UNKNOWN)
        lab_str_addf(&l->text, ", %s",
                     lab_format_rate((double)s->bytes, (double)time, rate,
                                     sizeof(rate)));
}

void lab_span_lines(const struct lab_timeline *t, int32_t span,
                    lab_timeline_line_fn *each, void *user)
{
    struct lines l = {.t = t, .each = each, .user = user};
    const struct lab_span *s = &t->spans[span];
    when(&l, s);
    end_line(&l);
    waited(&l, s);
    end_line(&l);
    belongs(&l, s);
    end_line(&l);
    more(&l, span);
    end_line(&l);
    lab_str_release(&l.text);
}
