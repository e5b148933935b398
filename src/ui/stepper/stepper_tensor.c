/* stepper_tensor.c -- one tensor as a picture: which axes are shown, which
 * part, the cursor, its labels, and the marks of its sources. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "stepper_priv.h"
#include "ui/chart.h"
#include "base/format.h"

static int64_t up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static struct lab_heat_grid heat_fold(int64_t rows, int64_t cols, int64_t fold,
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
    g = heat_fold(rows, cols, fold, w);
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

/* ---- which part of a tensor is looked at ---- */

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

/* for the plane looked at */
static void stepper_ask(struct lab_stepper *v)
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
    if (v->model.post(v->model.session, &cmd))
        lab_ui_error(v->ui);
}

bool lab_stepper_is_shown(const struct lab_show *show, int axis)
{
    return axis == show->row_axis || axis == show->col_axis;
}

/* The first axis from `from` on, going `dir`, that is not shown; -1: none. */
static int hidden_axis(const struct lab_tensor_slice *look, int rank, int from,
                       int dir)
{
    for (int i = 0; i < rank; i++) {
        int axis = ((from + dir * i) % rank + rank) % rank;
        if (!lab_stepper_is_shown(&look->show, axis))
            return axis;
    }
    return -1;
}

/* Images, feature maps and filters. Ops that say what their axes count have
 * other parts of four axes: [N,heads,T,T]. */
static bool holds_pictures(const struct lab_plan *plan,
                           const struct lab_tensor *t)
{
    return t->shape.rank == 4 &&
           (t->node < 0 || plan->nodes[t->node].op->n_axes == 0);
}

/* The last axis runs across and the one before it down, but for pictures with
 * their channels last: there it is the rows and columns of the picture, which
 * are [N,H,W,C] or, of filters, [H,W,C,M]. */
static void first_axes(const struct lab_plan *plan, int tensor, int *row,
                       int *col)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    while (t->gradient_of >= 0)
        t = &plan->tensors[t->gradient_of];
    int rank = t->shape.rank;
    *row = rank >= 2 ? rank - 2 : -1;
    *col = rank >= 1 ? rank - 1 : -1;
    if (plan->layout == LAB_NHWC && holds_pictures(plan, t)) {
        bool filter =
            t->role == LAB_TENSOR_PARAM || t->role == LAB_TENSOR_STATE;
        *row = filter ? 0 : 1;
        *col = *row + 1;
    }
}

/* As a tensor opens. */
static void stepper_look_first(const struct lab_plan *plan, int tensor,
                               struct lab_tensor_slice *look)
{
    memset(look, 0, sizeof(*look));
    look->set = true;
    look->show.tensor = tensor;
    first_axes(plan, tensor, &look->show.row_axis, &look->show.col_axis);
    look->hidden = hidden_axis(look, plan->tensors[tensor].shape.rank, 0, 1);
}

void lab_stepper_look_at(struct lab_stepper *v, int tensor)
{
    v->tensor = tensor;
    struct lab_tensor_slice *look = lab_stepper_look(v);
    if (!look)
        return;
    if (!look->set)
        stepper_look_first(v->snap.plan, tensor, look);
    stepper_ask(v);
}

/* Whether the snapshot holds the plane that is asked for. */
bool lab_stepper_plane_ready(const struct lab_stepper *v)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    return look && p->tensor == v->tensor && p->value &&
           same_show(&p->show, &look->show);
}

static int64_t stepper_flat(const struct lab_stepper *v, int64_t row,
                            int64_t col)
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
    stepper_ask(v);
}

void lab_stepper_explain_cursor(struct lab_stepper *v)
{
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    if (!look)
        return;
    int64_t flat = stepper_flat(v, look->row, look->col);
    if (flat < 0)
        return;
    struct lab_command cmd = {.kind = LAB_DO_EXPLAIN,
                              .element = {v->tensor, flat}};
    v->explained = cmd.element;
    v->term = 0;
    v->source = 0;
    lab_pager_action(&v->pager[LAB_PANE_EXPLAIN], LAB_ACT_FIRST);
    if (v->model.post(v->model.session, &cmd))
        lab_ui_error(v->ui);
}

