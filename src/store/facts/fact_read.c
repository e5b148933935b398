/* fact_read.c -- reads a table of facts from its CSV file. The file's head
 * describes the whole table; no table is known by name here. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/fact_table.h"

enum { MOST_BYTES = 1 << 20, MOST_FORMULA = 400, UNIT_BYTES = 24 };

/* What a number of a table may be counted in, and the power of time in it: a clock is
 * 1/s, and so are a rate and, of joules, a watt; cycles are a count. A year is a date,
 * and years are a time. */
static const struct {
    const char *name;
    int time;
} units[] = {
    {"1", 0},        {"count", 0},  {"share", 0},     {"%", 0},
    {"bit", 0},      {"B", 0},      {"KB", 0},        {"KiB", 0},
    {"MB", 0},       {"MiB", 0},    {"GB", 0},        {"GiB", 0},
    {"TB", 0},       {"GB/s", -1},  {"Gb/s", -1},     {"TB/s", -1},
    {"MT/s", -1},    {"MHz", -1},   {"GHz", -1},      {"s", 1},
    {"ms", 1},       {"us", 1},     {"ns", 1},        {"min", 1},
    {"h", 1},        {"d", 1},      {"cycles", 0},    {"W", -1},
    {"kW", -1},      {"V", 0},      {"A", -1},        {"J", 0},
    {"nF", 0},       {"GFLOP", 0},  {"GFLOP/s", -1},  {"TFLOP/s", -1},
    {"PFLOP/s", -1}, {"FLOP", 0},   {"TOP/s", -1},    {"FMA/clk", 0},
    {"FLOP/clk", 0}, {"FLOP/B", 0}, {"mm2", 0},       {"nm", 0},
    {"kg", 0},       {"mm", 0},     {"USD", 0},       {"million", 0},
    {"billion", 0},  {"x", 0},      {"points", 0},    {"year", 0},
    {"B/clk", 0},    {"MHz/V", -1}, {"GFLOP/s/W", 0}, {"items/s", -1},
    {"items", 0},    {"digits", 0}, {"level", 0},     {"years", 1},
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* UNITS: it is no unit that tables may use. */
static size_t find_unit(const char *unit)
{
    size_t i = 0;
    while (i < UNITS && strcmp(units[i].name, unit) != 0)
        i++;
    return i;
}

static bool is_known_unit(const char *unit)
{
    return find_unit(unit) < UNITS;
}

static void add_units(struct lab_str *out)
{
    for (size_t i = 0; i < UNITS; i++)
        lab_str_addf(out, "%s%s", i ? ", " : "", units[i].name);
}

/* ---- the file ---- */

struct reader {
    struct lab_fact_table *t;
    const char *at;
    const char *end;
    int line;
    size_t room; /* rows */
    struct lab_str cell;
};

static enum lab_status wrong(const struct reader *r, const char *fmt, ...)
    LAB_PRINTF(2, 3);

static enum lab_status wrong(const struct reader *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_failv(LAB_E_PARSE, fmt, args);
    va_end(args);
    return lab_fail_context(LAB_E_PARSE, "%s:%d", r->t->path, r->line);
}

static char *keep(struct reader *r, const char *text, size_t n)
{
    return lab_arena_text(&r->t->memory, text, n);
}

static const char *end_of_line(const struct reader *r)
{
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    return end ? end : r->end;
}

/* "name [unit]" into a column; the SQL name has the unit, as names of columns
 * have it all over the program. */
static enum lab_status read_column(struct reader *r, const char *text, size_t n,
                                   struct lab_fact_column *c)
{
    struct lab_fact_table *t = r->t;
    char sql[96];
    size_t name = 0;
    if (t->columns == LAB_FACT_COLUMNS)
        return wrong(r, "[table.columns] more than %d columns",
                     (int)LAB_FACT_COLUMNS);
    while (name < n &&
           (islower((unsigned char)text[name]) ||
            isdigit((unsigned char)text[name]) || text[name] == '_'))
        name++;
    const char *open = memchr(text, '[', n);
    if (name == 0 || name > 40 || isdigit((unsigned char)text[0]) ||
        (name < n && text[name] != ' ') || (!open && name < n) ||
        (open && (open != text + name + 1 || text[n - 1] != ']')))
        return wrong(
            r,
            "[table.column-name] \"%.*s\" is no column: a name of small "
            "letters, digits and _, and for numbers its unit: \"boost [MHz]\"",
            (int)n, text);
    *c = (struct lab_fact_column){.name = keep(r, text, name), .line = r->line};
    snprintf(sql, sizeof(sql), "%.*s", (int)name, text);
    if (open) {
        c->unit = keep(r, open + 1, (size_t)(text + n - 1 - open - 1));
        if (!c->unit)
            return lab_no_memory("a table of facts");
        if (!is_known_unit(c->unit)) {
            struct lab_str list;
            lab_str_init(&list);
            add_units(&list);
            enum lab_status st = wrong(
                r, "[table.unit] column %s: \"%s\" is no unit of these: %s",
                c->name, c->unit, lab_str_text(&list));
            lab_str_release(&list);
            return st;
        }
        size_t at = strlen(sql);
        if (strcmp(c->unit, "1") != 0 && strlen(c->unit) < UNIT_BYTES)
            snprintf(sql + at, sizeof(sql) - at, "_%s",
                     strcmp(c->unit, "%") == 0 ? "pct" : c->unit);
        for (char *p = sql; *p; p++)
            *p = *p == '/' ? '_' : (char)tolower((unsigned char)*p);
    }
    c->sql = keep(r, sql, strlen(sql));
    if (!c->sql || !c->name)
        return lab_no_memory("a table of facts");
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->column[i].name, c->name) == 0 ||
            strcmp(t->column[i].sql, c->sql) == 0)
            return wrong(r, "[table.column-twice] column %s is there twice",
                         c->sql);
    t->columns++;
    return LAB_OK;
}

