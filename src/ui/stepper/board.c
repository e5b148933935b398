/* board.c -- a step's blackboard: the rectangles of its tensors, where widths and
 * heights share the place, the small ones whole and the large ones evenly; and how
 * they are drawn. The marks are at the edges: the pictures under them keep their
 * colours. */
#include "board.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ui/heat.h"

/* ---- where ---- */

enum {
    MARGIN = 1, /* the column of marks at the left */
    HEAD = 2,   /* title, and the line of marks */
    GAP = 2,
    LEAST_TITLE = 10,
    LARGEST = 24, /* columns of a cell */
    LEAST_CELLS = 2
};

static int64_t up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* Shares `total` among n sizes: none gets more than it has. */
static void share(int64_t total, const int64_t *size, int n, int64_t *out)
{
    int64_t left = total < 0 ? 0 : total;
    int open = n;
    for (int i = 0; i < n; i++)
        out[i] = -1;
    while (open > 0) {
        int64_t fair = left / open;
        int closed = 0;
        for (int i = 0; i < n; i++) {
            if (out[i] >= 0 || size[i] > fair)
                continue;
            out[i] = size[i];
            left -= size[i];
            closed++;
        }
        open -= closed;
        if (closed)
            continue;
        for (int i = 0; i < n; i++)
            if (out[i] < 0)
                out[i] = fair;
        return;
    }
}

/* A line of parts that share a width or a height. */
struct line {
    int64_t size[LAB_BOARD_PARTS]; /* elements */
    int64_t cells[LAB_BOARD_PARTS];
    int least[LAB_BOARD_PARTS]; /* columns of the title, rows: 0 */
    int n;
};

/* Columns (or rows) that `cells` take. */
static int extent_of(int64_t cells, int unit, bool down)
{
    return (int)(down ? up(cells * unit, 2) : cells * unit);
}

static int slot_of(const struct line *l, int i, int unit, bool down)
{
    int w = extent_of(l->cells[i], unit, down);
    return w > l->least[i] ? w : l->least[i];
}

/* Fits the line into `room`, without what lies between. */
static void fit_line(struct line *l, int room, int unit, bool down)
{
    share(down ? (int64_t)room * 2 / unit : room / unit, l->size, l->n,
          l->cells);
    for (;;) {
        int used = 0;
        int most = 0;
        for (int i = 0; i < l->n; i++) {
            used += slot_of(l, i, unit, down);
            most = l->cells[i] > l->cells[most] ? i : most;
        }
        if (used <= room || l->n == 0 || l->cells[most] <= 0)
            return;
        l->cells[most]--;
    }
}

/* The smallest share of a part that is drawn: 1 is whole. */
static double shown(const struct line *l)
{
    double least = 1;
    for (int i = 0; i < l->n; i++) {
        double part = (double)l->cells[i] / (double)l->size[i];
        bool few = l->cells[i] < LEAST_CELLS && l->cells[i] < l->size[i];
        if (few)
            return 0;
        least = part < least ? part : least;
    }
    return least;
}

static void put(struct lab_board_at *at, int y, int x, int slot_w,
                const struct lab_board_want *want, int64_t cells_h,
                int64_t cells_w, int unit)
{
    at->block_rows = up(want->rows, cells_h > 0 ? cells_h : 1);
    at->block_cols = up(want->cols, cells_w > 0 ? cells_w : 1);
    at->cells_h = (int)up(want->rows, at->block_rows);
    at->cells_w = (int)up(want->cols, at->block_cols);
    at->title = (struct lab_rect){y, x, 1, slot_w + MARGIN};
    at->cells = (struct lab_rect){y + HEAD, x + MARGIN,
                                  extent_of(at->cells_h, unit, true),
                                  extent_of(at->cells_w, unit, false)};
}

/* ---- a product ---- */

struct cross {
    struct line across; /* left operands, the result, what is beside */
    struct line down;   /* upper operands, the result */
    int part_across[LAB_BOARD_PARTS];
    int part_down[LAB_BOARD_PARTS];
};

static void add(struct line *l, int *parts, int part, int64_t size, int least)
{
    parts[l->n] = part;
    l->least[l->n] = least;
    l->size[l->n++] = size;
}

static int title_least(const struct lab_board_want *w)
{
    return w->title_w < LEAST_TITLE ? w->title_w : LEAST_TITLE;
}

static double fit_cross(struct cross *x, struct lab_rect r,
                        const struct lab_board_want *want, int n, int unit)
{
    static const enum lab_board_place order[] = {
        LAB_BOARD_LEFT, LAB_BOARD_RESULT, LAB_BOARD_BESIDE};
    int64_t tall = 0;
    memset(x, 0, sizeof(*x));
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n; i++)
            if (want[i].place == order[k])
                add(&x->across, x->part_across, i, want[i].cols,
                    title_least(&want[i]));
    for (int i = 0; i < n; i++) {
        if (want[i].place == LAB_BOARD_ABOVE)
            add(&x->down, x->part_down, i, want[i].rows, 0);
        else if (want[i].place != LAB_BOARD_BESIDE && want[i].rows > tall)
            tall = want[i].rows;
    }
    add(&x->down, x->part_down, -1, tall, 0);
    fit_line(&x->across, r.w - x->across.n * MARGIN - (x->across.n - 1) * GAP,
             unit, false);
    fit_line(&x->down, r.h - x->down.n * HEAD, unit, true);
    double a = shown(&x->across);
    double d = shown(&x->down);
    return a < d ? a : d;
}