/* ---- source elements ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Index of (row, col) in the plane that is asked for, -1: not in it. */
static int64_t stepper_in_plane(const struct lab_stepper *v, int64_t row,
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
    return stepper_in_plane(v, row, col);
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
static int64_t stepper_fold(const struct lab_stepper *v)
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

/* The picture as it is on the screen: one key moves one cell, and a cell
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
        return heat_fold(rows, cols, stepper_fold(v), w);
    return lab_heat_fit(rows, cols, stepper_fold(v), h, w);
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
    stepper_ask(v);
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

enum lab_status lab_stepper_next_tensor(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    int at = by > 0 ? -1 : 0;
    for (int i = 0; i < v->n_tensors; i++)
        if (v->tensors[i] == v->tensor)
            at = i;
    if (v->n_tensors > 0 && v->tensor >= 0)
        turn_to(v, v->tensors[(at + by + v->n_tensors) % v->n_tensors]);
    return LAB_OK;
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
    stepper_ask(v);
    moved(v);
    lab_stepper_mark_sources(v);
    return true;
}

enum lab_status lab_stepper_next_slice(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    struct lab_tensor_slice *look = lab_stepper_look(v);
    int axis = look ? look->hidden : -1;
    if (!look)
        return LAB_OK;
    if (axis < 0 || lab_stepper_is_shown(&look->show, axis)) {
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "all of this tensor is in sight: no slice to change");
        return LAB_OK;
    }
    look->show.fixed[axis] = clamp(look->show.fixed[axis] + by,
                                   axis_size(&tensor_of(v)->shape, axis) - 1);
    stepper_ask(v);
    moved(v);
    lab_stepper_mark_sources(v);
    return LAB_OK;
}

bool lab_stepper_tensor_action(struct lab_stepper *v, int action)
{
    int64_t page = v->page_rows > 1 ? v->page_rows - 1 : 1;
    bool back = action == LAB_ACT_UP || action == LAB_ACT_LEFT ||
                action == LAB_ACT_PAGE_UP || action == LAB_ACT_FIRST;
    int64_t by = back ? -1 : 1;
    if (v->tensor < 0)
        return false;
    if (action == LAB_ACT_UP || action == LAB_ACT_DOWN)
        move(v, by, 0);
    else if (action == LAB_ACT_LEFT || action == LAB_ACT_RIGHT)
        move(v, 0, by);
    else if (action == LAB_ACT_PAGE_UP || action == LAB_ACT_PAGE_DOWN)
        move(v, by * page, 0);
    else if (action == LAB_ACT_FIRST || action == LAB_ACT_LAST)
        move(v, by * FAR, by * FAR);
    else
        return false;
    moved(v);
    return true;
}

/* Has the update of a parameter run in this iteration? */
static bool is_updated(const struct lab_stepper *v, int tensor)
{
    const struct lab_schedule *s = v->snap.schedule;
    for (int i = 0; s && v->snap.steps && i < s->n_steps; i++) {
        const struct lab_step *step = s->steps[i].step;
        if (step->phase != LAB_UPDATE || !v->snap.steps[i].done)
            continue;
        for (int k = 0; k < step->n_out; k++)
            if (step->out[k] == tensor)
                return true;
    }
    return false;
}

/* What course material prints for an element: flat index `index` of a tensor,
 * counted from the spec's place on. */
bool lab_stepper_printed(const struct lab_stepper *v, int tensor, int64_t index,
                         double *value,
                         const struct lab_course_values_spec **spec)
{
    const struct lab_tensor *t = &v->snap.plan->tensors[tensor];
    for (int i = 0; i < v->model.n_printed; i++) {
        const struct lab_course_values_spec *p = &v->model.printed[i];
        if (strcmp(p->tensor, t->name) != 0)
            continue;
        if (t->persistent && p->updated != is_updated(v, tensor))
            continue; /* the printed value is another one */
        int64_t first = 0;
        if (p->at.rank == t->shape.rank && p->at.rank > 0)
            first = lab_shape_ravel(&t->shape, p->at.dim, p->at.rank);
        if (first < 0 || index < first || index >= first + p->n_values)
            continue;
        *value = p->values[index - first];
        *spec = p;
        return true;
    }
    return false;
}

void lab_stepper_look_along(struct lab_stepper *v, int row_axis, int col_axis)
{
    struct lab_tensor_slice *look = lab_stepper_look(v);
    struct lab_show *show = &look->show;
    int rank = tensor_of(v)->shape.rank;
    int64_t at[LAB_MAX_RANK];
    memcpy(at, show->fixed, sizeof(at));
    if (show->row_axis >= 0)
        at[show->row_axis] = look->row;
    if (show->col_axis >= 0)
        at[show->col_axis] = look->col;
    *show = (struct lab_show){
        .tensor = v->tensor, .row_axis = row_axis, .col_axis = col_axis};
    for (int i = 0; i < rank; i++)
        if (!lab_stepper_is_shown(show, i))
            show->fixed[i] = at[i];
    look->row = row_axis >= 0 ? at[row_axis] : 0;
    look->col = col_axis >= 0 ? at[col_axis] : 0;
    look->picture = false;
    if (look->hidden < 0 || lab_stepper_is_shown(show, look->hidden))
        look->hidden = hidden_axis(look, rank, 0, 1);
    stepper_ask(v);
    lab_stepper_mark_sources(v);
}

/* The hidden axis that [ and ] move along: the next, or the one before. */
enum lab_status lab_stepper_next_hidden(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    struct lab_tensor_slice *look = lab_stepper_look(v);
    if (look && look->hidden >= 0)
        look->hidden =
            hidden_axis(look, tensor_of(v)->shape.rank, look->hidden + by, by);
    return LAB_OK;
}

enum lab_status lab_stepper_turn_axis(struct lab_screen *s, int rows)
{
    struct lab_stepper *v = s->state;
    struct lab_tensor_slice *look = lab_stepper_look(v);
    if (!look)
        return LAB_OK;
    int row = look->show.row_axis;
    int col = look->show.col_axis;
    int rank = tensor_of(v)->shape.rank;
    int *mine = rows ? &row : &col;
    int *other = rows ? &col : &row;
    if (rank < 2 || look->picture) {
        lab_ui_message(v->ui, LAB_ROLE_DIM, "this picture has one axis only");
        return LAB_OK;
    }
    int next = (*mine + 1) % rank;
    if (next == *other && *mine < 0)
        next = (next + 1) % rank; /* a slice of one axis gets a second */
    else if (next == *other)
        *other = *mine;
    *mine = next;
    lab_stepper_look_along(v, row, col);
    return LAB_OK;
}

/* A tensor of images has its pictures as they are. */
static bool turn_image(struct lab_stepper *v)
{
    const struct lab_show *show = &lab_stepper_look(v)->show;
    const struct lab_tensor *t = tensor_of(v);
    int row;
    int col;
    if (!holds_pictures(v->snap.plan, t))
        return false;
    first_axes(v->snap.plan, v->tensor, &row, &col);
    if (show->row_axis == row && show->col_axis == col)
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "this is the picture: [ and ] go to another, { and } "
                       "say along what");
    else
        lab_stepper_look_along(v, row, col);
    return true;
}

