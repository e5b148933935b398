/* heat.c -- a plane of numbers as a picture: which elements share a cell, how large
 * a cell is, and its colour, shade, sign and number. */
#include "ui/heat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"

/* ---- the grid ---- */

static int64_t up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

struct lab_heat_grid lab_heat_fold(int64_t rows, int64_t cols, int64_t fold,
                                   int w)
{
    struct lab_heat_grid g = {.count = rows * cols, .rows = rows, .cols = cols};
    if (fold <= 0)
        fold = w > 0 && cols > w ? w : 0;
    if (rows == 1 && fold > 0 && fold < cols) {
        g.folded = true;
        g.cols = fold;
        g.rows = up(cols, fold);
    }
    g.cells_h = (int)g.rows;
    g.cells_w = (int)g.cols;
    return g;
}

struct lab_heat_room lab_heat_room(const struct lab_canvas *c,
                                   struct lab_rect r)
{
    return (struct lab_heat_room){
        .h = r.h, .w = r.w, .halves = c->tints && !c->ascii};
}

enum {
    HIGHEST = 2, /* a side of a cell, in terms of the other */
    WIDEST = 4,
    NUMBER_W = 6, /* columns of a number inside a cell, at least */
    SPACED_W = 8, /* with space around it */
    SHORT_W =
        4,      /* of a number of two digits, where there are rows enough for */
    SHORT_H = 3 /* a frame above and below it */
};

int lab_heat_widest(int cell_h)
{
    const int least = cell_h >= 2 ? SPACED_W : NUMBER_W;
    return WIDEST * cell_h > least ? WIDEST * cell_h : least;
}

int lab_heat_highest(int cell_w)
{
    return HIGHEST * cell_w;
}

/* Whether a cell of these rows and columns has a number of two digits. */
static bool has_short_number(int rows, int w)
{
    return rows >= SHORT_H && w >= SHORT_W;
}

bool lab_heat_has_numbers(int cell_h, int cell_w)
{
    return cell_h >= 2 && cell_w >= NUMBER_W;
}

/* Square cells of as many half rows as columns, of a unit at least; those of a matrix
 * are multiples of it, and then grow in the direction that has room left. A picture's
 * of an odd number have one row more or less than their neighbours, where a canvas
 * has no half rows. */
static void size_cells(struct lab_heat_grid *g,
                       const struct lab_heat_room *room, int unit)
{
    const int high_most = room->h * 2 / g->cells_h;
    const int wide_most = room->w / g->cells_w;
    int side = high_most < wide_most ? high_most : wide_most;
    if (!room->square)
        side -= side % unit;
    side = side < unit ? unit : side;
    g->cell_h = g->cell_w = side;
    if (room->square)
        return;
    int most = lab_heat_widest(g->cell_h);
    int wide = wide_most < most ? wide_most : most;
    g->cell_w = wide > g->cell_w ? wide : g->cell_w;
    most = lab_heat_highest(g->cell_w);
    int high = high_most < most ? high_most : most;
    high -= high % 2; /* whole rows, which outlines and numbers need */
    g->cell_h = high > g->cell_h ? high : g->cell_h;
}

int lab_heat_cells(int64_t n, int room)
{
    enum { USED = 15, OF = 16 };
    const int64_t even = room > 0 ? up(n, up(n, room)) : 0;
    return even * OF >= (int64_t)room * USED || n <= room ? (int)even : room;
}

