/* The table of a lab: a row for each variant of one size. */
#include "view_lab_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "bench/text.h"

enum column {
    COL_VARIANT,
    COL_PRECISION,
    COL_MEDIAN,
    COL_SPREAD,
    COL_RATE,
    COL_SHARE,
    COL_LIBRARY,
    COL_GAIN,
    COL_MODEL,
    COL_PREDICTED,
    COL_RATIO,
    COL_IDEA,
    COLUMNS
};

#define MEASURED                                                               \
    {"rung", 10, 1, 0, false, false}, {"type", 4, 0, 2, false, false},         \
        {"median", 9, 0, 0, true, false}, {"spread", 7, 0, 5, true, false},    \
        {"rate", 13, 0, 0, true, true}, {"ceiling", 7, 0, 1, true, true},      \
        {"library", 7, 0, 4, true, true}, {"gain", 7, 0, 1, true, true},       \
    {                                                                          \
        "model's", 7, 0, 3, true, true                                         \
    }
#define IDEA                                                                   \
    {                                                                          \
        "idea, or why not", 12, 9, 8, false, false                             \
    }

static const struct lab_table_column TABLE[COLUMNS] = {
    MEASURED,
    {"predicted", 13, 1, 6, false, false},
    {"vs.pred", 7, 0, 2, true, true},
    IDEA};

/* Nothing was predicted: no terminal is wide enough for these two. */
enum { NEVER = 1 << 20 };
static const struct lab_table_column PLAIN[COLUMNS] = {
    MEASURED,
    {"predicted", NEVER, 0, 9, false, false},
    {"vs.pred", NEVER, 0, 9, true, true},
    IDEA};

static const struct lab_bench_result *row_at(const void *user, int64_t row)
{
    const struct lab_bench_state *st = user;
    return &st->lab.rows[st->shown[row]];
}

/* What a column sorts by; NaN: unknown, or a text. */
static double number(const struct lab_bench_state *st,
                     const struct lab_bench_result *r, int column)
{
    switch (column) {
    case COL_MEDIAN:
        return r->median_ns;
    case COL_SPREAD:
        return (r->three_quarters_ns - r->quarter_ns) / r->median_ns;
    case COL_RATE:
        return r->rate;
    case COL_SHARE:
        return r->share;
    case COL_LIBRARY:
        return r->of_library;
    case COL_GAIN:
        return r->gain;
    case COL_MODEL:
        return r->gain_model;
    case COL_RATIO:
        return lab_prediction_ratio(st->lab.unit, &r->predicted, r);
    default:
        return NAN;
    }
}

/* What a column of texts sorts by; NULL: it has numbers. */
static const char *text(const struct lab_bench_result *r, int column)
{
    return column == COL_VARIANT     ? r->variant
           : column == COL_PRECISION ? r->precision
           : column == COL_IDEA      ? r->idea
                                     : NULL;
}

static void put_words(const struct lab_bench_state *st,
                      const struct lab_bench_result *r, int column, char *out,
                      size_t cap, enum lab_role *role)
{
    if (column == COL_PREDICTED) {
        lab_prediction_text(&st->lab, &r->predicted, out, cap);
    } else if (column == COL_RATIO) {
        lab_prediction_ratio_short(st->lab.unit, &r->predicted, r, out, cap);
    } else if (column != COL_MEDIAN) {
        bool failed = column == COL_IDEA && r->reason;
        snprintf(out, cap, "%s", failed ? r->reason : text(r, column));
        if (failed)
            *role = LAB_ROLE_BAD;
    } else if (r->state == LAB_BENCH_DONE) {
        lab_format_ns(r->median_ns, out, cap);
    } else {
        snprintf(out, cap, "%s", lab_bench_state_text(r->state));
        *role = r->state == LAB_BENCH_FAILED    ? LAB_ROLE_BAD
                : r->state == LAB_BENCH_WAITING ? LAB_ROLE_DIM
                                                : LAB_ROLE_WARN;
    }
}

static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct lab_bench_state *st = user;
    const struct lab_bench_result *r = row_at(user, row);
    double v = number(st, r, column);
    bool words =
        column < COL_SPREAD || (column > COL_MODEL && column <= COL_IDEA);
    out[0] = '\0';
    if (words) {
        put_words(st, r, column, out, cap, role);
        return;
    }
    if (isnan(v)) {
        /* Not there yet is not the same as not to be had. */
        if (r->state == LAB_BENCH_DONE)
            snprintf(out, cap, LAB_NA);
        *role = LAB_ROLE_DIM;
    } else if (column == COL_RATE) {
        lab_bench_rate_text(&st->lab, v, out, cap);
    } else if (column == COL_GAIN || column == COL_MODEL) {
        snprintf(out, cap, v >= 100 ? "%.0f x" : "%.2f x", v);
    } else {
        snprintf(out, cap, "%.1f %%", 100 * v);
    }
    if (column == COL_SHARE && lab_bench_ceiling_passed(st->lab.unit, v))
        *role = LAB_ROLE_DIM; /* a share of no ceiling */
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct lab_bench_state *st = user;
    const struct lab_bench_result *p = row_at(user, a);
    const struct lab_bench_result *q = row_at(user, b);
    if (text(p, column))
        return strcasecmp(text(p, column), text(q, column));
    return lab_table_compare_double(number(st, p, column),
                                    number(st, q, column), turned);
}

const struct lab_table_ops lab_bench_columns = {TABLE, COLUMNS, cell, compare};
const struct lab_table_ops lab_bench_plain_columns = {PLAIN, COLUMNS, cell,
                                                      compare};
