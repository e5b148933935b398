/* argument.c -- a kernel's arguments as words: read, compared with the kernel's
 * parameters, and made memory that a launch can use. */
#include "sim/argument.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "check/memory.h"

/* ---- an array that numpy.save() wrote (NumPy, NEP 1): a header, a dictionary of
 * Python's with type, order and shape, and the elements ---- */

struct npy {
    char kind; /* 'f', 'i', 'u', 'b' */
    int bytes; /* of an element */
    int64_t count;
    void *data; /* row-major, of this machine's byte order; owned */
};

static void npy_release(struct npy *n)
{
    lab_free(n->data);
    *n = (struct npy){0};
}

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
                                       struct npy *out)
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
    *out = (struct npy){.kind = kind, .bytes = bytes, .count = count};
    return LAB_OK;
}

static enum lab_status read_header(const char *path, FILE *f, struct npy *out)
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

static enum lab_status npy_read(const char *path, struct npy *out)
{
    struct stat about;
    struct npy npy = {0};
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
        npy_release(&npy);
    else
        *out = npy;
    return st;
}

static double npy_at(const struct npy *n, int64_t i)
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

/* ---- types ---- */

static const struct type {
    const char *name;
    int bytes;
    int exponent; /* bits; 0: an integer */
    int fraction;
    bool is_signed;
} types[] = {
#define X(code, name, bytes, exponent, fraction, is_signed)                    \
    {name, bytes, exponent, fraction, is_signed},
    LAB_SIM_TYPE_LIST(X)
#undef X
};

int lab_sim_type_bytes(enum lab_sim_type type)
{
    return types[type].bytes;
}

const char *lab_sim_type_name(enum lab_sim_type type)
{
    return types[type].name;
}

bool lab_sim_type_is_real(enum lab_sim_type type)
{
    return types[type].exponent > 0;
}

static bool find_type(const char *name, size_t n, enum lab_sim_type *out)
{
    for (int i = 0; i < LAB_SIM_TYPE_COUNT; i++) {
        if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0) {
            *out = (enum lab_sim_type)i;
            return true;
        }
    }
    return false;
}

static enum lab_status no_type(const char *spec, const char *name, size_t n)
{
    const char *names[LAB_SIM_TYPE_COUNT];
    char word[32];
    for (int i = 0; i < LAB_SIM_TYPE_COUNT; i++)
        names[i] = types[i].name;
    snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 31, name);
    const char *near = lab_nearest(word, names, LAB_SIM_TYPE_COUNT);
    return lab_fail(
        LAB_E_USAGE,
        "[sim.arg-type] '%s': no type '%s'%s%s%s: use float, double, int, "
        "unsigned, long, half or bfloat16",
        spec, word, near ? " (did you mean '" : "", near ? near : "",
        near ? "'?)" : "");
}

/* A real number of few bits, rounded to the nearest, ties to even: the bits of
 * half and bfloat16. */
static uint64_t encode(double v, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint64_t sign = (uint64_t)(signbit(v) != 0)
                    << (exponent_bits + fraction_bits);
    uint64_t infinity = (((uint64_t)1 << exponent_bits) - 1) << fraction_bits;
    if (isnan(v))
        return sign | infinity | (uint64_t)1 << (fraction_bits - 1);
    if (isinf(v))
        return sign | infinity;
    int e = v == 0 ? 1 - bias : ilogb(v);
    if (e < 1 - bias)
        e = 1 - bias; /* subnormal */
    if (e > bias)
        return sign | infinity;
    /* Units of the last place; rounding up may carry into the exponent. */
    uint64_t units = (uint64_t)nearbyint(ldexp(fabs(v), fraction_bits - e));
    return sign | (units + ((uint64_t)(e + bias - 1) << fraction_bits));
}

static double decode(uint64_t bits, int exponent_bits, int fraction_bits)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint64_t one = 1;
    uint64_t fraction = bits & ((one << fraction_bits) - 1);
    int e = (int)(bits >> fraction_bits & ((one << exponent_bits) - 1));
    bool negative = bits >> (exponent_bits + fraction_bits) & 1;
    double v = e == (1 << exponent_bits) - 1
                   ? (fraction ? (double)NAN : (double)INFINITY)
               : e == 0 ? ldexp((double)fraction, 1 - bias - fraction_bits)
                        : ldexp((double)(fraction | one << fraction_bits),
                                e - bias - fraction_bits);
    return negative ? -v : v;
}