struct lab_heat_grid lab_heat_fit(int64_t rows, int64_t cols, int64_t fold,
                                  const struct lab_heat_room *room)
{
    struct lab_heat_grid g = {0};
    const int unit = room->halves ? 1 : 2;
    int h = (room->h < 1 ? 1 : room->h) * 2 / unit;
    int w = room->w / unit;
    w = w < 1 ? 1 : w;
    if (rows == 1 && fold <= 0 && cols > w) {
        /* A row that is too long even when folded shares its cells evenly. */
        int64_t cells = (int64_t)h * w;
        fold = w * up(cols, cells);
    }
    g = lab_heat_fold(rows, cols, fold, w);
    if (g.count <= 0)
        return g;
    g.mean = room->mean;
    if (room->square) { /* a picture keeps its shape */
        const bool tall = g.rows * w > g.cols * h;
        const int64_t longer = tall ? g.rows : g.cols;
        const int64_t cells = lab_heat_cells(longer, tall ? h : w);
        const int64_t block = up(longer, cells);
        const bool even = cells == up(longer, block);
        const int64_t other = tall ? g.cols : g.rows;
        const int64_t short_cells =
            even ? up(other, block) : up(other * cells, longer);
        g.cells_h = (int)(tall ? cells : short_cells);
        g.cells_w = (int)(tall ? short_cells : cells);
    } else {
        g.cells_h = lab_heat_cells(g.rows, h);
        g.cells_w = lab_heat_cells(g.cols, w);
    }
    size_cells(&g, room, unit);
    return g;
}

void lab_heat_place(const struct lab_heat_grid *g, int64_t index, int64_t *row,
                    int64_t *col)
{
    int64_t cols = g->cols > 0 ? g->cols : 1;
    *row = index / cols;
    *col = index % cols;
}

int64_t lab_heat_index(const struct lab_heat_grid *g, int64_t row, int64_t col)
{
    if (row < 0 || col < 0 || row >= g->rows || col >= g->cols)
        return -1;
    int64_t index = row * g->cols + col;
    return index < g->count ? index : -1;
}

int64_t lab_heat_first(int64_t n, int cells, int64_t cell)
{
    return cells > 0 ? n * cell / cells : 0;
}

int lab_heat_cell(int64_t n, int cells, int64_t at)
{
    return n > 0 ? (int)(((at + 1) * cells - 1) / n) : 0;
}

bool lab_heat_is_shared(const struct lab_heat_grid *g)
{
    return g->rows > g->cells_h || g->cols > g->cells_w;
}

int lab_heat_top(const struct lab_heat_grid *g, int y)
{
    return (y * g->cell_h + 1) / 2;
}

int lab_heat_rows(const struct lab_heat_grid *g, int y)
{
    return (y + 1) * g->cell_h / 2 - lab_heat_top(g, y);
}

int lab_heat_height(const struct lab_heat_grid *g)
{
    return (g->cells_h * g->cell_h + 1) / 2;
}

int64_t lab_heat_at(const struct lab_heat_grid *g, int y, int x)
{
    if (g->cell_h < 1 || g->cell_w < 1 || y < 0 || x < 0)
        return -1;
    return lab_heat_index(
        g, lab_heat_first(g->rows, g->cells_h, 2 * y / g->cell_h),
        lab_heat_first(g->cols, g->cells_w, x / g->cell_w));
}

/* ---- values ---- */

/* Which value represents its cell: a NaN, else an infinity, else a number. */
static int rank_of(double v)
{
    return isnan(v) ? 2 : isinf(v) ? 1 : 0;
}

/* Elements of the picture, from ... to before `to`. */
struct span {
    int64_t from;
    int64_t to;
};

static double span_value(const struct lab_heat_grid *g, const double *value,
                         struct span rows, struct span cols, bool *present)
{
    double best = 0;
    double sum = 0;
    int64_t n = 0;
    for (int64_t i = rows.from; i < rows.to; i++) {
        for (int64_t j = cols.from; j < cols.to; j++) {
            int64_t index = lab_heat_index(g, i, j);
            if (index < 0)
                continue;
            double v = value[index];
            if (n == 0 || rank_of(v) > rank_of(best) ||
                (rank_of(v) == rank_of(best) && fabs(v) > fabs(best)))
                best = v;
            sum += v;
            n++;
        }
    }
    *present = n > 0;
    return g->mean && n > 1 && isfinite(best) ? sum / (double)n : best;
}

static struct span elements_of(int64_t n, int cells, int cell)
{
    return (struct span){lab_heat_first(n, cells, cell),
                         lab_heat_first(n, cells, cell + 1)};
}