/* One row as a square: a digit of 64 pixels is 8 by 8. */
enum lab_status lab_stepper_turn_picture(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    struct lab_tensor_slice *look = lab_stepper_look(v);
    if (!look)
        return LAB_OK;
    int row = look->show.row_axis;
    int col = look->show.col_axis;
    if (col < 0) {
        lab_ui_message(v->ui, LAB_ROLE_DIM, "one number has no picture");
    } else if (look->picture) {
        first_axes(v->snap.plan, v->tensor, &row, &col);
        lab_stepper_look_along(v, row, col);
    } else if (!turn_image(v)) {
        lab_stepper_look_along(v, -1, col);
        if (row >= 0)
            look->hidden = row;
        look->picture = true;
    }
    return LAB_OK;
}

/* ---- labels: the symbols of the sequence at rows and columns ---- */

enum { LABEL_W = 8, LABEL_H = 4 };

/* Columns that the rows' labels take, with the space behind them. */
static int stepper_gutter(const struct lab_plane *p, const struct lab_canvas *c)
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

static int stepper_header(const struct lab_plane *p, int h)
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

static void stepper_draw_labels(const struct lab_stepper *v,
                                struct lab_canvas *c, struct lab_rect r,
                                const struct lab_heat_grid *g,
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
static void stepper_place_text(int64_t index, const struct lab_label *label,
                               char *out, size_t cap)
{
    snprintf(out, cap, "%lld", (long long)index);
    if (label && label->symbol)
        snprintf(out, cap, "%lld:%s", (long long)index, label->text);
}

static int stepper_draw_cursor_labels(const struct lab_stepper *v,
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

enum { NUMBER_W = LAB_STEPPER_NUMBER_W };

static bool is_watched(const struct lab_stepper *v)
{
    for (int i = 0; i < v->snap.n_breaks; i++)
        if (v->snap.breaks[i].watch &&
            strcmp(v->snap.breaks[i].step, tensor_of(v)->name) == 0)
            return true;
    return false;
}

/* ---- which tensors, and which part ---- */

static int list_columns(const struct lab_stepper *v, const struct lab_canvas *c,
                        int *at)
{
    int w = 10;
    *at = -1;
    for (int i = 0; i < v->n_tensors; i++) {
        w += 2 +
             lab_canvas_columns(c, v->snap.plan->tensors[v->tensors[i]].name);
        if (v->tensors[i] == v->tensor)
            *at = i;
    }
    return w;
}

static void draw_list(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    int x = row.x;
    int at;
    if (list_columns(v, c, &at) > row.w && at >= 0) {
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_TITLE, "%s [%s]",
                              at < v->n_in ? "in" : "out", tensor_of(v)->name);
        int w =
            lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM,
                             "  %d of %d, x the next", at + 1, v->n_tensors);
        v->chips[(at + 1) % v->n_tensors] = (struct lab_rect){row.y, x, 1, w};
        return;
    }
    for (int i = 0; i < v->n_tensors; i++) {
        const char *name = v->snap.plan->tensors[v->tensors[i]].name;
        bool shown = v->tensors[i] == v->tensor;
        if (i == 0 && v->n_in > 0)
            x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_DIM, "in ");
        if (i == v->n_in)
            x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_DIM,
                                 i ? " out " : "out ");
        int w = lab_canvas_textf(c, row.y, x, -1,
                                 shown ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                                 shown ? "[%s]" : " %s ", name);
        v->chips[i] = (struct lab_rect){row.y, x, 1, w};
        x += w;
    }
    if (at < 0) /* not of this step: a source, or asked for by name */
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_TITLE, "  [%s]",
                         tensor_of(v)->name);
}

