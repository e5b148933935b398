/* view_timeline.c -- the timeline's screen: lanes of spans and what is chosen of them,
 * where they stand, how they are drawn, and how its keys move. */
#include "ui/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_layout.h"
#include "trace/intern.h"
#include "ui/canvas.h"
#include "ui/chart.h"
#include "report/palette.h"
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

enum { MAX_LANES = 128 }; /* in sight */

/* What the kernels of one name take together. */
struct name {
    uint32_t name; /* trace/intern.h */
    int64_t ns;
};

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
    struct name *names; /* of kernels, the longest in sum first */
    int32_t name_count;
    int64_t mark[2];                  /* moments; LAB_UNKNOWN: not set */
    struct lab_timeline_layout place; /* of the last drawing */
    int lane_h[MAX_LANES];            /* rows of the lanes from `top` on */
    struct lab_rect map;
};

enum { MAX_COLUMNS = 512, TEXT = 160 };

/* How something is drawn: in colours behind its text, or of its text alone. */
struct paint {
    enum lab_role role;
    enum lab_tint tint;
};

static enum lab_role role_of(enum lab_span_kind kind)
{
    static const enum lab_role roles[LAB_SPAN_KIND_COUNT] = {
        [LAB_SPAN_STEP] = LAB_ROLE_HEADING,
        [LAB_SPAN_RANGE] = LAB_ROLE_NORMAL,
        [LAB_SPAN_CALL] = LAB_ROLE_HOST,
        [LAB_SPAN_KERNEL] = LAB_ROLE_SERIES_1,
        [LAB_SPAN_COPY] = LAB_ROLE_MEMORY,
        [LAB_SPAN_SET] = LAB_ROLE_MEMORY};
    return roles[kind];
}

/* ---- a colour for each name of a kernel ---- */

