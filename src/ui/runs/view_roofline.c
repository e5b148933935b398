/* The roofline's screen: points under the measured roofs, the plot, and the
 * table below it. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/roof_plot.h"
#include "record_list.h"
#include "term/dots.h"
#include "engine/ceiling.h"
#include "base/mem.h"
#include "base/format.h"
#include "report/palette.h"
#include "ui/table.h"
#include "ui/views.h"

enum { AXIS_W = 6, WIDE = 120, LABEL_BYTES = 128 };
enum { OWNER_MEMORY, OWNER_COMPUTE, OWNER_DISTANCE };

struct lab_roof_layout lab_roof_layout(struct lab_rect body)
{
    struct lab_roof_layout l = {.picture = body};
    int words = body.h >= 30 ? 7 : body.h >= 21 ? 6 : body.h >= 18 ? 5 : 0;
    l.words = lab_rect_cut_bottom(&l.picture, words);
    if (body.w >= WIDE) {
        l.list = lab_rect_cut_right(&l.picture, body.w * 2 / 5);
        lab_rect_cut_right(&l.picture, 1);
    } else {
        l.list = lab_rect_cut_bottom(&l.picture, l.picture.h * 2 / 5);
    }
    return l;
}

char lab_roof_label(int64_t place)
{
    static const char labels[] = "123456789abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bool has = place >= 0 && place < (int64_t)sizeof(labels) - 1;
    return has ? labels[place] : '*';
}

static bool positive(double v)
{
    return isfinite(v) && v > 0;
}

bool lab_roof_has_place(const struct lab_roofline_point *p)
{
    return positive(p->intensity) && positive(p->flop_s);
}

/* ---- axes ---- */

/* The height of a roof of arithmetic; NaN: unknown, or the memory's. */
static double compute_per_s(const struct lab_roofline *l, int i)
{
    return i != LAB_CEILING_COPY && positive(l->per_s[i]) ? l->per_s[i]
                                                          : (double)NAN;
}

static double memory_per_s(const struct lab_roofline *l)
{
    double v = l->per_s[LAB_CEILING_COPY];
    return positive(v) ? v : (double)NAN;
}

/* The name of a roof with its height. */
static void roof_text(const struct lab_roofline *l, int i, char *out,
                      size_t cap)
{
    enum lab_ceiling ceiling = (enum lab_ceiling)i;
    snprintf(out, cap, "%s %s", lab_ceiling_name(ceiling),
             LAB_AMOUNT_TEXT(l->per_s[i], lab_ceiling_unit(ceiling)));
}

static const struct lab_roofline_row *row_at(const struct lab_roof_list *list,
                                             int64_t place)
{
    return &list->line->rows[list->shown[place]];
}

static const struct lab_roofline_point *
point_at(const struct lab_roof_list *list, int64_t place)
{
    return &row_at(list, place)->point;
}

/* A quotient of rates may be too small or too large for a number. */
static void widen(double v, double *low, double *high)
{
    if (!isfinite(v))
        return;
    *low = isnan(*low) || v < *low ? v : *low;
    *high = isnan(*high) || v > *high ? v : *high;
}

static void fit_roofs(struct lab_roof_axes *a, const struct lab_roofline *l)
{
    double memory = memory_per_s(l);
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        double v = compute_per_s(l, i);
        widen(log10(v), &a->y0, &a->y1);
        widen(log10(v / memory), &a->x0, &a->x1);
    }
    if (isnan(a->y0) && !isnan(memory)) { /* at one FLOP a byte */
        widen(log10(memory), &a->y0, &a->y1);
        widen(0, &a->x0, &a->x1);
    }
}

bool lab_roof_axes_fit(struct lab_roof_axes *out,
                       const struct lab_roof_list *list, struct lab_rect plot)
{
    struct lab_roof_axes a = {plot, NAN, NAN, NAN, NAN};
    fit_roofs(&a, list->line);
    for (int64_t i = 0; i < list->count; i++) {
        const struct lab_roofline_point *p = point_at(list, i);
        if (!lab_roof_has_place(p))
            continue;
        widen(log10(p->intensity), &a.x0, &a.x1);
        widen(log10(p->flop_s), &a.y0, &a.y1);
    }
    if (isnan(a.x0) || isnan(a.y0))
        return false;
    a.x0 = floor(a.x0 - 0.1);
    a.x1 = ceil(a.x1 + 0.3);
    a.y0 = floor(a.y0 - 0.02);
    a.y1 = ceil(a.y1 + 0.1);
    *out = a;
    return true;
}

static double share_of(double v, double v0, double v1)
{
    return (v - v0) / (v1 - v0);
}

/* The nearest of `count` cells or dots; far outside stays just outside. */
static int at(double share, int count)
{
    double v = share * (count - 1);
    return (int)lround(v < -1 ? -1 : v > count ? count : v);
}

