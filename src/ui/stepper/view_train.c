/* view_train.c -- the training screen: curves of this run and of others, layers,
 * classes and written text as pages, all of them at once on a large terminal. First
 * the pages as pictures, from a snapshot alone: norms of gradients and updates, the
 * matrix of classes and what is misread, text with probabilities. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stepper_priv.h"
#include "ui/chart.h"
#include "base/format.h"
#include "ui/ui.h"
#include "base/mem.h"
#include "ui/keymap.h"
#include "ui/stepper.h"
#include "base/str.h"
#include "ui/heat.h"

static void note(struct lab_canvas *c, struct lab_rect r, const char *text)
{
    lab_canvas_paragraph(c, r, LAB_ROLE_DIM, text);
}

/* ---- layers ---- */

enum { NODE_W = 15, FIGURE_W = 11, DEAD_W = 12 };

/* At the right of a column, and the column is taken off the row. */
static void put_right(struct lab_canvas *c, struct lab_rect *row, int w,
                      enum lab_role role, const char *text)
{
    struct lab_rect at = lab_rect_cut_left(row, w);
    int n = lab_canvas_columns(c, text);
    lab_canvas_text_cut(c, at.y, at.x + (n < w ? w - n : 0), w, role, text);
}

static double largest_gradient(const struct lab_snapshot *s)
{
    double most = 0;
    for (int i = 0; i < s->n_figures; i++)
        most = s->figures[i].gradient > most ? s->figures[i].gradient : most;
    return most;
}

/* The number of parameters is the first that gives way. */
static bool is_narrow(int w)
{
    return w < NODE_W + 4 * FIGURE_W + DEAD_W;
}

static void draw_layers_head(struct lab_canvas *c, struct lab_rect row, int bar)
{
    lab_canvas_text(c, row.y, row.x, NODE_W, LAB_ROLE_HEADING, "node");
    lab_rect_cut_left(&row, NODE_W);
    if (!is_narrow(row.w + NODE_W))
        put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "parameters");
    put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "|gradient|");
    lab_rect_cut_left(&row, bar);
    put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "|update|");
    put_right(c, &row, FIGURE_W, LAB_ROLE_HEADING, "of |param|");
    put_right(c, &row, DEAD_W, LAB_ROLE_HEADING, "always 0");
}

static void draw_bar(struct lab_canvas *c, struct lab_rect row, double share)
{
    int n = isfinite(share) ? (int)lround(share * (row.w - 2)) : 0;
    for (int i = 0; i < n; i++)
        lab_canvas_text(c, row.y, row.x + 1 + i, 1, LAB_ROLE_BACKWARD, "█");
    if (n == 0 && share > 0)
        lab_canvas_text(c, row.y, row.x + 1, 1, LAB_ROLE_BACKWARD, "▏");
}

static void put_norm(struct lab_canvas *c, struct lab_rect *row, double v)
{
    put_right(c, row, FIGURE_W, isfinite(v) ? LAB_ROLE_NORMAL : LAB_ROLE_BAD,
              isfinite(v) ? LAB_VALUE_TEXT(v, 9)
              : isnan(v)  ? LAB_NA
                          : "inf");
}

static void draw_layer(struct lab_canvas *c, struct lab_rect row,
                       const struct lab_snapshot *s,
                       const struct lab_node_figures *f, double most, int bar)
{
    char text[48];
    lab_canvas_text_cut(c, row.y, row.x, NODE_W - 1, LAB_ROLE_NORMAL,
                        s->plan->nodes[f->node].id);
    lab_rect_cut_left(&row, NODE_W);
    if (f->parameters > 0) {
        double ratio = f->update / f->parameter;
        if (!is_narrow(row.w + NODE_W))
            put_right(c, &row, FIGURE_W, LAB_ROLE_NORMAL,
                      LAB_INT_TEXT(f->parameters));
        put_norm(c, &row, f->gradient);
        draw_bar(c, lab_rect_cut_left(&row, bar), f->gradient / most);
        put_norm(c, &row, f->update);
        snprintf(text, sizeof(text), "%.1e", ratio);
        put_right(c, &row, FIGURE_W, LAB_ROLE_UPDATE,
                  isfinite(ratio) ? text : LAB_NA);
    } else {
        lab_rect_cut_left(&row,
                          (is_narrow(row.w + NODE_W) ? 3 : 4) * FIGURE_W + bar);
    }
    if (f->units == 0)
        return;
    snprintf(text, sizeof(text), "%lld of %lld", (long long)f->dead,
             (long long)f->units);
    put_right(c, &row, DEAD_W, f->dead > 0 ? LAB_ROLE_WARN : LAB_ROLE_NORMAL,
              text);
}

/* A row for each node: parameters, the gradient's norm and a bar, the update and
 * its ratio to the parameters, units that are always 0. From row `top` on; returns
 * how many rows there are. */
static int lab_train_layers(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_snapshot *snap, int top)
{
    enum { LEAST_BAR = 6, MOST_BAR = 42 };
    char title[128];
    int bar = r.w - NODE_W - 4 * FIGURE_W - DEAD_W;
    double most = largest_gradient(snap);
    snprintf(title, sizeof(title), "layers after iteration %lld",
             (long long)snap->figures_of);
    lab_canvas_heading(c, &r, snap->n_figures > 0 ? title : "layers", false);
    if (snap->n_figures == 0) {
        note(c, r,
             "The norms come with the next iteration that is trained to its "
             "end.");
        return 0;
    }
    bar = bar < LEAST_BAR ? 0 : bar > MOST_BAR ? MOST_BAR : bar;
    draw_layers_head(c, lab_rect_cut_top(&r, 1), bar);
    struct lab_rect foot = r.h > snap->n_figures - top + 3
                               ? lab_rect_cut_bottom(&r, 3)
                               : (struct lab_rect){0};
    for (int i = top; i < snap->n_figures && r.h > 0; i++)
        draw_layer(c, lab_rect_cut_top(&r, 1), snap, &snap->figures[i], most,
                   bar);
    if (foot.h > 0)
        note(c, foot,
             "Norms over all parameters of a node. An update of about 0.001 of "
             "its parameters is usual; always 0: units of a relu that are 0 in "
             "the whole batch.");
    return snap->n_figures;
}

/* ---- classes ---- */

enum { LABEL_W = 8, COUNT_W = 5, NAMES_W = 7 };

/* A character of a text, or the class's number. */
static const char *class_text(const struct lab_confusion *k, int64_t i,
                              char out[24])
{
    if (k->name && i >= 0 && i < k->classes)
        snprintf(out, 24, "%s", k->name[i].text);
    else
        snprintf(out, 24, "%lld", (long long)i);
    return out;
}

static int64_t largest_wrong(const struct lab_confusion *k)
{
    int64_t most = 0;
    for (int i = 0; i < k->classes * k->classes; i++)
        if (i / k->classes != i % k->classes && k->count[i] > most)
            most = k->count[i];
    return most;
}

/* Of the matrix: columns and rows of a cell. */
struct cell_size {
    int w;
    int h;
};

static int digits_of(int64_t n)
{
    int w = 1;
    while (n /= 10)
        w++;
    return w;
}

/* The least that has room for every count: in brackets, and where there are no
 * colours behind a shade. */
static int least_cell(const struct lab_canvas *c, const struct lab_confusion *k)
{
    int64_t most = 0;
    for (int i = 0; i < k->classes * k->classes; i++)
        most = k->count[i] > most ? k->count[i] : most;
    int w = digits_of(most) + 2 + !c->tints;
    return w > COUNT_W ? w : COUNT_W;
}

/* As large as its place lets it be, and about square. */
static struct cell_size size_cells(const struct lab_canvas *c,
                                   struct lab_rect r,
                                   const struct lab_confusion *k)
{
    enum { MOST_W = 12, HEADS = 2 };
    struct cell_size s = {(r.w - LABEL_W) / k->classes,
                          (r.h - HEADS) / k->classes};
    int least = least_cell(c, k);
    s.w = s.w > MOST_W ? MOST_W : s.w;
    s.h = s.h > s.w / 2 ? s.w / 2 : s.h;
    s.h = s.h < 1 ? 1 : s.h;
    s.w = s.w > 4 * s.h + 5 ? 4 * s.h + 5 : s.w;
    s.w = s.w < least ? least : s.w;
    return s;
}

/* The share of the row as colour or shade, the count over it; what is right has
 * brackets. */
static void draw_count(struct lab_canvas *c, struct lab_rect cell,
                       int64_t count, int64_t of, bool right)
{
    char text[32];
    double share = of > 0 ? (double)count / (double)of : 0;
    int y = cell.y + (cell.h - 1) / 2;
    snprintf(text, sizeof(text), right ? "[%lld]" : "%lld", (long long)count);
    int w = lab_canvas_columns(c, text);
    if (c->tints && of > 0) {
        lab_canvas_paper(c, cell, lab_tint_sequential(share, 1));
    } else if (count > 0) {
        struct lab_rect full = {cell.y, cell.x, cell.h, cell.w - 1};
        if (full.h == 1)
            full.w = 1;
        lab_canvas_fill(c, full, lab_heat_shade(c, share, 1), LAB_ROLE_DIM);
    }
    if (count == 0 && !right)
        snprintf(text, sizeof(text), ".");
    /* The brackets are beside the column of the figures. */
    int x = cell.x + cell.w - w - !right;
    if (cell.h > 1 || cell.w > w + 4)
        x = cell.x + (cell.w - w) / 2;
    lab_canvas_text(c, y, x, w,
                    right        ? LAB_ROLE_TITLE
                    : count == 0 ? LAB_ROLE_DIM
                                 : LAB_ROLE_NORMAL,
                    text);
}

/* A row for each class, a column for each answer, its counts on a colour. */
static void draw_counts(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_confusion *k, struct cell_size size)
{
    char text[24];
    lab_canvas_text(c, r.y, r.x, LABEL_W, LAB_ROLE_DIM, "is \\ as");
    for (int j = 0; j < k->classes; j++) {
        const char *name = class_text(k, j, text);
        int w = lab_canvas_columns(c, name);
        int at = w < size.w ? (size.w - w) / 2 : 0;
        lab_canvas_text_cut(c, r.y, r.x + LABEL_W + j * size.w + at,
                            size.w - at, LAB_ROLE_HEADING, name);
    }
    lab_rect_cut_top(&r, 1);
    for (int i = 0; i < k->classes; i++) {
        struct lab_rect rows = lab_rect_cut_top(&r, size.h);
        int64_t of = 0;
        for (int j = 0; j < k->classes; j++)
            of += k->count[i * k->classes + j];
        put_right(
            c,
            &(struct lab_rect){rows.y + (size.h - 1) / 2, rows.x, 1, LABEL_W},
            LABEL_W - 2, LAB_ROLE_HEADING, class_text(k, i, text));
        lab_rect_cut_left(&rows, LABEL_W);
        for (int j = 0; j < k->classes; j++)
            draw_count(c, lab_rect_cut_left(&rows, size.w),
                       k->count[i * k->classes + j], of, i == j);
    }
    struct lab_rect row = {r.y, r.x, 1, r.w};
    const struct lab_heat scale = {.grid = {.cell_h = 2, .cell_w = 2},
                                   .most = 1};
    if (r.h < 1)
        return;
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "share of a row: ");
    lab_rect_cut_left(&row, lab_heat_legend(c, row, &scale));
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "   [n] right");
}

