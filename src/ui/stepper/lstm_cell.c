/* lstm_cell.c -- an LSTM's cell as one draws it: six columns, of which the gates have the
 * four in the middle, and the lines between them. */
#include "lstm_cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "engine/plan.h"

enum {
    COLUMNS = 6,
    LEAST_COLUMN = 10, /* columns of the screen */
    HEAD = 2,          /* title, and the line of marks */
    LINES = 2          /* rows between the gates and z */
};

/* ---- which part is which ---- */

/* "f" and 3 of "lstm1.f.3" in node "lstm1"; the letter 0: it is none. */
static char letter_of(const char *name, const char *node, long *number)
{
    const size_t n = strlen(node);
    char *end;
    if (strncmp(name, node, n) != 0 || name[n] != '.' || !name[n + 1] ||
        name[n + 2] != '.')
        return '\0';
    *number = strtol(name + n + 3, &end, 10);
    return *end ? '\0' : name[n + 1];
}

struct lab_lstm_cell lab_lstm_cell_find(const struct lab_plan *plan,
                                        const struct lab_board *b)
{
    static const char letters[] = "?fiaochz"; /* as enum lab_lstm_part */
    const struct lab_lstm_cell none = {0};
    struct lab_lstm_cell cell = {.n = LAB_LSTM_PARTS};
    long now = -1;
    int home = -1; /* node: the state before may be another one's */
    if (b->n != LAB_LSTM_PARTS)
        return none;
    for (int i = 0; i < LAB_LSTM_PARTS; i++)
        cell.part[i] = -1;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < b->n; i++) {
            const struct lab_tensor *t = &plan->tensors[b->part[i].tensor];
            const struct lab_node *node =
                t->node >= 0 ? &plan->nodes[t->node] : NULL;
            long number = -1;
            const char letter = node && strcmp(node->op->name, "lstm") == 0
                                    ? letter_of(t->name, node->id, &number)
                                    : '\0';
            const char *at = letter ? strchr(letters + 1, letter) : NULL;
            now = letter == 'h' ? number : now;
            home = letter == 'h' ? t->node : home;
            if (turn == 0)
                continue;
            int *slot = at && number == now && t->node == home
                            ? &cell.part[at - letters]
                            : &cell.part[LAB_LSTM_BEFORE];
            if (*slot >= 0)
                return none;
            *slot = i;
        }
    }
    return cell;
}

/* ---- where ---- */

/* Rows from the top, with pictures of h rows. */
struct rows {
    int state;  /* of the line from state to state, by their last rows */
    int in;     /* of the product of input gate and candidate */
    int out;    /* of the product with the output gate, h's first */
    int result; /* title of h */
    int gates;  /* titles */
    int lines;  /* below the gates */
    int z;      /* title */
    int end;    /* without z's picture */
};

static struct rows rows_of(int h)
{
    struct rows y = {.state = HEAD + h - 1, .result = HEAD + h};
    y.out = y.result + HEAD;
    y.gates = y.out + 2;
    y.in = (y.state + y.gates) / 2;
    y.lines = y.gates + HEAD + h;
    y.z = y.lines + LINES;
    y.end = y.z + HEAD;
    return y;
}

/* A part in `box`, its title on top, with a column for marks at the left; its cells may
 * have the one that is free at the right of the box. */
static void put(struct lab_board_at *at, struct lab_rect box,
                const struct lab_board_want *want, bool halves)
{
    int before = 1;
    struct lab_heat_room room = {
        .h = box.h - HEAD, .w = box.w + 1 - before, .halves = halves};
    struct lab_heat_grid g = lab_heat_fit(want->rows, want->cols, 0, &room);
    if (g.folded) { /* the indices of its rows */
        before = 1 + (int)snprintf(NULL, 0, "%lld", (long long)want->cols);
        room.w = box.w + 1 - before;
        g = lab_heat_fit(want->rows, want->cols, 0, &room);
    }
    *at = (struct lab_board_at){.fold = g.folded ? g.cols : 0,
                                .cells_h = g.cells_h,
                                .cells_w = g.cells_w,
                                .cell_h = g.cell_h,
                                .cell_w = g.cell_w};
    at->title = (struct lab_rect){box.y, box.x, 1, box.w};
    at->cells = (struct lab_rect){box.y + HEAD, box.x + before,
                                  lab_heat_height(&g), g.cells_w * g.cell_w};
    at->side = (struct lab_rect){at->cells.y, box.x, at->cells.h,
                                 g.folded ? before : 0};
}

