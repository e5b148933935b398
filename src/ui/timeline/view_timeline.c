/* view_timeline.c -- the timeline's screen: lanes of spans and what is chosen of them,
 * where they stand, how they are drawn, and how its keys move. */
#include "ui/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_layout.h"
#include "trace/intern.h"
#include "ui/canvas.h"
#include "report/timeline_text.h"
#include "base/format.h"
#include "base/mem.h"
#include "ui/ui.h"
#include "common/kernel.h"

/* where spans are on the screen, and which part of the
 * time is shown. */

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

static void window_set(struct lab_time_window *w, int64_t from, int64_t to)
{
    int64_t margin = (to - from) / 10;
    w->from = from - margin;
    w->to = to + margin;
    clamp(w);
}

/* ---- columns ---- */

static int time_column(const struct lab_time_window *w, int64_t moment,
                       int columns)
{
    double share = (double)(moment - w->from) / (double)(w->to - w->from);
    double at = share * columns;
    if (at < -1)
        return -1;
    return at > columns ? columns : (int)(at < 0 ? at - 1 : at);
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
            int64_t number = (last > 0 ? last : 0) / unit_of(step, &name);
            int text = snprintf(NULL, 0, "%lld %s  ", (long long)number, name);
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
    int a = time_column(w, s->start_ns, columns);
    int b = time_column(w, s->end_ns > s->start_ns ? s->end_ns - 1 : s->end_ns,
                        columns);
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

static void lane_columns(const struct lab_timeline *t, int32_t lane,
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

/* the timeline's screen: lanes of spans and what is chosen of them,
 * how they are drawn, and how its keys move. */

struct lab_timeline_state {
    const struct lab_runs_model *model;
    int64_t run;
    const struct lab_iteration_row *passes;
    int64_t pass_count;
    int64_t pass;
    const struct lab_timeline *t;  /* the model's */
    struct lab_timeline_sums sums; /* of the whole pass */
    bool part;     /* t is not all of it: what is in sight was read anew */
    bool crowded;  /* all of it is too much to hold */
    bool dateless; /* nothing of it has a moment */
    struct lab_time_window window;
    int32_t lane;
    int32_t chosen; /* a span; -1: none */
    int32_t top;    /* the first lane in sight */
    int32_t
        focus; /* the step with the kernels that are gone through, -1: none */
    struct lab_time_window before;
    int32_t list_of; /* a step, or -1: what it launched is listed, by start */
    int32_t *list;
    int32_t list_count;
    char search[128];
    struct lab_timeline_layout place; /* of the last drawing */
};

enum { MAX_COLUMNS = 512, TEXT = 160 };

static enum lab_role role_of(enum lab_span_kind kind)
{
    static const enum lab_role roles[LAB_SPAN_KIND_COUNT] = {
        [LAB_SPAN_STEP] = LAB_ROLE_HEADING,
        [LAB_SPAN_RANGE] = LAB_ROLE_NORMAL,
        [LAB_SPAN_CALL] = LAB_ROLE_SERIES_2,
        [LAB_SPAN_KERNEL] = LAB_ROLE_SERIES_1,
        [LAB_SPAN_COPY] = LAB_ROLE_SERIES_3,
        [LAB_SPAN_SET] = LAB_ROLE_SERIES_3};
    return roles[kind];
}

/* While a step's kernels are looked at, all else steps back. */
static enum lab_role span_role(const struct lab_timeline_state *st,
                               int32_t span)
{
    const struct lab_span *s = &st->t->spans[span];
    if (st->focus >= 0 && span != st->focus && s->step != st->focus)
        return LAB_ROLE_DIM;
    return role_of(s->kind);
}

static const struct lab_span *
timeline_chosen(const struct lab_timeline_state *st)
{
    return st->chosen < 0 ? NULL : &st->t->spans[st->chosen];
}

/* ---- lines of text ---- */

struct page {
    struct lab_canvas *c;
    struct lab_rect r; /* what is left of it */
};

static void add_line(void *user, const char *line)
{
    struct page *p = user;
    struct lab_rect row = lab_rect_cut_top(&p->r, 1);
    if (row.h > 0)
        lab_canvas_text_cut(p->c, row.y, row.x, row.w, LAB_ROLE_NORMAL, line);
}

static void draw_summary(const struct lab_timeline_state *st,
                         struct lab_canvas *c)
{
    struct page p = {c, st->place.summary};
    lab_timeline_summary(st->t, &st->sums, add_line, &p);
}

static void draw_details(const struct lab_timeline_state *st,
                         struct lab_canvas *c)
{
    struct lab_rect r = st->place.details;
    char title[TEXT] = "nothing is chosen";
    if (lab_rect_empty(r))
        return;
    if (st->chosen >= 0) {
        const struct lab_span *s = &st->t->spans[st->chosen];
        snprintf(title, sizeof(title), "%s %.120s%s",
                 lab_span_kind_name(s->kind), lab_intern_text(s->name),
                 s->graph_node == LAB_UNKNOWN ? "" : " (graph node)");
    }
    lab_canvas_heading(c, &r, title, false);
    struct page p = {c, r};
    if (st->chosen >= 0)
        lab_span_lines(st->t, st->chosen, add_line, &p);
}

/* ---- the axis ---- */

static void draw_axis(const struct lab_timeline_state *st, struct lab_canvas *c)
{
    const struct lab_rect *r = &st->place.axis;
    const struct lab_time_window *w = &st->window;
    char text[LAB_TICK_BYTES];
    int64_t origin = w->least;
    if (lab_rect_empty(*r))
        return;
    if (st->dateless) {
        lab_canvas_text(c, r->y, r->x, r->w, LAB_ROLE_WARN,
                        "no moments were recorded");
        return;
    }
    int64_t step = lab_tick_step(w, origin, r->w);
    int64_t at = w->from > origin ? (w->from - origin + step - 1) / step : 0;
    for (; origin + at * step < w->to; at++) {
        int x = time_column(w, origin + at * step, r->w);
        if (x < 0)
            continue;
        int left = r->w - x;
        lab_canvas_text(c, r->y, r->x + x, 1, LAB_ROLE_DIM, "|");
        lab_tick_text(at * step, step, text);
        if ((int)strlen(text) < left)
            lab_canvas_text(c, r->y, r->x + x + 1, left - 1, LAB_ROLE_DIM,
                            text);
    }
}

/* Where the chosen span is: under the axis, so that it is seen without colour;
 * an arrow to where it is out of sight. */
static void draw_pointer(const struct lab_timeline_state *st,
                         struct lab_canvas *c)
{
    const struct lab_rect *r = &st->place.axis;
    int first;
    int last;
    if (r->h < 2 || st->chosen < 0)
        return;
    const struct lab_span *s = &st->t->spans[st->chosen];
    int y = r->y + 1;
    if (s->start_ns == LAB_UNKNOWN)
        return;
    if (!lab_span_columns(s, &st->window, r->w, &first, &last)) {
        bool left = s->start_ns < st->window.from;
        lab_canvas_text(c, y, left ? r->x : r->x + r->w - 1, 1, LAB_ROLE_KEY,
                        left ? "<" : ">");
        return;
    }
    for (int x = first; x <= last; x++)
        lab_canvas_text(c, y, r->x + x, 1, LAB_ROLE_KEY,
                        x == first || x == last ? "v" : "-");
    lab_canvas_focus(c, y, r->x + first);
}

/* ---- lanes ---- */

struct lane_row {
    const struct lab_timeline_state *st;
    struct lab_canvas *c;
    int y;
    int x;
    int w;
};

static void draw_narrow(const struct lane_row *row, int32_t lane)
{
    static const char *const shades[] = {"░", "▒", "▓", "█"};
    static const char *const plain[] = {".", ":", "+", "#"};
    struct lab_lane_column columns[MAX_COLUMNS];
    lane_columns(row->st->t, lane, &row->st->window, columns, row->w);
    for (int x = 0; x < row->w; x++) {
        const struct lab_lane_column *k = &columns[x];
        if (k->span < 0)
            continue;
        int level = k->share >= 0.75 ? 3 : (int)(k->share * 4);
        lab_canvas_text(row->c, row->y, row->x + x, 1,
                        span_role(row->st, k->span),
                        row->c->ascii ? plain[level] : shades[level]);
    }
}

/* [name===], with < and > where it goes on out of sight, and ~ for a node of a
 * CUDA graph. */
static void draw_wide(const struct lane_row *row, int32_t span, int first,
                      int last)
{
    const struct lab_timeline_state *st = row->st;
    const struct lab_span *s = &st->t->spans[span];
    enum lab_role role = span_role(st, span);
    struct lab_rect inside = {row->y, row->x + first + 1, 1, last - first - 1};
    lab_canvas_text(row->c, row->y, row->x + first, 1, role,
                    s->start_ns < st->window.from ? "<" : "[");
    lab_canvas_fill(row->c, inside, s->graph_node == LAB_UNKNOWN ? "=" : "~",
                    role);
    lab_canvas_text_cut(row->c, row->y, inside.x, inside.w, role,
                        lab_intern_text(s->name));
    lab_canvas_text(row->c, row->y, row->x + last, 1, role,
                    s->end_ns > st->window.to ? ">" : "]");
}

static void draw_spans(const struct lane_row *row, int32_t lane)
{
    const struct lab_timeline_state *st = row->st;
    int32_t count;
    int first;
    int last;
    draw_narrow(row, lane);
    int32_t from =
        lab_lane_find(st->t, lane, st->window.from, st->window.to, &count);
    for (int32_t i = from; i < from + count; i++)
        if (lab_span_columns(&st->t->spans[i], &st->window, row->w, &first,
                             &last) &&
            last - first + 1 >= LAB_SPAN_WIDE)
            draw_wide(row, i, first, last);
    if (st->chosen >= 0 && st->t->spans[st->chosen].lane == lane &&
        lab_span_columns(&st->t->spans[st->chosen], &st->window, row->w, &first,
                         &last))
        lab_canvas_paint(
            row->c,
            (struct lab_rect){row->y, row->x + first, 1, last - first + 1},
            LAB_ROLE_SELECTED);
}

static void draw_lanes(struct lab_timeline_state *st, struct lab_canvas *c)
{
    const struct lab_rect *r = &st->place.lanes;
    const struct lab_rect *names = &st->place.labels;
    int w = r->w < MAX_COLUMNS ? r->w : MAX_COLUMNS;
    char name[TEXT];
    if (st->lane < st->top)
        st->top = st->lane;
    if (st->lane >= st->top + r->h)
        st->top = st->lane - r->h + 1;
    for (int i = 0; i < r->h && st->top + i < st->t->lane_count; i++) {
        int32_t lane = st->top + i;
        struct lane_row row = {st, c, r->y + i, r->x, w};
        lab_lane_name(st->t, lane, name, sizeof(name));
        lab_canvas_text(c, row.y, names->x, 1, LAB_ROLE_KEY,
                        lane == st->lane ? ">" : " ");
        lab_canvas_text_cut(c, row.y, names->x + 1, names->w - 2,
                            role_of(st->t->lanes[lane].kind), name);
        if (!st->dateless && w > 0)
            draw_spans(&row, lane);
    }
}

/* ---- what a step launched ---- */

/* Where in the list the chosen span is; -1: it is not of it. */
static int32_t list_place(const struct lab_timeline_state *st)
{
    for (int32_t i = 0; i < st->list_count; i++)
        if (st->list[i] == st->chosen)
            return i;
    return -1;
}

static void list_row(const struct lab_timeline_state *st, struct lab_canvas *c,
                     struct lab_rect r, int32_t span)
{
    enum { NUMBERS = 4 * 11, LANE = 20, NAME = 60 };
    const struct lab_span *s = &st->t->spans[span];
    int lane_w = r.w >= 100 ? LANE : 0;
    int name_w = r.w - 2 - NUMBERS - lane_w;
    name_w = name_w < NAME ? name_w : NAME;
    char text[TEXT];
    char lane[TEXT];
    char number[4][32];
    snprintf(text, sizeof(text), "%s%s", lab_intern_text(s->name),
             s->graph_node == LAB_UNKNOWN ? "" : " ~");
    lab_timeline_moment(st->t, s->start_ns, number[0], sizeof(number[0]));
    lab_format_ns(lab_to_real(lab_span_time(s)), number[1], sizeof(number[1]));
    lab_format_ns(lab_to_real(s->latency_ns), number[2], sizeof(number[2]));
    lab_format_ns(lab_to_real(s->gap_ns), number[3], sizeof(number[3]));
    lab_canvas_text(c, r.y, r.x, 1, LAB_ROLE_KEY,
                    span == st->chosen ? ">" : " ");
    if (name_w > 0)
        lab_canvas_text_cut(c, r.y, r.x + 2, name_w, LAB_ROLE_NORMAL, text);
    for (int i = 0; i < 4 && name_w > 0; i++)
        lab_canvas_textf(c, r.y, r.x + 2 + name_w + 11 * i, 11, LAB_ROLE_NORMAL,
                         "%11s", number[i]);
    if (lane_w)
        lab_canvas_textf(c, r.y, r.x + 3 + name_w + NUMBERS, lane_w - 1,
                         LAB_ROLE_DIM, " %s",
                         lab_lane_name(st->t, s->lane, lane, sizeof(lane)));
    if (span == st->chosen)
        lab_canvas_paint(c, r, LAB_ROLE_SELECTED);
}

static void draw_list(const struct lab_timeline_state *st, struct lab_canvas *c)
{
    struct lab_rect r = st->place.list;
    char title[TEXT];
    int32_t at = list_place(st);
    if (st->list_count == 0 || r.h < 2)
        return;
    snprintf(title, sizeof(title),
             "What %.80s launched (%d): begins, lasts, launch latency, gap",
             lab_intern_text(st->t->spans[st->list_of].name), st->list_count);
    lab_canvas_heading(c, &r, title, st->focus >= 0);
    int32_t top = at < r.h ? 0 : at - r.h + 1;
    for (int i = 0; i < r.h && top + i < st->list_count; i++)
        list_row(st, c, (struct lab_rect){r.y + i, r.x, 1, r.w},
                 st->list[top + i]);
}

static void count_line(void *user, const char *line)
{
    int *lines = user;
    (void)line;
    ++*lines;
}

static int label_width(const struct lab_timeline *t)
{
    char name[TEXT];
    int w = 8;
    for (int32_t i = 0; i < t->lane_count; i++) {
        int n = (int)strlen(lab_lane_name(t, i, name, sizeof(name))) + 3;
        w = n > w ? n : w;
    }
    return w;
}

static void timeline_draw(struct lab_screen *s, struct lab_canvas *c,
                          struct lab_rect body)
{
    struct lab_timeline_state *st = s->state;
    int summary = 0;
    lab_timeline_summary(st->t, &st->sums, count_line, &summary);
    st->place =
        lab_timeline_place(body, summary, st->t->lane_count, label_width(st->t),
                           st->list_count, st->focus >= 0);
    draw_summary(st, c);
    draw_axis(st, c);
    draw_pointer(st, c);
    draw_lanes(st, c);
    draw_list(st, c);
    draw_details(st, c);
}

/* What is chosen on a timeline, and where the keys take it. */

static void timeline_unlist(struct lab_timeline_state *st)
{
    lab_free(st->list);
    st->list = NULL;
    st->list_count = 0;
    st->list_of = st->focus = -1;
}

/* ---- choosing ---- */

static void timeline_choose(struct lab_timeline_state *st, int32_t span)
{
    const struct lab_span *s = &st->t->spans[span];
    st->chosen = span;
    st->lane = s->lane;
    if (s->start_ns != LAB_UNKNOWN)
        lab_window_show(&st->window, s->start_ns, s->end_ns);
}

static bool is_listed(const struct lab_timeline_state *st)
{
    return st->focus >= 0 && st->list_count > 0;
}

/* Along the lane, or along the list of a step. */
static void timeline_move(struct lab_timeline_state *st, int32_t by)
{
    const struct lab_lane *l = &st->t->lanes[st->lane];
    bool listed = is_listed(st);
    int32_t count = listed ? st->list_count : l->count;
    int32_t at = listed ? list_place(st) : st->chosen - l->first;
    at = at < 0 ? 0 : at + by;
    at = at < 0 ? 0 : at >= count ? count - 1 : at;
    timeline_choose(st, listed ? st->list[at] : l->first + at);
}

/* The span of the lane that is nearest to the chosen one's start. */
static void timeline_lane(struct lab_timeline_state *st, int by)
{
    st->focus = -1; /* the list is of the step that is chosen then */
    const struct lab_span *s = timeline_chosen(st);
    int64_t moment =
        s && s->start_ns != LAB_UNKNOWN ? s->start_ns : st->window.from;
    int32_t lanes = st->t->lane_count;
    st->lane = (st->lane + (by + lanes)) % lanes;
    const struct lab_lane *l = &st->t->lanes[st->lane];
    int32_t best = l->first;
    for (int32_t i = 0; i < l->timed; i++) {
        const struct lab_span *o = &st->t->spans[l->first + i];
        if (o->start_ns > moment && i > 0 &&
            o->start_ns - moment > moment - st->t->spans[best].start_ns)
            break;
        best = l->first + i;
    }
    timeline_choose(st, best);
}

/* Forward only: N is "next". */
static bool timeline_search(struct lab_screen *s, const char *text, int dir)
{
    struct lab_timeline_state *st = s->state;
    int32_t n = st->t->count;
    (void)dir;
    if (text[0])
        snprintf(st->search, sizeof(st->search), "%s", text);
    for (int32_t i = 1; i <= n && st->search[0]; i++) {
        int32_t at = (st->chosen + i) % n;
        const char *name = lab_intern_text(st->t->spans[at].name);
        if (strcasestr(name, st->search)) {
            st->focus = -1;
            timeline_choose(st, at);
            return true;
        }
    }
    return false;
}

/* ---- a step and its kernels ---- */

static int compare_starts(const void *a, const void *b, void *user)
{
    const struct lab_timeline *t = user;
    int32_t i = *(const int32_t *)a;
    int32_t j = *(const int32_t *)b;
    const struct lab_span *x = &t->spans[i];
    const struct lab_span *y = &t->spans[j];
    bool later = x->start_ns == LAB_UNKNOWN; /* unknown last */
    if (later != (y->start_ns == LAB_UNKNOWN))
        return later ? 1 : -1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (i > j) - (i < j);
}

static bool launched_by(const struct lab_span *s, int32_t step)
{
    return s->step == step && s->kind >= LAB_SPAN_KERNEL;
}

static enum lab_status timeline_relist(struct lab_timeline_state *st)
{
    const struct lab_timeline *t = st->t;
    const struct lab_span *s = timeline_chosen(st);
    int32_t focus = st->focus;
    int32_t step = focus >= 0 ? focus : s ? s->step : -1;
    int32_t n = 0;
    if (step == st->list_of)
        return LAB_OK;
    timeline_unlist(st);
    st->focus = focus;
    for (int32_t i = 0; i < t->count && step >= 0; i++)
        n += launched_by(&t->spans[i], step);
    if (n == 0) {
        st->list_of = step;
        return LAB_OK;
    }
    st->list = lab_alloc_array((size_t)n, sizeof(*st->list));
    if (!st->list)
        return lab_no_memory("a list");
    for (int32_t i = 0; i < t->count; i++)
        if (launched_by(&t->spans[i], step))
            st->list[st->list_count++] = i;
    qsort_r(st->list, (size_t)n, sizeof(*st->list), compare_starts, (void *)t);
    st->list_of = step;
    return LAB_OK;
}

/* The step and all of its kernels come into sight. */
static enum lab_status open_step(struct lab_timeline_state *st)
{
    int32_t step = st->chosen;
    const struct lab_span *s = &st->t->spans[step];
    int64_t from = s->start_ns;
    int64_t to = s->end_ns;
    enum lab_status status = timeline_relist(st);
    if (status)
        return status;
    if (st->list_count == 0)
        return lab_fail(LAB_E_STATE, "no kernel or copy of this step was "
                                     "recorded");
    st->focus = step;
    for (int32_t i = 0; i < st->list_count; i++) {
        s = &st->t->spans[st->list[i]];
        if (s->start_ns == LAB_UNKNOWN)
            continue;
        from = from == LAB_UNKNOWN || s->start_ns < from ? s->start_ns : from;
        to = s->end_ns > to ? s->end_ns : to;
    }
    st->before = st->window;
    if (from != LAB_UNKNOWN)
        window_set(&st->window, from, to);
    timeline_choose(st, st->list[0]);
    return LAB_OK;
}

static void timeline_back(struct lab_timeline_state *st)
{
    int32_t step = st->focus;
    st->window = st->before;
    st->focus = -1;
    timeline_choose(st, step);
}

static enum lab_status timeline_open(struct lab_timeline_state *st)
{
    const struct lab_span *s = timeline_chosen(st);
    if (st->focus >= 0) {
        timeline_back(st);
        return LAB_OK;
    }
    if (!s)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    if (s->kind == LAB_SPAN_STEP)
        return open_step(st);
    if (s->step < 0)
        return lab_fail(LAB_E_STATE, "it belongs to no step of this iteration");
    timeline_choose(st, s->step);
    return LAB_OK;
}

/* From what was launched to the call, and from the call to that. */
static enum lab_status follow(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_span *at = timeline_chosen(st);
    st->focus = -1;
    if (at && at->call >= 0) {
        timeline_choose(st, at->call);
        return LAB_OK;
    }
    for (int32_t i = 0; at && i < st->t->count; i++)
        if (st->t->spans[i].call == st->chosen) {
            timeline_choose(st, i);
            return LAB_OK;
        }
    return lab_fail(LAB_E_STATE, "no call, or nothing it launched, is known");
}

/* ---- loading ---- */

static void set_bounds(struct lab_timeline_state *st)
{
    const struct lab_timeline *t = st->t;
    st->dateless = t->start_ns == LAB_UNKNOWN || t->end_ns == LAB_UNKNOWN;
    st->window.least = st->dateless ? 0 : t->start_ns;
    st->window.most = st->dateless ? 1 : t->end_ns;
    lab_window_fit(&st->window);
}

static enum lab_status load_pass(struct lab_timeline_state *st, int64_t pass)
{
    const struct lab_timeline *t;
    enum lab_status status = st->model->load_timeline(
        st->model->user, st->run, &st->passes[pass], NULL, &t);
    if (status)
        return status;
    timeline_unlist(st);
    st->t = t;
    st->pass = pass;
    st->sums = t->sums;
    st->part = st->crowded = false;
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        st->crowded = st->crowded || t->left_out[k] > 0;
    st->lane = st->top = 0;
    st->chosen = t->count > 0 ? 0 : -1;
    set_bounds(st);
    return LAB_OK;
}

/* The same span in what was read anew, or none. */
static int32_t find_again(const struct lab_timeline *t, enum lab_span_kind kind,
                          int64_t row)
{
    for (int32_t i = 0; i < t->count; i++)
        if (t->spans[i].kind == kind && t->spans[i].row == row)
            return i;
    return -1;
}

static enum lab_status read_part(struct lab_timeline_state *st,
                                 const struct lab_timeline_filter *filter)
{
    struct lab_span was = st->chosen < 0 ? (struct lab_span){.row = -1}
                                         : st->t->spans[st->chosen];
    int64_t focus = st->focus < 0 ? -1 : st->t->spans[st->focus].row;
    const struct lab_timeline *t;
    enum lab_status status = st->model->load_timeline(
        st->model->user, st->run, &st->passes[st->pass], filter, &t);
    if (status)
        return status;
    timeline_unlist(st);
    if (focus >= 0)
        st->focus = find_again(t, LAB_SPAN_STEP, focus);
    st->t = t;
    st->part = filter != NULL;
    st->chosen = find_again(t, was.kind, was.row);
    st->lane = st->chosen < 0 ? 0 : t->spans[st->chosen].lane;
    return LAB_OK;
}

/* Too many spans for all at once: those in sight are read when the window has
 * left what was read, or is a small part of it. */
static void settle(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_time_window *w = &st->window;
    int64_t span = w->to - w->from;
    if (!st->crowded || st->dateless)
        return;
    bool inside = w->from >= st->t->from_ns && w->to <= st->t->to_ns;
    bool all = w->from <= w->least && w->to >= w->most;
    if (inside && (all || (st->t->to_ns - st->t->from_ns) / 4 <= span))
        return;
    struct lab_timeline_filter filter = {.from_ns = w->from - span,
                                         .to_ns = w->to + span};
    if (filter.from_ns < w->least)
        filter.from_ns = w->least;
    if (filter.to_ns > w->most)
        filter.to_ns = w->most;
    if (read_part(st, all ? NULL : &filter))
        lab_ui_error(s->ui);
}

static int64_t best_pass(const struct lab_timeline_state *st)
{
    int64_t best = 0;
    for (int64_t i = 1; i < st->pass_count; i++)
        if (lab_iteration_prefer(&st->passes[best], &st->passes[i]))
            best = i;
    return best;
}

static void choose_step(struct lab_timeline_state *st,
                        const struct lab_run_args *args)
{
    for (int32_t i = 0; args->step && i < st->t->count; i++) {
        const struct lab_span *s = &st->t->spans[i];
        bool phase =
            !args->phase || s->phase < 0 || s->phase >= LAB_PHASE_COUNT ||
            strcmp(lab_phase_name((enum lab_phase)s->phase), args->phase) == 0;
        if (s->kind == LAB_SPAN_STEP && phase &&
            strcmp(lab_intern_text(s->name), args->step) == 0) {
            st->chosen = i;
            return;
        }
    }
}

static enum lab_status init(struct lab_screen *s, const void *given)
{
    const struct lab_run_args *args = given;
    struct lab_timeline_state *st = s->state;
    st->model = args->model;
    st->run = args->run.id;
    st->focus = st->list_of = st->chosen = -1;
    if (!st->model->load_passes || !st->model->load_timeline)
        return lab_fail(LAB_E_STATE, "there is no timeline here");
    enum lab_status status = st->model->load_passes(
        st->model->user, st->run, &st->passes, &st->pass_count);
    if (status)
        return status;
    if (st->pass_count == 0)
        return lab_fail(LAB_E_STATE,
                        "this run has no recorded steps or kernels");
    status = load_pass(st, best_pass(st));
    if (!status)
        choose_step(st, args);
    return status ? status : timeline_relist(st);
}

static void release(struct lab_screen *s)
{
    timeline_unlist(s->state);
}

/* ---- keys ---- */

/* Half of the time around what is chosen, by -1 twice the time. */
static enum lab_status zoom(struct lab_screen *s, int by)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_span *at = timeline_chosen(st);
    int64_t centre = -1;
    if (at && at->start_ns != LAB_UNKNOWN)
        centre = at->start_ns + (at->end_ns - at->start_ns) / 2;
    lab_window_zoom(&st->window, centre, by < 0 ? 2 : 1, by < 0 ? 1 : 2);
    return LAB_OK;
}

static enum lab_status fit(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    lab_window_fit(&st->window);
    return LAB_OK;
}

static enum lab_status zoom_span(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_span *at = timeline_chosen(st);
    if (at && at->start_ns != LAB_UNKNOWN)
        window_set(&st->window, at->start_ns, at->end_ns);
    return LAB_OK;
}

static enum lab_status go_along(struct lab_screen *s, int by)
{
    struct lab_timeline_state *st = s->state;
    if (st->t->lane_count > 0)
        timeline_move(st, by);
    return LAB_OK;
}

static enum lab_status turn_to(struct lab_screen *s, int by)
{
    struct lab_timeline_state *st = s->state;
    int64_t pass = st->pass + by;
    if (pass < 0 || pass >= st->pass_count)
        return lab_fail(LAB_E_STATE, "no iteration was recorded %s this one",
                        pass < 0 ? "before" : "after");
    return load_pass(st, pass);
}

/* Where kernels are left out, those of the step are read first. */
static enum lab_status open_chosen(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_span *step = timeline_chosen(st);
    struct lab_time_window before = st->window;
    if (!st->crowded || st->focus >= 0 || !step ||
        step->kind != LAB_SPAN_STEP || step->start_ns == LAB_UNKNOWN)
        return timeline_open(st);
    window_set(&st->window, step->start_ns, step->end_ns);
    settle(s);
    enum lab_status status = timeline_open(st);
    st->before = before;
    if (status)
        st->window = before;
    return status;
}

static enum lab_status subject(struct lab_screen *s, enum lab_subject of,
                               struct lab_run_args *out)
{
    const struct lab_timeline_state *st = s->state;
    const struct lab_span *k = timeline_chosen(st);
    (void)of;
    if (!k || k->kind != LAB_SPAN_KERNEL)
        return lab_fail(LAB_E_STATE, "what if is asked of a kernel: choose one "
                                     "(Enter lists those of a step)");
    out->model = st->model;
    out->run.id = st->run;
    out->launch = k->row;
    return LAB_OK;
}

/* Sideways and by pages the time moves, up and down the lanes. */
static bool act(struct lab_screen *s, int action)
{
    struct lab_timeline_state *st = s->state;
    bool any = st->t->lane_count > 0;
    bool back = action == LAB_ACT_LEFT || action == LAB_ACT_PAGE_UP ||
                action == LAB_ACT_UP || action == LAB_ACT_PREV_PANE;
    int by = back ? -1 : 1;
    switch (action) {
    case LAB_ACT_LEFT:
    case LAB_ACT_RIGHT:
        lab_window_pan(&st->window, by, 4);
        return true;
    case LAB_ACT_PAGE_UP:
    case LAB_ACT_PAGE_DOWN:
        lab_window_pan(&st->window, by, 1);
        return true;
    case LAB_ACT_FIRST:
    case LAB_ACT_LAST:
        if (any)
            timeline_move(st, action == LAB_ACT_FIRST ? INT32_MIN / 2
                                                      : INT32_MAX / 2);
        return any;
    case LAB_ACT_UP:
    case LAB_ACT_DOWN:
        if (any && is_listed(st))
            timeline_move(st, by);
        else if (any)
            timeline_lane(st, by);
        return any;
    case LAB_ACT_NEXT_PANE:
    case LAB_ACT_PREV_PANE:
        if (any)
            timeline_lane(st, by);
        return any;
    case LAB_ACT_CANCEL:
        if (st->focus >= 0)
            timeline_back(st);
        else
            lab_ui_pop(s->ui);
        return true;
    default:
        return false;
    }
}

static void after(struct lab_screen *s)
{
    settle(s);
    if (timeline_relist(s->state))
        lab_ui_error(s->ui);
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_rect *r = &st->place.lanes;
    int32_t count;
    if (what != LAB_MOUSE_CLICK || !lab_rect_has(*r, y, x))
        return false;
    int32_t lane = st->top + y - r->y;
    if (lane >= st->t->lane_count)
        return false;
    int32_t first =
        lab_lane_find(st->t, lane, st->window.from, st->window.to, &count);
    for (int32_t i = first + count - 1; i >= first; i--) {
        int a;
        int b;
        if (lab_span_columns(&st->t->spans[i], &st->window, r->w, &a, &b) &&
            x - r->x >= a && x - r->x <= b) {
            st->focus = -1;
            timeline_choose(st, i);
            return true;
        }
    }
    return false;
}

static void title(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_timeline_state *st = s->state;
    if (st->t->of.iteration == LAB_UNKNOWN)
        snprintf(out, cap, "Timeline of run %lld", (long long)st->run);
    else
        snprintf(out, cap,
                 "Timeline of run %lld, iteration %lld (%lld of %lld)%s",
                 (long long)st->run, (long long)st->t->of.iteration,
                 (long long)st->pass + 1, (long long)st->pass_count,
                 st->pass_count > 1 ? ", [ and ]" : "");
}

static const struct lab_binding BINDINGS[] = {
    {"+ =", true, "zoom", "half of the time, twice as large", LAB_ACT_OWN, NULL,
     zoom, 1},
    {"-", true, "out", "twice the time", LAB_ACT_OWN, NULL, zoom, -1},
    {"z", true, "fit", "the whole iteration", LAB_ACT_OWN, fit},
    {"Z", false, "to it", "zoom to what is chosen", LAB_ACT_OWN, zoom_span},
    {"Left h", false, "earlier", "earlier times", LAB_ACT_LEFT},
    {"Right l", false, "later", "later times", LAB_ACT_RIGHT},
    {"n", true, "next", "the next of its lane, or of the list", LAB_ACT_OWN,
     NULL, go_along, 1},
    {"p", false, "before", "the one before it", LAB_ACT_OWN, NULL, go_along,
     -1},
    {"Up k", false, "up", "the lane above, or the one before in the list",
     LAB_ACT_UP},
    {"Down j", false, "down", "the lane below, or the next in the list",
     LAB_ACT_DOWN},
    {"Tab", true, "lane", "the next lane, out of a list", LAB_ACT_NEXT_PANE},
    {"Enter", true, "kernels", "from a step to what it launched, and back",
     LAB_ACT_OPEN, open_chosen},
    LAB_VIEWS_OF_KERNEL,
    {"]", false, "iteration on", "the next recorded iteration", LAB_ACT_OWN,
     NULL, turn_to, 1},
    {"[", false, "iteration back", "the one before", LAB_ACT_OWN, NULL, turn_to,
     -1},
    {"/ F3", true, "search", "search for a name", LAB_ACT_SEARCH},
    /* After what 80 columns have room for: without --trace on there is none. */
    {"c", true, "call", "from a kernel to its call, and back", LAB_ACT_OWN,
     follow},
    {"N", false, "next match", "the next with that name", LAB_ACT_SEARCH_NEXT},
    {"Esc", false, "back", "to the step, or close", LAB_ACT_CANCEL},
    {NULL}};

static const struct lab_sign SIGNS[] = {
    {"[name===]", "one span, from its begin to its end"},
    {"[name~~~]", "the same of a node of a CUDA graph"},
    {"<  >", "it goes on out of sight"},
    {"░ ▒ ▓ █", "several spans, or one too short for its name: how much of the "
                "column's time they fill, up to 25, 50, 75 and 100 % (.:+# in "
                "ASCII)"},
    {"v---v", "over the lanes: where the chosen span is"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_timeline = {
    .name = "timeline",
    .title = "Timeline",
    .state_bytes = sizeof(struct lab_timeline_state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = timeline_draw,
    .action = act,
    .subject = subject,
    .search = timeline_search,
    .place = "iteration",
    .after = after,
    .mouse = mouse,
    .title_now = title,
    .signs = SIGNS,
};