/* The names of the rows and columns of a picture at (y, x), before them and above
 * them, as far as each has a place. */
static void draw_names(struct lab_canvas *c, int y, int x,
                       const struct lab_confusion *k,
                       const struct lab_heat_grid *g)
{
    char text[24];
    int at = x; /* the first column that is free */
    for (int cx = 0; cx < g->cells_w; cx++) {
        const char *name =
            class_text(k, lab_heat_first(g->cols, g->cells_w, cx), text);
        int w = lab_canvas_columns(c, name);
        if (x + cx * g->cell_w < at || w > g->cell_w)
            continue;
        lab_canvas_text(c, y - 1, x + cx * g->cell_w, w, LAB_ROLE_HEADING,
                        name);
        at = x + cx * g->cell_w + w;
    }
    for (int row = 0; row < lab_heat_height(g); row++) {
        /* Cells of half a row: two names; of several rows: in the first. */
        int last = (2 * row + 1) / g->cell_h;
        struct lab_rect label = {y + row, x - NAMES_W, 1, NAMES_W - 1};
        for (int cy = 2 * row / g->cell_h; cy <= last && cy < g->cells_h; cy++)
            if (lab_heat_top(g, cy) == row || g->cell_h == 1)
                lab_canvas_add(
                    c, &label, LAB_ROLE_HEADING, "%s",
                    class_text(k, lab_heat_first(g->rows, g->cells_h, cy),
                               text));
    }
}

/* Many classes: a heat map of the errors, the diagonal left out. */
static void draw_errors(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_confusion *k)
{
    double wrong[LAB_CONFUSION_CLASSES * LAB_CONFUSION_CLASSES];
    int n = k->classes;
    for (int i = 0; i < n * n; i++)
        wrong[i] = i / n == i % n ? 0 : (double)k->count[i];
    lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                     "down: what it is; across: what it comes out as; errors "
                     "alone, %lld at most",
                     (long long)largest_wrong(k));
    lab_rect_cut_top(&r, 2);
    lab_rect_cut_left(&r, NAMES_W);
    struct lab_rect legend = lab_rect_cut_bottom(&r, 1);
    const struct lab_heat m = {.grid =
                                   lab_heat_picture(c, r, wrong, n, n, true),
                               .value = wrong,
                               .most = (double)largest_wrong(k)};
    draw_names(c, r.y, r.x, k, &m.grid);
    lab_heat_legend(c, legend, &m);
}

static void draw_pair(struct lab_canvas *c, struct lab_rect r,
                      const struct lab_confusion *k)
{
    char is[24];
    char as[24];
    int at = 0;
    int n = k->classes;
    for (int i = 0; i < n * n; i++)
        if (i / n != i % n && (at / n == at % n || k->count[i] > k->count[at]))
            at = i;
    if (k->count[at] > 0 && at / n != at % n)
        lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_NORMAL,
                         "most often: %s comes out as %s, %lld time%s",
                         class_text(k, at / n, is), class_text(k, at % n, as),
                         (long long)k->count[at], k->count[at] == 1 ? "" : "s");
    else
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_GOOD, "no row is misread");
}

/* Each row of data that is the most wrong, with what it is and came out as. */
static void draw_misread(struct lab_canvas *c, struct lab_rect r,
                         const struct lab_confusion *k)
{
    enum { LEAST_W = 10, GOAL = 6 };
    char is[24];
    char as[24];
    int tile = r.w;
    if (k->n_misread == 0 || r.w < LEAST_W || r.h < 4)
        return;
    lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_HEADING,
                    r.w < 32 ? "misread, worst first"
                             : "misread, the largest loss first");
    lab_rect_cut_top(&r, 1);
    if (k->rows == 1)
        tile = r.w;
    else
        while (tile > LEAST_W && (r.w / tile) * (r.h / (tile / 2 + 1)) < GOAL)
            tile--;
    int h = k->rows == 1 ? 2 : tile / 2 + 1;
    int across = r.w / tile;
    for (int i = 0; i < k->n_misread && (i / across + 1) * h <= r.h; i++) {
        const struct lab_misread *m = &k->misread[i];
        struct lab_rect at = {r.y + i / across * h, r.x + i % across * tile, h,
                              tile - 1};
        lab_canvas_textf(c, at.y, at.x, at.w, LAB_ROLE_WARN, "%s, as %s",
                         class_text(k, m->label, is),
                         class_text(k, m->answer, as));
        lab_rect_cut_top(&at, 1);
        struct lab_rect old = lab_canvas_clip(c, at);
        if (m->value)
            lab_heat_picture(c, at, m->value, k->rows, k->cols, true);
        lab_canvas_unclip(c, old);
    }
}

/* When it comes: at the end of an epoch, or of the training. */
static void note_first_evaluation(struct lab_canvas *c, struct lab_rect r,
                                  const struct lab_snapshot *s)
{
    char text[256];
    int64_t done = s->losses.n > 0 ? s->iteration + 1 : s->iteration;
    int64_t each = s->iterations_per_epoch;
    int64_t epoch = each > 0 ? each - done % each : INT64_MAX;
    int64_t end = s->state == LAB_SESSION_TRAINING
                      ? s->train_target - s->train_done
                      : INT64_MAX;
    int64_t left = epoch < end ? epoch : end;
    if (left < INT64_MAX)
        snprintf(text, sizeof(text),
                 "Which class each validation row comes out as is known after "
                 "the first evaluation: in %lld iteration%s, at the end of the "
                 "%s.",
                 (long long)left, left == 1 ? "" : "s",
                 epoch <= end ? "epoch" : "training");
    else
        snprintf(text, sizeof(text),
                 "Which class each validation row comes out as is known after "
                 "the first evaluation, at the end of a training.");
    note(c, r, text);
}

/* Which class the validation rows have, and which they come out as; beside or below
 * that the rows that are the most wrong, as pictures. */
static void lab_train_classes(struct lab_canvas *c, struct lab_rect r,
                              const struct lab_snapshot *snap)
{
    enum { TILE_H = 8, TILES_W = 20 }; /* the least for what is misread */
    const struct lab_confusion *k = &snap->confusion;
    char title[128];
    if (k->after >= 0)
        snprintf(title, sizeof(title),
                 "classes after %lld iterations: %lld of %lld right",
                 (long long)k->after, (long long)k->right, (long long)k->total);
    lab_canvas_heading(c, &r, k->after >= 0 ? title : "classes", false);
    if (k->after < 0) {
        note_first_evaluation(c, r, snap);
        return;
    }
    int w = LABEL_W + k->classes * least_cell(c, k);
    int h = k->classes + 3;
    bool fits = w <= r.w && h <= r.h;
    struct lab_rect left = r;
    struct lab_rect rest = r;
    struct cell_size size = {0, 0};
    if (!fits || k->n_misread == 0) /* the whole place is for the matrix */
        lab_rect_cut_top(&rest, r.h);
    else if ((r.w - w) * r.h > r.w * (r.h - h) ||
             (r.h - h < TILE_H && r.w - w >= TILES_W))
        left =
            lab_rect_cut_left(&rest, w + 2 > r.w * 3 / 5 ? w + 2 : r.w * 3 / 5);
    else
        left =
            lab_rect_cut_top(&rest, h + 1 > r.h * 3 / 5 ? h + 1 : r.h * 3 / 5);
    draw_pair(c, lab_rect_cut_top(&left, 1), k);
    if (!fits) {
        draw_errors(c, left, k);
        return;
    }
    size = size_cells(c, left, k);
    int used = LABEL_W + k->classes * size.w + 2;
    if (rest.y == r.y && rest.h > 0) { /* beside it: what is left over */
        rest.x = r.x + used;
        rest.w = r.x + r.w - rest.x;
    } else if (rest.h > 0) {
        int end = left.y + 3 + k->classes * size.h;
        rest.h += rest.y - end;
        rest.y = end;
    }
    draw_counts(c, left, k, size);
    draw_misread(c, rest, k);
}

/* ---- over the iterations ---- */

/* The charts' series: of the nodes with the most parameters. */
enum { LOOK_NODES = 6 };

static int largest_nodes(const struct lab_snapshot *s, int at[LOOK_NODES])
{
    int n = 0;
    for (int i = 0; i < s->n_figures; i++) {
        int64_t own = s->figures[i].parameters;
        int k = n;
        if (own == 0)
            continue;
        while (k > 0 && own > s->figures[at[k - 1]].parameters)
            k--;
        if (k == LOOK_NODES)
            continue;
        n += n < LOOK_NODES;
        memmove(&at[k + 1], &at[k], (size_t)(n - 1 - k) * sizeof(*at));
        at[k] = i;
    }
    return n;
}

static void draw_norms(struct lab_canvas *c, struct lab_rect r,
                       const struct lab_snapshot *s, const double *values,
                       const char *title)
{
    struct lab_series series[LOOK_NODES];
    int at[LOOK_NODES];
    const int n = largest_nodes(s, at);
    for (int k = 0; k < n; k++)
        series[k] = (struct lab_series){
            .y = &values[at[k] * s->looks.n],
            .n = s->looks.n,
            .name = s->plan->nodes[s->figures[at[k]].node].id,
            .role = (enum lab_role)(LAB_ROLE_SERIES_1 + k),
            .at = s->looks.iteration};
    const struct lab_chart chart = {.title = title,
                                    .x_name = "iteration",
                                    .series = series,
                                    .count = n,
                                    .y_min = NAN,
                                    .y_max = NAN,
                                    .log_y = true,
                                    .zero_x = true};
    lab_chart_draw(c, r, &chart);
}

/* "fc1.W[1]" of the network's parameter number k. */
static void parameter_name(const struct lab_plan *plan, int64_t k, char *out,
                           size_t cap)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        if (t->role != LAB_TENSOR_PARAM)
            continue;
        if (k < t->count) {
            snprintf(out, cap, "%s[%lld]", t->name, (long long)k);
            return;
        }
        k -= t->count;
    }
}

static bool rises(const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (!(x[i] >= x[i - 1]))
            return false;
    return true;
}

/* Few parameters themselves: of two the way that they go, else each over the
 * iterations. */
