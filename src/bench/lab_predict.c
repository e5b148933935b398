#include "bench/lab_predict.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profiler/roofline.h"

enum { WORD_BYTES = 48 };

struct reading {
    enum lab_ui_lab_unit unit;
    struct lab_ui_prediction *out;
    double number; /* one that waits for its unit; NaN: none */
};

static enum lab_status wrong(const struct reading *r, const char *word)
{
    const char *number = r->unit == LAB_UI_LAB_FLOPS   ? "8.2T (FLOP/s)"
                         : r->unit == LAB_UI_LAB_BYTES ? "800G (B/s)"
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
static double rate_scale(enum lab_ui_lab_unit unit, const char *text)
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
    if (unit == LAB_UI_LAB_FLOPS &&
        (strcasecmp(rest, "flop/s") == 0 || strcasecmp(rest, "flops") == 0))
        return scale;
    if (unit == LAB_UI_LAB_BYTES && strcasecmp(rest, "b/s") == 0)
        return scale;
    return rest[0] == '\0' && p ? scale : (double)NAN;
}

/* The number that waits, in the unit that is there now. */
static bool take_unit(struct reading *r, const char *unit)
{
    double v = r->number;
    double ns = time_scale(unit);
    double scale = rate_scale(r->unit, unit);
    bool time = r->unit == LAB_UI_LAB_TIME;
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
    r->out->rate = r->number * (r->unit == LAB_UI_LAB_TIME ? 1e-9 : 1e9);
    r->number = NAN;
}

static bool take_bound(struct reading *r, const char *word)
{
    enum lab_roofline_verdict v = lab_roofline_verdict_find(word);
    if (v)
        snprintf(r->out->bound, sizeof(r->out->bound), "%s",
                 lab_roofline_verdict_name(v));
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

enum lab_status lab_prediction_parse(enum lab_ui_lab_unit unit,
                                     const char *text,
                                     struct lab_ui_prediction *out)
{
    static const char separators[] = " ,:\t";
    struct lab_ui_prediction said;
    struct reading r = {.unit = unit, .out = &said, .number = NAN};
    enum lab_status st = LAB_OK;
    lab_ui_prediction_init(&said);
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
    if (beyond(said.rate) || beyond(said.time_ns))
        return lab_fail(LAB_E_USAGE,
                        "a prediction of %g: no machine is that far off",
                        beyond(said.rate) ? said.rate : said.time_ns);
    if (!isnan(said.rate) && !isnan(said.time_ns))
        return lab_fail(LAB_E_USAGE, "a rate or a time, not both: one follows "
                                     "from the other");
    *out = said;
    return LAB_OK;
}

enum lab_status lab_prediction_pair(enum lab_ui_lab_unit unit, const char *pair,
                                    struct lab_prediction *out)
{
    const char *equals = strchr(pair, '=');
    struct lab_prediction one = {.rung = ""};
    if (!equals || equals == pair)
        return lab_fail(LAB_E_USAGE, "--predict %s: ask, or VARIANT=WHAT,...",
                        pair);
    const char *at = memchr(pair, '@', (size_t)(equals - pair));
    const char *end = at ? at : equals;
    snprintf(one.rung, sizeof(one.rung), "%.*s", (int)(end - pair), pair);
    if (at)
        snprintf(one.size, sizeof(one.size), "%.*s", (int)(equals - at - 1),
                 at + 1);
    enum lab_status st = lab_prediction_parse(unit, equals + 1, &one.what);
    if (!st && !lab_ui_prediction_any(&one.what))
        st = lab_fail(LAB_E_USAGE,
                      "--predict %s: a number above 0; " LAB_ROOFLINE_WORDS
                      "; or 50%%",
                      pair);
    if (st)
        return lab_fail_context(st, "--predict");
    *out = one;
    return LAB_OK;
}

const struct lab_ui_prediction *
lab_prediction_find(const struct lab_prediction *said, int n, const char *rung,
                    const char *precision, const char *size)
{
    for (int i = n - 1; i >= 0; i--) {
        const struct lab_prediction *s = &said[i];
        if (strcmp(s->rung, rung) == 0 &&
            (!s->precision[0] || strcmp(s->precision, precision) == 0) &&
            (!s->size[0] || strcmp(s->size, size) == 0))
            return &s->what;
    }
    return NULL;
}

enum lab_status lab_prediction_add(struct lab_prediction *said, int *n,
                                   const struct lab_prediction *one)
{
    for (int i = 0; i < *n; i++) {
        if (strcmp(said[i].rung, one->rung) == 0 &&
            strcmp(said[i].precision, one->precision) == 0 &&
            strcmp(said[i].size, one->size) == 0) {
            said[i] = *one;
            return LAB_OK;
        }
    }
    if (*n == LAB_BENCH_PREDICTIONS)
        return lab_fail(LAB_E_USAGE, "--predict: more than %d",
                        LAB_BENCH_PREDICTIONS);
    said[(*n)++] = *one;
    return LAB_OK;
}