static void put_real(enum lab_sim_type type, void *to, double v)
{
    const struct type *t = &types[type];
    if (type == LAB_SIM_TYPE_DOUBLE) {
        memcpy(to, &v, sizeof(v));
    } else {
        uint64_t bits = encode(v, t->exponent, t->fraction);
        if (type == LAB_SIM_TYPE_FLOAT)
            memcpy(to, &(uint32_t){(uint32_t)bits}, 4);
        else
            memcpy(to, &(uint16_t){(uint16_t)bits}, 2);
    }
}

static void put_integer(enum lab_sim_type type, void *to, int64_t v)
{
    switch (types[type].bytes) {
    case 1:
        memcpy(to, &(uint8_t){(uint8_t)v}, 1);
        break;
    case 2:
        memcpy(to, &(uint16_t){(uint16_t)v}, 2);
        break;
    case 4:
        memcpy(to, &(uint32_t){(uint32_t)v}, 4);
        break;
    default:
        memcpy(to, &v, 8);
    }
}

int64_t lab_sim_integer_at(enum lab_sim_type type, const void *data, int64_t i)
{
    const struct type *t = &types[type];
    int64_t v = 0;
    int unused = 64 - 8 * t->bytes;
    memcpy(&v, (const char *)data + i * t->bytes, (size_t)t->bytes);
    uint64_t high = (uint64_t)v << unused;
    if (!t->is_signed)
        return (int64_t)(high >> unused);
    memcpy(&v, &high, sizeof(v));
    return v >> unused; /* arithmetic, with gcc and clang */
}

const char *lab_sim_integer_text(enum lab_sim_type type, const void *data,
                                 int64_t i, char *out)
{
    const int64_t v = lab_sim_integer_at(type, data, i);
    if (type == LAB_SIM_TYPE_ULONG)
        snprintf(out, LAB_SIM_INTEGER, "%" PRIu64, (uint64_t)v);
    else
        snprintf(out, LAB_SIM_INTEGER, "%" PRId64, v);
    return out;
}

double lab_sim_real_at(enum lab_sim_type type, const void *data, int64_t i)
{
    const struct type *t = &types[type];
    if (t->exponent == 0) {
        int64_t v = lab_sim_integer_at(type, data, i);
        return type == LAB_SIM_TYPE_ULONG ? (double)(uint64_t)v : (double)v;
    }
    if (type == LAB_SIM_TYPE_DOUBLE) {
        double v;
        memcpy(&v, (const char *)data + i * 8, 8);
        return v;
    }
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * t->bytes, (size_t)t->bytes);
    return decode(bits, t->exponent, t->fraction);
}

/* false: the type does not hold it. A real is rounded. */
static bool put(enum lab_sim_type type, void *to, double v)
{
    const struct type *t = &types[type];
    if (t->exponent > 0) {
        put_real(type, to, v);
        return true;
    }
    double most = ldexp(1, 8 * t->bytes - t->is_signed);
    if (!(v == floor(v) && v < most && v >= (t->is_signed ? -most : 0)) ||
        (type == LAB_SIM_TYPE_BOOL && v > 1))
        return false;
    uint64_t bits = v < 0 ? 0 - (uint64_t)-v : (uint64_t)v;
    int64_t whole;
    memcpy(&whole, &bits, sizeof(whole));
    put_integer(type, to, whole);
    return true;
}

/* "5", "-0x10", "2.5", "inf". Whole numbers keep all 64 bits. */
static bool read_number(enum lab_sim_type type, const char *text, void *to)
{
    char *end = NULL;
    const struct type *t = &types[type];
    errno = 0;
    if (!*text || *text == ' ')
        return false;
    if (t->exponent > 0) {
        double v = strtod(text, &end);
        put_real(type, to, v);
        return end != text && *end == '\0';
    }
    if (t->is_signed || t->bytes < 8) {
        long long v = strtoll(text, &end, 0);
        return !errno && end != text && *end == '\0' &&
               (t->bytes == 8 ? (memcpy(to, &v, 8), true)
                              : put(type, to, (double)v));
    }
    unsigned long long v = strtoull(text, &end, 0);
    memcpy(to, &v, 8);
    return !errno && end != text && *end == '\0' && *text != '-';
}

