/* step_npy.c -- `step --npy`: writes tensors as NumPy files. */
#include "debug/step_npy.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static bool is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    bool empty = d != NULL;
    for (struct dirent *f = d ? readdir(d) : NULL; f && empty; f = readdir(d))
        empty = strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0;
    if (d)
        closedir(d);
    return empty;
}

enum lab_status lab_npy_open(const char *dir)
{
    if (mkdir(dir, 0777) == 0)
        return LAB_OK;
    if (errno != EEXIST)
        return lab_fail(LAB_E_IO, "cannot make %s: %s", dir, strerror(errno));
    if (!is_empty(dir))
        return lab_fail(LAB_E_IO,
                        "%s is there already and holds something: name a new "
                        "or an empty directory",
                        dir);
    return LAB_OK;
}

/* '<f4', little-endian as the machines that the program is built for. NumPy has
 * no bf16: its bits are stored. */
static const char *descr_of(enum lab_dtype dtype)
{
    static const char *const descr[LAB_DTYPE_COUNT] = {[LAB_F32] = "<f4",
                                                       [LAB_F64] = "<f8",
                                                       [LAB_I32] = "<i4",
                                                       [LAB_F16] = "<f2",
                                                       [LAB_BFLOAT16] = "<u2"};
    return descr[dtype];
}

/* Magic, version 1.0, length, and a Python dictionary that is padded so that
 * the data starts at a multiple of 64. (NumPy, NEP 1.) */
static enum lab_status add_header(struct lab_str *out,
                                  const struct lab_tensor *t)
{
    enum { FIXED = 10, ALIGN = 64 };
    lab_str_addf(out, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                 descr_of(t->dtype));
    for (int i = 0; i < t->shape.rank; i++)
        lab_str_addf(out, "%lld,", (long long)t->shape.dim[i]);
    lab_str_addf(out, "), }");
    while ((FIXED + out->len + 1) % ALIGN != 0)
        lab_str_addf(out, " ");
    lab_str_addf(out, "\n");
    return lab_str_check(out, "a header");
}

static enum lab_status write_file(const char *path, const struct lab_tensor *t,
                                  const void *data)
{
    struct lab_str header;
    lab_str_init(&header);
    enum lab_status st = add_header(&header, t);
    FILE *f = st ? NULL : fopen(path, "wb");
    if (!st && !f)
        st = lab_fail(LAB_E_IO, "cannot write %s: %s", path, strerror(errno));
    if (f) {
        unsigned char start[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   (unsigned char)(header.len & 255),
                                   (unsigned char)(header.len >> 8)};
        size_t n = (size_t)t->count;
        size_t each = lab_dtype_bytes(t->dtype);
        bool whole =
            fwrite(start, 1, sizeof(start), f) == sizeof(start) &&
            fwrite(lab_str_text(&header), 1, header.len, f) == header.len &&
            fwrite(data, each, n, f) == n;
        if (fclose(f) != 0 || !whole)
            st = lab_fail(LAB_E_IO, "cannot write %s: %s", path,
                          strerror(errno));
    }
    lab_str_release(&header);
    return st;
}

static enum lab_status write_tensor(struct lab_lesson_run *w, const char *dir,
                                    int tensor, bool before)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    struct lab_str path;
    struct lab_str partial;
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    enum lab_status st = LAB_OK;
    lab_str_init(&path);
    lab_str_init(&partial);
    lab_str_addf(&path, "%s/%s%s.npy", dir, t->name, before ? ".before" : "");
    lab_str_addf(&partial, "%s.part", lab_str_text(&path));
    if (!data || path.failed || partial.failed)
        st = lab_fail(LAB_E_NOMEM, "no memory to write %s", t->name);
    if (!st)
        st = lab_walk_read(w->walk, tensor, false, data);
    if (!st)
        st = write_file(lab_str_text(&partial), t, data);
    if (!st && rename(lab_str_text(&partial), lab_str_text(&path)) != 0)
        st = lab_fail(LAB_E_IO, "cannot write %s: %s", lab_str_text(&path),
                      strerror(errno));
    if (st)
        remove(lab_str_text(&partial));
    lab_str_release(&path);
    lab_str_release(&partial);
    lab_free(data);
    return st;
}

/* Patterns are separated by commas, which no name holds. */
static bool matches(const char *patterns, const char *name)
{
    char one[256];
    for (const char *p = patterns; *p;) {
        size_t n = strcspn(p, ",");
        snprintf(one, sizeof(one), "%.*s", n < sizeof(one) ? (int)n : 0, p);
        if (fnmatch(one, name, 0) == 0)
            return true;
        p += n + (p[n] == ',');
    }
    return false;
}

enum lab_status lab_npy_write(struct lab_lesson_run *w, const char *dir,
                              const char *patterns, bool before, int64_t *count)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        if (before ? !t->persistent : !lab_walk_written(w->walk, i))
            continue;
        if (patterns && !matches(patterns, t->name))
            continue;
        st = write_tensor(w, dir, i, before);
        *count += !st;
    }
    return st;
}
