/* Which part of a tensor is looked at: slices, the element under the
 * cursor, and the elements that the explained number came from. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "view_stepper_axes.h"

/* Further than any tensor reaches, and small enough to multiply. */
#define FAR ((int64_t)1 << 40)

static const struct lab_tensor *tensor_of(const struct lab_stepper *v)
{
    return &v->snap.plan->tensors[v->tensor];
}

struct lab_tensor_slice *lab_stepper_look(const struct lab_stepper *v)
{
    return v->tensor >= 0 ? &v->looks[v->tensor] : NULL;
}

static int64_t axis_size(const struct lab_shape *s, int axis)
{
    return axis >= 0 && axis < s->rank ? s->dim[axis] : 1;
}

static bool same_show(const struct lab_show *a, const struct lab_show *b)
{
    if (a->tensor != b->tensor || a->row_axis != b->row_axis ||
        a->col_axis != b->col_axis || a->row_first != b->row_first ||
        a->col_first != b->col_first)
        return false;
    for (int i = 0; i < LAB_MAX_RANK; i++)
        if (a->fixed[i] != b->fixed[i])
            return false;
    return true;
}

/* What of an axis a plane can hold. */
static int64_t extent(const struct lab_shape *s, int axis, int64_t first,
                      int64_t most)
{
    int64_t n = axis_size(s, axis) - first;
    return n < 1 ? 1 : n > most ? most : n;
}

/* The first row (or column) of a window of `n` out of `all` that has `at`;
 * stays where it is when it can. */
static int64_t window(int64_t first, int64_t n, int64_t all, int64_t at)
{
    if (at >= first && at < first + n)
        return first;
    first = at - n / 2;
    return first < 0 ? 0 : first > all - n ? all - n : first;
}

/* A very large plane comes in pieces: the one with the cursor in it. */
static void cut_to_window(const struct lab_shape *shape,
                          struct lab_tensor_slice *look)
{
    struct lab_show *show = &look->show;
    int64_t rows = axis_size(shape, show->row_axis);
    int64_t cols = axis_size(shape, show->col_axis);
    if (rows <= LAB_PLANE_ELEMENTS / (cols < LAB_PLANE_ELEMENTS ? cols : 1) &&
        cols <= LAB_PLANE_ELEMENTS) {
        show->row_first = 0;
        show->col_first = 0;
        return;
    }
    int64_t w = cols < LAB_PLANE_ELEMENTS ? cols : LAB_PLANE_ELEMENTS;
    show->col_first = window(show->col_first, w, cols, look->col);
    w = extent(shape, show->col_axis, show->col_first, LAB_PLANE_ELEMENTS);
    int64_t h = LAB_PLANE_ELEMENTS / w;
    h = h < rows ? h : rows;
    show->row_first = window(show->row_first, h, rows, look->row);
}

void lab_stepper_ask(struct lab_stepper *v)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    if (look)
        cut_to_window(&tensor_of(v)->shape, look);
    if (!look || same_show(&look->show, &v->asked))
        return;
    struct lab_command cmd = {.kind = LAB_DO_SHOW, .show = look->show};
    v->asked = look->show;
    v->asked_ns = lab_clock_monotonic_ns();
    v->num_top = 0;
    v->num_left = 0;
    lab_stepper_post(v, &cmd);
}

void lab_stepper_look_at(struct lab_stepper *v, int tensor)
{
    v->tensor = tensor;
    struct lab_tensor_slice *look = lab_stepper_look(v);
    if (!look)
        return;
    if (!look->set)
        lab_stepper_look_first(v->snap.plan, tensor, look);
    lab_stepper_ask(v);
}

/* Whether the snapshot holds the plane that is asked for. */
bool lab_stepper_plane_ready(const struct lab_stepper *v)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    return look && p->tensor == v->tensor && p->value &&
           same_show(&p->show, &look->show);
}

int64_t lab_stepper_flat(const struct lab_stepper *v, int64_t row, int64_t col)
{
    int64_t at[LAB_MAX_RANK];
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    const struct lab_shape *shape = &tensor_of(v)->shape;
    memcpy(at, look->show.fixed, sizeof(at));
    if (look->show.row_axis >= 0)
        at[look->show.row_axis] = row;
    if (look->show.col_axis >= 0)
        at[look->show.col_axis] = col;
    return lab_shape_ravel(shape, at, shape->rank);
}

void lab_stepper_goto_element(struct lab_stepper *v, struct lab_element e)
{
    int64_t at[LAB_MAX_RANK];
    if (e.tensor < 0 || e.tensor >= v->n_looks)
        return;
    lab_stepper_look_at(v, e.tensor);
    struct lab_tensor_slice *look = lab_stepper_look(v);
    const struct lab_shape *shape = &tensor_of(v)->shape;
    lab_shape_unravel(shape, e.index, at);
    for (int i = 0; i < shape->rank; i++)
        if (!lab_stepper_is_shown(&look->show, i))
            look->show.fixed[i] = at[i];
    look->row = look->show.row_axis >= 0 ? at[look->show.row_axis] : 0;
    look->col = look->show.col_axis >= 0 ? at[look->show.col_axis] : 0;
    lab_stepper_ask(v);
}