double lab_heat_cell_value(const struct lab_heat_grid *g, const double *value,
                           int y, int x, bool *present)
{
    return span_value(g, value, elements_of(g->rows, g->cells_h, y),
                      elements_of(g->cols, g->cells_w, x), present);
}

double lab_heat_scale(const double *value, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i]) && fabs(value[i]) > most)
            most = fabs(value[i]);
    return most;
}

double lab_heat_scale_alone(const double *value, int64_t count)
{
    bool flat = count > 1;
    for (int64_t i = 1; i < count && flat; i++)
        flat = value[i] == value[0];
    return (flat ? 2 : 1) * lab_heat_scale(value, count);
}

bool lab_heat_has_negative(const double *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (value[i] < 0)
            return true;
    return false;
}

/* ---- cells of characters ---- */

/* Shades from nothing to full. An exact zero has a shade of its own: that a
 * ReLU has cut something off is worth seeing. No shade is a sign: '-' and '+'
 * are in the column before it. */
const char *lab_heat_shade(const struct lab_canvas *c, double v, double most)
{
    static const char *const blocks[5] = {" ", "░", "▒", "▓", "█"};
    static const char *const ascii[10] = {" ", ".", ",", ":", ";",
                                          "=", "*", "#", "%", "@"};
    double share = most > 0 ? fabs(v) / most : 0;
    if (v == 0)
        return c->ascii ? "0" : "·";
    if (c->ascii)
        return ascii[share >= 1 ? 9 : (int)(share * 9) + (share * 9 < 1)];
    return blocks[share >= 1 ? 4 : 1 + (int)(share * 4)];
}

/* e-05: the 0 means nothing. */
static void cut_exponent(char *text)
{
    char *exponent = strchr(text, 'e');
    if (exponent && exponent[2] == '0')
        memmove(exponent + 2, exponent + 3, strlen(exponent + 2));
}

/* What is near zero, as a share of the end of the scale. */
static const double NEAR_ZERO = 0.05;

/* With as many digits as `w` columns have room for, at last with an exponent, as -5e-4
 * for -0.0005, or as ~0 what is near zero on a scale to `scale`; false: not even that. */
static bool number_text(double v, int w, double scale, char *out, size_t cap)
{
    for (int digits = 6; digits > 0; digits--) {
        snprintf(out, cap, "%.*g", digits, v);
        cut_exponent(out);
        if ((int)strlen(out) <= w)
            return true;
    }
    snprintf(out, cap, "%.0e", v);
    cut_exponent(out);
    if ((int)strlen(out) <= w)
        return true;
    snprintf(out, cap, "~0");
    return fabs(v) < NEAR_ZERO * scale && w >= 2;
}

/* A column for the sign and the rest for two or three digits, without a 0 before the
 * point: .25, -1.2, -12, 3e-4. Numbers side by side have a blank or a sign between them. */
static bool draw_short_number(struct lab_canvas *c, struct lab_rect cell,
                              double v, double scale, enum lab_role role)
{
    char text[32];
    bool found = false;
    for (int digits = cell.w - 2; digits > 0 && !found; digits--) {
        snprintf(text, sizeof(text), "%.*g", digits, fabs(v));
        cut_exponent(text);
        if (text[0] == '0' && text[1] == '.')
            memmove(text, text + 1, strlen(text));
        found = (int)strlen(text) < cell.w;
    }
    if (!found && fabs(v) >= NEAR_ZERO * scale)
        return false;
    bool small = !found || (fabs(v) < NEAR_ZERO * scale && strchr(text, 'e'));
    if (small && v != 0)
        snprintf(text, sizeof(text), "~0");
    const int y = cell.y + (cell.h - 1) / 2;
    lab_canvas_text(c, y, cell.x, 1, role, v < 0 ? "-" : " ");
    lab_canvas_text(c, y, cell.x + 1, cell.w - 1, role, text);
    return true;
}

/* In the middle of the cell, with blanks around it where it has room for them; in
 * NUMBER_W columns the first is blank, of a negative number too, or the number before
 * it would touch its sign. False: there is no room. */
