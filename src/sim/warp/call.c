/* Calls of functions that are in no PTX: mathematical ones, which clang leaves to a
 * library, printf and assert. */
#include <stdio.h>

#include "warp/lanes.h"
#include "module.h"

/* ---- functions of a library ---- */

/* What each letter is: f float, d double, i int, l long long; the result first. */
struct sim_library {
    const char *name; /* without __nv_ */
    const char *types;
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
};

static double normcdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* exp(x*x) erfc(x); far out, its continued fraction. */
static double erfcx(double x)
{
    if (x < 25.0)
        return exp(x * x) * erfc(x);
    double f = 0.0;
    for (int k = 30; k > 0; k--)
        f = k / 2.0 / (x + f);
    return 0.56418958354775628695 / (x + f);
}

/* By Newton's method on the logarithm, which is nearly a parabola. */
static double erfcinv(double x)
{
    if (!(x > 0.0 && x < 2.0))
        return x == 0.0   ? (double)INFINITY
               : x == 2.0 ? -(double)INFINITY
                          : (double)NAN;
    if (x > 1.0)
        return -erfcinv(2.0 - x);
    double y = sqrt(-log(x));
    for (int k = 0; k < 40; k++) {
        double e = erfc(y);
        double step =
            e * (log(e) - log(x)) / (1.12837916709551257390 * exp(-y * y));
        y += step;
        if (fabs(step) <= 1e-16 * fabs(y))
            break;
    }
    return y;
}

static double erfinv(double x)
{
    if (!(fabs(x) < 0.5))
        return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
    double y = x * 0.88622692545275801365;
    for (int k = 0; k < 8; k++)
        y -= (erf(y) - x) / (1.12837916709551257390 * exp(-y * y));
    return y;
}

static double normcdfinv(double p)
{
    return -1.41421356237309504880 * erfcinv(2.0 * p);
}

static double rsqrt_of(double x)
{
    return 1.0 / sqrt(x);
}

static double rcbrt_of(double x)
{
    return 1.0 / cbrt(x);
}

static double exp10_of(double x)
{
    return pow(10.0, x);
}

static double sinpi_of(double x)
{
    return sin(3.14159265358979323846 * remainder(x, 2.0));
}

static double cospi_of(double x)
{
    return cos(3.14159265358979323846 * remainder(x, 2.0));
}

static double divide(double a, double b)
{
    return a / b;
}

static double reciprocal(double a)
{
    return 1.0 / a;
}

static double saturate(double a)
{
    return a > 0.0 ? (a < 1.0 ? a : 1.0) : 0.0;
}

static double scale(double a, double b)
{
    return ldexp(a, b > 1e6 ? 1000000 : b < -1e6 ? -1000000 : (int)b);
}

static double to_power(double a, double b)
{
    return pow(a, b);
}

static double exponent(double a)
{
    return a == 0.0 || a != a ? (double)INT32_MIN
           : isinf(a)         ? (double)INT32_MAX
                              : (double)ilogb(a);
}

static double is_nan(double a)
{
    return a != a;
}

static double is_infinite(double a)
{
    return isinf(a) != 0;
}

static double is_finite(double a)
{
    return isfinite(a) != 0;
}

static double is_negative(double a)
{
    return signbit(a) != 0;
}

/* clang-format off: a row a function */
#define BOTH1(name, fn)                                                        \
    {name "f", "ff", fn, NULL, NULL},                                          \
    {                                                                          \
        name, "dd", fn, NULL, NULL                                             \
    }
#define BOTH2(name, fn)                                                        \
    {name "f", "fff", NULL, fn, NULL},                                         \
    {                                                                          \
        name, "ddd", NULL, fn, NULL                                            \
    }
#define FAST1(name, fn)                                                        \
    {"fast_" name, "ff", fn, NULL, NULL},                                      \
    {                                                                          \
        "__" name, "ff", fn, NULL, NULL                                        \
    }
#define WHOLE1(name, fn)                                                       \
    {name "f", "if", fn, NULL, NULL},                                          \
    {                                                                          \
        name "d", "id", fn, NULL, NULL                                         \
    }