/* One cell of a line into r->cell; *more: a comma follows. */
static enum lab_status read_cell(struct reader *r, bool *more)
{
    lab_str_clear(&r->cell);
    const char *end = end_of_line(r);
    if (r->at < end && *r->at == '"') {
        for (r->at++; r->at < end; r->at++) {
            if (*r->at == '"' && (r->at + 1 == end || r->at[1] != '"'))
                break;
            if (*r->at == '"')
                r->at++;
            lab_str_add_char(&r->cell, *r->at);
        }
        if (r->at == end)
            return wrong(
                r, "[table.quote] a quote is not closed: is the line cut off?");
        r->at++;
        if (r->at < end && *r->at != ',')
            return wrong(r,
                         "[table.comma] a comma has to follow a closing quote");
    } else {
        const char *start = r->at;
        while (r->at < end && *r->at != ',')
            r->at++;
        lab_str_add_bytes(&r->cell, start, (size_t)(r->at - start));
    }
    *more = r->at < end;
    if (*more)
        r->at++;
    return lab_str_check(&r->cell, "a table of facts");
}

static enum lab_status read_head(struct reader *r)
{
    struct lab_fact_table *t = r->t;
    bool source = false;
    for (bool more = true; more;) {
        enum lab_status st = read_cell(r, &more);
        if (!st)
            st = read_column(r, lab_str_text(&r->cell), r->cell.len,
                             &t->column[t->columns < LAB_FACT_COLUMNS
                                            ? t->columns
                                            : LAB_FACT_COLUMNS - 1]);
        if (st)
            return st;
        const struct lab_fact_column *c = &t->column[t->columns - 1];
        source = source || (strcmp(c->name, "source") == 0 && !c->unit);
    }
    if (t->column[0].unit)
        return wrong(r, "[table.key] the first column is the key of a row: a "
                        "text, without a unit");
    if (!source)
        return wrong(r, "[table.source] the column source is missing: the "
                        "place in the course that a row comes from");
    return LAB_OK;
}

