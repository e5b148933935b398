/* view_tables.c -- the list of the course's reference tables and calculators.
 *
 * Opened by a key of the home screen; Enter opens a table in view_facts.c. */
#include <stdio.h>
#include <string.h>

#include "fact_bars.h"
#include "store/fact_table.h"
#include "ui/table.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { COL_NAME, COL_COURSE, COL_ROWS, COL_TITLE, COL_COUNT };

struct tables_state {
    const struct lab_tables_model *model;
    struct lab_fact_table *const *tables;
    int count;
    struct lab_table table;
};

static const struct lab_table_column COLUMNS[COL_COUNT] = {
    [COL_NAME] = {"name", 16, 0, 0, false, false},
    [COL_COURSE] = {"row", 4, 0, 2, false, false},
    [COL_ROWS] = {"rows", 5, 0, 1, true, true},
    [COL_TITLE] = {"what", 20, 1, 0, false, false},
};

static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct tables_state *st = user;
    const struct lab_fact_table *t = st->tables[row];
    switch (column) {
    case COL_NAME:
        snprintf(out, cap, "%s", t->name);
        break;
    case COL_COURSE:
        snprintf(out, cap, "%s", t->course);
        *role = LAB_ROLE_DIM;
        break;
    case COL_ROWS:
        snprintf(out, cap, "%d", t->rows);
        break;
    default:
        snprintf(out, cap, "%s", t->title);
    }
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct tables_state *st = user;
    char left[LAB_TABLE_CELL_BYTES];
    char right[LAB_TABLE_CELL_BYTES];
    enum lab_role role = LAB_ROLE_NORMAL;
    if (column == COL_ROWS)
        return lab_table_compare_int(st->tables[a]->rows, st->tables[b]->rows,
                                     turned);
    cell(user, a, column, left, sizeof(left), &role);
    cell(user, b, column, right, sizeof(right), &role);
    return strcmp(left, right);
}

static const struct lab_table_ops OPS = {COLUMNS, COL_COUNT, cell, compare};

static enum lab_status tables_init(struct lab_screen *s, const void *args)
{
    struct tables_state *st = s->state;
    st->model = args;
    lab_table_init(&st->table, &OPS, st);
    st->table.empty = "No tables are installed.";
    enum lab_status status =
        st->model->load(st->model->user, &st->tables, &st->count);
    return status ? status : lab_table_set_count(&st->table, st->count);
}

static void tables_release(struct lab_screen *s)
{
    struct tables_state *st = s->state;
    lab_table_release(&st->table);
}

enum {
    CELL_BYTES = 256,
    PREVIEW_W = 150,
    LIST_W = 96,
    GAP = 2
}; /* beside the list from so wide on */

/* As wide as the widest cell, or its heading. */
static int column_width(const struct lab_fact_table *t, int column)
{
    char text[CELL_BYTES];
    struct lab_str head;
    lab_str_init(&head);
    lab_fact_head(t, column, &head);
    int w = (int)head.len;
    lab_str_release(&head);
    for (int i = 0; i < t->rows; i++) {
        lab_fact_text(t, i, column, text, sizeof(text));
        int n = lab_text_columns(text, strlen(text), false);
        w = n > w ? n : w;
    }
    return w;
}

/* A column of the table: its head, then the rows that fit, numbers at the right. */
static void draw_column(const struct lab_fact_table *t, int column, int w,
                        struct lab_canvas *c, struct lab_rect at)
{
    char text[CELL_BYTES];
    struct lab_str head;
    lab_str_init(&head);
    lab_fact_head(t, column, &head);
    bool number = t->column[column].unit != NULL;
    for (int y = -1; y < t->rows && y + 1 < at.h; y++) {
        const char *cell = lab_str_text(&head);
        if (y >= 0)
            cell = lab_fact_text(t, y, column, text, sizeof(text));
        int used = lab_canvas_columns(c, cell);
        lab_canvas_text_cut(c, at.y + 1 + y,
                            at.x + (number && used < w ? w - used : 0),
                            w < at.w ? w : at.w,
                            y < 0 ? LAB_ROLE_HEADING : LAB_ROLE_NORMAL, cell);
    }
    lab_str_release(&head);
}

/* The key and the columns from *first on that fit, one at least, which may be cut; then
 * *first is the next one. */
static void draw_block(const struct lab_fact_table *t, struct lab_canvas *c,
                       struct lab_rect r, int *first)
{
    const int key = column_width(t, 0);
    draw_column(t, 0, key, c, lab_rect_cut_left(&r, key + GAP));
    for (bool any = false; *first < t->columns && r.w > 0; any = true) {
        int w = column_width(t, *first);
        if (any && w > r.w)
            return;
        draw_column(t, *first, w, c, lab_rect_cut_left(&r, w + GAP));
        ++*first;
    }
}

