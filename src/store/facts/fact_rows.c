/* fact_rows.c -- what is done with the rows of a table of facts: computed,
 * changed, filtered, sorted, and written as text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/format.h"
#include "base/mem.h"
#include "store/fact_table.h"

/* How far a changed number may leave its column behind. */
static const long double farthest = 1000;

struct lab_fact_cell *lab_fact_at(const struct lab_fact_table *t, int row,
                                  int column)
{
    return &t->cells[row * LAB_FACT_COLUMNS + column];
}

const char *lab_fact_key(const struct lab_fact_table *t, int row)
{
    return lab_fact_at(t, row, 0)->text;
}

int lab_fact_column(const struct lab_fact_table *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->column[i].name, name) == 0 ||
            strcmp(t->column[i].sql, name) == 0)
            return i;
    return -1;
}

enum lab_status lab_fact_put_text(struct lab_fact_table *t, int row, int column,
                                  const char *text)
{
    char *copy = lab_arena_text(&t->memory, text, strlen(text));
    if (!copy)
        return lab_no_memory("a table of facts");
    lab_fact_at(t, row, column)->text = copy;
    return LAB_OK;
}

enum lab_status lab_fact_add_row(struct lab_fact_table *t, const char *key)
{
    size_t rows = (size_t)t->rows + 1;
    struct lab_fact_cell *cells =
        lab_realloc_array(t->cells, rows * LAB_FACT_COLUMNS, sizeof(*cells));
    if (!cells)
        return lab_no_memory("a table of facts");
    t->cells = cells;
    int *line = lab_realloc_array(t->line, rows, sizeof(int));
    if (!line)
        return lab_no_memory("a table of facts");
    t->line = line;
    for (int i = 0; i < LAB_FACT_COLUMNS; i++)
        cells[t->rows * LAB_FACT_COLUMNS + i] =
            (struct lab_fact_cell){.value = NAN, .was = NAN};
    line[t->rows] = 0;
    enum lab_status st = lab_fact_put_text(t, t->rows, 0, key);
    if (!st)
        t->rows++;
    return st;
}

/* ---- formulas ---- */

struct names {
    const struct lab_fact_table *t;
    int row;
    int column; /* which is computed: those before it have values */
};

static bool find_name(void *user, const char *name, long double *out)
{
    const struct names *n = user;
    int i = lab_fact_column(n->t, name);
    if (i < 0 || i >= n->column || !n->t->column[i].unit)
        return false;
    *out = lab_fact_at(n->t, n->row, i)->value;
    return true;
}

enum lab_status lab_fact_compute(struct lab_fact_table *t)
{
    for (int column = 0; column < t->columns; column++) {
        const struct lab_fact_column *c = &t->column[column];
        for (int row = 0; c->formula && row < t->rows; row++) {
            struct names n = {t, row, column};
            enum lab_status st = lab_fact_expression(
                c->formula, find_name, &n, &lab_fact_at(t, row, column)->value);
            if (st)
                return lab_fail_context(st, "%s:%d", t->path, c->line);
        }
    }
    return LAB_OK;
}

/* ---- one number changed ---- */

static long double largest(const struct lab_fact_table *t, int column)
{
    long double most = NAN;
    for (int row = 0; row < t->rows; row++) {
        long double v = lab_fact_at(t, row, column)->value;
        if (!isnan(v) && !(v <= most))
            most = v;
    }
    return most;
}

static enum lab_status check_value(const struct lab_fact_table *t, int column,
                                   const char *text, long double v)
{
    const struct lab_fact_column *c = &t->column[column];
    long double most = largest(t, column);
    bool share = strcmp(c->unit, "share") == 0;
    if (v < 0)
        return lab_fail(
            LAB_E_RANGE,
            "[table.value-negative] %s cannot be %s: it is not negative",
            c->name, text);
    if (share && v > 1)
        return lab_fail(LAB_E_RANGE,
                        "[table.value-share] %s is a share, 0 to 1: not %s",
                        c->name, text);
    if (strcmp(c->unit, "%") == 0 && v > 100)
        return lab_fail(
            LAB_E_RANGE,
            "[table.value-percent] %s is in per cent, 0 to 100: not %s",
            c->name, text);
    if (strcmp(c->unit, "count") == 0 && v != floorl(v))
        return lab_fail(LAB_E_RANGE,
                        "[table.value-whole] %s is a whole number: not %s",
                        c->name, text);
    if (!share && v >= farthest * fmaxl(most, 1))
        return lab_fail(LAB_E_RANGE,
                        "[table.value-large] %s = %s %s: the column's largest "
                        "is %.5Lg; is the unit right?",
                        c->name, text, c->unit, most);
    return LAB_OK;
}