/* The columns of a column, one of them free at its right. */
static struct lab_rect column(struct lab_rect r, int k, int y, int h)
{
    const int from = r.w * k / COLUMNS;
    const int to = r.w * (k + 1) / COLUMNS;
    return (struct lab_rect){r.y + y, r.x + from, h, to - from - 1};
}

static void place(struct lab_rect r, const struct lab_board_want *want,
                  const struct lab_lstm_cell *cell, bool halves, int h,
                  struct lab_board_layout *out)
{
    const struct rows y = rows_of(h);
    const int *part = cell->part;
    const int state = h + HEAD;
    const struct {
        enum lab_lstm_part part;
        struct lab_rect box;
    } boxes[] = {{LAB_LSTM_BEFORE, column(r, 0, 0, state)},
                 {LAB_LSTM_F, column(r, 1, y.gates, state)},
                 {LAB_LSTM_I, column(r, 2, y.gates, state)},
                 {LAB_LSTM_A, column(r, 3, y.gates, state)},
                 {LAB_LSTM_O, column(r, 4, y.gates, state)},
                 {LAB_LSTM_C, column(r, 5, 0, state)},
                 {LAB_LSTM_H, column(r, 5, y.result, state)},
                 {LAB_LSTM_Z, {r.y + y.z, r.x, r.h - y.z, r.w - 1}}};
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        const int k = part[boxes[i].part];
        struct lab_rect box = boxes[i].box;
        if (box.h > state)
            box.h = state;
        put(&out->at[k], box, &want[k], halves);
    }
}

bool lab_lstm_cell_place(struct lab_rect r, const struct lab_board_want *want,
                         const struct lab_lstm_cell *cell, bool halves,
                         struct lab_board_layout *out)
{
    enum { CELL_H = 3 }; /* rows of a cell, at most: more show nothing more */
    struct lab_board_layout l = {.fits = true, .drawn = true};
    const int64_t rows = want[cell->part[LAB_LSTM_C]].rows;
    int h = rows * CELL_H < r.h ? (int)rows * CELL_H : r.h;
    while (h > 0 && rows_of(h).end + (h > 1 ? h : 1) > r.h)
        h--;
    if (h < 1 || r.w < COLUMNS * LEAST_COLUMN)
        return false;
    place(r, want, cell, halves, h, &l);
    h = 1; /* rows that the pictures leave are for something else */
    for (int i = 0; i < LAB_LSTM_PARTS; i++)
        if (l.at[cell->part[i]].cells.h > h)
            h = l.at[cell->part[i]].cells.h;
    place(r, want, cell, halves, h, &l);
    *out = l;
    return true;
}

/* ---- lines ---- */

static const enum lab_role WIRE = LAB_ROLE_DIM;

static void across(struct lab_canvas *c, int y, int from, int to)
{
    for (int x = from; x <= to; x++)
        lab_canvas_text(c, y, x, 1, WIRE, "─");
}

static void down(struct lab_canvas *c, int x, int from, int to)
{
    for (int y = from; y <= to; y++)
        lab_canvas_text(c, y, x, 1, WIRE, "│");
}

static void one(struct lab_canvas *c, int y, int x, const char *glyph)
{
    lab_canvas_text(c, y, x, 1, WIRE, glyph);
}

static void operation(struct lab_canvas *c, int y, int x, const char *text)
{
    lab_canvas_text(c, y, x - 1, 3, LAB_ROLE_HEADING, text);
}