static bool draw_number(struct lab_canvas *c, struct lab_rect cell, double v,
                        double scale, enum lab_role role)
{
    char text[32];
    int most = cell.w - 2 < NUMBER_W ? cell.w - 2 : NUMBER_W;
    if (cell.w < NUMBER_W && has_short_number(cell.h, cell.w))
        return draw_short_number(c, cell, v, scale, role);
    if (cell.w == NUMBER_W)
        most = cell.w - 1;
    if (!number_text(v, most, scale, text, sizeof(text)) &&
        !number_text(v, cell.w, scale, text, sizeof(text)))
        return false;
    int left = (cell.w - (int)strlen(text) + (v >= 0)) / 2;
    int last = cell.w - (int)strlen(text);
    if (cell.w == NUMBER_W && left < 1)
        left = 1;
    lab_canvas_text(c, cell.y + (cell.h - 1) / 2,
                    cell.x + (left < last ? left : last), -1, role, text);
    return true;
}

void lab_heat_draw_cell(struct lab_canvas *c, struct lab_rect cell, double v,
                        double most, bool cursor)
{
    enum lab_role role = v < 0   ? LAB_ROLE_NEGATIVE
                         : v > 0 ? LAB_ROLE_POSITIVE
                                 : LAB_ROLE_DIM;
    const char *sign = v < 0 ? "-" : " ";
    const char *body = "";
    bool number = cell.w >= NUMBER_W + 2 && isfinite(v);
    bool wide = cell.w > 2;
    bool large = wide && (cell.h > 1 || number); /* no column for a sign */
    if (isnan(v)) {
        body = "N";
        sign = "N";
        role = LAB_ROLE_BAD;
    } else if (isinf(v)) {
        body = "I";
        sign = v < 0 ? "-" : "+";
        role = LAB_ROLE_BAD;
    } else {
        body = lab_heat_shade(c, v, most);
    }
    if (large && isfinite(v) && (v > 0 || (v < 0 && cell.h == 1)))
        sign = body;
    if (v != 0 && (wide || cell.h > 1))
        lab_canvas_fill(
            c,
            large ? cell
                  : (struct lab_rect){cell.y, cell.x + 1, cell.h, cell.w - 1},
            body, role);
    lab_canvas_text(c, cell.y, cell.x, 1, cursor ? LAB_ROLE_CURSOR : role,
                    cursor ? "[" : sign);
    lab_canvas_text(c, cell.y, cell.x + 1, 1,
                    cursor && !wide ? LAB_ROLE_CURSOR : role, body);
    if (cursor && wide)
        lab_canvas_text(c, cell.y, cell.x + cell.w - 1, 1, LAB_ROLE_CURSOR,
                        "]");
    if (!number)
        return;
    if (cell.h > 1)
        lab_rect_cut_top(&cell, 1);
    else /* behind the shade */
        cell = (struct lab_rect){cell.y, cell.x + 2, 1, cell.w - 2 - cursor};
    draw_number(c, cell, v, most, cursor ? LAB_ROLE_CURSOR : LAB_ROLE_NORMAL);
}

/* ---- cells of colour ---- */

static enum lab_tint tint_of(const struct lab_heat *m, int y, int x)
{
    bool present;
    if (y >= m->grid.cells_h || x >= m->grid.cells_w)
        return LAB_TINT_NONE;
    double v = lab_heat_cell_value(&m->grid, m->value, y, x, &present);
    return !present       ? LAB_TINT_NONE
           : m->diverging ? lab_tint_diverging(v, m->most)
                          : lab_tint_sequential(v, m->most);
}

/* The screen's rows and columns of a cell that it has for itself. */
static struct lab_rect cell_rect(const struct lab_heat_grid *g, int y, int x,
                                 int cy, int cx)
{
    return (struct lab_rect){y + lab_heat_top(g, cy), x + cx * g->cell_w,
                             lab_heat_rows(g, cy), g->cell_w};
}

