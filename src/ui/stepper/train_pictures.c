/* train_pictures.c -- the training screen's pictures: norms of gradients and
 * updates, the matrix of classes and what is misread, text with probabilities. */
#include "train_pictures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/str.h"
#include "ui/heat.h"
#include "ui/layout.h"

static void note(struct lab_canvas *c, struct lab_rect r, const char *text)
{
    lab_canvas_paragraph(c, r, LAB_ROLE_DIM, text);
}

/* ---- layers ---- */

enum { NODE_W = 15, FIGURE_W = 11, DEAD_W = 12 };

/* At the right of a column, and the column is taken off the row. */
static void put_right(struct lab_canvas *c, struct lab_rect *row, int w,
                      enum lab_role role, const char *text)
{
    struct lab_rect at = lab_rect_cut_left(row, w);
    int n = lab_canvas_columns(c, text);
    lab_canvas_text_cut(c, at.y, at.x + (n < w ? w - n : 0), w, role, text);
}

static double largest_gradient(const struct lab_snapshot *s)
{
    double most = 0;
    for (int i = 0; i < s->n_figures; i++)
        most = s->figures[i].gradient > most ? s->figures[i].gradient : most;
    return most;
}

/* The number of parameters is the first that gives way. */
static bool is_narrow(int w)
{
    return w < NODE_W + 4 * FIGURE_W + DEAD_W;
}

static void draw_layers_head(struct lab_canvas *c, struct lab_rect row, int bar)
{
    lab_canvas_text(c, row.y, row.x, NODE_W, LAB_ROLE_HEADING, "node");
    lab_rect_cut_left(&row, NODE_W);
    if (!is_narrow(row.w + NODE_W))
        put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "parameters");
    put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "|gradient|");
    lab_rect_cut_left(&row, bar);
    put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "|update|");
    put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "of |param|");
    put_right(c, &row, DEAD_W, LAB_ROLE_HEADING, "always 0");
}

static void draw_bar(struct lab_canvas *c, struct lab_rect row, double share)
{
    int n = isfinite(share) ? (int)lround(share * (row.w - 2)) : 0;
    for (int i = 0; i < n; i++)
        lab_canvas_text(c, row.y, row.x + 1 + i, 1, LAB_ROLE_BACKWARD, "█");
    if (n == 0 && share > 0)
        lab_canvas_text(c, row.y, row.x + 1, 1, LAB_ROLE_BACKWARD, "▏");
}

static void put_norm(struct lab_canvas *c, struct lab_rect *row, double v)
{
    put_right(c, row, FIGURE_W, isfinite(v) ? LAB_ROLE_NORMAL : LAB_ROLE_BAD,
              isfinite(v) ? LAB_VALUE_TEXT(v, 9)
              : isnan(v)  ? LAB_NA
                          : "inf");
}

static void draw_layer(struct lab_canvas *c, struct lab_rect row,
                       const struct lab_snapshot *s,
                       const struct lab_node_figures *f, double most, int bar)
{
    char text[48];
    lab_canvas_text_cut(c, row.y, row.x, NODE_W - 1, LAB_ROLE_NORMAL,
                        s->plan->nodes[f->node].id);
    lab_rect_cut_left(&row, NODE_W);
    if (f->parameters > 0) {
        double ratio = f->update / f->parameter;
        if (!is_narrow(row.w + NODE_W))
            put_right(c, &row, FIGURE_W, LAB_ROLE_NORMAL,
                      LAB_INT_TEXT(f->parameters));
        put_norm(c, &row, f->gradient);
        draw_bar(c, lab_rect_cut_left(&row, bar), f->gradient / most);
        put_norm(c, &row, f->update);
        snprintf(text, sizeof(text), "%.1e", ratio);
        put_right(c, &row, FIGURE_W, LAB_ROLE_UPDATE,
                  isfinite(ratio) ? text : LAB_NA);
    } else {
        lab_rect_cut_left(&row,
                          (is_narrow(row.w + NODE_W) ? 3 : 4) * FIGURE_W + bar);
    }
    if (f->units == 0)
        return;
    snprintf(text, sizeof(text), "%lld of %lld", (long long)f->dead,
             (long long)f->units);
    put_right(c, &row, DEAD_W, f->dead > 0 ? LAB_ROLE_WARN : LAB_ROLE_NORMAL,
              text);
}