void lab_stepper_explain_cursor(struct lab_stepper *v)
{
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    if (!look)
        return;
    int64_t flat = lab_stepper_flat(v, look->row, look->col);
    if (flat < 0)
        return;
    struct lab_command cmd = {.kind = LAB_DO_EXPLAIN,
                              .element = {v->tensor, flat}};
    v->explained = cmd.element;
    v->term = 0;
    v->source = 0;
    v->top[LAB_PANE_EXPLAIN] = 0;
    lab_stepper_post(v, &cmd);
}

/* ---- source elements ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Index of (row, col) in the plane that is asked for, -1: not in it. */
int64_t lab_stepper_in_plane(const struct lab_stepper *v, int64_t row,
                             int64_t col)
{
    const struct lab_show *show = &lab_stepper_look(v)->show;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    int64_t cols =
        extent(shape, show->col_axis, show->col_first, LAB_PLANE_ELEMENTS);
    int64_t rows = extent(shape, show->row_axis, show->row_first,
                          LAB_PLANE_ELEMENTS / cols);
    row -= show->row_first;
    col -= show->col_first;
    bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
    return inside ? row * cols + col : -1;
}

/* Place of a flat index in the plane, -1: it is in another slice. */
static int64_t place_in_plane(const struct lab_stepper *v, int64_t flat)
{
    int64_t at[LAB_MAX_RANK];
    const struct lab_show *show = &lab_stepper_look(v)->show;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    lab_shape_unravel(shape, flat, at);
    for (int i = 0; i < shape->rank; i++)
        if (!lab_stepper_is_shown(show, i) && at[i] != show->fixed[i])
            return -1;
    int64_t row = show->row_axis >= 0 ? at[show->row_axis] : 0;
    int64_t col = show->col_axis >= 0 ? at[show->col_axis] : 0;
    return lab_stepper_in_plane(v, row, col);
}

void lab_stepper_mark_sources(struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    v->n_marks = 0;
    if (e->tensor < 0 || v->tensor < 0 || e->n_terms < 1)
        return;
    int64_t *more = lab_realloc_array(
        v->marks, (size_t)e->n_terms * LAB_TERM_SOURCES, sizeof(*more));
    if (!more)
        return; /* no marks are better than no screen */
    v->marks = more;
    for (int64_t i = 0; i < e->n_terms; i++) {
        for (int k = 0; k < e->terms[i].n_sources; k++) {
            const struct lab_element *s = &e->terms[i].source[k];
            int64_t place =
                s->tensor == v->tensor ? place_in_plane(v, s->index) : -1;
            if (place >= 0)
                v->marks[v->n_marks++] = place;
        }
    }
    qsort(v->marks, (size_t)v->n_marks, sizeof(*v->marks), by_value);
}

/* ---- keys ---- */

static int64_t clamp(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n > most ? most : n;
}

/* Elements in a row of the picture when one row is folded; 0: as it fits. */
int64_t lab_stepper_fold(const struct lab_stepper *v)
{
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    int64_t n = axis_size(&tensor_of(v)->shape, look->show.col_axis);
    int64_t side = 1;
    if (!look->picture)
        return 0;
    while (side * side < n)
        side++;
    return side;
}

/* The picture as it stands on the screen: one key moves one cell, and a cell
 * of the heat map may hold several elements. */
static struct lab_heat_grid grid_now(const struct lab_stepper *v)
{
    const struct lab_show *show = &lab_stepper_look(v)->show;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    int64_t cols =
        extent(shape, show->col_axis, show->col_first, LAB_PLANE_ELEMENTS);
    int64_t rows = extent(shape, show->row_axis, show->row_first,
                          LAB_PLANE_ELEMENTS / cols);
    int h = (int)v->page_rows;
    int w = (int)v->page_cols;
    if (v->numbers)
        return lab_heat_fold(rows, cols, lab_stepper_fold(v), w);
    return lab_heat_fit(rows, cols, lab_stepper_fold(v), h, w);
}

static void move(struct lab_stepper *v, int64_t down, int64_t right)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    const struct lab_shape *shape = &tensor_of(v)->shape;
    struct lab_heat_grid g = grid_now(v);
    down *= g.block_rows;
    right *= g.block_cols;
    if (g.folded) { /* down is a whole piece of the one row */
        right += down * g.cols;
        down = 0;
    }
    look->row =
        clamp(look->row + down, axis_size(shape, look->show.row_axis) - 1);
    look->col =
        clamp(look->col + right, axis_size(shape, look->show.col_axis) - 1);
    lab_stepper_ask(v);
}

/* The explanation follows the cursor, unless the cursor has gone to look at
 * where an explained number came from. */