/* ---- words ---- */

static enum lab_status read_sides(const char *spec, const char **at,
                                  struct lab_sim_argument *a)
{
    int64_t count = 1;
    const char *p = *at + 1;
    for (;; p++) {
        char *end = NULL;
        errno = 0;
        long long n = *p >= '0' && *p <= '9' ? strtoll(p, &end, 10) : 0;
        if (errno || n < 1 || (*end != ',' && *end != ']'))
            return lab_fail(
                LAB_E_USAGE,
                "[sim.arg-shape] '%s': between [ and ] there are whole numbers "
                "from 1, with commas: float[32,33]",
                spec);
        if (a->rank == LAB_SIM_MAX_RANK)
            return lab_fail(LAB_E_USAGE,
                            "[sim.arg-rank] '%s': at most %d dimensions", spec,
                            LAB_SIM_MAX_RANK);
        if (__builtin_mul_overflow(count, n, &count) || count > INT64_MAX / 16)
            return lab_fail(
                LAB_E_RANGE,
                "[sim.arg-elements] '%s': more elements than any memory has",
                spec);
        a->dim[a->rank++] = n;
        p = end;
        if (*p == ']')
            break;
    }
    a->count = count;
    *at = p + 1;
    return LAB_OK;
}

static enum lab_status read_fill(const char *spec, const char *text,
                                 struct lab_sim_argument *a)
{
    a->fill = LAB_SIM_FILL_NUMBER;
    if (strcmp(text, "random") == 0) {
        a->fill = LAB_SIM_FILL_RANDOM;
    } else if (strcmp(text, "iota") == 0) {
        a->fill = LAB_SIM_FILL_IOTA;
    } else if (text[0] == '@' && text[1]) {
        a->fill = LAB_SIM_FILL_FILE;
        a->file = text + 1;
    } else if (strcmp(text, "zero") != 0 &&
               !read_number(a->type, text, a->value)) {
        return lab_fail(LAB_E_USAGE,
                        "[sim.arg-fill] '%s': fill it with random, zero, iota, "
                        "a number that "
                        "%s holds, or @FILE.npy, not with '%s'",
                        spec, types[a->type].name, text);
    }
    return LAB_OK;
}

static enum lab_status read_memory(const char *spec, const char *at,
                                   struct lab_sim_argument *a)
{
    size_t n = strcspn(at, "[=:");
    enum lab_status st;
    if (!find_type(at, n, &a->type))
        return no_type(spec, at, n);
    at += n;
    if (*at != '[')
        return lab_fail(
            LAB_E_USAGE,
            "[sim.arg-count] '%s': how many elements? write %s[1024]", spec,
            types[a->type].name);
    st = read_sides(spec, &at, a);
    if (st)
        return st;
    if (*at == '=' && a->direction == LAB_SIM_OUT)
        return lab_fail(LAB_E_USAGE,
                        "[sim.arg-out] '%s': `out` is memory that nothing has "
                        "written; with "
                        "values it is `inout`",
                        spec);
    if (*at && *at != '=')
        return lab_fail(LAB_E_USAGE,
                        "[sim.arg-rest] '%s': not understood from '%s' on",
                        spec, at);
    if (a->direction == LAB_SIM_OUT)
        return LAB_OK;
    return read_fill(spec, *at ? at + 1 : "random", a);
}

