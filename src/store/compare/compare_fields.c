/* compare_fields.c -- the columns of a comparison's rows: what each side took,
 * how they differ, and the verdict. */
#include "store/compare.h"

#include <math.h>
#include <stdio.h>

#include "base/format.h"
#include "store/row_fields.h"

/* "-": that run has none. */
static const char *side_text(const void *row, int side, double v,
                             const char *(*format)(double, char *, size_t),
                             char *out, size_t cap)
{
    const struct lab_compare_row *r = row;
    return r->side[side] ? format(v, out, cap) : "-";
}

static double median(const void *row, int side)
{
    const struct lab_time_sum *s =
        ((const struct lab_compare_row *)row)->side[side];
    return s ? round(s->median_ns) : (double)NAN;
}

static double mad(const void *row, int side)
{
    const struct lab_time_sum *s =
        ((const struct lab_compare_row *)row)->side[side];
    return s ? round(s->mad_ns) : (double)NAN;
}

static double timed(const void *row, int side)
{
    const struct lab_time_sum *s =
        ((const struct lab_compare_row *)row)->side[side];
    return s ? lab_to_real(s->timed) : (double)NAN;
}

static double flop_per_s(const void *row, int side)
{
    return lab_time_sum_flop_per_s(
        ((const struct lab_compare_row *)row)->side[side]);
}

static double if_known(double v, double other)
{
    return isnan(other) ? other : v;
}

/* What was counted of a step or a kernel, by the types that both sides counted where
 * both did: a card's basic counters have no fp64. A step has a formula beside it. */
static double counted_flop(const void *row, int side)
{
    const struct lab_compare_row *r = row;
    const struct lab_time_sum *s = r->side[side];
    const struct lab_time_sum *other = r->side[!side];
    if (!s || s->level < LAB_SUM_STEP)
        return (double)NAN;
    struct lab_counters c = s->counters;
    if (other && !isnan(lab_counters_flop(&other->counters))) {
        const struct lab_counters *o = &other->counters;
        c.fp16_flop = if_known(c.fp16_flop, o->fp16_flop);
        c.fp32_flop = if_known(c.fp32_flop, o->fp32_flop);
        c.fp64_flop = if_known(c.fp64_flop, o->fp64_flop);
        c.tensor_flop = if_known(c.tensor_flop, o->tensor_flop);
    }
    return s->level == LAB_SUM_KERNEL ? lab_counters_flop(&c)
                                      : lab_counters_flop_beside(&c, s->flop);
}

#define COUNTED(name)                                                          \
    static double name(const void *row, int side)                              \
    {                                                                          \
        const struct lab_time_sum *s =                                         \
            ((const struct lab_compare_row *)row)->side[side];                 \
        return s && s->level >= LAB_SUM_STEP ? s->counters.name : (double)NAN; \
    }
COUNTED(sectors_per_load)
COUNTED(bank_conflicts)

static const char *format_ratio(double v, char *out, size_t cap)
{
    return isnan(v) ? LAB_NA : lab_format_value(v, 4, out, cap);
}

static const char *format_count(double v, char *out, size_t cap)
{
    return lab_format_int(isnan(v) ? LAB_UNKNOWN : (int64_t)v, out, cap);
}

/* A table of text has no room for the unit. */
static const char *format_gflop_per_s(double v, char *out, size_t cap)
{
    if (isnan(v))
        return LAB_NA;
    snprintf(out, cap, v >= 999.5e9 ? "%.0f" : "%.3g", v * 1e-9);
    return out;
}

static const char *format_flop_per_s(double v, char *out, size_t cap)
{
    return lab_format_amount(v, "FLOP/s", out, cap);
}

/* The value and the text of `get` on one side. */
#define SIDE(get, side, suffix, format)                                        \
    static double get##_##suffix(const void *row)                              \
    {                                                                          \
        return get(row, side);                                                 \
    }                                                                          \
    static const char *get##_##suffix##_text(const void *row, char *out,       \
                                             size_t cap)                       \
    {                                                                          \
        return side_text(row, side, get(row, side), format, out, cap);         \
    }
#define SIDES(get, format)                                                     \
    SIDE(get, LAB_SIDE_A, a, format) SIDE(get, LAB_SIDE_B, b, format)
