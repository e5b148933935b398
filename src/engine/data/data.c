/* data.c -- the samples of a lesson: opens its source, checks it, fills a
 * batch.
 *
 * First the sources: tables of numbers in files (CSV, the digits, MNIST), words
 * and text with its windows, and the data that are made, not read: strings and
 * their reverse, and Fibonacci's numbers. */
#include "engine/data.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/datadir.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "common/random.h"
#include "data_priv.h"
#include "engine/vocabulary.h"

/* ---- tables in files, and the file, plain or gzip, that every source reads ---- */

/* Tables of samples, and the comma-separated reader behind digits and csv. */

static enum lab_status alloc_samples(struct lab_samples *t, bool labels,
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
    return lab_fail(LAB_E_NOMEM, "%s: no memory for its rows", file);
}

/* ---- a file, plain or gzip ---- */

enum { CHUNK = 1 << 16, MOST_BYTES = 256 << 20 /* of one file, unpacked */ };

/* A regular file only, with an end to what it may unpack to, and a look at the
 * stop flag before each piece. */
struct data_file {
    gzFile gz;
    const char *path;
    int64_t bytes; /* of the file on the disk */
    int64_t read;  /* unpacked, so far */
    const struct lab_stop *stop;
};

/* Opening a pipe would wait for its other end, and a device may act on it. */
static enum lab_status file_open(struct data_file *f, const char *path,
                                 const struct lab_stop *stop)
{
    int fd;
    *f = (struct data_file){.path = path, .stop = stop};
    enum lab_status st = lab_file_open(path, &fd, &f->bytes);
    if (st)
        return st;
    f->gz = gzdopen(fd, "rb");
    if (!f->gz) {
        close(fd);
        return lab_fail(LAB_E_NOMEM, "%s: no memory to read it", path);
    }
    gzbuffer(f->gz, 2 * CHUNK);
    return LAB_OK;
}

static enum lab_status file_read(struct data_file *f, void *out, size_t room,
                                 size_t *got)
{
    if (lab_stop_asked(f->stop))
        return lab_fail(LAB_E_CANCELLED, "%s: reading was stopped", f->path);
    int n = gzread(f->gz, out, room > CHUNK ? CHUNK : (unsigned)room);
    if (n < 0) {
        int code = Z_OK;
        const char *why = gzerror(f->gz, &code);
        return lab_fail(LAB_E_IO, "[data.read] %s: cannot be read: %s", f->path,
                        code == Z_ERRNO ? strerror(errno) : why);
    }
    f->read += n;
    if (f->read > MOST_BYTES)
        return lab_fail(LAB_E_RANGE,
                        "[data.too-long] %s: is longer than %d MiB%s", f->path,
                        MOST_BYTES >> 20, gzdirect(f->gz) ? "" : ", unpacked");
    *got = (size_t)n;
    return LAB_OK;
}

static enum lab_status file_close(struct data_file *f)
{
    int closed = f->gz ? gzclose(f->gz) : Z_OK;
    f->gz = NULL;
    return closed == Z_BUF_ERROR
               ? lab_fail(LAB_E_IO, "[data.cut] %s: is cut short", f->path)
               : LAB_OK;
}

static enum lab_status read_text_file(const char *path,
                                      const struct lab_stop *stop,
                                      struct lab_str *out)
{
    struct data_file f;
    char *chunk = lab_alloc(CHUNK);
    size_t got = 1;
    if (!chunk)
        return lab_fail(LAB_E_NOMEM, "%s: no memory to read it", path);
    enum lab_status st = file_open(&f, path, stop);
    while (!st && got > 0 && !out->failed) {
        st = file_read(&f, chunk, CHUNK, &got);
        if (!st)
            lab_str_add_bytes(out, chunk, got);
    }
    lab_free(chunk);
    if (st) {
        if (f.gz)
            gzclose(f.gz);
        return st;
    }
    st = file_close(&f);
    return !st && out->failed
               ? lab_fail(LAB_E_NOMEM, "%s: no memory for the text", path)
               : st;
}

/* ---- comma-separated values ---- */

enum { MAX_COLUMNS = 1 << 20, MAX_LINE = 64 << 20 };

struct csv {
    struct data_file file;
    FILE *stream;           /* of the unpacked file */
    enum lab_status failed; /* what reading it met */
    const char *path;
    const struct lab_data_spec *spec; /* its columns */
    bool labels;                      /* classes, not targets */
    int64_t line;
    char *text; /* the current line, without its end */
    size_t room;
};

static ssize_t read_stream(void *cookie, char *out, size_t room)
{
    struct csv *c = cookie;
    size_t got = 0;
    c->failed = file_read(&c->file, out, room, &got);
    return c->failed ? -1 : (ssize_t)got;
}

/* false at the end or on failure (`*st`). */
static bool next_line(struct csv *c, enum lab_status *st)
{
    static const char bom[] = "\xEF\xBB\xBF";
    ssize_t len = getline(&c->text, &c->room, c->stream);
    if (len < 0 || c->failed) { /* a line may be there in part */
        *st = c->failed;
        if (c->failed && c->failed != LAB_E_CANCELLED)
            lab_fail(*st, "%s, after line %lld", lab_error(),
                     (long long)c->line);
        else if (!c->failed && !feof(c->stream))
            *st = lab_fail(LAB_E_NOMEM, "%s: no memory for a line", c->path);
        return false;
    }
    if (c->line == 0 && strncmp(c->text, bom, strlen(bom)) == 0) {
        len -= (ssize_t)strlen(bom); /* spreadsheets write it */
        memmove(c->text, c->text + strlen(bom), (size_t)len + 1);
    }
    if (memchr(c->text, '\0', (size_t)len))
        *st = lab_fail(
            LAB_E_PARSE,
            "[data.csv.nul] %s:%lld: holds a NUL byte: this is not a text file",
            c->path, (long long)c->line + 1);
    else if (len > MAX_LINE)
        *st =
            lab_fail(LAB_E_PARSE,
                     "[data.csv.line] %s:%lld: the line is longer than %d MiB",
                     c->path, (long long)c->line + 1, MAX_LINE >> 20);
    if (len > 0 && c->text[len - 1] == '\n')
        c->text[--len] = '\0';
    if (len > 0 && c->text[len - 1] == '\r')
        c->text[--len] = '\0';
    c->line++;
    return !*st;
}

static enum lab_status bad_cell(const struct csv *c, const char *cell,
                                const char *what)
{
    struct lab_str s;
    lab_str_init(&s);
    size_t n = strcspn(cell, ",");
    lab_str_add_visible(&s, cell, n < 40 ? n : 40, false);
    enum lab_status st =
        lab_fail(LAB_E_PARSE, "[data.csv.number] %s:%lld:%lld: '%s' %s",
                 c->path, (long long)c->line, (long long)(cell - c->text + 1),
                 lab_str_text(&s), what);
    lab_str_release(&s);
    return st;
}