/* The float kind is the double one, rounded once. */
static const struct sim_library libraries[] = {
    BOTH1("exp", exp),
    BOTH1("exp2", exp2),
    BOTH1("expm1", expm1),
    BOTH1("exp10", exp10_of),
    BOTH1("log", log),
    BOTH1("log2", log2),
    BOTH1("log10", log10),
    BOTH1("log1p", log1p),
    BOTH1("sin", sin),
    BOTH1("cos", cos),
    BOTH1("tan", tan),
    BOTH1("asin", asin),
    BOTH1("acos", acos),
    BOTH1("atan", atan),
    BOTH1("sinh", sinh),
    BOTH1("cosh", cosh),
    BOTH1("tanh", tanh),
    BOTH1("asinh", asinh),
    BOTH1("acosh", acosh),
    BOTH1("atanh", atanh),
    BOTH1("erf", erf),
    BOTH1("erfc", erfc),
    BOTH1("erfcx", erfcx),
    BOTH1("normcdf", normcdf),
    BOTH1("erfinv", erfinv),
    BOTH1("erfcinv", erfcinv),
    BOTH1("normcdfinv", normcdfinv),
    BOTH1("lgamma", lgamma),
    BOTH1("tgamma", tgamma),
    BOTH1("sqrt", sqrt),
    BOTH1("rsqrt", rsqrt_of),
    BOTH1("cbrt", cbrt),
    BOTH1("rcbrt", rcbrt_of),
    BOTH1("sinpi", sinpi_of),
    BOTH1("cospi", cospi_of),
    BOTH1("j0", j0),
    BOTH1("j1", j1),
    BOTH1("y0", y0),
    BOTH1("y1", y1),
    BOTH1("fabs", fabs),
    BOTH1("floor", floor),
    BOTH1("ceil", ceil),
    BOTH1("trunc", trunc),
    BOTH1("rint", rint),
    BOTH1("nearbyint", nearbyint),
    BOTH1("round", round),
    BOTH1("logb", logb),
    BOTH2("pow", to_power),
    BOTH2("fmax", fmax),
    BOTH2("fmin", fmin),
    BOTH2("fmod", fmod),
    BOTH2("remainder", remainder),
    BOTH2("atan2", atan2),
    BOTH2("hypot", hypot),
    BOTH2("fdim", fdim),
    BOTH2("copysign", copysign),
    {"nextafterf", "fff", NULL, NULL, NULL},
    {"nextafter", "ddd", NULL, nextafter, NULL},
    {"fmaf", "ffff", NULL, NULL, NULL},
    {"fma", "dddd", NULL, NULL, fma},
    {"ldexpf", "ffi", NULL, scale, NULL},
    {"ldexp", "ddi", NULL, scale, NULL},
    {"scalbnf", "ffi", NULL, scale, NULL},
    {"scalbn", "ddi", NULL, scale, NULL},
    {"powif", "ffi", NULL, to_power, NULL},
    {"powi", "ddi", NULL, to_power, NULL},
    {"ilogbf", "if", exponent, NULL, NULL},
    {"ilogb", "id", exponent, NULL, NULL},
    FAST1("expf", exp),
    FAST1("exp10f", exp10_of),
    FAST1("logf", log),
    FAST1("log2f", log2),
    FAST1("log10f", log10),
    FAST1("sinf", sin),
    FAST1("cosf", cos),
    FAST1("tanf", tan),
    FAST1("tanhf", tanh),
    {"fast_powf", "fff", NULL, to_power, NULL},
    {"__powf", "fff", NULL, to_power, NULL},
    {"fast_fdividef", "fff", NULL, divide, NULL},
    {"__fdividef", "fff", NULL, divide, NULL},
    {"fdividef", "fff", NULL, divide, NULL},
    {"frcp_rn", "ff", reciprocal, NULL, NULL},
    {"fsqrt_rn", "ff", sqrt, NULL, NULL},
    {"saturatef", "ff", saturate, NULL, NULL},
    WHOLE1("isnan", is_nan),
    WHOLE1("isinf", is_infinite),
    {"finitef", "if", is_finite, NULL, NULL},
    {"isfinited", "id", is_finite, NULL, NULL},
    WHOLE1("signbit", is_negative),
};
/* clang-format on */

static const struct sim_library *find_library(const char *name)
{
    if (strncmp(name, "__nv_", 5) == 0)
        name += 5;
    for (size_t k = 0; k < sizeof(libraries) / sizeof(libraries[0]); k++)
        if (strcmp(libraries[k].name, name) == 0)
            return &libraries[k];
    return NULL;
}

static double argument(const unsigned char *local, const struct sim_copied *c,
                       char type)
{
    float f;
    double d;
    int32_t i;
    switch (type) {
    case 'f':
        memcpy(&f, local + c->from, sizeof(f));
        return (double)f;
    case 'i':
        memcpy(&i, local + c->from, sizeof(i));
        return (double)i;
    default:
        memcpy(&d, local + c->from, sizeof(d));
        return d;
    }
}

