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

static bool reads_last(const struct lab_diagram *d, int box)
{
    for (int i = 0; i < d->box[box].n_in; i++)
        if (d->box[box].in[i] == box - 1)
            return true;
    return false;
}

int lab_diagram_hit(const struct lab_diagram *d, int y, int x)
{
    for (int i = 0; i < d->n; i++)
        if (lab_rect_has(d->box[i].at, y, x))
            return i;
    return -1;
}

/* ---- what is in sight ---- */

static int text_w(const struct lab_canvas *c, const struct lab_diagram_box *b,
                  bool line)
{
    int w = lab_canvas_columns(c, b->name) + (b->folded ? 1 : 0);
    for (int i = 0; !line && i < LAB_DIAGRAM_LINES; i++) {
        int t = lab_canvas_columns(c, b->text[i]);
        w = t > w ? t : w;
    }
    return line ? w + 2 : w + 4;
}

/* The boxes first .. end-1 around the lit one that fit into `room` columns;
 * what is left out at an end is marked there. */
static void in_sight(const struct lab_canvas *c, const struct lab_diagram *d,
                     int room, int gap, bool line, int *first, int *end)
{
    int at = d->lit < 0 ? 0 : d->lit < d->n ? d->lit : d->n - 1;
    int used = text_w(c, &d->box[at], line) + 2 * ENDS;
    *first = at;
    *end = at + 1;
    for (bool more = true; more;) {
        more = false;
        if (*end < d->n &&
            used + gap + text_w(c, &d->box[*end], line) <= room) {
            used += gap + text_w(c, &d->box[(*end)++], line);
            more = true;
        }
        if (*first > 0 &&
            used + gap + text_w(c, &d->box[*first - 1], line) <= room) {
            used += gap + text_w(c, &d->box[--*first], line);
            more = true;
        }
    }
}

bool lab_diagram_fits(const struct lab_canvas *c, const struct lab_diagram *d,
                      int columns)
{
    int w = 0;
    for (int i = 0; i < d->n; i++)
        w += text_w(c, &d->box[i], false) + (i > 0 ? GAP : 0);
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
                           reads_last(d, i) ? arrow : " ");
        b->at = row;
        b->at.w = lab_canvas_add(c, &row, on ? lit : LAB_ROLE_NORMAL,
                                 on ? "[%s%s]" : " %s%s ", b->folded ? "+" : "",
                                 b->name);
        if (on)
            lab_canvas_paint(c, b->at, d->focused ? LAB_ROLE_SELECTED : lit);
    }
    if (end < d->n)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s…", arrow);
}

/* ---- names in several rows ---- */

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

int lab_diagram_names(struct lab_canvas *c, struct lab_rect r,
                      struct lab_diagram *d, enum lab_role lit)
{
    enum { FURTHER = LAB_DIAGRAM_IN * 44, JOIN = 3 };
    struct lab_rect row = r;
    int used = 0;
    forget_places(d);
    for (int i = 0; i < d->n; i++) {
        struct lab_diagram_box *b = &d->box[i];
        const char *joint = !reads_last(d, i) ? "   "
                            : d->backward     ? " ◂ "
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

/* ---- lines under the boxes ---- */

struct track_use {
    int end[LAB_DIAGRAM_TRACKS]; /* the box that the last line there ends at */
};

/* The track of a line from one box to another; -1: none is free. Lines come in
 * the order in which they begin. */
static int take_track(struct track_use *use, int from, int to)
{
    for (int i = 0; i < LAB_DIAGRAM_TRACKS; i++) {
        if (use->end[i] > from)
            continue;
        use->end[i] = to;
        return i;
    }
    return -1;
}

typedef void line_fn(void *user, int from, int to, int track);

static void each_line(const struct lab_diagram *d, line_fn *fn, void *user)
{
    struct track_use use = {{0}};
    for (int from = 0; from < d->n; from++)
        for (int to = from + 2; to < d->n; to++)
            for (int k = 0; k < d->box[to].n_in; k++)
                if (d->box[to].in[k] == from)
                    fn(user, from, to, take_track(&use, from, to));
}

static void most_track(void *user, int from, int to, int track)
{
    int *most = user;
    (void)from;
    (void)to;
    *most = track + 1 > *most ? track + 1 : *most;
}

int lab_diagram_tracks(const struct lab_diagram *d)
{
    int most = 0;
    each_line(d, most_track, &most);
    return most;
}

int lab_diagram_rows(const struct lab_diagram *d)
{
    return d->n ? BOX_H + lab_diagram_tracks(d) : 0;
}

struct line_draw {
    struct lab_canvas *c;
    const struct lab_diagram *d;
    struct lab_rect r;
    int first;
    int end;
};

/* Out of sight ends run to the edge. */
static void draw_line(void *user, int from, int to, int track)
{
    struct line_draw *l = user;
    int y = l->r.y + BOX_H + track;
    bool begins = from >= l->first && from < l->end;
    bool ends = to >= l->first && to < l->end;
    if (track < 0 || y >= l->r.y + l->r.h || from >= l->end || to < l->first)
        return;
    const struct lab_rect *a = &l->d->box[from].at;
    const struct lab_rect *b = &l->d->box[to].at;
    int x0 = begins ? a->x + a->w - 2 : l->r.x;
    int x1 = ends ? b->x + 1 : l->r.x + l->r.w - 1;
    for (int x = x0; x <= x1; x++)
        lab_canvas_text(l->c, y, x, 1, LAB_ROLE_BORDER, "─");
    for (int k = BOX_H; k < BOX_H + track; k++) {
        if (begins)
            lab_canvas_text(l->c, l->r.y + k, x0, 1, LAB_ROLE_BORDER, "│");
        if (ends)
            lab_canvas_text(l->c, l->r.y + k, x1, 1, LAB_ROLE_BORDER, "│");
    }
    if (begins)
        lab_canvas_text(l->c, y, x0, 1, LAB_ROLE_BORDER, "└");
    if (ends)
        lab_canvas_text(l->c, y, x1, 1, LAB_ROLE_BORDER, "┘");
    /* The arrow is where the data arrive. */
    int at = l->d->backward ? x0 : x1;
    if (l->d->backward ? begins : ends)
        lab_canvas_text(l->c, l->r.y + BOX_H - 1, at, 1, LAB_ROLE_NORMAL, "▴");
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
    in_sight(c, d, r.w, GAP, false, &lines.first, &lines.end);
    if (lines.first > 0)
        x += lab_canvas_text(c, r.y + 1, x, ENDS, LAB_ROLE_DIM,
                             d->backward ? "◂─" : "─▸");
    for (int i = lines.first; i < lines.end; i++) {
        struct lab_diagram_box *b = &d->box[i];
        if (i > lines.first) {
            if (reads_last(d, i))
                lab_canvas_text(c, r.y + 1, x, GAP, LAB_ROLE_BORDER,
                                d->backward ? "◂──" : "──▸");
            x += GAP;
        }
        b->at = (struct lab_rect){r.y, x, BOX_H, text_w(c, b, false)};
        draw_box(c, d, i, lit);
        x += b->at.w;
    }
    if (lines.end < d->n)
        lab_canvas_text(c, r.y + 1, x, ENDS, LAB_ROLE_DIM,
                        d->backward ? "◂─" : "─▸");
    each_line(d, draw_line, &lines);
}