bool lab_roof_cell(const struct lab_roof_axes *a, double intensity,
                   double flop_s, int *y, int *x)
{
    if (!positive(intensity) || !positive(flop_s))
        return false;
    int cx = at(share_of(log10(intensity), a->x0, a->x1), a->plot.w);
    int cy = at(share_of(log10(flop_s), a->y0, a->y1), a->plot.h);
    *x = a->plot.x + cx;
    *y = a->plot.y + a->plot.h - 1 - cy;
    return lab_rect_has(a->plot, *y, *x);
}

/* ---- lines ---- */

struct drawing {
    struct lab_canvas *c;
    struct lab_roof_axes axes;
    struct lab_dots dots;
    const struct lab_roof_list *list;
};

static void line(struct drawing *d, double x0, double y0, double x1, double y1,
                 int owner)
{
    const struct lab_roof_axes *a = &d->axes;
    int w = d->dots.w;
    int h = d->dots.h;
    lab_dots_line(&d->dots, at(share_of(x0, a->x0, a->x1), w),
                  h - 1 - at(share_of(y0, a->y0, a->y1), h),
                  at(share_of(x1, a->x0, a->x1), w),
                  h - 1 - at(share_of(y1, a->y0, a->y1), h), owner);
}

/* The memory's roof: y = x + log10(bytes a second), where it is in sight. */
static void draw_memory(struct drawing *d, double memory, double top)
{
    const struct lab_roof_axes *a = &d->axes;
    double m = log10(memory);
    double x0 = fmax(a->x0, a->y0 - m);
    double x1 = fmin(fmin(a->x1, top - m), a->y1 - m);
    if (x1 > x0)
        line(d, x0, x0 + m, x1, x1 + m, OWNER_MEMORY);
}

static void draw_roofs(struct drawing *d)
{
    const struct lab_roofline *l = d->list->line;
    const struct lab_roof_axes *a = &d->axes;
    double memory = memory_per_s(l);
    double top = NAN;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        double y = log10(compute_per_s(l, i));
        if (isnan(y))
            continue;
        double x0 = isnan(memory) ? a->x0 : fmax(a->x0, y - log10(memory));
        line(d, x0, y, a->x1, y, OWNER_COMPUTE);
        top = isnan(top) || y > top ? y : top;
    }
    if (!isnan(memory))
        draw_memory(d, memory, isnan(top) ? a->y1 : top);
}

/* From the chosen point up (or down) to what the roofs allow there. */
static void draw_distance(struct drawing *d, const struct lab_roofline_point *p)
{
    const struct lab_roof_axes *a = &d->axes;
    if (!lab_roof_has_place(p) || !positive(p->allowed_flop_s))
        return;
    int x = at(share_of(log10(p->intensity), a->x0, a->x1), d->dots.w);
    int from =
        d->dots.h - 1 - at(share_of(log10(p->flop_s), a->y0, a->y1), d->dots.h);
    int to = d->dots.h - 1 -
             at(share_of(log10(p->allowed_flop_s), a->y0, a->y1), d->dots.h);
    int step = to < from ? -2 : 2;
    for (int y = from; step < 0 ? y > to : y < to; y += step)
        lab_dots_set(&d->dots, x, y, OWNER_DISTANCE);
}

/* ---- words in the picture ---- */

/* The roofs of arithmetic in a row, with their heights. */
static void name_row(const struct drawing *d, int row, char out[LABEL_BYTES])
{
    const struct lab_roofline *l = d->list->line;
    const struct lab_roof_axes *a = &d->axes;
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        char name[LABEL_BYTES / 2];
        double v = compute_per_s(l, i);
        if (isnan(v) || n >= LABEL_BYTES ||
            a->plot.h - 1 - at(share_of(log10(v), a->y0, a->y1), a->plot.h) !=
                row)
            continue;
        roof_text(l, i, name, sizeof(name));
        n += (size_t)snprintf(out + n, LABEL_BYTES - n, "%s%s", n ? ", " : " ",
                              name);
    }
}

/* Of a point, from this share of the time on; a high plot has room for rows. */
static const struct {
    double from;
    int columns;
    int rows;
} sizes[] = {{0.3, 4, 2}, {0.1, 2, 1}, {0.03, 1, 0}};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* Rows of a point above its own, and columns to each side, in a plot of `h` rows. */
static void mark_size(double time, int h, int *rows, int *columns)
{
    *rows = *columns = 0;
    for (size_t i = 0; i < SIZES; i++)
        if (time >= sizes[i].from) {
            *rows = h >= 8 * (sizes[i].rows + 1) ? sizes[i].rows : 0;
            *columns = *rows || sizes[i].columns < 2 ? sizes[i].columns
                                                     : sizes[i].columns / 2 + 1;
            return;
        }
}

/* The first column of a point that text from x on, `w` columns in row `y`, would
 * hide or touch; -1: none. A label must not be taken for a digit of a
 * height. */
