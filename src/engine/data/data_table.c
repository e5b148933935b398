/* Tables of samples, and the comma-separated reader behind digits and csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "base/str.h"
#include "data_priv.h"

void lab_samples_release(struct lab_samples *t)
{
    lab_free(t->x);
    lab_free(t->label);
    lab_free(t->target);
    lab_free(t->symbols);
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

enum { CHUNK = 1 << 16 };

struct csv {
    struct lab_data_file file;
    const char *path;
    int64_t line;
    char *text; /* the current line, without its end */
    size_t len;
    size_t room;
    char *chunk; /* what has been read and not yet been dealt out */
    size_t at;
    size_t end;
};

/* Fills the chunk; false at the end of the file or on failure (`*st`). */
static bool next_chunk(struct csv *c, enum lab_status *st)
{
    if (!c->chunk)
        c->chunk = lab_alloc(CHUNK);
    if (!c->chunk) {
        *st = lab_fail(LAB_E_NOMEM, "%s: no memory to read it", c->path);
        return false;
    }
    size_t got = 0;
    *st = lab_data_file_read(&c->file, c->chunk, CHUNK, &got);
    if (*st && *st != LAB_E_CANCELLED)
        *st = lab_fail(*st, "%s, after line %lld", lab_error(),
                       (long long)c->line);
    c->at = 0;
    c->end = got;
    return got > 0;
}

static enum lab_status add_text(struct csv *c, const char *bytes, size_t n)
{
    if (memchr(bytes, '\0', n))
        return lab_fail(LAB_E_PARSE,
                        "%s:%lld: holds a NUL byte: this is not a text file",
                        c->path, (long long)c->line + 1);
    if (n >= MAX_LINE - c->len)
        return lab_fail(LAB_E_PARSE, "%s:%lld: the line is longer than %d MiB",
                        c->path, (long long)c->line + 1, MAX_LINE >> 20);
    if (c->len + n + 1 > c->room) {
        size_t room = c->room ? c->room : 4096;
        while (room < c->len + n + 1)
            room *= 2;
        char *p = lab_realloc_array(c->text, room, 1);
        if (!p)
            return lab_fail(LAB_E_NOMEM, "%s: no memory for a line", c->path);
        c->text = p;
        c->room = room;
    }
    memcpy(c->text + c->len, bytes, n);
    c->len += n;
    c->text[c->len] = '\0';
    return LAB_OK;
}

/* Reads one line of any length. false at the end or on failure (`*st`). */
static bool next_line(struct csv *c, enum lab_status *st)
{
    bool any = false;
    c->len = 0;
    for (bool ended = false; !ended && !*st;) {
        if (c->at == c->end && !next_chunk(c, st))
            break;
        const char *from = c->chunk + c->at;
        const char *newline = memchr(from, '\n', c->end - c->at);
        size_t n = newline ? (size_t)(newline - from) : c->end - c->at;
        *st = add_text(c, from, n);
        c->at += n + (newline ? 1 : 0);
        ended = newline != NULL;
        any = true;
    }
    if (*st || !any)
        return false;
    if (c->len > 0 && c->text[c->len - 1] == '\r')
        c->text[--c->len] = '\0';
    c->line++;
    return true;
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

/* A number that is finite in double may not be in float. */
static enum lab_status store_value(float *out, const struct csv *c, double v)
{
    *out = (float)v;
    if (isfinite(*out))
        return LAB_OK;
    return lab_fail(LAB_E_RANGE,
                    "%s:%lld: %g is too large for single precision", c->path,
                    (long long)c->line, v);
}

static enum lab_status store_row(struct lab_samples *t, const struct csv *c,
                                 const double *cell, int64_t columns,
                                 const struct csv_options *o)
{
    int64_t label = o->label_column < 0 ? columns - 1 : o->label_column;
    float *x = t->x + t->rows * t->features;
    enum lab_status st = LAB_OK;
    for (int64_t i = 0, k = 0; i < columns && !st; i++) {
        if (i != label)
            st = store_value(&x[k++], c, cell[i] * o->scale);
    }
    if (!st && !o->labels)
        st = store_value(&t->target[t->rows], c, cell[label]);
    if (st || !o->labels) {
        t->rows += st == LAB_OK;
        return st;
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

/* The first row says how many columns there are. */
static enum lab_status take_columns(struct lab_samples *t, const struct csv *c,
                                    const struct csv_options *o, double **cell)
{
    int64_t columns = count_columns(c->text);
    if (o->label_column >= columns)
        return lab_fail(LAB_E_PARSE,
                        "%s:%lld: has %lld columns, numbered from 0: "
                        "label_column %lld is outside",
                        c->path, (long long)c->line, (long long)columns,
                        (long long)o->label_column);
    if (columns < 2 || columns > MAX_COLUMNS)
        return lab_fail(LAB_E_PARSE,
                        "%s:%lld: has %lld column%s; features and a label are "
                        "needed, and at most %d",
                        c->path, (long long)c->line, (long long)columns,
                        columns == 1 ? "" : "s", MAX_COLUMNS);
    t->features = columns - 1;
    *cell = lab_alloc_array((size_t)columns, sizeof(**cell));
    return *cell ? LAB_OK : lab_fail(LAB_E_NOMEM, "%s: no memory", c->path);
}

static enum lab_status read_rows(struct lab_samples *t, struct csv *c,
                                 const struct csv_options *o)
{
    enum lab_status st = LAB_OK;
    double *cell = NULL;
    int64_t room = 0;
    while (!st && next_line(c, &st)) {
        int64_t n = 0;
        if (c->text[0] == '\0' || (c->line == 1 && o->header))
            continue;
        if (!cell)
            st = take_columns(t, c, o, &cell);
        if (!st)
            st = read_row(c, cell, t->features + 1, &n);
        if (!st && n != t->features + 1)
            st = lab_fail(LAB_E_PARSE,
                          "%s:%lld: has %lld columns, the lines before it %lld",
                          c->path, (long long)c->line, (long long)n,
                          (long long)t->features + 1);
        if (!st)
            st = grow_rows(t, &room, c, o->labels);
        if (!st)
            st = store_row(t, c, cell, t->features + 1, o);
    }
    lab_free(cell);
    if (!st && t->rows == 0)
        st = lab_fail(LAB_E_PARSE, "%s: holds no rows", c->path);
    return st;
}

static enum lab_status read_csv(struct lab_samples *t, const char *path,
                                const struct csv_options *o,
                                const struct lab_stop *stop)
{
    struct csv c = {.path = path};
    struct lab_samples table = {0};
    enum lab_status st = lab_data_file_open(&c.file, path, stop);
    if (st)
        return st;
    st = read_rows(&table, &c, o);
    lab_free(c.text);
    lab_free(c.chunk);
    if (st)
        gzclose(c.file.gz);
    else
        st = lab_data_file_close(&c.file);
    if (st) {
        lab_samples_release(&table);
        return st;
    }
    *t = table;
    return LAB_OK;
}

enum lab_status lab_digits_read(struct lab_samples *t, const char *path,
                                const struct lab_stop *stop)
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
        st = read_csv(t, lab_str_text(&found), &o, stop);
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
                             bool labels, const struct lab_stop *stop)
{
    struct csv_options o = {.label_column = spec->label_column,
                            .labels = labels,
                            .header = spec->header,
                            .scale = spec->scale};
    if (!path)
        return lab_fail(LAB_E_PARSE, "data: source csv needs a path:");
    return read_csv(t, path, &o, stop);
}