/* A frame inside a cell of 3 rows and more; its sides are left out where a short
 * number has their columns; else brackets. */
static void mark_cell(struct lab_canvas *c, struct lab_rect r)
{
    const enum lab_role role = LAB_ROLE_TITLE;
    int bottom = r.y + r.h - 1;
    int right = r.x + r.w - 1;
    if (r.h < SHORT_H || r.w < SHORT_W) {
        int y = r.y + (r.h - 1) / 2;
        lab_canvas_text(c, y, r.x, 1, role, "[");
        lab_canvas_text(c, y, right, 1, role, "]");
        return;
    }
    lab_canvas_text(c, r.y, r.x, 1, role, "┌");
    lab_canvas_text(c, r.y, right, 1, role, "┐");
    lab_canvas_text(c, bottom, r.x, 1, role, "└");
    lab_canvas_text(c, bottom, right, 1, role, "┘");
    for (int x = r.x + 1; x < right; x++) {
        lab_canvas_text(c, r.y, x, 1, role, "─");
        lab_canvas_text(c, bottom, x, 1, role, "─");
    }
    for (int y = r.y + 1; y < bottom && r.w >= NUMBER_W; y++) {
        lab_canvas_text(c, y, r.x, 1, role, "│");
        lab_canvas_text(c, y, right, 1, role, "│");
    }
}

/* Sign, zero or number over the colour of a cell that has a row for it. */
static void write_cell(struct lab_canvas *c, struct lab_rect r, double v,
                       bool cursor, bool number, const struct lab_heat *m)
{
    int y = r.y + (r.h - 1) / 2;
    struct lab_rect inner = r;
    if (cursor && r.w >= NUMBER_W) { /* its marks are at both ends */
        inner.x++;
        inner.w -= 2;
    }
    bool written = number && isfinite(v) &&
                   draw_number(c, inner, v, m->most,
                               cursor ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL);
    if (!isfinite(v))
        lab_canvas_text(c, y, r.x, 1, LAB_ROLE_TITLE, isnan(v) ? "N" : "I");
    else if (v < 0 && !written)
        lab_canvas_text(c, y, r.x, 1, LAB_ROLE_NORMAL, "-");
    else if (v == 0 && m->diverging &&
             !written) /* as what a ReLU has cut off */
        lab_canvas_text(c, y, r.x, 1, LAB_ROLE_DIM, "·");
    if (cursor)
        mark_cell(c, r);
}

static bool has_cursor(const struct lab_heat *m, int y, int x)
{
    int64_t row;
    int64_t col;
    if (m->cursor < 0)
        return false;
    lab_heat_place(&m->grid, m->cursor, &row, &col);
    return lab_heat_cell(m->grid.rows, m->grid.cells_h, row) == y &&
           lab_heat_cell(m->grid.cols, m->grid.cells_w, col) == x;
}

static void draw_tints(struct lab_canvas *c, int y, int x,
                       const struct lab_heat *m)
{
    const struct lab_heat_grid *g = &m->grid;
    for (int sy = 0; sy < lab_heat_height(g); sy++) {
        int top = 2 * sy / g->cell_h;
        int bottom = (2 * sy + 1) / g->cell_h;
        for (int cx = 0; cx < g->cells_w; cx++) {
            enum lab_tint over = tint_of(m, top, cx);
            enum lab_tint under = bottom == top ? over : tint_of(m, bottom, cx);
            if (g->cell_w < 2) { /* too small for an outline */
                over = over && has_cursor(m, top, cx) ? LAB_TINT_MARK : over;
                under =
                    under && has_cursor(m, bottom, cx) ? LAB_TINT_MARK : under;
            }
            for (int k = 0; k < g->cell_w; k++)
                lab_canvas_pixels(c, y + sy, x + cx * g->cell_w + k, over,
                                  under);
        }
    }
    for (int cy = 0; cy < g->cells_h && g->cell_w >= 2; cy++) {
        for (int cx = 0; cx < g->cells_w; cx++) {
            struct lab_rect r = cell_rect(g, y, x, cy, cx);
            bool present;
            double v = lab_heat_cell_value(g, m->value, cy, cx, &present);
            if (present && r.h > 0)
                write_cell(c, r, v, has_cursor(m, cy, cx),
                           lab_heat_has_numbers(g->cell_h, r.w) ||
                               has_short_number(r.h, r.w),
                           m);
        }
    }
}