static int point_in_text(const struct drawing *d, int y, int x, int w)
{
    for (int64_t i = 0; i < d->list->count; i++) {
        const struct lab_roofline_point *p = point_at(d->list, i);
        int py;
        int px;
        int rows;
        int half;
        mark_size(row_at(d->list, i)->time, d->axes.plot.h, &rows, &half);
        if (lab_roof_cell(&d->axes, p->intensity, p->flop_s, &py, &px) &&
            abs(py - y) <= rows && px + half >= x - 1 && px - half <= x + w)
            return px - half;
    }
    return -1;
}

/* At x, or as far to the left of it as needed. */
static int place_text(const struct drawing *d, int y, int x, int w)
{
    int free_x = x;
    for (int px; (px = point_in_text(d, y, free_x, w)) >= 0;)
        free_x = px - w - 1;
    return free_x >= d->axes.plot.x ? free_x : x;
}

/* Names stand over the right end of their line, or on it where there is no
 * room. */
static void name_roofs(struct drawing *d)
{
    const struct lab_roof_axes *a = &d->axes;
    int taken = -1;
    for (int row = 0; row < a->plot.h; row++) {
        char label[LABEL_BYTES];
        name_row(d, row, label);
        int w = lab_canvas_columns(d->c, label);
        int over = row > taken + 1 ? row - 1 : row;
        if (w == 0 || w >= a->plot.w)
            continue;
        taken = over;
        int y = a->plot.y + over;
        int x = place_text(d, y, a->plot.x + a->plot.w - w, w);
        lab_canvas_text(d->c, y, x, w, LAB_ROLE_SERIES_2, label);
    }
}

/* Below the memory's line, a third of the way up, or in the next row upwards
 * where it hides no point. */
static void name_memory(struct drawing *d)
{
    const struct lab_roofline *l = d->list->line;
    const struct lab_roof_axes *a = &d->axes;
    double m = log10(memory_per_s(l));
    char text[LABEL_BYTES] = " ";
    if (isnan(m))
        return;
    roof_text(l, LAB_CEILING_COPY, text + 1, sizeof(text) - 1);
    int w = lab_canvas_columns(d->c, text);
    double left = fmax(a->y0, a->x0 + m);
    for (int part = 4; part <= 9; part++) {
        double v = left + (a->y1 - left) * part / 12;
        int row = at(share_of(v, a->y0, a->y1), a->plot.h);
        int under = a->plot.h - (row > 0 ? row : 1);
        int y = a->plot.y + under;
        int x = a->plot.x + at(share_of(v - m, a->x0, a->x1), a->plot.w);
        if (part < 9 && point_in_text(d, y, x + 1, w) >= 0)
            continue;
        lab_canvas_text(d->c, y, x, -1, LAB_ROLE_SERIES_1, text);
        break;
    }
}

static enum lab_role color_of(const struct drawing *d, int64_t place)
{
    const struct lab_roofline_row *row = row_at(d->list, place);
    int64_t phase = row->sum->phase_id;
    if (!d->list->by_phase)
        return lab_role_of_verdict(row->point.verdict);
    return phase >= 0 && phase < LAB_PHASE_COUNT
               ? lab_role_of_phase((enum lab_phase)phase)
               : LAB_ROLE_NORMAL;
}

/* Nothing is there that is read: a word, or the sign of a point. */
static bool is_free(const struct drawing *d, struct lab_rect at)
{
    if (!lab_rect_inside(at, d->axes.plot))
        return false;
    for (int x = at.x; x < at.x + at.w; x++) {
        const char *text = d->c->cells[at.y * d->c->w + x].text;
        if (isalnum((unsigned char)text[0]) || strcmp(text, "*") == 0)
            return false;
    }
    return true;
}

/* A row of a point. */
static void draw_disc_row(const struct drawing *d, struct lab_rect r,
                          enum lab_role role)
{
    const enum lab_tint tint = lab_tint_of_role(role);
    lab_canvas_fill(d->c, r, d->c->ascii ? ":" : d->c->tints ? " " : "▒", role);
    lab_canvas_paper(d->c, r, tint ? tint : LAB_TINT_OTHER);
}