enum lab_status lab_sim_argument_read(const char *spec,
                                      struct lab_sim_argument *out)
{
    static const struct {
        const char *word;
        enum lab_sim_direction direction;
    } kinds[] = {
        {"in", LAB_SIM_IN}, {"out", LAB_SIM_OUT}, {"inout", LAB_SIM_INOUT}};
    struct lab_sim_argument a = {.spec = spec};
    size_t n = strcspn(spec, ":");
    if (spec[n] != ':')
        return lab_fail(
            LAB_E_USAGE,
            "[sim.arg-form] '%s': an argument is a value, int:5, or memory, "
            "in:float[1024]=random, out:float[1024], "
            "inout:float[1024]=zero",
            spec);
    const char *rest = spec + n + 1;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].word) == n && memcmp(kinds[i].word, spec, n) == 0)
            a.direction = kinds[i].direction;
    }
    if (a.direction != LAB_SIM_VALUE) {
        enum lab_status st = read_memory(spec, rest, &a);
        if (st)
            return st;
    } else if (!find_type(spec, n, &a.type)) {
        return no_type(spec, spec, n);
    } else if (!read_number(a.type, rest, a.value)) {
        return lab_fail(
            LAB_E_USAGE,
            "[sim.arg-number] '%s': '%s' is no number that %s holds", spec,
            rest, types[a.type].name);
    }
    *out = a;
    return LAB_OK;
}

void lab_sim_shape_add(struct lab_str *out, const struct lab_sim_argument *a)
{
    lab_str_add(out, types[a->type].name);
    for (int i = 0; i < a->rank; i++)
        lab_str_addf(out, "%c%lld", i ? ',' : '[', (long long)a->dim[i]);
    lab_str_add(out, a->rank ? "]" : "");
}

/* ---- against the kernel's parameters ---- */

/* The list in the last brackets of "void scale<float>(float*, int)". */
static const char *parameter_list(const char *types_text)
{
    const char *end = types_text ? strrchr(types_text, ')') : NULL;
    int depth = 0;
    for (const char *p = end; p && p >= types_text; p--) {
        depth += (*p == ')') - (*p == '(');
        if (depth == 0)
            return p + 1;
    }
    return NULL;
}

/* Parameter i of the list; false: there are not so many. */
static bool parameter_text(const char *list, int i, const char **from,
                           size_t *n)
{
    int depth = 0;
    const char *p = list;
    *from = p;
    for (; *p; p++) {
        bool end = depth == 0 && (*p == ',' || *p == ')');
        if (end && i == 0) {
            *n = (size_t)(p - *from);
            return *n > 0;
        }
        if (end && *p == ')')
            return false;
        if (end) {
            i--;
            *from = p + 1 + (p[1] == ' ');
        }
        depth += strchr("(<[", *p) != NULL;
        depth -= depth > 0 && strchr(")>]", *p) != NULL;
    }
    return false;
}

static int64_t parameter_bytes(const struct lab_ptx_variable *p)
{
    return p->elements * lab_ptx_type_bytes(p->type);
}

/* The list of the demangled name, where it is one of the kernel's parameters. */
static const char *list_of(const struct lab_ptx_function *kernel,
                           const char *types_text)
{
    const char *list = parameter_list(types_text);
    const char *text;
    size_t n;
    /* A list that is no list of these: a name that was not demangled. */
    if (list && kernel->param_count > 0 &&
        (!parameter_text(list, kernel->param_count - 1, &text, &n) ||
         parameter_text(list, kernel->param_count, &text, &n)))
        return NULL;
    return list;
}

/* The type of parameter i, as C++ or the source has it; NULL: not known. */
static const char *type_of(const char *list,
                           const struct lab_sim_parameter *source, int i,
                           size_t *n)
{
    const char *text;
    if (list && parameter_text(list, i, &text, n))
        return text;
    if (!source || !source[i].type[0])
        return NULL;
    *n = strlen(source[i].type);
    return source[i].type;
}

void lab_sim_parameters_add(struct lab_str *out,
                            const struct lab_ptx_function *kernel,
                            const char *types_text,
                            const struct lab_sim_parameter *source)
{
    const char *list = list_of(kernel, types_text);
    static const char *const names[LAB_PTX_TYPE_COUNT] = {
        [LAB_PTX_F32] = "float",
        [LAB_PTX_F64] = "double",
        [LAB_PTX_U64] = "pointer or 8 bytes",
        [LAB_PTX_B64] = "pointer or 8 bytes",
        [LAB_PTX_S64] = "8 bytes"};
    lab_str_add(out, "(");
    for (int i = 0; i < kernel->param_count; i++) {
        const struct lab_ptx_variable *p = &kernel->params[i];
        size_t n;
        const char *text = type_of(list, source, i, &n);
        lab_str_add(out, i ? ", " : "");
        if (text)
            lab_str_add_bytes(out, text, n);
        else if (p->elements == 1 && names[p->type])
            lab_str_add(out, names[p->type]);
        else
            lab_str_addf(out, "%lld bytes", (long long)parameter_bytes(p));
        if (source && source[i].name[0])
            lab_str_addf(
                out, "%s%s",
                text && n > 1 && memcmp(text + n - 2, " *", 2) == 0 ? "" : " ",
                source[i].name);
    }
    lab_str_add(out, ")");
}

