/* timeline_layout.c -- where spans are on the screen, and which part of the
 * time is shown. */
#include "timeline_layout.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_NS = 20 }; /* a window is not narrower */

/* ---- places ---- */

struct lab_timeline_layout lab_timeline_place(struct lab_rect body, int summary,
                                              int32_t lanes, int label_w,
                                              int64_t listed, bool must)
{
    enum { AXIS = 2, DETAILS = 5, SHORT = 3, LIST = 4, LANES = 2 };
    struct lab_timeline_layout l;
    bool small = body.h < summary + AXIS + DETAILS + 6;
    memset(&l, 0, sizeof(l));
    l.summary = lab_rect_cut_top(&body, small && summary > 2 ? 2 : summary);
    l.details = lab_rect_cut_bottom(&body, small ? SHORT : DETAILS);
    int w = label_w < body.w / 3 ? label_w : body.w / 3;
    int room = body.h - AXIS - (lanes < body.h ? lanes : body.h) - 1;
    int want = listed < 1000 ? (int)listed + 1 : 1000; /* and the heading */
    if (must && room < LIST)
        room = LIST < body.h - AXIS - LANES ? LIST : body.h - AXIS - LANES;
    if (listed > 0 && (must || room >= LIST))
        l.list = lab_rect_cut_bottom(&body, room < want ? room : want);
    l.axis = lab_rect_cut_top(&body, AXIS);
    lab_rect_cut_left(&l.axis, w);
    l.labels = lab_rect_cut_left(&body, w);
    l.lanes = body;
    return l;
}

/* ---- the window ---- */

void lab_window_fit(struct lab_time_window *w)
{
    w->from = w->least;
    w->to = w->most;
    if (w->to - w->from < LEAST_NS)
        w->to = w->from + LEAST_NS;
}

/* Moves it into the bounds; a wider one becomes all of them. */
static void clamp(struct lab_time_window *w)
{
    if (w->to - w->from < LEAST_NS)
        w->to = w->from + LEAST_NS;
    if (w->to - w->from >= w->most - w->least) {
        lab_window_fit(w);
        return;
    }
    int64_t off = w->from < w->least ? w->least - w->from
                  : w->to > w->most  ? w->most - w->to
                                     : 0;
    w->from += off;
    w->to += off;
}

/* v * num / den without overflow for any part of a window. */
static int64_t part(int64_t v, int num, int den)
{
    return v / den * num + v % den * num / den;
}

void lab_window_zoom(struct lab_time_window *w, int64_t centre, int num,
                     int den)
{
    int64_t span = w->to - w->from;
    int64_t next = part(span, num, den);
    if (next < LEAST_NS)
        next = LEAST_NS;
    if (centre < w->from || centre > w->to)
        centre = w->from + span / 2;
    /* The centre keeps its place on the screen. */
    double left = (double)(centre - w->from) / (double)span;
    w->from = centre - (int64_t)(left * (double)next);
    w->to = w->from + next;
    clamp(w);
}

void lab_window_pan(struct lab_time_window *w, int num, int den)
{
    int64_t by = part(w->to - w->from, num, den);
    if (by == 0)
        by = num < 0 ? -1 : 1;
    w->from += by;
    w->to += by;
    clamp(w);
}

void lab_window_show(struct lab_time_window *w, int64_t from, int64_t to)
{
    int64_t span = w->to - w->from;
    if (from >= w->from && to <= w->to)
        return;
    if (to - from > span) { /* its beginning */
        if (from < w->from || from >= w->to) {
            w->from = from - span / 10;
            w->to = w->from + span;
        }
    } else {
        w->from = from + (to - from) / 2 - span / 2;
        w->to = w->from + span;
    }
    clamp(w);
}

void lab_window_set(struct lab_time_window *w, int64_t from, int64_t to)
{
    int64_t margin = (to - from) / 10;
    w->from = from - margin;
    w->to = to + margin;
    clamp(w);
}

/* ---- columns ---- */