static void moved(struct lab_stepper *v)
{
    if (v->pinned)
        return;
    lab_stepper_explain_cursor(v);
    if (v->tab == LAB_PANE_TEXT)
        v->tab = LAB_PANE_EXPLAIN;
}

/* Looking at another tensor keeps the explanation: its sources may be there.
 * Back on the explained tensor it follows the cursor again. */
static void turn_to(struct lab_stepper *v, int tensor)
{
    lab_stepper_look_at(v, tensor);
    v->pinned = v->explained.tensor >= 0 && v->explained.tensor != v->tensor;
    lab_stepper_mark_sources(v);
}

static void next_tensor(struct lab_stepper *v, int dir)
{
    int at = -1;
    for (int i = 0; i < v->n_tensors; i++)
        if (v->tensors[i] == v->tensor)
            at = i;
    if (v->n_tensors == 0)
        return;
    if (at < 0)
        at = dir > 0 ? -1 : 0;
    at = (at + dir + v->n_tensors) % v->n_tensors;
    turn_to(v, v->tensors[at]);
}

bool lab_stepper_click_tensor(struct lab_stepper *v, int y, int x)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    for (int i = 0; i < v->n_tensors; i++) {
        if (lab_rect_has(v->chips[i], y, x)) {
            turn_to(v, v->tensors[i]);
            return true;
        }
    }
    if (!look || !lab_stepper_plane_ready(v) || !lab_rect_has(v->cells, y, x))
        return false;
    struct lab_heat_grid g = grid_now(v);
    int64_t row = y - v->cells.y;
    int64_t col = x - v->cells.x;
    if (v->numbers) {
        row += v->num_top;
        col = v->num_left + col / LAB_STEPPER_NUMBER_W;
    } else {
        row = row / g.scale * g.block_rows;
        col = col / (2 * g.scale) * g.block_cols;
    }
    int64_t index = lab_heat_index(&g, row, col);
    if (index < 0)
        return false;
    int64_t cols = v->snap.plane.cols;
    look->row = look->show.row_first + index / cols;
    look->col = look->show.col_first + index % cols;
    lab_stepper_ask(v);
    moved(v);
    lab_stepper_mark_sources(v);
    return true;
}

static void slice(struct lab_stepper *v, int dir)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    int axis = look->hidden;
    if (axis < 0 || lab_stepper_is_shown(&look->show, axis)) {
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "all of this tensor is in sight: no slice to change");
        return;
    }
    look->show.fixed[axis] = clamp(look->show.fixed[axis] + dir,
                                   axis_size(&tensor_of(v)->shape, axis) - 1);
    lab_stepper_ask(v);
    moved(v);
}

static bool movement(struct lab_stepper *v, int action)
{
    int64_t page = v->page_rows > 1 ? v->page_rows - 1 : 1;
    switch (action) {
    case LAB_ACT_UP:
        move(v, -1, 0);
        break;
    case LAB_ACT_DOWN:
        move(v, 1, 0);
        break;
    case LAB_ACT_LEFT:
        move(v, 0, -1);
        break;
    case LAB_ACT_RIGHT:
        move(v, 0, 1);
        break;
    case LAB_ACT_PAGE_UP:
        move(v, -page, 0);
        break;
    case LAB_ACT_PAGE_DOWN:
        move(v, page, 0);
        break;
    case LAB_ACT_FIRST:
        move(v, -FAR, -FAR);
        break;
    case LAB_ACT_LAST:
        move(v, FAR, FAR);
        break;
    default:
        return false;
    }
    moved(v);
    return true;
}

bool lab_stepper_tensor_action(struct lab_stepper *v, int action)
{
    if (v->tensor < 0)
        return false;
    switch (action) {
    case LAB_STEPPER_ACT_TENSOR_NEXT:
    case LAB_STEPPER_ACT_TENSOR_PREV:
        next_tensor(v, action == LAB_STEPPER_ACT_TENSOR_NEXT ? 1 : -1);
        return true;
    case LAB_STEPPER_ACT_SLICE_NEXT:
    case LAB_STEPPER_ACT_SLICE_PREV:
        slice(v, action == LAB_STEPPER_ACT_SLICE_NEXT ? 1 : -1);
        break;
    case LAB_STEPPER_ACT_HIDDEN_NEXT:
    case LAB_STEPPER_ACT_HIDDEN_PREV:
        lab_stepper_choose_hidden(
            v, action == LAB_STEPPER_ACT_HIDDEN_NEXT ? 1 : -1);
        break;
    case LAB_STEPPER_ACT_ROW_AXIS:
    case LAB_STEPPER_ACT_COL_AXIS:
        lab_stepper_turn_axis(v, action == LAB_STEPPER_ACT_ROW_AXIS);
        break;
    case LAB_STEPPER_ACT_PICTURE:
        lab_stepper_turn_picture(v);
        break;
    case LAB_STEPPER_ACT_DIGITS:
        v->numbers = !v->numbers;
        break;
    default:
        return v->focus == LAB_PANE_TENSOR && movement(v, action);
    }
    lab_stepper_mark_sources(v);
    return true;
}
