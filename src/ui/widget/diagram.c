/* diagram.c -- a network as boxes and lines, in one row or in several.
 *
 * A widget: the caller adds boxes in the order of the plan and joins what reads
 * what. Drawn in one row, in several with lines below the boxes, or as names
 * alone, by the room there is. Home screen, run preview and stepper draw their
 * networks with it. */
#include "ui/diagram.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum {
    GAP = 3,   /* between two boxes: the line and its arrow */
    BOX_H = 4, /* border, two lines, border */
    ENDS = 2   /* columns that "…" takes at an end */
};

/* ---- the boxes ---- */

void lab_diagram_release(struct lab_diagram *d)
{
    lab_free(d->box);
    memset(d, 0, sizeof(*d));
}

void lab_diagram_clear(struct lab_diagram *d)
{
    d->n = 0;
    d->lit = -1;
}

struct lab_diagram_box *lab_diagram_add(struct lab_diagram *d, const char *name)
{
    size_t need = (size_t)d->n + 1;
    if (need > d->cap) {
        size_t cap = d->cap ? 2 * d->cap : 16;
        void *more = lab_realloc_array(d->box, cap, sizeof(*d->box));
        if (!more)
            return NULL;
        d->box = more;
        d->cap = cap;
    }
    struct lab_diagram_box *b = &d->box[d->n++];
    *b = (struct lab_diagram_box){.share = NAN};
    snprintf(b->name, sizeof(b->name), "%s", name);
    return b;
}

void lab_diagram_join(struct lab_diagram *d, int from, int to)
{
    struct lab_diagram_box *b = &d->box[to];
    if (from < 0 || from >= to)
        return;
    for (int i = 0; i < b->n_in; i++)
        if (b->in[i] == from)
            return;
    if (b->n_in < LAB_DIAGRAM_IN)
        b->in[b->n_in++] = from;
}

static bool reads(const struct lab_diagram *d, int box, int from)
{
    for (int i = 0; i < d->box[box].n_in; i++)
        if (d->box[box].in[i] == from)
            return true;
    return false;
}

/* How many of them come along a line under the boxes. */
static int far_inputs(const struct lab_diagram *d, int box)
{
    return d->box[box].n_in - (reads(d, box, box - 1) ? 1 : 0);
}

enum { FURTHER = LAB_DIAGRAM_IN * 44 };

/* " (relu1, x)": what a box reads besides the one before it. */
static void from_further(const struct lab_diagram *d, int box, char *out,
                         size_t cap)
{
    const struct lab_diagram_box *b = &d->box[box];
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < b->n_in && n < cap; i++)
        if (b->in[i] != box - 1)
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n ? ", " : " (",
                                  d->box[b->in[i]].name);
    if (n > 0 && n < cap)
        snprintf(out + n, cap - n, ")");
}

int lab_diagram_hit(const struct lab_diagram *d, int y, int x)
{
    for (int i = 0; i < d->n; i++)
        if (lab_rect_has(d->box[i].at, y, x))
            return i;
    return -1;
}

/* ---- what is in sight ---- */

/* Columns of a box: in the one line its name and what it reads from further back,
 * else what it holds, or its lines below need. */
static int text_w(const struct lab_canvas *c, const struct lab_diagram *d,
                  int box, bool line)
{
    enum { SIDES = 4, STUB = 3 };
    const struct lab_diagram_box *b = &d->box[box];
    int w = lab_canvas_columns(c, b->name) + (b->folded ? 1 : 0);
    if (line) {
        char further[FURTHER];
        from_further(d, box, further, sizeof(further));
        return w + 2 + lab_canvas_columns(c, further);
    }
    for (int i = 0; i < LAB_DIAGRAM_LINES; i++) {
        int t = lab_canvas_columns(c, b->text[i]);
        w = t > w ? t : w;
    }
    const int below = far_inputs(d, box) + STUB;
    return w + SIDES > below ? w + SIDES : below;
}

/* The boxes first .. end-1 around the lit one that fit into `room` columns;
 * what is left out at an end is marked there. */
