/* view_facts.c -- one table of facts: its rows, and the columns of the row under
 * the cursor, a line each, where a number can be changed and what follows from it
 * is seen at once. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "fact_bars.h"
#include "store/fact_table.h"
#include "ui/table.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { PANE_ROWS, PANE_COLUMNS, PANE_COUNT };
enum { PROMPT_SET = 1, PROMPT_FILTER };
enum { COL_NAME, COL_VALUE, COL_WAS, COL_UNIT, COL_HOW, COL_COUNT };
enum { LEAST = 8 };

struct facts_state {
    const struct lab_tables_model *model;
    struct lab_fact_table *t;
    struct lab_str note;
    struct lab_str filter;
    int *shown; /* the rows that pass it */
    int count;
    struct lab_table rows;
    struct lab_table_ops row_ops;
    struct lab_table_column row_column[LAB_TABLE_COLUMNS];
    int row_of
        [LAB_TABLE_COLUMNS]; /* which column of the table is shown there */
    struct lab_str heads[LAB_TABLE_COLUMNS];
    struct lab_table columns;
    struct lab_table_ops column_ops;
    int pane;
};

static int chosen_row(const struct facts_state *st)
{
    int64_t row = lab_table_row(&st->rows);
    return row < 0 ? -1 : st->shown[row];
}

/* ---- the rows ---- */

static void row_cell(const void *user, int64_t row, int column, char *out,
                     size_t cap, enum lab_role *role)
{
    const struct facts_state *st = user;
    int at = st->row_of[column];
    const struct lab_fact_cell *cell = lab_fact_at(st->t, st->shown[row], at);
    lab_fact_text(st->t, st->shown[row], at, out, cap);
    if (!isnan(cell->was))
        *role = LAB_ROLE_WARN;
    else if (!cell->text && isnan(cell->value))
        *role = LAB_ROLE_DIM;
}

static int row_compare(const void *user, int64_t a, int64_t b, int column,
                       bool turned)
{
    const struct facts_state *st = user;
    int at = st->row_of[column];
    const struct lab_fact_cell *p = lab_fact_at(st->t, st->shown[a], at);
    const struct lab_fact_cell *q = lab_fact_at(st->t, st->shown[b], at);
    if (st->t->column[at].unit)
        return lab_table_compare_double((double)p->value, (double)q->value,
                                        turned);
    return strcmp(p->text ? p->text : "", q->text ? q->text : "");
}

/* Does the formula have the name as a word? */
static bool is_of(const struct lab_fact_column *c, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = c->formula; at && (at = strstr(at, name)); at += n) {
        char before = at > c->formula ? at[-1] : ' ';
        char after = at[n];
        if (!isalnum((unsigned char)before) && before != '_' &&
            !isalnum((unsigned char)after) && after != '_')
            return true;
    }
    return false;
}

static void show_column(struct facts_state *st, int column)
{
    int n = st->row_ops.column_count;
    const struct lab_fact_column *c = &st->t->column[column];
    for (int i = 0; i < n; i++)
        if (st->row_of[i] == column)
            return;
    if (n == LAB_TABLE_COLUMNS)
        return;
    lab_str_clear(&st->heads[n]);
    lab_fact_head(st->t, column, &st->heads[n]);
    int width = (int)st->heads[n].len;
    st->row_of[n] = column;
    st->row_column[n] =
        (struct lab_table_column){.title = lab_str_text(&st->heads[n]),
                                  .least = width < LEAST ? LEAST : width,
                                  .weight = c->unit ? 0 : 1,
                                  .drop = n,
                                  .right = c->unit != NULL,
                                  .turned = c->unit != NULL};
    st->row_ops.column_count++;
}

static struct lab_fact_bars bars_of(const struct facts_state *st)
{
    return (struct lab_fact_bars){.t = st->t,
                                  .shown = st->shown,
                                  .count = st->count,
                                  .chosen = chosen_row(st)};
}

/* The key, the column under the cursor, what is computed of it, and those behind
 * it. */
static void choose_columns(struct facts_state *st)
{
    int64_t row = lab_table_row(&st->columns);
    int chosen = row < 1 ? 1 : (int)row;
    int sorted = st->rows.sort < 0 ? -1 : st->row_of[st->rows.sort];
    st->rows.sort = -1;
    st->row_ops.column_count = 0;
    show_column(st, 0);
    const struct lab_fact_bars bars = bars_of(st);
    st->row_column[0].least = lab_fact_key_width(&bars);
    show_column(st, chosen);
    for (int i = 0; i < st->t->columns; i++)
        if (is_of(&st->t->column[i], st->t->column[chosen].name))
            show_column(st, i);
    for (int i = chosen + 1; i < st->t->columns; i++)
        show_column(st, i);
    for (int i = 0; i < st->row_ops.column_count; i++)
        if (st->row_of[i] == sorted)
            st->rows.sort = i;
}

