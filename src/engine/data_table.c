/* Tables of samples, and the comma-separated reader behind digits and csv. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "base/str.h"
#include "data_priv.h"

void lab_samples_release(struct lab_samples *t)
{
    lab_free(t->x);
    lab_free(t->label);
    lab_free(t->target);
    *t = (struct lab_samples){0};
}

enum lab_status lab_samples_alloc(struct lab_samples *t, bool labels,
                                  const char *file)
{
    size_t cells;
    if (lab_mul_size((size_t)t->rows, (size_t)t->features, &cells))
        t->x = lab_alloc_array(cells, sizeof(*t->x));
    if (labels)
        t->label = lab_alloc_array((size_t)t->rows, sizeof(*t->label));
    else
        t->target = lab_alloc_array((size_t)t->rows, sizeof(*t->target));
    if (t->x && (t->label || t->target))
        return LAB_OK;
    lab_samples_release(t);
    return lab_fail(LAB_E_NOMEM, "%s: no memory for its rows", file);
}

/* ---- comma-separated values, plain or gzip ---- */

enum { MAX_COLUMNS = 1 << 20, MAX_LINE = 64 << 20 };

struct csv {
    gzFile file;
    const char *path;
    int64_t line;
    char *text; /* the current line, without its end */
    size_t room;
};

/* Reads one line of any length. false at the end or on failure (`*st`). */
static bool next_line(struct csv *c, enum lab_status *st)
{
    size_t len = 0;
    for (;;) {
        if (c->room - len < 2) {
            size_t room = c->room ? c->room * 2 : 4096;
            char *p =
                room > MAX_LINE ? NULL : lab_realloc_array(c->text, room, 1);
            if (!p) {
                *st = lab_fail(LAB_E_NOMEM, "%s:%lld: the line is too long",
                               c->path, (long long)c->line + 1);
                return false;
            }
            c->text = p;
            c->room = room;
        }
        if (!gzgets(c->file, c->text + len, (int)(c->room - len)))
            break;
        len += strlen(c->text + len);
        if (len > 0 && c->text[len - 1] == '\n')
            break;
    }
    int code = Z_OK;
    const char *why = gzerror(c->file, &code);
    if (code != Z_OK && code != Z_STREAM_END) {
        *st = lab_fail(LAB_E_IO, "%s: cannot read after line %lld: %s", c->path,
                       (long long)c->line, why);
        return false;
    }
    while (len > 0 && (c->text[len - 1] == '\n' || c->text[len - 1] == '\r'))
        c->text[--len] = '\0';
    c->line++;
    return len > 0 || !gzeof(c->file);
}

static enum lab_status bad_cell(const struct csv *c, const char *cell,
                                const char *what)
{
    struct lab_str s;
    lab_str_init(&s);
    size_t n = strcspn(cell, ",");
    lab_str_add_visible(&s, cell, n < 40 ? n : 40, false);
    enum lab_status st = lab_fail(
        LAB_E_PARSE, "%s:%lld:%lld: '%s' %s", c->path, (long long)c->line,
        (long long)(cell - c->text + 1), lab_str_text(&s), what);
    lab_str_release(&s);
    return st;
}

/* Splits the current line into numbers; *n of at most max. */
static enum lab_status read_row(const struct csv *c, double *out, int64_t max,
                                int64_t *n)
{
    const char *p = c->text;
    *n = 0;
    for (;;) {
        char *end;
        double v = strtod(p, &end);
        const char *rest = end + strspn(end, " \t");
        if (end == p || (*rest != ',' && *rest != '\0'))
            return bad_cell(c, p, "is not a number");
        if (!isfinite(v))
            return bad_cell(c, p,
                            "is not finite: data must hold no NaN or inf");
        if (*n == max)
            return lab_fail(LAB_E_PARSE,
                            "%s:%lld: has more columns than the lines before "
                            "it (%lld)",
                            c->path, (long long)c->line, (long long)max);
        out[(*n)++] = v;
        if (*rest == '\0')
            return LAB_OK;
        p = rest + 1;
    }
}

static int64_t count_columns(const char *line)
{
    int64_t n = 1;
    for (; *line; line++)
        n += *line == ',';
    return n;
}

struct csv_options {
    int64_t label_column; /* -1: the last */
    bool labels;
    bool header;
    double scale;
};

static enum lab_status store_row(struct lab_samples *t, const struct csv *c,
                                 const double *cell, int64_t columns,
                                 const struct csv_options *o)
{
    int64_t label = o->label_column < 0 ? columns - 1 : o->label_column;
    float *x = t->x + t->rows * t->features;
    for (int64_t i = 0, k = 0; i < columns; i++) {
        if (i != label)
            x[k++] = (float)(cell[i] * o->scale);
    }
    if (!o->labels) {
        t->target[t->rows++] = (float)cell[label];
        return LAB_OK;
    }
    double v = cell[label];
    if (v < 0 || v != floor(v) || v > 1e6)
        return lab_fail(LAB_E_RANGE,
                        "%s:%lld: the label %g is not a whole number from 0",
                        c->path, (long long)c->line, v);
    t->label[t->rows++] = (int32_t)v;
    if ((int64_t)v + 1 > t->classes)
        t->classes = (int64_t)v + 1;
    return LAB_OK;
}