/* What a pointer points to, less const and its kind: "float const*" and "const float
 * *__restrict__" to float; -1: not known, or none of --arg's types. */
static int pointee(const char *text, size_t n)
{
    static const char *const ignored[] = {"const", "volatile", "__restrict__",
                                          "__restrict"};
    char words[64] = "";
    size_t used = 0;
    int stars = 0;
    for (size_t i = 0; i < n;) {
        size_t k = 0;
        bool skipped = text[i] == ' ' || text[i] == '*';
        stars += text[i] == '*';
        while (i + k < n && text[i + k] != ' ' && text[i + k] != '*')
            k++;
        for (size_t w = 0; w < sizeof(ignored) / sizeof(ignored[0]); w++)
            skipped = skipped || (strlen(ignored[w]) == k &&
                                  memcmp(ignored[w], text + i, k) == 0);
        if (!skipped && (stars > 0 || used + k + 2 > sizeof(words)))
            return -1;
        if (!skipped) {
            used +=
                (size_t)snprintf(words + used, sizeof(words) - used, "%s%.*s",
                                 used ? " " : "", (int)k, text + i);
        }
        i += k > 0 ? k : 1;
    }
    return stars == 1 ? lab_sim_type_of_words(words, used) : -1;
}

/* Elements of other sizes than what a pointer points to. Bytes may be of anything. */
static bool is_other_size(int of, enum lab_sim_type type)
{
    return of >= 0 && types[of].bytes > 1 &&
           types[of].bytes != types[type].bytes;
}

/* Real numbers for whole ones, or the other way. Without a sign these are bits. */
static bool is_other_kind(int of, enum lab_sim_type type)
{
    return of >= 0 && (types[of].exponent > 0 || types[of].is_signed) &&
           types[of].bytes > 1 && types[of].exponent != types[type].exponent &&
           (types[of].exponent > 0 || types[type].exponent > 0);
}

/* Why an argument is not what a parameter takes; NULL: it is. */
static const char *mismatch(const struct lab_ptx_variable *p, const char *text,
                            size_t n, const struct lab_sim_argument *a)
{
    bool memory = a->direction != LAB_SIM_VALUE;
    /* "float (*) [32]" is a pointer, too. */
    bool pointer =
        text && n &&
        (text[n - 1] == '*' || text[n - 1] == '&' || memmem(text, n, "(*", 2));
    bool known = text && p->elements == 1;
    bool is_real = p->type == LAB_PTX_F32 || p->type == LAB_PTX_F64;
    bool is_bits = p->elements != 1 || p->type == LAB_PTX_B8 ||
                   p->type == LAB_PTX_B16 || p->type == LAB_PTX_B32 ||
                   p->type == LAB_PTX_B64;
    if (memory && (parameter_bytes(p) != 8 || is_real || (known && !pointer)))
        return "is no pointer: write a value, int:5 or float:2.5";
    if (!memory && pointer)
        return "is a pointer: write in:, out: or inout:";
    if (!memory && parameter_bytes(p) != types[a->type].bytes)
        return parameter_bytes(p) == 8   ? "has 8 bytes: write long: or double:"
               : parameter_bytes(p) == 4 ? "has 4 bytes: write int:, unsigned: "
                                           "or float:"
               : parameter_bytes(p) == 2 ? "has 2 bytes: write half:, "
                                           "bfloat16: or short:"
               : parameter_bytes(p) == 1
                   ? "has 1 byte: write bool:, char: or uchar:"
                   : "is a structure, which --arg cannot write";
    if (!memory && !is_bits && is_real != (types[a->type].exponent > 0) &&
        types[a->type].bytes > 2)
        return is_real ? "is a real number: write float: or double:"
                       : "is a whole number: write int:, unsigned: or long:";
    return NULL;
}