int lab_train_layers(struct lab_canvas *c, struct lab_rect r,
                     const struct lab_snapshot *snap, int top)
{
    enum { LEAST_BAR = 6, MOST_BAR = 42 };
    char title[128];
    int bar = r.w - NODE_W - 4 * FIGURE_W - DEAD_W;
    double most = largest_gradient(snap);
    snprintf(title, sizeof(title), "layers after iteration %lld",
             (long long)snap->figures_of);
    lab_canvas_heading(c, &r, snap->n_figures > 0 ? title : "layers", false);
    if (snap->n_figures == 0) {
        note(c, r,
             "The norms come with the next iteration that is trained to its "
             "end.");
        return 0;
    }
    bar = bar < LEAST_BAR ? 0 : bar > MOST_BAR ? MOST_BAR : bar;
    draw_layers_head(c, lab_rect_cut_top(&r, 1), bar);
    struct lab_rect foot = r.h > snap->n_figures - top + 3
                               ? lab_rect_cut_bottom(&r, 3)
                               : (struct lab_rect){0};
    for (int i = top; i < snap->n_figures && r.h > 0; i++)
        draw_layer(c, lab_rect_cut_top(&r, 1), snap, &snap->figures[i], most,
                   bar);
    if (foot.h > 0)
        note(c, foot,
             "Norms over all parameters of a node. An update of about 0.001 of "
             "its parameters is usual; always 0: units of a relu that are 0 in "
             "the whole batch.");
    return snap->n_figures;
}

/* ---- classes ---- */

enum { LABEL_W = 8, COUNT_W = 5, NAMES_W = 7 };

/* A character of a text, or the class's number. */
static const char *class_text(const struct lab_confusion *k, int64_t i,
                              char out[24])
{
    if (k->name && i >= 0 && i < k->classes)
        snprintf(out, 24, "%s", k->name[i].text);
    else
        snprintf(out, 24, "%lld", (long long)i);
    return out;
}

static int64_t largest_wrong(const struct lab_confusion *k)
{
    int64_t most = 0;
    for (int i = 0; i < k->classes * k->classes; i++)
        if (i / k->classes != i % k->classes && k->count[i] > most)
            most = k->count[i];
    return most;
}

/* Counts as figures, errors on their colour: the diagonal is far larger. */
static void draw_counts(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_confusion *k)
{
    char text[24];
    int64_t most = largest_wrong(k);
    lab_canvas_text(c, r.y, r.x, LABEL_W, LAB_ROLE_DIM, "is \\ as");
    for (int j = 0; j < k->classes; j++)
        put_right(
            c, &(struct lab_rect){r.y, r.x + LABEL_W + j * COUNT_W, 1, COUNT_W},
            COUNT_W - 1, LAB_ROLE_HEADING, class_text(k, j, text));
    lab_rect_cut_top(&r, 1);
    for (int i = 0; i < k->classes; i++) {
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        put_right(c, &(struct lab_rect){row.y, row.x, 1, LABEL_W}, LABEL_W - 2,
                  LAB_ROLE_HEADING, class_text(k, i, text));
        lab_rect_cut_left(&row, LABEL_W);
        for (int j = 0; j < k->classes; j++) {
            int64_t n = k->count[i * k->classes + j];
            struct lab_rect cell = lab_rect_cut_left(&row, COUNT_W);
            if (i != j && n > 0 && c->tints)
                lab_canvas_paper(c, cell,
                                 lab_tint_sequential((double)n, (double)most));
            if (n > 0)
                lab_canvas_textf(c, cell.y, cell.x, COUNT_W,
                                 i == j          ? LAB_ROLE_TITLE
                                 : 2 * n >= most ? LAB_ROLE_WARN
                                                 : LAB_ROLE_NORMAL,
                                 "%*lld", COUNT_W - 1, (long long)n);
            else
                lab_canvas_textf(c, cell.y, cell.x, COUNT_W, LAB_ROLE_DIM,
                                 "%*s", COUNT_W - 1, ".");
        }
    }
}

/* The names of the rows and columns of a picture at (y, x), before them and above
 * them, as far as each has a place. */
