#include <stdio.h>
#include <string.h>

#include "trace/intern.h"
#include "ui/canvas.h"
#include "report/timeline_text.h"
#include "view_timeline_priv.h"

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

/* ---- lines of text ---- */

struct page {
    struct lab_canvas *c;
    struct lab_rect r;
    int y;
    enum lab_role role;
};

static void add_line(void *user, const char *line)
{
    struct page *p = user;
    if (p->y < p->r.y + p->r.h)
        lab_canvas_text_cut(p->c, p->y++, p->r.x, p->r.w, p->role, line);
}

static void draw_summary(const struct lab_timeline_state *st,
                         struct lab_canvas *c)
{
    struct lab_rect r = st->place.summary;
    struct page p = {c, r, r.y, LAB_ROLE_NORMAL};
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
    struct page p = {c, r, r.y, LAB_ROLE_NORMAL};
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
        int x = lab_time_column(w, origin + at * step, r->w);
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
    lab_lane_columns(row->st->t, lane, &row->st->window, columns, row->w);
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
    lab_timeline_time(lab_span_time(s), number[1], sizeof(number[1]));
    lab_timeline_time(s->latency_ns, number[2], sizeof(number[2]));
    lab_timeline_time(s->gap_ns, number[3], sizeof(number[3]));
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
    int32_t at = 0;
    if (st->list_count == 0 || r.h < 2)
        return;
    snprintf(title, sizeof(title),
             "What %.80s launched (%d): begins, lasts, launch latency, gap",
             lab_intern_text(st->t->spans[st->list_of].name), st->list_count);
    lab_canvas_heading(c, &r, title, st->focus >= 0);
    for (int32_t i = 0; i < st->list_count; i++)
        if (st->list[i] == st->chosen)
            at = i;
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

void lab_timeline_draw(struct lab_screen *s, struct lab_canvas *c,
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
