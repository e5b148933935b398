/* Predictions as they are typed: parsed, found, replaced. */
#include "bench/model.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profiler/roofline.h"
#include "trace/intern.h"

enum { WORD_BYTES = 48 };

struct reading {
    enum lab_bench_unit unit;
    struct lab_prediction *out;
    double number; /* one that waits for its unit; NaN: none */
};

static enum lab_status wrong(const struct reading *r, const char *word)
{
    const char *number = r->unit == LAB_UNIT_FLOPS   ? "8.2T (FLOP/s)"
                         : r->unit == LAB_UNIT_BYTES ? "800G (B/s)"
                                                     : "25 (ns)";
    return lab_fail(LAB_E_USAGE,
                    "%s is no prediction: a number above 0, as %s, or a time, "
                    "3.5ms; " LAB_ROOFLINE_WORDS "; an occupancy, 50%%",
                    word, number);
}

static double time_scale(const char *unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ns;
    return NAN;
}

/* "T", "TFLOP/s", "gb/s" ... to what it multiplies by; NaN: no such unit. */
static double rate_scale(enum lab_bench_unit unit, const char *text)
{
    static const char prefixes[] = "kMGTP";
    const char *rest = text;
    double scale = 1;
    const char *p = text[0] ? strchr(prefixes, text[0]) : NULL;
    if (!p && text[0] == 'g')
        p = prefixes + 2;
    if (p) {
        scale = pow(1000, (double)(p - prefixes) + 1);
        rest++;
    }
    if (unit == LAB_UNIT_FLOPS &&
        (strcasecmp(rest, "flop/s") == 0 || strcasecmp(rest, "flops") == 0))
        return scale;
    if (unit == LAB_UNIT_BYTES && strcasecmp(rest, "b/s") == 0)
        return scale;
    return rest[0] == '\0' && p ? scale : (double)NAN;
}

/* The number that waits, in the unit that is there now. */
static bool take_unit(struct reading *r, const char *unit)
{
    double v = r->number;
    double ns = time_scale(unit);
    double scale = rate_scale(r->unit, unit);
    bool time = r->unit == LAB_UNIT_TIME;
    if (isnan(v))
        return false;
    if (strcmp(unit, "%") == 0 && v <= 100)
        r->out->occupancy_pct = v;
    else if (!isnan(ns) && time)
        r->out->rate = v * ns * 1e-9; /* of one item */
    else if (!isnan(ns))
        r->out->time_ns = v * ns;
    else if (!isnan(scale) && !time)
        r->out->rate = v * scale;
    else
        return false;
    r->number = NAN;
    return true;
}

static void take_bare(struct reading *r)
{
    if (isnan(r->number))
        return;
    r->out->rate = r->number * (r->unit == LAB_UNIT_TIME ? 1e-9 : 1e9);
    r->number = NAN;
}

static bool take_bound(struct reading *r, const char *word)
{
    enum lab_roofline_verdict v = lab_roofline_verdict_find(word);
    if (v)
        r->out->bound = lab_roofline_verdict_name(v);
    return v != LAB_ROOFLINE_UNKNOWN;
}

static enum lab_status take_word(struct reading *r, const char *word)
{
    char *end = NULL;
    if (take_unit(r, word) || take_bound(r, word))
        return LAB_OK;
    take_bare(r);
    if (!isdigit((unsigned char)word[0]) && word[0] != '.')
        return wrong(r, word);
    double v = strtod(word, &end);
    if (end == word || !(v > 0) || isinf(v) ||
        tolower((unsigned char)word[1]) == 'x')
        return wrong(r, word);
    r->number = v;
    if (*end && !take_unit(r, end))
        return wrong(r, word);
    return LAB_OK;
}

/* Beyond any machine; and what is computed from it would leave double. */
static bool beyond(double v)
{
    return v < 1e-30 || v > 1e30; /* not NaN */
}

enum lab_status lab_prediction_parse(enum lab_bench_unit unit, const char *text,
                                     struct lab_prediction *out)
{
    static const char separators[] = " ,:\t";
    struct lab_prediction p;
    struct reading r = {.unit = unit, .out = &p, .number = NAN};
    enum lab_status st = LAB_OK;
    lab_prediction_init(&p);
    while (!st) {
        char word[WORD_BYTES];
        text += strspn(text, separators);
        size_t n = strcspn(text, separators);
        if (n == 0)
            break;
        snprintf(word, sizeof(word), "%.*s", (int)(n < 40 ? n : 40), text);
        st = take_word(&r, word);
        text += n;
    }
    if (st)
        return st;
    take_bare(&r);
    if (beyond(p.rate) || beyond(p.time_ns))
        return lab_fail(LAB_E_USAGE,
                        "a prediction of %g: no machine is that far off",
                        beyond(p.rate) ? p.rate : p.time_ns);
    if (!isnan(p.rate) && !isnan(p.time_ns))
        return lab_fail(LAB_E_USAGE, "a rate or a time, not both: one follows "
                                     "from the other");
    *out = p;
    return LAB_OK;
}

static const char *part(const char *from, const char *to)
{
    char text[96];
    snprintf(text, sizeof(text), "%.*s", (int)(to - from), from);
    return lab_intern_text(lab_intern(text));
}

enum lab_status lab_prediction_pair(enum lab_bench_unit unit, const char *pair,
                                    struct lab_prediction *out)
{
    const char *equals = strchr(pair, '=');
    struct lab_prediction one;
    if (!equals || equals == pair)
        return lab_fail(LAB_E_USAGE, "--predict %s: ask, or VARIANT=WHAT,...",
                        pair);
    const char *at = memchr(pair, '@', (size_t)(equals - pair));
    enum lab_status st = lab_prediction_parse(unit, equals + 1, &one);
    if (!st && !lab_prediction_any(&one))
        st = lab_fail(LAB_E_USAGE,
                      "--predict %s: a number above 0; " LAB_ROOFLINE_WORDS
                      "; or 50%%",
                      pair);
    if (st)
        return lab_fail_context(st, "--predict");
    one.variant = part(pair, at ? at : equals);
    one.size = at && at + 1 < equals ? part(at + 1, equals) : NULL;
    *out = one;
    return LAB_OK;
}

bool lab_prediction_any(const struct lab_prediction *p)
{
    return !isnan(p->rate) || !isnan(p->time_ns) || !isnan(p->occupancy_pct) ||
           p->bound;
}

const struct lab_prediction *
lab_prediction_find(const struct lab_prediction *list, int n,
                    const char *variant, const char *precision,
                    const char *size)
{
    for (int i = n - 1; i >= 0; i--) {
        const struct lab_prediction *p = &list[i];
        if (strcmp(p->variant, variant) == 0 &&
            (!p->precision || strcmp(p->precision, precision) == 0) &&
            (!p->size || strcmp(p->size, size) == 0))
            return p;
    }
    return NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

enum lab_status lab_prediction_set(struct lab_prediction *list, int *n,
                                   const struct lab_prediction *one)
{
    int i = 0;
    while (i < *n && !(same(list[i].variant, one->variant) &&
                       same(list[i].precision, one->precision) &&
                       same(list[i].size, one->size)))
        i++;
    if (i == LAB_BENCH_PREDICTIONS)
        return lab_fail(LAB_E_USAGE, "--predict: more than %d",
                        LAB_BENCH_PREDICTIONS);
    *n += i == *n;
    list[i] = *one;
    list[i].place = i;
    return LAB_OK;
}