static void draw_names(struct lab_canvas *c, int y, int x,
                       const struct lab_confusion *k,
                       const struct lab_heat_grid *g)
{
    char text[24];
    int n = k->classes;
    int at = x; /* the first column that is free */
    for (int cx = 0; cx < g->cells_w; cx++) {
        const char *name = class_text(k, cx * g->block_cols, text);
        int w = lab_canvas_columns(c, name);
        if (x + cx * g->cell_w < at || w > g->cell_w)
            continue;
        lab_canvas_text(c, y - 1, x + cx * g->cell_w, w, LAB_ROLE_HEADING,
                        name);
        at = x + cx * g->cell_w + w;
    }
    for (int row = 0; row < lab_heat_height(g); row++) {
        /* Cells of half a row: two names; of several rows: in the first. */
        int last = (2 * row + 1) / g->cell_h;
        struct lab_rect label = {y + row, x - NAMES_W, 1, NAMES_W - 1};
        for (int cy = 2 * row / g->cell_h;
             cy <= last && cy < g->cells_h && cy * g->block_rows < n; cy++)
            if (lab_heat_top(g, cy) == row || g->cell_h == 1)
                lab_canvas_add(c, &label, LAB_ROLE_HEADING, "%s",
                               class_text(k, cy * g->block_rows, text));
    }
}

/* Many classes: a heat map of the errors, the diagonal left out. */
static void draw_errors(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_confusion *k)
{
    double wrong[LAB_CONFUSION_CLASSES * LAB_CONFUSION_CLASSES];
    int n = k->classes;
    for (int i = 0; i < n * n; i++)
        wrong[i] = i / n == i % n ? 0 : (double)k->count[i];
    lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                     "down: what it is; across: what it comes out as; errors "
                     "alone, %lld at most",
                     (long long)largest_wrong(k));
    lab_rect_cut_top(&r, 2);
    lab_rect_cut_left(&r, NAMES_W);
    struct lab_heat_grid g = lab_heat_picture(c, r, wrong, n, n, true);
    draw_names(c, r.y, r.x, k, &g);
}

static void draw_pair(struct lab_canvas *c, struct lab_rect r,
                      const struct lab_confusion *k)
{
    char is[24];
    char as[24];
    int at = 0;
    int n = k->classes;
    for (int i = 0; i < n * n; i++)
        if (i / n != i % n && (at / n == at % n || k->count[i] > k->count[at]))
            at = i;
    if (k->count[at] > 0 && at / n != at % n)
        lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_NORMAL,
                         "most often: %s comes out as %s, %lld time%s",
                         class_text(k, at / n, is), class_text(k, at % n, as),
                         (long long)k->count[at], k->count[at] == 1 ? "" : "s");
    else
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_GOOD, "no row is misread");
}

/* Each row of data that is the most wrong, with what it is and came out as. */
static void draw_misread(struct lab_canvas *c, struct lab_rect r,
                         const struct lab_confusion *k)
{
    enum { LEAST_W = 10, GOAL = 6 };
    char is[24];
    char as[24];
    int tile = r.w;
    if (k->n_misread == 0 || r.w < LEAST_W || r.h < 4)
        return;
    lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_HEADING,
                    r.w < 32 ? "misread, worst first"
                             : "misread, the largest loss first");
    lab_rect_cut_top(&r, 1);
    if (k->rows == 1)
        tile = r.w;
    else
        while (tile > LEAST_W && (r.w / tile) * (r.h / (tile / 2 + 1)) < GOAL)
            tile--;
    int h = k->rows == 1 ? 2 : tile / 2 + 1;
    int across = r.w / tile;
    for (int i = 0; i < k->n_misread && (i / across + 1) * h <= r.h; i++) {
        const struct lab_misread *m = &k->misread[i];
        struct lab_rect at = {r.y + i / across * h, r.x + i % across * tile, h,
                              tile - 1};
        lab_canvas_textf(c, at.y, at.x, at.w, LAB_ROLE_WARN, "%s, as %s",
                         class_text(k, m->label, is),
                         class_text(k, m->answer, as));
        lab_rect_cut_top(&at, 1);
        struct lab_rect old = lab_canvas_clip(c, at);
        if (m->value)
            lab_heat_picture(c, at, m->value, k->rows, k->cols, true);
        lab_canvas_unclip(c, old);
    }
}