/* "fc1.xW[2,v,>]": v runs down, > runs across, numbers are fixed; what [ and ]
 * change is in angle brackets. */
static void slice_text(const struct lab_stepper *v, char *out, size_t cap)
{
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    const struct lab_tensor *t = tensor_of(v);
    size_t used = (size_t)snprintf(out, cap, "%s[", t->name);
    for (int i = 0; i < t->shape.rank && used < cap; i++) {
        const char *comma = i ? "," : "";
        if (i == look->show.row_axis || i == look->show.col_axis)
            used += (size_t)snprintf(out + used, cap - used, "%s%s", comma,
                                     i == look->show.row_axis ? "↓" : "→");
        else
            used += (size_t)snprintf(out + used, cap - used,
                                     i == look->hidden ? "%s<%lld>" : "%s%lld",
                                     comma, (long long)look->show.fixed[i]);
    }
    if (used < cap)
        snprintf(out + used, cap - used, "]");
}

/* Whether the plane is only a piece of what its two axes hold. */
static bool is_cut(const struct lab_stepper *v)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_shape *s = &tensor_of(v)->shape;
    if (!lab_stepper_plane_ready(v))
        return false;
    return (p->show.row_axis >= 0 && p->rows < s->dim[p->show.row_axis]) ||
           (p->show.col_axis >= 0 && p->cols < s->dim[p->show.col_axis]);
}