static enum lab_status grow_rows(struct lab_samples *t, int64_t *room,
                                 const struct csv *c, bool labels)
{
    if (t->rows < *room)
        return LAB_OK;
    int64_t next = *room ? *room * 2 : 1024;
    size_t cells;
    float *x = NULL;
    void *y = NULL;
    if (lab_mul_size((size_t)next, (size_t)t->features, &cells))
        x = lab_realloc_array(t->x, cells, sizeof(*x));
    if (x)
        t->x = x;
    y = lab_realloc_array(labels ? (void *)t->label : (void *)t->target,
                          (size_t)next, sizeof(float));
    if (y && labels)
        t->label = y;
    else if (y)
        t->target = y;
    if (!x || !y)
        return lab_fail(LAB_E_NOMEM, "%s: no memory for its rows", c->path);
    *room = next;
    return LAB_OK;
}

static enum lab_status read_rows(struct lab_samples *t, struct csv *c,
                                 const struct csv_options *o)
{
    enum lab_status st = LAB_OK;
    double *cell = NULL;
    int64_t columns = 0;
    int64_t room = 0;
    while (!st && next_line(c, &st)) {
        int64_t n = 0;
        if (c->text[0] == '\0' || (c->line == 1 && o->header))
            continue;
        if (!cell) {
            columns = count_columns(c->text);
            if (columns < 2 || columns > MAX_COLUMNS ||
                o->label_column >= columns) {
                st = lab_fail(LAB_E_PARSE,
                              "%s:%lld: has %lld columns; features and a label "
                              "are needed%s",
                              c->path, (long long)c->line, (long long)columns,
                              o->label_column >= columns
                                  ? ", and label_column is outside"
                                  : "");
                break;
            }
            t->features = columns - 1;
            cell = lab_alloc_array((size_t)columns, sizeof(*cell));
            if (!cell)
                st = lab_fail(LAB_E_NOMEM, "%s: no memory", c->path);
        }
        if (!st)
            st = read_row(c, cell, columns, &n);
        if (!st && n != columns)
            st = lab_fail(LAB_E_PARSE,
                          "%s:%lld: has %lld columns, the lines before it %lld",
                          c->path, (long long)c->line, (long long)n,
                          (long long)columns);
        if (!st)
            st = grow_rows(t, &room, c, o->labels);
        if (!st)
            st = store_row(t, c, cell, columns, o);
    }
    lab_free(cell);
    if (!st && t->rows == 0)
        st = lab_fail(LAB_E_PARSE, "%s: holds no rows", c->path);
    return st;
}

static enum lab_status read_csv(struct lab_samples *t, const char *path,
                                const struct csv_options *o)
{
    struct csv c = {.path = path};
    struct lab_samples table = {0};
    errno = 0;
    c.file = gzopen(path, "rb");
    if (!c.file)
        return lab_fail(LAB_E_IO, "%s: cannot open: %s", path,
                        errno ? strerror(errno) : "no memory");
    gzbuffer(c.file, 1 << 17);
    enum lab_status st = read_rows(&table, &c, o);
    lab_free(c.text);
    int closed = gzclose(c.file);
    if (!st && closed == Z_BUF_ERROR)
        st = lab_fail(LAB_E_IO, "%s: is cut short", path);
    if (st) {
        lab_samples_release(&table);
        return st;
    }
    *t = table;
    return LAB_OK;
}

enum lab_status lab_digits_read(struct lab_samples *t, const char *path)
{
    struct csv_options o = {
        .label_column = -1, .labels = true, .scale = 1 / 16.};
    struct lab_str found;
    enum lab_status st = LAB_OK;
    lab_str_init(&found);
    if (path)
        lab_str_add(&found, path);
    else
        st = lab_data_path("lessons/data/digits.csv.gz", &found);
    if (!st)
        st = read_csv(t, lab_str_text(&found), &o);
    if (!st && t->features != 64) {
        st =
            lab_fail(LAB_E_SHAPE, "%s: has %lld features a row, digits have 64",
                     lab_str_text(&found), (long long)t->features);
        lab_samples_release(t);
    }
    if (!st)
        t->image = (struct lab_shape){3, {8, 8, 1}};
    lab_str_release(&found);
    return st;
}

enum lab_status lab_csv_read(struct lab_samples *t,
                             const struct lab_data_spec *spec, const char *path,
                             bool labels)
{
    struct csv_options o = {.label_column = spec->label_column,
                            .labels = labels,
                            .header = spec->header,
                            .scale = spec->scale};
    if (!path)
        return lab_fail(LAB_E_PARSE, "data: source csv needs a path:");
    return read_csv(t, path, &o);
}