/* Element (row, unit) of a part; NaN: it is not there. */
static double value_of(const struct lab_board_view *b,
                       const struct lab_lstm_cell *cell,
                       enum lab_lstm_part part, int64_t row, int64_t unit)
{
    const struct lab_plane *p = lab_board_plane(b, cell->part[part]);
    return p && p->written && row < p->rows && unit < p->cols
               ? p->value[row * p->cols + unit]
               : NAN;
}

/* With its middle at x, in the columns on both sides that are free. */
static void number(struct lab_canvas *c, int y, int x, int free, double v)
{
    enum { DIGITS = 6 };
    const char *text = LAB_VALUE_TEXT(v, DIGITS);
    const int w = lab_canvas_columns(c, text);
    if (!isnan(v) && w / 2 <= free)
        lab_canvas_text(c, y, x - w / 2, w, LAB_ROLE_NORMAL, text);
}

/* The values of the chosen element's unit at the operations. */
static void draw_values(const struct lab_board_view *b, struct lab_canvas *c,
                        const struct lab_lstm_cell *cell, struct rows y,
                        const int *x, int sum)
{
    enum { SHORT = 6 }; /* columns of a number, as few as a value can have */
    int64_t at[LAB_MAX_RANK] = {0};
    const struct lab_plane *h = lab_board_plane(b, cell->part[LAB_LSTM_H]);
    if (b->cursor.tensor < 0 || b->cursor.index < 0 || !h)
        return;
    const struct lab_shape *shape =
        &b->snap->plan->tensors[b->cursor.tensor].shape;
    lab_shape_unravel(shape, b->cursor.index, at);
    const int64_t row = shape->rank > 1 ? at[shape->rank - 2] : 0;
    const int64_t unit = at[shape->rank - 1] % (h->cols > 0 ? h->cols : 1);
    const int half = (x[LAB_LSTM_I] - x[LAB_LSTM_F]) / 2;
    double v[LAB_LSTM_PARTS];
    for (int i = 0; i < LAB_LSTM_PARTS; i++)
        v[i] = value_of(b, cell, (enum lab_lstm_part)i, row, unit);
    number(c, y.state - 1, x[LAB_LSTM_F], half - 1,
           v[LAB_LSTM_F] * v[LAB_LSTM_BEFORE]);
    number(c, y.state - 1, sum, half - 1, v[LAB_LSTM_C]);
    number(c, y.in + 1, sum, half - 2, v[LAB_LSTM_I] * v[LAB_LSTM_A]);
    const char *text = LAB_VALUE_TEXT(tanh(v[LAB_LSTM_C]), SHORT);
    const int w = lab_canvas_columns(c, text);
    if (half >= 2 + w) /* whole, or not at all */
        lab_canvas_text(c, (y.state + y.out) / 2, x[LAB_LSTM_O] + 2, w,
                        LAB_ROLE_NORMAL, text);
}

void lab_lstm_cell_name_sections(const struct lab_board_view *b,
                                 struct lab_canvas *c,
                                 const struct lab_lstm_cell *cell)
{
    static const char *const name[] = {"a", "i", "f", "o"};
    const int part = cell->part[LAB_LSTM_Z];
    const struct lab_board_at *z = &b->layout.at[part];
    const int64_t cols = lab_board_plane(b, part)->cols;
    struct lab_reach rows;
    struct lab_reach lit;
    for (int i = 0; i < 4 && z->fold == 0; i++) {
        const int at = lab_heat_cell(cols, z->cells_w, cols / 4 * i);
        bool marked = false;
        for (int k = 0; k < b->board.part[part].n_lit; k++)
            marked =
                marked ||
                (lab_board_lit_range(&b->board.part[part], k, &rows, &lit) &&
                 lit.last - lit.first + 1 < cols &&
                 lit.first < lab_heat_first(cols, z->cells_w, at + 1) &&
                 lit.last >= lab_heat_first(cols, z->cells_w, at));
        lab_canvas_text(c, z->cells.y - 1, z->cells.x + at * z->cell_w, 1,
                        marked ? LAB_ROLE_MARK : LAB_ROLE_HEADING, name[i]);
    }
}