static void draw_head(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    static const char *const roles[] = {"data", "parameter", "optimizer state",
                                        "activation", "gradient"};
    const struct lab_tensor *t = tensor_of(v);
    char shape[LAB_SHAPE_TEXT];
    char slice[256];
    slice_text(v, slice, sizeof(slice));
    int x = row.x;
    if (t->shape.rank == 0)
        snprintf(slice, sizeof(slice), "%s", t->name);
    x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_HEADING, slice);
    x += lab_canvas_textf(
        c, row.y, x, -1, LAB_ROLE_DIM, "  %s %s %s", roles[t->role],
        t->shape.rank ? lab_shape_text(&t->shape, shape) : "one number",
        lab_dtype_name(t->dtype));
    if (is_cut(v))
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM,
                              ", a part from [%lld,%lld] on",
                              (long long)v->snap.plane.show.row_first,
                              (long long)v->snap.plane.show.col_first);
    if (is_watched(v))
        lab_canvas_text(c, row.y, x, -1, LAB_ROLE_WARN, "  watched");
}

/* ---- the plane ---- */

/* Rows and columns of the picture that hold sources of the explained number.
 * An axis that is a source all along has no marks: they would tell nothing. */
struct edges {
    bool rows;
    bool cols;
};

static bool source_in(const struct lab_stepper *v,
                      const struct lab_heat_grid *g, bool down, int64_t first,
                      int64_t n)
{
    for (int64_t i = 0; i < v->n_marks; i++) {
        int64_t row;
        int64_t col;
        lab_heat_place(g, v->marks[i], &row, &col);
        int64_t at = down ? row : col;
        if (at >= first && at < first + n)
            return true;
    }
    return false;
}

static struct edges edges_of(const struct lab_stepper *v,
                             const struct lab_heat_grid *g)
{
    struct edges e = {false, false};
    for (int64_t i = 0; v->n_marks > 0 && i < g->rows && !e.rows; i++)
        e.rows = !source_in(v, g, true, i, 1);
    for (int64_t i = 0; v->n_marks > 0 && i < g->cols && !e.cols; i++)
        e.cols = !source_in(v, g, false, i, 1);
    return e;
}

static void draw_edges(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r, const struct lab_heat_grid *g,
                       struct edges e)
{
    for (int y = 0; e.rows && y < g->cells_h; y++)
        if (source_in(v, g, true, y * g->block_rows, g->block_rows))
            for (int k = 0; k < g->scale; k++)
                lab_canvas_text(c, r.y + y * g->scale + k, r.x - 1, 1,
                                LAB_ROLE_MARK, "▸");
    for (int x = 0; e.cols && x < g->cells_w; x++)
        if (source_in(v, g, false, x * g->block_cols, g->block_cols))
            lab_canvas_text(c, r.y - 1, r.x + 2 * x * g->scale + g->scale, 1,
                            LAB_ROLE_MARK, "▾");
}

static void draw_heat(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    struct lab_rect above;
    struct lab_rect side = {0};
    int gutter = stepper_gutter(p, c);
    above = lab_rect_cut_top(&r, stepper_header(p, r.h));
    if (gutter > 0 && r.w >= 4 * gutter)
        side = lab_rect_cut_left(&r, gutter);
    struct lab_heat_grid g =
        heat_fold(p->rows, p->cols, stepper_fold(v), r.w / 2);
    struct edges e = edges_of(v, &g);
    if (e.rows)
        lab_rect_cut_left(&r, 1);
    if (e.cols)
        lab_rect_cut_top(&r, 1);
    v->page_rows = r.h;
    v->page_cols = r.w / 2;
    g = lab_heat_fit(p->rows, p->cols, stepper_fold(v), r.h, r.w / 2);
    double scale = lab_heat_scale(p->value, p->rows * p->cols);
    if (!g.folded)
        stepper_draw_labels(v, c, r, &g, side, above);
    draw_edges(v, c, r, &g, e);
    v->cells = r;
    for (int y = 0; y < g.cells_h; y++) {
        for (int x = 0; x < g.cells_w; x++) {
            bool present;
            double value = lab_heat_cell_value(&g, p->value, y, x, &present);
            if (!present)
                continue;
            int64_t row;
            int64_t col;
            lab_heat_place(&g, v->cursor, &row, &col);
            bool cursor = v->cursor >= 0 && row / g.block_rows == y &&
                          col / g.block_cols == x;
            int at_y = r.y + y * g.scale;
            int at_x = r.x + 2 * x * g.scale;
            lab_heat_draw_cell(c, at_y, at_x, value, scale, cursor, g.scale);
            if (cursor && v->focus == LAB_PANE_TENSOR)
                lab_canvas_cursor(c, at_y, at_x);
        }
    }
}