/* ---- pixels ---- */

/* What pixel `in` of the `cell_px` of a cell shows of the elements in the cell: one,
 * which other pixels show too, or its part of them. */
static struct span span_of(struct span cell, int in, int cell_px)
{
    int64_t n = cell.to - cell.from;
    int64_t from = (int64_t)in * n / cell_px;
    int64_t to = (int64_t)(in + 1) * n / cell_px;
    return (struct span){cell.from + from,
                         cell.from + (to > from ? to : from + 1)};
}

/* Of row i of the pixels, by its half of a character: where a character has an odd
 * number of them the upper half has one more. */
static struct span rows_of(const struct lab_heat_grid *g, int px_h, int i)
{
    int cell = 2 * i / px_h / g->cell_h;
    int first = (cell * g->cell_h * px_h + 1) / 2;
    int next = ((cell + 1) * g->cell_h * px_h + 1) / 2;
    return span_of(elements_of(g->rows, g->cells_h, cell), i - first,
                   next - first);
}

/* A frame of two pixels around the cursor's element, with room for one inside. */
static void frame_cursor(unsigned char *px, int h, int w, int y0, int x0,
                         int y1, int x1)
{
    enum { LINE = 2, INSIDE = 2 };
    const int y = y0 - LINE - INSIDE;
    const int x = x0 - LINE - INSIDE;
    const int bottom = y1 + LINE + INSIDE;
    const int right = x1 + LINE + INSIDE;
    for (int i = y < 0 ? 0 : y; i < bottom && i < h; i++) {
        for (int k = x < 0 ? 0 : x; k < right && k < w; k++) {
            bool edge = i < y + LINE || i >= bottom - LINE || k < x + LINE ||
                        k >= right - LINE;
            if (edge)
                px[(size_t)i * (size_t)w + (size_t)k] = LAB_TINT_MARK;
        }
    }
}

/* Over half blocks, each element by itself: those that share a cell too, and the
 * picture's own colours under a frame for the cursor. */
static void draw_image(struct lab_canvas *c, int y, int x,
                       const struct lab_heat *m)
{
    const struct lab_heat_grid *g = &m->grid;
    const struct lab_rect at = {y, x, lab_heat_height(g),
                                g->cells_w * g->cell_w};
    const int h = at.h * c->px_h;
    const int w = at.w * c->px_w;
    const int cell_w = g->cell_w * c->px_w;
    unsigned char *px = lab_canvas_image(c, at);
    int64_t row = -1; /* of the cursor */
    int64_t col = -1;
    int box[4] = {h, w, 0, 0}; /* and its pixels: top, left, bottom, right */
    if (m->cursor >= 0)
        lab_heat_place(g, m->cursor, &row, &col);
    for (int i = 0; px && i < h; i++) {
        const struct span rows = rows_of(g, c->px_h, i);
        for (int k = 0; k < w; k++) {
            const struct span cols =
                span_of(elements_of(g->cols, g->cells_w, k / cell_w),
                        k % cell_w, cell_w);
            bool present;
            double v = span_value(g, m->value, rows, cols, &present);
            if (!present)
                continue;
            px[(size_t)i * (size_t)w + (size_t)k] =
                (unsigned char)(m->diverging ? lab_tint_diverging(v, m->most)
                                             : lab_tint_sequential(v, m->most));
            if (row < rows.from || row >= rows.to || col < cols.from ||
                col >= cols.to)
                continue;
            box[0] = i < box[0] ? i : box[0];
            box[1] = k < box[1] ? k : box[1];
            box[2] = i + 1;
            box[3] = k + 1 > box[3] ? k + 1 : box[3];
        }
    }
    if (px && box[2] > 0)
        frame_cursor(px, h, w, box[0], box[1], box[2], box[3]);
}