static void in_sight(const struct lab_canvas *c, const struct lab_diagram *d,
                     int room, int gap, bool line, int *first, int *end)
{
    int at = d->lit < 0 ? 0 : d->lit < d->n ? d->lit : d->n - 1;
    int used = text_w(c, d, at, line) + 2 * ENDS;
    *first = at;
    *end = at + 1;
    for (bool more = true; more;) {
        more = false;
        if (*end < d->n && used + gap + text_w(c, d, *end, line) <= room) {
            used += gap + text_w(c, d, (*end)++, line);
            more = true;
        }
        if (*first > 0 && used + gap + text_w(c, d, *first - 1, line) <= room) {
            used += gap + text_w(c, d, --*first, line);
            more = true;
        }
    }
}

bool lab_diagram_fits(const struct lab_canvas *c, const struct lab_diagram *d,
                      int columns)
{
    int w = 0;
    for (int i = 0; i < d->n; i++)
        w += text_w(c, d, i, false) + (i > 0 ? GAP : 0);
    return w <= columns;
}

static void forget_places(struct lab_diagram *d)
{
    for (int i = 0; i < d->n; i++)
        d->box[i].at = (struct lab_rect){0};
}

/* ---- one row ---- */

void lab_diagram_line(struct lab_canvas *c, struct lab_rect row,
                      struct lab_diagram *d, enum lab_role lit)
{
    const char *arrow = d->backward ? "◂" : "▸";
    int first;
    int end;
    forget_places(d);
    if (d->n == 0 || lab_rect_empty(row))
        return;
    in_sight(c, d, row.w, 1, true, &first, &end);
    if (first > 0)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "…%s", arrow);
    for (int i = first; i < end; i++) {
        struct lab_diagram_box *b = &d->box[i];
        bool on = i == d->lit;
        if (i > first)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s",
                           reads(d, i, i - 1) ? arrow : " ");
        b->at = row;
        b->at.w = lab_canvas_add(c, &row, on ? lit : LAB_ROLE_NORMAL,
                                 on ? "[%s%s]" : " %s%s ", b->folded ? "+" : "",
                                 b->name);
        if (on)
            lab_canvas_paint(c, b->at, d->focused ? LAB_ROLE_SELECTED : lit);
        char further[FURTHER];
        from_further(d, i, further, sizeof(further));
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s",
                       further[0] && !on ? further + 1 : further);
    }
    if (end < d->n)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s…", arrow);
}

/* ---- names in several rows ---- */

int lab_diagram_names(struct lab_canvas *c, struct lab_rect r,
                      struct lab_diagram *d, enum lab_role lit)
{
    enum { JOIN = 3 };
    struct lab_rect row = r;
    int used = 0;
    forget_places(d);
    for (int i = 0; i < d->n; i++) {
        struct lab_diagram_box *b = &d->box[i];
        const char *joint = !reads(d, i, i - 1) ? "   "
                            : d->backward       ? " ◂ "
                                                : " ▸ ";
        char further[FURTHER];
        from_further(d, i, further, sizeof(further));
        int w = lab_canvas_columns(c, b->name) + (b->folded ? 1 : 0) +
                lab_canvas_columns(c, further) + 1;
        if (i == 0 || (row.w < JOIN + w && row.w < r.w)) {
            if (used == r.h) {
                lab_canvas_text(c, row.y, row.x, row.w, LAB_ROLE_DIM, " …");
                break;
            }
            row = (struct lab_rect){r.y + used++, r.x, 1, r.w};
            joint += i == 0 ? strlen(joint) : 1;
        }
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s", joint);
        b->at = row;
        b->at.w = lab_canvas_add(c, &row, i == d->lit ? lit : LAB_ROLE_NORMAL,
                                 "%s%s", b->folded ? "+" : "", b->name);
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s", further);
    }
    return used;
}

/* ---- lines under the boxes: one from each box that others than the next one read,
 * with a branch up to each of those ---- */

/* The last box that reads `from` along a line; -1: none. */
static int line_end(const struct lab_diagram *d, int from)
{
    for (int to = d->n - 1; to > from + 1; to--)
        if (reads(d, to, from))
            return to;
    return -1;
}

int lab_diagram_tracks(struct lab_diagram *d)
{
    int most = 0;
    for (int i = 0; i < d->n; i++) {
        struct lab_diagram_box *b = &d->box[i];
        b->line_end = line_end(d, i);
        b->track = -1;
        for (bool taken = b->line_end >= 0; taken;) {
            taken = false;
            b->track++;
            for (int k = 0; k < i && !taken; k++)
                taken = d->box[k].track == b->track && d->box[k].line_end > i;
        }
        most = b->track + 1 > most ? b->track + 1 : most;
    }
    return most;
}