/* Brings `at` into a window of `page` that starts at *top. */
static void into_sight(int64_t at, int64_t page, int64_t *top)
{
    if (at < *top)
        *top = at;
    if (at >= *top + page)
        *top = at - page + 1;
    if (*top < 0)
        *top = 0;
}

static void draw_number(struct lab_stepper *v, struct lab_canvas *c, int y,
                        int x, int64_t index)
{
    bool cursor = index == v->cursor;
    double value = v->snap.plane.value[index];
    enum lab_role role = isfinite(value) ? LAB_ROLE_NORMAL : LAB_ROLE_BAD;
    char text[LAB_FORMAT_BYTES];
    lab_format_value(value, NUMBER_W - 2, text, sizeof(text));
    lab_canvas_textf(c, y, x, NUMBER_W, cursor ? LAB_ROLE_CURSOR : role,
                     cursor ? "[%*s]" : " %*s ", NUMBER_W - 2, text);
    if (cursor && v->focus == LAB_PANE_TENSOR)
        lab_canvas_cursor(c, y, x);
}

static int digits_of(int64_t n)
{
    int digits = 1;
    while (n >= 10) {
        n /= 10;
        digits++;
    }
    return digits;
}

/* An index at the right end of a place for it, with its label where there is
 * one. */
static void draw_place(struct lab_canvas *c, struct lab_rect r, int64_t index,
                       const struct lab_label *label)
{
    char text[64];
    stepper_place_text(index, label, text, sizeof(text));
    int w = lab_canvas_columns(c, text);
    lab_canvas_text(c, r.y, r.x + (w < r.w ? r.w - w : 0), r.w, LAB_ROLE_DIM,
                    text);
}

/* A table with the indices beside it; folded rows show their first index. */
static void draw_numbers(struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    int label = 1 + digits_of(p->rows > 1 ? look->show.row_first + p->rows - 1
                                          : look->show.col_first + p->cols - 1);
    label += stepper_gutter(p, c);
    int64_t wide = (r.w - label) / NUMBER_W;
    wide = wide < 1 ? 1 : wide;
    struct lab_heat_grid g =
        heat_fold(p->rows, p->cols, stepper_fold(v), (int)wide);
    struct edges e = edges_of(v, &g);
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    int64_t row;
    int64_t col;
    v->page_rows = r.h;
    v->page_cols = wide;
    lab_heat_place(&g, v->cursor, &row, &col);
    into_sight(row, r.h, &v->num_top);
    into_sight(col, wide, &v->num_left);
    v->cells = (struct lab_rect){r.y, r.x + label, r.h, r.w - label};
    for (int64_t j = 0; j < wide && v->num_left + j < g.cols; j++) {
        if (e.cols && source_in(v, &g, false, v->num_left + j, 1))
            lab_canvas_text(c, head.y,
                            head.x + label + (int)(j + 1) * NUMBER_W - 1, 1,
                            LAB_ROLE_MARK, "▾");
        draw_place(c,
                   (struct lab_rect){head.y, head.x + label + (int)j * NUMBER_W,
                                     1, NUMBER_W - 1},
                   look->show.col_first + v->num_left + j,
                   p->col_label && !g.folded ? &p->col_label[v->num_left + j]
                                             : NULL);
    }
    for (int64_t i = 0; i < r.h && v->num_top + i < g.rows; i++) {
        int y = r.y + (int)i;
        int64_t first = v->num_top + i;
        draw_place(c, (struct lab_rect){y, r.x, 1, label - 1},
                   g.folded ? look->show.col_first + first * g.cols
                            : look->show.row_first + first,
                   p->row_label && !g.folded ? &p->row_label[first] : NULL);
        if (e.rows && source_in(v, &g, true, first, 1))
            lab_canvas_text(c, y, r.x + label - 1, 1, LAB_ROLE_MARK, "▸");
        for (int64_t j = 0; j < wide; j++) {
            int64_t index = lab_heat_index(&g, v->num_top + i, v->num_left + j);
            if (index >= 0)
                draw_number(v, c, y, r.x + label + (int)j * NUMBER_W, index);
        }
    }
}

