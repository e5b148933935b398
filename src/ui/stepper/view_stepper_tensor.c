/* The pane of tensors: a heat map or numbers, where the cursor is, and what all
 * of the tensor's elements are like. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/chart.h"
#include "report/format.h"
#include "view_stepper_priv.h"

enum { NUMBER_W = LAB_STEPPER_NUMBER_W };

static const struct lab_tensor *tensor_of(const struct lab_stepper *v)
{
    return &v->snap.plan->tensors[v->tensor];
}

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
 * change stands in angle brackets. */
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
    int gutter = lab_stepper_gutter(p, c);
    above = lab_rect_cut_top(&r, lab_stepper_header(p, r.h));
    if (gutter > 0 && r.w >= 4 * gutter)
        side = lab_rect_cut_left(&r, gutter);
    struct lab_heat_grid g =
        lab_heat_fold(p->rows, p->cols, lab_stepper_fold(v), r.w / 2);
    struct edges e = edges_of(v, &g);
    if (e.rows)
        lab_rect_cut_left(&r, 1);
    if (e.cols)
        lab_rect_cut_top(&r, 1);
    v->page_rows = r.h;
    v->page_cols = r.w / 2;
    g = lab_heat_fit(p->rows, p->cols, lab_stepper_fold(v), r.h, r.w / 2);
    double scale = lab_heat_scale(p->value, p->rows * p->cols);
    if (!g.folded)
        lab_stepper_draw_labels(v, c, r, &g, side, above);
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
    lab_stepper_place_text(index, label, text, sizeof(text));
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
    label += lab_stepper_gutter(p, c);
    int64_t wide = (r.w - label) / NUMBER_W;
    wide = wide < 1 ? 1 : wide;
    struct lab_heat_grid g =
        lab_heat_fold(p->rows, p->cols, lab_stepper_fold(v), (int)wide);
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

/* ---- what stands below ---- */

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
    int64_t flat = lab_stepper_flat(v, look->row, look->col);
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
    struct lab_heat_grid g = lab_heat_fit(p->rows, p->cols, lab_stepper_fold(v),
                                          (int)v->page_rows, (int)v->page_cols);
    x += lab_stepper_draw_cursor_labels(v, c, row, x);
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
    snprintf(both, sizeof(both), "%s %s%s", name, isnan(v) ? "n/a" : text,
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
    int64_t fold = lab_stepper_fold(v);
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
    v->cursor = lab_stepper_in_plane(v, look->row, look->col);
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
