/* query_steps.c -- the steps of a run, sorted, and the table of their columns.
 *
 * `profile steps` and CSV read with it; lists on screens take the columns from
 * lab_kernel_sum_fields and its sibling for steps. */
#include "store/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "store/row_fields.h"
#include "store/time_sum.h"

static const char *shown_name(const void *row, char *out, size_t cap)
{
    (void)out;
    (void)cap;
    return lab_time_sum_step(row);
}

/* FLOP per ns is Gflop per s. */
static double per_ns(double work, const struct lab_time_sum *s)
{
    double ns = trunc(s->median_ns);
    return ns > 0 ? work / ns : (double)NAN;
}

static double gflop_per_s(const void *row)
{
    const struct lab_time_sum *s = row;
    return per_ns(s->flop, s);
}

static double gbyte_per_s(const void *row)
{
    const struct lab_time_sum *s = row;
    return per_ns(s->bytes, s);
}

/* Phases in the order in which they run. */
static double phase_order(const void *row)
{
    return lab_to_real(((const struct lab_time_sum *)row)->phase_id);
}

static double flop_per_s(const void *row)
{
    return lab_time_sum_flop_per_s(row);
}

static double bytes_per_s(const void *row)
{
    const struct lab_time_sum *s = row;
    return s->median_ns > 0 ? s->bytes / s->median_ns * 1e9 : (double)NAN;
}

/* Of half of the times, around the median. */
static double spread(const void *row)
{
    const struct lab_time_sum *s = row;
    return s->three_quarters_ns - s->quarter_ns;
}

static double achieved(const void *row)
{
    return ((const struct lab_time_sum *)row)->counters.achieved_occupancy_pct;
}

static double dram(const void *row)
{
    const struct lab_counters *c =
        &((const struct lab_time_sum *)row)->counters;
    return c->dram_read_bytes + c->dram_write_bytes;
}

/* A kernel has no formula. */
static double counted_flop(const void *row)
{
    const struct lab_time_sum *s = row;
    return s->level == LAB_SUM_KERNEL
               ? lab_counters_flop(&s->counters)
               : lab_counters_flop_beside(&s->counters, s->flop);
}

static const char *kernel_text(const void *row, char *out, size_t cap)
{
    const struct lab_time_sum *s = row;
    (void)out;
    (void)cap;
    return s->kernel_short ? s->kernel_short : s->kernel;
}

static const char *limit_text(const void *row, char *out, size_t cap)
{
    lab_limit_words(((const struct lab_time_sum *)row)->occupancy_limit, ", ",
                    out, cap);
    return out[0] ? out : NULL;
}

#define FIELD(kind_, member, ...)                                              \
    {                                                                          \
        .kind = LAB_FIELD_##kind_,                                             \
        .at = offsetof(struct lab_time_sum, member), __VA_ARGS__               \
    }
#define SHOWN LAB_SHOWN
#define NONE LAB_FIELD_ABSENT
#define LISTED LAB_LISTED

/* In the order of CSV and JSON; those with a name to sort by in the order of
 * enum lab_step_sort. Lists on the screen: of a run that was not counted, of one
 * that was: its counters stay in sight longer, and of a simulated one, which has no
 * times. */