/* "-1.5e3": decimal, and of a quantity in the range of a double. */
static bool is_number(const char *text, const char *unit, long double *out)
{
    char *end = NULL;
    *out = strtold(text, &end);
    return end != text && !*end && isfinite(*out) &&
           text[strspn(text, "0123456789.eE+-")] == '\0' && *text != '+' &&
           (strcmp(unit, "1") == 0 || isfinite((double)*out));
}

/* Neither a quantity that cannot be, nor half a core. */
static enum lab_status check_range(const struct reader *r, const char *text,
                                   const struct lab_fact_column *c,
                                   long double v)
{
    if (v < 0 && strcmp(c->unit, "1") != 0 && strcmp(c->unit, "points") != 0)
        return wrong(r,
                     "[table.negative] column %s: %s %s is less than nothing",
                     c->name, text, c->unit);
    if (strcmp(c->unit, "count") == 0 && v != floorl(v))
        return wrong(r, "[table.whole] column %s: %s is no whole number",
                     c->name, text);
    if ((strcmp(c->unit, "share") == 0 && v > 1) ||
        (strcmp(c->unit, "%") == 0 && v > 100))
        return wrong(r, "[table.part] column %s: %s is more than the whole, %s",
                     c->name, text, strcmp(c->unit, "%") == 0 ? "100 %" : "1");
    return LAB_OK;
}

static enum lab_status read_number(struct reader *r, const char *text,
                                   const struct lab_fact_column *c,
                                   long double *out)
{
    if (!is_number(text, c->unit, out))
        return wrong(r,
                     "[table.number] column %s: \"%s\" is no number; its unit, "
                     "%s, is in the head, and what is not known stays empty",
                     c->name, text, c->unit);
    return check_range(r, text, c, *out);
}

static bool has_control(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (iscntrl((unsigned char)text[i]))
            return true;
    return false;
}

static enum lab_status take_cell(struct reader *r, int row, int column)
{
    struct lab_fact_table *t = r->t;
    struct lab_fact_cell *cell = lab_fact_at(t, row, column);
    const struct lab_fact_column *c = &t->column[column];
    const char *text = lab_str_text(&r->cell);
    bool needed = column == 0 || strcmp(c->name, "source") == 0;
    *cell = (struct lab_fact_cell){.value = NAN, .was = NAN};
    if (r->cell.len == 0)
        return needed
                   ? wrong(r, "[table.cell-empty] column %s is empty", c->name)
                   : LAB_OK;
    if (lab_utf8_check(text, r->cell.len) != (size_t)-1 ||
        strlen(text) != r->cell.len)
        return wrong(r, "[table.cell-utf8] column %s is no text in UTF-8",
                     c->name);
    if (has_control(text, r->cell.len))
        return wrong(r,
                     "[table.cell-control] column %s has a control character",
                     c->name);
    if (text[0] == ' ' || text[r->cell.len - 1] == ' ')
        return wrong(r,
                     "[table.cell-blank] column %s: \"%s\" begins or ends with "
                     "a blank",
                     c->name, text);
    if (c->unit && text[0] == '@') {
        cell->recorded = keep(r, text, r->cell.len);
        return cell->recorded ? LAB_OK : lab_no_memory("a table of facts");
    }
    if (c->unit) {
        enum lab_status st = read_number(r, text, c, &cell->value);
        if (st)
            return st;
    } else if (strcmp(c->name, "unit") == 0 && !is_known_unit(text)) {
        return wrong(r, "[table.unit-value] column unit: \"%s\" is no unit",
                     text);
    }
    cell->text = keep(r, text, r->cell.len);
    return cell->text ? LAB_OK : lab_no_memory("a table of facts");
}

