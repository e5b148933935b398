/* labels.c -- the symbols of a sequence at the rows and columns of a heat map: how
 * much room they take, and each at its cell. */
#include "labels.h"

#include <string.h>

#include "base/str.h"

enum { LABEL_W = 8, LABEL_H = 4 };

int lab_labels_width(const struct lab_plane *p, const struct lab_canvas *c)
{
    int most = 0;
    for (int64_t i = 0; p->row_label && i < p->tiles * p->rows; i++) {
        int w = lab_canvas_columns(c, p->row_label[i].text);
        most = w > most ? w : most;
    }
    return most == 0 ? 0 : (most > LABEL_W ? LABEL_W : most) + 1;
}

static size_t char_bytes(const char *text)
{
    unsigned code;
    size_t len = lab_utf8_next(text, strlen(text), &code);
    return len ? len : 1;
}

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text += char_bytes(text))
        n++;
    return n;
}

int lab_labels_height(const struct lab_plane *p, int h)
{
    int most = 0;
    for (int64_t i = 0; p->col_label && i < p->tiles * p->cols; i++) {
        int n = characters(p->col_label[i].text);
        most = n > most ? n : most;
    }
    most = most > LABEL_H ? LABEL_H : most;
    return most > h / 3 ? h / 3 : most;
}

/* A label from top to bottom, so that it needs one cell of `w` columns; it ends
 * above the middle of its cell. */
static void draw_down(struct lab_canvas *c, struct lab_rect above, int x, int w,
                      const char *text, enum lab_role role)
{
    int n = characters(text);
    int y = above.y + (n < above.h ? above.h - n : 0);
    for (; *text && y < above.y + above.h; y++) {
        char one[8] = "";
        size_t len = char_bytes(text);
        memcpy(one, text, len);
        int left = (w - lab_canvas_columns(c, one) + 1) / 2;
        lab_canvas_text(c, y, x + (left > 0 ? left : 0), w, role, one);
        text += len;
    }
}

static void draw_rows(struct lab_canvas *c, const struct lab_plane *p, int top,
                      const struct lab_heat_grid *g, struct lab_rect side,
                      int64_t row)
{
    const int step = g->cell_h < 2 ? 2 : 1; /* cells that share a line */
    for (int y = 0; y < g->cells_h; y += step) {
        const int64_t i = lab_heat_first(g->rows, g->cells_h, y);
        bool here =
            row >= i && row < lab_heat_first(g->rows, g->cells_h, y + step);
        const char *text = p->row_label[i].text;
        int w = lab_canvas_columns(c, text);
        int x = side.w - 1 - (w < side.w - 1 ? w : side.w - 1);
        int line = y * g->cell_h / 2;
        if (step == 1) /* the middle of its whole lines */
            line = lab_heat_top(g, y) + (lab_heat_rows(g, y) - 1) / 2;
        lab_canvas_text(c, top + line, side.x + x, side.w - 1 - x,
                        here ? LAB_ROLE_TITLE : LAB_ROLE_DIM, text);
    }
}

void lab_labels_draw(struct lab_canvas *c, const struct lab_plane *p,
                     struct lab_rect r, const struct lab_heat_grid *g,
                     struct lab_rect side, struct lab_rect above,
                     int64_t cursor)
{
    int64_t row = -1;
    int64_t col = -1;
    if (cursor >= 0)
        lab_heat_place(g, cursor, &row, &col);
    if (p->row_label && !lab_rect_empty(side))
        draw_rows(c, p, r.y, g, side, row);
    for (int x = 0; p->col_label && !lab_rect_empty(above) && x < g->cells_w;
         x++) {
        const int64_t i = lab_heat_first(g->cols, g->cells_w, x);
        bool here =
            col >= i && col < lab_heat_first(g->cols, g->cells_w, x + 1);
        draw_down(c, above, r.x + x * g->cell_w, g->cell_w,
                  p->col_label[i].text, here ? LAB_ROLE_TITLE : LAB_ROLE_DIM);
    }
}