static void call_library(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask)
{
    const struct sim_called *c = i->extra;
    const struct sim_library *f = c->library;
    int64_t each = w->block->grid->kernel->local_bytes;
    struct lab_sim_counts *counts = &w->block->counts[sim_index(w, i)];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned char *local = w->local + __builtin_ctz(rest) * each;
        double a[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < c->param_count && k < 3; k++)
            a[k] = argument(local, &c->params[k], f->types[k + 1]);
        if (c->work)
            sim_add_work(counts, c->work(a[0], a[1]));
        double r = f->one     ? f->one(a[0])
                   : f->two   ? f->two(a[0], a[1])
                   : f->three ? f->three(a[0], a[1], a[2])
                   : f->types[3]
                       ? (double)fmaf((float)a[0], (float)a[1], (float)a[2])
                       : (double)nextafterf((float)a[0], (float)a[1]);
        float single = (float)r;
        int32_t whole = f->types[0] == 'i' ? (int32_t)r : 0;
        unsigned char *to = local + c->results[0].to;
        if (f->types[0] == 'f')
            memcpy(to, &single, sizeof(single));
        else if (f->types[0] == 'i')
            memcpy(to, &whole, sizeof(whole));
        else
            memcpy(to, &r, sizeof(r));
    }
}

/* ---- printf and assert ---- */

enum { TEXT = 4096, MOST_ARGUMENTS = 64 };

/* A text in a variable of the module: at most `*room` bytes; NULL: elsewhere. */
static const char *text_at(const struct sim_warp *w, uint64_t address,
                           size_t *room)
{
    const struct lab_sim_module *m = w->block->grid->kernel->module;
    for (int k = 0; k < m->ptx->variable_count; k++) {
        const struct lab_ptx_variable *v = &m->ptx->variables[k];
        uint64_t base = sim_module_address(m, v);
        uint64_t bytes =
            (uint64_t)v->elements * (uint64_t)lab_ptx_type_bytes(v->type);
        if (base && address >= base && address - base < bytes) {
            *room = (size_t)(bytes - (address - base));
            const char *text = (const char *)(uintptr_t)address;
            return memchr(text, '\0', *room) ? text : NULL;
        }
    }
    return NULL;
}

/* What a format takes its arguments from: local memory of the lane. */
struct arguments {
    const struct sim_warp *w;
    const unsigned char *at; /* NULL: there are none */
    int64_t size;
    int64_t used;
    bool missing;
    int count;
};

static uint64_t next_argument(struct arguments *a, int bytes)
{
    uint64_t v = 0;
    a->used = (a->used + bytes - 1) / bytes * bytes;
    if (!a->at || a->used + bytes > a->size || a->count >= MOST_ARGUMENTS) {
        a->missing = true;
        return 0;
    }
    memcpy(&v, a->at + a->used, (size_t)bytes);
    a->used += bytes;
    a->count++;
    return v;
}

struct text {
    char bytes[TEXT];
    size_t used;
};

static void add(struct text *t, const char *from, size_t n)
{
    if (n > sizeof(t->bytes) - 1 - t->used)
        n = sizeof(t->bytes) - 1 - t->used;
    memcpy(t->bytes + t->used, from, n);
    t->used += n;
}

/* One conversion: "-8.3" and the letter; `wide` for 64 bits. */
static void convert(struct text *t, const char *spec, char letter, bool wide,
                    struct arguments *a)
{
    char format[48];
    char out[512];
    int n = 0;
    out[0] = '\0';
    if (strchr("di", letter)) {
        snprintf(format, sizeof(format), "%%%slld", spec);
        uint64_t v = next_argument(a, wide ? 8 : 4);
        n = snprintf(out, sizeof(out), format,
                     wide ? (long long)v : (long long)(int32_t)(uint32_t)v);
    } else if (strchr("ouxX", letter)) {
        snprintf(format, sizeof(format), "%%%sll%c", spec, letter);
        n = snprintf(out, sizeof(out), format,
                     (unsigned long long)next_argument(a, wide ? 8 : 4));
    } else if (strchr("fFeEgGaA", letter)) {
        snprintf(format, sizeof(format), "%%%s%c", spec, letter);
        n = snprintf(out, sizeof(out), format, sim_f64(next_argument(a, 8)));
    } else if (letter == 'c') {
        snprintf(format, sizeof(format), "%%%sc", spec);
        n = snprintf(out, sizeof(out), format,
                     (int)(unsigned char)next_argument(a, 4));
    } else if (letter == 'p') {
        n = snprintf(out, sizeof(out), "0x%llx",
                     (unsigned long long)next_argument(a, 8));
    } else if (letter == 's') {
        size_t room;
        const char *s = text_at(a->w, next_argument(a, 8), &room);
        snprintf(format, sizeof(format), "%%%ss", spec);
        n = snprintf(out, sizeof(out), format, s ? s : "(not a text)");
    }
    add(t, out,
        n < 0                     ? 0
        : (size_t)n < sizeof(out) ? (size_t)n
                                  : sizeof(out) - 1);
}

