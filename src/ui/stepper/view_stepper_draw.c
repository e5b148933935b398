/* The stepper's frame: the two lines that say where the walk stands, the titles
 * of the panes, and lines of text that scroll. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "view_stepper_priv.h"

static const char *const pane_names[LAB_PANE_COUNT] = {
    "1 steps", "2 tensor", "3 explain", "4 kernels", "5 lesson, L: all"};

/* As much of a pane's name as fits whole: "5 lesson" without what L does. */
static int name_bytes(const struct lab_canvas *c, int pane, int room)
{
    const char *name = pane_names[pane];
    return (int)(lab_canvas_columns(c, name) <= room ? strlen(name)
                                                     : strcspn(name, ","));
}

static void rule(struct lab_canvas *c, struct lab_rect row, bool focused)
{
    lab_canvas_fill(c, row, focused ? "═" : "─",
                    focused ? LAB_ROLE_HEADING : LAB_ROLE_BORDER);
}

/* Draws the title line of a pane and returns what is left below. */
static struct lab_rect pane_title(struct lab_canvas *c, struct lab_rect r,
                                  const char *title, bool focused)
{
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    rule(c, row, focused);
    if (row.w > 4) {
        int x = row.x + 1;
        lab_canvas_text(c, row.y, x, 1, LAB_ROLE_BORDER, " ");
        x += 1 + lab_canvas_text(c, row.y, x + 1, row.w - 4,
                                 focused ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                                 title);
        lab_canvas_text(c, row.y, x, 1, LAB_ROLE_BORDER, " ");
    }
    return r;
}

/* The title line of the shared place: its three tabs, the open one in
 * brackets. */
static struct lab_rect tab_title(struct lab_stepper *v, struct lab_canvas *c,
                                 struct lab_rect r)
{
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    int x = row.x + 1;
    rule(c, row, v->focus == v->tab);
    for (int i = LAB_PANE_EXPLAIN; i < LAB_PANE_COUNT; i++) {
        bool open = (int)v->tab == i;
        int room = row.x + row.w - x - 1;
        if (room < 6)
            break;
        int w = lab_canvas_textf(c, row.y, x, room,
                                 open ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                                 open ? "[%.*s]" : " %.*s ",
                                 name_bytes(c, i, room - 2), pane_names[i]);
        v->tabs[i] = (struct lab_rect){row.y, x, 1, w};
        x += w;
    }
    return r;
}

static void draw_pane(struct lab_stepper *v, struct lab_canvas *c, int pane,
                      struct lab_rect r, bool tabs)
{
    static void (*const draw[LAB_PANE_COUNT])(
        struct lab_stepper *, struct lab_canvas *,
        struct lab_rect) = {lab_stepper_draw_steps, lab_stepper_draw_tensor,
                            lab_stepper_draw_explain, lab_stepper_draw_kernels,
                            lab_stepper_draw_text};
    if (tabs && pane >= LAB_PANE_EXPLAIN)
        r = tab_title(v, c, r);
    else
        r = pane_title(c, r, pane_names[pane], (int)v->focus == pane);
    v->view_h[pane] = r.h;
    if (lab_rect_empty(r))
        return;
    struct lab_rect old = lab_canvas_clip(c, r);
    draw[pane](v, c, r);
    lab_canvas_unclip(c, old);
}

/* The lines between columns of panes. */
static void draw_gaps(struct lab_canvas *c, const struct lab_stepper_layout *l)
{
    for (int i = LAB_PANE_STEPS; i <= LAB_PANE_TENSOR; i++) {
        struct lab_rect p = l->pane[i];
        int x = p.x + p.w;
        int h = i == LAB_PANE_STEPS
                    ? p.h
                    : l->pane[LAB_PANE_TEXT].h + l->pane[LAB_PANE_KERNELS].h;
        if (lab_rect_empty(p) || (i == LAB_PANE_TENSOR && l->tabs) || x >= c->w)
            continue;
        lab_canvas_fill(c, (struct lab_rect){p.y, x, h, 1}, "│",
                        LAB_ROLE_BORDER);
    }
}

