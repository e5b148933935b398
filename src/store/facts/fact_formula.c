/* fact_formula.c -- the value of a formula: a computed column of a table of
 * facts. A formula is read anew for each row: tables are small, and a message
 * then names the place in the text. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/fact_table.h"

enum { DEEPEST = 64, NAME_BYTES = 64 };

struct reader {
    const char *text;
    const char *at;
    lab_fact_name_fn *name;
    void *user;
    int depth;
    enum lab_status status;
};

static long double read_sum(struct reader *r);

static long double fail(struct reader *r, const char *expected)
{
    if (!r->status)
        r->status = lab_fail(LAB_E_PARSE,
                             "[table.formula] formula \"%s\", character %d: %s",
                             r->text, (int)(r->at - r->text) + 1, expected);
    return NAN;
}

static bool take(struct reader *r, const char *sign)
{
    while (*r->at == ' ')
        r->at++;
    size_t n = strlen(sign);
    if (strncmp(r->at, sign, n) != 0)
        return false;
    r->at += n;
    return true;
}

static void expect(struct reader *r, const char *sign)
{
    char text[32] = "expected ";
    if (!take(r, sign)) {
        strncat(text, sign, sizeof(text) - strlen(text) - 1);
        fail(r, text);
    }
}

/* ---- functions ---- */

static long double lesser(long double a, long double b)
{
    return isnan(a) || isnan(b) ? NAN : fminl(a, b);
}

static long double larger(long double a, long double b)
{
    return isnan(a) || isnan(b) ? NAN : fmaxl(a, b);
}

static const struct {
    const char *name;
    long double (*one)(long double);
    long double (*two)(long double, long double);
} functions[] = {{"sqrt", sqrtl, NULL}, {"log2", log2l, NULL},
                 {"exp", expl, NULL},   {"floor", floorl, NULL},
                 {"ceil", ceill, NULL}, {"min", NULL, lesser},
                 {"max", NULL, larger}};

static bool read_condition(struct reader *r, bool *known)
{
    long double a = read_sum(r);
    const char *const signs[] = {"<=", ">=", "==", "<", ">"};
    for (int i = 0; i < 5; i++) {
        if (!take(r, signs[i]))
            continue;
        long double b = read_sum(r);
        const bool holds[] = {a <= b, a >= b, a == b, a<b, a> b};
        *known = !isnan(a) && !isnan(b);
        return holds[i];
    }
    fail(r, "expected <, >, <=, >= or ==");
    return false;
}

static long double read_if(struct reader *r)
{
    bool known = false;
    bool holds = read_condition(r, &known);
    expect(r, ",");
    long double a = read_sum(r);
    expect(r, ",");
    long double b = read_sum(r);
    expect(r, ")");
    return !known ? NAN : holds ? a : b;
}

static long double call(struct reader *r, const char *name)
{
    if (strcmp(name, "if") == 0)
        return read_if(r);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) != 0)
            continue;
        long double a = read_sum(r);
        long double b = 0;
        if (functions[i].two) {
            expect(r, ",");
            b = read_sum(r);
        }
        expect(r, ")");
        return functions[i].one ? functions[i].one(a) : functions[i].two(a, b);
    }
    return fail(r, "there is no such function; there are sqrt, log2, exp, "
                   "floor, ceil, min, max and if");
}

/* ---- from the tightest to the loosest ---- */

static long double read_name(struct reader *r)
{
    char name[NAME_BYTES];
    size_t n = 0;
    const char *start = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_') {
        if (n < NAME_BYTES - 1)
            name[n++] = *r->at;
        r->at++;
    }
    name[n] = '\0';
    if (take(r, "("))
        return call(r, name);
    long double v = NAN;
    if (r->name(r->user, name, &v))
        return v;
    r->at = start;
    return fail(r, "no column of numbers before this one has that name");
}

static long double read_atom(struct reader *r)
{
    if (take(r, "(")) {
        long double v = read_sum(r);
        expect(r, ")");
        return v;
    }
    if (isdigit((unsigned char)*r->at) || *r->at == '.') {
        char *end = NULL;
        long double v = strtold(r->at, &end);
        r->at = end;
        return v;
    }
    if (isalpha((unsigned char)*r->at))
        return read_name(r);
    return fail(r, "expected a number, a name or a bracket");
}

/* a^b^c is a^(b^c), and -a^b is -(a^b). */
static long double read_power(struct reader *r)
{
    if (++r->depth > DEEPEST)
        return fail(r, "too many brackets");
    long double v = take(r, "-") ? -read_power(r) : read_atom(r);
    if (!r->status && take(r, "^"))
        v = powl(v, read_power(r));
    r->depth--;
    return v;
}

static long double read_product(struct reader *r)
{
    long double v = read_power(r);
    while (!r->status) {
        if (take(r, "*"))
            v *= read_power(r);
        else if (take(r, "/"))
            v /= read_power(r);
        else
            break;
    }
    return v;
}

static long double read_sum(struct reader *r)
{
    if (r->status)
        return NAN;
    long double v = read_product(r);
    while (!r->status) {
        if (take(r, "+"))
            v += read_product(r);
        else if (take(r, "-"))
            v -= read_product(r);
        else
            break;
    }
    return v;
}

enum lab_status lab_fact_expression(const char *text, lab_fact_name_fn *name,
                                    void *user, long double *out)
{
    struct reader r = {.text = text, .at = text, .name = name, .user = user};
    long double v = read_sum(&r);
    (void)take(&r, "");
    if (!r.status && *r.at)
        fail(&r, "expected an operator");
    if (!r.status)
        *out = isfinite(v) ? v : NAN;
    return r.status;
}