static const struct lab_field fields[] = {
    FIELD(INT, step_index, .key = "index", SHOWN(">#", 1, PLAIN),
          .sort = "index", LISTED(1, ">#", 4, 0, false, 9, 10, 6)),
    FIELD(TEXT, phase, .key = "phase", SHOWN("phase", 3, PLAIN),
          .list = {3, "phase", 8, .as_given = true}),
    FIELD(REAL, phase_id, .real = phase_order, .sort = "phase"),
    FIELD(TEXT, name, .key = "name", .csv = "step"),
    FIELD(TEXT, name, SHOWN("step", 2, PLAIN), .text = shown_name,
          .sort = "name", LISTED(2, "step", 16, 4, false, 0)),
    FIELD(TEXT, node, .key = "node"),
    FIELD(TEXT, op, .key = "op"),
    FIELD(TEXT, variant, .key = "variant", SHOWN("variant", 4, PLAIN),
          .sort = "variant", LISTED(4, "variant", 8, 1, false, 1, 1, 2)),
    FIELD(TEXT, backend, .key = "backend",
          LISTED(5, "backend", 7, 0, false, 12, 13, 9)),
    FIELD(INT, count, .key = "count", SHOWN(">n", 5, PLAIN), .sort = "count",
          LISTED(13, ">times", 7, 0, true, 10, 11, 7)),
    FIELD(INT, timed, .key = "timed"),
    FIELD(NS, median_ns, .key = "median_ns", SHOWN(">median", 6, NS),
          .sort = "median", LISTED(6, ">median", 9, 0, true, 0, 0, NONE)),
    FIELD(REAL, share, .key = "share", .show = LAB_SHOW_BAR,
          LISTED(7, ">share", 13, 2, true, 0, 0, NONE)),
    FIELD(REAL, cumulative, .key = "cumulative_share", .show = LAB_SHOW_SHARE,
          LISTED(8, ">cum.", 6, 0, false, 2, 3, NONE)),
    FIELD(TEXT, bound, LISTED(9, "bound", 7, 0, false, 3, 4, NONE)),
    FIELD(REAL, of_roof, .show = LAB_SHOW_SHARE,
          LISTED(10, ">of roof", 7, 0, true, 4, 5, NONE)),
    FIELD(INT, min_ns, .key = "min_ns", SHOWN(">min", 7, NS), .sort = "min",
          LISTED(12, ">min", 9, 0, true, 11, 12, NONE)),
    FIELD(INT, max_ns, .key = "max_ns", .sort = "max"),
    FIELD(INT, total_ns, .key = "total_ns", SHOWN(">total", 8, NS),
          .sort = "total"),
    FIELD(NS, quarter_ns, .key = "quarter_ns"),
    FIELD(NS, three_quarters_ns, .key = "three_quarters_ns"),
    FIELD(REAL, quarter_ns, .real = spread, .show = LAB_SHOW_NS,
          LISTED(11, ">spread", 9, 0, true, 8, 9, NONE)),
    FIELD(NS, mad_ns, .key = "mad_ns"),
    FIELD(REAL, flop, .key = "flop", .sort = "flop"),
    FIELD(REAL, bytes, .key = "bytes", .sort = "bytes"),
    FIELD(REAL, flop, .key = "gflop_per_s", SHOWN(">GFLOP/s", 9, PLAIN),
          .real = gflop_per_s, .sort = "gflop_per_s"),
    FIELD(REAL, bytes, .key = "gbyte_per_s", SHOWN(">GB/s", 10, PLAIN),
          .real = gbyte_per_s, .sort = "gbyte_per_s"),
    FIELD(REAL, flop, .real = flop_per_s, .show = LAB_SHOW_FLOP_S,
          LISTED(14, ">FLOP/s", 12, 0, true, 5, 6, NONE)),
    FIELD(REAL, bytes, .real = bytes_per_s, .show = LAB_SHOW_BYTES_S,
          LISTED(15, ">bytes/s", 10, 0, true, 6, 7, NONE)),
    FIELD(INT, kernels, .key = "kernels", SHOWN(">kernels", 11, PLAIN),
          .sort = "kernels", LISTED(16, ">kernels", 7, 0, true, 7, 8, 8)),
    FIELD(TEXT, time_source, .key = "time_source"),
    FIELD(REAL, counters, .real = achieved, .show = LAB_SHOW_PCT,
          LISTED(17, ">achieved", 8, 0, true, 13, 2, NONE)),
    FIELD(REAL, counters, .real = dram, .show = LAB_SHOW_BYTES,
          LISTED(18, ">DRAM", 9, 0, true, 14, 5, NONE)),
    FIELD(REAL, counters, .real = counted_flop, .show = LAB_SHOW_FLOP,
          LISTED(19, ">counted", 11, 0, true, 15, 14, 0)),
    FIELD(REAL, counters.sectors_per_load, .show = LAB_SHOW_RATIO,
          LISTED(20, ">sectors", 8, 0, true, NONE, NONE, 1)),
    FIELD(REAL, counters.bank_conflicts, .show = LAB_SHOW_NUMBER,
          LISTED(21, ">conflicts", 9, 0, true, NONE, NONE, 3)),
    FIELD(REAL, counters.lanes_per_inst, .show = LAB_SHOW_RATIO,
          LISTED(22, ">lanes", 6, 0, true, NONE, NONE, 4)),
    FIELD(REAL, counters.warp_inst, .show = LAB_SHOW_NUMBER,
          LISTED(23, ">instructions", 12, 0, true, NONE, NONE, 5)),
};
LAB_FIELDS_TABLE(lab_step_fields, lab_time_sum);