SIDES(median, lab_format_ns)
SIDES(mad, lab_format_ns)
SIDES(timed, format_count)
SIDES(flop_per_s, format_flop_per_s)
SIDES(counted_flop, lab_format_flop)
SIDES(sectors_per_load, format_ratio)
SIDES(bank_conflicts, format_count)

static const char *gflop_per_s_a_text(const void *row, char *out, size_t cap)
{
    return side_text(row, LAB_SIDE_A, flop_per_s_a(row), format_gflop_per_s,
                     out, cap);
}

static const char *gflop_per_s_b_text(const void *row, char *out, size_t cap)
{
    return side_text(row, LAB_SIDE_B, flop_per_s_b(row), format_gflop_per_s,
                     out, cap);
}

static const char *level_text(const void *row, char *out, size_t cap)
{
    (void)out;
    (void)cap;
    return lab_sum_level_name(((const struct lab_compare_row *)row)->level);
}

const struct lab_time_sum *lab_compare_either(const struct lab_compare_row *r)
{
    return r->side[LAB_SIDE_A] ? r->side[LAB_SIDE_A] : r->side[LAB_SIDE_B];
}

static double flop(const void *row)
{
    return lab_compare_either(row)->flop;
}

static const char *phase_text(const void *row, char *out, size_t cap)
{
    const struct lab_time_sum *any = lab_compare_either(row);
    (void)out;
    (void)cap;
    if (any->level == LAB_SUM_ITERATION)
        return "";
    return any->level == LAB_SUM_WALL ? "wall" : any->phase;
}

static const char *name_text(const void *row, char *out, size_t cap)
{
    const struct lab_time_sum *any = lab_compare_either(row);
    const char *step = lab_time_sum_step(any);
    const char *kernel = any->kernel_short ? any->kernel_short : any->kernel;
    switch (any->level) {
    case LAB_SUM_ITERATION:
        return "all steps";
    case LAB_SUM_PHASE:
        return any->phase;
    case LAB_SUM_NODE:
        return any->node;
    case LAB_SUM_KERNEL:
        if (!step || !step[0])
            return kernel;
        snprintf(out, cap, "%s, %s", kernel ? kernel : "", step);
        return out;
    default:
        return step;
    }
}

/* What one run alone has is different by all of its time. */
double lab_compare_difference(const struct lab_compare_row *r)
{
    bool both = r->side[LAB_SIDE_A] && r->side[LAB_SIDE_B];
    return both ? r->difference_ns : lab_compare_either(r)->median_ns;
}

static double distance(const void *row)
{
    return fabs(lab_compare_difference(row));
}

/* On a bar what only one run has is all gain, or all loss. */
static double delta(const void *row)
{
    double ns = lab_compare_difference(row);
    return ((const struct lab_compare_row *)row)->side[LAB_SIDE_B] ? ns : -ns;
}

static const char *difference_text(const void *row, char *out, size_t cap)
{
    double ns = ((const struct lab_compare_row *)row)->difference_ns;
    return isnan(ns) ? "-" : lab_format_difference(ns, out, cap);
}

/* In every row the first run's time over the second's: the column can be sorted. */
static const char *speed_up_text(const void *row, char *out, size_t cap)
{
    double v = ((const struct lab_compare_row *)row)->speed_up;
    if (isnan(v))
        return "-";
    snprintf(out, cap,
             v >= 99.95     ? "%.0fx"
             : v >= 0.0995  ? "%.2fx"
             : v >= 0.00995 ? "%.2gx"
                            : "%.1gx",
             v);
    return out;
}

static double speed_up(const void *row)
{
    return ((const struct lab_compare_row *)row)->speed_up;
}

static double p_value(const void *row)
{
    return ((const struct lab_compare_row *)row)->p;
}

static const char *p_text(const void *row, char *out, size_t cap)
{
    double p = p_value(row);
    if (isnan(p))
        return "-";
    snprintf(out, cap, p < 0.001 ? "<0.001" : "%.3f", p);
    return out;
}

/* What only one run has belongs to the run that heads the column. */
static const char *verdict_text(const void *row, char *out, size_t cap)
{
    const struct lab_compare_row *r = row;
    if (r->level == LAB_SUM_WALL)
        return "-"; /* one figure a run */
    if (r->verdict != LAB_VERDICT_ONLY_A && r->verdict != LAB_VERDICT_ONLY_B)
        return lab_verdict_name(r->verdict);
    snprintf(out, cap, "only %lld",
             (long long)r->run[r->verdict == LAB_VERDICT_ONLY_B]);
    return out;
}