/* Below the roofs at the right, where no point is: what the sizes of points mean. */
static void name_sizes(struct drawing *d)
{
    enum { LEAST_H = 12, LEAST_W = 60 };
    const struct lab_rect *plot = &d->axes.plot;
    char text[SIZES + 1][32];
    int half[SIZES + 1] = {0};
    int rows;
    int w = 0;
    for (int i = 0; i <= SIZES; i++) {
        if (i < SIZES)
            mark_size(sizes[i].from, plot->h, &rows, &half[i]);
        snprintf(text[i], sizeof(text[i]),
                 i < SIZES ? " %.0f %% " : " less of the time",
                 100 * sizes[i < SIZES ? i : 0].from);
        w += 2 * half[i] + 1 + lab_canvas_columns(d->c, text[i]);
    }
    struct lab_rect at = {plot->y + plot->h - 1, plot->x + plot->w - w, 1, w};
    if (plot->h < LEAST_H || plot->w < LEAST_W || !is_free(d, at) ||
        point_in_text(d, at.y, at.x, w) >= 0)
        return;
    for (int i = 0; i <= SIZES; i++) {
        draw_disc_row(d, lab_rect_cut_left(&at, 2 * half[i] + 1), LAB_ROLE_DIM);
        lab_canvas_add(d->c, &at, LAB_ROLE_DIM, "%s", text[i]);
    }
}

/* About round: its first and last row are narrower. */
static void draw_disc(const struct drawing *d, int64_t place, int y, int x)
{
    enum lab_role role = color_of(d, place);
    int rows;
    int columns;
    mark_size(row_at(d->list, place)->time, d->axes.plot.h, &rows, &columns);
    struct lab_rect old = lab_canvas_clip(d->c, d->axes.plot);
    for (int i = -rows; i <= rows; i++) {
        int half =
            rows > 0 && (i == rows || i == -rows) ? columns / 2 : columns;
        draw_disc_row(d, (struct lab_rect){y + i, x - half, 1, 2 * half + 1},
                      role);
    }
    lab_canvas_unclip(d->c, old);
}

/* "fc1.matmul 4.35 us, 31 %", beside the chosen point, over it or below it: where
 * it hides nothing. */
static void name_chosen(const struct drawing *d, int64_t chosen, int y, int x,
                        int half)
{
    const struct lab_roofline_row *row = row_at(d->list, chosen);
    const struct lab_rect *plot = &d->axes.plot;
    char text[LABEL_BYTES];
    snprintf(text, sizeof(text), " %.60s %s, %s ", lab_roofline_name(row),
             LAB_NS_TEXT(row->sum->median_ns),
             row->time < 0.0005 ? "<0.1 %" : LAB_SHARE_TEXT(row->time));
    int w = lab_canvas_columns(d->c, text);
    int most = plot->x + plot->w - w;
    int middle = x - w / 2 < most ? x - w / 2 : most;
    middle = middle > plot->x ? middle : plot->x;
    const struct lab_rect places[] = {
        {y, x + half + 2, 1, w}, {y, x - half - 1 - w, 1, w},
        {y - 1, middle, 1, w},   {y + 1, middle, 1, w},
        {y - 2, middle, 1, w},   {y + 2, middle, 1, w}};
    struct lab_rect at = {y > plot->y ? y - 1 : y + 1, middle, 1, w};
    for (int i = (int)(sizeof(places) / sizeof(places[0])) - 1; i >= 0; i--)
        if (is_free(d, places[i]))
            at = places[i];
    if (!lab_rect_inside(at, *plot))
        return;
    lab_canvas_fill(d->c, at, " ", LAB_ROLE_NORMAL);
    lab_canvas_paper(d->c, at, LAB_TINT_PANEL);
    lab_canvas_text(d->c, at.y, at.x, w, LAB_ROLE_TITLE, text);
}

/* Under all words: the small ones over the large, the chosen one over all. */
static void draw_discs(const struct drawing *d, int64_t chosen)
{
    enum { LARGEST = 4 };
    const struct lab_roof_list *list = d->list;
    for (int size = LARGEST; size >= -1; size--)
        for (int64_t i = list->count - 1; i >= 0; i--) {
            const struct lab_roofline_point *p = point_at(list, i);
            int rows;
            int columns;
            int y;
            int x;
            mark_size(row_at(list, i)->time, d->axes.plot.h, &rows, &columns);
            if ((size < 0 ? i == chosen : columns == size) &&
                lab_roof_cell(&d->axes, p->intensity, p->flop_s, &y, &x))
                draw_disc(d, i, y, x);
        }
}

static void draw_points(struct drawing *d, int64_t chosen)
{
    const struct lab_roof_list *list = d->list;
    int y;
    int x;
    for (int64_t i = list->count - 1; i >= 0; i--) { /* the first on top */
        const struct lab_roofline_point *p = point_at(list, i);
        if (lab_roof_cell(&d->axes, p->intensity, p->flop_s, &y, &x))
            lab_canvas_textf(d->c, y, x, 1, LAB_ROLE_KEY, "%c",
                             lab_roof_label(i));
    }
    if (chosen < 0 || chosen >= list->count)
        return;
    const struct lab_roofline_point *p = point_at(list, chosen);
    if (lab_roof_cell(&d->axes, p->counted_intensity, p->flop_s, &y, &x))
        lab_canvas_text(d->c, y, x, 1, LAB_ROLE_MARK, "+");
    if (!lab_roof_cell(&d->axes, p->intensity, p->flop_s, &y, &x))
        return;
    int rows;
    int half;
    mark_size(row_at(list, chosen)->time, d->axes.plot.h, &rows, &half);
    name_chosen(d, chosen, y, x, half);
    lab_canvas_text(d->c, y, x - half - 1, 1, LAB_ROLE_MARK, ">");
    lab_canvas_text(d->c, y, x + half + 1, 1, LAB_ROLE_MARK, "<");
    lab_canvas_textf(d->c, y, x, 1, LAB_ROLE_SELECTED, "%c",
                     lab_roof_label(chosen));
}