void lab_train_classes(struct lab_canvas *c, struct lab_rect r,
                       const struct lab_snapshot *snap)
{
    const struct lab_confusion *k = &snap->confusion;
    char title[128];
    if (k->after >= 0)
        snprintf(title, sizeof(title),
                 "classes after %lld iterations: %lld of %lld right",
                 (long long)k->after, (long long)k->right, (long long)k->total);
    lab_canvas_heading(c, &r, k->after >= 0 ? title : "classes", false);
    if (k->after < 0) {
        note(c, r,
             "Which class the validation rows come out as is known after the "
             "first evaluation: at the end of an epoch, or of the training. A "
             "lesson without classes or without rows that are held back has "
             "none.");
        return;
    }
    int w = LABEL_W + k->classes * COUNT_W;
    int h = k->classes + 2;
    bool fits = w <= r.w && h <= r.h;
    struct lab_rect left = r;
    struct lab_rect rest = r;
    if (!fits) /* the whole place is for the matrix */
        lab_rect_cut_top(&rest, r.h);
    else if ((r.w - w) * r.h > r.w * (r.h - h))
        left = lab_rect_cut_left(&rest, w + 2);
    else
        left = lab_rect_cut_top(&rest, h + 1);
    draw_pair(c, lab_rect_cut_top(&left, 1), k);
    if (fits)
        draw_counts(c, left, k);
    else
        draw_errors(c, left, k);
    draw_misread(c, rest, k);
}

/* ---- text ---- */

struct place {
    int row;
    int col;
};

/* One character as it is shown; returns its bytes. A newline is a sign. */
static size_t next_character(const char *text, size_t n, char out[16])
{
    unsigned code;
    size_t len = lab_utf8_next(text, n, &code);
    char raw[8] = "";
    if (len == 0)
        len = 1;
    if (text[0] == '\n') {
        snprintf(out, 16, "↵");
        return 1;
    }
    memcpy(raw, text, len);
    lab_visible_copy(out, 16, raw);
    return len;
}

/* A character of the text: by its byte, or by its place where that is -1; both
 * -1: none. */
struct spot {
    int64_t byte;
    struct place at;
};

/* Puts the text into rows of `w` columns; draws those from `first` on where `c` is
 * given, with a cursor on the spot. Finds what the spot lacks. Returns the number
 * of rows. */
static int lay_out(struct lab_canvas *c, const struct lab_canvas *measure,
                   struct lab_rect r, const struct lab_snapshot *s, int first,
                   struct spot *spot)
{
    struct place at = {0, 0};
    const struct spot asked = *spot;
    size_t n = strlen(s->sample);
    char text[16];
    for (size_t i = 0; i < n;) {
        size_t len = next_character(s->sample + i, n - i, text);
        int w = lab_canvas_columns(measure, text);
        if (at.col + w > r.w && at.col > 0)
            at = (struct place){at.row + 1, 0};
        int y = r.y + 2 * (at.row - first);
        double p = (double)s->sample_p[i];
        bool here = asked.byte >= (int64_t)i && asked.byte < (int64_t)(i + len);
        if (here)
            spot->at = at;
        if (asked.byte < 0 && asked.at.row == at.row &&
            asked.at.col >= at.col && asked.at.col < at.col + w)
            spot->byte = (int64_t)i;
        if (c && at.row >= first && y + 1 < r.y + r.h) {
            struct lab_rect cell = {y, r.x + at.col, 1, w};
            if (c->tints && !isnan(p))
                lab_canvas_paper(c, cell, lab_tint_sequential(p, 1));
            lab_canvas_text(c, y, cell.x, w,
                            here       ? LAB_ROLE_CURSOR
                            : isnan(p) ? LAB_ROLE_TITLE
                                       : LAB_ROLE_NORMAL,
                            text);
            if (!isnan(p))
                lab_canvas_textf(c, y + 1, cell.x, 1, LAB_ROLE_DIM, "%d",
                                 p >= 0.9 ? 9 : (int)(p * 10));
        }
        at.col += w;
        if (s->sample[i] == '\n')
            at = (struct place){at.row + 1, 0};
        i += len;
    }
    return at.row + (at.col > 0);
}

static bool has_written(const struct lab_snapshot *snap)
{
    return snap->sample && snap->sample_p;
}

