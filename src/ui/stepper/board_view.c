/* board_view.c -- draws a step's blackboard. The marks are at the edges: the
 * pictures under them keep their colours. */
#include "board_view.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ui/heat.h"

int lab_board_part_of(const struct lab_board_view *b, int tensor)
{
    for (int i = 0; i < b->board.n; i++)
        if (b->board.part[i].tensor == tensor && b->layout.cell_w > 0)
            return i;
    return -1;
}

const struct lab_plane *lab_board_plane(const struct lab_board_view *b,
                                        int part)
{
    const struct lab_show *want = &b->board.part[part].show;
    for (int i = 0; i < b->snap->n_board; i++) {
        const struct lab_plane *p = &b->snap->board[i];
        if (p->tensor == want->tensor && p->value &&
            p->show.row_axis == want->row_axis &&
            p->show.col_axis == want->col_axis &&
            memcmp(p->show.fixed, want->fixed, sizeof(want->fixed)) == 0)
            return p;
    }
    return NULL;
}

static const struct lab_shape *shape_of(const struct lab_board_view *b, int i)
{
    return &b->snap->plan->tensors[b->board.part[i].tensor].shape;
}

static int64_t size_along(const struct lab_shape *shape, int axis)
{
    return axis >= 0 ? shape->dim[axis] : 1;
}

/* "relu1.outᵀ 16x10"; of more axes "x[<0>,1,↓,→]": what [ and ] change is in
 * angle brackets. */
static void title_of(const struct lab_board_view *b, int i, char *out,
                     size_t cap)
{
    const struct lab_show *show = &b->board.part[i].show;
    const struct lab_shape *shape = shape_of(b, i);
    const char *name = b->snap->plan->tensors[show->tensor].name;
    bool turned = show->col_axis >= 0 && show->row_axis > show->col_axis;
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add(&s, name);
    if (shape->rank > 2) {
        for (int k = 0; k < shape->rank; k++) {
            lab_str_add(&s, k ? "," : "[");
            if (k == show->row_axis || k == show->col_axis)
                lab_str_add(&s, k == show->row_axis ? "↓" : "→");
            else
                lab_str_addf(&s,
                             k == b->hidden && show->tensor == b->cursor.tensor
                                 ? "<%lld>"
                                 : "%lld",
                             (long long)show->fixed[k]);
        }
        lab_str_add(&s, "]");
    } else {
        lab_str_addf(&s, "%s %lldx%lld", turned ? "ᵀ" : "",
                     (long long)size_along(shape, show->row_axis),
                     (long long)size_along(shape, show->col_axis));
    }
    snprintf(out, cap, "%s", lab_str_text(&s));
    lab_str_release(&s);
}

/* ---- one part ---- */

/* Which cells of `n`, `block` elements each, hold lit elements. */
static bool is_lit(struct lab_reach lit, int64_t block, int cell)
{
    return lit.first < (cell + 1) * block && lit.last >= cell * block;
}

static void draw_marks(const struct lab_board_view *b, struct lab_canvas *c,
                       int i)
{
    const struct lab_board_at *at = &b->layout.at[i];
    const struct lab_board_part *p = &b->board.part[i];
    const struct lab_shape *shape = shape_of(b, i);
    int64_t rows = size_along(shape, p->show.row_axis);
    int64_t cols = size_along(shape, p->show.col_axis);
    int unit = b->layout.cell_w;
    struct lab_reach down;
    struct lab_reach across;
    if (!lab_board_lit(p, &down, &across))
        return;
    /* An axis that is lit all along has no marks: they would mean nothing. */
    bool marks_rows = rows > 1 && down.last - down.first + 1 < rows;
    bool marks_cols = cols > 1 && across.last - across.first + 1 < cols;
    for (int y = 0; marks_rows && y < at->cells_h; y++) {
        int first = y * unit / 2;
        int end = (y + 1) * unit / 2;
        if (is_lit(down, at->block_rows, y))
            for (int k = first; k < end || k == first; k++)
                lab_canvas_text(c, at->cells.y + k, at->cells.x - 1, 1,
                                LAB_ROLE_MARK, "▸");
    }
    for (int x = 0; marks_cols && x < at->cells_w; x++)
        if (is_lit(across, at->block_cols, x))
            for (int k = 0; k < unit; k++)
                lab_canvas_text(c, at->cells.y - 1, at->cells.x + x * unit + k,
                                1, LAB_ROLE_MARK, "▾");
}

static struct lab_heat_grid grid_of(const struct lab_board_at *at,
                                    const struct lab_plane *p, int unit)
{
    return (struct lab_heat_grid){.count = p->rows * p->cols,
                                  .rows = p->rows,
                                  .cols = p->cols,
                                  .block_rows = at->block_rows,
                                  .block_cols = at->block_cols,
                                  .cells_h = at->cells_h,
                                  .cells_w = at->cells_w,
                                  .cell_h = unit,
                                  .cell_w = unit};
}

