/* text_table.c -- columns of text for a terminal or a pipe.
 *
 * Rows are added cell by cell or from a record (store/row_fields.h); then the
 * columns are as wide as their texts. On a terminal that is too narrow the
 * table is printed in parts, each with the columns that name a row. Commands
 * and HTML pages use it. */
#include "report/text_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "report/print.h"

static void add_cell(struct lab_text_table *t, char *cell)
{
    if (!cell ||
        lab_grow(&t->cells, t->count, &t->room, sizeof(*t->cells), "a table")) {
        lab_free(cell);
        t->failed = true;
        return;
    }
    t->cells[t->count++] = cell;
}

void lab_text_table_add(struct lab_text_table *t, const char *text)
{
    struct lab_str cell;
    const char *shown = text ? text : LAB_NA;
    lab_str_init(&cell);
    lab_str_add_visible(&cell, shown, strlen(shown), false);
    add_cell(t, lab_str_detach(&cell));
}

void lab_text_table_init(struct lab_text_table *t, const char *const *heads)
{
    *t = (struct lab_text_table){0};
    for (; heads[t->columns] && t->columns < LAB_TEXT_TABLE_COLUMNS;
         t->columns++) {
        const char *head = heads[t->columns];
        t->right[t->columns] = head[0] == '>';
        lab_text_table_add(t, head + (head[0] == '>'));
    }
}

void lab_text_table_release(struct lab_text_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        lab_free(t->cells[i]);
    lab_free(t->cells);
    *t = (struct lab_text_table){0};
}

void lab_text_table_addf(struct lab_text_table *t, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    lab_text_table_add(t, text);
}