/* "e": probability 34.2 %, 1.55 bits */
static void character_title(const struct lab_snapshot *s, int64_t byte,
                            char *out, size_t cap)
{
    char text[16];
    size_t n = strlen(s->sample);
    double p = (double)s->sample_p[byte];
    next_character(s->sample + byte, n - (size_t)byte, text);
    if (isnan(p))
        snprintf(out, cap, "\"%s\": of the prompt", text);
    else
        snprintf(out, cap, "\"%s\": probability %s, %.2f bits", text,
                 LAB_SHARE_TEXT(p), -log2(p));
}

/* The first byte of the character that has one; -1: none has. */
static int64_t character_of(const struct lab_snapshot *snap, int64_t byte)
{
    if (!has_written(snap) || byte < 0 || byte >= (int64_t)strlen(snap->sample))
        return -1;
    while (byte > 0 && ((unsigned char)snap->sample[byte] & 0xC0) == 0x80)
        byte--;
    return byte;
}

/* The rows that are in sight, of two lines each, and the first of them. */
static int first_row(struct lab_rect r, int rows, int back)
{
    int first = rows - r.h / 2 - back;
    return first > 0 ? first : 0;
}

int64_t lab_train_written_at(struct lab_rect r, const struct lab_snapshot *snap,
                             int back, bool ascii, int y, int x)
{
    const struct lab_canvas measure = {.ascii = ascii};
    struct spot none = {-1, {-1, -1}};
    lab_rect_cut_top(&r, 1);
    if (!has_written(snap) || !lab_rect_has(r, y, x))
        return -1;
    int rows = lay_out(NULL, &measure, r, snap, 0, &none);
    struct spot spot = {-1,
                        {first_row(r, rows, back) + (y - r.y) / 2, x - r.x}};
    lay_out(NULL, &measure, r, snap, 0, &spot);
    return spot.byte;
}

int64_t lab_train_written_move(struct lab_rect r,
                               const struct lab_snapshot *snap, bool ascii,
                               int64_t byte, int by, int *back)
{
    const struct lab_canvas measure = {.ascii = ascii};
    struct spot spot;
    lab_rect_cut_top(&r, 1);
    if (!has_written(snap) || !snap->sample[0])
        return -1;
    int64_t n = (int64_t)strlen(snap->sample);
    spot.byte = character_of(snap, byte);
    if (spot.byte < 0) /* at its end, which is in sight */
        spot.byte = character_of(snap, n - 1);
    else if (by < 0)
        spot.byte = spot.byte > 0 ? character_of(snap, spot.byte - 1) : 0;
    else
        do
            spot.byte += spot.byte + 1 < n;
        while (character_of(snap, spot.byte) != spot.byte && spot.byte + 1 < n);
    spot.byte = character_of(snap, spot.byte);
    int rows = lay_out(NULL, &measure, r, snap, 0, &spot);
    int first = first_row(r, rows, *back);
    int h = r.h / 2;
    if (spot.at.row < first)
        first = spot.at.row;
    else if (spot.at.row >= first + h)
        first = spot.at.row - h + 1;
    *back = rows - h - first > 0 ? rows - h - first : 0;
    return spot.byte;
}

int lab_train_written(struct lab_canvas *c, struct lab_rect r,
                      const struct lab_snapshot *snap, int back, int64_t cursor)
{
    double bits = 0;
    int64_t n = 0;
    struct spot spot = {character_of(snap, cursor), {-1, -1}};
    if (!has_written(snap)) {
        lab_canvas_heading(c, &r, "what it writes", false);
        note(c, r, "w lets the network write, while it trains too.");
        return 0;
    }
    for (size_t i = 0; snap->sample[i]; i++) {
        bool starts = ((unsigned char)snap->sample[i] & 0xC0) != 0x80;
        if (!starts || isnan(snap->sample_p[i]))
            continue;
        bits -= log2((double)snap->sample_p[i]);
        n++;
    }
    char title[160];
    snprintf(title, sizeof(title),
             "after %lld iterations: %.2f bits a character; below: probability "
             "in tenths",
             (long long)snap->sample_iteration, n > 0 ? bits / (double)n : NAN);
    if (spot.byte >= 0)
        character_title(snap, spot.byte, title, sizeof(title));
    lab_canvas_heading(c, &r, title, false);
    int rows = lay_out(NULL, c, r, snap, 0, &spot);
    lay_out(c, c, r, snap, first_row(r, rows, back), &spot);
    return rows;
}
