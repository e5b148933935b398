/* The steps of a run, sorted, and the table of their columns. */
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

#define FIELD(kind_, member, ...)                                              \
    {                                                                          \
        .kind = LAB_FIELD_##kind_,                                             \
        .at = offsetof(struct lab_time_sum, member), __VA_ARGS__               \
    }
#define SHOWN(title_, place_, show_)                                           \
    .title = title_, .place = place_, .show = LAB_SHOW_##show_

/* In the order of CSV and JSON; those with a name to sort by in the order of
 * enum lab_step_sort. */
static const struct lab_field fields[] = {
    FIELD(INT, step_index, .key = "index", SHOWN(">#", 1, PLAIN),
          .sort = "index"),
    FIELD(TEXT, phase, .key = "phase", SHOWN("phase", 3, PLAIN)),
    FIELD(REAL, phase_id, .real = phase_order, .sort = "phase"),
    FIELD(TEXT, name, .key = "name", .csv = "step"),
    FIELD(TEXT, name, SHOWN("step", 2, PLAIN), .text = shown_name,
          .sort = "name"),
    FIELD(TEXT, node, .key = "node"),
    FIELD(TEXT, op, .key = "op"),
    FIELD(TEXT, variant, .key = "variant", SHOWN("variant", 4, PLAIN),
          .sort = "variant"),
    FIELD(TEXT, backend, .key = "backend"),
    FIELD(INT, count, .key = "count", SHOWN(">n", 5, PLAIN), .sort = "count"),
    FIELD(INT, timed, .key = "timed"),
    FIELD(NS, median_ns, .key = "median_ns", SHOWN(">median", 6, NS),
          .sort = "median"),
    FIELD(INT, min_ns, .key = "min_ns", SHOWN(">min", 7, NS), .sort = "min"),
    FIELD(INT, max_ns, .key = "max_ns", .sort = "max"),
    FIELD(INT, total_ns, .key = "total_ns", SHOWN(">total", 8, NS),
          .sort = "total"),
    FIELD(NS, quarter_ns, .key = "quarter_ns"),
    FIELD(NS, three_quarters_ns, .key = "three_quarters_ns"),
    FIELD(NS, mad_ns, .key = "mad_ns"),
    FIELD(REAL, flop, .key = "flop", .sort = "flop"),
    FIELD(REAL, bytes, .key = "bytes", .sort = "bytes"),
    FIELD(REAL, flop, .key = "gflop_per_s", SHOWN(">GFLOP/s", 9, PLAIN),
          .real = gflop_per_s, .sort = "gflop_per_s"),
    FIELD(REAL, bytes, .key = "gbyte_per_s", SHOWN(">GB/s", 10, PLAIN),
          .real = gbyte_per_s, .sort = "gbyte_per_s"),
    FIELD(INT, kernels, .key = "kernels", SHOWN(">kernels", 11, PLAIN),
          .sort = "kernels"),
    FIELD(TEXT, time_source, .key = "time_source"),
};
LAB_FIELDS_TABLE(lab_step_fields, lab_time_sum);

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

/* Rows that are equal stay in the order in which they were read. */
static int compare_steps(const void *a, const void *b, void *user)
{
    const struct lab_time_sum *const *x = a;
    const struct lab_time_sum *const *y = b;
    const struct order *o = user;
    int by = lab_field_compare(o->field, *x, *y, o->descending);
    return by ? by : (*x > *y) - (*x < *y);
}

enum lab_status lab_query_steps(struct lab_database *db, int64_t run,
                                enum lab_step_sort sort, bool descending,
                                lab_step_row_fn *each, void *user)
{
    struct lab_time_sums sums = {0};
    struct order order = {sorted_by(sort), descending};
    if (!order.field)
        return lab_fail(LAB_E_ARG, "steps have no such column to sort by");
    enum lab_status st = lab_time_sums_load(&sums, db, run, 1u << LAB_SUM_STEP);
    if (st)
        return st;
    const struct lab_time_sum **rows =
        lab_alloc_array(sums.count + 1, sizeof(*rows));
    if (!rows) {
        lab_time_sums_release(&sums);
        return lab_no_memory("the steps of a run");
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