static enum lab_status filter_rows(struct facts_state *st)
{
    const char *filter = lab_str_text(&st->filter);
    int *shown = NULL;
    int count = 0;
    enum lab_status status = lab_fact_select(
        st->t, &filter, st->filter.len ? 1 : 0, -1, false, &shown, &count);
    if (status)
        return status;
    lab_free(st->shown);
    st->shown = shown;
    st->count = count;
    return lab_table_set_count(&st->rows, count);
}

/* ---- the columns of a row ---- */

static void column_cell(const void *user, int64_t row, int column, char *out,
                        size_t cap, enum lab_role *role)
{
    const struct facts_state *st = user;
    const struct lab_fact_column *c = &st->t->column[row];
    int at = chosen_row(st);
    if (at < 0)
        return;
    const struct lab_fact_cell *cell = lab_fact_at(st->t, at, (int)row);
    switch (column) {
    case COL_NAME:
        snprintf(out, cap, "%s", c->name);
        break;
    case COL_VALUE:
        lab_fact_text(st->t, at, (int)row, out, cap);
        if (!isnan(cell->was))
            *role = LAB_ROLE_WARN;
        break;
    case COL_WAS:
        if (!isnan(cell->was))
            snprintf(out, cap, "%.5Lg", cell->was);
        break;
    case COL_UNIT:
        if (c->unit && strcmp(c->unit, "1") != 0)
            snprintf(out, cap, "%s", c->unit);
        *role = LAB_ROLE_DIM;
        break;
    default:
        if (c->formula)
            snprintf(out, cap, "= %s", c->formula);
        *role = LAB_ROLE_DIM;
    }
}

static const struct lab_table_column COLUMNS[COL_COUNT] = {
    [COL_NAME] = {"column", 20, 0, 0, false, false},
    [COL_VALUE] = {"value", 12, 3, 0, true, false},
    [COL_WAS] = {"was", 8, 0, 1, true, false},
    [COL_UNIT] = {"unit", 9, 0, 0, false, false},
    [COL_HOW] = {"computed", 10, 4, 2, false, false},
};

/* Where nothing is computed the values have that column's width. */
static int columns_of(const struct lab_fact_table *t)
{
    for (int i = 0; i < t->columns; i++)
        if (t->column[i].formula)
            return COL_COUNT;
    return COL_HOW;
}

/* ---- opened, drawn, closed ---- */

static enum lab_status load(struct facts_state *st, const char *name)
{
    struct lab_fact_table *t = NULL;
    lab_str_clear(&st->note);
    enum lab_status status =
        st->model->open(st->model->user, name, &t, &st->note);
    if (status)
        return status;
    lab_fact_free(st->t);
    st->t = t;
    st->column_ops.column_count = columns_of(t);
    status = filter_rows(st);
    if (!status)
        status = lab_table_set_count(&st->columns, t->columns);
    choose_columns(st);
    return status;
}

static enum lab_status facts_init(struct lab_screen *s, const void *args)
{
    struct facts_state *st = s->state;
    const struct lab_fact_args *of = args;
    st->model = of->model;
    st->row_ops =
        (struct lab_table_ops){st->row_column, 0, row_cell, row_compare};
    lab_table_init(&st->rows, &st->row_ops, st);
    st->column_ops =
        (struct lab_table_ops){COLUMNS, COL_COUNT, column_cell, NULL};
    lab_table_init(&st->columns, &st->column_ops, st);
    st->rows.empty = "No row passes the filter.";
    enum lab_status status = load(st, of->table);
    if (status)
        return status;
    lab_table_select(&st->columns, 1);
    choose_columns(st);
    return LAB_OK;
}

static void facts_release(struct lab_screen *s)
{
    struct facts_state *st = s->state;
    lab_table_release(&st->rows);
    lab_table_release(&st->columns);
    for (int i = 0; i < LAB_TABLE_COLUMNS; i++)
        lab_str_release(&st->heads[i]);
    lab_str_release(&st->note);
    lab_str_release(&st->filter);
    lab_free(st->shown);
    lab_fact_free(st->t);
}

/* The text under the cursor of the columns, where their pane may cut it; NULL: none. */
static const char *long_text(const struct facts_state *st, int row)
{
    enum { SHORT = 16 };
    int64_t column = lab_table_row(&st->columns);
    if (row < 0 || column < 0)
        return NULL;
    const char *text = lab_fact_at(st->t, row, (int)column)->text;
    bool apart = column == lab_fact_column(st->t, "differs") ||
                 column == lab_fact_column(st->t, "source");
    return text && !apart && strlen(text) > SHORT ? text : NULL;
}