/* ---- the picture ---- */

void lab_heat_draw(struct lab_canvas *c, int y, int x, const struct lab_heat *m)
{
    const struct lab_heat_grid *g = &m->grid;
    if (c->tints) {
        draw_tints(c, y, x, m);
        if (m->grid.cell_w < 2)
            draw_image(c, y, x, m);
        return;
    }
    for (int cy = 0; cy < g->cells_h; cy++) {
        for (int cx = 0; cx < g->cells_w; cx++) {
            bool present;
            double v = lab_heat_cell_value(g, m->value, cy, cx, &present);
            if (!present)
                continue;
            struct lab_rect r = cell_rect(g, y, x, cy, cx);
            const bool cursor = has_cursor(m, cy, cx);
            /* A row that is half its own is whole the upper one's. */
            r.h = lab_heat_top(g, cy + 1) - lab_heat_top(g, cy);
            lab_heat_draw_cell(c, r, v, m->most, cursor);
            /* Without negative values no column is kept for a sign. */
            if (!m->diverging && v > 0 && isfinite(v) &&
                (r.w == 2 || r.h == 1)) {
                lab_rect_cut_top(&r, cursor);
                r.w = 1;
                lab_canvas_fill(c, r, lab_heat_shade(c, v, m->most),
                                LAB_ROLE_POSITIVE);
            }
        }
    }
}

struct lab_heat_grid lab_heat_picture(struct lab_canvas *c, struct lab_rect r,
                                      const double *value, int64_t rows,
                                      int64_t cols, bool square)
{
    struct lab_heat_room room = lab_heat_room(c, r);
    struct lab_heat m = {.value = value,
                         .most = lab_heat_scale(value, rows * cols),
                         .diverging = lab_heat_has_negative(value, rows * cols),
                         .cursor = -1};
    room.square = square;
    room.mean = square && !m.diverging;
    m.grid = lab_heat_fit(rows, cols, 0, &room);
    lab_heat_draw(c, r.y, r.x, &m);
    return m.grid;
}

/* Whether a row of a picture has short numbers, which need all of their columns. */
static bool is_row_of_short_number(const struct lab_heat_grid *g, int y)
{
    const int rows = g->cell_h / 2;
    return g->cell_w < NUMBER_W && has_short_number(rows, g->cell_w) &&
           y % rows == (rows - 1) / 2;
}

void lab_heat_outline(struct lab_canvas *c, int y, int x,
                      const struct lab_heat_grid *g, int64_t row, int64_t col,
                      int64_t rows, int64_t cols)
{
    const enum lab_role role = LAB_ROLE_TITLE; /* a mark is underlined */
    int y0 = lab_heat_cell(g->rows, g->cells_h, row);
    int x0 = lab_heat_cell(g->cols, g->cells_w, col);
    int y1 = lab_heat_cell(g->rows, g->cells_h, row + rows - 1);
    int x1 = lab_heat_cell(g->cols, g->cells_w, col + cols - 1);
    if (!c->tints || c->ascii || g->cell_w < 2 || g->cell_h % 2 != 0)
        return;
    struct lab_rect r = {y + y0 * g->cell_h / 2, x + x0 * g->cell_w,
                         (y1 - y0 + 1) * g->cell_h / 2,
                         (x1 - x0 + 1) * g->cell_w};
    int bottom = r.y + r.h - 1;
    int right = r.x + r.w - 1;
    for (int i = r.x + 1; i < right && g->cell_h >= 4; i++) {
        lab_canvas_text(c, r.y, i, 1, role, "▔");
        lab_canvas_text(c, bottom, i, 1, role, "▁");
    }
    for (int i = r.y; i <= bottom; i++) {
        if (is_row_of_short_number(g, i - y))
            continue;
        lab_canvas_text(c, i, r.x, 1, role, "▏");
        lab_canvas_text(c, i, right, 1, role, "▕");
    }
}