static void place_cross(const struct cross *x, struct lab_rect r,
                        const struct lab_board_want *want, int unit,
                        struct lab_board_layout *out)
{
    int crossing = 0;
    int64_t cols = 1;
    int left = r.x;
    int top = r.y;
    for (int i = 0; i < x->across.n; i++) {
        if (want[x->part_across[i]].place == LAB_BOARD_RESULT)
            crossing = i;
    }
    for (int i = 0; i < crossing; i++)
        left += slot_of(&x->across, i, unit, false) + MARGIN + GAP;
    cols = x->across.cells[crossing];
    for (int i = 0; i + 1 < x->down.n; i++) {
        int part = x->part_down[i];
        put(&out->at[part], top, left,
            slot_of(&x->across, crossing, unit, false), &want[part],
            x->down.cells[i], cols, unit);
        top = out->at[part].cells.y + out->at[part].cells.h;
    }
    left = r.x;
    for (int i = 0; i < x->across.n; i++) {
        int part = x->part_across[i];
        int slot = slot_of(&x->across, i, unit, false);
        bool beside = want[part].place == LAB_BOARD_BESIDE;
        int64_t rows = x->down.cells[x->down.n - 1];
        int64_t room = ((int64_t)(r.h - HEAD) * 2) / unit;
        if (beside)
            rows = want[part].rows < room ? want[part].rows : room;
        put(&out->at[part], beside ? r.y : top, left, slot, &want[part], rows,
            x->across.cells[i], unit);
        left += slot + MARGIN + GAP;
    }
}

/* ---- rows of parts ---- */

struct shelves {
    int n;
    int first[LAB_BOARD_PARTS + 1];
    struct line across[LAB_BOARD_PARTS];
    struct line down;
};

static double fit_shelves(struct shelves *s, struct lab_rect r,
                          const struct lab_board_want *want, int n, int shelves,
                          int unit)
{
    int each = (n + shelves - 1) / shelves;
    int unused[LAB_BOARD_PARTS];
    double least = 1;
    memset(s, 0, sizeof(*s));
    for (int i = 0; i < n; i += each) {
        struct line *l = &s->across[s->n];
        int64_t tall = 0;
        s->first[s->n] = i;
        for (int k = i; k < n && k < i + each; k++) {
            add(l, unused, k, want[k].cols, title_least(&want[k]));
            tall = want[k].rows > tall ? want[k].rows : tall;
        }
        fit_line(l, r.w - l->n * MARGIN - (l->n - 1) * GAP, unit, false);
        double part = shown(l);
        least = part < least ? part : least;
        add(&s->down, unused, s->n++, tall, 0);
    }
    s->first[s->n] = n;
    fit_line(&s->down, r.h - s->n * HEAD, unit, true);
    double part = shown(&s->down);
    return part < least ? part : least;
}

static void place_shelves(const struct shelves *s, struct lab_rect r,
                          const struct lab_board_want *want, int unit,
                          struct lab_board_layout *out)
{
    int top = r.y;
    for (int k = 0; k < s->n; k++) {
        int left = r.x;
        int tall = 0;
        for (int i = s->first[k]; i < s->first[k + 1]; i++) {
            int at = i - s->first[k];
            int slot = slot_of(&s->across[k], at, unit, false);
            int64_t rows = want[i].rows < s->down.cells[k] ? want[i].rows
                                                           : s->down.cells[k];
            put(&out->at[i], top, left, slot, &want[i], rows,
                s->across[k].cells[at], unit);
            int h = out->at[i].cells.h;
            tall = h > tall ? h : tall;
            left += slot + MARGIN + GAP;
        }
        top += HEAD + tall;
    }
}

/* ---- the largest cells ---- */

struct lab_board_layout lab_board_place(struct lab_rect r,
                                        const struct lab_board_want *want,
                                        int n, bool cross, bool halves)
{
    struct lab_board_layout out = {.cell_w = 0};
    struct cross x;
    struct shelves s;
    double best = 0;
    int shelves = 0;
    if (n < 1 || n > LAB_BOARD_PARTS)
        return out;
    for (int unit = LARGEST;
         unit > 0 && best<1; unit = unit> 2 ? unit - 2 : unit - 1) {
        if (unit == 1 && !halves)
            break;
        best = 0; /* a smaller cell shows more */
        for (int k = 1; k <= (cross ? 1 : n); k++) {
            double part = cross ? fit_cross(&x, r, want, n, unit)
                                : fit_shelves(&s, r, want, n, k, unit);
            if (part <= best)
                continue;
            best = part;
            shelves = k;
            out.cell_w = unit;
        }
    }
    if (best <= 0) {
        out.cell_w = 0;
        return out;
    }
    if (cross) {
        fit_cross(&x, r, want, n, out.cell_w);
        place_cross(&x, r, want, out.cell_w, &out);
    } else {
        fit_shelves(&s, r, want, n, shelves, out.cell_w);
        place_shelves(&s, r, want, out.cell_w, &out);
    }
    return out;
}

/* ---- drawing ---- */

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
