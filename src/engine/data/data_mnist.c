/* The IDX files of MNIST (Y. LeCun, C. Cortes, C. Burges), plain or gzip:
 * big-endian words 2051, count, rows, columns, then bytes; labels 2049, count,
 * then bytes. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "data_priv.h"

enum { MAGIC_IMAGES = 2051, MAGIC_LABELS = 2049, MAX_ROWS = 100000000 };

struct idx {
    struct lab_data_file file;
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
        enum lab_status st = lab_data_file_read(&f->file, at, n, &got);
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
    if (claim > LAB_DATA_MOST_BYTES)
        return lab_fail(LAB_E_RANGE,
                        "%s: claims %lld items of %lldx%lld: more than %d MiB",
                        path, (long long)f->count, (long long)f->rows,
                        (long long)f->columns, LAB_DATA_MOST_BYTES >> 20);
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
    st = lab_data_file_open(&f->file, path, stop);
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
    enum { CHUNK = 65536 };
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
    enum lab_status st = lab_data_file_read(&f->file, &more, 1, &got);
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

enum lab_status lab_mnist_read(struct lab_samples *t, const char *dir,
                               const struct lab_stop *stop)
{
    struct idx f[4] = {{.count = 0}};
    struct lab_samples table = {0};
    if (!dir)
        return lab_fail(LAB_E_PARSE, "data: source mnist needs a path: the "
                                     "directory with the four IDX files");
    enum lab_status st = open_pair(&f[0], &f[1], dir, "train-images-idx3-ubyte",
                                   "train-labels-idx1-ubyte", stop);
    if (!st)
        st = open_pair(&f[2], &f[3], dir, "t10k-images-idx3-ubyte",
                       "t10k-labels-idx1-ubyte", stop);
    if (!st && (f[0].rows != f[2].rows || f[0].columns != f[2].columns))
        st = lab_fail(LAB_E_SHAPE,
                      "%s: training and test images differ in "
                      "size",
                      dir);
    if (!st) {
        table.rows = f[0].count + f[2].count;
        table.features = f[0].rows * f[0].columns;
        table.held_from = f[0].count;
        table.classes = 10;
        table.image = (struct lab_shape){3, {f[0].rows, f[0].columns, 1}};
        st = lab_samples_alloc(&table, true, dir);
    }
    for (int part = 0; part < 2 && !st; part++) {
        int64_t first = part * f[0].count;
        st = read_pixels(&f[2 * part], table.x + first * table.features,
                         table.features);
        if (!st)
            st = read_labels(&f[2 * part + 1], table.label + first);
        if (!st)
            st = check_end(&f[2 * part]);
        if (!st)
            st = check_end(&f[2 * part + 1]);
    }
    for (int i = 0; i < 4; i++)
        idx_close(&f[i]);
    if (st) {
        lab_samples_release(&table);
        return st;
    }
    *t = table;
    return LAB_OK;
}