/* ---- axes ---- */

/* A power of ten with a prefix of a thousand: "100 G". */
static void power_text(int power, char *out, size_t cap)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    static const char *const digits[] = {"1", "10", "100"};
    if (power >= 0 && power / 3 < 7)
        snprintf(out, cap, "%s%s%s", digits[power % 3], power >= 3 ? " " : "",
                 prefixes[power / 3]);
    else if (power < 0 && power >= -3)
        snprintf(out, cap, "0.%s1",
                 power == -1   ? ""
                 : power == -2 ? "0"
                               : "00");
    else
        snprintf(out, cap, "1e%d", power);
}

static void draw_y_axis(struct drawing *d)
{
    const struct lab_roof_axes *a = &d->axes;
    char text[16];
    int last = -1;
    for (int y = 0; y < a->plot.h; y++)
        lab_canvas_text(d->c, a->plot.y + y, a->plot.x - 1, 1, LAB_ROLE_BORDER,
                        "│");
    for (int power = (int)a->y1; power >= (int)a->y0; power--) {
        int row = a->plot.h - 1 - at(share_of(power, a->y0, a->y1), a->plot.h);
        if (row == last || (last >= 0 && row - last < 2))
            continue;
        last = row;
        power_text(power, text, sizeof(text));
        lab_canvas_textf(d->c, a->plot.y + row, a->plot.x - AXIS_W, AXIS_W - 1,
                         LAB_ROLE_DIM, "%*s", AXIS_W - 1, text);
        lab_canvas_text(d->c, a->plot.y + row, a->plot.x - 1, 1,
                        LAB_ROLE_BORDER, "┤");
    }
}

static void draw_x_axis(struct drawing *d)
{
    static const char name[] = " FLOP/byte ";
    const struct lab_roof_axes *a = &d->axes;
    int base = a->plot.y + a->plot.h;
    int taken = a->plot.x - 1;
    char text[16];
    int name_x = a->plot.x + a->plot.w - (int)sizeof(name) + 1;
    lab_canvas_fill(d->c, (struct lab_rect){base, a->plot.x, 1, a->plot.w}, "─",
                    LAB_ROLE_BORDER);
    lab_canvas_text(d->c, base, a->plot.x - 1, 1, LAB_ROLE_BORDER, "└");
    for (int power = (int)a->x0; power <= (int)a->x1; power++) {
        int x = a->plot.x + at(share_of(power, a->x0, a->x1), a->plot.w);
        power_text(power, text, sizeof(text));
        int w = (int)strlen(text) + 2;
        x -= w / 2;
        if (x <= taken || x + w > name_x)
            continue;
        taken = x + w;
        lab_canvas_textf(d->c, base, x, w, LAB_ROLE_DIM, " %s ", text);
    }
    if (name_x > a->plot.x)
        lab_canvas_text(d->c, base, name_x, -1, LAB_ROLE_DIM, name);
}

/* Without the axes. */
static struct lab_rect plot_of(struct lab_rect r)
{
    lab_rect_cut_left(&r, AXIS_W);
    lab_rect_cut_bottom(&r, 1);
    return r.h < 3 || r.w < 16 ? (struct lab_rect){0} : r;
}

void lab_roof_plot_draw(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_roof_list *list, int64_t chosen)
{
    static const enum lab_role roles[] = {[OWNER_MEMORY] = LAB_ROLE_SERIES_1,
                                          [OWNER_COMPUTE] = LAB_ROLE_SERIES_2,
                                          [OWNER_DISTANCE] = LAB_ROLE_DIM};
    struct drawing d = {.c = c, .list = list};
    struct lab_rect old = lab_canvas_clip(c, r);
    r = plot_of(r);
    if (lab_rect_empty(r)) {
        lab_canvas_unclip(c, old);
        return;
    }
    if (!lab_roof_axes_fit(&d.axes, list, r)) {
        lab_canvas_text(c, r.y + r.h / 2, r.x, r.w, LAB_ROLE_DIM,
                        "nothing to draw: no work, no times, no roofs");
    } else if (!lab_dots_init(&d.dots, c, r)) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_BAD, "(out of memory)");
    } else {
        draw_roofs(&d);
        if (chosen >= 0 && chosen < list->count)
            draw_distance(&d, point_at(list, chosen));
        lab_dots_show(&d.dots, c, roles);
        lab_dots_release(&d.dots);
        draw_y_axis(&d);
        draw_x_axis(&d);
        lab_canvas_text(c, r.y, r.x + 1, -1, LAB_ROLE_DIM, "FLOP/s");
        name_sizes(&d);
        draw_discs(&d, chosen);
        name_memory(&d);
        name_roofs(&d);
        draw_points(&d, chosen);
    }
    lab_canvas_unclip(c, old);
}