/* strtod() reads these, and a lesson does not. */
static bool is_hexadecimal(const char *cell)
{
    cell += strspn(cell, " \t\n\v\f\r+-");
    return cell[0] == '0' && (cell[1] == 'x' || cell[1] == 'X');
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
        if (is_hexadecimal(p))
            return bad_cell(c, p, "is not a decimal number");
        if (!isfinite(v))
            return bad_cell(c, p,
                            "is not finite: data must hold no NaN or inf");
        if (*n == max)
            return lab_fail(LAB_E_PARSE,
                            "[data.csv.more-columns] %s:%lld: has more columns "
                            "than the lines before it (%lld)",
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

/* A number that is finite in double may not be in float. */
static enum lab_status store_value(float *out, const struct csv *c, double v)
{
    *out = (float)v;
    if (isfinite(*out))
        return LAB_OK;
    return lab_fail(
        LAB_E_RANGE,
        "[data.csv.large] %s:%lld: %g is too large for single precision",
        c->path, (long long)c->line, v);
}

static enum lab_status store_row(struct lab_samples *t, const struct csv *c,
                                 const double *cell, int64_t columns)
{
    int64_t label =
        c->spec->label_column < 0 ? columns - 1 : c->spec->label_column;
    float *x = t->x + t->rows * t->features;
    enum lab_status st = LAB_OK;
    for (int64_t i = 0, k = 0; i < columns && !st; i++) {
        if (i != label)
            st = store_value(&x[k++], c, cell[i] * c->spec->scale);
    }
    if (!st && !c->labels)
        st = store_value(&t->target[t->rows], c, cell[label]);
    if (st || !c->labels) {
        t->rows += st == LAB_OK;
        return st;
    }
    double v = cell[label];
    if (v < 0 || v != floor(v) || v > 1e6)
        return lab_fail(LAB_E_RANGE,
                        "[data.csv.label] %s:%lld: the label %g is not a whole "
                        "number from 0",
                        c->path, (long long)c->line, v);
    t->label[t->rows++] = (int32_t)v;
    if ((int64_t)v + 1 > t->classes)
        t->classes = (int64_t)v + 1;
    return LAB_OK;
}

static enum lab_status grow_rows(struct lab_samples *t, int64_t *room,
                                 const struct csv *c)
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
    y = lab_realloc_array(c->labels ? (void *)t->label : (void *)t->target,
                          (size_t)next, sizeof(float));
    if (y && c->labels)
        t->label = y;
    else if (y)
        t->target = y;
    if (!x || !y)
        return lab_fail(LAB_E_NOMEM, "%s: no memory for its rows", c->path);
    *room = next;
    return LAB_OK;
}

/* The first row states how many columns there are. */
static enum lab_status take_columns(struct lab_samples *t, const struct csv *c,
                                    double **cell)
{
    int64_t columns = count_columns(c->text);
    if (c->spec->label_column >= columns)
        return lab_fail(LAB_E_PARSE,
                        "[data.csv.label-column] %s:%lld: has %lld columns, "
                        "numbered from 0: label %lld is outside",
                        c->path, (long long)c->line, (long long)columns,
                        (long long)c->spec->label_column);
    if (columns < 2 || columns > MAX_COLUMNS)
        return lab_fail(LAB_E_PARSE,
                        "[data.csv.columns] %s:%lld: has %lld column%s; "
                        "features and a label are needed, and at most %d",
                        c->path, (long long)c->line, (long long)columns,
                        columns == 1 ? "" : "s", MAX_COLUMNS);
    t->features = columns - 1;
    *cell = lab_alloc_array((size_t)columns, sizeof(**cell));
    return *cell ? LAB_OK : lab_fail(LAB_E_NOMEM, "%s: no memory", c->path);
}

static enum lab_status read_rows(struct lab_samples *t, struct csv *c)
{
    enum lab_status st = LAB_OK;
    double *cell = NULL;
    int64_t room = 0;
    while (!st && next_line(c, &st)) {
        int64_t n = 0;
        if (c->text[0] == '\0' || (c->line == 1 && c->spec->header))
            continue;
        if (!cell)
            st = take_columns(t, c, &cell);
        if (!st)
            st = read_row(c, cell, t->features + 1, &n);
        if (!st && n != t->features + 1)
            st = lab_fail(LAB_E_PARSE,
                          "[data.csv.column-count] %s:%lld: has %lld columns, "
                          "the lines before it %lld",
                          c->path, (long long)c->line, (long long)n,
                          (long long)t->features + 1);
        if (!st)
            st = grow_rows(t, &room, c);
        if (!st)
            st = store_row(t, c, cell, t->features + 1);
    }
    lab_free(cell);
    if (!st && t->rows == 0)
        st = lab_fail(LAB_E_PARSE, "[data.csv.empty] %s: holds no rows",
                      c->path);
    return st;
}

static enum lab_status read_csv(struct lab_data *d, const char *path,
                                const struct lab_data_spec *spec, bool labels)
{
    struct csv c = {.path = path, .spec = spec, .labels = labels};
    enum lab_status st = file_open(&c.file, path, d->stop);
    if (st)
        return st;
    c.stream = fopencookie(&c, "r", (cookie_io_functions_t){read_stream});
    if (c.stream) {
        st = read_rows(&d->table, &c);
        fclose(c.stream);
    } else {
        st = lab_fail(LAB_E_NOMEM, "%s: no memory to read it", path);
    }
    free(c.text); /* getline's */
    if (!st)
        return file_close(&c.file);
    gzclose(c.file.gz);
    return st;
}

static enum lab_status digits_read(struct lab_data *d, const char *path)
{
    const struct lab_data_spec digits = {.label_column = -1, .scale = 1 / 16.};
    struct lab_str found;
    enum lab_status st = LAB_OK;
    lab_str_init(&found);
    if (path)
        lab_str_add(&found, path);
    else
        st = lab_data_path("lessons/data/digits.csv.gz", &found);
    if (!st)
        st = read_csv(d, lab_str_text(&found), &digits, true);
    if (!st && d->table.features != 64)
        st = lab_fail(LAB_E_SHAPE,
                      "[data.digits.features] %s: has %lld features a row, "
                      "digits have 64",
                      lab_str_text(&found), (long long)d->table.features);
    d->table.image = (struct lab_shape){3, {8, 8, 1}};
    lab_str_release(&found);
    return st;
}

static enum lab_status csv_read(struct lab_data *d, const char *path)
{
    return path ? read_csv(d, path, &d->spec->data, d->labels)
                : lab_fail(LAB_E_PARSE,
                           "[data.csv.path] data: source csv needs a path:");
}

/* The IDX files of MNIST (Y. LeCun, C. Cortes, C. Burges), plain or gzip:
 * big-endian words 2051, count, rows, columns, then bytes; labels 2049, count,
 * then bytes. */

enum { MAGIC_IMAGES = 2051, MAGIC_LABELS = 2049, MAX_ROWS = 100000000 };

struct idx {
    struct data_file file;
    struct lab_str path;
    int64_t count;
    int64_t rows;
    int64_t columns;
};

/* Files of the set have gone by two spellings: train-images-idx3-ubyte and
 * train-images.idx3-ubyte. */
static enum lab_status idx_find(struct idx *f, const char *dir,
                                const char *name)
{
    char other[64];
    snprintf(other, sizeof(other), "%s", name);
    char *dash = strstr(other, "-idx");
    *dash = '.';
    for (int form = 0; form < 4; form++) {
        struct stat info;
        lab_str_clear(&f->path);
        lab_str_addf(&f->path, "%s/%s%s", dir, form < 2 ? name : other,
                     form % 2 ? ".gz" : "");
        if (f->path.failed)
            return lab_fail(LAB_E_NOMEM, "%s: no memory for a path", dir);
        if (stat(lab_str_text(&f->path), &info) == 0)
            return LAB_OK;
    }
    return lab_fail(
        LAB_E_IO,
        "[data.mnist.missing] %s has no file %s or %s.gz: put the four MNIST "
        "files there, or name their directory with --data DIR",
        dir, name, name);
}

static enum lab_status read_bytes(struct idx *f, void *out, size_t n,
                                  const char *what)
{
    unsigned char *at = out;
    while (n > 0) {
        size_t got = 0;
        enum lab_status st = file_read(&f->file, at, n, &got);
        if (st == LAB_E_CANCELLED)
            return st;
        if (st || got == 0)
            return lab_fail(
                LAB_E_IO,
                "[data.mnist.cut-part] %s: is cut short or damaged in its %s",
                lab_str_text(&f->path), what);
        at += got;
        n -= got;
    }
    return LAB_OK;
}

static int64_t word(const unsigned char *p)
{
    return ((int64_t)p[0] << 24) | (p[1] << 16) | (p[2] << 8) | p[3];
}

/* What a header claims is not taken on trust: memory is taken for it. Deflate
 * packs at most 1032 bytes into one. */
static enum lab_status check_claim(const struct idx *f, int64_t head)
{
    const char *path = lab_str_text(&f->path);
    if (f->count < 1 || f->count > MAX_ROWS || f->rows < 1 || f->rows > 4096 ||
        f->columns < 1 || f->columns > 4096)
        return lab_fail(LAB_E_PARSE,
                        "[data.mnist.claims] %s: claims %lld items of "
                        "%lldx%lld: not believable",
                        path, (long long)f->count, (long long)f->rows,
                        (long long)f->columns);
    int64_t claim = head + f->count * f->rows * f->columns;
    bool plain = gzdirect(f->file.gz) != 0;
    int64_t bytes = f->file.bytes;
    if (claim > (plain ? bytes : 1032 * bytes))
        return lab_fail(
            LAB_E_IO,
            "[data.mnist.cut] %s: is cut short: its header claims %lld items "
            "of %lldx%lld, %lld bytes, and the file has %lld%s",
            path, (long long)f->count, (long long)f->rows,
            (long long)f->columns, (long long)claim, (long long)bytes,
            plain ? "" : ", packed");
    if (claim > MOST_BYTES)
        return lab_fail(LAB_E_RANGE,
                        "[data.mnist.large] %s: claims %lld items of "
                        "%lldx%lld: more than %d MiB",
                        path, (long long)f->count, (long long)f->rows,
                        (long long)f->columns, MOST_BYTES >> 20);
    return LAB_OK;
}

static enum lab_status idx_open(struct idx *f, const char *dir,
                                const char *name, int magic,
                                const struct lab_stop *stop)
{
    unsigned char head[16];
    size_t bytes = magic == MAGIC_IMAGES ? 16 : 8;
    lab_str_init(&f->path);
    enum lab_status st = idx_find(f, dir, name);
    if (st)
        return st;
    const char *path = lab_str_text(&f->path);
    st = file_open(&f->file, path, stop);
    if (!st)
        st = read_bytes(f, head, bytes, "header");
    if (st)
        return st;
    if (word(head) != magic)
        return lab_fail(LAB_E_PARSE,
                        "[data.mnist.magic] %s: is not an IDX file of %s: it "
                        "begins with %lld, not %d",
                        path, magic == MAGIC_IMAGES ? "images" : "labels",
                        (long long)word(head), magic);
    f->count = word(head + 4);
    f->rows = magic == MAGIC_IMAGES ? word(head + 8) : 1;
    f->columns = magic == MAGIC_IMAGES ? word(head + 12) : 1;
    return check_claim(f, (int64_t)bytes);
}

static void idx_close(struct idx *f)
{
    if (f->file.gz)
        gzclose(f->file.gz);
    lab_str_release(&f->path);
}

static enum lab_status read_pixels(struct idx *f, float *x, int64_t features)
{
    unsigned char bytes[CHUNK];
    int64_t left = f->count * features;
    while (left > 0) {
        int64_t n = left < CHUNK ? left : CHUNK;
        enum lab_status st = read_bytes(f, bytes, (size_t)n, "pixels");
        if (st)
            return st;
        for (int64_t i = 0; i < n; i++)
            *x++ = (float)bytes[i] / 255.0f;
        left -= n;
    }
    return LAB_OK;
}

static enum lab_status read_labels(struct idx *f, int32_t *label)
{
    for (int64_t i = 0; i < f->count; i++) {
        unsigned char b;
        enum lab_status st = read_bytes(f, &b, 1, "labels");
        if (st)
            return st;
        if (b > 9)
            return lab_fail(
                LAB_E_RANGE,
                "[data.mnist.label] %s: label %lld is %d; digits are 0 to 9",
                lab_str_text(&f->path), (long long)i, b);
        label[i] = b;
    }
    return LAB_OK;
}

/* Read to the end, a packed file shows whether its sum is right. */
static enum lab_status check_end(struct idx *f)
{
    unsigned char more;
    int code = Z_OK;
    size_t got = 0;
    enum lab_status st = file_read(&f->file, &more, 1, &got);
    gzerror(f->file.gz, &code);
    if (st == LAB_E_CANCELLED || (!st && got == 0 && code != Z_BUF_ERROR))
        return st;
    if (got > 0)
        return lab_fail(LAB_E_PARSE,
                        "[data.mnist.more] %s: goes on after the %lld items "
                        "that its header claims",
                        lab_str_text(&f->path), (long long)f->count);
    return lab_fail(
        LAB_E_IO, "[data.mnist.cut-end] %s: is cut short or damaged at its end",
        lab_str_text(&f->path));
}

static enum lab_status open_pair(struct idx *images, struct idx *labels,
                                 const char *dir, const char *images_name,
                                 const char *labels_name,
                                 const struct lab_stop *stop)
{
    enum lab_status st = idx_open(images, dir, images_name, MAGIC_IMAGES, stop);
    if (!st)
        st = idx_open(labels, dir, labels_name, MAGIC_LABELS, stop);
    if (!st && images->count != labels->count)
        st =
            lab_fail(LAB_E_SHAPE,
                     "[data.mnist.counts] %s holds %lld images, %s %lld labels",
                     lab_str_text(&images->path), (long long)images->count,
                     lab_str_text(&labels->path), (long long)labels->count);
    return st;
}

/* ---- digits of 28 by 28 made from those that ship, where MNIST is not there:
 * as MNIST has them, 20 by 20 in the middle, in 255 levels of grey. ---- */

enum { SMALL = 8, LARGE = 28, INNER = 20, RIM = (LARGE - INNER) / 2 };

/* Between the four pixels around a place; outside there is none. */
static double between(const float *x, double row, double column)
{
    int top = (int)floor(row);
    int left = (int)floor(column);
    double sum = 0;
    for (int i = top; i <= top + 1; i++)
        for (int j = left; j <= left + 1; j++)
            if (i >= 0 && i < SMALL && j >= 0 && j < SMALL)
                sum += (1 - fabs(row - i)) * (1 - fabs(column - j)) *
                       (double)x[i * SMALL + j];
    return sum;
}

static void enlarge(const float *small, float *large)
{
    const double step = (double)SMALL / INNER;
    for (int i = 0; i < LARGE * LARGE; i++) {
        int row = i / LARGE - RIM;
        int column = i % LARGE - RIM;
        bool inside = row >= 0 && row < INNER && column >= 0 && column < INNER;
        double v = inside ? between(small, (row + 0.5) * step - 0.5,
                                    (column + 0.5) * step - 0.5)
                          : 0;
        large[i] = (float)(round(v * 255) / 255);
    }
}

static enum lab_status make_large_digits(struct lab_data *d)
{
    struct lab_samples *t = &d->table;
    enum lab_status st = digits_read(d, NULL);
    if (st)
        return st;
    float *x = lab_alloc_array((size_t)t->rows, LARGE * LARGE * sizeof(*x));
    if (!x)
        return lab_no_memory("digits of 28 by 28");
    for (int64_t i = 0; i < t->rows; i++)
        enlarge(t->x + i * t->features, x + i * LARGE * LARGE);
    lab_free(t->x);
    t->x = x;
    t->features = LARGE * LARGE;
    t->image = (struct lab_shape){3, {LARGE, LARGE, 1}};
    t->held_from = t->rows * 4 / 5;
    d->facts.stand_in = true;
    return LAB_OK;
}

/* Without a directory, and where the lesson's own is not there. One that was
 * named by the user must be. */
static bool is_absent(const struct lab_data *d, const char *dir)
{
    struct stat info;
    return !dir || (dir == d->spec->data.path && stat(dir, &info) != 0 &&
                    errno == ENOENT);
}

static enum lab_status mnist_read(struct lab_data *d, const char *dir)
{
    struct idx f[4] = {{.count = 0}};
    struct lab_samples *t = &d->table;
    if (is_absent(d, dir))
        return make_large_digits(d);
    enum lab_status st = open_pair(&f[0], &f[1], dir, "train-images-idx3-ubyte",
                                   "train-labels-idx1-ubyte", d->stop);
    if (!st)
        st = open_pair(&f[2], &f[3], dir, "t10k-images-idx3-ubyte",
                       "t10k-labels-idx1-ubyte", d->stop);
    if (!st && (f[0].rows != f[2].rows || f[0].columns != f[2].columns))
        st = lab_fail(
            LAB_E_SHAPE,
            "[data.mnist.sizes] %s: training and test images differ in size",
            dir);
    if (!st) {
        t->rows = f[0].count + f[2].count;
        t->features = f[0].rows * f[0].columns;
        t->held_from = f[0].count;
        t->classes = 10;
        t->image = (struct lab_shape){3, {f[0].rows, f[0].columns, 1}};
        st = alloc_samples(t, true, dir);
    }
    for (int part = 0; part < 2 && !st; part++) {
        int64_t first = part * f[0].count;
        st = read_pixels(&f[2 * part], t->x + first * t->features, t->features);
        if (!st)
            st = read_labels(&f[2 * part + 1], t->label + first);
        if (!st)
            st = check_end(&f[2 * part]);
        if (!st)
            st = check_end(&f[2 * part + 1]);
    }
    for (int i = 0; i < 4; i++)
        idx_close(&f[i]);
    return st;
}

/* ---- samples for word2vec out of a text: one line is one sentence.
 *
 * A bag of words (CBOW) has one sample for each word: the words around it, at
 * most `context` on each side, are x, the word itself is y. Where the sentence
 * ends there is 0, the padding. Skip-gram turns the question round and has
 * a sample for each pair: the word in the middle is x, one of its neighbours
 * y. ---- */

enum { WORDS_CONTEXT = 2, MOST_CONTEXT = 64 };
enum { MOST_WORDS = 1 << 24 /* exact in a float */ };

static enum lab_status check_words_text(const struct lab_str *text,
                                        const char *path)
{
    const char *bytes = lab_str_text(text);
    size_t bad = lab_utf8_check(bytes, text->len);
    const char *nul = memchr(bytes, '\0', text->len);
    if (nul && (size_t)(nul - bytes) < bad)
        bad = (size_t)(nul - bytes);
    if (bad == (size_t)-1)
        return LAB_OK;
    int64_t line = 1;
    for (size_t i = 0; i < bad; i++)
        line += bytes[i] == '\n';
    return lab_fail(LAB_E_PARSE, "[data.words.utf8] %s:%lld: is not UTF-8 text",
                    path, (long long)line);
}

struct windows {
    struct lab_samples *t;
    int64_t context;
    bool skip_gram;
    bool fill; /* else count only */
    const struct lab_stop *stop;
    int64_t rows;
};

/* Words from, of n, that the word at `at` has around it. */
static int64_t first_of(const struct windows *w, int64_t at)
{
    return at < w->context ? 0 : at - w->context;
}

static int64_t end_of(const struct windows *w, int64_t at, int64_t n)
{
    return n - at <= w->context ? n : at + w->context + 1;
}

static void bag_row(struct windows *w, const int32_t *ids, int64_t n,
                    int64_t at)
{
    if (w->fill) {
        float *x = w->t->x + w->rows * w->t->features;
        int64_t k = 0;
        for (int64_t i = at - w->context; i <= at + w->context; i++) {
            if (i != at)
                x[k++] = i >= 0 && i < n ? (float)ids[i] : 0;
        }
        w->t->label[w->rows] = ids[at];
    }
    w->rows++;
}

static void pair_rows(struct windows *w, const int32_t *ids, int64_t n,
                      int64_t at)
{
    for (int64_t i = first_of(w, at); i < end_of(w, at, n); i++) {
        if (i == at)
            continue;
        if (w->fill) {
            w->t->x[w->rows] = (float)ids[at];
            w->t->label[w->rows] = ids[i];
        }
        w->rows++;
    }
}

/* The samples of one sentence; a word alone has no neighbours. */
static void sentence(struct windows *w, const int32_t *ids, int64_t n)
{
    for (int64_t at = 0; n > 1 && at < n; at++) {
        if (w->skip_gram)
            pair_rows(w, ids, n, at);
        else
            bag_row(w, ids, n, at);
    }
}

/* Walks over the lines; each ends in NUL. */
static enum lab_status each_line(struct windows *w,
                                 const struct lab_vocabulary *v,
                                 const struct lab_str *text)
{
    const char *end = text->data + text->len;
    for (const char *line = text->data; line < end; line += strlen(line) + 1) {
        int32_t *ids = NULL;
        int64_t n = 0;
        if (lab_stop_asked(w->stop))
            return lab_fail(LAB_E_CANCELLED, "reading was stopped");
        enum lab_status st = lab_encode(v, line, &ids, &n);
        if (st)
            return st;
        sentence(w, ids, n);
        lab_free(ids);
    }
    return LAB_OK;
}

static enum lab_status make_samples(struct windows *w,
                                    const struct lab_vocabulary *v,
                                    const struct lab_str *text,
                                    const char *path)
{
    struct lab_samples *t = w->t;
    enum lab_status st = each_line(w, v, text);
    if (!st && w->rows == 0)
        st = lab_fail(LAB_E_PARSE,
                      "[data.words.lines] %s: no line has two words: nothing "
                      "to learn from",
                      path);
    if (st)
        return st;
    t->rows = w->rows;
    t->features = w->skip_gram ? 1 : 2 * w->context;
    t->single = w->skip_gram;
    t->classes = v->n;
    st = alloc_samples(t, true, path);
    w->rows = 0;
    w->fill = true;
    return st ? st : each_line(w, v, text);
}

/* One text to count in, many to number. */
static enum lab_status make_vocabulary(struct lab_vocabulary **out,
                                       struct lab_str *text, int64_t most,
                                       const char *path,
                                       const struct lab_stop *stop)
{
    struct lab_vocabulary_rule rule = {
        .unknown = true, .most = most, .stop = stop};
    const char *whole = lab_str_text(text);
    enum lab_status st = lab_vocabulary_make(out, &whole, 1, &rule);
    if (st == LAB_E_PARSE)
        return lab_fail(st, "[data.words.none] %s: there is not one word in it",
                        path);
    if (st)
        return st;
    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] == '\n')
            text->data[i] = '\0';
    }
    if ((*out)->n <= MOST_WORDS)
        return LAB_OK;
    return lab_fail(
        LAB_E_RANGE,
        "[data.words.many] %s: has %lld words; at most %d: give vocab", path,
        (long long)(*out)->n, MOST_WORDS);
}