enum lab_status lab_sim_arguments_check(const struct lab_ptx_function *kernel,
                                        const char *types_text,
                                        const struct lab_sim_parameter *source,
                                        const struct lab_sim_argument *args,
                                        int count, struct lab_str *notes)
{
    const char *list = list_of(kernel, types_text);
    struct lab_str takes;
    enum lab_status st = LAB_OK;
    lab_str_init(&takes);
    lab_sim_parameters_add(&takes, kernel, types_text, source);
    if (count != kernel->param_count)
        st = lab_fail(LAB_E_RANGE,
                      "[sim.args-count] the kernel takes %d argument%s %s, and "
                      "%d %s given "
                      "(--arg, in this order)",
                      kernel->param_count, kernel->param_count == 1 ? "" : "s",
                      lab_str_text(&takes), count, count == 1 ? "is" : "are");
    for (int i = 0; i < count && !st; i++) {
        size_t n = 0;
        const char *type = type_of(list, source, i, &n);
        const char *name = source ? source[i].name : "";
        /* What the source writes may be another name of a pointer. */
        const char *wrong = mismatch(&kernel->params[i], list ? type : NULL,
                                     list ? n : 0, &args[i]);
        int of =
            type && args[i].direction != LAB_SIM_VALUE ? pointee(type, n) : -1;
        if (wrong)
            st = lab_fail(LAB_E_RANGE,
                          "[sim.arg-kind] --arg '%s': parameter %d%s%.*s%s%s%s "
                          "%s; the kernel takes %s",
                          args[i].spec, i, type ? ", " : "", (int)n,
                          type ? type : "", name[0] ? " " : "", name,
                          type ? "," : "", wrong, lab_str_text(&takes));
        else if (is_other_size(of, args[i].type))
            st = lab_fail(LAB_E_RANGE,
                          "[sim.arg-type] --arg '%s': parameter %d, %.*s%s%s, "
                          "points to %s, not to %s: write %.*s:%s[...]",
                          args[i].spec, i, (int)n, type, name[0] ? " " : "",
                          name, types[of].name, types[args[i].type].name,
                          (int)strcspn(args[i].spec, ":"), args[i].spec,
                          types[of].name);
        else if (is_other_kind(of, args[i].type))
            lab_str_addf(notes,
                         "%s--arg '%s': parameter %d, %.*s%s%s, points to %s: "
                         "the kernel reads the bits of %s as %s",
                         notes->len ? "\n" : "", args[i].spec, i, (int)n, type,
                         name[0] ? " " : "", name, types[of].name,
                         types[args[i].type].name, types[of].name);
    }
    if (!st)
        st = lab_str_check(&takes, "the parameters of a kernel");
    lab_str_release(&takes);
    return st;
}

/* ---- memory ---- */

static void fill_random(struct lab_sim_argument *a, int number, uint64_t seed,
                        lab_sim_word_fn *random)
{
    const struct type *t = &types[a->type];
    for (int64_t i = 0; i < a->count; i++) {
        char *to = (char *)a->data + i * t->bytes;
        uint32_t word = random(seed, number, (uint64_t)i);
        if (t->exponent > 0)
            put_real(a->type, to, (double)(word >> 8) / 8388608.0 - 1);
        else
            put_integer(a->type, to,
                        (int64_t)((uint64_t)word *
                                      (a->type == LAB_SIM_TYPE_BOOL ? 2 : 10) >>
                                  32));
    }
}