/* Lists on the screen: of one step (the heading has its name) and of several;
 * each without and with counters, and of a simulation. */
static const struct lab_field kernel_fields[] = {
    FIELD(TEXT, kernel, .text = kernel_text,
          LISTED(1, "kernel", 20, 4, false, 0)),
    FIELD(TEXT, name, .text = shown_name,
          LISTED(2, "step", 14, 1, false, 7, 7, 0, 0, 12, 0)),
    FIELD(TEXT, phase,
          .list = {3, "phase", 8, .as_given = true,
                   .drop = {12, 12, 1, 1, 16, 9}}),
    FIELD(NS, median_ns, .show = LAB_SHOW_NS,
          LISTED(4, ">median", 9, 0, true, 0, 0, 0, 0, NONE, NONE)),
    FIELD(REAL, share, .show = LAB_SHOW_BAR,
          LISTED(5, ">share", 13, 2, true, 0, 0, 0, 0, NONE, NONE)),
    FIELD(REAL, cumulative, .show = LAB_SHOW_SHARE,
          LISTED(6, ">cum.", 6, 0, false, 13, 13, 13, 13, NONE, NONE)),
    FIELD(TEXT, bound, LISTED(7, "bound", 7, 0, false, 2, 2, 2, 2, NONE, NONE)),
    FIELD(REAL, of_roof, .show = LAB_SHOW_SHARE,
          LISTED(8, ">of roof", 7, 0, true, 10, 10, 10, 10, NONE, NONE)),
    FIELD(INT, count, LISTED(9, ">times", 7, 0, true, 8, 8, 8, 8, 10, 10)),
    FIELD(DIMS, launch.grid, LISTED(10, ">grid", 9, 0, true, 2, 2, 2, 2, 4, 4)),
    FIELD(DIMS, launch.block,
          LISTED(11, ">block", 8, 0, true, 2, 2, 4, 4, 4, 5)),
    FIELD(INT, launch.registers_per_thread,
          LISTED(12, ">regs", 4, 0, true, 3, 3, 3, 3, NONE, NONE)),
    FIELD(INT, shared_bytes, .show = LAB_SHOW_BYTES,
          LISTED(13, ">shared", 8, 0, true, 4, 4, 5, 5, 6, 7)),
    FIELD(REAL, occupancy_pct, .show = LAB_SHOW_PCT,
          LISTED(14, ">occup.", 7, 0, true, 1, 1, 1, 1, 7, 8)),
    FIELD(INT, occupancy_limit, .text = limit_text,
          LISTED(15, "limited by", 10, 1, false, 6, 6, 6, 6, 9, 11)),
    FIELD(REAL, counters, .real = achieved, .show = LAB_SHOW_PCT,
          LISTED(16, ">achieved", 8, 0, true, 9, 1, 9, 1, NONE, NONE)),
    FIELD(REAL, counters, .real = dram, .show = LAB_SHOW_BYTES,
          LISTED(17, ">DRAM", 9, 0, true, 10, 4, 10, 6, NONE, NONE)),
    FIELD(REAL, counters, .real = counted_flop, .show = LAB_SHOW_FLOP,
          LISTED(18, ">counted", 11, 0, true, 11, 3, 11, 5, 0, 1)),
    FIELD(REAL, counters.sectors_per_load, .show = LAB_SHOW_RATIO,
          LISTED(19, ">sectors", 8, 0, true, NONE, NONE, NONE, NONE, 1, 2)),
    FIELD(REAL, counters.bank_conflicts, .show = LAB_SHOW_NUMBER,
          LISTED(20, ">conflicts", 9, 0, true, NONE, NONE, NONE, NONE, 2, 3)),
    FIELD(REAL, counters.lanes_per_inst, .show = LAB_SHOW_RATIO,
          LISTED(21, ">lanes", 6, 0, true, NONE, NONE, NONE, NONE, 3, 6)),
    FIELD(REAL, counters.warp_inst, .show = LAB_SHOW_NUMBER,
          LISTED(22, ">instructions", 12, 0, true, NONE, NONE, NONE, NONE, 5,
                 13)),
};
const struct lab_fields lab_kernel_sum_fields = {
    .list = kernel_fields,
    .count = (int)(sizeof(kernel_fields) / sizeof(kernel_fields[0])),
    .row_bytes = sizeof(struct lab_time_sum)};