static void draw_parameters(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_snapshot *s)
{
    const struct lab_looks *l = &s->looks;
    struct lab_series series[LAB_LOOK_PARAMETERS];
    char name[LAB_LOOK_PARAMETERS][64] = {{0}};
    char title[160] = "the parameters";
    struct lab_chart chart = {.title = title,
                              .x_name = "iteration",
                              .series = series,
                              .count = l->n_parameters,
                              .y_min = NAN,
                              .y_max = NAN,
                              .zero_x = true};
    for (int k = 0; k < l->n_parameters; k++) {
        parameter_name(s->plan, k, name[k], sizeof(name[k]));
        series[k] =
            (struct lab_series){.y = &l->parameter[k * l->n],
                                .n = l->n,
                                .name = name[k],
                                .role = (enum lab_role)(LAB_ROLE_SERIES_1 + k),
                                .at = l->iteration};
    }
    if (l->n_parameters == 2) {
        snprintf(title, sizeof(title), "%s over %s", name[1], name[0]);
        series[0] = (struct lab_series){.x = l->parameter,
                                        .y = &l->parameter[l->n],
                                        .n = l->n,
                                        .name = "the way",
                                        .role = LAB_ROLE_SERIES_1,
                                        .points = !rises(l->parameter, l->n)};
        series[1] = (struct lab_series){.x = &l->parameter[l->n - 1],
                                        .y = &l->parameter[2 * l->n - 1],
                                        .n = 1,
                                        .name = "now",
                                        .role = LAB_ROLE_SERIES_2,
                                        .points = true};
        chart.x_name = name[0];
        chart.zero_x = false;
    }
    lab_chart_draw(c, r, &chart);
}

static bool has_looks(const struct lab_snapshot *s)
{
    int at[LOOK_NODES];
    return s->looks.n > 1 && largest_nodes(s, at) > 0;
}

/* Norms of gradients and updates, the parameters themselves where they are few: side
 * by side or one below the other. */
static void lab_train_looks(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_snapshot *s)
{
    enum { SIDE = 44, LEAST_H = 6 };
    const bool few = s->looks.n_parameters > 0;
    const int charts = 2 + few;
    const bool beside = r.w >= 2 * SIDE && (r.h < charts * 12 || few);
    if (r.h < LEAST_H)
        return;
    if (few) {
        struct lab_rect way = beside ? lab_rect_cut_left(&r, r.w / 2 - 1)
                                     : lab_rect_cut_top(&r, r.h / 2);
        draw_parameters(c, way, s);
        lab_rect_cut_left(&r, beside ? 2 : 0);
    }
    struct lab_rect first = r;
    if (beside && !few) {
        first = lab_rect_cut_left(&r, r.w / 2 - 1);
        lab_rect_cut_left(&r, 2);
    } else if (r.h >= 2 * LEAST_H) {
        first = lab_rect_cut_top(&r, r.h / 2);
    } else {
        r.h = 0;
    }
    draw_norms(c, first, s, s->looks.gradient, "|gradient|, log");
    if (r.h > 0)
        draw_norms(c, r, s, s->looks.ratio, "|update| of |param|, log");
}

/* ---- the batch ---- */

static int64_t answer_of(const struct lab_result *k, int64_t row)
{
    int64_t at = 0;
    for (int64_t i = 1; i < k->cols; i++)
        if (k->out[row * k->cols + i] > k->out[row * k->cols + at])
            at = i;
    return at;
}

/* A row for each of the batch's first rows that have one, a column for each class:
 * probabilities, the label outlined, and as words before the row. */
static void draw_probabilities(struct lab_canvas *c, struct lab_rect r,
                               const struct lab_result *k)
{
    enum { WORDS_W = 12 };
    struct lab_rect foot = lab_rect_cut_bottom(&r, 1);
    struct lab_rect words = lab_rect_cut_left(&r, WORDS_W);
    const int64_t rows = k->rows < r.h ? k->rows : r.h;
    const struct lab_heat m = {
        .grid = lab_heat_picture(c, r, k->out, rows, k->cols, false),
        .value = k->out,
        .most = lab_heat_scale(k->out, rows * k->cols),
        .cursor = -1};
    for (int cy = 0; cy < m.grid.cells_h; cy++) {
        int64_t row = lab_heat_first(rows, m.grid.cells_h, cy);
        int y = lab_heat_top(&m.grid, cy);
        int64_t as = answer_of(k, row);
        if (m.grid.cells_h == rows && k->label[row] >= 0 &&
            k->label[row] < k->cols)
            lab_heat_outline(c, r.y, r.x, &m.grid, row, k->label[row], 1, 1);
        if (cy == 0 || y > lab_heat_top(&m.grid, cy - 1))
            lab_canvas_textf(c, words.y + y, words.x, WORDS_W - 1,
                             as == k->label[row] ? LAB_ROLE_NORMAL
                                                 : LAB_ROLE_WARN,
                             as == k->label[row] ? "%d, right" : "%d, as %lld",
                             k->label[row], (long long)as);
    }
    lab_canvas_add(c, &foot, LAB_ROLE_DIM, "probability ");
    lab_rect_cut_left(&foot, lab_heat_legend(c, foot, &m));
    if (rows < k->rows)
        lab_canvas_add(c, &foot, LAB_ROLE_DIM, "   the first %lld of %lld rows",
                       (long long)rows, (long long)k->rows);
}

/* One row, its classes below each other. */
static void draw_classes_of(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_result *k)
{
    enum { NAME_W = 18, VALUE_W = 10 };
    for (int64_t i = 0; i < k->cols && r.h > 0; i++) {
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        bool label = i == k->label[0];
        lab_canvas_textf(c, row.y, row.x, NAME_W - 1,
                         label ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                         "class %lld%s", (long long)i, label ? ", it is" : "");
        lab_rect_cut_left(&row, NAME_W);
        put_right(c, &row, VALUE_W, LAB_ROLE_NORMAL,
                  LAB_VALUE_TEXT(k->out[i], 8));
        lab_bar_draw(c, row.y, row.x + 1, row.w - 1, k->out[i], 0, 1,
                     LAB_ROLE_SERIES_1);
    }
}

/* Each number beside what it should be, and a bar for the difference. */
static void draw_differences(struct lab_canvas *c, struct lab_rect r,
                             const struct lab_result *k)
{
    enum { ROW_W = 6, VALUE_W = 12 };
    double least = 0;
    double most = 0;
    for (int64_t i = 0; i < k->rows; i++)
        lab_bar_widen(k->out[i] - k->target[i], &least, &most);
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    put_right(c, &row, ROW_W, LAB_ROLE_HEADING, "row");
    put_right(c, &row, VALUE_W, LAB_ROLE_HEADING, "result");
    put_right(c, &row, VALUE_W, LAB_ROLE_HEADING, "target");
    put_right(c, &row, VALUE_W, LAB_ROLE_HEADING, "difference");
    for (int64_t i = 0; i < k->rows && r.h > 0; i++) {
        double v = k->out[i] - k->target[i];
        row = lab_rect_cut_top(&r, 1);
        put_right(c, &row, ROW_W, LAB_ROLE_NORMAL, LAB_INT_TEXT(i));
        put_right(c, &row, VALUE_W, LAB_ROLE_NORMAL,
                  LAB_VALUE_TEXT(k->out[i], 10));
        put_right(c, &row, VALUE_W, LAB_ROLE_NORMAL,
                  LAB_VALUE_TEXT(k->target[i], 10));
        put_right(c, &row, VALUE_W, LAB_ROLE_NORMAL, LAB_VALUE_TEXT(v, 10));
        lab_bar_draw(c, row.y, row.x + 1, row.w - 1, v, least, most,
                     LAB_ROLE_SERIES_2);
    }
}

static void draw_curve_of(struct lab_canvas *c, struct lab_rect r,
                          const struct lab_result *k, const char *out)
{
    const double *x = k->target ? NULL : k->in; /* both by their rows */
    const struct lab_series series[] = {{.x = x,
                                         .y = k->out,
                                         .n = k->rows,
                                         .name = x ? out : "result",
                                         .role = LAB_ROLE_SERIES_1,
                                         .points = x && !rises(x, k->rows)},
                                        {.y = k->target,
                                         .n = k->rows,
                                         .name = "target",
                                         .role = LAB_ROLE_SERIES_2}};
    const struct lab_chart chart = {.x_name = x ? "x" : "row",
                                    .series = series,
                                    .count = k->target ? 2 : 1,
                                    .y_min = NAN,
                                    .y_max = NAN};
    lab_chart_draw(c, r, &chart);
}

static void draw_numbers(struct lab_canvas *c, struct lab_rect r,
                         const struct lab_result *k)
{
    struct lab_rect foot = lab_rect_cut_bottom(&r, 1);
    const int64_t n = k->rows * k->cols;
    const struct lab_heat m = {
        .grid = lab_heat_picture(c, r, k->out, k->rows, k->cols, false),
        .value = k->out,
        .most = lab_heat_scale(k->out, n),
        .diverging = lab_heat_has_negative(k->out, n),
        .cursor = -1};
    lab_heat_legend(c, foot, &m);
}

/* The results of the last batch's rows, for a training without validation. */
static void lab_train_result(struct lab_canvas *c, struct lab_rect r,
                             const struct lab_snapshot *s)
{
    enum { CURVE = 4, CURVE_H = 10 }; /* rows of the batch, of the screen */
    const struct lab_result *k = &s->result;
    const char *out = s->plan->tensors[s->plan->out].name;
    char title[160];
    int64_t right = 0;
    for (int64_t i = 0; k->label && i < k->rows; i++)
        right += answer_of(k, i) == k->label[i];
    if (k->label)
        snprintf(title, sizeof(title),
                 "the batch of iteration %lld: %lld of %lld right",
                 (long long)k->iteration, (long long)right, (long long)k->rows);
    else
        snprintf(title, sizeof(title), "%s of iteration %lld%s", out,
                 (long long)k->iteration,
                 k->target ? ": result and target"
                 : k->in   ? " over x"
                           : "");
    lab_canvas_heading(c, &r, title, false);
    if (r.h < 2)
        return;
    if (k->label && k->rows == 1 && k->cols <= r.h)
        draw_classes_of(c, r, k);
    else if (k->label)
        draw_probabilities(c, r, k);
    else if (k->target && k->rows < r.h) {
        struct lab_rect list = lab_rect_cut_top(&r, (int)k->rows + 2);
        draw_differences(c, list, k);
        if (k->rows >= CURVE && r.h >= CURVE_H)
            draw_curve_of(c, r, k, out);
    } else if (k->target || (k->in && k->rows > 1))
        draw_curve_of(c, r, k, out);
    else
        draw_numbers(c, r, k);
}

/* ---- text ---- */

struct place {
    int row;
    int col;
};

/* One character as it is shown; returns its bytes. A newline is a sign. */
static size_t cut_character(const char *text, size_t n, char out[16])
{
    unsigned code;
    size_t len = lab_utf8_next(text, n, &code);
    char raw[8] = "";
    if (len == 0)
        len = 1;
    if (text[0] == '\n') {
        snprintf(out, 16, "↵");
        return 1;
    }
    memcpy(raw, text, len);
    lab_visible_copy(out, 16, raw);
    return len;
}

/* A character of the text: by its byte, or by its place where that is -1; both
 * -1: none. */
struct spot {
    int64_t byte;
    struct place at;
};

/* Puts the text into rows of `w` columns; draws those from `first` on where `c` is
 * given, with a cursor on the spot. Finds what the spot lacks. Returns the number
 * of rows. */
