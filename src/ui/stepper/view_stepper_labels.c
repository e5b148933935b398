/* What stands beside the rows and above the columns of a tensor's picture: the
 * symbols of the sequence whose places they are. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "view_stepper_priv.h"

enum { LABEL_W = 8, LABEL_H = 4 };

/* Columns that the rows' labels take, with the space behind them. */
int lab_stepper_gutter(const struct lab_plane *p, const struct lab_canvas *c)
{
    int most = 0;
    for (int64_t i = 0; p->row_label && i < p->rows; i++) {
        int w = lab_canvas_columns(c, p->row_label[i].text);
        most = w > most ? w : most;
    }
    return most == 0 ? 0 : (most > LABEL_W ? LABEL_W : most) + 1;
}

static int characters(const char *text)
{
    int n = 0;
    for (size_t at = 0; text[at]; n++) {
        unsigned code;
        size_t len = lab_utf8_next(text + at, strlen(text + at), &code);
        at += len > 0 ? len : 1;
    }
    return n;
}

int lab_stepper_header(const struct lab_plane *p, int h)
{
    int most = 0;
    for (int64_t i = 0; p->col_label && i < p->cols; i++) {
        int n = characters(p->col_label[i].text);
        most = n > most ? n : most;
    }
    most = most > LABEL_H ? LABEL_H : most;
    return most > h / 3 ? h / 3 : most;
}

/* A label from top to bottom, so that it needs one cell; it ends above its
 * column. */
static void draw_down(struct lab_canvas *c, struct lab_rect above, int x,
                      const char *text, enum lab_role role)
{
    int n = characters(text);
    int y = above.y + (n < above.h ? above.h - n : 0);
    for (size_t at = 0; text[at] && y < above.y + above.h; y++) {
        unsigned code;
        char one[8] = "";
        size_t len = lab_utf8_next(text + at, strlen(text + at), &code);
        len = len > 0 ? len : 1;
        memcpy(one, text + at, len);
        lab_canvas_text(c, y, x + (lab_canvas_columns(c, one) < 2), 2, role,
                        one);
        at += len;
    }
}

void lab_stepper_draw_labels(const struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect r, const struct lab_heat_grid *g,
                             struct lab_rect side, struct lab_rect above)
{
    const struct lab_plane *p = &v->snap.plane;
    int64_t row = -1;
    int64_t col = -1;
    if (v->cursor >= 0)
        lab_heat_place(g, v->cursor, &row, &col);
    for (int y = 0; p->row_label && side.w > 0 && y < g->cells_h; y++) {
        int64_t i = y * g->block_rows;
        bool here = row >= i && row < i + g->block_rows;
        const char *text = p->row_label[i].text;
        int w = lab_canvas_columns(c, text);
        int x = side.w - 1 - (w < side.w - 1 ? w : side.w - 1);
        lab_canvas_text(c, r.y + y * g->scale, side.x + x, side.w - 1 - x,
                        here ? LAB_ROLE_TITLE : LAB_ROLE_DIM, text);
    }
    for (int x = 0; p->col_label && above.h > 0 && x < g->cells_w; x++) {
        int64_t i = x * g->block_cols;
        bool here = col >= i && col < i + g->block_cols;
        draw_down(c, above, r.x + 2 * x * g->scale, p->col_label[i].text,
                  here ? LAB_ROLE_TITLE : LAB_ROLE_DIM);
    }
}

/* "3:the"; the place alone where that is all that is known of it. */
void lab_stepper_place_text(int64_t index, const struct lab_label *label,
                            char *out, size_t cap)
{
    snprintf(out, cap, "%lld", (long long)index);
    if (label && label->symbol)
        snprintf(out, cap, "%lld:%s", (long long)index, label->text);
}

int lab_stepper_draw_cursor_labels(const struct lab_stepper *v,
                                   struct lab_canvas *c, struct lab_rect row,
                                   int x)
{
    const struct lab_plane *p = &v->snap.plane;
    int64_t at[2] = {v->cursor / (p->cols > 0 ? p->cols : 1),
                     v->cursor % (p->cols > 0 ? p->cols : 1)};
    const struct lab_label *label[2] = {p->row_label, p->col_label};
    int used = 0;
    for (int i = 0; i < 2; i++) {
        if (label[i])
            used += lab_canvas_textf(c, row.y, x + used, -1, LAB_ROLE_NORMAL,
                                     "%s%s", used ? "," : "  at ",
                                     label[i][at[i]].text);
    }
    return used;
}