/* Flags, width and precision are checked: none is wider than the buffer. */
static void print(struct text *t, const char *f, struct arguments *a)
{
    while (*f) {
        size_t plain = strcspn(f, "%");
        add(t, f, plain);
        f += plain;
        if (!*f)
            return;
        f++;
        char spec[24] = "";
        size_t used = 0;
        bool wide = false;
        for (; *f && strchr("-+ #0123456789.*", *f); f++) {
            char number[12];
            if (*f != '*') {
                if (used < 8)
                    spec[used++] = *f;
                continue;
            }
            int n = snprintf(number, sizeof(number), "%d",
                             (int)(int32_t)next_argument(a, 4) % 100);
            for (int k = 0; k < n && used < 8; k++)
                spec[used++] = number[k];
        }
        spec[used] = '\0';
        int longs = 0;
        for (; *f && strchr("hlLqjzt", *f); f++)
            longs += *f != 'h';
        wide = longs > 0;
        if (*f == '%')
            add(t, "%", 1);
        else if (*f)
            convert(t, spec, *f, wide, a);
        if (*f)
            f++;
    }
}

static uint64_t long_argument(const unsigned char *local,
                              const struct sim_copied *c)
{
    uint64_t v = 0;
    memcpy(&v, local + c->from, c->bytes < 8 ? (size_t)c->bytes : 8);
    return v;
}

static void call_printf(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask)
{
    const struct sim_called *c = i->extra;
    const struct lab_sim_options *options = w->block->grid->options;
    int64_t each = w->block->grid->kernel->local_bytes;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        unsigned char *local = w->local + l * each;
        struct text t = {.used = 0};
        struct arguments a = {.w = w};
        size_t room;
        const char *format =
            text_at(w, long_argument(local, &c->params[0]), &room);
        uint64_t at = long_argument(local, &c->params[1]) - SIM_LOCAL_WINDOW;
        if (at < (uint64_t)each) {
            a.at = local + at;
            a.size = each - (int64_t)at;
        }
        if (format)
            print(&t, format, &a);
        t.bytes[t.used] = '\0';
        if (!format || a.missing) {
            sim_end(w, i, 1u << l, LAB_SIM_MEMORY, NULL,
                    format ? "printf: an argument is missing"
                           : "printf: the format is no constant text");
        } else if (options->print)
            options->print(options->print_arg, t.bytes);
        int32_t printed = a.count;
        if (c->result_count)
            memcpy(local + c->results[0].to, &printed, sizeof(printed));
    }
}

/* __assertfail(condition, file, line, function, bytes of a character) */
static void call_assert(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask)
{
    const struct sim_called *c = i->extra;
    int64_t each = w->block->grid->kernel->local_bytes;
    const unsigned char *local = w->local + __builtin_ctz(mask) * each;
    size_t room;
    const char *condition =
        text_at(w, long_argument(local, &c->params[0]), &room);
    sim_end(w, i, mask, LAB_SIM_MEMORY,
            SIM_HINT("why the condition of assert() is false in this thread"),
            "assertion failed: %.160s", condition ? condition : "(no text)");
}

/* ---- lowering ---- */

static bool library_fits(const struct sim_library *f,
                         const struct sim_called *c)
{
    int n = (int)strlen(f->types);
    if (c->result_count != 1 || c->param_count != n - 1)
        return false;
    for (int k = 0; k < n; k++) {
        int64_t want = f->types[k] == 'd' || f->types[k] == 'l' ? 8 : 4;
        if ((k == 0 ? c->results[0].bytes : c->params[k - 1].bytes) != want)
            return false;
    }
    return true;
}

enum lab_status sim_lower_outside(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  const char *name, struct sim_called *c,
                                  struct sim_instr *out)
{
    char why[160];
    c->library = find_library(name);
    if (c->library && library_fits(c->library, c)) {
        c->work = sim_function_work(c->library->name);
        out->run = call_library;
        return LAB_OK;
    }
    if (strcmp(name, "vprintf") == 0 && c->param_count == 2 &&
        c->params[0].bytes == 8 && c->params[1].bytes == 8 &&
        (c->result_count == 0 || c->results[0].bytes == 4)) {
        out->run = call_printf;
        return LAB_OK;
    }
    if (strcmp(name, "__assertfail") == 0 && c->param_count == 5) {
        out->run = call_assert;
        return LAB_OK;
    }
    const bool takes = strcmp(name, "malloc") == 0;
    snprintf(why, sizeof(why), "the function %.80s is not in the simulator%s",
             name,
             takes ? ": give the kernel memory as an argument"
             : strncmp(name, "__nv", 4) == 0 ? ": nvcc has it" /* clang's PTX */
                                             : "");
    return sim_lower_refuse(l, in, why);
}