int lab_diagram_rows(struct lab_diagram *d)
{
    return d->n ? BOX_H + lab_diagram_tracks(d) : 0;
}

struct line_draw {
    struct lab_canvas *c;
    const struct lab_diagram *d;
    struct lab_rect r;
    int first; /* boxes in sight: first .. end-1 */
    int end;
};

static bool in_view(const struct line_draw *l, int box)
{
    return box >= l->first && box < l->end;
}

/* Under `box`, where its own line begins, and where what it reads from `from`
 * arrives: a column for each. */
static int begins_at(const struct line_draw *l, int box)
{
    const struct lab_rect *at = &l->d->box[box].at;
    return at->x + at->w - 2;
}

static int arrives_at(const struct line_draw *l, int box, int from)
{
    const struct lab_diagram_box *b = &l->d->box[box];
    int x = b->at.x + 1;
    for (int i = 0; i < b->n_in; i++)
        x += b->in[i] < from;
    return x;
}

/* The columns of the line from a box; where it goes on out of sight, those up to the
 * edge. False: nothing of it is in sight. */
static bool line_columns(const struct line_draw *l, int from, int *x0, int *x1)
{
    const struct lab_diagram_box *b = &l->d->box[from];
    if (b->track < 0 || l->r.y + BOX_H + b->track >= l->r.y + l->r.h ||
        from >= l->end || b->line_end < l->first)
        return false;
    *x0 = in_view(l, from) ? begins_at(l, from) : l->r.x;
    *x1 = in_view(l, b->line_end) ? arrives_at(l, b->line_end, from)
                                  : l->r.x + l->r.w - 1;
    return true;
}

/* From a box down to its line, or up from that, over the lines on the way. */
static void draw_riser(const struct line_draw *l, int x, int track,
                       const char *end, bool arrow)
{
    const int y = l->r.y + BOX_H;
    for (int k = 0; k < track; k++) {
        bool crosses = false;
        for (int i = 0; i < l->d->n && !crosses; i++) {
            int x0;
            int x1;
            crosses = l->d->box[i].track == k && line_columns(l, i, &x0, &x1) &&
                      x > x0 && x < x1;
        }
        lab_canvas_text(l->c, y + k, x, 1, LAB_ROLE_BORDER,
                        crosses ? "┼" : "│");
    }
    lab_canvas_text(l->c, y + track, x, 1, LAB_ROLE_BORDER, end);
    if (arrow) /* where the data arrive */
        lab_canvas_text(l->c, y - 1, x, 1, LAB_ROLE_NORMAL, "▴");
}

static void draw_along(const struct line_draw *l, int from)
{
    int x0;
    int x1;
    if (line_columns(l, from, &x0, &x1))
        lab_canvas_fill(
            l->c,
            (struct lab_rect){l->r.y + BOX_H + l->d->box[from].track, x0, 1,
                              x1 - x0 + 1},
            "─", LAB_ROLE_BORDER);
}

static void draw_risers(const struct line_draw *l, int from)
{
    const struct lab_diagram_box *b = &l->d->box[from];
    int x0;
    int x1;
    if (!line_columns(l, from, &x0, &x1))
        return;
    if (in_view(l, from))
        draw_riser(l, x0, b->track, "└", l->d->backward);
    for (int to = from + 2; to <= b->line_end; to++)
        if (in_view(l, to) && reads(l->d, to, from))
            draw_riser(l, arrives_at(l, to, from), b->track,
                       to == b->line_end ? "┘" : "┴", !l->d->backward);
}

/* ---- boxes ---- */