static int lay_out(struct lab_canvas *c, const struct lab_canvas *measure,
                   struct lab_rect r, const struct lab_snapshot *s, int first,
                   struct spot *spot)
{
    struct place at = {0, 0};
    const struct spot asked = *spot;
    size_t n = strlen(s->sample);
    char text[16];
    for (size_t i = 0; i < n;) {
        size_t len = cut_character(s->sample + i, n - i, text);
        int w = lab_canvas_columns(measure, text);
        if (at.col + w > r.w && at.col > 0)
            at = (struct place){at.row + 1, 0};
        int y = r.y + 2 * (at.row - first);
        double p = (double)s->sample_p[i];
        bool here = asked.byte >= (int64_t)i && asked.byte < (int64_t)(i + len);
        if (here)
            spot->at = at;
        if (asked.byte < 0 && asked.at.row == at.row &&
            asked.at.col >= at.col && asked.at.col < at.col + w)
            spot->byte = (int64_t)i;
        if (c && at.row >= first && y + 1 < r.y + r.h) {
            struct lab_rect cell = {y, r.x + at.col, 1, w};
            if (c->tints && !isnan(p))
                lab_canvas_paper(c, cell, lab_tint_sequential(p, 1));
            lab_canvas_text(c, y, cell.x, w,
                            here       ? LAB_ROLE_CURSOR
                            : isnan(p) ? LAB_ROLE_TITLE
                                       : LAB_ROLE_NORMAL,
                            text);
            if (!isnan(p))
                lab_canvas_textf(c, y + 1, cell.x, 1, LAB_ROLE_DIM, "%d",
                                 p >= 0.9 ? 9 : (int)(p * 10));
        }
        at.col += w;
        if (s->sample[i] == '\n')
            at = (struct place){at.row + 1, 0};
        i += len;
    }
    return at.row + (at.col > 0);
}

static bool has_written(const struct lab_snapshot *snap)
{
    return snap->sample && snap->sample_p;
}

/* "e": probability 34.2 %, 1.55 bits */
static void character_title(const struct lab_snapshot *s, int64_t byte,
                            char *out, size_t cap)
{
    char text[16];
    size_t n = strlen(s->sample);
    double p = (double)s->sample_p[byte];
    cut_character(s->sample + byte, n - (size_t)byte, text);
    if (isnan(p))
        snprintf(out, cap, "\"%s\": of the prompt", text);
    else
        snprintf(out, cap, "\"%s\": probability %s, %.2f bits", text,
                 LAB_SHARE_TEXT(p), -log2(p));
}

/* The first byte of the character that has one; -1: none has. */
static int64_t character_of(const struct lab_snapshot *snap, int64_t byte)
{
    if (!has_written(snap) || byte < 0 || byte >= (int64_t)strlen(snap->sample))
        return -1;
    while (byte > 0 && ((unsigned char)snap->sample[byte] & 0xC0) == 0x80)
        byte--;
    return byte;
}

/* The rows that are in sight, of two lines each, and the first of them. */
static int first_row(struct lab_rect r, int rows, int back)
{
    int first = rows - r.h / 2 - back;
    return first > 0 ? first : 0;
}

/* The character at a cell of it, drawn in `r`: its first byte; -1: none. */
static int64_t lab_train_written_at(struct lab_rect r,
                                    const struct lab_snapshot *snap, int back,
                                    bool ascii, int y, int x)
{
    const struct lab_canvas measure = {.ascii = ascii};
    struct spot none = {-1, {-1, -1}};
    lab_rect_cut_top(&r, 1);
    if (!has_written(snap) || !lab_rect_has(r, y, x))
        return -1;
    int rows = lay_out(NULL, &measure, r, snap, 0, &none);
    struct spot spot = {-1,
                        {first_row(r, rows, back) + (y - r.y) / 2, x - r.x}};
    lay_out(NULL, &measure, r, snap, 0, &spot);
    return spot.byte;
}

/* The one before (`by` -1) or behind that at `byte`, the last where there is none,
 * which *back then has in sight; -1: there is no text. */
static int64_t lab_train_written_move(struct lab_rect r,
                                      const struct lab_snapshot *snap,
                                      bool ascii, int64_t byte, int by,
                                      int *back)
{
    const struct lab_canvas measure = {.ascii = ascii};
    struct spot spot;
    lab_rect_cut_top(&r, 1);
    if (!has_written(snap) || !snap->sample[0])
        return -1;
    int64_t n = (int64_t)strlen(snap->sample);
    spot.byte = character_of(snap, byte);
    if (spot.byte < 0) /* at its end, which is in sight */
        spot.byte = character_of(snap, n - 1);
    else if (by < 0)
        spot.byte = spot.byte > 0 ? character_of(snap, spot.byte - 1) : 0;
    else
        do
            spot.byte += spot.byte + 1 < n;
        while (character_of(snap, spot.byte) != spot.byte && spot.byte + 1 < n);
    spot.byte = character_of(snap, spot.byte);
    int rows = lay_out(NULL, &measure, r, snap, 0, &spot);
    int first = first_row(r, rows, *back);
    int h = r.h / 2;
    if (spot.at.row < first)
        first = spot.at.row;
    else if (spot.at.row >= first + h)
        first = spot.at.row - h + 1;
    *back = rows - h - first > 0 ? rows - h - first : 0;
    return spot.byte;
}

/* The text with the probability of each character as its background, and in
 * tenths below it. `back` rows before its end; the heading has that of the
 * character at byte `cursor` (-1: of none). Returns how many rows there are. */
static int lab_train_written(struct lab_canvas *c, struct lab_rect r,
                             const struct lab_snapshot *snap, int back,
                             int64_t cursor)
{
    double bits = 0;
    int64_t n = 0;
    struct spot spot = {character_of(snap, cursor), {-1, -1}};
    if (!has_written(snap)) {
        lab_canvas_heading(c, &r, "what it writes", false);
        note(c, r, "w lets the network write, while it trains too.");
        return 0;
    }
    for (size_t i = 0; snap->sample[i]; i++) {
        bool starts = ((unsigned char)snap->sample[i] & 0xC0) != 0x80;
        if (!starts || isnan(snap->sample_p[i]))
            continue;
        bits -= log2((double)snap->sample_p[i]);
        n++;
    }
    char title[160];
    snprintf(title, sizeof(title),
             "after %lld iterations: %.2f bits a character; below: probability "
             "in tenths",
             (long long)snap->sample_iteration, n > 0 ? bits / (double)n : NAN);
    if (spot.byte >= 0)
        character_title(snap, spot.byte, title, sizeof(title));
    lab_canvas_heading(c, &r, title, false);
    int rows = lay_out(NULL, c, r, snap, 0, &spot);
    lay_out(c, c, r, snap, first_row(r, rows, back), &spot);
    return rows;
}

/* ---- the screen ---- */

/* The third has the classes, or where there are none to be counted the batch. */
enum page { PAGE_CURVES, PAGE_LAYERS, PAGE_CLASSES, PAGE_TEXT, PAGES };

static const char *page_name(const struct lab_snapshot *s, enum page page)
{
    static const char *const names[PAGES] = {"1 curves", "2 layers",
                                             "3 classes", "4 text"};
    return page == PAGE_CLASSES && s->confusion.classes == 0 ? "3 batch"
                                                             : names[page];
}

struct lab_train_state {
    struct lab_ui *ui;
    enum page page;
    int top[PAGES];            /* scrolled; of the text from its end */
    int rows[PAGES];           /* as last drawn */
    struct lab_rect losses_at; /* their chart, as last drawn; w 0: it was not */
    struct lab_rect beside_at; /* of accuracy or bits */
    struct lab_rect rate_at;
    struct lab_rect written; /* the text, as last drawn; w 0: it was not */
    int64_t wrote_at;  /* the iteration at which it last wrote by itself */
    int64_t character; /* under the cursor in it, a byte; -1: none */
    struct lab_rect tabs[PAGES]; /* w 0: not drawn */
    struct lab_past_run past[LAB_PAST_RUNS];
    int n_past; /* -1: not asked for yet */
    bool shows_past;
    struct lab_stepper_model model;
    struct lab_snapshot snap; /* version 0: none yet */
    bool compares;   /* with what was last seen, once something has changed */
    int64_t asked;   /* iterations of the last request; 0: the lesson's */
    bool log_chosen; /* by the reader, else as the curve needs it */
    bool log_scale;
    char save_to[LAB_COMMAND_ARG_BYTES]; /* the file that is asked about */
};

const char lab_train_sample_not_here[] =
    "only a network that learns from text can write some";

/* The answer to `:near` on the message line. */
void lab_train_show_near(struct lab_ui *ui, const struct lab_snapshot *snap)
{
    struct lab_str text;
    if (!snap->words)
        return;
    lab_str_init(&text);
    lab_near_text(snap->words, &snap->near, &text);
    if (text.failed)
        lab_ui_message(ui, LAB_ROLE_BAD, "no memory for the answer");
    else
        lab_ui_message(ui, LAB_ROLE_NORMAL, "%s", lab_str_text(&text));
    lab_str_release(&text);
}

bool lab_train_asks_to_save(struct lab_ui *ui, int id,
                            const struct lab_ui_command *cmd)
{
    char question[LAB_COMMAND_ARG_BYTES + 64];
    if (cmd->arg2[0] || access(cmd->arg, F_OK) != 0)
        return false;
    snprintf(question, sizeof(question), "%s is there: overwrite it?",
             cmd->arg);
    lab_ui_ask(ui, id, question);
    return true;
}

static void draw_title(struct lab_canvas *c, struct lab_rect *r,
                       const struct lab_snapshot *snap,
                       const struct lab_sample_request *how)
{
    char title[128];
    char top[48] = "";
    if (how->top_k > 0)
        snprintf(top, sizeof(top), ", of the %lld likeliest",
                 (long long)how->top_k);
    if (!snap->sample)
        snprintf(title, sizeof(title), "what it writes: temperature %g%s",
                 how->temperature, top);
    else
        snprintf(title, sizeof(title),
                 "what it %s after %lld iteration%s: temperature %g%s",
                 snap->sampling ? "is writing" : "wrote",
                 (long long)snap->sample_iteration,
                 snap->sample_iteration == 1 ? "" : "s", how->temperature, top);
    lab_canvas_heading(c, r, title, false);
}

/* The text is as it is: a terminal must only ever print it. */
static void draw_text(struct lab_canvas *c, struct lab_rect r, const char *text)
{
    enum { MOST = 10000 }; /* rows */
    struct lab_str seen;
    lab_str_init(&seen);
    lab_str_add_visible(&seen, text, strlen(text), true);
    int rows = lab_canvas_paragraph_rows(c, r.w, MOST, lab_str_text(&seen));
    struct lab_rect all = {rows > r.h ? r.y - (rows - r.h) : r.y, r.x, MOST,
                           r.w};
    struct lab_rect old = lab_canvas_clip(c, r);
    lab_canvas_paragraph(c, all, LAB_ROLE_NORMAL, lab_str_text(&seen));
    lab_canvas_unclip(c, old);
    lab_str_release(&seen);
}

/* The text that it wrote last, its end in sight, or which keys make it write.
 * Control characters are made visible. */
static void train_sample_draw(struct lab_canvas *c, struct lab_rect r,
                              const struct lab_snapshot *snap,
                              const struct lab_sample_request *how)
{
    if (r.h < 2)
        return;
    draw_title(c, &r, snap, how);
    if (snap->sample)
        draw_text(c, r, snap->sample);
    else
        lab_canvas_paragraph(c, r, LAB_ROLE_DIM,
                             "w lets the network write, while it trains too; "
                             "p sets the prompt, d the temperature.");
}

