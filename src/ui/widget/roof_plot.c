#include "ui/roof_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "term/dots.h"

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

bool lab_roof_has_place(const struct lab_ui_roof_point *p)
{
    return positive(p->intensity) && positive(p->flop_s);
}

/* ---- axes ---- */

static double memory_per_s(const struct lab_ui_roofline *l)
{
    for (int i = 0; i < l->roof_count; i++)
        if (l->roofs[i].memory && positive(l->roofs[i].per_s))
            return l->roofs[i].per_s;
    return NAN;
}

/* A quotient of rates may be too small or too large for a number. */
static void widen(double v, double *low, double *high)
{
    if (!isfinite(v))
        return;
    *low = isnan(*low) || v < *low ? v : *low;
    *high = isnan(*high) || v > *high ? v : *high;
}

static void fit_roofs(struct lab_roof_axes *a, const struct lab_ui_roofline *l)
{
    double memory = memory_per_s(l);
    for (int i = 0; i < l->roof_count; i++) {
        const struct lab_ui_roof *r = &l->roofs[i];
        if (r->memory || !positive(r->per_s))
            continue;
        widen(log10(r->per_s), &a->y0, &a->y1);
        if (!isnan(memory))
            widen(log10(r->per_s / memory), &a->x0, &a->x1);
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
        const struct lab_ui_roof_point *p = &list->line->points[list->shown[i]];
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
    const struct lab_ui_roofline *l = d->list->line;
    const struct lab_roof_axes *a = &d->axes;
    double memory = memory_per_s(l);
    double top = NAN;
    for (int i = 0; i < l->roof_count; i++) {
        const struct lab_ui_roof *r = &l->roofs[i];
        if (r->memory || !positive(r->per_s))
            continue;
        double y = log10(r->per_s);
        double x0 = isnan(memory) ? a->x0 : fmax(a->x0, y - log10(memory));
        line(d, x0, y, a->x1, y, OWNER_COMPUTE);
        top = isnan(top) || y > top ? y : top;
    }
    if (!isnan(memory))
        draw_memory(d, memory, isnan(top) ? a->y1 : top);
}

/* From the chosen point up (or down) to what the roofs allow there. */
static void draw_distance(struct drawing *d, const struct lab_ui_roof_point *p)
{
    const struct lab_roof_axes *a = &d->axes;
    if (!lab_roof_has_place(p) || !positive(p->roof_flop_s))
        return;
    int x = at(share_of(log10(p->intensity), a->x0, a->x1), d->dots.w);
    int from =
        d->dots.h - 1 - at(share_of(log10(p->flop_s), a->y0, a->y1), d->dots.h);
    int to = d->dots.h - 1 -
             at(share_of(log10(p->roof_flop_s), a->y0, a->y1), d->dots.h);
    int step = to < from ? -2 : 2;
    for (int y = from; step < 0 ? y > to : y < to; y += step)
        lab_dots_set(&d->dots, x, y, OWNER_DISTANCE);
}

/* ---- words in the picture ---- */

/* The roofs of arithmetic whose line lies in a row, with their heights. */
static void name_row(const struct drawing *d, int row, char out[LABEL_BYTES])
{
    const struct lab_ui_roofline *l = d->list->line;
    const struct lab_roof_axes *a = &d->axes;
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < l->roof_count; i++) {
        const struct lab_ui_roof *r = &l->roofs[i];
        if (r->memory || !positive(r->per_s))
            continue;
        int y = at(share_of(log10(r->per_s), a->y0, a->y1), a->plot.h);
        if (a->plot.h - 1 - y == row && n < LABEL_BYTES)
            n += (size_t)snprintf(out + n, LABEL_BYTES - n, "%s%s %s",
                                  n ? ", " : " ", r->name, r->height);
    }
}

/* The column of a point that text from x on, `w` columns in row `y`, would
 * hide or touch; -1: none. A label must not be taken for a digit of a height. */
static int point_in_text(const struct drawing *d, int y, int x, int w)
{
    for (int64_t i = 0; i < d->list->count; i++) {
        const struct lab_ui_roof_point *p =
            &d->list->line->points[d->list->shown[i]];
        int py;
        int px;
        if (lab_roof_cell(&d->axes, p->intensity, p->flop_s, &py, &px) &&
            py == y && px >= x - 1 && px <= x + w)
            return px;
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
    const struct lab_ui_roofline *l = d->list->line;
    const struct lab_roof_axes *a = &d->axes;
    for (int i = 0; i < l->roof_count; i++) {
        const struct lab_ui_roof *r = &l->roofs[i];
        char text[LABEL_BYTES];
        if (!r->memory || !positive(r->per_s))
            continue;
        snprintf(text, sizeof(text), " %s %s", r->name, r->height);
        int w = lab_canvas_columns(d->c, text);
        double m = log10(r->per_s);
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
}

static void draw_points(struct drawing *d, int64_t chosen)
{
    const struct lab_roof_list *list = d->list;
    int y;
    int x;
    for (int64_t i = list->count - 1; i >= 0; i--) { /* the first on top */
        const struct lab_ui_roof_point *p = &list->line->points[list->shown[i]];
        if (lab_roof_cell(&d->axes, p->intensity, p->flop_s, &y, &x))
            lab_canvas_textf(d->c, y, x, 1, LAB_ROLE_KEY, "%c",
                             lab_roof_label(i));
    }
    if (chosen < 0 || chosen >= list->count)
        return;
    const struct lab_ui_roof_point *p =
        &list->line->points[list->shown[chosen]];
    if (lab_roof_cell(&d->axes, p->counted_intensity, p->flop_s, &y, &x))
        lab_canvas_text(d->c, y, x, 1, LAB_ROLE_MARK, "+");
    if (!lab_roof_cell(&d->axes, p->intensity, p->flop_s, &y, &x))
        return;
    lab_canvas_text(d->c, y, x - 1, 1, LAB_ROLE_MARK, ">");
    lab_canvas_text(d->c, y, x + 1, 1, LAB_ROLE_MARK, "<");
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

void lab_roof_plot_draw(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_roof_list *list, int64_t chosen)
{
    static const enum lab_role roles[] = {[OWNER_MEMORY] = LAB_ROLE_SERIES_1,
                                          [OWNER_COMPUTE] = LAB_ROLE_SERIES_2,
                                          [OWNER_DISTANCE] = LAB_ROLE_DIM};
    struct drawing d = {.c = c, .list = list};
    struct lab_rect old = lab_canvas_clip(c, r);
    lab_rect_cut_left(&r, AXIS_W);
    lab_rect_cut_bottom(&r, 1);
    if (r.h < 3 || r.w < 16) {
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
            draw_distance(&d, &list->line->points[list->shown[chosen]]);
        lab_dots_show(&d.dots, c, roles);
        lab_dots_release(&d.dots);
        draw_y_axis(&d);
        draw_x_axis(&d);
        lab_canvas_text(c, r.y, r.x + 1, -1, LAB_ROLE_DIM, "FLOP/s");
        name_memory(&d);
        name_roofs(&d);
        draw_points(&d, chosen);
    }
    lab_canvas_unclip(c, old);
}