static enum lab_status words_read(struct lab_data *d, const char *path)
{
    const struct lab_network_spec *spec = d->spec;
    struct windows w = {.t = &d->table,
                        .stop = d->stop,
                        .context = spec->data.context ? spec->data.context
                                                      : WORDS_CONTEXT,
                        .skip_gram = spec->data.skip_gram};
    struct lab_str text;
    if (!path)
        return lab_network_fail(
            spec, spec->data.place, LAB_E_PARSE,
            "[data.words.path] data: source words needs a path:");
    if (w.context > MOST_CONTEXT)
        return lab_network_fail(
            spec, spec->data.place, LAB_E_RANGE,
            "[data.words.context] context %lld: at most %d words on each side",
            (long long)w.context, MOST_CONTEXT);
    lab_str_init(&text);
    enum lab_status st = read_text_file(path, d->stop, &text);
    if (!st)
        st = check_words_text(&text, path);
    if (!st)
        st = make_vocabulary(&d->words, &text, spec->data.most_words, path,
                             d->stop);
    if (!st)
        st = make_samples(&w, d->words, &text, path);
    lab_str_release(&text);
    return st;
}

/* Text: a UTF-8 file, read whole and dealt out in windows. */

enum { DEFAULT_CONTEXT = 64 };
#define DEFAULT_SPLIT 0.9

