#include "store/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "store/time_sum.h"

static const char *const sort_names[LAB_STEP_SORT_COUNT] = {
    [LAB_STEP_BY_INDEX] = "index",
    [LAB_STEP_BY_NAME] = "name",
    [LAB_STEP_BY_PHASE] = "phase",
    [LAB_STEP_BY_VARIANT] = "variant",
    [LAB_STEP_BY_COUNT] = "count",
    [LAB_STEP_BY_MEDIAN] = "median",
    [LAB_STEP_BY_MIN] = "min",
    [LAB_STEP_BY_MAX] = "max",
    [LAB_STEP_BY_TOTAL] = "total",
    [LAB_STEP_BY_FLOP] = "flop",
    [LAB_STEP_BY_BYTES] = "bytes",
    [LAB_STEP_BY_GFLOP_PER_S] = "gflop_per_s",
    [LAB_STEP_BY_GBYTE_PER_S] = "gbyte_per_s",
    [LAB_STEP_BY_KERNELS] = "kernels",
};

const char *lab_step_sort_name(enum lab_step_sort sort)
{
    return (unsigned)sort < LAB_STEP_SORT_COUNT ? sort_names[sort] : NULL;
}

/* A row, and its place among those of the same rank. */
struct ranked {
    struct lab_step_row row;
    int64_t phase;
    size_t place;
};

static int64_t whole(double ns)
{
    return isnan(ns) ? LAB_UNKNOWN : (int64_t)ns;
}

static void make_row(struct lab_step_row *r, const struct lab_time_sum *s)
{
    *r = (struct lab_step_row){
        .index = s->step_index,
        .phase = s->phase,
        .name = s->name,
        .rung = s->rung,
        .node = s->node,
        .op = s->op,
        .variant = s->variant,
        .backend = s->backend,
        .time_source = s->time_source,
        .count = s->count,
        .timed = s->timed,
        .median_ns = whole(s->median_ns),
        .min_ns = s->min_ns,
        .max_ns = s->max_ns,
        .total_ns = s->total_ns,
        .quarter_ns = whole(s->quarter_ns),
        .three_quarters_ns = whole(s->three_quarters_ns),
        .mad_ns = whole(s->mad_ns),
        .flop = s->flop,
        .bytes = s->bytes,
        .gflop_per_s = NAN,
        .gbyte_per_s = NAN,
        .kernels = s->kernels,
    };
    if (r->median_ns > 0) { /* flop per ns is Gflop per s */
        r->gflop_per_s = s->flop / (double)r->median_ns;
        r->gbyte_per_s = s->bytes / (double)r->median_ns;
    }
}

/* A number or a text to sort by; NaN and NULL when it is unknown. */
static double sort_number(const struct ranked *g, enum lab_step_sort sort)
{
    const struct lab_step_row *r = &g->row;
    int64_t v = LAB_UNKNOWN;
    switch (sort) {
    case LAB_STEP_BY_FLOP:
        return r->flop;
    case LAB_STEP_BY_BYTES:
        return r->bytes;
    case LAB_STEP_BY_GFLOP_PER_S:
        return r->gflop_per_s;
    case LAB_STEP_BY_GBYTE_PER_S:
        return r->gbyte_per_s;
    case LAB_STEP_BY_PHASE:
        v = g->phase;
        break;
    case LAB_STEP_BY_COUNT:
        v = r->count;
        break;
    case LAB_STEP_BY_MEDIAN:
        v = r->median_ns;
        break;
    case LAB_STEP_BY_MIN:
        v = r->min_ns;
        break;
    case LAB_STEP_BY_MAX:
        v = r->max_ns;
        break;
    case LAB_STEP_BY_TOTAL:
        v = r->total_ns;
        break;
    case LAB_STEP_BY_KERNELS:
        v = r->kernels;
        break;
    default:
        v = r->index;
    }
    return v == LAB_UNKNOWN ? (double)NAN : (double)v;
}

static const char *shown_name(const struct lab_step_row *r)
{
    return lab_bench_name_text(r->rung, r->name);
}

struct order {
    enum lab_step_sort sort;
    int sign; /* -1: descending */
};

static int compare_rows_of_steps(const void *a, const void *b, void *user)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    const struct order *order = user;
    int by = 0;
    if (order->sort == LAB_STEP_BY_NAME || order->sort == LAB_STEP_BY_VARIANT) {
        bool name = order->sort == LAB_STEP_BY_NAME;
        const char *s = name ? shown_name(&x->row) : x->row.variant;
        const char *t = name ? shown_name(&y->row) : y->row.variant;
        if (!s || !t)
            by = (s == NULL) - (t == NULL); /* unknown last */
        else
            by = order->sign * strcmp(s, t);
    } else {
        double s = sort_number(x, order->sort);
        double t = sort_number(y, order->sort);
        if (isnan(s) || isnan(t))
            by = (isnan(s) != 0) - (isnan(t) != 0);
        else
            by = order->sign * ((s > t) - (s < t));
    }
    return by ? by : (x->place > y->place) - (x->place < y->place);
}

enum lab_status lab_query_steps(struct lab_database *db, int64_t run,
                                enum lab_step_sort sort, bool descending,
                                lab_step_row_fn *each, void *user)
{
    struct lab_time_sums sums = {0};
    struct order order = {sort, descending ? -1 : 1};
    if ((unsigned)sort >= LAB_STEP_SORT_COUNT)
        return lab_fail(LAB_E_ARG, "steps have no such column to sort by");
    enum lab_status st = lab_time_sums_load(&sums, db, run, 1u << LAB_SUM_STEP);
    if (st)
        return st;
    struct ranked *rows = lab_alloc_array(sums.count + 1, sizeof(*rows));
    if (!rows) {
        lab_time_sums_release(&sums);
        return lab_fail(LAB_E_NOMEM, "no memory for the steps of a run");
    }
    for (size_t i = 0; i < sums.count; i++) {
        make_row(&rows[i].row, &sums.items[i]);
        rows[i].phase = sums.items[i].phase_id;
        rows[i].place = i;
    }
    qsort_r(rows, sums.count, sizeof(*rows), compare_rows_of_steps, &order);
    for (size_t i = 0; i < sums.count; i++)
        if (!each(user, &rows[i].row))
            break;
    lab_free(rows);
    lab_time_sums_release(&sums);
    return LAB_OK;
}