static enum lab_status add_row(struct reader *r)
{
    struct lab_fact_table *t = r->t;
    if (t->rows == LAB_FACT_ROWS)
        return wrong(r, "[table.rows] more than %d rows", (int)LAB_FACT_ROWS);
    if ((size_t)t->rows == r->room) {
        size_t room = r->room ? 2 * r->room : 16;
        struct lab_fact_cell *cells = lab_realloc_array(
            t->cells, room * LAB_FACT_COLUMNS, sizeof(*cells));
        int *line =
            cells ? lab_realloc_array(t->line, room, sizeof(int)) : NULL;
        t->cells = cells ? cells : t->cells;
        t->line = line ? line : t->line;
        if (!cells || !line)
            return lab_no_memory("a table of facts");
        r->room = room;
    }
    for (int i = 0; i < LAB_FACT_COLUMNS; i++)
        t->cells[t->rows * LAB_FACT_COLUMNS + i] =
            (struct lab_fact_cell){.value = NAN, .was = NAN};
    t->line[t->rows++] = r->line;
    return LAB_OK;
}

/* Before any is read: where a name is missing in the head, each cell behind it would be
 * refused as another column's. */
static enum lab_status count_cells(struct reader *r)
{
    const char *start = r->at;
    const int columns = r->t->columns;
    enum lab_status st = LAB_OK;
    int n = 0;
    for (bool more = true; !st && more; n++)
        st = read_cell(r, &more);
    r->at = start;
    if (st || n == columns)
        return st;
    return n > columns
               ? wrong(r,
                       "[table.cells-more] %d cells where the head has %d "
                       "columns: does it lack one, or has a text a comma and "
                       "no quotes?",
                       n, columns)
               : wrong(r,
                       "[table.cells-fewer] %d cells where the head has %d "
                       "columns: is the line cut off?",
                       n, columns);
}

static enum lab_status read_row(struct reader *r)
{
    struct lab_fact_table *t = r->t;
    enum lab_status st = add_row(r);
    int row = t->rows - 1;
    if (!st)
        st = count_cells(r);
    bool more = true;
    for (int column = 0; !st && more; column++) {
        st = read_cell(r, &more);
        if (!st)
            st = take_cell(r, row, column);
    }
    for (int i = 0; !st && i < row; i++)
        if (strcasecmp(lab_fact_key(t, i), lab_fact_key(t, row)) == 0)
            return wrong(
                r,
                "[table.row-twice] \"%s\" is there twice: line %d has it too",
                lab_fact_key(t, row), t->line[i]);
    return st;
}

/* ---- "#:key value" ---- */

static enum lab_status read_formula(struct reader *r, const char *text,
                                    size_t n)
{
    const char *sign = memchr(text, '=', n);
    if (!sign || n > MOST_FORMULA)
        return wrong(r,
                     "[table.formula-form] a formula is \"name [unit] = "
                     "expression\", of %d characters at most",
                     (int)MOST_FORMULA);
    size_t head = (size_t)(sign - text);
    while (head > 0 && text[head - 1] == ' ')
        head--;
    struct lab_fact_table *t = r->t;
    if (t->columns == LAB_FACT_COLUMNS)
        return wrong(r, "[table.columns-computed] more than %d columns",
                     (int)LAB_FACT_COLUMNS);
    struct lab_fact_column *c = &t->column[t->columns];
    enum lab_status st = read_column(r, text, head, c);
    if (st)
        return st;
    if (!c->unit)
        return wrong(r,
                     "[table.computed-unit] the computed column %s has no unit",
                     c->name);
    for (sign++; *sign == ' ';)
        sign++;
    c->formula = keep(r, sign, (size_t)(text + n - sign));
    return c->formula ? LAB_OK : lab_no_memory("a table of facts");
}