void lab_lstm_cell_draw(const struct lab_board_view *b, struct lab_canvas *c,
                        const struct lab_lstm_cell *cell)
{
    const struct lab_board_at *at[LAB_LSTM_PARTS];
    int x[LAB_LSTM_PARTS]; /* middles */
    for (int i = 0; i < LAB_LSTM_PARTS; i++) {
        at[i] = &b->layout.at[cell->part[i]];
        x[i] = at[i]->title.x + at[i]->title.w / 2;
    }
    const struct lab_board_at *before = at[LAB_LSTM_BEFORE];
    const int top = before->title.y;
    const int sum = (x[LAB_LSTM_I] + x[LAB_LSTM_A]) / 2;
    const struct lab_board_at *gate = at[LAB_LSTM_F];
    struct rows y = rows_of(at[LAB_LSTM_H]->title.y - top - HEAD);
    int *const row[] = {&y.state, &y.in,    &y.out, &y.result,
                        &y.gates, &y.lines, &y.z,   &y.end};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        *row[i] += top;
    /* The state, from the left to the right. */
    across(c, y.state, before->cells.x + before->cells.w + 1,
           at[LAB_LSTM_C]->cells.x - 2);
    one(c, y.state, x[LAB_LSTM_F] - 2, "▸");
    operation(c, y.state, x[LAB_LSTM_F], "(×)");
    one(c, y.state, sum - 2, "▸");
    operation(c, y.state, sum, "(+)");
    one(c, y.state, x[LAB_LSTM_O], "┬");
    one(c, y.state, at[LAB_LSTM_C]->cells.x - 2, "▸");
    /* What is kept of it, and what comes in. */
    down(c, x[LAB_LSTM_F], y.state + 2, y.gates - 1);
    one(c, y.state + 1, x[LAB_LSTM_F], "▴");
    down(c, sum, y.state + 2, y.in - 1);
    one(c, y.state + 1, sum, "▴");
    down(c, x[LAB_LSTM_I], y.in + 1, y.gates - 1);
    down(c, x[LAB_LSTM_A], y.in + 1, y.gates - 1);
    across(c, y.in, x[LAB_LSTM_I] + 1, x[LAB_LSTM_A] - 1);
    one(c, y.in, x[LAB_LSTM_I], "┌");
    one(c, y.in, x[LAB_LSTM_A], "┐");
    one(c, y.in, sum - 2, "▸");
    one(c, y.in, sum + 2, "◂");
    operation(c, y.in, sum, "(×)");
    /* What goes out. */
    down(c, x[LAB_LSTM_O], y.state + 1, y.gates - 1);
    lab_canvas_text(c, (y.state + y.out) / 2, x[LAB_LSTM_O] - 3, 4,
                    LAB_ROLE_HEADING, "tanh");
    one(c, y.out - 1, x[LAB_LSTM_O], "▾");
    operation(c, y.out, x[LAB_LSTM_O], "(×)");
    one(c, y.out + 1, x[LAB_LSTM_O], "▴");
    across(c, y.out, x[LAB_LSTM_O] + 2, at[LAB_LSTM_H]->cells.x - 2);
    one(c, y.out, at[LAB_LSTM_H]->cells.x - 2, "▸");
    /* From z to the gates. */
    y.lines = gate->cells.y + gate->cells.h;
    across(c, y.lines + 1, x[LAB_LSTM_F], x[LAB_LSTM_O]);
    for (int i = LAB_LSTM_F; i <= LAB_LSTM_O; i++) {
        one(c, y.lines, x[i], "▴");
        lab_canvas_text(c, y.lines, x[i] + 2, 7, LAB_ROLE_HEADING,
                        i == LAB_LSTM_A ? "tanh" : "σ");
        one(c, y.lines + 1, x[i],
            i == LAB_LSTM_F   ? "└"
            : i == LAB_LSTM_O ? "┘"
                              : "┴");
    }
    one(c, y.lines + 1, sum, "┬");
    draw_values(b, c, cell, y, x, sum);
}