static void text_free(struct lab_text *t)
{
    if (!t)
        return;
    lab_free(t->id);
    lab_free(t->code);
    lab_free(t);
}

/* ---- characters ---- */

static enum lab_status bad_byte(const char *path, const char *text, size_t at,
                                const char *what)
{
    long long line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return lab_fail(
        LAB_E_PARSE,
        "[data.text.byte] %s:%lld: the byte at offset %zu (0x%02X) %s", path,
        line, at, (unsigned)(unsigned char)text[at], what);
}

/* Code points into t->id; a mark of the byte order is left out, and the line
 * ends of Windows are one character. */
static enum lab_status decode(struct lab_text *t, const char *path,
                              const struct lab_str *s,
                              const struct lab_stop *stop)
{
    enum { LOOK_EVERY = 1 << 20 };
    const char *text = lab_str_text(s);
    for (size_t i = 0; i < s->len;) {
        unsigned code = 0;
        if (t->count % LOOK_EVERY == 0 && lab_stop_asked(stop))
            return lab_fail(LAB_E_CANCELLED, "%s: reading was stopped", path);
        size_t n = lab_utf8_next(text + i, s->len - i, &code);
        if (n == 0)
            return bad_byte(path, text, i,
                            "is not UTF-8: save the text as "
                            "UTF-8");
        if (code == 0)
            return bad_byte(path, text, i, "is a NUL: this is not a text file");
        bool mark = i == 0 && code == 0xFEFF;
        bool line_end = code == '\r' && i + 1 < s->len && text[i + 1] == '\n';
        if (!mark && !line_end)
            t->id[t->count++] = (int32_t)code;
        i += n;
    }
    if (t->count == 0)
        return lab_fail(LAB_E_PARSE, "[data.text.empty] %s: the text is empty",
                        path);
    return LAB_OK;
}

enum { CODE_POINTS = 0x110000 };

/* Turns code points into ids. */
static enum lab_status number(struct lab_text *t, const char *path)
{
    int32_t *id_of = lab_alloc_array(CODE_POINTS, sizeof(*id_of));
    if (id_of) {
        for (int64_t i = 0; i < t->count; i++)
            id_of[t->id[i]] = 1;
        for (int c = 0; c < CODE_POINTS; c++)
            t->vocab += id_of[c];
        t->code = lab_alloc_array((size_t)t->vocab, sizeof(*t->code));
    }
    if (!t->code) {
        lab_free(id_of);
        return lab_fail(LAB_E_NOMEM, "%s: no memory for its characters", path);
    }
    int32_t next = 0;
    for (int c = 0; c < CODE_POINTS; c++) {
        if (!id_of[c])
            continue;
        t->code[next] = (uint32_t)c;
        id_of[c] = next++;
    }
    for (int64_t i = 0; i < t->count; i++)
        t->id[i] = id_of[t->id[i]];
    lab_free(id_of);
    return LAB_OK;
}