static enum lab_status read_key(struct reader *r, bool formulas)
{
    struct lab_fact_table *t = r->t;
    const struct {
        const char *name;
        const char **to;
        bool once;
    } keys[] = {{"course", &t->course, true},
                {"title", &t->title, true},
                {"about", &t->about, false},
                {"machine", &t->machine, true},
                {"lessons", &t->lessons, false}};
    const char *end = end_of_line(r);
    const char *text = r->at + 2;
    const char *blank = memchr(text, ' ', (size_t)(end - text));
    size_t n = (size_t)((blank ? blank : end) - text);
    const char *value = blank ? blank + 1 : end;
    size_t bytes = (size_t)(end - value);
    if (lab_utf8_check(value, bytes) != (size_t)-1)
        return wrong(r, "[table.line-utf8] the line is no text in UTF-8");
    if (has_control(value, bytes))
        return wrong(r,
                     "[table.line-control] the line has a control character");
    if (n == 7 && strncmp(text, "formula", n) == 0)
        return formulas ? read_formula(r, value, bytes) : LAB_OK;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strlen(keys[i].name) != n || strncmp(keys[i].name, text, n) != 0)
            continue;
        if (formulas)
            return LAB_OK;
        if (bytes == 0 || *value == ' ')
            return wrong(r, "[table.directive-empty] %s has no text",
                         keys[i].name);
        if (keys[i].once && **keys[i].to)
            return wrong(r, "[table.directive-twice] %s is there twice",
                         keys[i].name);
        /* About, or lessons, again goes on where it ended. */
        struct lab_str whole;
        lab_str_init(&whole);
        lab_str_addf(&whole, "%s%s", *keys[i].to, **keys[i].to ? " " : "");
        lab_str_add_bytes(&whole, value, bytes);
        *keys[i].to = keep(r, lab_str_text(&whole), whole.len);
        enum lab_status st = lab_str_check(&whole, "a table of facts");
        lab_str_release(&whole);
        return st || *keys[i].to ? st : lab_no_memory("a table of facts");
    }
    return wrong(r,
                 "[table.directive] \"%.*s\" is no key: there are course, "
                 "title, about, machine, lessons and formula",
                 (int)n, text);
}

/* ---- the whole ---- */

/* All lines; once for the head and the rows, once for the formulas, which may
 * be written above the head. */
static enum lab_status read_lines(struct reader *r, const char *text,
                                  bool formulas)
{
    enum lab_status st = LAB_OK;
    bool head = false;
    r->at = text;
    for (r->line = 1; !st && r->at < r->end; r->line++) {
        const char *end = end_of_line(r);
        if (end == r->end)
            return wrong(r, "[table.last-line] the last line has no end: is "
                            "the file cut off?");
        bool words = r->at[0] != '#' && end > r->at;
        if (r->at[0] == '#' && r->at[1] == ':')
            st = read_key(r, formulas);
        else if (words && !formulas)
            st = head ? read_row(r) : read_head(r);
        head = head || words;
        r->at = end + 1;
    }
    if (!st && !head)
        return wrong(
            r, "[table.no-head] there is no head: the names of the columns");
    return st;
}

static enum lab_status check_whole(struct reader *r)
{
    const struct lab_fact_table *t = r->t;
    r->line = 1;
    if (!t->title[0])
        return wrong(r, "[table.title] \"#:title ...\" is missing");
    if (t->rows == 0)
        return wrong(r, "[table.no-rows] the table has no rows");
    return LAB_OK;
}

static bool has_reason(const struct lab_fact_table *t, int row)
{
    int differs = lab_fact_column(t, "differs");
    return differs >= 0 && lab_fact_at(t, row, differs)->text;
}

/* A row's numbers, if a second were half as long. */
struct shorter {
    const struct lab_fact_table *t;
    int row;
};

static bool find_shorter(void *user, const char *name, long double *out)
{
    const struct shorter *s = user;
    int i = lab_fact_column(s->t, name);
    const char *unit = i < 0 ? NULL : s->t->column[i].unit;
    if (unit)
        *out = ldexpl(lab_fact_at(s->t, s->row, i)->value,
                      units[find_unit(unit)].time);
    return unit != NULL;
}

/* The unit of a formula follows from those of its columns, as far as time is in them: a
 * count that is in GB/s makes it another. 1 is no unit, and a price may be of anything. */