static enum lab_status fill_file(struct lab_sim_argument *a)
{
    struct npy npy = {0};
    const struct type *t = &types[a->type];
    enum lab_status st = npy_read(a->file, &npy);
    if (st)
        return st;
    if (npy.count != a->count) {
        st = lab_fail(LAB_E_RANGE,
                      "[sim.arg-file-size] --arg '%s': the file has %lld "
                      "elements, and %lld are "
                      "wanted",
                      a->spec, (long long)npy.count, (long long)a->count);
    }
    /* NumPy has no bfloat16: words of 16 bits are its bits. */
    bool bits =
        a->type == LAB_SIM_TYPE_BFLOAT16 && npy.bytes == 2 && npy.kind == 'u';
    bool same =
        bits || (npy.bytes == t->bytes && a->type != LAB_SIM_TYPE_BFLOAT16 &&
                 npy.kind == (t->exponent                    ? 'f'
                              : a->type == LAB_SIM_TYPE_BOOL ? 'b'
                              : t->is_signed                 ? 'i'
                                                             : 'u'));
    if (!st && same)
        memcpy(a->data, npy.data, (size_t)(a->count * t->bytes));
    for (int64_t i = 0; i < a->count && !st && !same; i++) {
        double v = npy_at(&npy, i);
        if (!put(a->type, (char *)a->data + i * t->bytes, v))
            st = lab_fail(LAB_E_RANGE,
                          "[sim.arg-file-value] --arg '%s': element %lld of "
                          "the file is %.17g, "
                          "which %s does not hold",
                          a->spec, (long long)i, v, t->name);
    }
    npy_release(&npy);
    return st;
}

static enum lab_status fill(struct lab_sim_argument *a, int number,
                            uint64_t seed, lab_sim_word_fn *random)
{
    const struct type *t = &types[a->type];
    switch (a->fill) {
    case LAB_SIM_FILL_FILE:
        return fill_file(a);
    case LAB_SIM_FILL_RANDOM:
        fill_random(a, number, seed, random);
        break;
    case LAB_SIM_FILL_IOTA:
        for (int64_t i = 0; i < a->count; i++) {
            char *to = (char *)a->data + i * t->bytes;
            if (t->exponent > 0)
                put_real(a->type, to, (double)i);
            else
                put_integer(a->type, to, i);
        }
        break;
    case LAB_SIM_FILL_NUMBER:
        for (int64_t i = 0; i < a->count; i++)
            memcpy((char *)a->data + i * t->bytes, a->value, (size_t)t->bytes);
        break;
    case LAB_SIM_FILL_NONE:
        /* Values that stand out where nothing is written over them. */
        memset(a->data, 0xCD, (size_t)(a->count * t->bytes));
        break;
    }
    return LAB_OK;
}

enum lab_status lab_sim_argument_make(struct lab_sim_memory *m,
                                      struct lab_sim_argument *a, int number,
                                      uint64_t seed, lab_sim_word_fn *random)
{
    struct lab_sim_label label = {.argument = number,
                                  .element_bytes = types[a->type].bytes,
                                  .type = 1 + (int)a->type,
                                  .rank = a->rank,
                                  .read_only = a->direction == LAB_SIM_IN};
    if (a->direction == LAB_SIM_VALUE)
        return LAB_OK;
    int64_t bytes = a->count * types[a->type].bytes;
    enum lab_status st = lab_sim_alloc(m, (size_t)bytes, &a->data);
    if (st == LAB_E_NOMEM)
        return lab_fail_context(LAB_E_RANGE, "--arg '%s'", a->spec);
    if (!st)
        st = fill(a, number, seed, random);
    if (!st && a->fill != LAB_SIM_FILL_NONE)
        st = lab_sim_written(m, a->data, (size_t)bytes);
    if (a->name)
        snprintf(label.name, sizeof(label.name), "%s", a->name);
    else
        snprintf(label.name, sizeof(label.name), "argument %d", number);
    memcpy(label.dim, a->dim, sizeof(label.dim));
    return st ? st : lab_sim_label(m, a->data, (size_t)bytes, &label);
}

int64_t lab_sim_argument_unwritten(struct lab_sim_memory *m,
                                   const struct lab_sim_argument *a,
                                   int64_t *first)
{
    return lab_sim_count_unwritten(m, a->data, a->count,
                                   (size_t)types[a->type].bytes, first);
}

/* ---- a part of an argument ---- */