/* What the training screen shows. */

enum {
    WIDE = 140, /* from here on the two curves are side by side ... */
    ALL_H = 36  /* ... and all pages there at once from so many rows on */
};

static bool has_parameters(const struct lab_plan *plan)
{
    for (int i = 0; plan && i < plan->n_tensors; i++)
        if (plan->tensors[i].role == LAB_TENSOR_PARAM)
            return true;
    return false;
}

static bool has_page(const struct lab_train_state *v, enum page page)
{
    const struct lab_snapshot *s = &v->snap;
    switch (page) {
    case PAGE_LAYERS:
        return s->n_figures > 0 || has_parameters(s->plan);
    case PAGE_CLASSES:
        return s->confusion.after >= 0 || s->result.iteration >= 0 ||
               (!s->text && s->confusion.classes > 0);
    case PAGE_TEXT:
        return s->text;
    default:
        return true;
    }
}

static const char *state_text(const struct lab_train_state *v)
{
    const struct lab_snapshot *s = &v->snap;
    if (s->state == LAB_SESSION_TRAINING)
        return "training";
    if (s->state == LAB_SESSION_FAILED)
        return "failed";
    if (s->train_target > 0 && s->train_done < s->train_target)
        return "stopped";
    return s->train_done > 0 ? "done" : "waiting";
}

/* Of the iteration that the walk is in. Before its loss is there: of the last one before
 * it, and never of a later one that the walk went back from. False: not known. */
static bool newest_loss(const struct lab_snapshot *s, double *loss)
{
    int last = s->losses.n - 1;
    while (last >= 0 && s->losses.iteration[last] > s->iteration)
        last--;
    bool own = last >= 0 && s->losses.iteration[last] == s->iteration;
    *loss =
        last >= 0 && (own || isnan(s->loss)) ? s->losses.value[last] : s->loss;
    return last >= 0 || !isnan(s->loss);
}

/* Whether the network is that of an earlier iteration than the curves end with, as after
 * early stopping. */
static bool went_back(const struct lab_snapshot *s)
{
    return s->state != LAB_SESSION_TRAINING && s->losses.n > 0 &&
           s->losses.iteration[s->losses.n - 1] > s->iteration;
}

/* The parts of the line of facts, in its order. */
enum fact {
    FACT_STATE,
    FACT_ITERATION,
    FACT_EPOCH,
    FACT_LOSS,
    FACT_HELD,
    FACT_WORD, /* "accuracy", of the validation */
    FACT_SHARE,
    FACT_TEST,
    FACT_RATE,
    FACTS
};

struct facts {
    char text[FACTS][64]; /* "": left out */
};

static void note_facts(const struct lab_snapshot *s, bool rate,
                       struct facts *out)
{
    enum { BYTES = sizeof(out->text[0]) };
    if (s->iterations_per_epoch > 0)
        snprintf(out->text[FACT_EPOCH], BYTES, "   epoch %lld",
                 (long long)s->epoch);
    if (s->bits.n > 0) {
        snprintf(out->text[FACT_SHARE], BYTES, "   validation %.4f bits",
                 s->bits_per_char);
    } else if (!isnan(s->accuracy)) {
        snprintf(out->text[FACT_HELD], BYTES, "   validation");
        snprintf(out->text[FACT_WORD], BYTES, " accuracy");
        snprintf(out->text[FACT_SHARE], BYTES, " %s",
                 LAB_SHARE_TEXT(s->accuracy));
    }
    if (!isnan(s->test_accuracy))
        snprintf(out->text[FACT_TEST], BYTES, "   test %s",
                 LAB_SHARE_TEXT(s->test_accuracy));
    if (rate)
        snprintf(out->text[FACT_RATE], BYTES, "   rate %.4g", s->rate);
}

/* Leaves out what is of least use, part by part, until the line fits. A loss counts
 * as the longest one: the others do not come and go with it. */
static void fit_facts(const struct lab_canvas *c, struct facts *f, int w)
{
    static const enum fact least[] = {FACT_EPOCH, FACT_WORD, FACT_RATE,
                                      FACT_TEST, FACT_ITERATION};
    enum { LOSS_W = sizeof("   loss -0.12345") - 1 };
    int used = 0;
    for (int i = 0; i < FACTS; i++) {
        const int part = lab_canvas_columns(c, f->text[i]);
        used += i == FACT_LOSS && part < LOSS_W ? LOSS_W : part;
    }
    for (size_t i = 0; used > w && i < sizeof(least) / sizeof(least[0]); i++) {
        used -= lab_canvas_columns(c, f->text[least[i]]);
        f->text[least[i]][0] = '\0';
    }
}

static void draw_facts(const struct lab_train_state *v, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_snapshot *s = &v->snap;
    struct facts f = {0};
    double last;
    bool known = newest_loss(s, &last);
    const bool rate =
        (s->plan && lab_rate_changes(&s->plan->rate)) || s->n_lr_changes > 0;
    snprintf(f.text[FACT_STATE], sizeof(f.text[0]), "%s", state_text(v));
    snprintf(f.text[FACT_ITERATION], sizeof(f.text[0]),
             went_back(s) ? "   network of iteration %lld"
                          : "   iteration %lld",
             (long long)s->iteration);
    snprintf(f.text[FACT_LOSS], sizeof(f.text[0]), "   loss %s",
             known ? LAB_VALUE_TEXT(last, 8) : "not known yet");
    note_facts(s, rate, &f);
    fit_facts(c, &f, row.w);
    for (int i = 0; i < FACTS; i++) {
        enum lab_role role = LAB_ROLE_NORMAL;
        if (i == FACT_STATE)
            role = LAB_ROLE_TITLE;
        else if (i == FACT_LOSS && known && !isfinite(last))
            role = LAB_ROLE_BAD;
        lab_canvas_add(c, &row, role, "%s", f.text[i]);
    }
}

static void draw_progress(const struct lab_train_state *v, struct lab_canvas *c,
                          struct lab_rect row)
{
    const struct lab_snapshot *s = &v->snap;
    double share = s->train_target > 0
                       ? (double)s->train_done / (double)s->train_target
                       : NAN;
    double left = s->state == LAB_SESSION_TRAINING ? s->seconds_left : NAN;
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "%lld of %lld iteration%s", (long long)s->train_done,
                 (long long)s->train_target, s->train_target == 1 ? "" : "s");
    if (s->samples_per_s > 0)
        lab_str_addf(&text, ", %s samples/s",
                     LAB_INT_TEXT((int64_t)s->samples_per_s));
    if (left >= 0 && left <= 1e9)
        lab_str_addf(&text, ", %s left",
                     lab_format_span((int64_t)(left * 1e9),
                                     (char[LAB_FORMAT_BYTES]){0},
                                     LAB_FORMAT_BYTES));
    lab_gauge_draw(c, row.y, row.x, row.w, share, LAB_ROLE_SERIES_1,
                   lab_str_text(&text));
    lab_str_release(&text);
}

static void draw_more(const struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    const struct lab_snapshot *s = &v->snap;
    if (s->step_ms_median > 0)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "one iteration %s (median)   ",
                       LAB_NS_TEXT(s->step_ms_median * 1e6));
    if (s->iterations_per_epoch > 0)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%lld an epoch   ",
                       (long long)s->iterations_per_epoch);
    if (s->stop_reason[0] && s->state != LAB_SESSION_TRAINING)
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "%s", s->stop_reason);
}

static struct lab_series curve_of(const struct lab_curve *c, const char *name,
                                  enum lab_role role)
{
    return (struct lab_series){.y = c->value,
                               .n = c->n,
                               .name = name,
                               .role = role,
                               .at = c->iteration};
}

static struct lab_chart chart_of(const struct lab_train_state *v,
                                 const struct lab_series *series, int count,
                                 double y_min, bool log_y)
{
    return (struct lab_chart){.x_name = "iteration",
                              .zero_x = true,
                              .grows_x = v->snap.state == LAB_SESSION_TRAINING,
                              .series = series,
                              .count = count,
                              .y_min = y_min,
                              .y_max = NAN,
                              .log_y = log_y};
}

/* A chart beside the losses, with what its series point to. */
struct figure {
    double ends[2];
    double line[2];
    char name[128];
    struct lab_series series[2];
    struct lab_chart chart;
};

/* Accuracy; of a text its bits, and the line to beat: a model that counts. */
static void make_beside(const struct lab_train_state *v, struct figure *f)
{
    const struct lab_curve *b = &v->snap.bits;
    int n = 1;
    if (b->n > 0 && !isnan(v->snap.bits_order3)) {
        f->ends[0] = (double)b->iteration[0];
        f->ends[1] = (double)b->iteration[b->n - 1];
        f->line[0] = f->line[1] = v->snap.bits_order3;
        f->series[n++] = (struct lab_series){f->ends, f->line, b->n > 1 ? 2 : 1,
                                             "counting what follows three",
                                             LAB_ROLE_SERIES_3};
    }
    f->series[0] =
        b->n > 0 ? curve_of(b,
                            went_back(&v->snap)
                                ? "bits a character, validation, last iteration"
                                : "bits a character, validation",
                            LAB_ROLE_SERIES_2)
                 : curve_of(&v->snap.accuracies,
                            went_back(&v->snap)
                                ? "validation accuracy, last iteration"
                                : "validation accuracy",
                            LAB_ROLE_SERIES_2);
    f->chart = chart_of(v, f->series, n, NAN, false);
}

/* The share that came out exactly, and as many of the strings as fit whole
 * beside each other. */
static void draw_decoded(const struct lab_train_state *v, struct lab_canvas *c,
                         struct lab_rect row)
{
    const char *line = v->snap.decoded;
    char text[LAB_SESSION_TEXT];
    lab_canvas_add(c, &row, LAB_ROLE_NORMAL, "exact %s   ",
                   LAB_SHARE_TEXT(v->snap.exact));
    while (*line) {
        size_t n = strcspn(line, "\n");
        snprintf(text, sizeof(text), "%.*s", (int)n, line);
        if (lab_canvas_columns(c, text) > row.w)
            return;
        lab_canvas_add(c, &row,
                       strstr(text, ", not ") ? LAB_ROLE_WARN : LAB_ROLE_NORMAL,
                       "%s", text);
        lab_rect_cut_left(&row, 3);
        line += n + (line[n] == '\n');
    }
}

/* Whether the loss is drawn on a logarithmic scale. */
static bool train_log(const struct lab_train_state *v)
{
    const struct lab_curve *c = &v->snap.losses;
    double last = c->n ? c->value[c->n - 1] : NAN;
    double most = last; /* one that ran away would flatten all the others */
    for (int i = 0; i < c->n; i++)
        most = c->value[i] > most ? c->value[i] : most;
    return v->log_chosen ? v->log_scale
                         : last > 0 && (c->value[0] / last >= 10 ||
                                        most / c->value[0] >= 10);
}

/* The losses of batches are noisy: of many, the mean of neighbours is drawn,
 * between the least and the largest of them. As many neighbours as a power of two, so
 * that losses which come change the last bin alone, until all have twice as many. */
