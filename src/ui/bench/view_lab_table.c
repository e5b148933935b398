/* The table of a lab: a row for each rung of one size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "bench/text.h"
#include "view_lab_priv.h"

enum {
    COL_RUNG,
    COL_PRECISION,
    COL_MEDIAN,
    COL_SPREAD,
    COL_RATE,
    COL_SHARE,
    COL_LIBRARY,
    COL_GAIN,
    COL_MODEL,
    COL_SAID,
    COL_OFF,
    COL_IDEA,
    COLUMNS
};

#define COMMON                                                                 \
    [COL_RUNG] = {"rung", 10, 1, 0, false, false}, [COL_PRECISION] = {"type",  \
                                                                      4,       \
                                                                      0,       \
                                                                      2,       \
                                                                      false,   \
                                                                      false},  \
    [COL_MEDIAN] = {"median", 9, 0, 0, true, false}, [COL_SPREAD] = {"spread", \
                                                                     7,        \
                                                                     0,        \
                                                                     5,        \
                                                                     true,     \
                                                                     false},   \
    [COL_RATE] = {"rate", 13, 0, 0, true, true}, [COL_SHARE] = {"ceiling",     \
                                                                7,             \
                                                                0,             \
                                                                1,             \
                                                                true,          \
                                                                true},         \
    [COL_LIBRARY] = {"library", 7, 0, 4, true, true}, [COL_GAIN] = {"gain",    \
                                                                    7,         \
                                                                    0,         \
                                                                    1,         \
                                                                    true,      \
                                                                    true},     \
    [COL_MODEL] = {"model's", 7, 0, 3, true, true},                            \
    [COL_IDEA] = {"idea, or why not", 12, 9, 8, false, false}

static const struct lab_table_column TABLE[COLUMNS] = {
    COMMON,
    [COL_SAID] = {"predicted", 13, 1, 6, false, false},
    [COL_OFF] = {"vs.pred", 7, 0, 2, true, true},
};

/* Nothing was said: no terminal is wide enough for these two. */
enum { NEVER = 1 << 20 };
static const struct lab_table_column PLAIN[COLUMNS] = {
    COMMON,
    [COL_SAID] = {"predicted", NEVER, 0, 9, false, false},
    [COL_OFF] = {"vs.pred", NEVER, 0, 9, true, true},
};

static const struct lab_bench_result *row_at(const void *user, int64_t row)
{
    const struct lab_bench_state *st = user;
    return &st->lab.rows[st->shown[row]];
}

static void put_percent(double v, char *out, size_t cap)
{
    if (isnan(v))
        snprintf(out, cap, "n/a");
    else
        snprintf(out, cap, "%.1f %%", 100 * v);
}

static void put_times(double v, char *out, size_t cap)
{
    if (isnan(v))
        snprintf(out, cap, "n/a");
    else
        snprintf(out, cap, v >= 100 ? "%.0f x" : "%.2f x", v);
}

static void put_median(const struct lab_bench_result *r, char *out, size_t cap,
                       enum lab_role *role)
{
    if (r->state == LAB_BENCH_DONE) {
        lab_format_ns(r->median_ns, out, cap);
        return;
    }
    snprintf(out, cap, "%s", lab_bench_state_text(r->state));
    *role = r->state == LAB_BENCH_FAILED    ? LAB_ROLE_BAD
            : r->state == LAB_BENCH_WAITING ? LAB_ROLE_DIM
                                            : LAB_ROLE_WARN;
}

static void put_words(const struct lab_bench_state *st,
                      const struct lab_bench_result *r, int column, char *out,
                      size_t cap, enum lab_role *role)
{
    switch (column) {
    case COL_RUNG:
        snprintf(out, cap, "%s", r->variant);
        break;
    case COL_PRECISION:
        snprintf(out, cap, "%s", r->precision);
        break;
    case COL_MEDIAN:
        put_median(r, out, cap, role);
        break;
    case COL_SAID:
        lab_prediction_text(&st->lab, &r->predicted, out, cap);
        break;
    case COL_OFF:
        lab_prediction_ratio_short(st->lab.unit, &r->predicted, r, out, cap);
        break;
    default:
        snprintf(out, cap, "%s", r->reason ? r->reason : r->idea);
        if (r->reason)
            *role = LAB_ROLE_BAD;
    }
}

static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct lab_bench_state *st = user;
    const struct lab_bench_result *r = row_at(user, row);
    bool done = r->state == LAB_BENCH_DONE;
    out[0] = '\0';
    switch (column) {
    case COL_SPREAD:
        put_percent((r->three_quarters_ns - r->quarter_ns) / r->median_ns, out,
                    cap);
        break;
    case COL_RATE:
        lab_bench_rate_text(&st->lab, r->rate, out, cap);
        break;
    case COL_SHARE:
        put_percent(r->share, out, cap);
        if (lab_bench_ceiling_passed(st->lab.unit, r->share))
            *role = LAB_ROLE_DIM; /* a share of no ceiling */
        break;
    case COL_LIBRARY:
        put_percent(r->of_library, out, cap);
        break;
    case COL_GAIN:
        put_times(r->gain, out, cap);
        break;
    case COL_MODEL:
        put_times(r->gain_model, out, cap);
        break;
    default:
        put_words(st, r, column, out, cap, role);
        return;
    }
    if (strcmp(out, "n/a") != 0)
        return;
    *role = LAB_ROLE_DIM;
    if (!done) /* not there yet is not the same as not to be had */
        out[0] = '\0';
}

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
    case COL_OFF:
        return lab_prediction_ratio(st->lab.unit, &r->predicted, r);
    default:
        return NAN;
    }
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct lab_bench_state *st = user;
    const struct lab_bench_result *p = row_at(user, a);
    const struct lab_bench_result *q = row_at(user, b);
    if (column == COL_RUNG)
        return strcasecmp(p->variant, q->variant);
    if (column == COL_PRECISION)
        return strcasecmp(p->precision, q->precision);
    if (column == COL_IDEA)
        return strcasecmp(p->idea, q->idea);
    return lab_table_compare_double(number(st, p, column),
                                    number(st, q, column), turned);
}

const struct lab_table_ops lab_bench_columns = {TABLE, COLUMNS, cell, compare};
const struct lab_table_ops lab_bench_plain_columns = {PLAIN, COLUMNS, cell,
                                                      compare};