/* ---- clicks ---- */

/* The columns to each side of a point that a cell is on; -1: it is on none. */
static int half_at(const struct lab_roof_axes *a,
                   const struct lab_roof_list *list, int64_t i, int y, int x)
{
    const struct lab_roofline_point *p = point_at(list, i);
    int rows;
    int half;
    int py;
    int px;
    mark_size(row_at(list, i)->time, a->plot.h, &rows, &half);
    bool on = lab_roof_cell(a, p->intensity, p->flop_s, &py, &px) &&
              abs(y - py) <= rows && abs(x - px) <= half;
    return on ? half : -1;
}

static bool same_cell(const struct lab_roof_axes *a,
                      const struct lab_roof_list *list, int64_t i, int64_t k)
{
    const struct lab_roofline_point *p = point_at(list, i);
    const struct lab_roofline_point *q = point_at(list, k);
    int y[2];
    int x[2];
    return lab_roof_cell(a, p->intensity, p->flop_s, &y[0], &x[0]) &&
           lab_roof_cell(a, q->intensity, q->flop_s, &y[1], &x[1]) &&
           y[0] == y[1] && x[0] == x[1];
}

/* The place of the point at a cell of the picture drawn in `r`, the smallest one of
 * several; where `chosen` is one of those in that cell, the next of them. -1:
 * none is there. */
static int64_t find_near(struct lab_rect r, const struct lab_roof_list *list,
                         int64_t chosen, int y, int x)
{
    struct lab_roof_axes a;
    int64_t found = -1;
    int least = 0;
    struct lab_rect plot = plot_of(r);
    if (!lab_rect_has(plot, y, x) || !lab_roof_axes_fit(&a, list, plot))
        return -1;
    for (int64_t i = 0; i < list->count; i++) {
        int half = half_at(&a, list, i, y, x);
        if (half < 0 || (found >= 0 && half >= least))
            continue;
        found = i;
        least = half;
    }
    if (found < 0 || chosen < 0 || chosen >= list->count ||
        !same_cell(&a, list, found, chosen))
        return found;
    for (int64_t k = 1; k <= list->count; k++) {
        int64_t i = (chosen + k) % list->count;
        if (same_cell(&a, list, found, i))
            return i;
    }
    return found;
}

/* ---- the screen ---- */

enum { LEVEL_STEPS, LEVEL_KERNELS, LEVEL_ALL, LEVELS };
enum { WORDS = 512 };

struct roofline_state {
    struct lab_record_list columns; /* first: the table reads it */
    struct lab_run_args args;
    const struct lab_roofline *line;
    struct lab_str note;
    int64_t *shown; /* the rows of the level */
    struct lab_roof_list list;
    struct lab_table table;
    struct lab_rect picture; /* as it was drawn */
    int level;
};

static const char *const LEVEL_TITLES[LEVELS] = {"Steps", "Kernels",
                                                 "Steps and kernels"};

/* With the sign of the point; a kernel is below its step. */
static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct roofline_state *st = user;
    bool indent = column == 1 && lab_roofline_is_kernel(row_at(&st->list, row));
    if (column == 0) {
        snprintf(out, cap, "%c", lab_roof_label(row));
        return;
    }
    if (indent)
        out += snprintf(out, cap, "  ");
    lab_record_cell(&st->columns, row, column, out, cap - 2 * indent, role);
}

/* ---- life ---- */

static bool is_of(const struct lab_roofline_row *row, int level)
{
    return level == LEVEL_ALL ||
           lab_roofline_is_kernel(row) == (level == LEVEL_KERNELS);
}

/* What takes longest first, so that it has a sign of its own; for qsort_r(). */
static int compare_times(const void *a, const void *b, void *line)
{
    const struct lab_roofline *l = line;
    int64_t i = *(const int64_t *)a;
    int64_t k = *(const int64_t *)b;
    int order =
        lab_table_compare_double(l->rows[k].time, l->rows[i].time, true);
    return order ? order : (i > k) - (i < k);
}

static enum lab_status show_level(struct roofline_state *st)
{
    int64_t n = 0;
    for (size_t i = 0; i < st->line->count; i++)
        if (is_of(&st->line->rows[i], st->level))
            st->shown[n++] = (int64_t)i;
    if (st->level != LEVEL_ALL) /* there a kernel is below its step */
        qsort_r(st->shown, (size_t)n, sizeof(*st->shown), compare_times,
                (void *)st->line);
    st->list =
        (struct lab_roof_list){st->line, st->shown, n, st->list.by_phase};
    return lab_table_set_count(&st->table, n);
}

