/* data_table.c -- data sets in files: tables of numbers as CSV, the digits,
 * MNIST; and the file, plain or gzip, that every source reads. */
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
#include "base/mem.h"
#include "base/str.h"
#include "data_priv.h"

/* Tables of samples, and the comma-separated reader behind digits and csv. */

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
static enum lab_status open_regular(struct data_file *f, int *out)
{
    struct stat info;
    int fd = -1;
    do
        fd = open(f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return lab_fail(LAB_E_IO, "%s: cannot open: %s", f->path,
                        strerror(errno));
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        f->bytes = info.st_size;
        *out = fd;
        return LAB_OK;
    }
    const char *what = S_ISDIR(info.st_mode)    ? "a directory"
                       : S_ISFIFO(info.st_mode) ? "a pipe"
                                                : "a device or a socket";
    close(fd);
    return lab_fail(LAB_E_IO,
                    "%s: cannot be read: it is %s, not a regular file", f->path,
                    what);
}

static enum lab_status file_open(struct data_file *f, const char *path,
                                 const struct lab_stop *stop)
{
    struct stat info;
    int fd = -1;
    *f = (struct data_file){.path = path, .stop = stop};
    /* A device is not opened at all; a file that becomes one is closed. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) &&
        !S_ISDIR(info.st_mode) && !S_ISFIFO(info.st_mode))
        return lab_fail(LAB_E_IO,
                        "%s: cannot be read: it is a device or a socket, not a "
                        "regular file",
                        path);
    enum lab_status st = open_regular(f, &fd);
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
        return lab_fail(LAB_E_IO, "%s: cannot be read: %s", f->path,
                        code == Z_ERRNO ? strerror(errno) : why);
    }
    f->read += n;
    if (f->read > MOST_BYTES)
        return lab_fail(LAB_E_RANGE, "%s: is longer than %d MiB%s", f->path,
                        MOST_BYTES >> 20, gzdirect(f->gz) ? "" : ", unpacked");
    *got = (size_t)n;
    return LAB_OK;
}

static enum lab_status file_close(struct data_file *f)
{
    int closed = f->gz ? gzclose(f->gz) : Z_OK;
    f->gz = NULL;
    return closed == Z_BUF_ERROR
               ? lab_fail(LAB_E_IO, "%s: is cut short", f->path)
               : LAB_OK;
}

enum lab_status lab_data_file_text(const char *path,
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
    if (memchr(c->text, '\0', (size_t)len))
        *st = lab_fail(LAB_E_PARSE,
                       "%s:%lld: holds a NUL byte: this is not a text file",
                       c->path, (long long)c->line + 1);
    else if (len > MAX_LINE)
        *st = lab_fail(LAB_E_PARSE, "%s:%lld: the line is longer than %d MiB",
                       c->path, (long long)c->line + 1, MAX_LINE >> 20);
    if (c->text[len - 1] == '\n')
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
                        "%s:%lld: the label %g is not a whole number from 0",
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
                        "%s:%lld: has %lld columns, numbered from 0: "
                        "label_column %lld is outside",
                        c->path, (long long)c->line, (long long)columns,
                        (long long)c->spec->label_column);
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
                          "%s:%lld: has %lld columns, the lines before it %lld",
                          c->path, (long long)c->line, (long long)n,
                          (long long)t->features + 1);
        if (!st)
            st = grow_rows(t, &room, c);
        if (!st)
            st = store_row(t, c, cell, t->features + 1);
    }
    lab_free(cell);
    if (!st && t->rows == 0)
        st = lab_fail(LAB_E_PARSE, "%s: holds no rows", c->path);
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

enum lab_status lab_digits_read(struct lab_data *d, const char *path)
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
        st =
            lab_fail(LAB_E_SHAPE, "%s: has %lld features a row, digits have 64",
                     lab_str_text(&found), (long long)d->table.features);
    d->table.image = (struct lab_shape){3, {8, 8, 1}};
    lab_str_release(&found);
    return st;
}

enum lab_status lab_csv_read(struct lab_data *d, const char *path)
{
    return path ? read_csv(d, path, &d->spec->data, d->labels)
                : lab_fail(LAB_E_PARSE, "data: source csv needs a path:");
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
    return lab_fail(LAB_E_IO,
                    "%s has no file %s or %s.gz: put the four MNIST files "
                    "there, or name their directory with --data DIR",
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
            return lab_fail(LAB_E_IO, "%s: is cut short or damaged in its %s",
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
                        "%s: claims %lld items of %lldx%lld: not believable",
                        path, (long long)f->count, (long long)f->rows,
                        (long long)f->columns);
    int64_t claim = head + f->count * f->rows * f->columns;
    bool plain = gzdirect(f->file.gz) != 0;
    int64_t bytes = f->file.bytes;
    if (claim > (plain ? bytes : 1032 * bytes))
        return lab_fail(LAB_E_IO,
                        "%s: is cut short: its header claims %lld items of "
                        "%lldx%lld, %lld bytes, and the file has %lld%s",
                        path, (long long)f->count, (long long)f->rows,
                        (long long)f->columns, (long long)claim,
                        (long long)bytes, plain ? "" : ", packed");
    if (claim > MOST_BYTES)
        return lab_fail(LAB_E_RANGE,
                        "%s: claims %lld items of %lldx%lld: more than %d MiB",
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
                        "%s: is not an IDX file of %s: it begins with %lld, "
                        "not %d",
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
            return lab_fail(LAB_E_RANGE,
                            "%s: label %lld is %d; digits are 0 to 9",
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
                        "%s: goes on after the %lld items that its header "
                        "claims",
                        lab_str_text(&f->path), (long long)f->count);
    return lab_fail(LAB_E_IO, "%s: is cut short or damaged at its end",
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
        st = lab_fail(LAB_E_SHAPE, "%s holds %lld images, %s %lld labels",
                      lab_str_text(&images->path), (long long)images->count,
                      lab_str_text(&labels->path), (long long)labels->count);
    return st;
}

enum lab_status lab_mnist_read(struct lab_data *d, const char *dir)
{
    struct idx f[4] = {{.count = 0}};
    struct lab_samples *t = &d->table;
    if (!dir)
        return lab_fail(LAB_E_PARSE, "data: source mnist needs a path: the "
                                     "directory with the four IDX files");
    enum lab_status st = open_pair(&f[0], &f[1], dir, "train-images-idx3-ubyte",
                                   "train-labels-idx1-ubyte", d->stop);
    if (!st)
        st = open_pair(&f[2], &f[3], dir, "t10k-images-idx3-ubyte",
                       "t10k-labels-idx1-ubyte", d->stop);
    if (!st && (f[0].rows != f[2].rows || f[0].columns != f[2].columns))
        st = lab_fail(LAB_E_SHAPE,
                      "%s: training and test images differ in "
                      "size",
                      dir);
    if (!st) {
        t->rows = f[0].count + f[2].count;
        t->features = f[0].rows * f[0].columns;
        t->held_from = f[0].count;
        t->classes = 10;
        t->image = (struct lab_shape){3, {f[0].rows, f[0].columns, 1}};
        st = lab_samples_alloc(t, true, dir);
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