/* All columns where they have room, in several blocks one below the other; of a table
 * that is higher those that fit, and the rows that fit. */
static void draw_cells(const struct lab_fact_table *t, struct lab_canvas *c,
                       struct lab_rect *r)
{
    const int rows = t->rows + 1;
    for (int next = 1; next < t->columns && r->h > 1;) {
        draw_block(t, c, lab_rect_cut_top(r, rows), &next);
        lab_rect_cut_top(r, 1);
        if (r->h < rows)
            return;
    }
}

/* How columns are computed of others. */
static void draw_formulas(const struct lab_fact_table *t, struct lab_canvas *c,
                          struct lab_rect *r)
{
    bool any = false;
    for (int i = 0; i < t->columns && r->h > 1; i++) {
        const struct lab_fact_column *of = &t->column[i];
        struct lab_str text;
        if (!of->formula)
            continue;
        if (!any)
            lab_canvas_heading(c, r, "Computed", false);
        any = true;
        lab_str_init(&text);
        lab_str_addf(&text, " %s = %s", of->name, of->formula);
        lab_rect_cut_top(r, lab_canvas_paragraph(c, *r, LAB_ROLE_NORMAL,
                                                 lab_str_text(&text)));
        lab_str_release(&text);
    }
    lab_rect_cut_top(r, any);
}

/* What the chosen table is about, its cells, how they are computed, and its numbers as
 * bars, as far as there is room. */
static void draw_preview(const struct lab_fact_table *t, struct lab_canvas *c,
                         struct lab_rect r)
{
    const struct lab_fact_bars bars = {.t = t, .count = t->rows, .chosen = -1};
    lab_canvas_heading(c, &r, t->title, false);
    lab_rect_cut_left(&r, 1);
    lab_rect_cut_top(&r,
                     lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, t->about) + 1);
    if (t->lessons && t->lessons[0]) {
        struct lab_rect last = lab_rect_cut_bottom(&r, 1);
        lab_canvas_textf(c, last.y, last.x, last.w, LAB_ROLE_DIM, "used by: %s",
                         t->lessons);
    }
    draw_cells(t, c, &r);
    draw_formulas(t, c, &r);
    if (r.h > bars.count)
        lab_fact_bars_draw(c, r, &bars, -1);
}

/* A table that is missing from the list, below it. */
static void draw_problem(const struct tables_state *st, struct lab_canvas *c,
                         struct lab_rect *body)
{
    const char *problem =
        st->model->problem ? st->model->problem(st->model->user) : NULL;
    enum { MOST_ROWS = 3 }; /* the file, the line and the column */
    struct lab_str text;
    if (!problem)
        return;
    lab_str_init(&text);
    lab_str_addf(&text, "Not in the list: %s", problem);
    int rows =
        lab_canvas_paragraph_rows(c, body->w, MOST_ROWS, lab_str_text(&text));
    lab_canvas_paragraph(c, lab_rect_cut_bottom(body, rows), LAB_ROLE_WARN,
                         lab_str_text(&text));
    lab_str_release(&text);
}

static void tables_draw(struct lab_screen *s, struct lab_canvas *c,
                        struct lab_rect body)
{
    struct tables_state *st = s->state;
    draw_problem(st, c, &body);
    int64_t row = lab_table_row(&st->table);
    bool wide = body.w >= PREVIEW_W;
    struct lab_rect list = wide ? lab_rect_cut_left(&body, LIST_W) : body;
    struct lab_rect about =
        wide ? body : lab_rect_cut_bottom(&list, list.h < 12 ? 0 : 4);
    lab_table_draw(&st->table, c, list, true);
    if (row < 0 || about.h == 0)
        return;
    if (wide) {
        lab_rect_cut_left(&about, 1);
        draw_preview(st->tables[row], c, about);
        return;
    }
    lab_canvas_heading(c, &about, st->tables[row]->title, false);
    lab_rect_cut_left(&about, 1);
    lab_canvas_paragraph(c, about, LAB_ROLE_NORMAL, st->tables[row]->about);
}

static void tables_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct tables_state *st = s->state;
    out->at[0].table = &st->table;
    out->click_opens = true;
}

static enum lab_status open_table(struct lab_screen *s)
{
    struct tables_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    if (row < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.nothing] there is nothing to open");
    const struct lab_fact_args args = {st->model, st->tables[row]->name};
    return lab_ui_push(s->ui, &lab_view_facts, &args);
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "the table", LAB_ACT_OPEN, open_table},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", true, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

const struct lab_screen_ops lab_view_tables = {
    .name = "tables",
    .title = "Tables",
    .state_bytes = sizeof(struct tables_state),
    .bindings = BINDINGS,
    .init = tables_init,
    .release = tables_release,
    .draw = tables_draw,
    .panes = tables_panes,
};