static int compare_code(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int32_t lab_text_find(const struct lab_text *t, uint32_t code)
{
    const uint32_t *at = bsearch(&code, t->code, (size_t)t->vocab,
                                 sizeof(*t->code), compare_code);
    return at ? (int32_t)(at - t->code) : -1;
}

void lab_text_add(const struct lab_text *t, int32_t id, struct lab_str *out)
{
    uint32_t c = t->code[id];
    char bytes[4];
    size_t n = 0;
    if (c < 0x80) {
        bytes[n++] = (char)c;
    } else {
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        unsigned lead = 0xFF00u >> (more + 1); /* 110, 1110, 11110 */
        bytes[n++] = (char)((lead & 0xFF) | (c >> (6 * more)));
        while (more-- > 0)
            bytes[n++] = (char)(0x80 | ((c >> (6 * more)) & 0x3F));
    }
    lab_str_add_bytes(out, bytes, n);
}

/* ---- windows ---- */

static enum lab_status
cut(struct lab_text *t, const struct lab_network_spec *spec, const char *path)
{
    const struct lab_data_spec *d = &spec->data;
    double share = d->split > 0 ? d->split : DEFAULT_SPLIT;
    long long need = (long long)t->context + 1;
    if (share > 1)
        return lab_network_fail(spec, d->place, LAB_E_RANGE,
                                "[data.text.split] split %g: the share that "
                                "trains is more than 0 and at most 1",
                                share);
    t->train_count = (int64_t)((double)t->count * share);
    if (t->count < need)
        return lab_network_fail(spec, d->place, LAB_E_RANGE,
                                "[data.text.short] %s: has %lld characters; "
                                "with context %lld a sample takes %lld",
                                path, (long long)t->count,
                                (long long)t->context, need);
    if (t->train_count < need)
        return lab_network_fail(
            spec, d->place, LAB_E_RANGE,
            "[data.text.train-short] %s: of its %lld characters %lld train "
            "(split %g); with context %lld a sample takes %lld",
            path, (long long)t->count, (long long)t->train_count, share,
            (long long)t->context, need);
    return LAB_OK;
}

static enum lab_status make(struct lab_text *t,
                            const struct lab_network_spec *spec,
                            const char *path, const struct lab_stop *stop)
{
    struct lab_str bytes;
    lab_str_init(&bytes);
    enum lab_status st = read_text_file(path, stop, &bytes);
    t->context = spec->data.context ? spec->data.context : DEFAULT_CONTEXT;
    if (!st) {
        t->id = lab_alloc_array(bytes.len + 1, sizeof(*t->id));
        st = t->id ? decode(t, path, &bytes, stop)
                   : lab_fail(LAB_E_NOMEM, "%s: no memory for its characters",
                              path);
    }
    lab_str_release(&bytes);
    if (!st)
        st = number(t, path);
    return st ? st : cut(t, spec, path);
}

static enum lab_status text_read(struct lab_text **out,
                                 const struct lab_network_spec *spec,
                                 const char *path, const struct lab_stop *stop)
{
    struct lab_str found;
    enum lab_status st = LAB_OK;
    if (!spec->loss.op || !spec->loss.op->labels)
        return lab_network_fail(
            spec, spec->data.place, LAB_E_PARSE,
            "[data.text.loss] source text asks which character comes next: its "
            "loss is softmax_cross_entropy");
    struct lab_text *t = lab_alloc(sizeof(*t));
    lab_str_init(&found);
    if (!t)
        st = lab_no_memory("the text");
    else if (path)
        lab_str_add(&found, path);
    else
        st = lab_data_path("lessons/data/course.txt", &found);
    if (!st && found.failed)
        st = lab_no_memory("the text's path");
    if (!st)
        st = make(t, spec, lab_str_text(&found), stop);
    lab_str_release(&found);
    if (st)
        text_free(t);
    else
        *out = t;
    return st;
}

/* The windows that a text is dealt out in. */

enum { STREAM_BEGIN = 0x42454749 };

/* Training windows of an epoch, one behind the other; they may begin up to
 * *slack characters later. */
static int64_t count_windows(const struct lab_text *t, bool shuffle,
                             int64_t *slack)
{
    int64_t places = t->train_count - 1; /* that have a next character */
    int64_t n = places / t->context;
    if (shuffle && n > 1)
        n--; /* so that every epoch may begin elsewhere */
    *slack = places - n * t->context;
    return n;
}

/* The targets of the held-back windows cover the held-back end, each character
 * once. The last window ends with the text, and its first *skip targets belong
 * to the window before it. */
static int64_t held_start(const struct lab_text *t, int64_t row, int64_t *skip)
{
    int64_t start = t->train_count - 1 + row * t->context;
    int64_t last = t->count - 1 - t->context;
    *skip = start > last ? start - last : 0;
    return start - *skip;
}

/* Of a batch that is too large: no line where an option gave it. */
static struct lab_place batch_place(const struct lab_network_spec *spec,
                                    int64_t batch)
{
    return batch == spec->data.batch ? spec->data.place : (struct lab_place){0};
}

static enum lab_status too_few_windows(const struct lab_data *d)
{
    return lab_network_fail(
        d->spec, batch_place(d->spec, d->facts.batch), LAB_E_RANGE,
        "[data.text.batch] batch %lld is more than the "
        "%lld samples that the text has with context %lld",
        (long long)d->facts.batch, (long long)d->facts.train_rows,
        (long long)d->text->context);
}

static enum lab_status text_open(struct lab_data *d, const char *path)
{
    struct lab_data_facts *f = &d->facts;
    enum lab_status st = text_read(&d->text, d->spec, path, d->stop);
    if (st)
        return st;
    f->text = true;
    f->train_rows =
        count_windows(d->text, d->spec->data.shuffle, &d->text_slack);
    f->held_rows =
        (d->text->count - d->text->train_count + d->text->context - 1) /
        d->text->context;
    f->classes = d->text->vocab;
    if (f->batch > f->train_rows)
        return too_few_windows(d);
    f->batches_per_epoch = f->train_rows / f->batch;
    size_t rows = (size_t)f->train_rows;
    d->order = lab_alloc_array(rows, sizeof(*d->order));
    d->epoch_order = lab_alloc_array(rows, sizeof(*d->epoch_order));
    if (!d->order || !d->epoch_order)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu samples", rows);
    for (int64_t i = 0; i < f->train_rows; i++)
        d->order[i] = i;
    return LAB_OK;
}

/* More ids than the text has characters are allowed: another text may then be
 * read with the same network. */
static enum lab_status text_check(const struct lab_data *d,
                                  const struct lab_plan *plan, int64_t classes)
{
    long long vocab = (long long)d->text->vocab;
    int64_t limit = plan->x >= 0 ? plan->tensors[plan->x].id_limit : 0;
    bool reads = limit > 0 && limit < vocab;
    if (!reads && classes >= vocab)
        return LAB_OK;
    struct lab_place place = d->spec->data.place;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct lab_node *n = &plan->nodes[i];
        if (reads ? n->n_in > 0 && n->in[0] == plan->x : n->out == plan->out)
            place = n->place;
    }
    if (reads)
        return lab_network_fail(
            d->spec, place, LAB_E_RANGE,
            "[data.text.vocabulary] the text has %lld different characters, "
            "but the network reads ids below %lld: vocab: %lld",
            vocab, (long long)limit, vocab);
    return lab_network_fail(
        d->spec, place, LAB_E_RANGE,
        "[data.text.scores] the text has %lld different characters, but the "
        "network's output has %lld scores: units: %lld",
        vocab, (long long)classes, vocab);
}

static void text_begin_epoch(struct lab_data *d, int64_t epoch)
{
    d->text_begin = 0;
    if (!d->spec->data.shuffle)
        return;
    uint32_t word = lab_random_word(d->seed, STREAM_BEGIN, (uint32_t)epoch, 0);
    d->text_begin = (int64_t)(word % (uint64_t)(d->text_slack + 1));
}

/* x: the characters of a window; y: those that come next. */
static void put_window(const struct lab_data *d, const struct lab_plan *plan,
                       int tensor, int64_t i, int64_t start, void *out)
{
    const struct lab_text *text = d->text;
    const int32_t *from = text->id + start + (tensor == plan->y);
    enum lab_dtype dtype = plan->tensors[tensor].dtype;
    if (dtype == LAB_I32)
        memcpy((int32_t *)out + i * text->context, from,
               (size_t)text->context * sizeof(*from));
    for (int64_t k = 0; k < text->context && dtype != LAB_I32; k++)
        lab_number_put(out, dtype, i * text->context + k, from[k]);
}

static void text_put(const struct lab_data *d, const struct lab_plan *plan,
                     int tensor, int64_t i, int64_t row, void *out)
{
    put_window(d, plan, tensor, i, d->text_begin + row * d->text->context, out);
}

static void text_put_held(const struct lab_data *d, const struct lab_plan *plan,
                          int tensor, int64_t i, int64_t row, void *out)
{
    int64_t skip;
    put_window(d, plan, tensor, i, held_start(d->text, row, &skip), out);
}

int lab_data_held_next(const struct lab_data *d, int64_t row, int64_t place)
{
    int64_t skip;
    if (!d->text || row >= d->facts.held_rows)
        return -1;
    return d->text->id[held_start(d->text, row, &skip) + place + 1];
}

int64_t lab_data_held_skip(const struct lab_data *d, int64_t row)
{
    int64_t skip = 0;
    if (d->text && row < d->facts.held_rows)
        held_start(d->text, row, &skip);
    return skip;
}

const struct lab_text *lab_data_text(const struct lab_data *d)
{
    return d->text;
}

double lab_data_bits(const struct lab_data_facts *facts, double loss)
{
    return facts->text ? loss / log(2.0) : NAN;
}

/* Sequences that follow Fibonacci's rule: each term is the sum of the two
 * before it. The first sample is his own, 1, 1, 2, 3, 5 ...; the others begin
 * with two random numbers. All are divided by the largest that could come next,
 * so that numbers lie between 0 and 1. */

enum { ROWS = 512, LEAST = 2, MOST = 64, DEFAULT_TERMS = 8 };

/* Not of the lesson's seed: every run learns from the same samples. */
static double start(int64_t row, int64_t which)
{
    const uint32_t stream = 0x4649424Fu; /* "FIBO" */
    uint32_t word =
        lab_random_word(1202, stream, 0, (uint64_t)(row * 2 + which));
    return row == 0 ? 1 : (double)lab_random_unit(word);
}

static void fill_row(struct lab_samples *t, int64_t row)
{
    double one = start(row, 0);
    double two = start(row, 1);
    double largest_one = 1;
    double largest_two = 1;
    for (int64_t i = 2; i <= t->features; i++) {
        double next = largest_one + largest_two;
        largest_one = largest_two;
        largest_two = next;
    }
    for (int64_t i = 0; i < t->features; i++) {
        double next = one + two;
        t->x[row * t->features + i] = (float)(one / largest_two);
        one = two;
        two = next;
    }
    t->target[row] = (float)(one / largest_two);
}