enum { BINS = 96, A_BIN = 4 /* points at least, else all are drawn */ };
struct smooth {
    int n;
    double x[BINS];
    double mean[BINS];
    double low[BINS];
    double high[BINS];
};

static bool make_smooth(const struct lab_curve *c, struct smooth *out)
{
    int64_t each = A_BIN;
    while (c->n > BINS * each)
        each *= 2;
    out->n = (int)((c->n + each - 1) / each);
    if (c->n < 2 * BINS / 3)
        return false;
    for (int b = 0; b < out->n; b++) {
        const int64_t from = b * each;
        const int64_t end = from + each < c->n ? from + each : c->n;
        double sum = 0;
        out->x[b] = (double)c->iteration[b == 0 ? 0 : end - 1];
        out->low[b] = out->high[b] = c->value[from];
        for (int64_t i = from; i < end; i++) {
            sum += c->value[i];
            out->low[b] = c->value[i] < out->low[b] ? c->value[i] : out->low[b];
            out->high[b] =
                c->value[i] > out->high[b] ? c->value[i] : out->high[b];
        }
        out->mean[b] = sum / (double)(end - from);
        if (!isfinite(sum)) /* a NaN must be seen where it is */
            return false;
    }
    return true;
}

/* Other runs of the lesson, the newest first: their means alone. */
static int add_past(const struct lab_train_state *v, struct lab_series *series,
                    struct smooth *smooth)
{
    int n = 0;
    for (int i = 0; v->shows_past && i < v->n_past; i++) {
        const struct lab_past_run *p = &v->past[i];
        enum lab_role role = (enum lab_role)(LAB_ROLE_SERIES_3 + i);
        if (make_smooth(&p->losses, &smooth[i]))
            series[n++] = (struct lab_series){.x = smooth[i].x,
                                              .y = smooth[i].mean,
                                              .n = smooth[i].n,
                                              .name = p->name,
                                              .role = role};
        else
            series[n++] = curve_of(&p->losses, p->name, role);
    }
    return n;
}

struct losses {
    struct lab_series series[4 + LAB_PAST_RUNS];
    struct smooth past[LAB_PAST_RUNS];
    struct smooth own;
    struct lab_chart_mark marks[LAB_LR_CHANGES + 1];
    struct lab_chart chart;
};

/* Each change of the learning rate by hand, on the axis of the losses, and the network
 * that is there where it went back. */
static int make_marks(const struct lab_snapshot *s,
                      struct lab_chart_mark *marks)
{
    for (int i = 0; i < s->n_lr_changes; i++) {
        marks[i].x = (double)s->lr_changes[i].iteration;
        snprintf(marks[i].text, sizeof(marks[i].text), "lr %.4g",
                 s->lr_changes[i].lr);
    }
    if (!went_back(s))
        return s->n_lr_changes;
    marks[s->n_lr_changes] =
        (struct lab_chart_mark){.x = (double)s->iteration, .text = "network"};
    return s->n_lr_changes + 1;
}

/* From 0 on, a third of the chart would be empty. */
static bool far_from_zero(const struct lab_series *series, int n)
{
    double least = INFINITY;
    double most = -INFINITY;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < series[k].n; i++) {
            least = fmin(least, series[k].y[i]);
            most = fmax(most, series[k].y[i]);
        }
    return isfinite(most) && least > most / 3;
}

static void make_losses(const struct lab_train_state *v, struct losses *l)
{
    bool log_y = train_log(v);
    struct lab_series *series = l->series;
    struct smooth *m = &l->own;
    int n = 0;
    if (make_smooth(&v->snap.losses, m)) {
        series[n++] =
            (struct lab_series){m->x, m->mean, m->n,
                                log_y ? "loss, mean of neighbours (log scale)"
                                      : "loss, mean of neighbours",
                                LAB_ROLE_SERIES_1};
        series[n++] =
            (struct lab_series){m->x, m->low, m->n, NULL, LAB_ROLE_DIM};
        series[n++] =
            (struct lab_series){m->x, m->high, m->n, NULL, LAB_ROLE_DIM};
    } else {
        series[n++] =
            curve_of(&v->snap.losses, log_y ? "loss (log scale)" : "loss",
                     LAB_ROLE_SERIES_1);
    }
    if (v->snap.held.n > 0)
        series[n++] =
            curve_of(&v->snap.held, "validation loss", LAB_ROLE_SERIES_2);
    n += add_past(v, series + n, l->past);
    l->chart = chart_of(v, series, n,
                        log_y || far_from_zero(series, n) ? NAN : 0, log_y);
    l->chart.marks = l->marks;
    l->chart.n_marks = make_marks(&v->snap, l->marks);
}

static void draw_loss(struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    struct losses l;
    v->losses_at = r;
    make_losses(v, &l);
    lab_chart_draw(c, r, &l.chart);
}

/* The point at a cell of a chart drawn in `r`: its iteration and value. */
static bool name_point(const struct lab_train_state *v,
                       const struct lab_chart *chart, struct lab_rect r, int y,
                       int x)
{
    int k;
    int64_t i;
    if (!lab_rect_has(r, y, x) || !lab_chart_find(r, chart, y, x, &k, &i))
        return false;
    const struct lab_series *s = &chart->series[k];
    size_t n = strcspn(s->name, "("); /* the value is on no scale */
    lab_ui_message(v->ui, LAB_ROLE_NORMAL, "iteration %lld: %.*s %s",
                   (long long)(s->x ? (int64_t)s->x[i] : s->at[i]),
                   (int)(n - (s->name[n] == '(')), s->name,
                   LAB_VALUE_TEXT(s->y[i], 9));
    return true;
}

/* Where it is another one than at the start: a schedule, or `lr`. */
static bool rate_changes(const struct lab_snapshot *s)
{
    for (int i = 1; i < s->rates.n; i++)
        if (s->rates.value[i] != s->rates.value[0])
            return true;
    return false;
}

static bool are_apart(const struct lab_series *series)
{
    enum { TIMES = 4 };
    double least = INFINITY;
    double most = 0;
    for (int64_t i = 0; i < series->n; i++) {
        least = fmin(least, series->y[i]);
        most = fmax(most, series->y[i]);
    }
    return least > 0 && most >= TIMES * least;
}

/* The rate in steps, each change by hand named. */
static void make_rate(const struct lab_train_state *v, struct figure *f)
{
    const struct lab_snapshot *s = &v->snap;
    snprintf(f->name, sizeof(f->name), "learning rate");
    if (s->n_lr_changes > 0)
        snprintf(f->name, sizeof(f->name),
                 "learning rate (lr %g from iteration %lld on)",
                 s->lr_changes[s->n_lr_changes - 1].lr,
                 (long long)s->lr_changes[s->n_lr_changes - 1].iteration);
    f->series[0] = curve_of(&s->rates, f->name, LAB_ROLE_UPDATE);
    f->chart = chart_of(v, f->series, 1, 0, false);
    /* 0.001 beside 0.01 is no 0: what was changed by hand may be powers of ten
     * apart. */
    if (s->n_lr_changes > 0 && are_apart(&f->series[0])) {
        f->chart.y_min = NAN;
        f->chart.log_y = true;
    }
}

/* The point of a curve that was clicked. */
static bool name_curve(const struct lab_train_state *v, int y, int x)
{
    struct losses l;
    struct figure beside;
    struct figure rate;
    make_losses(v, &l);
    make_beside(v, &beside);
    make_rate(v, &rate);
    return name_point(v, &l.chart, v->losses_at, y, x) ||
           name_point(v, &beside.chart, v->beside_at, y, x) ||
           name_point(v, &rate.chart, v->rate_at, y, x);
}

static void draw_curves(struct lab_train_state *v, struct lab_canvas *c,
                        struct lab_rect r)
{
    struct figure f;
    bool labels = v->snap.accuracies.n > 1; /* one: the line of facts has it */
    if (r.h >= 14 && rate_changes(&v->snap)) {
        v->rate_at = lab_rect_cut_bottom(&r, r.h >= 30   ? r.h / 4
                                             : r.h >= 16 ? 5
                                                         : 4);
        make_rate(v, &f);
        lab_chart_draw(c, v->rate_at, &f.chart);
    }
    struct lab_rect first = r;
    if (labels && r.w >= WIDE)
        first = lab_rect_cut_left(&r, r.w / 2);
    else if (labels)
        first = lab_rect_cut_top(&r, r.h / 2);
    draw_loss(v, c, first);
    if (labels || v->snap.bits.n > 1) {
        v->beside_at = r;
        make_beside(v, &f);
        lab_chart_draw(c, r, &f.chart);
    }
}

/* One loss, which the line of facts has, is no curve: the batch is in its place. */
static bool is_point(const struct lab_train_state *v)
{
    return v->snap.losses.n == 1 && v->snap.confusion.classes == 0 &&
           v->snap.result.iteration >= 0;
}

/* Text, unless it has a place of its own: rows for what the network writes, when
 * there are some to spare. */
static void draw_curves_page(struct lab_train_state *v, struct lab_canvas *c,
                             struct lab_rect r, bool alone)
{
    bool two = v->snap.bits.n > 1 && r.w < WIDE; /* curves, one above another */
    if (v->snap.text && r.h >= (two ? 14 : 8) && alone) {
        /* Three curves leave it a line or two. */
        int rows = r.h >= 24                                    ? r.h / 3
                   : two && r.h >= 16 && rate_changes(&v->snap) ? r.h - 14
                   : r.h >= 14                                  ? 6
                                                                : 4;
        train_sample_draw(c, lab_rect_cut_bottom(&r, rows), &v->snap,
                          &v->model.sampling);
    }
    if (v->snap.losses.n == 0)
        lab_canvas_text(c, r.y + r.h / 2, r.x + 2, r.w - 2, LAB_ROLE_DIM,
                        "The curve begins with the first iteration.");
    else if (is_point(v))
        lab_train_result(c, r, &v->snap);
    else
        draw_curves(v, c, r);
}

static void draw_page(struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect r, enum page page)
{
    if (page == PAGE_CURVES)
        draw_curves_page(v, c, r, true);
    else if (page == PAGE_LAYERS)
        v->rows[page] = lab_train_layers(c, r, &v->snap, v->top[page]);
    else if (page == PAGE_CLASSES && v->snap.confusion.classes > 0)
        lab_train_classes(c, r, &v->snap);
    else if (page == PAGE_CLASSES)
        lab_train_result(c, r, &v->snap);
    else {
        v->written = r;
        v->rows[page] =
            lab_train_written(c, r, &v->snap, v->top[page], v->character);
    }
}

/* The batch with a page of its own, and the norms where it leaves room. */
static void draw_batch_page(struct lab_train_state *v, struct lab_canvas *c,
                            struct lab_rect r)
{
    const struct lab_result *k = &v->snap.result;
    const int64_t list = k->target ? k->rows + 2 : r.h; /* its rows */
    if (has_looks(&v->snap) && list <= r.h / 2) {
        lab_train_looks(c, lab_rect_cut_bottom(&r, r.h - (int)list - 1),
                        &v->snap);
    } else if (has_looks(&v->snap) && r.w >= WIDE) {
        struct lab_rect right = r;
        r = lab_rect_cut_left(&right, r.w / 2 - 1);
        lab_rect_cut_left(&right, 2);
        lab_train_looks(c, right, &v->snap);
    }
    lab_train_result(c, r, &v->snap);
}