/* A frame of single lines; returns what is inside. */
static struct lab_rect frame(struct lab_canvas *c, struct lab_rect r)
{
    static const char *const corner[] = {"┌", "┐", "└", "┘"};
    int right = r.x + r.w - 1;
    int bottom = r.y + r.h - 1;
    lab_canvas_fill(c, r, "│", LAB_ROLE_BORDER);
    lab_canvas_fill(c, (struct lab_rect){r.y, r.x, 1, r.w}, "─",
                    LAB_ROLE_BORDER);
    lab_canvas_fill(c, (struct lab_rect){bottom, r.x, 1, r.w}, "─",
                    LAB_ROLE_BORDER);
    for (int i = 0; i < 4; i++)
        lab_canvas_text(c, i < 2 ? r.y : bottom, i % 2 ? right : r.x, 1,
                        LAB_ROLE_BORDER, corner[i]);
    r = (struct lab_rect){r.y + 1, r.x + 1, r.h - 2, r.w - 2};
    lab_canvas_fill(c, r, " ", LAB_ROLE_NORMAL);
    return r;
}

/* Along the lower border: a bar, and where there is room its number. */
static void draw_share(struct lab_canvas *c, const struct lab_diagram_box *b)
{
    enum { NUMBER_W = 5, LEAST_BAR = 4 };
    int w = b->at.w - 2;
    if (!isnan(b->share) && w >= NUMBER_W + LEAST_BAR) {
        w -= NUMBER_W;
        lab_canvas_textf(c, b->at.y + BOX_H - 1, b->at.x + 1 + w, NUMBER_W,
                         LAB_ROLE_DIM, "%3.0f %%", 100 * b->share);
    }
    int n = isnan(b->share) ? 0 : (int)lround(b->share * w);
    for (int i = 0; i < n && i < w; i++)
        lab_canvas_text(c, b->at.y + BOX_H - 1, b->at.x + 1 + i, 1,
                        LAB_ROLE_SERIES_1, "═");
}

static void draw_box(struct lab_canvas *c, struct lab_diagram *d, int i,
                     enum lab_role lit)
{
    struct lab_diagram_box *b = &d->box[i];
    bool on = i == d->lit;
    struct lab_rect in = frame(c, b->at);
    if (on) {
        lab_canvas_paint(c, b->at, lit);
        for (int y = 1; y + 1 < b->at.h; y++) {
            lab_canvas_text(c, b->at.y + y, b->at.x, 1, lit, "▐");
            lab_canvas_text(c, b->at.y + y, b->at.x + b->at.w - 1, 1, lit, "▌");
        }
    }
    lab_canvas_textf(c, b->at.y, b->at.x + 1, b->at.w - 2,
                     on ? d->focused ? LAB_ROLE_SELECTED : lit
                        : LAB_ROLE_HEADING,
                     on ? "[%s%s]" : " %s%s ", b->folded ? "+" : "", b->name);
    for (int k = 0; k < LAB_DIAGRAM_LINES && k < in.h; k++)
        lab_canvas_text_cut(c, in.y + k, in.x + 1, in.w - 1,
                            k ? LAB_ROLE_DIM : LAB_ROLE_NORMAL, b->text[k]);
    draw_share(c, b);
}

void lab_diagram_draw(struct lab_canvas *c, struct lab_rect r,
                      struct lab_diagram *d, enum lab_role lit)
{
    struct line_draw lines = {.c = c, .d = d, .r = r};
    int x = r.x;
    forget_places(d);
    if (d->n == 0 || r.h < BOX_H)
        return;
    lab_diagram_tracks(d);
    in_sight(c, d, r.w, GAP, false, &lines.first, &lines.end);
    if (lines.first > 0)
        x += lab_canvas_text(c, r.y + 1, x, ENDS, LAB_ROLE_DIM,
                             d->backward ? "◂─" : "─▸");
    for (int i = lines.first; i < lines.end; i++) {
        struct lab_diagram_box *b = &d->box[i];
        if (i > lines.first) {
            if (reads(d, i, i - 1))
                lab_canvas_text(c, r.y + 1, x, GAP, LAB_ROLE_BORDER,
                                d->backward ? "◂──" : "──▸");
            x += GAP;
        }
        b->at = (struct lab_rect){r.y, x, BOX_H, text_w(c, d, i, false)};
        draw_box(c, d, i, lit);
        x += b->at.w;
    }
    if (lines.end < d->n)
        lab_canvas_text(c, r.y + 1, x, ENDS, LAB_ROLE_DIM,
                        d->backward ? "◂─" : "─▸");
    for (int i = 0; i < d->n; i++)
        draw_along(&lines, i);
    for (int i = 0; i < d->n; i++) /* over the lines that they cross */
        draw_risers(&lines, i);
}