/* What a legend is made of: "-0.3877 [colours] 0.38768; max of 4x1.28", rows and
 * columns of a cell, of the average one. */
struct legend {
    char before[24];
    int strip; /* columns of colours */
    char after[24];
    char note[48];
};

/* Rows or columns of a cell: three digits, all of a whole number, and of a little more
 * than one so many that it does not read as one. */
static void each_text(double n, char *out, size_t cap)
{
    enum { DIGITS = 3, MOST = 9 };
    snprintf(out, cap, n < 999.5 ? "%.3g" : "%.0f", n);
    for (int digits = DIGITS + 1;
         n > 1 && strcmp(out, "1") == 0 && digits <= MOST; digits++)
        snprintf(out, cap, "%.*g", digits, n);
}

bool lab_heat_shares(const struct lab_canvas *c, const struct lab_heat_grid *g,
                     char *out, size_t cap)
{
    char down[16];
    char across[16];
    double rows = g->cells_h > 0 ? (double)g->rows / g->cells_h : 1;
    double cols = g->cells_w > 0 ? (double)g->cols / g->cells_w : 1;
    if (c->px_h > 1 && g->cell_w < 2) { /* of a pixel, in the least cell */
        rows = fmax(rows * 2 / (g->cell_h * c->px_h), 1);
        cols = fmax(cols / (g->cell_w * c->px_w), 1);
    }
    each_text(rows, down, sizeof(down));
    each_text(cols, across, sizeof(across));
    snprintf(out, cap, "%s of %sx%s", g->mean ? "mean" : "max", down, across);
    return rows * cols > 1;
}

static struct legend legend_of(const struct lab_canvas *c,
                               const struct lab_heat *m, bool brief)
{
    enum { STRIP = 12 };
    const struct lab_heat_grid *g = &m->grid;
    const char *most = LAB_VALUE_TEXT(m->most, brief ? 6 : 7);
    struct legend l = {.strip = brief ? STRIP / 2 : STRIP};
    if (!c->tints) {
        snprintf(l.before, sizeof(l.before), "%s = %.3g",
                 lab_heat_shade(c, 1, 1), m->most);
        l.strip = 0;
    } else if (m->diverging && brief) {
        snprintf(l.before, sizeof(l.before), "%s%.12s ", c->ascii ? "+-" : "±",
                 most);
    } else {
        snprintf(l.before, sizeof(l.before), "%.12s ",
                 m->diverging ? LAB_VALUE_TEXT(-m->most, 7) : "0");
        snprintf(l.after, sizeof(l.after), " %.12s", most);
    }
    char shares[sizeof(l.note) - 2];
    if (lab_heat_shares(c, g, shares, sizeof(shares)))
        snprintf(l.note, sizeof(l.note), "; %s", shares);
    return l;
}

static int legend_columns(const struct lab_canvas *c, const struct legend *l)
{
    return lab_canvas_columns(c, l->before) + l->strip +
           lab_canvas_columns(c, l->after) + lab_canvas_columns(c, l->note);
}

int lab_heat_legend_least(const struct lab_canvas *c, const struct lab_heat *m)
{
    const struct legend l = legend_of(c, m, true);
    return legend_columns(c, &l);
}

int lab_heat_legend(struct lab_canvas *c, struct lab_rect row,
                    const struct lab_heat *m)
{
    struct legend l = legend_of(c, m, false);
    if (legend_columns(c, &l) > row.w)
        l = legend_of(c, m, true);
    int used = legend_columns(c, &l);
    if (used > row.w)
        return 0;
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s", l.before);
    for (int i = 0; i < l.strip; i++) {
        double share = (double)i / (l.strip - 1);
        enum lab_tint tint = m->diverging ? lab_tint_diverging(2 * share - 1, 1)
                                          : lab_tint_sequential(share, 1);
        lab_canvas_pixels(c, row.y, row.x + i, tint, tint);
    }
    lab_rect_cut_left(&row, l.strip);
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s%s", l.after, l.note);
    return used;
}