/* ---- what is below ---- */

/* "[3,5]" */
static const char *element_text(const struct lab_shape *shape, int64_t flat,
                                char out[LAB_SHAPE_TEXT])
{
    struct lab_shape place = {.rank = shape->rank};
    lab_shape_unravel(shape, flat, place.dim);
    return lab_shape_text(&place, out);
}

static void draw_cursor_line(const struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect row)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    const struct lab_shape *shape = &tensor_of(v)->shape;
    const struct lab_course_values_spec *printed;
    int64_t index = v->cursor;
    int64_t flat = stepper_flat(v, look->row, look->col);
    char text[LAB_FORMAT_BYTES];
    char at[LAB_SHAPE_TEXT];
    double value;
    if (index < 0 || index >= p->rows * p->cols)
        return;
    lab_format_value(p->value[index], 10, text, sizeof(text));
    int x = row.x;
    x += lab_canvas_textf(
        c, row.y, x, -1, LAB_ROLE_TITLE, "%s%s = %s", tensor_of(v)->name,
        shape->rank ? element_text(shape, flat, at) : "", text);
    if (lab_stepper_printed(v, v->tensor, flat, &value, &printed)) {
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_WARN, "   printed %.7g",
                         value);
        return;
    }
    struct lab_heat_grid g = lab_heat_fit(p->rows, p->cols, stepper_fold(v),
                                          (int)v->page_rows, (int)v->page_cols);
    x += stepper_draw_cursor_labels(v, c, row, x);
    if (v->numbers)
        return;
    snprintf(text, sizeof(text), "%.3g",
             lab_heat_scale(p->value, p->rows * p->cols));
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM, "  %s = %s",
                          lab_heat_full(c), text);
    if (g.block_rows * g.block_cols > 1)
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM,
                         "; a cell covers %lldx%lld", (long long)g.block_rows,
                         (long long)g.block_cols);
}

/* Writes what fits whole; returns the columns used. */
static int whole(struct lab_canvas *c, struct lab_rect *row, enum lab_role role,
                 const char *text)
{
    int w = lab_canvas_columns(c, text);
    if (w > row->w)
        return 0;
    lab_canvas_text(c, row->y, row->x, w, role, text);
    lab_rect_cut_left(row, w + 1);
    return w;
}

static void stat(struct lab_canvas *c, struct lab_rect *row, int width,
                 const char *name, double v)
{
    char text[LAB_FORMAT_BYTES];
    char both[64];
    lab_format_value(v, width, text, sizeof(text));
    snprintf(both, sizeof(both), "%s %s%s", name, isnan(v) ? LAB_NA : text,
             width > 6 ? " " : "");
    whole(c, row, LAB_ROLE_NORMAL, both);
}

static void count(struct lab_canvas *c, struct lab_rect *row, const char *name,
                  int64_t n, enum lab_role role)
{
    char text[64];
    snprintf(text, sizeof(text), "%s %lld ", name, (long long)n);
    whole(c, row, role, text);
}

static void draw_stats(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_stats *s = &v->snap.plane.stats;
    int width = row.w < 80 ? 6 : 9;
    /* What is wrong comes first: there may be no room for all. */
    if (s->nan_count)
        count(c, &row, "NaN", s->nan_count, LAB_ROLE_BAD);
    if (s->inf_count)
        count(c, &row, "Inf", s->inf_count, LAB_ROLE_BAD);
    stat(c, &row, width, "min", s->min);
    stat(c, &row, width, "max", s->max);
    stat(c, &row, width, "mean", s->mean);
    stat(c, &row, width, "std", s->std);
    if (!s->nan_count)
        count(c, &row, "NaN", 0, LAB_ROLE_DIM);
    count(c, &row, "zeros", s->zero_count, LAB_ROLE_DIM);
}