static enum lab_status fibonacci_make(struct lab_data *d, const char *path)
{
    const struct lab_network_spec *spec = d->spec;
    struct lab_samples *t = &d->table;
    (void)path;
    int64_t terms = spec->data.context ? spec->data.context : DEFAULT_TERMS;
    if (terms < LEAST || terms > MOST)
        return lab_network_fail(
            spec, spec->data.place, LAB_E_RANGE,
            "[data.fibonacci.context] context %lld: a sample of source "
            "fibonacci shows %d to %d terms",
            (long long)terms, LEAST, MOST);
    t->rows = ROWS;
    t->features = t->steps = terms;
    enum lab_status st = alloc_samples(t, false, "fibonacci");
    for (int64_t row = 0; row < ROWS && !st; row++)
        fill_row(t, row);
    return st;
}

/* Strings of symbols, and the same strings backwards: the smallest task that
 * needs the whole input before the first answer. All strings differ, so that
 * one that is held back has never been seen in training. */

enum {
    DEFAULT_LENGTH = 8,
    DEFAULT_ALPHABET = 10,
    DEFAULT_ROWS = 4096,
    MOST_LENGTH = 256,
    MOST_ALPHABET = 36,
    MOST_ROWS = 1 << 20
};

/* How many different strings there are; many: enough for any table. */
static int64_t different(int64_t alphabet, int64_t length)
{
    int64_t n = 1;
    for (int64_t i = 0; i < length && n <= MOST_ROWS; i++)
        n *= alphabet;
    return n;
}

static enum lab_status check_sizes(const struct lab_network_spec *spec,
                                   const struct lab_samples *t)
{
    struct lab_place place = spec->data.place;
    int64_t most = different(t->alphabet, t->length);
    if (!spec->loss.op || !spec->loss.op->labels)
        return lab_network_fail(
            spec, place, LAB_E_PARSE,
            "[data.reverse.loss] source reverse gives symbols as class labels: "
            "use the loss softmax_cross_entropy");
    if (t->length < 1 || t->length > MOST_LENGTH)
        return lab_network_fail(
            spec, place, LAB_E_RANGE,
            "[data.reverse.length] length %lld: a string has 1 to %d symbols",
            (long long)t->length, MOST_LENGTH);
    if (t->alphabet < 2 || t->alphabet > MOST_ALPHABET)
        return lab_network_fail(
            spec, place, LAB_E_RANGE,
            "[data.reverse.alphabet] alphabet %lld: there are 2 to %d symbols",
            (long long)t->alphabet, MOST_ALPHABET);
    if (t->rows < 2 || t->rows > MOST_ROWS)
        return lab_network_fail(
            spec, place, LAB_E_RANGE,
            "[data.reverse.rows] rows %lld: there are 2 to %d strings",
            (long long)t->rows, MOST_ROWS);
    if (t->rows > most)
        return lab_network_fail(
            spec, place, LAB_E_RANGE,
            "[data.reverse.rows-different] rows %lld: there are only %lld "
            "different strings of length %lld over %lld symbols",
            (long long)t->rows, (long long)most, (long long)t->length,
            (long long)t->alphabet);
    return LAB_OK;
}

static uint64_t hash_of(const int32_t *s, int64_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a, 64 bits */
    for (int64_t i = 0; i < n; i++)
        h = (h ^ (uint64_t)(uint32_t)s[i]) * 1099511628211u;
    return h ^ (h >> 29);
}

/* Is the string of `row` that of an earlier one? If not, it is noted. */
static bool seen(const struct lab_samples *t, int32_t *slot, size_t n_slots,
                 int64_t row)
{
    const int32_t *own = t->symbols + row * t->length;
    size_t at = (size_t)hash_of(own, t->length) & (n_slots - 1);
    for (; slot[at] != 0; at = (at + 1) & (n_slots - 1)) {
        const int32_t *other = t->symbols + (slot[at] - 1) * t->length;
        if (memcmp(own, other, (size_t)t->length * sizeof(*own)) == 0)
            return true;
    }
    slot[at] = (int32_t)row + 1;
    return false;
}

/* Not of the lesson's seed: every run has the same strings; the seed states
 * which of them are held back. */
static void draw(struct lab_samples *t, int64_t row, uint32_t attempt)
{
    const uint32_t stream = 0x52455645u; /* "REVE" */
    for (int64_t k = 0; k < t->length; k++) {
        uint32_t word = lab_random_word(1014, stream, attempt,
                                        (uint64_t)(row * t->length + k));
        t->symbols[row * t->length + k] =
            (int32_t)(((uint64_t)word * (uint64_t)t->alphabet) >> 32);
    }
}

static enum lab_status reverse_make(struct lab_data *d, const char *path)
{
    const struct lab_data_spec *data = &d->spec->data;
    struct lab_samples *t = &d->table;
    (void)path;
    t->length = data->length ? data->length : DEFAULT_LENGTH;
    t->alphabet = data->alphabet ? data->alphabet : DEFAULT_ALPHABET;
    t->rows = data->rows ? data->rows : DEFAULT_ROWS;
    enum lab_status st = check_sizes(d->spec, t);
    if (st)
        return st;
    size_t n_slots = 16;
    while (n_slots < 2 * (size_t)t->rows)
        n_slots *= 2;
    int32_t *slot = lab_alloc_array(n_slots, sizeof(*slot));
    t->symbols =
        lab_alloc_array((size_t)(t->rows * t->length), sizeof(*t->symbols));
    if (!slot || !t->symbols)
        st = lab_fail(LAB_E_NOMEM, "no memory for %lld strings",
                      (long long)t->rows);
    for (int64_t row = 0; row < t->rows && !st; row++) {
        uint32_t attempt = 0;
        do
            draw(t, row, attempt++);
        while (seen(t, slot, n_slots, row));
    }
    lab_free(slot);
    return st;
}

static int32_t reverse_id(const struct lab_samples *t, const char *name,
                          int64_t row, int64_t k)
{
    const int32_t *s = t->symbols + row * t->length;
    if (strcmp(name, "x") == 0)
        return s[k];
    if (strcmp(name, "decoder") == 0)
        return k == 0 ? (int32_t)t->alphabet : s[t->length - k];
    return s[t->length - 1 - k];
}

static const char *reverse_symbol(const struct lab_samples *t, int64_t id)
{
    static const char symbol[MOST_ALPHABET][2] = {
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b",
        "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
        "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
    if (id == t->alphabet)
        return "^";
    return id >= 0 && id < t->alphabet ? symbol[id] : "?";
}

/* The inline tensor of that name, or NULL. */
static const struct lab_tensor_spec *
data_find_inline(const struct lab_network_spec *spec, const char *name)
{
    for (int i = 0; i < spec->data.n_tensors; i++) {
        if (strcmp(spec->data.tensors[i].name, name) == 0)
            return &spec->data.tensors[i];
    }
    return NULL;
}

/* Do labels and ids fit the network that reads them? */

static enum lab_status bad_label(const struct lab_data *d, int64_t row,
                                 double label, int64_t classes)
{
    struct lab_place place = d->spec->data.place;
    const struct lab_tensor_spec *y = data_find_inline(d->spec, "y");
    if (y && y->place.line)
        place = y->place;
    return lab_network_fail(
        d->spec, place, LAB_E_RANGE,
        "[data.label] y[%lld] is %g, but the network's output has %lld "
        "classes: labels run from 0 to %lld",
        (long long)row, label, (long long)classes, (long long)classes - 1);
}

/* The id of a node that looks the tensor's ids up. */
static const char *reader_of(const struct lab_plan *plan, int tensor)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct lab_node *n = &plan->nodes[i];
        for (int k = 0; k < n->n_in && n->op->takes_ids; k++) {
            if (n->in[k] == tensor)
                return n->id;
        }
    }
    return "the network";
}

static enum lab_status bad_id(const struct lab_data *d,
                              const struct lab_tensor_spec *s,
                              const struct lab_plan *plan, int tensor,
                              int64_t i, double v)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    char at[LAB_SHAPE_TEXT];
    struct lab_shape place = {.rank = s->shape.rank};
    lab_shape_unravel(&s->shape, i, place.dim);
    return lab_network_fail(d->spec, s->place, LAB_E_RANGE,
                            "[data.id] %s%s is %.10g, but ids run from 0 to "
                            "%lld: the vocabulary of %s has %lld",
                            s->name, lab_shape_text(&place, at), v,
                            (long long)t->id_limit - 1, reader_of(plan, tensor),
                            (long long)t->id_limit);
}

/* A source that numbers words makes ids of all of them. */
static enum lab_status check_words(const struct lab_data *d,
                                   const struct lab_plan *plan)
{
    int64_t limit = plan->x >= 0 ? plan->tensors[plan->x].id_limit : 0;
    if (!d->words || limit == 0 || d->words->n <= limit)
        return LAB_OK;
    return lab_network_fail(
        d->spec, d->spec->data.place, LAB_E_RANGE,
        "[data.texts.vocabulary] the text has %lld words with padding and "
        "<OOV>, but what reads them has a vocabulary of %lld: make that "
        "larger, or give the data vocab: %lld",
        (long long)d->words->n, (long long)limit,
        (long long)(limit > 3 ? limit - 2 : 1));
}

