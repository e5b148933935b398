/* npy.c -- reads an array that numpy.save() wrote (NumPy, NEP 1): a header, a
 * dictionary of Python's with type, order and shape, and the elements. */
#include "host/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "sim/argument.h"

enum { MAGIC_BYTES = 8, HEADER_MOST = 65536 };

/* What follows 'KEY': in the dictionary; NULL: it is not there. */
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    for (int i = 0; i < 2; i++) {
        snprintf(quoted, sizeof(quoted), "%c%s%c:", "'\""[i], key, "'\""[i]);
        const char *at = strstr(header, quoted);
        if (at) {
            at += strlen(quoted);
            return at + strspn(at, " ");
        }
    }
    return NULL;
}

static enum lab_status read_dictionary(const char *path, const char *header,
                                       struct sim_npy *out)
{
    const char *descr = value_of(header, "descr");
    const char *order = value_of(header, "fortran_order");
    const char *shape = value_of(header, "shape");
    if (!descr || !order || !shape || *shape != '(')
        return lab_fail(LAB_E_PARSE,
                        "[sim.npy-header] %s: the header is not NumPy's", path);
    char kind = descr[0] ? descr[2 * (descr[1] != '\0')] : '\0';
    int bytes = kind ? atoi(descr + 3) : 0;
    bool known = (kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)) ||
                 ((kind == 'i' || kind == 'u') &&
                  (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) ||
                 (kind == 'b' && bytes == 1);
    if (!known || descr[1] == '>')
        return lab_fail(
            LAB_E_PARSE,
            "[sim.npy-type] %s: elements of type %.*s are not read: use "
            "float16, float32, float64 or whole numbers",
            path, (int)strcspn(descr, ",}"), descr);
    int64_t count = 1;
    int rank = 0;
    for (shape++; *shape && *shape != ')';) {
        char *end = NULL;
        errno = 0;
        long long n =
            isdigit((unsigned char)*shape) ? strtoll(shape, &end, 10) : -1;
        if (n < 0 || errno || __builtin_mul_overflow(count, n, &count))
            return lab_fail(LAB_E_PARSE,
                            "[sim.npy-shape] %s: a shape that is none", path);
        rank++;
        shape = end + strspn(end, "L, ");
    }
    if (strncmp(order, "True", 4) == 0 && rank > 1)
        return lab_fail(
            LAB_E_PARSE,
            "[sim.npy-order] %s: the last dimension is not the innermost one: "
            "save numpy.ascontiguousarray(a)",
            path);
    *out = (struct sim_npy){.kind = kind, .bytes = bytes, .count = count};
    return LAB_OK;
}

static enum lab_status read_header(const char *path, FILE *f,
                                   struct sim_npy *out)
{
    unsigned char start[MAGIC_BYTES];
    unsigned char length[4] = {0};
    if (fread(start, 1, sizeof(start), f) != sizeof(start) ||
        memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
        return lab_fail(LAB_E_PARSE, "[sim.npy-magic] %s is no .npy file",
                        path);
    size_t wide = start[6] == 1 ? 2 : 4;
    bool whole = fread(length, 1, wide, f) == wide;
    size_t n = (size_t)length[0] | (size_t)length[1] << 8 |
               (size_t)length[2] << 16 | (size_t)length[3] << 24;
    if (!whole || n > HEADER_MOST)
        return lab_fail(LAB_E_PARSE,
                        "[sim.npy-cut] %s: the header is cut off or too long",
                        path);
    char *header = lab_alloc(n + 1);
    if (!header)
        return lab_no_memory("the header of a .npy file");
    enum lab_status st =
        fread(header, 1, n, f) == n
            ? read_dictionary(path, header, out)
            : lab_fail(LAB_E_PARSE, "[sim.npy-cut] %s: the header is cut off",
                       path);
    lab_free(header);
    return st;
}

enum lab_status sim_npy_read(const char *path, struct sim_npy *out)
{
    struct stat about;
    struct sim_npy npy = {0};
    if (stat(path, &about))
        return lab_fail(LAB_E_IO, "[sim.npy-read] cannot read %s: %s", path,
                        strerror(errno));
    if (!S_ISREG(about.st_mode))
        return lab_fail(LAB_E_IO, "[sim.npy-kind] %s is no file", path);
    FILE *f = fopen(path, "rb");
    if (!f)
        return lab_fail(LAB_E_IO, "[sim.npy-read] cannot read %s: %s", path,
                        strerror(errno));
    enum lab_status st = read_header(path, f, &npy);
    /* The file's length bounds what its header may ask for. */
    if (!st && npy.count > about.st_size / npy.bytes)
        st = lab_fail(LAB_E_PARSE, "[sim.npy-cut] %s is cut off", path);
    if (!st)
        npy.data = lab_alloc((size_t)(npy.count * npy.bytes));
    if (!st && !npy.data)
        st = lab_no_memory("a .npy file");
    if (!st && fread(npy.data, (size_t)npy.bytes, (size_t)npy.count, f) !=
                   (size_t)npy.count)
        st = lab_fail(LAB_E_PARSE, "[sim.npy-cut] %s is cut off", path);
    fclose(f);
    if (st)
        sim_npy_release(&npy);
    else
        *out = npy;
    return st;
}

double sim_npy_at(const struct sim_npy *n, int64_t i)
{
    static const enum lab_sim_type reals[] = {[2] = LAB_SIM_TYPE_HALF,
                                              [4] = LAB_SIM_TYPE_FLOAT,
                                              [8] = LAB_SIM_TYPE_DOUBLE};
    static const enum lab_sim_type whole[2][9] = {{[1] = LAB_SIM_TYPE_UCHAR,
                                                   [2] = LAB_SIM_TYPE_USHORT,
                                                   [4] = LAB_SIM_TYPE_UNSIGNED,
                                                   [8] = LAB_SIM_TYPE_ULONG},
                                                  {[1] = LAB_SIM_TYPE_CHAR,
                                                   [2] = LAB_SIM_TYPE_SHORT,
                                                   [4] = LAB_SIM_TYPE_INT,
                                                   [8] = LAB_SIM_TYPE_LONG}};
    enum lab_sim_type type =
        n->kind == 'f' ? reals[n->bytes] : whole[n->kind == 'i'][n->bytes];
    return lab_sim_real_at(type, n->data, i);
}

void sim_npy_release(struct sim_npy *n)
{
    lab_free(n->data);
    *n = (struct sim_npy){0};
}