void lab_text_table_add_int(struct lab_text_table *t, int64_t v)
{
    if (v == INT64_MIN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%lld", (long long)v);
}

void lab_text_table_add_real(struct lab_text_table *t, double v, int digits)
{
    if (isnan(v))
        lab_text_table_add(t, NULL);
    else if (fabs(v) >= pow(10, digits) - 0.5 && fabs(v) < 999999.5)
        lab_text_table_addf(t, "%.0f", v); /* 4110, not 4.11e+03 */
    else
        lab_text_table_addf(t, "%.*g", digits, v);
}

void lab_text_table_add_times(struct lab_text_table *t, double v)
{
    if (isnan(v))
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.2f x", v);
}

void lab_text_table_add_share(struct lab_text_table *t, double v)
{
    if (v != 0 && fabs(v) < 0.0995) /* 0.0289 %, not 0.0 % */
        lab_text_table_addf(t, "%.3g %%", 100 * v);
    else
        lab_text_table_add(t, LAB_SHARE_TEXT(v));
}

void lab_text_table_add_real_ns(struct lab_text_table *t, double ns)
{
    lab_text_table_add(t, LAB_NS_TEXT(ns));
}

void lab_text_table_add_ns(struct lab_text_table *t, int64_t ns)
{
    lab_text_table_add_real_ns(t, lab_to_real(ns));
}

void lab_text_table_add_field(struct lab_text_table *t,
                              const struct lab_field *f, const void *row)
{
    char text[256];
    double v = lab_field_real(f, row);
    const char *word;
    if (f->text || f->kind == LAB_FIELD_TEXT) {
        word = lab_field_text(f, row, text, sizeof(text));
        lab_text_table_add(t, word ? word : f->missing);
        return;
    }
    if (f->kind == LAB_FIELD_DIMS) {
        lab_text_table_add(
            t, LAB_DIMS_TEXT(
                   (const int64_t *)(const void *)((const char *)row + f->at)));
        return;
    }
    switch (f->show) {
    case LAB_SHOW_NS:
        lab_text_table_add_real_ns(t, v);
        break;
    case LAB_SHOW_BYTES:
        lab_text_table_add(t, LAB_BYTES_TEXT(v));
        break;
    case LAB_SHOW_FLOP:
        lab_text_table_add(t, LAB_AMOUNT_TEXT(v, "FLOP"));
        break;
    case LAB_SHOW_PCT:
        if (f->digits && !isnan(v))
            lab_text_table_addf(t, "%.*g %%", f->digits, v);
        else
            lab_text_table_add(t,
                               lab_format_share(v / 100, text, sizeof(text)));
        break;
    case LAB_SHOW_TIMES:
        lab_text_table_add_times(t, v);
        break;
    case LAB_SHOW_RATE:
        lab_text_table_add_real(t, v / t->unit.scale, 4);
        break;
    default:
        if (f->kind == LAB_FIELD_INT && !f->real)
            lab_text_table_add_int(t, isnan(v) ? LAB_UNKNOWN : (int64_t)v);
        else
            lab_text_table_add_real(t, v, f->digits ? f->digits : 3);
    }
}

/* Seconds an item are shown in nanoseconds, rates in thousand millions. */
static void take_unit(struct lab_rate_unit *unit,
                      const struct lab_fields *fields, const void *row)
{
    for (int i = 0; i < fields->count; i++) {
        const struct lab_field *f = &fields->list[i];
        if (!f->column || strcmp(f->column, "unit") != 0)
            continue;
        const char *text = lab_field_text(f, row, NULL, 0);
        bool time = text && strncmp(text, "s/", 2) == 0;
        unit->scale = time ? 1e-9 : 1e9;
        snprintf(unit->title, sizeof(unit->title), ">%c%.40s", time ? 'n' : 'G',
                 text ? text : "");
    }
}

void lab_text_table_begin(struct lab_text_table *t,
                          const struct lab_fields *fields, const void *row,
                          struct lab_rate_unit *unit)
{
    const char *heads[LAB_TEXT_TABLE_COLUMNS + 1] = {NULL};
    const struct lab_field *f;
    take_unit(unit, fields, row);
    for (int i = 0; (f = lab_field_at(fields, i + 1)); i++)
        heads[i] = strcmp(f->title, ">rate") == 0 ? unit->title : f->title;
    lab_text_table_init(t, heads);
    t->unit = *unit;
}

void lab_text_table_add_row(struct lab_text_table *t,
                            const struct lab_fields *fields, const void *row)
{
    for (int place = 1; place <= t->columns; place++)
        lab_text_table_add_field(t, lab_field_at(fields, place), row);
}

void lab_text_table_drop_empty(struct lab_text_table *t)
{
    size_t columns = (size_t)t->columns;
    size_t rows = columns ? t->count / columns : 0;
    if (t->failed || rows == 0 || columns == 1)
        return;
    for (size_t i = 1; i < rows; i++)
        if (t->cells[i * columns + columns - 1][0])
            return;
    size_t kept = 0;
    for (size_t i = 0; i < rows * columns; i++) {
        if (i % columns == columns - 1)
            lab_free(t->cells[i]);
        else
            t->cells[kept++] = t->cells[i];
    }
    t->count = kept;
    t->columns--;
}

static size_t width(const char *text)
{
    size_t n = strlen(text);
    size_t characters = 0;
    for (size_t i = 0; i < n; characters++) {
        unsigned code;
        size_t len = lab_utf8_next(text + i, n - i, &code);
        i += len ? len : 1;
    }
    return characters;
}

/* A table in lines: how wide each column is, and which of them a part shows. */
struct lines {
    const struct lab_text_table *t;
    size_t widest[LAB_TEXT_TABLE_COLUMNS];
    size_t most; /* of a line; 0: any */
    int lead;    /* columns that each part begins with */
    int from;    /* and those that it has of its own */
    int to;
};

/* A last column of text: broken between words where the line, which it begins at
 * column `at`, would be wider. */
static void add_last(const struct lines *l, const char *cell, size_t at,
                     struct lab_str *out)
{
    enum { LEAST = 16 };
    size_t room = l->most >= at + LEAST ? l->most - at : 0;
    while (room > 0 && width(cell) > room) {
        size_t end = 0;
        size_t wide = 0;
        for (size_t i = 0; cell[i] && wide <= room; i++) {
            end = cell[i] == ' ' ? i : end;
            wide += ((unsigned char)cell[i] & 0xC0) != 0x80;
        }
        if (end == 0)
            break;
        lab_str_addf(out, "%.*s\n%*s", (int)end, cell, (int)at, "");
        cell += end + 1;
    }
    lab_str_add(out, cell);
}

/* A row that has none of a later part's columns is left out of it. */
static bool has_cells(const struct lines *l, size_t row)
{
    const struct lab_text_table *t = l->t;
    bool any = row == 0 || l->from == 0;
    for (int c = l->from; c < l->to && !any; c++)
        any = t->cells[row * (size_t)t->columns + (size_t)c][0] != '\0';
    return any;
}

static void add_line(const struct lines *l, size_t row, struct lab_str *out)
{
    const struct lab_text_table *t = l->t;
    const bool head = row == 0 && t->bold_head;
    size_t at = 0;
    lab_str_add(out, head ? LAB_PRINT_BOLD : "");
    for (int c = 0; c < l->to; c++) {
        if (c >= l->lead && c < l->from)
            continue;
        const char *cell = t->cells[row * (size_t)t->columns + (size_t)c];
        int pad = (int)(l->widest[c] - width(cell));
        bool last = c == l->to - 1;
        if (t->right[c])
            lab_str_addf(out, "%*s", pad, "");
        if (last && !t->right[c])
            add_last(l, cell, at, out);
        else
            lab_str_add(out, cell);
        at += l->widest[c] + 2;
        if (!t->right[c] && !last)
            lab_str_addf(out, "%*s", pad, "");
        lab_str_add(out, !last ? "  " : head ? LAB_PRINT_PLAIN "\n" : "\n");
    }
}

/* Whether a column may be narrower than its text: the last one, of text. */
static bool can_wrap(const struct lines *l, int c)
{
    return c == l->t->columns - 1 && !l->t->right[c];
}

/* The next part: columns from l->to on, as many as fit. */
static void take_columns(struct lines *l)
{
    enum { WORDS = 32 }; /* columns that a text is readable in */
    size_t wide = 0;
    for (int c = 0; c < l->lead; c++)
        wide += l->widest[c] + 2;
    l->from = l->to;
    do
        wide += l->widest[l->to++] + 2;
    while (l->to < l->t->columns &&
           (l->most == 0 || wide + l->widest[l->to] <= l->most ||
            (can_wrap(l, l->to) && wide + WORDS <= l->most)));
}

/* How many columns of the first part name a row: a text, its number in front, and the
 * texts behind it that tell a row from the one before. */
static int name_columns(const struct lines *l, size_t rows)
{
    const struct lab_text_table *t = l->t;
    size_t columns = (size_t)t->columns;
    int lead = l->to > 1 && t->right[0] && !t->right[1] ? 2 : 1;
    for (size_t i = 2; i < rows; i++) {
        char *const *row = t->cells + i * columns;
        char *const *before = row - columns;
        int same = 0;
        while (same < l->to && strcmp(row[same], before[same]) == 0)
            same++;
        if (same >= lead && same < l->to && !t->right[same])
            lead = same + 1;
    }
    return lead;
}

enum lab_status lab_text_table_format(struct lab_text_table *t,
                                      struct lab_str *out)
{
    struct lines l = {.t = t, .most = t->most ? t->most : lab_print_columns()};
    size_t columns = (size_t)t->columns;
    size_t rows = t->failed || columns == 0 ? 0 : t->count / columns;
    for (size_t i = 0; i < rows * columns; i++) {
        size_t w = width(t->cells[i]);
        if (w > l.widest[i % columns])
            l.widest[i % columns] = w;
    }
    while (rows > 0 && l.to < t->columns) {
        take_columns(&l);
        for (size_t i = 0; i < rows; i++)
            if (has_cells(&l, i))
                add_line(&l, i, out);
        if (l.to == t->columns)
            break;
        lab_str_add_char(out, '\n');
        l.lead = name_columns(&l, rows);
    }
    bool failed = t->failed || out->failed;
    lab_text_table_release(t);
    return failed ? lab_no_memory("a table") : LAB_OK;
}

enum lab_status lab_print_str(struct lab_str *text)
{
    enum lab_status st = lab_str_check(text, "the output");
    if (!st && lab_print_is_ascii())
        lab_table_make_ascii(text);
    if (!st) {
        lab_print_fitted(lab_str_text(text));
        st = lab_print_check();
    }
    lab_str_release(text);
    return st;
}

enum lab_status lab_text_table_put(struct lab_text_table *t, const char *above)
{
    struct lab_str text;
    lab_str_init(&text);
    t->bold_head = lab_print_is_styled();
    lab_str_add(&text, above);
    enum lab_status st = lab_text_table_format(t, &text);
    if (!st)
        return lab_print_str(&text);
    lab_str_release(&text);
    return st;
}

void lab_table_make_ascii(struct lab_str *text)
{
    size_t to = 0;
    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->data[i];
        if (c < 0x80)
            text->data[to++] = (char)c;
        else if ((c & 0xC0) != 0x80) /* the first byte of a character */
            text->data[to++] = '?';
    }
    text->len = to;
    if (text->data)
        text->data[to] = '\0';
}