static void draw_histogram(const struct lab_stepper *v, struct lab_canvas *c,
                           struct lab_rect r)
{
    const struct lab_stats *s = &v->snap.plane.stats;
    double bins[LAB_HISTOGRAM_BINS];
    char low[LAB_FORMAT_BYTES];
    char high[LAB_FORMAT_BYTES];
    if (isnan(s->min) || lab_rect_empty(r))
        return;
    for (int i = 0; i < LAB_HISTOGRAM_BINS; i++)
        bins[i] = (double)s->bin[i];
    lab_format_value(s->min, 7, low, sizeof(low));
    lab_format_value(s->max, 7, high, sizeof(high));
    int y = r.y + r.h - 1;
    int used = lab_canvas_text(c, y, r.x, 8, LAB_ROLE_DIM, low) + 1;
    int w = r.w - used - 9;
    w = w > 2 * LAB_HISTOGRAM_BINS ? 2 * LAB_HISTOGRAM_BINS
        : w > LAB_HISTOGRAM_BINS   ? LAB_HISTOGRAM_BINS
                                   : w;
    lab_histogram_draw(c, (struct lab_rect){r.y, r.x + used, r.h, w}, bins,
                       LAB_HISTOGRAM_BINS, LAB_ROLE_SERIES_1);
    lab_canvas_text(c, y, r.x + used + w + 1, 8, LAB_ROLE_DIM, high);
}

static void draw_unwritten(const struct lab_stepper *v, struct lab_canvas *c,
                           struct lab_rect r)
{
    const struct lab_schedule *s = v->snap.schedule;
    int hider = lab_schedule_hider(s, v->snap.plan, v->tensor);
    const char *why = "Not computed yet in this iteration.";
    const char *what = "s runs the next step.";
    if (hider >= 0) {
        why = "Not written: the step computes it on its way.";
        what = "v chooses a variant that takes it apart.";
        lab_canvas_textf(c, r.y + 2, r.x, -1, LAB_ROLE_DIM, "The step: %s, %s",
                         s->steps[hider].step->name,
                         s->steps[hider].variant->name);
    }
    lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, why);
    lab_canvas_text(c, r.y + 1, r.x, r.w, LAB_ROLE_DIM, what);
}

/* Whether a picture that has the screen for itself gets larger cells without
 * the figures below it. */
static bool alone_is_larger(const struct lab_stepper *v, struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    enum { FIGURES = 2 };
    if (v->numbers || !v->zoom || !look->picture)
        return false;
    int64_t fold = stepper_fold(v);
    return lab_heat_fit(p->rows, p->cols, fold, r.h - 1, r.w / 2).scale >
           lab_heat_fit(p->rows, p->cols, fold, r.h - 1 - FIGURES, r.w / 2)
               .scale;
}

static void draw_plane(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    if (!lab_stepper_plane_ready(v)) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, "reading ...");
        return;
    }
    if (!v->snap.plane.written) {
        draw_unwritten(v, c, r);
        return;
    }
    const struct lab_tensor_slice *look = lab_stepper_look(v);
    v->cursor = stepper_in_plane(v, look->row, look->col);
    bool larger = alone_is_larger(v, r);
    struct lab_rect histogram = lab_rect_cut_bottom(&r, larger      ? 0
                                                        : r.h >= 20 ? 4
                                                        : r.h >= 6  ? 1
                                                                    : 0);
    struct lab_rect stats =
        lab_rect_cut_bottom(&r, !larger && r.h >= 3 ? 1 : 0);
    struct lab_rect cursor = lab_rect_cut_bottom(&r, r.h >= 2 ? 1 : 0);
    if (v->numbers)
        draw_numbers(v, c, r);
    else
        draw_heat(v, c, r);
    if (!lab_rect_empty(cursor))
        draw_cursor_line(v, c, cursor);
    if (!lab_rect_empty(stats))
        draw_stats(v, c, stats);
    draw_histogram(v, c, histogram);
}

void lab_stepper_draw_tensor(struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect r)
{
    if (v->tensor < 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "this step has no tensors");
        return;
    }
    struct lab_rect list = lab_rect_cut_top(&r, 1);
    draw_list(v, c, list);
    if (r.h >= 4 && !(v->zoom && lab_stepper_look(v)->picture && r.h < 20))
        draw_head(v, c, lab_rect_cut_top(&r, 1));
    if (!lab_rect_empty(r))
        draw_plane(v, c, r);
}