/* Inline ids; a source of its own makes no others than it has. */
static enum lab_status check_ids(const struct lab_data *d,
                                 const struct lab_plan *plan)
{
    for (int k = 0; k < plan->n_tensors; k++) {
        const struct lab_tensor *t = &plan->tensors[k];
        const struct lab_tensor_spec *s = data_find_inline(d->spec, t->name);
        if (t->id_limit == 0 || !s)
            continue;
        for (int64_t i = 0; i < s->count; i++) {
            double v = s->values ? s->values[i] : s->fill;
            if (v < 0 || v >= (double)t->id_limit || v != floor(v))
                return bad_id(d, s, plan, k, i, v);
        }
    }
    return LAB_OK;
}

/* Every symbol of the alphabet must have a class, and an id in what reads
 * it. */
static enum lab_status check_symbols(const struct lab_data *d,
                                     const struct lab_plan *plan,
                                     int64_t classes)
{
    const struct lab_samples *table = &d->table;
    struct lab_place place = d->spec->data.place;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        bool begins = strcmp(t->name, "decoder") == 0;
        int64_t need = table->alphabet + (begins ? 1 : 0);
        if (t->role == LAB_TENSOR_DATA && t->id_limit > 0 && t->id_limit < need)
            return lab_network_fail(
                d->spec, place, LAB_E_RANGE,
                "[data.ids.vocabulary] %s has ids from 0 to %lld%s, but the "
                "vocabulary of what reads it has %lld",
                t->name, (long long)need - 1,
                begins ? ", the last one to begin with" : "",
                (long long)t->id_limit);
    }
    if (table->alphabet > classes)
        return lab_network_fail(
            d->spec, place, LAB_E_RANGE,
            "[data.reverse.classes] an alphabet of %lld symbols, but the "
            "network's output has %lld classes",
            (long long)table->alphabet, (long long)classes);
    return LAB_OK;
}

enum lab_status lab_data_check_labels(const struct lab_data *d,
                                      const struct lab_plan *plan)
{
    const struct lab_shape *out = &plan->tensors[plan->out].shape;
    int64_t classes = out->rank > 0 ? out->dim[out->rank - 1] : 1;
    const struct lab_tensor_spec *y = data_find_inline(d->spec, "y");
    enum lab_status st = check_ids(d, plan);
    if (!st)
        st = check_words(d, plan);
    if (st || !d->labels)
        return st;
    if (d->text)
        return text_check(d, plan, classes);
    if (d->table.symbols)
        return check_symbols(d, plan, classes);
    if (d->spec->data.source != LAB_DATA_INLINE) {
        for (int64_t i = 0; i < d->table.rows; i++) {
            if (d->table.label[i] >= classes)
                return bad_label(d, i, d->table.label[i], classes);
        }
        return LAB_OK;
    }
    for (int64_t i = 0; y && i < y->count; i++) {
        double v = y->values ? y->values[i] : y->fill;
        if (v < 0 || v >= (double)classes || v != floor(v))
            return bad_label(d, i, v, classes);
    }
    return LAB_OK;
}

enum { STREAM_SPLIT = 0x53504C54, STREAM_SHUFFLE = 0x53485546 };