static enum lab_status check_formulas(struct reader *r)
{
    const struct lab_fact_table *t = r->t;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < t->columns; i++) {
        const struct lab_fact_column *c = &t->column[i];
        if (!c->formula || strcmp(c->unit, "1") == 0 ||
            strcmp(c->unit, "USD") == 0)
            continue;
        for (int row = 0; !st && row < t->rows; row++) {
            struct shorter s = {t, row};
            long double was = lab_fact_at(t, row, i)->value;
            long double wanted = ldexpl(was, units[find_unit(c->unit)].time);
            long double is = NAN;
            st = lab_fact_expression(c->formula, find_shorter, &s, &is);
            r->line = c->line;
            if (!st && isfinite(was) &&
                !(fabsl(is - wanted) <= 1e-9L * fabsl(wanted)))
                st = wrong(r,
                           "[table.formula-unit] %s = %s is not in %s: by the "
                           "units of its columns it has another power of time "
                           "(numbers in a formula have none: a time needs a "
                           "column%s)",
                           c->name, c->formula, c->unit,
                           strcmp(c->unit, "year") == 0
                               ? "; a year is a date, a time is in years"
                               : "");
        }
    }
    return st;
}

/* A factor of two either way, or another sign; NaN is far from nothing. */
static bool is_far(long double a, long double b)
{
    return a * b < 0 || fabsl(a) > 2 * fabsl(b) || fabsl(b) > 2 * fabsl(a);
}

/* What is printed is of the same kind as what is computed, and near it: a factor of two
 * is a wrong unit, or has a reason. */
static enum lab_status check_printed(struct reader *r)
{
    static const char prefix[] = "printed_";
    const struct lab_fact_table *t = r->t;
    for (int i = 0; i < t->columns; i++) {
        const struct lab_fact_column *c = &t->column[i];
        if (strncmp(c->name, prefix, strlen(prefix)) != 0)
            continue;
        int other = lab_fact_column(t, c->name + strlen(prefix));
        const char *unit = other < 0 ? NULL : t->column[other].unit;
        if (!unit || !c->unit)
            continue;
        bool pure = strcmp(unit, "1") == 0;
        r->line = c->line;
        if (strcmp(unit, c->unit) != 0)
            return wrong(r,
                         "[table.printed-unit] %s is in %s, and %s in %s: one "
                         "unit for both",
                         c->name, c->unit, t->column[other].name, unit);
        for (int row = 0; row < t->rows; row++) {
            long double printed = lab_fact_at(t, row, i)->value;
            long double value = lab_fact_at(t, row, other)->value;
            r->line = t->line[row];
            if (is_far(printed, value) && !has_reason(t, row))
                return wrong(r,
                             "[table.printed] %s is %.5Lg%s%s, and %s is "
                             "%.5Lg: is a unit wrong? A text in differs is the "
                             "reason",
                             c->name, printed, pure ? "" : " ",
                             pure ? "" : c->unit, t->column[other].name, value);
        }
    }
    return LAB_OK;
}

static void take_name(struct reader *r)
{
    const char *slash = strrchr(r->t->path, '/');
    const char *start = slash ? slash + 1 : r->t->path;
    const char *dot = strrchr(start, '.');
    r->t->name = keep(r, start, dot ? (size_t)(dot - start) : strlen(start));
}

/* As a spreadsheet writes it: a mark of the byte order first, and lines that end with
 * CR and LF. Both go; the text is the caller's (lab_free). */
static char *without_marks(const char *text, size_t *bytes)
{
    char *plain = lab_alloc(*bytes + 1);
    size_t n = 0;
    size_t from = *bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (size_t i = from; plain && i < *bytes; i++)
        if (text[i] != '\r' || i + 1 == *bytes || text[i + 1] != '\n')
            plain[n++] = text[i];
    *bytes = n;
    return plain;
}