static void draw_text(const struct facts_state *st, struct lab_canvas *c,
                      struct lab_rect r)
{
    int row = chosen_row(st);
    const char *whole = long_text(st, row);
    int differs = lab_fact_column(st->t, "differs");
    int source = lab_fact_column(st->t, "source");
    const char *text = NULL;
    if (row >= 0 && differs > 0)
        text = lab_fact_at(st->t, row, differs)->text;
    lab_canvas_heading(c, &r,
                       whole  ? st->t->column[lab_table_row(&st->columns)].name
                       : text ? "Differs"
                              : "About",
                       false);
    lab_rect_cut_left(&r, 1);
    if (row >= 0 && source > 0 && lab_fact_at(st->t, row, source)->text) {
        struct lab_rect last = lab_rect_cut_bottom(&r, 1);
        lab_canvas_textf(c, last.y, last.x, last.w, LAB_ROLE_DIM, "from: %s",
                         lab_fact_at(st->t, row, source)->text);
    }
    if (row >= 0 && st->t->line[row] == 0 && st->note.len)
        text = lab_str_text(&st->note);
    lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL,
                         whole  ? whole
                         : text ? text
                                : st->t->about);
}

/* The column under the cursor first where it has numbers: what the table is given only
 * while a column is chosen. */
static void draw_bars(const struct facts_state *st, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_fact_bars bars = bars_of(st);
    int first = (int)lab_table_row(&st->columns);
    if (first < 1 || !st->t->column[first].unit ||
        (st->pane != PANE_COLUMNS && !st->t->column[first].formula))
        first = -1;
    lab_fact_bars_draw(c, r, &bars, first);
}

static void facts_draw(struct lab_screen *s, struct lab_canvas *c,
                       struct lab_rect body)
{
    enum { LEAST_BARS = 6 };
    struct facts_state *st = s->state;
    int most = body.h / 2 - 1;
    int rows = st->count + 2 < most ? st->count + 2 : most;
    struct lab_rect top = lab_rect_cut_top(&body, rows < 4 ? 4 : rows);
    struct lab_rect text = lab_rect_cut_bottom(&body, body.h < 9 ? 0 : 4);
    char heading[128];
    int row = chosen_row(st);
    snprintf(heading, sizeof(heading), "Rows%s%s",
             st->filter.len ? ", filter " : "", lab_str_text(&st->filter));
    lab_canvas_heading(c, &top, heading, st->pane == PANE_ROWS);
    lab_table_draw(&st->rows, c, top, st->pane == PANE_ROWS);
    snprintf(heading, sizeof(heading), "%s",
             row < 0 ? "Columns" : lab_fact_key(st->t, row));
    int columns = st->t->columns + 3;
    if (body.h - columns >= LEAST_BARS)
        draw_bars(st, c, lab_rect_cut_bottom(&body, body.h - columns));
    lab_canvas_heading(c, &body, heading, st->pane == PANE_COLUMNS);
    lab_table_draw(&st->columns, c, body, st->pane == PANE_COLUMNS);
    if (text.h > 0)
        draw_text(st, c, text);
}

static void facts_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct facts_state *st = s->state;
    *out = (struct lab_panes){.at = {[PANE_ROWS] = {.table = &st->rows},
                                     [PANE_COLUMNS] = {.table = &st->columns}},
                              .count = PANE_COUNT,
                              .chosen = &st->pane};
}

/* The rows show the column that the cursor has moved to. */
static void facts_after(struct lab_screen *s)
{
    choose_columns(s->state);
}

/* ---- a number changed ---- */

/* The chosen row's number. */
static enum lab_status change_to(struct facts_state *st, int column,
                                 const char *value)
{
    struct lab_fact_change change;
    struct lab_str words;
    lab_str_init(&words);
    lab_str_addf(&words, "%s:%s=%s", lab_fact_key(st->t, chosen_row(st)),
                 st->t->column[column].name, value);
    enum lab_status status =
        lab_fact_change(st->t, lab_str_text(&words), &change);
    if (!status)
        status = lab_fact_set(st->t, &change);
    lab_str_release(&words);
    return status;
}

static enum lab_status chosen_number(const struct facts_state *st, int *column)
{
    *column = (int)lab_table_row(&st->columns);
    if (chosen_row(st) < 0 || *column < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-change] there is nothing to change");
    const struct lab_fact_column *c = &st->t->column[*column];
    if (c->formula)
        return lab_fail(
            LAB_E_STATE,
            "[screen.computed] %s is computed: change what it is of", c->name);
    if (!c->unit)
        return lab_fail(
            LAB_E_STATE,
            "[screen.text-value] %s is a text: Tab, then choose a number",
            c->name);
    return LAB_OK;
}