enum lab_status lab_fact_change(const struct lab_fact_table *t,
                                const char *text, struct lab_fact_change *out)
{
    char name[64];
    const char *sign = strrchr(text, '=');
    if (!sign)
        return lab_fail(LAB_E_USAGE,
                        "[table.change] \"%s\" is no change: COLUMN=VALUE, or "
                        "ROW:COLUMN=VALUE",
                        text);
    const char *colon = NULL;
    for (const char *p = text; p < sign; p++)
        colon = *p == ':' ? p : colon;
    const char *start = colon ? colon + 1 : text;
    struct lab_fact_change change = {.row = colon ? text : NULL};
    if (colon)
        change.row_bytes = (int)(colon - text);
    snprintf(name, sizeof(name), "%.*s", (int)(sign - start), start);
    change.column = lab_fact_column(t, name);
    if (change.column < 0 || !t->column[change.column].unit ||
        t->column[change.column].formula) {
        struct lab_str list;
        lab_str_init(&list);
        for (int i = 0; i < t->columns; i++)
            if (t->column[i].unit && !t->column[i].formula)
                lab_str_addf(&list, " %s", t->column[i].name);
        enum lab_status st =
            lab_fail(LAB_E_USAGE,
                     "[table.change-column] \"%s\" is no column of given "
                     "numbers of %s: it has%s",
                     name, t->name, list.len ? lab_str_text(&list) : " none");
        lab_str_release(&list);
        return st;
    }
    char *end = NULL;
    change.value = strtold(sign + 1, &end);
    if (end == sign + 1 || *end || !isfinite(change.value))
        return lab_fail(LAB_E_USAGE,
                        "[table.change-number] \"%s\" is no number", sign + 1);
    enum lab_status st = check_value(t, change.column, sign + 1, change.value);
    if (!st)
        *out = change;
    return st;
}

enum lab_status lab_fact_set(struct lab_fact_table *t,
                             const struct lab_fact_change *change)
{
    size_t cells = (size_t)t->rows * LAB_FACT_COLUMNS;
    bool found = false;
    long double *before = lab_alloc_array(cells, sizeof(*before));
    if (!before)
        return lab_no_memory("a table of facts");
    for (size_t i = 0; i < cells; i++)
        before[i] = t->cells[i].value;
    for (int row = 0; row < t->rows; row++) {
        const char *key = lab_fact_key(t, row);
        size_t n = (size_t)change->row_bytes;
        if (change->row &&
            (strncasecmp(change->row, key, n) != 0 || strlen(key) != n))
            continue;
        struct lab_fact_cell *cell = lab_fact_at(t, row, change->column);
        cell->value = change->value;
        cell->text = NULL;
        found = true;
    }
    enum lab_status st =
        found ? lab_fact_compute(t)
              : lab_fail(LAB_E_USAGE,
                         "[table.change-row] %s has no row \"%.*s\"", t->name,
                         change->row_bytes, change->row ? change->row : "");
    for (size_t i = 0; i < cells; i++) {
        struct lab_fact_cell *cell = &t->cells[i];
        if (isnan(cell->was) && before[i] != cell->value && !isnan(before[i]))
            cell->was = before[i];
    }
    lab_free(before);
    return st;
}

/* ---- filter and order ---- */

static bool contains(const char *text, const char *part)
{
    return text && strcasestr(text, part) != NULL;
}

static bool any_contains(const struct lab_fact_table *t, int row,
                         const char *part)
{
    char text[LAB_FORMAT_BYTES];
    for (int i = 0; i < t->columns; i++) {
        const struct lab_fact_cell *cell = lab_fact_at(t, row, i);
        if (cell->text
                ? contains(cell->text, part)
                : contains(lab_fact_text(t, row, i, text, sizeof(text)), part))
            return true;
    }
    return false;
}

struct condition {
    int column; /* -1: any */
    char sign[3];
    const char *value;
    long double number; /* NaN: a text */
};