#define FIELD(title_, place_, ...)                                             \
    {                                                                          \
        .kind = LAB_FIELD_REAL, .title = title_, .place = place_, __VA_ARGS__  \
    }
#define VALUE(get) .real = get, .text = get##_text
#define LISTED LAB_LISTED
#define NONE LAB_FIELD_ABSENT

/* The titles of a side's columns end in its run's number. Sectors are those of a
 * load of a warp. Lists on the screen: without a simulated run, and with one. */
static const struct lab_field fields[] = {
    FIELD(NULL, 0, .text = level_text,
          .list = {1, "level", 9, .as_given = true, .drop = {13, 13}}),
    FIELD(NULL, 0, .text = phase_text,
          .list = {2, "phase", 8, .as_given = true, .drop = {4, 4}}),
    FIELD(NULL, 0, .text = name_text, LISTED(3, "what", 14, 4, false, 0, 0)),
    FIELD(">", 2, VALUE(median_a), LISTED(4, ">run ", 8, 0, true, 3, 3)),
    FIELD(">", 3, VALUE(median_b), LISTED(5, ">run ", 8, 0, true, 2, 2)),
    FIELD(">diff", 4, .real = distance, .text = difference_text,
          LISTED(6, ">difference", 11, 0, true, 0, 0)),
    FIELD(NULL, 0, .real = delta, .show = LAB_SHOW_DELTA,
          LISTED(7, "less / more", 13, 2, false, 1, NONE)),
    FIELD(">x", 5, VALUE(speed_up), LISTED(8, ">x", 6, 0, true, 1, 1)),
    FIELD(">p", 6, .real = p_value, .text = p_text,
          LISTED(9, ">p", 6, 0, false, 5, 5)),
    FIELD("verdict", 7, .text = verdict_text, .show = LAB_SHOW_VERDICT,
          LISTED(10, "verdict", 9, 0, false, 0, 0)),
    FIELD(">n ", 8, VALUE(timed_a), LISTED(11, ">n ", 7, 0, true, 8, 8)),
    FIELD(">n ", 9, VALUE(timed_b), LISTED(12, ">n ", 7, 0, true, 7, 7)),
    FIELD(">MAD", 10, VALUE(mad_a), LISTED(13, ">MAD ", 9, 0, true, 10, 10)),
    FIELD(">MAD", 11, VALUE(mad_b), LISTED(14, ">MAD ", 9, 0, true, 9, 9)),
    FIELD(">FLOP", 12, .real = flop),
    FIELD(">GFLOP/s", 13, .text = gflop_per_s_a_text),
    FIELD(">GFLOP/s", 14, .text = gflop_per_s_b_text),
    FIELD(NULL, 0, VALUE(flop_per_s_a),
          LISTED(15, ">FLOP/s ", 12, 0, true, 12, 12)),
    FIELD(NULL, 0, VALUE(flop_per_s_b),
          LISTED(16, ">FLOP/s ", 12, 0, true, 11, 11)),
    FIELD(">FLOP ", LAB_COMPARE_COUNTED, VALUE(counted_flop_a),
          LISTED(17, ">counted ", 12, 0, true, NONE, 15)),
    FIELD(">FLOP ", LAB_COMPARE_COUNTED + 1, VALUE(counted_flop_b),
          LISTED(18, ">counted ", 12, 0, true, NONE, 14)),
    FIELD(">sectors ", LAB_COMPARE_COUNTED + 2, VALUE(sectors_per_load_a),
          LISTED(19, ">sectors ", 11, 0, true, NONE, 17)),
    FIELD(">sectors ", LAB_COMPARE_COUNTED + 3, VALUE(sectors_per_load_b),
          LISTED(20, ">sectors ", 11, 0, true, NONE, 16)),
    FIELD(">conflicts ", LAB_COMPARE_COUNTED + 4, VALUE(bank_conflicts_a),
          LISTED(21, ">conflicts ", 13, 0, true, NONE, 19)),
    FIELD(">conflicts ", LAB_COMPARE_COUNTED + 5, VALUE(bank_conflicts_b),
          LISTED(22, ">conflicts ", 13, 0, true, NONE, 18)),
};
LAB_FIELDS_TABLE(lab_compare_fields, lab_compare_row);