/* The cursor onto the step from which the screen was opened. */
static void select_step(struct roofline_state *st)
{
    for (int64_t i = 0; st->args.step && i < st->list.count; i++) {
        const struct lab_roofline_row *row = row_at(&st->list, i);
        const char *phase = row->sum->phase ? row->sum->phase : "";
        if (strcmp(lab_roofline_name(row), st->args.step) == 0 &&
            (!st->args.phase || strcmp(phase, st->args.phase) == 0)) {
            lab_table_select(&st->table, i);
            return;
        }
    }
}

static void release(struct lab_screen *s)
{
    struct roofline_state *st = s->state;
    lab_table_release(&st->table);
    lab_str_release(&st->note);
    lab_free(st->shown);
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct roofline_state *st = s->state;
    st->args = *(const struct lab_run_args *)args;
    const struct lab_runs_model *m = st->args.model;
    if (!m->load_roofline)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-roofline] there is no roofline here");
    enum lab_status status =
        m->load_roofline(m->user, st->args.run.id, &st->line, &st->note);
    if (status)
        return status;
    lab_record_list_init(&st->columns, &lab_roofline_fields, 0);
    st->columns.ops.cell = cell;
    lab_table_init(&st->table, &st->columns.ops, st);
    st->table.empty = "This run has none.";
    st->shown = lab_alloc_array(st->line->count + 1, sizeof(*st->shown));
    st->columns.rows = st->line->rows;
    st->columns.shown = st->shown;
    status = st->shown ? show_level(st) : lab_no_memory("the roofline");
    if (!status)
        select_step(st);
    return status;
}

/* ---- drawing ---- */

static void draw_picture(struct roofline_state *st, struct lab_canvas *c,
                         struct lab_rect r)
{
    char title[160];
    const char *device = st->line->device.device;
    snprintf(title, sizeof(title), "Roofline of %s",
             device[0] ? device : "an unknown device");
    lab_canvas_heading(c, &r, title, false);
    if (st->note.len) {
        enum { MOST = 5 };
        const char *text = lab_str_text(&st->note);
        struct lab_rect note =
            lab_rect_cut_top(&r, lab_canvas_paragraph_rows(c, r.w, MOST, text));
        lab_canvas_paragraph(c, note, LAB_ROLE_WARN, text);
    }
    st->picture = r;
    lab_roof_plot_draw(c, r, &st->list, lab_table_row(&st->table));
}

static void work_text(const struct lab_roofline_row *row, char *out, size_t cap)
{
    const struct lab_roofline_point *p = &row->point;
    const char *formula = LAB_AMOUNT_TEXT(row->work.flop, "FLOP");
    bool part = isnan(p->counted_flop) && !isnan(p->counted_least);
    if (isnan(p->counted_least) && isnan(p->dram_bytes)) {
        snprintf(out, cap, "work: %s by the formula; not counted", formula);
        return;
    }
    int n = snprintf(out, cap, "work: %s by the formula, %s%s counted; DRAM %s",
                     formula, part ? "at least " : "",
                     LAB_AMOUNT_TEXT(p->counted_least, "FLOP"),
                     LAB_BYTES_TEXT(p->dram_bytes));
    if (row->flop_reason[0] && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n, " (%s)", row->flop_reason);
}

static void draw_words(const struct roofline_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    int64_t place = lab_table_row(&st->table);
    char text[WORDS];
    if (lab_rect_empty(r) || place < 0)
        return;
    const struct lab_roofline_row *row = row_at(&st->list, place);
    const char *phase = row->sum->phase ? row->sum->phase : "";
    snprintf(text, sizeof(text), "%c  %s%s%s", lab_roof_label(place),
             lab_roofline_name(row), phase[0] ? ", " : "", phase);
    lab_canvas_heading(c, &r, text, false);
    int used = lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, row->sentence);
    lab_rect_cut_top(&r, used);
    work_text(row, text, sizeof(text));
    lab_canvas_paragraph(c, r, LAB_ROLE_DIM, text);
}

/* The roofs, and the FLOP/byte from which on memory does not bound a step. Returns
 * the rows that it takes. */