static enum lab_status read_condition(const struct lab_fact_table *t,
                                      const char *text, struct condition *out)
{
    size_t n = strcspn(text, "<>=!");
    char name[64];
    *out = (struct condition){.column = -1, .value = text, .number = NAN};
    snprintf(name, sizeof(name), "%.*s", (int)n, text);
    while (n > 0 && name[0] && name[strlen(name) - 1] == ' ')
        name[strlen(name) - 1] = '\0';
    if (!text[n])
        return LAB_OK;
    out->column = lab_fact_column(t, name);
    if (out->column < 0)
        return lab_fail(
            LAB_E_USAGE,
            "[table.filter-column] %s has no column \"%s\" to filter by",
            t->name, name);
    size_t signs = strspn(text + n, "<>=!");
    if (signs > 2 || (signs == 2 && text[n + 1] != '=') ||
        (signs == 1 && text[n] == '!'))
        return lab_fail(
            LAB_E_USAGE,
            "[table.filter] filter \"%s\": one of = != < > <= >=", text);
    memcpy(out->sign, text + n, signs);
    out->value = text + n + signs;
    while (*out->value == ' ')
        out->value++;
    if (!t->column[out->column].unit) {
        if (strchr("<>", out->sign[0]))
            return lab_fail(
                LAB_E_USAGE,
                "[table.filter-text] column %s holds texts: = or !=", name);
        return LAB_OK;
    }
    char *end = NULL;
    out->number = strtold(out->value, &end);
    return end == out->value || *end
               ? lab_fail(
                     LAB_E_USAGE,
                     "[table.filter-number] filter \"%s\": \"%s\" is no number",
                     text, out->value)
               : LAB_OK;
}

static bool passes(const struct lab_fact_table *t, int row,
                   const struct condition *c)
{
    if (c->column < 0)
        return any_contains(t, row, c->value);
    const struct lab_fact_cell *cell = lab_fact_at(t, row, c->column);
    bool not = c->sign[0] == '!';
    if (isnan(c->number))
        return contains(cell->text, c->value) != not ;
    if (isnan(cell->value))
        return not ;
    long double v = cell->value;
    bool same = fabsl(v - c->number) <= 1e-9L * fabsl(c->number);
    switch (c->sign[0]) {
    case '<':
        return v < c->number || (c->sign[1] && same);
    case '>':
        return v > c->number || (c->sign[1] && same);
    default:
        return same != not ;
    }
}

struct order {
    const struct lab_fact_table *t;
    int sort;
    bool reverse;
};

/* Unknown ones come last either way. */
static int compare(const struct order *o, int a, int b)
{
    const struct lab_fact_cell *p = lab_fact_at(o->t, a, o->sort);
    const struct lab_fact_cell *q = lab_fact_at(o->t, b, o->sort);
    int way = 0;
    if (!o->t->column[o->sort].unit) {
        if (!p->text || !q->text)
            return (p->text == NULL) - (q->text == NULL);
        way = strcasecmp(p->text, q->text);
    } else {
        if (isnan(p->value) || isnan(q->value))
            return isnan(p->value) - isnan(q->value);
        way = (p->value > q->value) - (p->value < q->value);
    }
    return o->reverse ? -way : way;
}

enum lab_status lab_fact_select(const struct lab_fact_table *t,
                                const char *const *filters, int n_filters,
                                int sort, bool reverse, int **shown, int *count)
{
    int *rows = lab_alloc_array((size_t)t->rows + 1, sizeof(*rows));
    int n = 0;
    enum lab_status st = rows ? LAB_OK : lab_no_memory("a table of facts");
    for (int row = 0; !st && row < t->rows; row++)
        rows[n++] = row;
    for (int i = 0; !st && i < n_filters; i++) {
        struct condition c;
        int left = 0;
        st = read_condition(t, filters[i], &c);
        for (int j = 0; !st && j < n; j++)
            if (passes(t, rows[j], &c))
                rows[left++] = rows[j];
        n = left;
    }
    const struct order o = {t, sort, reverse};
    /* By insertion: stable, and tables are small. */
    for (int i = 1; !st && sort >= 0 && i < n; i++) {
        int row = rows[i];
        int j = i;
        for (; j > 0 && compare(&o, rows[j - 1], row) > 0; j--)
            rows[j] = rows[j - 1];
        rows[j] = row;
    }
    if (st) {
        lab_free(rows);
        return st;
    }
    *shown = rows;
    *count = n;
    return LAB_OK;
}

/* ---- as text ---- */

const char *lab_fact_text(const struct lab_fact_table *t, int row, int column,
                          char *out, size_t cap)
{
    const struct lab_fact_cell *cell = lab_fact_at(t, row, column);
    if (cell->text)
        snprintf(out, cap, "%s", cell->text);
    else if (isnan(cell->value))
        snprintf(out, cap, LAB_NA);
    else if (fabsl(cell->value) >= 1e5L && fabsl(cell->value) < 1e9L)
        snprintf(out, cap, "%.0Lf", cell->value);
    else
        snprintf(out, cap, "%.5Lg", cell->value);
    return out;
}

void lab_fact_head(const struct lab_fact_table *t, int column,
                   struct lab_str *out)
{
    const struct lab_fact_column *c = &t->column[column];
    for (const char *p = c->name; *p; p++)
        lab_str_add_char(out, *p == '_' ? ' ' : *p);
    if (c->unit && strcmp(c->unit, "1") != 0 && strcmp(c->unit, "count") != 0)
        lab_str_addf(out, " [%s]", c->unit);
}