/* By a twentieth, of what is counted by one at least. */
static enum lab_status turn(struct facts_state *st, int way)
{
    char value[64];
    int column;
    enum lab_status status = chosen_number(st, &column);
    if (status)
        return status;
    int row = chosen_row(st);
    const char *unit = st->t->column[column].unit;
    long double v = lab_fact_at(st->t, row, column)->value;
    if (isnan(v))
        return lab_fail(
            LAB_E_STATE,
            "[screen.value-unknown] %s is not known here: = gives it a value",
            st->t->column[column].name);
    long double by = v / 20;
    if (strcmp(unit, "count") == 0)
        by = fmaxl(1, roundl(by));
    else if (strcmp(unit, "share") == 0)
        by = 0.05L;
    else if (v <= 0)
        by = 1;
    v = fmaxl(0, v + way * by);
    if (strcmp(unit, "share") == 0)
        v = fminl(1, v);
    snprintf(value, sizeof(value), "%.15Lg", v);
    return change_to(st, column, value);
}

static enum lab_status more(struct lab_screen *s)
{
    return turn(s->state, 1);
}

static enum lab_status less(struct lab_screen *s)
{
    return turn(s->state, -1);
}

static enum lab_status ask_value(struct lab_screen *s)
{
    struct facts_state *st = s->state;
    char label[128];
    int column;
    enum lab_status status = chosen_number(st, &column);
    if (status)
        return status;
    snprintf(label, sizeof(label),
             "%s of %s [%s]: ", st->t->column[column].name,
             lab_fact_key(st->t, chosen_row(st)), st->t->column[column].unit);
    lab_ui_prompt(s->ui, PROMPT_SET, label, NULL);
    return LAB_OK;
}

static enum lab_status ask_filter(struct lab_screen *s)
{
    lab_ui_prompt(s->ui, PROMPT_FILTER, "filter: ", NULL); /* Up: the old one */
    lab_ui_hint(s->ui,
                "boost>1500, gpu=100, or a text of any cell; empty: all");
    return LAB_OK;
}

static enum lab_status undo(struct lab_screen *s)
{
    struct facts_state *st = s->state;
    char name[64];
    snprintf(name, sizeof(name), "%s", st->t->name);
    return load(st, name);
}

static enum lab_status set_filter(struct facts_state *st, const char *text)
{
    struct lab_str before = st->filter;
    lab_str_init(&st->filter);
    lab_str_add(&st->filter, text);
    enum lab_status status = filter_rows(st);
    if (status) {
        lab_str_release(&st->filter);
        st->filter = before;
        return status;
    }
    lab_str_release(&before);
    return LAB_OK;
}

static void facts_answer(struct lab_screen *s, int id, const char *text)
{
    struct facts_state *st = s->state;
    int column;
    enum lab_status status = LAB_OK;
    if (!text)
        return;
    if (id == PROMPT_FILTER) {
        status = set_filter(st, text);
    } else if (id == PROMPT_SET) {
        status = chosen_number(st, &column);
        if (!status)
            status = change_to(st, column, text);
    }
    if (status)
        lab_ui_error(s->ui);
}

static void facts_title(struct lab_screen *s, char *out, size_t cap)
{
    const struct facts_state *st = s->state;
    snprintf(out, cap, "%s%s%s", st->t->title, st->t->course[0] ? ", " : "",
             st->t->course);
}

static const struct lab_sign SIGNS[] = {
    {"was", "the value before a number was changed"},
    {"= ...", "how a column is computed; a number it is of can be changed"},
    {NULL, NULL}};

static const struct lab_binding BINDINGS[] = {
    {"+", true, "more", "the number under the cursor a twentieth larger",
     LAB_ACT_OWN, more},
    {"-", true, "less", "and smaller", LAB_ACT_OWN, less},
    {"= e", true, "set", "give it a value", LAB_ACT_OWN, ask_value},
    {"u", true, "undo", "the table as it is", LAB_ACT_OWN, undo},
    {"f", true, "filter", "only rows for which something holds", LAB_ACT_OWN,
     ask_filter},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", false, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Tab", true, "pane", "the rows, or the columns of one", LAB_ACT_NEXT_PANE},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

const struct lab_screen_ops lab_view_facts = {
    .name = "facts",
    .title = "Table",
    .state_bytes = sizeof(struct facts_state),
    .bindings = BINDINGS,
    .init = facts_init,
    .release = facts_release,
    .draw = facts_draw,
    .panes = facts_panes,
    .after = facts_after,
    .answer = facts_answer,
    .title_now = facts_title,
    .signs = SIGNS,
};