/* The names of the pages, the open one in brackets. */
static void draw_tabs(struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    for (enum page p = 0; p < PAGES; p++) {
        struct lab_rect at = row;
        if (!has_page(v, p))
            continue;
        at.w = lab_canvas_add(
            c, &row, p == v->page ? LAB_ROLE_TITLE : LAB_ROLE_DIM,
            p == v->page ? "[%s]" : " %s ", page_name(&v->snap, p));
        v->tabs[p] = at;
        lab_rect_cut_left(&row, 1);
    }
}

/* Curves at the left; at the right layers, their norms over the iterations, and
 * the classes or the batch; of a text also what the network writes. What has nothing
 * to show leaves its place to the others. */
static void draw_all(struct lab_train_state *v, struct lab_canvas *c,
                     struct lab_rect body)
{
    enum { TEXT_LEAST = 6, CLASSES_LEAST = 5, LIST_HEADS = 3 }; /* rows */
    const struct lab_snapshot *s = &v->snap;
    struct lab_rect right = body;
    bool layers = has_page(v, PAGE_LAYERS);
    bool classes = has_page(v, PAGE_CLASSES);
    int rows = s->n_figures > 0 ? s->n_figures + 5 : 4;
    if (is_point(v)) { /* nothing has a time axis */
        if (layers)
            draw_page(
                v, c,
                lab_rect_cut_top(&body, rows > body.h / 3 ? body.h / 3 : rows),
                PAGE_LAYERS);
        draw_page(v, c, body, PAGE_CLASSES);
        return;
    }
    struct lab_rect left = lab_rect_cut_left(&right, body.w / 2 - 1);
    lab_rect_cut_left(&right, 2);
    draw_curves_page(v, c, left, false);
    if (layers) {
        rows = rows > right.h / 2 ? right.h / 2 : rows;
        draw_page(v, c, lab_rect_cut_top(&right, rows), PAGE_LAYERS);
        lab_rect_cut_top(&right, 1);
    }
    if (has_looks(s)) {
        bool counted = classes && s->confusion.classes > 0;
        bool waits = counted && s->confusion.after < 0;
        bool list = classes && !counted && s->result.target;
        int least = waits  ? CLASSES_LEAST
                    : list ? (int)s->result.rows + LIST_HEADS
                           : right.h / 2;
        rows = counted && !waits     ? right.h / 3
               : least > right.h / 2 ? right.h / 2
               : classes || s->text  ? right.h - least
                                     : right.h;
        lab_train_looks(c, lab_rect_cut_top(&right, rows), s);
        lab_rect_cut_top(&right, 1);
    }
    if (s->text) {
        rows = s->sample ? right.h / 2 : TEXT_LEAST;
        classes = classes && right.h >= 3 * TEXT_LEAST;
        draw_page(v, c, classes ? lab_rect_cut_top(&right, rows) : right,
                  PAGE_TEXT);
    }
    if (classes)
        draw_page(v, c, right, PAGE_CLASSES);
}

static void train_draw(struct lab_screen *s, struct lab_canvas *c,
                       struct lab_rect body)
{
    enum {
        HEADS = 6,
        CURVES_H = 14, /* below the layers, where there is room */
        LOSS_H = 6,    /* of the loss alone */
        NOTE_H = 3     /* of a text that is not there yet */
    };
    struct lab_train_state *v = s->state;
    memset(v->tabs, 0, sizeof(v->tabs));
    v->written = v->losses_at = v->beside_at = v->rate_at =
        (struct lab_rect){0};
    if (v->snap.state == LAB_SESSION_FAILED) {
        lab_canvas_textf(c, body.y + 1, body.x, body.w, LAB_ROLE_BAD, "%s",
                         v->snap.error);
        return;
    }
    draw_facts(v, c, lab_rect_cut_top(&body, 1));
    draw_progress(v, c, lab_rect_cut_top(&body, 1));
    draw_more(v, c, lab_rect_cut_top(&body, 1));
    if (v->snap.decoded[0])
        draw_decoded(v, c, lab_rect_cut_top(&body, 1));
    if (body.w >= WIDE && body.h >= ALL_H && v->page == PAGE_CURVES) {
        draw_all(v, c, body);
        return;
    }
    draw_tabs(v, c, lab_rect_cut_top(&body, 1));
    int layers = v->snap.n_figures + HEADS;
    const int left = body.h - layers;
    if (v->page == PAGE_LAYERS && v->snap.losses.n > 0 && left >= LOSS_H) {
        struct lab_rect curves = lab_rect_cut_bottom(&body, left);
        if (has_looks(&v->snap))
            lab_train_looks(c, curves, &v->snap);
        else if (is_point(v))
            lab_train_result(c, curves, &v->snap);
        else if (left >= CURVES_H)
            draw_curves(v, c, curves);
        else
            draw_loss(v, c, curves);
    }
    if (v->page == PAGE_TEXT && !has_written(&v->snap) && has_looks(&v->snap))
        lab_train_looks(c, lab_rect_cut_bottom(&body, body.h - NOTE_H),
                        &v->snap);
    if (v->page == PAGE_CLASSES && v->snap.confusion.classes == 0)
        draw_batch_page(v, c, body);
    else
        draw_page(v, c, body, v->page);
}

/* Training: curves that grow while the engine runs on its own thread. Leaving
 * the screen does not stop it. */

enum { ASK_ITERATIONS = 1, ASK_PROMPT, ASK_TEMPERATURE, ASK_SAVE };

static bool send(struct lab_train_state *v, const struct lab_command *cmd)
{
    enum lab_status st = v->model.post(v->model.session, cmd);
    if (st)
        lab_ui_error(v->ui);
    return !st;
}

static void post(struct lab_train_state *v, enum lab_command_kind kind,
                 int64_t n)
{
    const struct lab_command cmd = {.kind = kind, .n = n, .phase = -1};
    send(v, &cmd);
}

static void start(struct lab_train_state *v, int64_t n)
{
    v->asked = n;
    v->compares = false;
    post(v, LAB_DO_TRAIN, n);
}

/* ---- snapshots ---- */

static bool refresh(struct lab_train_state *v)
{
    struct lab_snapshot next;
    if (v->model.version(v->model.session) == v->snap.version)
        return false;
    memset(&next, 0, sizeof(next));
    if (v->model.snapshot(v->model.session, &next)) {
        lab_ui_error(v->ui);
        return true;
    }
    /* The first snapshot has what went wrong before this screen: reported. */
    if (v->snap.version && next.error[0] &&
        strcmp(next.error, v->snap.error) != 0)
        lab_ui_message(v->ui, LAB_ROLE_BAD, "%s", next.error);
    else if (v->snap.version && next.near.asked != v->snap.near.asked)
        lab_train_show_near(v->ui, &next);
    if (v->snap.version)
        v->model.snapshot_release(&v->snap);
    v->snap = next;
    return true;
}

/* ---- what changed since this screen was left ---- */

static void show_changes(struct lab_train_state *v)
{
    const struct lab_train_left *left = v->model.left;
    const struct lab_snapshot *s = &v->snap;
    struct lab_str text;
    if (!v->compares || !left || !left->known || s->losses.n == 0)
        return;
    int64_t now = s->losses.iteration[s->losses.n - 1];
    if (now <= left->iteration)
        return;
    v->compares = false;
    lab_str_init(&text);
    lab_str_addf(&text, "since you left: %lld iteration%s, loss %s to %s",
                 (long long)(now - left->iteration),
                 now - left->iteration == 1 ? "" : "s",
                 LAB_VALUE_TEXT(left->loss, 8),
                 LAB_VALUE_TEXT(s->losses.value[s->losses.n - 1], 8));
    if (!isnan(left->accuracy) && !isnan(s->accuracy))
        lab_str_addf(&text, ", validation accuracy %s to %s",
                     LAB_SHARE_TEXT(left->accuracy),
                     LAB_SHARE_TEXT(s->accuracy));
    lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s", lab_str_text(&text));
    lab_str_release(&text);
}

static void keep_look(const struct lab_train_state *v)
{
    const struct lab_snapshot *s = &v->snap;
    struct lab_train_left *left = v->model.left;
    if (!left || s->losses.n == 0)
        return;
    *left = (struct lab_train_left){.known = true,
                                    .iteration =
                                        s->losses.iteration[s->losses.n - 1],
                                    .loss = s->losses.value[s->losses.n - 1],
                                    .accuracy = s->accuracy};
}

static void forget_past(struct lab_train_state *v)
{
    for (int i = 0; i < v->n_past; i++) {
        lab_free(v->past[i].losses.iteration);
        lab_free(v->past[i].losses.value);
    }
    v->n_past = -1;
}

/* ---- the screen ---- */

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_train_state *v = s->state;
    v->ui = s->ui;
    v->model = *(const struct lab_stepper_model *)args;
    v->asked = v->model.train_iterations;
    v->n_past = -1;
    v->character = -1;
    post(v, LAB_DO_INSPECT, 1);
    refresh(v);
    bool goes_on = v->snap.state == LAB_SESSION_TRAINING;
    if (v->snap.state == LAB_SESSION_IDLE && !v->model.train_waits)
        start(v, v->asked);
    refresh(v);
    v->compares = true;
    show_changes(v);
    /* One that goes on may have published nothing yet: with its next news. */
    v->compares = v->compares && goes_on;
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    const struct lab_command off = {.kind = LAB_DO_INSPECT, .phase = -1};
    keep_look(v);
    forget_past(v);
    if (v->model.post) /* the session may have ended, which is no news */
        (void)v->model.post(v->model.session, &off);
    if (v->snap.version)
        v->model.snapshot_release(&v->snap);
}

/* While a text lesson trains and the pane of its text is in sight, the network
 * writes by itself now and then: as often as ten times in what was asked for. */
static void write_by_itself(struct lab_train_state *v)
{
    enum { LEAST = 50 };
    const struct lab_snapshot *s = &v->snap;
    int64_t each = s->train_target / 10 > LEAST ? s->train_target / 10 : LEAST;
    int64_t last =
        v->wrote_at > s->sample_iteration ? v->wrote_at : s->sample_iteration;
    if (!s->text || v->written.w == 0 || s->state != LAB_SESSION_TRAINING ||
        s->sampling || s->iteration < (last > 0 ? last + each : 1))
        return;
    struct lab_command cmd = lab_sample_request_command(&v->model.sampling);
    v->wrote_at = s->iteration;
    send(v, &cmd);
}

static bool tick(struct lab_screen *s)
{
    bool fresh = refresh(s->state);
    if (fresh)
        show_changes(s->state);
    if (fresh)
        write_by_itself(s->state);
    return fresh;
}

static enum lab_status train_on(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    if (v->snap.state == LAB_SESSION_TRAINING)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "it is training; Esc stops it");
    else
        start(v, v->asked);
    return LAB_OK;
}