static void step_line(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_schedule_step *s = lab_stepper_now(v);
    char time[LAB_FORMAT_BYTES];
    char right[128];
    if (!s || lab_rect_empty(r))
        return;
    const struct lab_step_status *status = &v->snap.steps[v->step];
    int x = r.x;
    x += lab_canvas_text(c, r.y, x, r.w, LAB_ROLE_TITLE, s->step->name) + 2;
    x += lab_canvas_text(c, r.y, x, -1, LAB_ROLE_HEADING,
                         lab_phase_name(s->step->phase)) +
         2;
    lab_format_ns(status->exec > 0 ? (double)status->time_ns : NAN, time,
                  sizeof(time));
    const char *now = s->variant ? s->variant->name : "?";
    const char *ran = status->exec > 0 && status->ran ? status->ran : now;
    bool other = strcmp(ran, now) != 0; /* the time is not the choice's */
    snprintf(right, sizeof(right), "  %s, %s%s%s", ran,
             status->exec > 0 ? time : lab_stepper_untimed(status),
             other ? ", next " : "", other ? now : "");
    int w = lab_canvas_columns(c, right);
    int formula = lab_canvas_columns(c, s->step->formula);
    if (x + formula + w <= r.x + r.w) /* the formula comes first */
        lab_canvas_text(c, r.y, r.x + r.w - w, w, LAB_ROLE_DIM, right);
    lab_canvas_text(c, r.y, x, -1, LAB_ROLE_FORMULA, s->step->formula);
}

static void draw_waiting(const struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect body)
{
    const struct lab_snapshot *snap = &v->snap;
    int y = body.y + body.h / 3;
    if (snap->state == LAB_SESSION_FAILED) {
        lab_canvas_text(c, y, body.x + 2, body.w - 4, LAB_ROLE_BAD,
                        "This lesson could not be started:");
        struct lab_stepper_text t;
        struct lab_rect r = {y + 2, body.x + 2, body.h, body.w - 4};
        int64_t top = 0;
        lab_stepper_text_init(&t, c->ascii);
        lab_stepper_text_wrap(&t, LAB_ROLE_NORMAL, snap->error, r.w, 0);
        lab_stepper_draw_lines(c, r, &t, &top, -1, false);
        lab_stepper_text_release(&t);
        return;
    }
    lab_canvas_text(c, y, body.x + 2, body.w - 4, LAB_ROLE_NORMAL,
                    "Reading the data and building the network ...");
}

void lab_stepper_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule) {
        draw_waiting(v, c, body);
        return;
    }
    struct lab_stepper_layout l =
        lab_stepper_layout(body, v->focus, v->tab, v->zoom);
    v->layout = l;
    memset(v->tabs, 0, sizeof(v->tabs));
    memset(v->chips, 0, sizeof(v->chips));
    memset(&v->cells, 0, sizeof(v->cells));
    lab_stepper_state_line(v, c, l.state);
    step_line(v, c, l.step);
    draw_gaps(c, &l);
    for (int i = 0; i < LAB_PANE_COUNT; i++)
        if (!lab_rect_empty(l.pane[i]))
            draw_pane(v, c, i, l.pane[i], l.tabs);
    if (v->variants.open)
        lab_stepper_draw_variants(v, c, body);
}

/* ---- lines of text ---- */

static void draw_line(struct lab_canvas *c, struct lab_rect row,
                      const struct lab_stepper_text *t, int64_t line)
{
    const struct lab_stepper_line *l = &t->lines[line];
    const char *text = lab_str_text(&t->text);
    char piece[512];
    int x = row.x;
    for (size_t i = 0; i < l->span_count && x < row.x + row.w; i++) {
        const struct lab_stepper_span *s = &t->spans[l->first_span + i];
        size_t n = s->end - s->start;
        n = n < sizeof(piece) - 1 ? n : sizeof(piece) - 1;
        memcpy(piece, text + s->start, n);
        piece[n] = '\0';
        x +=
            lab_canvas_text_cut(c, row.y, x, row.x + row.w - x, s->role, piece);
    }
}

void lab_stepper_draw_lines(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_stepper_text *lines, int64_t *top,
                            int64_t chosen, bool focused)
{
    int64_t n = (int64_t)lines->line_count;
    if (chosen >= 0 && chosen < *top)
        *top = chosen;
    if (chosen >= *top + r.h)
        *top = chosen - r.h + 1;
    if (*top > n - r.h)
        *top = n - r.h;
    if (*top < 0)
        *top = 0;
    for (int y = 0; y < r.h && *top + y < n; y++) {
        struct lab_rect row = {r.y + y, r.x, 1, r.w};
        draw_line(c, row, lines, *top + y);
        if (*top + y == chosen && focused)
            lab_canvas_paint(c, row, LAB_ROLE_SELECTED);
    }
    if (n > r.h && r.w > 4) { /* there is more above or below */
        if (*top > 0)
            lab_canvas_text(c, r.y, r.x + r.w - 1, 1, LAB_ROLE_DIM, "▲");
        if (*top + r.h < n)
            lab_canvas_text(c, r.y + r.h - 1, r.x + r.w - 1, 1, LAB_ROLE_DIM,
                            "▼");
    }
}