/* "3", ":", "2:9", "2:", ":9", up to `stop`. */
static bool read_axis(const char *text, const char *stop, int64_t *from,
                      int64_t *end)
{
    const char *colon = memchr(text, ':', (size_t)(stop - text));
    const char *ends[2] = {colon ? colon : stop, stop};
    int64_t value[2] = {0, INT64_MAX};
    for (int i = 0; i < (colon ? 2 : 1); i++) {
        const char *at = i ? colon + 1 : text;
        char *after;
        if (at == ends[i]) {
            if (!colon)
                return false;
            continue;
        }
        errno = 0;
        value[i] = strtoll(at, &after, 10);
        /* INT64_MAX would be taken as "to the end". */
        if (after != ends[i] || errno || value[i] == INT64_MAX ||
            (*at != '-' && !isdigit((unsigned char)*at)))
            return false;
    }
    *from = value[0];
    *end = colon            ? value[1]
           : value[0] == -1 ? INT64_MAX /* the last one */
                            : value[0] + 1;
    return true;
}

enum lab_status lab_sim_part_read(const char *spec, struct lab_sim_part *out)
{
    size_t name = strcspn(spec, "[");
    const char *at = spec + name;
    bool good = name > 0 && name < INT32_MAX;
    *out = (struct lab_sim_part){.spec = spec, .name_bytes = (int)name};
    while (good && *at && out->rank < LAB_SIM_MAX_RANK) {
        const char *stop = at + 1 + strcspn(at + 1, ",]");
        good = *stop && read_axis(at + 1, stop, &out->from[out->rank],
                                  &out->end[out->rank]);
        out->rank++;
        at = stop;
        if (good && *at == ']') {
            at++;
            break;
        }
    }
    good = good && !*at;
    return good
               ? LAB_OK
               : lab_fail(LAB_E_USAGE,
                          "[sim.part] '%s' is no part of an argument: y, y[3], "
                          "y[16:32], y[3,:]",
                          spec);
}

/* An end of an axis of `dim`, from 0. */
static int64_t from_end(int64_t i, int64_t dim)
{
    return i == INT64_MAX ? dim : i < 0 ? i + dim : i;
}

static bool is_part_of(const struct lab_sim_part *p,
                       const struct lab_sim_argument *a, int number)
{
    char digits[16];
    int n = snprintf(digits, sizeof(digits), "%d", number);
    bool named = a->name && strlen(a->name) == (size_t)p->name_bytes &&
                 memcmp(a->name, p->spec, (size_t)p->name_bytes) == 0;
    return named ||
           (n == p->name_bytes && memcmp(digits, p->spec, (size_t)n) == 0);
}

enum lab_status lab_sim_part_find(struct lab_sim_part *part,
                                  const struct lab_sim_argument *args,
                                  int count, int *number)
{
    const struct lab_sim_argument *a = NULL;
    for (int i = 0; i < count && !a; i++) {
        if (is_part_of(part, &args[i], i)) {
            a = &args[i];
            *number = i;
        }
    }
    if (!a || a->direction == LAB_SIM_VALUE)
        return lab_fail(LAB_E_RANGE, "[sim.part-argument] %s: argument %.*s %s",
                        part->spec, part->name_bytes, part->spec,
                        a ? "is a value, not memory"
                          : "is not there: use a parameter's name, or its "
                            "number from 0");
    if (part->rank > a->rank)
        return lab_fail(LAB_E_RANGE,
                        "[sim.part-axes] %s: %d indices, and %s has %d %s",
                        part->spec, part->rank, a->spec, a->rank,
                        a->rank == 1 ? "axis" : "axes");
    for (int i = 0; i < a->rank; i++) {
        int64_t from = i < part->rank ? from_end(part->from[i], a->dim[i]) : 0;
        int64_t end =
            i < part->rank ? from_end(part->end[i], a->dim[i]) : a->dim[i];
        if (from >= end && from < a->dim[i] && end >= 0)
            return lab_fail(LAB_E_RANGE,
                            "[sim.part-empty] %s: the range of axis %d is "
                            "empty, from %lld to before %lld",
                            part->spec, i, (long long)from, (long long)end);
        if (from < 0 || end > a->dim[i] || from >= end)
            return lab_fail(LAB_E_RANGE,
                            "[sim.part-range] %s: axis %d of %s goes from 0 to "
                            "%lld",
                            part->spec, i, a->spec, (long long)a->dim[i] - 1);
        part->from[i] = from;
        part->end[i] = end;
    }
    part->rank = a->rank;
    return LAB_OK;
}