static int compare_names(const void *a, const void *b)
{
    const struct name *x = a;
    const struct name *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* The place of a name; -1: it has none. */
static int32_t find_name(const struct lab_timeline_state *st, uint32_t name)
{
    for (int32_t i = 0; i < st->name_count; i++)
        if (st->names[i].name == name)
            return i;
    return -1;
}

/* Of a whole pass: its colours stay when a part of it is read. */
static enum lab_status take_names(struct lab_timeline_state *st)
{
    const struct lab_timeline *t = st->t;
    lab_free(st->names);
    st->name_count = 0;
    st->names = lab_alloc_array((size_t)t->count + 1, sizeof(*st->names));
    if (!st->names)
        return lab_no_memory("the names of kernels");
    for (int32_t i = 0; i < t->count; i++) {
        const struct lab_span *s = &t->spans[i];
        int64_t ns = lab_span_time(s);
        if (s->kind != LAB_SPAN_KERNEL)
            continue;
        int32_t at = find_name(st, s->name);
        if (at < 0)
            st->names[at = st->name_count++] = (struct name){s->name, 0};
        st->names[at].ns += ns > 0 ? ns : 0;
    }
    qsort(st->names, (size_t)st->name_count, sizeof(*st->names), compare_names);
    return LAB_OK;
}

/* The letter of a name, where a span has no room for it; '+': a further one. */
static char name_letter(int32_t name)
{
    return (char)(name < 0 ? ' ' : name < LAB_TINT_NAMES ? 'a' + name : '+');
}

static struct paint paint_of_name(int32_t name)
{
    bool has = name >= 0 && name < LAB_TINT_NAMES;
    if (!has)
        return (struct paint){LAB_ROLE_NORMAL, LAB_TINT_OTHER};
    return (struct paint){(enum lab_role)(LAB_ROLE_SERIES_1 + name % 6),
                          (enum lab_tint)(LAB_TINT_NAME + name)};
}

static bool is_match(const struct lab_timeline_state *st, int32_t span)
{
    return st->search[0] &&
           strcasestr(lab_intern_text(st->t->spans[span].name), st->search);
}

/* While a step's kernels are looked at, all else steps back. */
static struct paint span_paint(const struct lab_timeline_state *st,
                               int32_t span)
{
    const struct lab_span *s = &st->t->spans[span];
    enum lab_role role = role_of(s->kind);
    if (is_match(st, span))
        return (struct paint){LAB_ROLE_MARK, LAB_TINT_MARK};
    if (st->focus >= 0 && span != st->focus && s->step != st->focus)
        return (struct paint){LAB_ROLE_DIM, LAB_TINT_PANEL};
    if (s->kind == LAB_SPAN_KERNEL)
        return paint_of_name(find_name(st, s->name));
    if (s->kind == LAB_SPAN_RANGE)
        return (struct paint){role, LAB_TINT_CURSOR};
    if (s->kind == LAB_SPAN_STEP && s->phase >= 0 && s->phase < LAB_PHASE_COUNT)
        role = lab_role_of_phase((enum lab_phase)s->phase);
    enum lab_tint tint = lab_tint_of_role(role);
    return (struct paint){role, tint ? tint : LAB_TINT_OTHER};
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

/* The time from one mark to the other, or to what is chosen. */
static int ruler_text(const struct lab_timeline_state *st, char *out,
                      size_t cap)
{
    const struct lab_span *s = timeline_chosen(st);
    int64_t to = st->mark[1] != LAB_UNKNOWN ? st->mark[1]
                 : s                        ? s->start_ns
                                            : LAB_UNKNOWN;
    if (st->mark[0] == LAB_UNKNOWN || to == LAB_UNKNOWN)
        return 0;
    return snprintf(out, cap, "A to %s %s%s; ",
                    st->mark[1] != LAB_UNKNOWN ? "B" : "here",
                    LAB_NS_TEXT(fabs(lab_to_real(to - st->mark[0]))),
                    st->t->pauses ? ", pauses shortened" : "");
}

static void draw_details(const struct lab_timeline_state *st,
                         struct lab_canvas *c)
{
    struct lab_rect r = st->place.details;
    char title[TEXT + 64];
    if (lab_rect_empty(r))
        return;
    int n = ruler_text(st, title, sizeof(title));
    if (st->chosen >= 0) {
        const struct lab_span *s = &st->t->spans[st->chosen];
        snprintf(title + n, sizeof(title) - (size_t)n, "%s %.120s%s",
                 lab_span_kind_name(s->kind), lab_intern_text(s->name),
                 s->graph_node == LAB_UNKNOWN ? "" : " (graph node)");
    } else {
        snprintf(title + n, sizeof(title) - (size_t)n, "nothing is chosen");
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

/* The column of a moment in sight; -1: it is not. */
static int column_of(const struct lab_timeline_state *st, int64_t moment)
{
    const struct lab_time_window *w = &st->window;
    int columns = st->place.axis.w;
    if (moment == LAB_UNKNOWN || moment < w->from || moment > w->to)
        return -1;
    int x = time_column(w, moment, columns);
    return x < columns ? x : columns - 1;
}

/* The ruler's ends, dots between them, and where pauses were closed. */
static void draw_marks(const struct lab_timeline_state *st,
                       struct lab_canvas *c)
{
    const struct lab_rect *r = &st->place.axis;
    int64_t from = st->mark[0];
    int64_t to = st->mark[1];
    int y = r->y + 1;
    if (r->h < 2)
        return;
    for (int32_t i = 0; i < st->t->pauses; i++) {
        int x = column_of(st, st->t->pause_ns[i]);
        if (x >= 0)
            lab_canvas_text(c, y, r->x + x, 1, LAB_ROLE_WARN, "≈");
    }
    if (from != LAB_UNKNOWN && to != LAB_UNKNOWN && to != from) {
        struct lab_span between = {.start_ns = from < to ? from : to,
                                   .end_ns = from < to ? to : from};
        int first;
        int last;
        if (lab_span_columns(&between, &st->window, r->w, &first, &last))
            lab_canvas_fill(
                c, (struct lab_rect){y, r->x + first, 1, last - first + 1}, "·",
                LAB_ROLE_MARK);
    }
    for (int i = 0; i < 2; i++) {
        int x = column_of(st, st->mark[i]);
        if (x >= 0)
            lab_canvas_text(c, y, r->x + x, 1, LAB_ROLE_MARK, i ? "B" : "A");
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
    int h; /* rows */
};

/* One column of short spans. Where the lane is high, the part of the time that
 * they fill is filled of it. */
static void draw_column(const struct lane_row *row, int x,
                        const struct lab_lane_column *k)
{
    static const char *const shades[] = {"░", "▒", "▓", "█"};
    static const char *const plain[] = {".", ":", "+", "#"};
    struct paint p = span_paint(row->st, k->span);
    int level = k->share >= 0.75 ? 3 : (int)(k->share * 4);
    bool high = row->h > 1 && !row->c->ascii;
    int full = (int)(k->share * row->h * 8 + 0.5);
    full = full > 0 ? full : 1;
    for (int i = 0; i < row->h; i++) {
        int y = row->y + row->h - 1 - i;
        int here = full - 8 * i;
        const char *cell = row->c->ascii ? plain[level] : shades[level];
        if (p.role == LAB_ROLE_MARK && i == 0 && !row->c->tints)
            lab_canvas_text(row->c, y, x, 1, p.role, "*");
        else if (high)
            lab_column_draw(row->c, y, x, here, p.role);
        else
            lab_canvas_text(row->c, y, x, 1, p.role, cell);
        lab_canvas_ink(row->c, (struct lab_rect){y, x, 1, 1}, p.tint);
    }
}

static void draw_narrow(const struct lane_row *row, int32_t lane)
{
    struct lab_lane_column columns[MAX_COLUMNS];
    lane_columns(row->st->t, lane, &row->st->window, columns, row->w);
    for (int x = 0; x < row->w; x++) {
        if (columns[x].span >= 0)
            draw_column(row, row->x + x, &columns[x]);
    }
}

/* Under a name: its sign, a step's phase, and the time, where there is room. */
static void draw_second(const struct lane_row *row, int32_t span,
                        struct lab_rect inside)
{
    const struct lab_span *s = &row->st->t->spans[span];
    enum lab_role role = span_paint(row->st, span).role;
    bool phase =
        s->kind == LAB_SPAN_STEP && s->phase >= 0 && s->phase < LAB_PHASE_COUNT;
    char text[LAB_FORMAT_BYTES + 4];
    char sign = s->kind == LAB_SPAN_KERNEL
                    ? name_letter(find_name(row->st, s->name))
                : phase ? lab_phase_letter((enum lab_phase)s->phase)[0]
                        : ' ';
    int n = snprintf(text, sizeof(text), "%c ", sign);
    int skip = sign == ' ' ? n : 0;
    snprintf(text + n, sizeof(text) - (size_t)n, "%s",
             LAB_NS_TEXT(lab_to_real(lab_span_time(s))));
    if (lab_canvas_columns(row->c, text + skip) > inside.w)
        text[n] = '\0';
    lab_canvas_text(row->c, row->y + 1, inside.x, inside.w, role, text + skip);
}

/* [name  ], with < and > where it goes on out of sight, and ~ for a node of a
 * CUDA graph; a match is {name  }. With tints a block of colour, else edges, and below the
 * words, which a sign would hide, a shade. */
static void draw_wide(const struct lane_row *row, int32_t span, int first,
                      int last)
{
    enum { WORDS = 2 }; /* rows */
    const struct lab_timeline_state *st = row->st;
    const struct lab_span *s = &st->t->spans[span];
    struct lab_canvas *c = row->c;
    struct paint p = span_paint(st, span);
    bool match = p.role == LAB_ROLE_MARK;
    struct lab_rect all = {row->y, row->x + first, row->h, last - first + 1};
    struct lab_rect inside = {row->y, all.x + 1, row->h, all.w - 2};
    const char *begin = match ? "{" : !c->ascii ? "▏" : "[";
    const char *end = match ? "}" : c->tints ? " " : !c->ascii ? "▕" : "]";
    const char *body = s->graph_node != LAB_UNKNOWN ? "~" : " ";
    /* A blank has no role: it would show as a line where that underlines. */
    lab_canvas_fill(c, all, body, body[0] == ' ' ? LAB_ROLE_NORMAL : p.role);
    lab_canvas_paper(c, all, p.tint);
    struct lab_rect below = inside;
    lab_rect_cut_top(&below, WORDS);
    if (!c->tints && s->graph_node == LAB_UNKNOWN)
        lab_canvas_fill(c, below, c->ascii ? "." : "░", LAB_ROLE_DIM);
    for (int y = row->y; y < row->y + row->h; y++) {
        lab_canvas_text(c, y, all.x, 1, p.role,
                        s->start_ns < st->window.from ? "<" : begin);
        lab_canvas_text(c, y, all.x + all.w - 1, 1, p.role,
                        s->end_ns > st->window.to ? ">" : end);
    }
    lab_canvas_text_cut(c, row->y, inside.x, inside.w, p.role,
                        lab_intern_text(s->name));
    if (row->h > 1)
        draw_second(row, span, inside);
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
                         &last)) {
        struct lab_rect at = {row->y, row->x + first, row->h, last - first + 1};
        lab_canvas_paint(row->c, at, LAB_ROLE_SELECTED);
        lab_canvas_ink(row->c, at, LAB_TINT_NONE);
        lab_canvas_paper(row->c, at, LAB_TINT_SELECTED);
    }
}

/* Kernels get most of the rows that are there, ranges the least. */
static int weight_of(const struct lab_timeline_state *st, int32_t lane)
{
    static const int weights[LAB_SPAN_KIND_COUNT] = {
        [LAB_SPAN_STEP] = 3,   [LAB_SPAN_RANGE] = 1, [LAB_SPAN_CALL] = 2,
        [LAB_SPAN_KERNEL] = 4, [LAB_SPAN_COPY] = 2,  [LAB_SPAN_SET] = 1};
    return weights[st->t->lanes[lane].kind];
}

static int lanes_in_sight(const struct lab_timeline_state *st)
{
    return st->t->lane_count < MAX_LANES ? st->t->lane_count : MAX_LANES;
}

/* The rows that all lanes have use for: none is higher than that. */
static int useful_rows(const struct lab_timeline_state *st)
{
    enum { EACH = 4 };
    int all = 0;
    for (int i = 0; i < lanes_in_sight(st); i++)
        all += EACH * weight_of(st, i);
    return all;
}

static void share_rows(struct lab_timeline_state *st, int rows)
{
    struct lab_share parts[MAX_LANES];
    const int lanes = lanes_in_sight(st);
    const int most = useful_rows(st);
    if (rows < st->t->lane_count) { /* they are gone through, a row each */
        for (int i = 0; i < MAX_LANES; i++)
            st->lane_h[i] = 1;
        return;
    }
    for (int i = 0; i < lanes; i++)
        parts[i] = (struct lab_share){1, weight_of(st, i), 0};
    lab_layout_share(rows < most ? rows : most, parts, lanes, st->lane_h);
}

static void draw_lanes(struct lab_timeline_state *st, struct lab_canvas *c)
{
    const struct lab_rect *r = &st->place.lanes;
    const struct lab_rect *names = &st->place.labels;
    int w = r->w < MAX_COLUMNS ? r->w : MAX_COLUMNS;
    char name[TEXT];
    int y = r->y;
    if (r->h >= st->t->lane_count)
        st->top = 0;
    if (st->lane < st->top)
        st->top = st->lane;
    if (st->lane >= st->top + r->h)
        st->top = st->lane - r->h + 1;
    share_rows(st, r->h);
    for (int i = 0; i < r->h && i < MAX_LANES && y < r->y + r->h &&
                    st->top + i < st->t->lane_count;
         i++) {
        int32_t lane = st->top + i;
        struct lane_row row = {st, c, y, r->x, w, st->lane_h[i]};
        y += row.h;
        lab_lane_name(st->t, lane, name, sizeof(name));
        lab_canvas_text(c, row.y, names->x, 1, LAB_ROLE_KEY,
                        lane == st->lane ? ">" : " ");
        lab_canvas_text_cut(c, row.y, names->x + 1, names->w - 2,
                            role_of(st->t->lanes[lane].kind), name);
        if (!st->dateless && w > 0)
            draw_spans(&row, lane);
    }
}

/* ---- the whole pass, and the names ---- */

/* Of each column, how much of the whole time a lane of the device, without one the
 * steps, is busy. */
static void busy_columns(const struct lab_timeline_state *st, double *out,
                         int columns)
{
    const struct lab_timeline *t = st->t;
    struct lab_time_window all = st->window;
    struct lab_lane_column lane[MAX_COLUMNS];
    bool device = false;
    lab_window_fit(&all);
    for (int32_t i = 0; i < t->lane_count; i++)
        device = device || t->lanes[i].kind >= LAB_SPAN_KERNEL;
    for (int x = 0; x < columns; x++)
        out[x] = 0;
    for (int32_t l = 0; l < t->lane_count; l++) {
        const struct lab_lane *at = &t->lanes[l];
        if (device ? at->kind < LAB_SPAN_KERNEL : at->kind != LAB_SPAN_STEP)
            continue;
        for (int x = 0; x < columns; x++)
            lane[x] = (struct lab_lane_column){0, -1};
        for (int32_t i = at->first; i < at->first + at->timed; i++) {
            int a;
            int b;
            if (lab_span_columns(&t->spans[i], &all, columns, &a, &b))
                cover(&t->spans[i], i, &all, lane, columns, a, b);
        }
        for (int x = 0; x < columns; x++)
            out[x] = lane[x].share > out[x] ? lane[x].share : out[x];
    }
}

/* One row of the whole pass; what is in sight of it is between brackets. */
static void draw_map(const struct lab_timeline_state *st, struct lab_canvas *c)
{
    const struct lab_rect *r = &st->map;
    const struct lab_time_window *w = &st->window;
    double busy[MAX_COLUMNS];
    int columns = r->w < MAX_COLUMNS ? r->w : MAX_COLUMNS;
    if (r->h < 1 || columns < 8 || st->dateless)
        return;
    struct lab_time_window all = *w;
    lab_window_fit(&all);
    int first = time_column(&all, w->from, columns);
    int last = time_column(&all, w->to - 1, columns);
    busy_columns(st, busy, columns);
    lab_canvas_text(c, r->y, st->place.labels.x + 1, st->place.labels.w - 1,
                    LAB_ROLE_DIM, "whole");
    for (int x = 0; x < columns; x++) {
        int n = busy[x] > 0 ? (int)(busy[x] * 8 + 0.999) : 0;
        bool in = x >= first && x <= last;
        lab_column_draw(c, r->y, r->x + x, n,
                        in ? LAB_ROLE_SERIES_1 : LAB_ROLE_DIM);
        if (in)
            lab_canvas_paper(c, (struct lab_rect){r->y, r->x + x, 1, 1},
                             LAB_TINT_FOCUS);
    }
    if (w->from > w->least || w->to < w->most) {
        lab_canvas_text(c, r->y, r->x + first, 1, LAB_ROLE_KEY, "[");
        if (last > first)
            lab_canvas_text(c, r->y, r->x + last, 1, LAB_ROLE_KEY, "]");
    }
}

/* "a gemm 34 %  b add_bias 12 %": of the time of all kernels. */
static void draw_legend(const struct lab_timeline_state *st,
                        struct lab_canvas *c, struct lab_rect r)
{
    double all = 0;
    for (int32_t i = 0; i < st->name_count; i++)
        all += (double)st->names[i].ns;
    for (int32_t i = 0; i < st->name_count && i < LAB_TINT_NAMES; i++) {
        char text[TEXT];
        struct paint p = paint_of_name(i);
        snprintf(text, sizeof(text), "%.24s %.0f %%",
                 lab_intern_text(st->names[i].name),
                 all > 0 ? 100 * (double)st->names[i].ns / all : 0);
        if (lab_canvas_columns(c, text) + 5 > r.w)
            break;
        struct lab_rect sign = lab_rect_cut_left(&r, 3);
        lab_canvas_textf(c, sign.y, sign.x, 3, p.role, " %c ", name_letter(i));
        lab_canvas_paper(c, sign, p.tint);
        int used = lab_canvas_text(c, r.y, r.x + 1, r.w - 1,
                                   c->tints ? LAB_ROLE_NORMAL : p.role, text);
        lab_rect_cut_left(&r, used + 3);
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

/* ---- the steps by time, where the lanes leave room ---- */

static int by_time(const void *a, const void *b, void *user)
{
    const struct lab_span *spans = user;
    const int64_t x = lab_span_time(&spans[*(const int32_t *)a]);
    const int64_t y = lab_span_time(&spans[*(const int32_t *)b]);
    return (x < y) - (x > y);
}

/* The steps in the window, the longest first; *out is the caller's. */
static int32_t steps_by_time(const struct lab_timeline_state *st, int32_t **out)
{
    const struct lab_timeline *t = st->t;
    int32_t n = 0;
    int32_t *list = NULL;
    for (int32_t l = 0; l < t->lane_count && !list && !st->dateless; l++) {
        int32_t count;
        if (t->lanes[l].kind != LAB_SPAN_STEP)
            continue;
        const int32_t from =
            lab_lane_find(t, l, st->window.from, st->window.to, &count);
        list = count > 0 ? lab_alloc_array((size_t)count, sizeof(*list)) : NULL;
        for (int32_t i = 0; list && i < count; i++)
            list[n++] = from + i;
    }
    if (list)
        qsort_r(list, (size_t)n, sizeof(*list), by_time, t->spans);
    *out = list;
    return n;
}

static void time_row(const struct lab_timeline_state *st, struct lab_canvas *c,
                     struct lab_rect row, int32_t span, double most)
{
    enum { NAME_W = 32, APART = 2 };
    const struct lab_span *s = &st->t->spans[span];
    const bool phase = s->phase >= 0 && s->phase < LAB_PHASE_COUNT;
    const double ns = lab_to_real(lab_span_time(s));
    const struct lab_time_window *w = &st->window;
    const enum lab_role role =
        span == st->chosen ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL;
    char text[TEXT];
    char begins[LAB_FORMAT_BYTES];
    snprintf(text, sizeof(text), "%c%s %s", span == st->chosen ? '>' : ' ',
             phase ? lab_phase_letter((enum lab_phase)s->phase) : " ",
             lab_intern_text(s->name));
    lab_timeline_moment(st->t, s->start_ns, begins, sizeof(begins));
    lab_canvas_text_cut(c, row.y, row.x, NAME_W, role, text);
    lab_rect_cut_left(&row, NAME_W + APART);
    lab_canvas_add(c, &row, role, "%10s  %9s  %6s  ", begins, LAB_NS_TEXT(ns),
                   LAB_SHARE_TEXT(ns / (double)(w->most - w->least)));
    lab_bar_draw(c, row.y, row.x, row.w, ns, 0, most,
                 span_paint(st, span).role);
}

/* In the rows that the lanes have no use for, which `lanes` loses: a small run on a
 * CPU has few lanes. */
static void draw_by_time(const struct lab_timeline_state *st,
                         struct lab_canvas *c, struct lab_rect *lanes)
{
    enum { LEAST = 4 };
    const int left = lanes->h - useful_rows(st);
    int32_t *list = NULL;
    const int32_t n = left >= LEAST ? steps_by_time(st, &list) : 0;
    if (n > 0) {
        struct lab_rect r =
            lab_rect_cut_bottom(lanes, n + 1 < left ? (int)n + 1 : left);
        lab_canvas_heading(
            c, &r, "steps by time: begins, lasts, share of the pass", false);
        const double most = lab_to_real(lab_span_time(&st->t->spans[list[0]]));
        for (int k = 0; k < n && k < r.h; k++)
            time_row(st, c, (struct lab_rect){r.y + k, r.x, 1, r.w}, list[k],
                     most);
    }
    lab_free(list);
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
    struct lab_timeline_layout *l = &st->place;
    struct lab_rect legend = {0};
    st->map = (struct lab_rect){0};
    if (l->lanes.h > st->t->lane_count)
        st->map = lab_rect_cut_bottom(&l->lanes, 1);
    if (l->lanes.h > st->t->lane_count && st->name_count > 0)
        legend = lab_rect_cut_bottom(&l->lanes, 1);
    struct lab_rect both = {l->lanes.y, l->labels.x, l->lanes.h,
                            l->labels.w + l->lanes.w};
    draw_by_time(st, c, &both);
    l->labels.h = l->lanes.h = both.h;
    draw_summary(st, c);
    draw_axis(st, c);
    draw_pointer(st, c);
    draw_marks(st, c);
    draw_lanes(st, c);
    draw_legend(st, c, legend);
    draw_map(st, c);
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

/* All matches are lit until Esc; n and N go to the next and the one before. */
static bool timeline_search(struct lab_screen *s, const char *text, int dir)
{
    struct lab_timeline_state *st = s->state;
    int32_t n = st->t->count;
    int32_t all = 0;
    int32_t place = 0;
    if (text[0])
        snprintf(st->search, sizeof(st->search), "%s", text);
    for (int32_t i = 1; i <= n && st->search[0]; i++) {
        int32_t at = ((st->chosen + dir * i) % n + n) % n;
        if (!is_match(st, at))
            continue;
        st->focus = -1;
        timeline_choose(st, at);
        for (int32_t k = 0; k < n; k++) {
            all += is_match(st, k);
            place += k <= at && is_match(st, k);
        }
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "\"%s\": %d of %d; n next, N before, Esc ends",
                       st->search, place, all);
        return true;
    }
    if (text[0])
        st->search[0] = '\0';
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
        return lab_fail(
            LAB_E_STATE,
            "[timeline.step-empty] no kernel or copy of this step was "
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
        return lab_fail(LAB_E_STATE,
                        "[screen.nothing] there is nothing to open");
    if (s->kind == LAB_SPAN_STEP)
        return open_step(st);
    if (s->step < 0)
        return lab_fail(
            LAB_E_STATE,
            "[timeline.no-step] it belongs to no step of this iteration");
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
    return lab_fail(
        LAB_E_STATE,
        "[timeline.no-call] no call, or nothing it launched, is known");
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
    st->mark[0] = st->mark[1] = LAB_UNKNOWN; /* moments of the pass before */
    set_bounds(st);
    return take_names(st);
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
        return lab_fail(LAB_E_STATE,
                        "[timeline.none] there is no timeline here");
    enum lab_status status = st->model->load_passes(
        st->model->user, st->run, &st->passes, &st->pass_count);
    if (status)
        return status;
    if (st->pass_count == 0)
        return lab_fail(
            LAB_E_STATE,
            "[timeline.run-empty] this run has no recorded steps or kernels");
    status = load_pass(st, best_pass(st));
    if (!status)
        choose_step(st, args);
    return status ? status : timeline_relist(st);
}

static void release(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    timeline_unlist(st);
    lab_free(st->names);
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

/* The first mark, the second, and then the first of another ruler. */
static enum lab_status set_mark(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_span *at = timeline_chosen(st);
    if (!at || at->start_ns == LAB_UNKNOWN)
        return lab_fail(LAB_E_STATE,
                        "[timeline.no-moment] it has no moment to mark");
    if (st->mark[0] == LAB_UNKNOWN || st->mark[1] != LAB_UNKNOWN) {
        st->mark[0] = at->start_ns;
        st->mark[1] = LAB_UNKNOWN;
    } else {
        st->mark[1] = at->start_ns;
    }
    return LAB_OK;
}

static enum lab_status forget_marks(struct lab_screen *s)
{
    struct lab_timeline_state *st = s->state;
    st->mark[0] = st->mark[1] = LAB_UNKNOWN;
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
        return lab_fail(
            LAB_E_STATE,
            "[timeline.no-neighbour] no iteration was recorded %s this one",
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
        return lab_fail(
            LAB_E_STATE,
            "[screen.whatif-kernel] what if is asked of a kernel: choose one "
            "(Enter lists those of a step)");
    out->model = st->model;
    out->run.id = st->run;
    out->launch = k->row;
    return LAB_OK;
}

/* Where nothing moves, why. */
static void pan(struct lab_screen *s, int num, int den)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_time_window was = st->window;
    lab_window_pan(&st->window, num, den);
    if (st->window.from != was.from || st->window.to != was.to)
        return;
    const bool whole = was.from <= was.least && was.to >= was.most;
    lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                   whole     ? "all of the time is in sight: + shows less of it"
                   : num < 0 ? "this is its beginning"
                             : "this is its end");
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
        pan(s, by, 4);
        return true;
    case LAB_ACT_PAGE_UP:
    case LAB_ACT_PAGE_DOWN:
        pan(s, by, 1);
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
        else if (st->search[0])
            st->search[0] = '\0';
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

static int64_t moment_at(const struct lab_timeline_state *st, int x)
{
    const struct lab_time_window *w = &st->window;
    const struct lab_rect *r = &st->place.lanes;
    return w->from +
           (int64_t)((double)(w->to - w->from) * ((double)(x - r->x) / r->w));
}

/* The moment at the left of a column of the minimap, which has all of the pass. */
static int64_t map_moment(const struct lab_timeline_state *st, int x)
{
    struct lab_time_window all = st->window;
    int col = x - st->map.x;
    lab_window_fit(&all);
    col = col < 0 ? 0 : col > st->map.w ? st->map.w : col;
    return all.from +
           (int64_t)((double)(all.to - all.from) * ((double)col / st->map.w));
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_rect *r = &st->place.lanes;
    int32_t count;
    if (what != LAB_MOUSE_CLICK) { /* the wheel */
        if (lab_rect_has(*r, y, x))
            lab_window_zoom(&st->window, moment_at(st, x),
                            what == LAB_MOUSE_WHEEL_UP ? 1 : 2,
                            what == LAB_MOUSE_WHEEL_UP ? 2 : 1);
        return lab_rect_has(*r, y, x);
    }
    if (lab_rect_has(st->map, y, x)) { /* what was clicked is in the middle */
        int64_t span = st->window.to - st->window.from;
        st->window.from = map_moment(st, x) - span / 2;
        st->window.to = st->window.from + span;
        clamp(&st->window);
        return true;
    }
    if (!lab_rect_has(*r, y, x))
        return false;
    int32_t lane = st->top;
    for (int i = 0, end = r->y; i < MAX_LANES && lane < st->t->lane_count;
         i++, lane++) {
        end += st->lane_h[i];
        if (y < end)
            break;
    }
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

static int64_t within(int64_t t, int64_t least, int64_t most)
{
    return t < least ? least : t > most ? most : t;
}

/* Over the lanes: a ruler between the two moments. On the minimap: the window is
 * what was dragged over. */
static void drag(struct lab_screen *s, int from_y, int from_x, int y, int x)
{
    struct lab_timeline_state *st = s->state;
    const struct lab_time_window *w = &st->window;
    (void)y;
    if (lab_rect_has(st->map, from_y, from_x)) {
        int64_t a = map_moment(st, from_x < x ? from_x : x);
        int64_t b = map_moment(st, (from_x < x ? x : from_x) + 1);
        if (a < b)
            window_set(&st->window, a, b);
    } else if (lab_rect_has(st->place.lanes, from_y, from_x) && x != from_x) {
        st->mark[0] = moment_at(st, from_x);
        st->mark[1] = within(moment_at(st, x), w->from, w->to);
    }
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
    {".", true, "next", "the next of its lane, or of the list", LAB_ACT_OWN,
     NULL, go_along, 1},
    {", p", false, "before", "the one before it", LAB_ACT_OWN, NULL, go_along,
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
    {"/ F3", true, "search", "light up all with a name; Esc ends it",
     LAB_ACT_SEARCH},
    {"m", true, "mark", "the begin of a ruler, then its end", LAB_ACT_OWN,
     set_mark},
    {"M", false, "no marks", "away with the ruler", LAB_ACT_OWN, forget_marks},
    /* After what 80 columns have room for: without --trace on there is none. */
    {"c", true, "call", "from a kernel to its call, and back", LAB_ACT_OWN,
     follow},
    {"Esc", false, "back", "to the step, out of a search, or close",
     LAB_ACT_CANCEL},
    {NULL}};

static const struct lab_sign SIGNS[] = {
    {"▏name ▕  [name ]", "one span, from its begin to its end"},
    {"▏name~▕  [name~]", "the same of a node of a CUDA graph"},
    {"<  >", "it goes on out of sight"},
    {"░ ▒ ▓ █", "several spans, or one too short for its name: how much of the "
                "column's time they fill, up to 25, 50, 75 and 100 % (.:+# in "
                "ASCII)"},
    {"v---v", "over the lanes: where the chosen span is"},
    {"A····B", "the ruler between two marks (m, or drag)"},
    {"≈", "a pause of a walk, shortened"},
    {"{name }  *", "what a search has found"},
    {"a b c ...",
     "the names of kernels that take most, below the lanes; the same "
     "sign and colour in the lanes"},
    {"whole", "all of the iteration, and [ ] what is in sight of it"},
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
    .drag = drag,
    .title_now = title,
    .signs = SIGNS,
};
