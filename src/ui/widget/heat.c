#include "heat.h"

#include <math.h>

static int64_t up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

struct lab_heat_grid lab_heat_fold(int64_t rows, int64_t cols, int64_t fold,
                                   int w)
{
    struct lab_heat_grid g = {.plane_cols = cols,
                              .count = rows * cols,
                              .rows = rows,
                              .cols = cols,
                              .block_rows = 1,
                              .block_cols = 1};
    if (fold <= 0)
        fold = w > 0 && cols > w ? w : 0;
    if (rows == 1 && fold > 0 && fold < cols) {
        g.folded = true;
        g.cols = fold;
        g.rows = up(cols, fold);
    }
    return g;
}

struct lab_heat_grid lab_heat_fit(int64_t rows, int64_t cols, int64_t fold,
                                  int h, int w)
{
    struct lab_heat_grid g = {0};
    h = h < 1 ? 1 : h;
    w = w < 1 ? 1 : w;
    if (rows == 1 && fold <= 0 && cols > w) {
        /* A row that is too long even when folded shares its cells evenly. */
        int64_t room = (int64_t)h * w;
        fold = w * up(cols, room);
    }
    g = lab_heat_fold(rows, cols, fold, w);
    if (g.count <= 0)
        return g;
    g.block_rows = up(g.rows, h);
    g.block_cols = up(g.cols, w);
    g.cells_h = (int)up(g.rows, g.block_rows);
    g.cells_w = (int)up(g.cols, g.block_cols);
    g.scale = h / g.cells_h < w / g.cells_w ? h / g.cells_h : w / g.cells_w;
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

/* How much a value asks to stand for its block. */
static int rank_of(double v)
{
    return isnan(v) ? 2 : isinf(v) ? 1 : 0;
}

double lab_heat_cell_value(const struct lab_heat_grid *g, const double *value,
                           int y, int x, bool *present)
{
    double best = 0;
    *present = false;
    for (int64_t i = 0; i < g->block_rows; i++) {
        for (int64_t j = 0; j < g->block_cols; j++) {
            int64_t index =
                lab_heat_index(g, y * g->block_rows + i, x * g->block_cols + j);
            if (index < 0)
                continue;
            double v = value[index];
            if (!*present || rank_of(v) > rank_of(best) ||
                (rank_of(v) == rank_of(best) && fabs(v) > fabs(best)))
                best = v;
            *present = true;
        }
    }
    return best;
}

double lab_heat_scale(const double *value, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i]) && fabs(value[i]) > most)
            most = fabs(value[i]);
    return most;
}

/* Shades from nothing to full. An exact zero has a shade of its own: that a
 * ReLU has cut something off is worth seeing. No shade is a sign: '-' and '+'
 * are in the column before it. */
static const char *shade(const struct lab_canvas *c, double v, double scale)
{
    static const char *const blocks[5] = {" ", "░", "▒", "▓", "█"};
    static const char *const ascii[10] = {" ", ".", ",", ":", ";",
                                          "=", "*", "#", "%", "@"};
    double share = scale > 0 ? fabs(v) / scale : 0;
    if (v == 0)
        return c->ascii ? "0" : "·";
    if (c->ascii)
        return ascii[share >= 1 ? 9 : (int)(share * 9) + (share * 9 < 1)];
    return blocks[share >= 1 ? 4 : 1 + (int)(share * 4)];
}

const char *lab_heat_full(const struct lab_canvas *c)
{
    return shade(c, 1, 1);
}

void lab_heat_draw_cell(struct lab_canvas *c, int y, int x, double v,
                        double scale, bool cursor, int times)
{
    enum lab_role role = v < 0   ? LAB_ROLE_NEGATIVE
                         : v > 0 ? LAB_ROLE_POSITIVE
                                 : LAB_ROLE_DIM;
    const char *sign = v < 0 ? "-" : " ";
    const char *body = "";
    if (isnan(v)) {
        body = "N";
        sign = "N";
        role = LAB_ROLE_BAD;
    } else if (isinf(v)) {
        body = "I";
        sign = v < 0 ? "-" : "+";
        role = LAB_ROLE_BAD;
    } else {
        body = shade(c, v, scale);
    }
    if (times > 1 && v > 0 && isfinite(v))
        sign = body; /* wide enough to be all shade */
    if (times > 1 && v != 0)
        lab_canvas_fill(c, (struct lab_rect){y, x, times, 2 * times}, body,
                        role);
    lab_canvas_text(c, y, x, 1, cursor ? LAB_ROLE_CURSOR : role,
                    cursor ? "[" : sign);
    lab_canvas_text(c, y, x + 1, 1,
                    cursor && times < 2 ? LAB_ROLE_CURSOR : role, body);
    if (cursor && times > 1)
        lab_canvas_text(c, y, x + 2 * times - 1, 1, LAB_ROLE_CURSOR, "]");
}