static enum lab_status parse(struct lab_fact_table **out, const char *path,
                             const char *text, size_t bytes)
{
    struct lab_fact_table *t = lab_alloc(sizeof(*t));
    if (!t)
        return lab_no_memory("a table of facts");
    struct reader r = {.t = t, .end = text + bytes};
    lab_str_init(&r.cell);
    t->course = t->title = t->about = t->machine = t->lessons = "";
    t->path = keep(&r, path, strlen(path));
    enum lab_status st = t->path ? LAB_OK : lab_no_memory("a table of facts");
    if (!st) {
        take_name(&r);
        st = t->name ? read_lines(&r, text, false)
                     : lab_no_memory("a table of facts");
    }
    if (!st)
        st = check_whole(&r);
    if (!st)
        st = read_lines(&r, text, true);
    if (!st)
        st = lab_fact_compute(t);
    if (!st)
        st = check_formulas(&r);
    if (!st)
        st = check_printed(&r);
    lab_str_release(&r.cell);
    if (st) {
        lab_fact_free(t);
        return st;
    }
    *out = t;
    return LAB_OK;
}

enum lab_status lab_fact_parse(struct lab_fact_table **out, const char *path,
                               const char *text, size_t bytes)
{
    char *plain = without_marks(text, &bytes);
    enum lab_status st = plain ? parse(out, path, plain, bytes)
                               : lab_no_memory("a table of facts");
    lab_free(plain);
    return st;
}

/* ---- the row of the course that it names ---- */

static enum lab_status load(const char *path, char **text, size_t *size)
{
    int64_t bytes;
    int fd;
    enum lab_status st = lab_file_open(path, &fd, &bytes);
    if (st)
        return errno == ENOENT ? LAB_E_NOTFOUND : st;
    *text = bytes <= MOST_BYTES ? lab_alloc((size_t)bytes + 2) : NULL;
    if (*text)
        st = lab_file_read(fd, path, 0, *text, (size_t)bytes);
    else if (bytes > MOST_BYTES)
        st = lab_fail(LAB_E_PARSE,
                      "[table.large] %s: a table is a file of at most %d bytes",
                      path, (int)MOST_BYTES);
    else
        st = lab_no_memory("a table of facts");
    close(fd);
    *size = (size_t)bytes;
    return st;
}

/* Those of profiles/course.csv, each behind a line's end; where there is no such file,
 * none. */
static enum lab_status load_course(struct lab_str *course)
{
    struct lab_str path;
    char *text = NULL;
    size_t bytes = 0;
    lab_str_init(&path);
    enum lab_status st = lab_data_path("profiles/course.csv", &path);
    if (!st)
        st = load(lab_str_text(&path), &text, &bytes);
    if (!st) {
        lab_str_addf(course, "\n%.*s", (int)bytes, text);
        st = lab_str_check(course, "the rows of the course");
    }
    lab_free(text);
    lab_str_release(&path);
    return st == LAB_E_NOTFOUND ? LAB_OK : st;
}

static enum lab_status check_course(const struct lab_fact_table *t,
                                    struct lab_str *course)
{
    struct lab_str line;
    if (!t->course[0])
        return LAB_OK;
    enum lab_status st = course->len ? LAB_OK : load_course(course);
    if (st || !course->len)
        return st;
    lab_str_init(&line);
    lab_str_addf(&line, "\n%s,", t->course);
    st = lab_str_check(&line, "a row of the course");
    if (!st && !strstr(lab_str_text(course), lab_str_text(&line)))
        st = lab_fail(LAB_E_PARSE,
                      "[table.course] %s: the course has no row %s: "
                      "`lapenna-lab course` lists them",
                      t->path, t->course);
    lab_str_release(&line);
    return st;
}

enum lab_status lab_fact_read(struct lab_fact_table **out, const char *path,
                              struct lab_str *course)
{
    struct lab_fact_table *t = NULL;
    struct lab_str own;
    char *text = NULL;
    size_t bytes = 0;
    lab_str_init(&own);
    enum lab_status st = load(path, &text, &bytes);
    if (!st)
        st = lab_fact_parse(&t, path, text, bytes);
    lab_free(text);
    if (!st)
        st = check_course(t, course ? course : &own);
    lab_str_release(&own);
    if (st)
        lab_fact_free(t);
    else
        *out = t;
    return st;
}

void lab_fact_free(struct lab_fact_table *t)
{
    if (!t)
        return;
    lab_free(t->cells);
    lab_free(t->line);
    lab_arena_release(&t->memory);
    lab_free(t);
}