static const struct lab_field *sorted_by(enum lab_step_sort sort)
{
    int n = 0;
    for (int i = 0; i < lab_step_fields.count; i++)
        if (fields[i].sort && n++ == (int)sort)
            return &fields[i];
    return NULL;
}

const char *lab_step_sort_name(enum lab_step_sort sort)
{
    const struct lab_field *f = sorted_by(sort);
    return f ? f->sort : NULL;
}

struct order {
    const struct lab_field *field;
    bool descending;
};

/* < 0, 0, > 0; unknown values come last in either direction. */
static int compare_field(const struct lab_field *f, const void *a,
                         const void *b, bool descending)
{
    int sign = descending ? -1 : 1;
    if (f->text || f->kind == LAB_FIELD_TEXT) {
        char left[256];
        char right[256];
        const char *s = lab_field_text(f, a, left, sizeof(left));
        const char *t = lab_field_text(f, b, right, sizeof(right));
        return !s || !t ? (s == NULL) - (t == NULL) : sign * strcmp(s, t);
    }
    double s = lab_field_real(f, a);
    double t = lab_field_real(f, b);
    if (isnan(s) || isnan(t))
        return (isnan(s) != 0) - (isnan(t) != 0);
    return sign * ((s > t) - (s < t));
}

/* Rows that are equal stay in the order in which they were read. */
static int compare_steps(const void *a, const void *b, void *user)
{
    const struct lab_time_sum *const *x = a;
    const struct lab_time_sum *const *y = b;
    const struct order *o = user;
    int by = compare_field(o->field, *x, *y, o->descending);
    return by ? by : (*x > *y) - (*x < *y);
}

enum lab_status lab_query_steps(struct lab_database *db, int64_t run,
                                enum lab_step_sort sort, bool descending,
                                lab_step_row_fn *each, void *user)
{
    struct lab_time_sums sums = {0};
    struct order order = {sorted_by(sort), descending};
    if (!order.field)
        return lab_fail(LAB_E_ARG,
                        "[run.step-sort] steps have no such column to sort by");
    enum lab_status st = lab_time_sums_load(&sums, db, run, 1u << LAB_SUM_STEP);
    if (!st)
        st = lab_time_sums_share(sums.items, sums.count);
    const struct lab_time_sum **rows =
        st ? NULL : lab_alloc_array(sums.count + 1, sizeof(*rows));
    if (!st && !rows)
        st = lab_no_memory("the steps of a run");
    if (st) {
        lab_time_sums_release(&sums);
        return st;
    }
    for (size_t i = 0; i < sums.count; i++)
        rows[i] = &sums.items[i];
    qsort_r(rows, sums.count, sizeof(*rows), compare_steps, &order);
    for (size_t i = 0; i < sums.count; i++)
        if (!each(user, rows[i]))
            break;
    lab_free(rows);
    lab_time_sums_release(&sums);
    return LAB_OK;
}
