/* fact_text.c -- a table of facts as text for a terminal, as JSON and as CSV.
 *
 * The course's reference tables and calculators (profiles/tables) are read and
 * computed by src/store; `lapenna-lab table` and the lessons that show one
 * print them with this. */
#include "report/fact_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

enum { LONG = 28, DEVICE = 18, CELL = 512, BETWEEN = 2 };

/* Columns that are written below the grid: what is long, and source. */
static bool is_long(const struct lab_fact_table *t, int column)
{
    const struct lab_fact_column *c = &t->column[column];
    if (c->unit || column == 0)
        return false;
    if (strcmp(c->name, "source") == 0 || strcmp(c->name, "differs") == 0)
        return true;
    size_t most = strcmp(c->name, "device") == 0 ? DEVICE : LONG;
    for (int row = 0; row < t->rows; row++) {
        const char *text = lab_fact_at(t, row, column)->text;
        if (text && strlen(text) > most)
            return true;
    }
    return false;
}

/* ---- the grid ---- */

/* A cell's text; a changed one has a '*'. */
static const char *cell_text(const struct lab_fact_table *t, int row,
                             int column, char out[CELL])
{
    const struct lab_fact_cell *cell = lab_fact_at(t, row, column);
    lab_fact_text(t, row, column, out, CELL - 1);
    if (!isnan(cell->was))
        strcat(out, "*");
    return out;
}

static size_t text_width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t head_width(const struct lab_fact_table *t, int column)
{
    struct lab_str head;
    lab_str_init(&head);
    lab_fact_head(t, column, &head);
    size_t n = text_width(lab_str_text(&head));
    lab_str_release(&head);
    return n;
}

static size_t column_width(const struct lab_fact_table *t, const int *shown,
                           int count, int column)
{
    char text[CELL];
    size_t n = head_width(t, column);
    for (int i = 0; i < count; i++)
        n = larger(n, text_width(cell_text(t, shown[i], column, text)));
    return n;
}

/* Columns of the grid: their numbers, and how many. */
static int grid_columns(const struct lab_fact_table *t, int list[])
{
    int n = 0;
    for (int i = 0; i < t->columns; i++)
        if (!is_long(t, i))
            list[n++] = i;
    return n;
}

/* A table of these columns, the first of them the key. */
static enum lab_status add_block(const struct lab_fact_table *t,
                                 const int *shown, int count, const int *list,
                                 int n, struct lab_str *out)
{
    struct lab_str heads[LAB_TEXT_TABLE_COLUMNS];
    const char *names[LAB_TEXT_TABLE_COLUMNS + 1] = {NULL};
    struct lab_text_table table;
    char text[CELL];
    for (int i = 0; i < n; i++) {
        lab_str_init(&heads[i]);
        if (t->column[list[i]].unit)
            lab_str_add_char(&heads[i], '>');
        lab_fact_head(t, list[i], &heads[i]);
        names[i] = lab_str_text(&heads[i]);
    }
    lab_text_table_init(&table, names);
    table.bold_head = lab_print_is_styled();
    for (int i = 0; i < count; i++)
        for (int j = 0; j < n; j++)
            lab_text_table_add(&table, cell_text(t, shown[i], list[j], text));
    for (int i = 0; i < n; i++)
        lab_str_release(&heads[i]);
    return lab_text_table_format(&table, out);
}

/* A line a column of the table, a column a row. */
static enum lab_status add_turned(const struct lab_fact_table *t,
                                  const int *shown, int count, const int *list,
                                  int n, struct lab_str *out)
{
    struct lab_str head;
    const char *names[LAB_TEXT_TABLE_COLUMNS + 1] = {t->column[0].name};
    char keys[LAB_TEXT_TABLE_COLUMNS][80];
    struct lab_text_table table;
    char text[CELL];
    for (int i = 0; i < count; i++) {
        snprintf(keys[i], sizeof(keys[i]), ">%s", lab_fact_key(t, shown[i]));
        names[i + 1] = keys[i];
    }
    lab_text_table_init(&table, names);
    table.bold_head = lab_print_is_styled();
    for (int j = 1; j < n; j++) {
        lab_str_init(&head);
        lab_fact_head(t, list[j], &head);
        lab_text_table_add(&table, lab_str_text(&head));
        lab_str_release(&head);
        for (int i = 0; i < count; i++)
            lab_text_table_add(&table, cell_text(t, shown[i], list[j], text));
    }
    return lab_text_table_format(&table, out);
}

static size_t turned_width(const struct lab_fact_table *t, const int *shown,
                           int count, const int *list, int n)
{
    char text[CELL];
    size_t all = 0;
    for (int j = 0; j < n; j++)
        all = larger(all, head_width(t, list[j]));
    for (int i = 0; i < count; i++) {
        size_t w = 0;
        for (int j = 0; j < n; j++)
            w = larger(w, text_width(cell_text(t, shown[i], list[j], text)));
        all += w + BETWEEN;
    }
    return all;
}