static int draw_roof_list(const struct lab_roofline *line, struct lab_canvas *c,
                          struct lab_rect r)
{
    enum { NAME_W = 22, HEIGHT_W = 16 };
    int from = r.y;
    double memory = line->per_s[LAB_CEILING_COPY];
    for (int i = 0; i < LAB_CEILING_ROOFS && r.h > 0; i++) {
        enum lab_ceiling ceiling = (enum lab_ceiling)i;
        if (isnan(line->per_s[i]))
            continue;
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        const char *height =
            LAB_AMOUNT_TEXT(line->per_s[i], lab_ceiling_unit(ceiling));
        lab_canvas_text_cut(c, row.y, row.x, NAME_W - 1, LAB_ROLE_NORMAL,
                            lab_ceiling_name(ceiling));
        lab_canvas_textf(c, row.y, row.x + NAME_W, HEIGHT_W, LAB_ROLE_NORMAL,
                         "%*s", HEIGHT_W - 2, height);
        lab_rect_cut_left(&row, NAME_W + HEIGHT_W);
        if (strstr(lab_ceiling_unit(ceiling), "FLOP") && memory > 0)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "from %.3g FLOP/byte on",
                           line->per_s[i] / memory);
    }
    return r.y - from;
}

/* Below a short list: the roofs in figures, and the sentences of the other rows. */
static void draw_more(const struct roofline_state *st, struct lab_canvas *c,
                      struct lab_rect r)
{
    lab_canvas_heading(c, &r, "Roofs of the device", false);
    int rows = draw_roof_list(st->line, c, r);
    if (rows > 0)
        lab_rect_cut_top(&r, rows + 1);
    lab_canvas_heading(c, &r, "What bounds each", false);
    for (int64_t i = 0; i < st->list.count && r.h > 1; i++) {
        const struct lab_roofline_row *row = row_at(&st->list, i);
        char text[2 * WORDS];
        snprintf(text, sizeof(text), "%c  %s: %s", lab_roof_label(i),
                 lab_roofline_name(row), row->sentence);
        if (lab_canvas_paragraph_rows(c, r.w, r.h + 1, text) > r.h)
            return;
        lab_rect_cut_top(&r, lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, text));
    }
}

/* "Steps; not drawn, without FLOPs: 3" */
static void list_title(const struct roofline_state *st, char *out, size_t cap)
{
    int64_t missing = 0;
    for (int64_t i = 0; i < st->list.count; i++)
        missing += !lab_roof_has_place(point_at(&st->list, i));
    int n = snprintf(out, cap, "%s", LEVEL_TITLES[st->level]);
    if (missing > 0)
        n += snprintf(out + n, cap - (size_t)n,
                      "; not drawn, without FLOPs: %lld", (long long)missing);
    if (st->list.count > 0 && lab_roof_label(st->list.count - 1) == '*')
        snprintf(out + n, cap - (size_t)n, "; *: beyond 61");
}

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    struct roofline_state *st = s->state;
    struct lab_roof_layout l = lab_roof_layout(body);
    char title[160];
    draw_picture(st, c, l.picture);
    list_title(st, title, sizeof(title));
    enum { HEADS = 2, LEAST_MORE = 10 };
    int more = l.list.h - HEADS - (int)st->list.count;
    struct lab_rect below =
        lab_rect_cut_bottom(&l.list, more < LEAST_MORE ? 0 : more);
    lab_canvas_heading(c, &l.list, title, true);
    if (below.h > 0)
        draw_more(st, c, below);
    lab_table_draw(&st->table, c, l.list, true);
    draw_words(st, c, l.words);
}

/* ---- keys ---- */

static void panes(struct lab_screen *s, struct lab_panes *out)
{
    struct roofline_state *st = s->state;
    out->at[0].table = &st->table;
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct roofline_state *st = s->state;
    int64_t place =
        what == LAB_MOUSE_CLICK
            ? find_near(st->picture, &st->list, lab_table_row(&st->table), y, x)
            : -1;
    if (place >= 0)
        lab_table_select(&st->table, place);
    return place >= 0;
}

static enum lab_status next_level(struct lab_screen *s)
{
    struct roofline_state *st = s->state;
    st->level = (st->level + 1) % LEVELS;
    return show_level(st);
}

static enum lab_status turn_colors(struct lab_screen *s)
{
    struct roofline_state *st = s->state;
    st->list.by_phase = !st->list.by_phase;
    return LAB_OK;
}

static const struct lab_binding BINDINGS[] = {
    {"b F8", true, "phase", "colours by phase, or by what bounds it",
     LAB_ACT_OWN, turn_colors},
    {"v F7", true, "level", "steps, kernels, or both", LAB_ACT_OWN, next_level},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", true, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

static const struct lab_sign SIGNS[] = {
    {"1 ... 9 a ... Z",
     "a point of the list, by the formula's work; larger from 3, "
     "10 and 30 % of the time on"},
    {"*", "a step beyond the 61st: it has no sign of its own"},
    {">1<", "the chosen one, its name, median and share of the time; the dots "
            "go to what the roofs allow there"},
    {"+", "the chosen one by the work that was counted"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_roofline = {
    .name = "roofline",
    .title = "Roofline",
    .state_bytes = sizeof(struct roofline_state),
    .bindings = BINDINGS,
    .init = init,
    .release = release,
    .draw = draw,
    .panes = panes,
    .mouse = mouse,
    .signs = SIGNS,
};