/* Fisher and Yates, from a stream that depends on `round`. */
static void shuffle(int64_t *order, int64_t n, uint64_t seed, uint32_t stream,
                    uint32_t round)
{
    for (int64_t i = n - 1; i > 0; i--) {
        struct lab_random4 r = lab_philox(seed, stream, round, (uint64_t)i);
        uint64_t word = ((uint64_t)r.v[0] << 32) | r.v[1];
        int64_t j = (int64_t)(word % (uint64_t)(i + 1));
        int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static enum lab_status check_finite(const struct lab_network_spec *spec)
{
    for (int i = 0; i < spec->data.n_tensors; i++) {
        const struct lab_tensor_spec *t = &spec->data.tensors[i];
        for (int64_t k = 0; k < (t->values ? t->count : 1); k++) {
            double v = t->values ? t->values[k] : t->fill;
            if (!isfinite((float)v))
                return lab_network_fail(
                    spec, t->place, LAB_E_RANGE,
                    "[data.not-finite] %s holds %g: data must hold no NaN and "
                    "no infinity, in single precision",
                    t->name, v);
        }
    }
    return LAB_OK;
}

static enum lab_status open_inline(struct lab_data *d, const char *path)
{
    const struct lab_network_spec *spec = d->spec;
    int64_t batch = d->facts.batch; /* 0: every row */
    (void)path;
    const struct lab_tensor_spec *x = data_find_inline(spec, "x");
    if (spec->data.n_tensors == 0)
        return lab_network_fail(spec, spec->data.place, LAB_E_PARSE,
                                "[data.inline.empty] data: source inline needs "
                                "x: (or other tensors) and y:");
    if (!x)
        x = &spec->data.tensors[0];
    int64_t rows = x->shape.rank > 0 ? x->shape.dim[0] : 1;
    if (batch == 0 || batch == rows) {
        d->facts.train_rows = d->facts.batch = rows;
        return check_finite(spec);
    }
    for (int i = 0; i < spec->data.n_tensors; i++) {
        const struct lab_tensor_spec *t = &spec->data.tensors[i];
        if (t->shape.rank < 1 || t->shape.dim[0] != rows)
            return lab_network_fail(
                spec, t->place, LAB_E_SHAPE,
                "[data.inline.rows] batch %lld cannot be cut from inline data "
                "where %s and %s differ in rows",
                (long long)batch, x->name, t->name);
    }
    if (batch > rows)
        return lab_network_fail(
            spec, batch_place(spec, batch), LAB_E_RANGE,
            "[data.inline.batch] batch %lld is more than the %lld rows",
            (long long)batch, (long long)rows);
    d->facts.train_rows = rows;
    d->facts.batches_per_epoch = rows / batch;
    return check_finite(spec);
}

static enum lab_status deal(struct lab_data *d)
{
    const struct lab_data_spec *spec = &d->spec->data;
    struct lab_data_facts *f = &d->facts;
    int64_t rows = d->table.rows;
    double share = spec->split > 0 ? spec->split : 0.8;
    d->order = lab_alloc_array((size_t)rows, sizeof(*d->order));
    d->epoch_order = lab_alloc_array((size_t)rows, sizeof(*d->epoch_order));
    if (!d->order || !d->epoch_order)
        return lab_fail(LAB_E_NOMEM, "no memory for %lld rows",
                        (long long)rows);
    for (int64_t i = 0; i < rows; i++)
        d->order[i] = i;
    if (share > 1)
        return lab_network_fail(d->spec, spec->place, LAB_E_RANGE,
                                "[data.split] split %g: the share that trains "
                                "is more than 0 and at most 1",
                                share);
    f->train_rows = d->table.held_from;
    if (f->train_rows == 0) {
        f->train_rows = (int64_t)((double)rows * share);
        if (spec->shuffle)
            shuffle(d->order, rows, d->seed, STREAM_SPLIT, 0);
    }
    f->valid_rows = (int64_t)((double)rows * spec->validation);
    f->train_rows -= f->valid_rows;
    f->held_rows = rows - f->train_rows;
    if (spec->validation > 0 && (f->valid_rows < 1 || f->train_rows < 1))
        return lab_network_fail(
            d->spec, spec->place, LAB_E_RANGE,
            "[data.validation] validation %g of %lld rows leaves %lld to train "
            "on and %lld for validation",
            spec->validation, (long long)rows, (long long)f->train_rows,
            (long long)f->valid_rows);
    f->decodes = d->table.symbols != NULL;
    f->classes = d->table.label ? d->table.classes : 0;
    if (f->batch > f->train_rows)
        return lab_network_fail(
            d->spec, batch_place(d->spec, f->batch), LAB_E_RANGE,
            "[data.batch] batch %lld is more than the %lld training rows",
            (long long)f->batch, (long long)f->train_rows);
    f->batches_per_epoch = f->train_rows / f->batch;
    return LAB_OK;
}

void lab_data_reseed(struct lab_data *d, uint64_t seed)
{
    d->seed = seed;
    d->epoch = -1;
    if (!d->order || d->text || d->table.held_from > 0 ||
        !d->spec->data.shuffle)
        return;
    for (int64_t i = 0; i < d->table.rows; i++)
        d->order[i] = i;
    shuffle(d->order, d->table.rows, seed, STREAM_SPLIT, 0);
}

enum { BATCH = 32 }; /* when a lesson gives none */

/* Each fills d->table; spec, stop, seed and facts.batch are set. path NULL: the
 * source's own place, or LAB_E_PARSE where it has none. Errors name the file, the
 * line and the byte, or the lesson's place. What was taken is the caller's to
 * free, on failure too. */
static const struct {
    enum lab_status (*open)(struct lab_data *d, const char *path);
    bool reads_file;
} sources[LAB_DATA_SOURCE_COUNT] = {
    [LAB_DATA_INLINE] = {open_inline, false},
    [LAB_DATA_DIGITS] = {digits_read, true},
    [LAB_DATA_MNIST] = {mnist_read, true},
    [LAB_DATA_FIBONACCI] = {fibonacci_make, false},
    [LAB_DATA_TEXT] = {text_open, true},
    [LAB_DATA_CSV] = {csv_read, true},
    [LAB_DATA_WORDS] = {words_read, true},
    [LAB_DATA_REVERSE] = {reverse_make, false},
};

enum lab_status lab_data_open(struct lab_data **out,
                              const struct lab_network_spec *spec,
                              const char *path, int64_t batch,
                              const struct lab_stop *stop)
{
    enum lab_data_source source = spec->data.source;
    /* A file that is never read would be an unnoticed mistake. */
    if (path && !sources[source].reads_file)
        return lab_fail(LAB_E_USAGE,
                        "[data.no-file] --data %s: the data of this lesson are "
                        "%s: it reads no file",
                        path, lab_data_source_name(source));
    struct lab_data *d = lab_alloc(sizeof(*d));
    if (!d)
        return lab_no_memory("the data");
    d->spec = spec;
    d->stop = stop;
    d->seed = spec->seed;
    d->epoch = -1;
    d->labels = spec->loss.op && spec->loss.op->labels;
    d->facts.batch = batch ? batch : spec->data.batch;
    if (d->facts.batch == 0 && source != LAB_DATA_INLINE)
        d->facts.batch = BATCH;
    enum lab_status st = sources[source].open(d, path ? path : spec->data.path);
    if (!st && d->table.rows > 0)
        st = deal(d);
    if (st) {
        lab_data_free(d);
        return st;
    }
    d->stop = NULL;
    *out = d;
    return LAB_OK;
}

void lab_data_free(struct lab_data *d)
{
    if (!d)
        return;
    lab_free(d->table.x);
    lab_free(d->table.label);
    lab_free(d->table.target);
    lab_free(d->table.symbols);
    text_free(d->text);
    lab_vocabulary_free(d->words);
    lab_free(d->order);
    lab_free(d->epoch_order);
    lab_free(d);
}

void lab_data_get_facts(const struct lab_data *d, struct lab_data_facts *out)
{
    *out = d->facts;
}

void lab_data_get_shapes(const struct lab_data *d, struct lab_data_shapes *out)
{
    const struct lab_samples *t = &d->table;
    int64_t n = d->facts.batch;
    *out = (struct lab_data_shapes){.batch = n};
    if (d->spec->data.source == LAB_DATA_INLINE) {
        if (d->facts.batches_per_epoch == 0)
            out->batch = 0; /* as the tensors are */
        return;
    }
    if (d->text) {
        out->x = out->y = (struct lab_shape){2, {n, d->text->context}};
        out->y_integers = true;
        return;
    }
    if (t->symbols) {
        out->x = out->y = (struct lab_shape){2, {n, t->length}};
        out->more[0].name = lab_data_source_more(d->spec->data.source);
        out->more[0].shape = out->x;
        out->n_more = 1;
        out->y_integers = true;
        return;
    }
    out->x = (struct lab_shape){2, {n, t->features}};
    if (t->single)
        out->x.rank = 1;
    if (t->steps > 0)
        out->x = (struct lab_shape){3, {n, t->steps, t->features / t->steps}};
    if (t->image.rank == 3) {
        int64_t h = t->image.dim[0];
        int64_t w = t->image.dim[1];
        int64_t c = t->image.dim[2];
        out->x_image = d->spec->layout == LAB_NHWC
                           ? (struct lab_shape){4, {n, h, w, c}}
                           : (struct lab_shape){4, {n, c, h, w}};
    }
    out->y_integers = t->label != NULL;
    if (d->labels)
        out->y = (struct lab_shape){1, {n}};
    else
        out->y = (struct lab_shape){2, {n, t->label ? t->classes : 1}};
}

static enum lab_status fill_inline(const struct lab_data *d,
                                   const struct lab_tensor *t,
                                   int64_t iteration, void *out)
{
    const struct lab_tensor_spec *s = data_find_inline(d->spec, t->name);
    if (!s)
        return lab_fail(LAB_E_INTERNAL, "no inline tensor '%s'", t->name);
    int64_t first = 0;
    if (d->facts.batches_per_epoch > 0)
        first = iteration % d->facts.batches_per_epoch * t->count;
    if (s->values && t->dtype == LAB_F32) /* large ones are */
        for (int64_t i = 0; i < t->count; i++)
            ((float *)out)[i] = (float)s->values[first + i];
    else
        for (int64_t i = 0; i < t->count; i++)
            lab_number_put(out, t->dtype, i,
                           s->values ? s->values[first + i] : s->fill);
    return LAB_OK;
}

static void put_row(const struct lab_data *d, const struct lab_plan *plan,
                    int tensor, int64_t i, int64_t row, void *out)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    const struct lab_samples *table = &d->table;
    int64_t each = t->count / t->shape.dim[0];
    if (table->symbols) {
        for (int64_t k = 0; k < each; k++)
            lab_number_put(out, t->dtype, i * each + k,
                           reverse_id(table, t->name, row, k));
    } else if (tensor == plan->x) {
        const float *x = table->x + row * table->features;
        if (t->dtype == LAB_F32)
            memcpy((float *)out + i * each, x, (size_t)each * sizeof(*x));
        for (int64_t k = 0; k < each && t->dtype != LAB_F32; k++)
            lab_number_put(out, t->dtype, i * each + k, x[k]);
    } else if (d->labels) {
        lab_number_put(out, t->dtype, i, table->label[row]);
    } else if (table->label) {
        for (int64_t k = 0; k < each; k++)
            lab_number_put(out, t->dtype, i * each + k, table->label[row] == k);
    } else {
        lab_number_put(out, t->dtype, i, table->target[row]);
    }
}

static void deal_epoch(struct lab_data *d, int64_t epoch)
{
    if (d->epoch == epoch)
        return;
    int64_t n = d->facts.train_rows;
    memcpy(d->epoch_order, d->order, (size_t)n * sizeof(*d->order));
    if (d->text)
        text_begin_epoch(d, epoch);
    if (d->spec->data.shuffle)
        shuffle(d->epoch_order, n, d->seed, STREAM_SHUFFLE, (uint32_t)epoch);
    d->epoch = epoch;
}

enum lab_status lab_data_fill(struct lab_data *d, const struct lab_plan *plan,
                              int tensor, int64_t iteration, void *out)
{
    if (d->spec->data.source == LAB_DATA_INLINE)
        return fill_inline(d, &plan->tensors[tensor], iteration, out);
    deal_epoch(d, iteration / d->facts.batches_per_epoch);
    int64_t first = iteration % d->facts.batches_per_epoch * d->facts.batch;
    for (int64_t i = 0; i < d->facts.batch; i++) {
        int64_t row = d->epoch_order[first + i];
        if (d->text)
            text_put(d, plan, tensor, i, row, out);
        else
            put_row(d, plan, tensor, i, row, out);
    }
    return LAB_OK;
}

bool lab_data_same(const struct lab_data *d, int64_t iteration, int64_t other)
{
    int64_t each = d->facts.batches_per_epoch;
    if (iteration == other)
        return true;
    if (d->spec->data.source != LAB_DATA_INLINE || iteration < 0 || other < 0)
        return false;
    return each == 0 || iteration % each == other % each;
}

void lab_data_fill_held(const struct lab_data *d, const struct lab_plan *plan,
                        int tensor, int64_t first, void *out)
{
    const struct lab_data_facts *f = &d->facts;
    for (int64_t i = 0; i < f->batch; i++) {
        int64_t at = first + i < f->held_rows ? first + i : f->held_rows - 1;
        if (d->text)
            text_put_held(d, plan, tensor, i, at, out);
        else
            put_row(d, plan, tensor, i, d->order[f->train_rows + at], out);
    }
}

const struct lab_vocabulary *lab_data_words(const struct lab_data *d)
{
    return d->words ? d->words : d->spec->data.words;
}

const char *lab_data_word_at(const struct lab_data *d,
                             const struct lab_plan *plan, int tensor,
                             int64_t index, double value)
{
    const struct lab_vocabulary *v = lab_data_words(d);
    const struct lab_tensor *t = &plan->tensors[tensor];
    const struct lab_tensor_spec *s = data_find_inline(d->spec, t->name);
    enum lab_tensor_words about = s ? s->words : LAB_NO_WORDS;
    if (!v || t->role != LAB_TENSOR_DATA)
        return NULL;
    if (d->words && t->dtype == LAB_I32)
        about = LAB_WORD_IDS;
    if (about == LAB_WORD_COLUMNS)
        return lab_vocabulary_word(v, index % t->shape.dim[1] + 1);
    return about == LAB_WORD_IDS ? lab_vocabulary_word(v, (int64_t)value)
                                 : NULL;
}

int lab_data_held_label(const struct lab_data *d, int64_t row)
{
    if (!d->table.label || row >= d->facts.held_rows)
        return -1;
    return d->table.label[d->order[d->facts.train_rows + row]];
}

const struct lab_network_spec *lab_data_spec_of(const struct lab_data *d)
{
    return d->spec;
}

int32_t lab_data_begin_id(const struct lab_data *d)
{
    return (int32_t)d->table.alphabet;
}

const char *lab_data_symbol(const struct lab_data *d, int64_t id)
{
    return d->table.symbols ? reverse_symbol(&d->table, id) : NULL;
}