int lab_time_column(const struct lab_time_window *w, int64_t moment,
                    int columns)
{
    double share = (double)(moment - w->from) / (double)(w->to - w->from);
    double at = share * columns;
    if (at < -1)
        return -1;
    return at > columns ? columns : (int)(at < 0 ? at - 1 : at);
}

static int digits(int64_t v)
{
    int n = 1;
    for (; v >= 10; v /= 10)
        n++;
    return n;
}

static int64_t unit_of(int64_t step, const char **name)
{
    static const char *const names[] = {"ns", "us", "ms", "s"};
    int64_t unit = 1;
    int i = 0;
    for (; i < 3 && step % 1000 == 0; i++) {
        step /= 1000;
        unit *= 1000;
    }
    *name = names[i];
    return unit;
}

int64_t lab_tick_step(const struct lab_time_window *w, int64_t origin,
                      int columns)
{
    int64_t span = w->to - w->from;
    for (int64_t ten = 1; ten < INT64_MAX / 100; ten *= 10) {
        static const int64_t times[] = {1, 2, 5};
        for (int i = 0; i < 3; i++) {
            const char *name;
            int64_t step = ten * times[i];
            int64_t last = w->to - origin;
            int text = digits((last > 0 ? last : 0) / unit_of(step, &name)) +
                       1 + (int)strlen(name) + 2;
            if ((double)step * columns >= (double)span * text)
                return step;
        }
    }
    return INT64_MAX / 100;
}

const char *lab_tick_text(int64_t ns, int64_t step, char out[LAB_TICK_BYTES])
{
    const char *name;
    int64_t unit = unit_of(step, &name);
    if (ns == 0)
        snprintf(out, LAB_TICK_BYTES, "0");
    else
        snprintf(out, LAB_TICK_BYTES, "%lld %s", (long long)(ns / unit), name);
    return out;
}

bool lab_span_columns(const struct lab_span *s, const struct lab_time_window *w,
                      int columns, int *first, int *last)
{
    bool touches = s->start_ns != LAB_UNKNOWN && s->start_ns < w->to &&
                   (s->end_ns > w->from ||
                    (s->end_ns == s->start_ns && s->end_ns == w->from));
    if (!touches || columns <= 0)
        return false;
    int a = lab_time_column(w, s->start_ns, columns);
    int b = lab_time_column(
        w, s->end_ns > s->start_ns ? s->end_ns - 1 : s->end_ns, columns);
    *first = a < 0 ? 0 : a >= columns ? columns - 1 : a;
    *last = b < *first ? *first : b >= columns ? columns - 1 : b;
    return true;
}

/* A span's time in the columns that it touches. */
static void cover(const struct lab_span *s, int32_t index,
                  const struct lab_time_window *w, struct lab_lane_column *out,
                  int columns, int first, int last)
{
    double each = (double)(w->to - w->from) / columns;
    for (int x = first; x <= last; x++) {
        double from = (double)(s->start_ns - w->from) - each * x;
        double to = (double)(s->end_ns - w->from) - each * x;
        from = from > 0 ? from : 0;
        to = to < each ? to : each;
        double share = to > from ? (to - from) / each : 0;
        if (out[x].span < 0)
            out[x].span = index;
        out[x].share += share;
        if (out[x].share > 1)
            out[x].share = 1;
    }
}

void lab_lane_columns(const struct lab_timeline *t, int32_t lane,
                      const struct lab_time_window *w,
                      struct lab_lane_column *out, int columns)
{
    int32_t count;
    int32_t from = lab_lane_find(t, lane, w->from, w->to, &count);
    for (int x = 0; x < columns; x++)
        out[x] = (struct lab_lane_column){0, -1};
    for (int32_t i = from; i < from + count; i++) {
        int a;
        int b;
        if (lab_span_columns(&t->spans[i], w, columns, &a, &b) &&
            b - a + 1 < LAB_SPAN_WIDE)
            cover(&t->spans[i], i, w, out, columns, a, b);
    }
}