static enum lab_status write_text(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    struct lab_command cmd = lab_sample_request_command(&v->model.sampling);
    if (v->snap.text)
        send(v, &cmd);
    else
        lab_ui_message(v->ui, LAB_ROLE_DIM, "%s", lab_train_sample_not_here);
    return LAB_OK;
}

static enum lab_status ask(struct lab_screen *s, int what)
{
    static const char *const labels[] = {[ASK_ITERATIONS] = "iterations: ",
                                         [ASK_PROMPT] = "prompt: ",
                                         [ASK_TEMPERATURE] = "temperature: "};
    const struct lab_train_state *v = s->state;
    lab_ui_prompt(v->ui, what, labels[what],
                  what == ASK_PROMPT ? v->model.sampling.prompt : NULL);
    return LAB_OK;
}

static enum lab_status stop(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    if (v->snap.state == LAB_SESSION_TRAINING || v->snap.sampling)
        post(v, LAB_DO_STOP, 0);
    return LAB_OK;
}

static enum lab_status turn_log(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    v->log_scale = !train_log(v);
    v->log_chosen = true;
    return LAB_OK;
}

static enum lab_status to_page(struct lab_screen *s, int page)
{
    struct lab_train_state *v = s->state;
    if (has_page(v, (enum page)page))
        v->page = (enum page)page;
    else
        lab_ui_message(v->ui, LAB_ROLE_DIM, "%s",
                       page == PAGE_TEXT     ? lab_train_sample_not_here
                       : page == PAGE_LAYERS ? "this network has no parameters"
                       : v->snap.text        ? "a text has no classes to show "
                                               "before it is evaluated"
                                             : "the results of the batch are "
                                               "known after an iteration");
    return LAB_OK;
}

static enum lab_status turn_past(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    v->shows_past = !v->shows_past;
    if (!v->shows_past)
        return LAB_OK;
    forget_past(v); /* one may have ended meanwhile */
    v->n_past = v->model.past_runs
                    ? v->model.past_runs(v->model.user, v->past, LAB_PAST_RUNS)
                    : 0;
    v->shows_past = v->n_past > 0;
    v->page = PAGE_CURVES;
    if (v->n_past > 0)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "%d earlier run%s of this lesson over it; o takes "
                       "%s off again",
                       v->n_past, v->n_past == 1 ? "" : "s",
                       v->n_past == 1 ? "it" : "them");
    else
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "no earlier run of this lesson is recorded");
    return LAB_OK;
}

static bool train_action(struct lab_screen *s, int action)
{
    struct lab_train_state *v = s->state;
    int dir = action == LAB_ACT_PREV_PANE ? PAGES - 1 : 1;
    if (action == LAB_ACT_NEXT_PANE || action == LAB_ACT_PREV_PANE) {
        do
            v->page = (enum page)(((int)v->page + dir) % PAGES);
        while (!has_page(v, v->page));
        return true;
    }
    if (v->page != PAGE_LAYERS && v->page != PAGE_TEXT)
        return false;
    /* Of the text `top` is counted from its end, in rows of two lines. */
    bool text = v->page == PAGE_TEXT;
    int h = (v->written.h - 1) / 2;
    int64_t last = text ? v->rows[v->page] - h : v->rows[v->page] - 1;
    last = last > 0 ? last : 0;
    int64_t top = text ? last - v->top[v->page] : v->top[v->page];
    int64_t to = lab_action_move(action, top, last + 1, text ? h : 10);
    if (to < 0)
        return false;
    v->top[v->page] = (int)(text ? last - to : to);
    return true;
}

/* The cursor in the text, to the character before or the next one. */
static enum lab_status next_character(struct lab_screen *s, int by)
{
    struct lab_train_state *v = s->state;
    if (v->written.w > 0)
        v->character =
            lab_train_written_move(v->written, &v->snap, lab_ui_is_ascii(v->ui),
                                   v->character, by, &v->top[PAGE_TEXT]);
    return LAB_OK;
}

static bool train_mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_train_state *v = s->state;
    if (what == LAB_MOUSE_CLICK && lab_rect_has(v->written, y, x)) {
        v->character =
            lab_train_written_at(v->written, &v->snap, v->top[PAGE_TEXT],
                                 lab_ui_is_ascii(v->ui), y, x);
        return true;
    }
    if (what == LAB_MOUSE_CLICK && name_curve(v, y, x))
        return true;
    for (int p = 0; what == LAB_MOUSE_CLICK && p < PAGES; p++) {
        if (lab_rect_has(v->tabs[p], y, x)) {
            v->page = (enum page)p;
            return true;
        }
    }
    return false;
}

static void after(struct lab_screen *s)
{
    refresh(s->state);
}

static void take_temperature(struct lab_train_state *v, const char *text)
{
    char *end;
    double t = strtod(text, &end);
    if (end == text || *end || !(t >= 0 && t <= 100))
        lab_ui_message(v->ui, LAB_ROLE_BAD,
                       "\"%s\" is no temperature from 0 to 100", text);
    else
        v->model.sampling.temperature = t;
}

static void take_iterations(struct lab_train_state *v, const char *text)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno || end == text || *end || n < 1) {
        lab_ui_message(v->ui, LAB_ROLE_BAD,
                       "\"%s\" is not a number of iterations", text);
        return;
    }
    if (v->snap.state == LAB_SESSION_TRAINING)
        post(v, LAB_DO_STOP, 0);
    start(v, n);
}

/* Between two iterations: the training goes on. */
static void save(struct lab_train_state *v, const char *path, bool force)
{
    struct lab_command cmd = {.kind = LAB_DO_SAVE, .n = force, .phase = -1};
    snprintf(cmd.text, sizeof(cmd.text), "%s", path);
    if (send(v, &cmd))
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "the network is kept in %s",
                       path);
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_train_state *v = s->state;
    if (!text)
        return;
    if (id == ASK_SAVE) {
        save(v, v->save_to, true);
    } else if (id == ASK_ITERATIONS) {
        take_iterations(v, text);
    } else if (id == ASK_TEMPERATURE) {
        take_temperature(v, text);
    } else if (id == ASK_PROMPT) {
        snprintf(v->model.sampling.prompt, sizeof(v->model.sampling.prompt),
                 "%s", text);
        write_text(s);
    }
}

static void ask_near(struct lab_train_state *v, const char *question)
{
    struct lab_command cmd = {.kind = LAB_DO_NEAR, .phase = -1};
    snprintf(cmd.text, sizeof(cmd.text), "%s", question);
    send(v, &cmd);
}

/* The training goes on with another rate. */
static void change_lr(struct lab_train_state *v, double lr)
{
    char text[LAB_COMMAND_LR_TEXT];
    struct lab_command cmd = {.kind = LAB_DO_LR, .phase = -1, .lr = lr};
    if (isnan(lr) || isnan(v->snap.lr)) {
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                       lab_ui_command_lr_text(v->snap.lr, v->snap.rate, text));
        return;
    }
    bool fresh = v->snap.losses.n == 0 && v->snap.state != LAB_SESSION_TRAINING;
    if (send(v, &cmd))
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                       lab_ui_command_lr_set_text(lr, fresh, text));
}

static bool command(struct lab_screen *s, const struct lab_ui_command *cmd)
{
    struct lab_train_state *v = s->state;
    int64_t n = cmd->n == LAB_COMMAND_ALL ? v->model.train_iterations : cmd->n;
    switch (cmd->kind) {
    case LAB_COMMAND_STOP:
        post(v, LAB_DO_STOP, 0);
        break;
    case LAB_COMMAND_TRAIN:
        start(v, n);
        break;
    case LAB_COMMAND_SAMPLE:
        lab_sample_request_take(&v->model.sampling, cmd);
        write_text(s);
        break;
    case LAB_COMMAND_LR:
        change_lr(v, cmd->value);
        break;
    case LAB_COMMAND_SAVE:
        snprintf(v->save_to, sizeof(v->save_to), "%s", cmd->arg);
        if (!lab_train_asks_to_save(v->ui, ASK_SAVE, cmd))
            save(v, cmd->arg, cmd->arg2[0] != '\0');
        break;
    case LAB_COMMAND_NEAR:
        ask_near(v, cmd->arg);
        break;
    default:
        return false;
    }
    return true;
}

static const struct lab_binding keys[] = {
    {"t Enter", true, "train on", "train as many iterations again, from here",
     LAB_ACT_OWN, train_on},
    {"i", true, "iterations", "train this many iterations", LAB_ACT_OWN, NULL,
     ask, ASK_ITERATIONS},
    {"Esc x", true, "stop", "stop the training", LAB_ACT_OWN, stop},
    {"L", true, "log scale", "the loss on a logarithmic scale", LAB_ACT_OWN,
     turn_log},
    {"o", true, "others",
     "earlier runs of this lesson over the curve, or this one alone",
     LAB_ACT_OWN, turn_past},
    {"1", false, "curves",
     "loss, validation and learning rate; on a large terminal all pages",
     LAB_ACT_OWN, NULL, to_page, PAGE_CURVES},
    {"2", false, "layers",
     "norms of gradients and updates by node, units that are always 0",
     LAB_ACT_OWN, NULL, to_page, PAGE_LAYERS},
    {"3", false, "classes",
     "which class the validation rows come out as, and what is misread; "
     "without "
     "classes the batch, and what it should be",
     LAB_ACT_OWN, NULL, to_page, PAGE_CLASSES},
    {"4", false, "text",
     "text lessons: what it wrote, with the probability of each character",
     LAB_ACT_OWN, NULL, to_page, PAGE_TEXT},
    {"Left", false, "character",
     "on the text: the probability of a character, one to the left",
     LAB_ACT_LEFT, NULL, next_character, -1},
    {"Right", false, "character", "... one to the right; a click goes there",
     LAB_ACT_RIGHT, NULL, next_character, 1},
    {"w", false, "write",
     "text lessons: the network writes, with the parameters of this moment",
     LAB_ACT_OWN, write_text},
    {"p", false, "prompt", "text lessons: the prompt that the text continues",
     LAB_ACT_OWN, NULL, ask, ASK_PROMPT},
    {"d", false, "temp",
     "text lessons: the temperature; 0 takes the likeliest character",
     LAB_ACT_OWN, NULL, ask, ASK_TEMPERATURE},
    {"q F10", true, "stepper", "back to the stepper; the training goes on",
     LAB_ACT_BACK},
    {NULL}};

/* Of a lesson that learns from text: what it writes comes first in the bar. */
static const struct lab_binding *keys_now(const struct lab_screen *s)
{
    static struct lab_binding text_keys[sizeof(keys) / sizeof(keys[0])];
    const struct lab_train_state *v = s->state;
    return v->snap.text
               ? lab_keymap_bar(keys, "twpdEqiL", text_keys) /* E: Esc */
               : keys;
}

const struct lab_screen_ops lab_view_train = {
    .name = "train",
    .title = "training",
    .state_bytes = sizeof(struct lab_train_state),
    .bindings = keys,
    .bindings_now = keys_now,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = train_draw,
    .after = after,
    .action = train_action,
    .mouse = train_mouse,
    .tick = tick,
    .command = command,
    .answer = answer,
};