enum lab_status lab_fact_grid(const struct lab_fact_table *t, const int *shown,
                              int count, size_t width, struct lab_str *out)
{
    int list[LAB_FACT_COLUMNS];
    size_t widths[LAB_FACT_COLUMNS];
    int n = grid_columns(t, list);
    size_t all = 0;
    if (width == 0)
        width = SIZE_MAX;
    for (int i = 0; i < n; i++) {
        widths[i] = column_width(t, shown, count, list[i]);
        all += widths[i] + (i ? BETWEEN : 0);
    }
    if (count == 0) {
        lab_str_add(out, "no row passes the filter\n");
        return LAB_OK;
    }
    if (all <= width && n <= LAB_TEXT_TABLE_COLUMNS)
        return add_block(t, shown, count, list, n, out);
    if (count < LAB_TEXT_TABLE_COLUMNS && n > 4 &&
        turned_width(t, shown, count, list, n) <= width)
        return add_turned(t, shown, count, list, n, out);
    enum lab_status st = LAB_OK;
    for (int i = 1; !st && i < n;) {
        int block[LAB_TEXT_TABLE_COLUMNS] = {list[0]};
        int m = 1;
        size_t used = widths[0];
        if (i > 1)
            lab_str_add_char(out, '\n');
        do {
            used += widths[i] + BETWEEN;
            block[m++] = list[i++];
        } while (i < n && m < LAB_TEXT_TABLE_COLUMNS && used < width &&
                 widths[i] + BETWEEN <= width - used);
        st = add_block(t, shown, count, block, m, out);
    }
    return st;
}

/* ---- below it ---- */

static void add_changes(const struct lab_fact_table *t, const int *shown,
                        int count, struct lab_str *out)
{
    char text[CELL];
    for (int i = 0; i < count; i++)
        for (int j = 0; j < t->columns; j++) {
            const struct lab_fact_cell *cell = lab_fact_at(t, shown[i], j);
            if (!isnan(cell->was))
                lab_str_addf(out, "* %s: %s %.5Lg -> %s %s\n",
                             lab_fact_key(t, shown[i]), t->column[j].name,
                             cell->was,
                             lab_fact_text(t, shown[i], j, text, sizeof(text)),
                             t->column[j].unit);
        }
}

static bool is_new_source(const struct lab_fact_table *t, const int *shown,
                          int at, int column)
{
    const char *text = lab_fact_at(t, shown[at], column)->text;
    for (int i = 0; text && i < at; i++) {
        const char *other = lab_fact_at(t, shown[i], column)->text;
        if (other && strcmp(other, text) == 0)
            return false;
    }
    return text != NULL;
}

void lab_fact_notes(const struct lab_fact_table *t, const int *shown, int count,
                    struct lab_str *out)
{
    for (int j = 0; j < t->columns; j++)
        if (t->column[j].formula)
            lab_str_addf(out, "%s = %s\n", t->column[j].name,
                         t->column[j].formula);
    add_changes(t, shown, count, out);
    for (int j = 0; j < t->columns; j++) {
        bool source = strcmp(t->column[j].name, "source") == 0;
        if (!is_long(t, j))
            continue;
        for (int i = 0; i < count; i++) {
            const char *text = lab_fact_at(t, shown[i], j)->text;
            if (text && !source)
                lab_str_addf(out, "%s, %s: %s\n", lab_fact_key(t, shown[i]),
                             t->column[j].name, text);
            else if (source && is_new_source(t, shown, i, j))
                lab_str_addf(out, "source: %s\n", text);
        }
    }
}

/* ---- for programs ---- */

json_t *lab_fact_json(const struct lab_fact_table *t, int row)
{
    json_t *line = lab_json_new("row");
    lab_json_text(line, "table", t->name);
    for (int i = 0; i < t->columns; i++) {
        const struct lab_fact_cell *cell = lab_fact_at(t, row, i);
        const char *unit = t->column[i].unit;
        if (unit && strcmp(unit, "count") == 0 &&
            fabsl(cell->value) < INT64_MAX)
            lab_json_int(line, t->column[i].sql, (int64_t)cell->value);
        else if (unit)
            lab_json_real(line, t->column[i].sql, (double)cell->value);
        else
            lab_json_text(line, t->column[i].sql, cell->text);
    }
    return line;
}

static void add_csv(struct lab_str *out, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        lab_str_add(out, text);
        return;
    }
    lab_str_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            lab_str_add_char(out, '"');
        lab_str_add_char(out, *text);
    }
    lab_str_add_char(out, '"');
}

void lab_fact_csv(const struct lab_fact_table *t, const int *shown, int count,
                  struct lab_str *out)
{
    char number[64];
    for (int i = 0; i < t->columns; i++)
        lab_str_addf(out, "%s%s", i ? "," : "", t->column[i].sql);
    lab_str_add_char(out, '\n');
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < t->columns; j++) {
            const struct lab_fact_cell *cell = lab_fact_at(t, shown[i], j);
            if (j)
                lab_str_add_char(out, ',');
            if (cell->text) {
                add_csv(out, cell->text);
            } else if (!isnan(cell->value)) {
                snprintf(number, sizeof(number), "%.17Lg", cell->value);
                lab_str_add(out, number);
            }
        }
        lab_str_add_char(out, '\n');
    }
}

static enum lab_status add_name(void *user, struct lab_fact_table **t)
{
    struct lab_str *names = user;
    lab_str_addf(names, "%s%s", names->len ? ", " : "", (*t)->name);
    return LAB_OK;
}

enum lab_status lab_fact_of_lesson_text(const char *lesson, struct lab_str *out)
{
    struct lab_str names;
    struct lab_str text;
    lab_str_init(&names);
    lab_str_init(&text);
    enum lab_status st = lab_fact_of_lesson(lesson, add_name, &names);
    if (!st && names.len) {
        lab_str_addf(&text,
                     "Tables of the course: %s. `lapenna-lab table %.*s` shows "
                     "one, and t on the home screen all.",
                     lab_str_text(&names),
                     (int)strcspn(lab_str_text(&names), ","),
                     lab_str_text(&names));
        lab_command_spell(out, lab_str_text(&text), "`", false);
    }
    if (!st && (names.failed || text.failed))
        st = lab_no_memory("the tables of a lesson");
    lab_str_release(&text);
    lab_str_release(&names);
    return st ? st : lab_str_check(out, "the tables of a lesson");
}