/* The row and column of the plane where the cursor is; false: it is not. */
static bool cursor_in(const struct lab_board_view *b, int i, int64_t *row,
                      int64_t *col)
{
    const struct lab_show *show = &b->board.part[i].show;
    int64_t at[LAB_MAX_RANK] = {0};
    if (b->cursor.tensor != show->tensor || b->cursor.index < 0)
        return false;
    lab_shape_unravel(shape_of(b, i), b->cursor.index, at);
    *row = show->row_axis >= 0 ? at[show->row_axis] : 0;
    *col = show->col_axis >= 0 ? at[show->col_axis] : 0;
    return true;
}

/* Around the row, the column or the window that belongs to the cursor's element,
 * but not around a whole operand. */
static void outline_lit(const struct lab_board_view *b, struct lab_canvas *c,
                        int i, const struct lab_heat_grid *g)
{
    const struct lab_board_at *at = &b->layout.at[i];
    struct lab_reach down;
    struct lab_reach across;
    if (!lab_board_lit(&b->board.part[i], &down, &across))
        return;
    int64_t rows = down.last - down.first + 1;
    int64_t cols = across.last - across.first + 1;
    if (rows < g->rows || cols < g->cols)
        lab_heat_outline(c, at->cells.y, at->cells.x, g, down.first,
                         across.first, rows, cols);
}

static void draw_cells(const struct lab_board_view *b, struct lab_canvas *c,
                       int i, const struct lab_plane *p)
{
    const struct lab_board_at *at = &b->layout.at[i];
    struct lab_heat m = {.grid = grid_of(at, p, b->layout.cell_w),
                         .value = p->value,
                         .most = lab_heat_scale(p->value, p->rows * p->cols),
                         .diverging =
                             lab_heat_has_negative(p->value, p->rows * p->cols),
                         .cursor = -1};
    int64_t row = -1;
    int64_t col = -1;
    if (cursor_in(b, i, &row, &col))
        m.cursor = lab_heat_index(&m.grid, row, col);
    lab_heat_draw(c, at->cells.y, at->cells.x, &m);
    if (m.cursor < 0)
        outline_lit(b, c, i, &m.grid);
    if (m.cursor >= 0 && b->focused)
        lab_canvas_cursor(
            c, at->cells.y + lab_heat_top(&m.grid, (int)(row / at->block_rows)),
            at->cells.x + (int)(col / at->block_cols) * m.grid.cell_w);
}

static void draw_part(const struct lab_board_view *b, struct lab_canvas *c,
                      int i, const char *title)
{
    const struct lab_board_at *at = &b->layout.at[i];
    const struct lab_plane *p = lab_board_plane(b, i);
    bool mine = b->board.part[i].tensor == b->cursor.tensor;
    if (lab_rect_empty(at->cells))
        return;
    lab_canvas_text_cut(c, at->title.y, at->title.x, at->title.w,
                        mine ? LAB_ROLE_TITLE : LAB_ROLE_HEADING, title);
    draw_marks(b, c, i);
    if (!p)
        lab_canvas_text_cut(c, at->cells.y, at->cells.x, at->title.w,
                            LAB_ROLE_DIM, "...");
    else if (!p->written)
        lab_canvas_text_cut(c, at->cells.y, at->cells.x, at->title.w,
                            LAB_ROLE_DIM, "not computed yet");
    else
        draw_cells(b, c, i, p);
}

bool lab_board_draw(struct lab_board_view *b, struct lab_canvas *c,
                    struct lab_rect r)
{
    struct lab_board_want want[LAB_BOARD_PARTS];
    char title[LAB_BOARD_PARTS][96];
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_part *p = &b->board.part[i];
        title_of(b, i, title[i], sizeof(title[i]));
        want[i] = (struct lab_board_want){
            .place = p->place,
            .rows = size_along(shape_of(b, i), p->show.row_axis),
            .cols = size_along(shape_of(b, i), p->show.col_axis),
            .title_w = lab_canvas_columns(c, title[i])};
    }
    b->layout = lab_board_place(r, want, b->board.n, b->board.cross,
                                c->tints && !c->ascii);
    for (int i = 0; i < b->board.n && b->layout.cell_w > 0; i++)
        draw_part(b, c, i, title[i]);
    return b->layout.cell_w > 0;
}

struct lab_element lab_board_hit(const struct lab_board_view *b, int y, int x)
{
    struct lab_element none = {-1, -1};
    int unit = b->layout.cell_w;
    for (int i = 0; i < b->board.n && unit > 0; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        const struct lab_show *show = &b->board.part[i].show;
        const struct lab_shape *shape = shape_of(b, i);
        int64_t place[LAB_MAX_RANK];
        if (!lab_rect_has(at->cells, y, x))
            continue;
        memcpy(place, show->fixed, sizeof(place));
        if (show->row_axis >= 0)
            place[show->row_axis] =
                (y - at->cells.y) * 2 / unit * at->block_rows;
        if (show->col_axis >= 0)
            place[show->col_axis] = (x - at->cells.x) / unit * at->block_cols;
        return (struct lab_element){show->tensor,
                                    lab_shape_ravel(shape, place, shape->rank)};
    }
    return none;
}
