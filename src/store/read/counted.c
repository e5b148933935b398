/* counted.c -- hardware counters of a run, or what a simulation counted, by step and
 * by kernel, and the table of their columns. */
#include "store/counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"

enum { MOST_KERNELS = 4096 }; /* of one step */

/* The values of one execution: a row for the whole step, then its kernels. */
struct counting {
    struct lab_database *db;
    int64_t run;
    struct lab_counted_run *out;
    size_t room;
    const char *names[LAB_MAX_METRICS];
    int64_t ids[LAB_MAX_METRICS];
    int n_metrics;
    double (*value)[LAB_MAX_METRICS];
    int rows;
    int row_room;
    bool whole; /* the step itself has values */
    int64_t exec;
    int64_t step_index;
    const char *step;
    const char *variant;
};

void lab_counted_release(struct lab_counted_run *c)
{
    lab_free(c->by_row);
    lab_free(c->items);
    *c = (struct lab_counted_run){0};
}

static struct lab_counted_item *add_item(struct counting *g, int64_t ordinal)
{
    struct lab_counted_run *o = g->out;
    if (lab_grow(&o->items, o->count, &g->room, sizeof(*o->items),
                 "the counters of a run"))
        return NULL;
    struct lab_counted_item *item = &o->items[o->count++];
    *item = (struct lab_counted_item){.exec = g->exec,
                                      .ordinal = ordinal,
                                      .kernel_row = LAB_UNKNOWN,
                                      .step_index = g->step_index,
                                      .step = g->step,
                                      .variant = g->variant};
    return item;
}

/* ---- an execution's values ---- */

static enum lab_status grow_rows(struct counting *g, int rows)
{
    if (rows > g->row_room) {
        int room = g->row_room ? g->row_room : 8;
        while (room < rows)
            room *= 2;
        void *value =
            lab_realloc_array(g->value, (size_t)room, sizeof(*g->value));
        if (!value)
            return lab_no_memory("the counters of a run");
        g->value = value;
        g->row_room = room;
    }
    for (; g->rows < rows; g->rows++)
        for (int m = 0; m < LAB_MAX_METRICS; m++)
            g->value[g->rows][m] = NAN;
    return LAB_OK;
}

static int find_metric(struct counting *g, int64_t id, const char *name)
{
    int m = 0;
    while (m < g->n_metrics && g->ids[m] != id)
        m++;
    if (m == g->n_metrics && m < LAB_MAX_METRICS) {
        g->out->simulated |= lab_counter_is_simulated(name);
        g->names[m] = name;
        g->ids[m] = id;
        g->n_metrics++;
    }
    return m;
}

static enum lab_status add_value(struct counting *g, int64_t ordinal,
                                 int64_t id, const char *name, double value)
{
    bool whole = ordinal == LAB_UNKNOWN;
    if (!whole && (ordinal < 0 || ordinal >= MOST_KERNELS))
        return LAB_OK;
    int row = whole ? 0 : (int)ordinal + 1;
    int m = find_metric(g, id, name);
    if (m == LAB_MAX_METRICS)
        return LAB_OK;
    enum lab_status st = grow_rows(g, row + 1);
    if (st)
        return st;
    g->value[row][m] = value; /* counted once more: the newer one */
    g->whole |= whole;
    return LAB_OK;
}

/* Names and rows of the kernels, where as many were traced as counted. */
static enum lab_status name_kernels(struct counting *g, size_t first, int n)
{
    int seen = 0;
    struct lab_stmt s = lab_stmt_new(
        g->db,
        "SELECT o.kernelRow, n.value FROM step AS s CROSS JOIN op_kernel AS o "
        "ON o.kernelRow BETWEEN s.kernelRowFirst AND s.kernelRowLast AND "
        "o.runId = s.runId AND o.stepExec = s.exec CROSS JOIN "
        "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow LEFT "
        "JOIN StringIds AS n ON n.id = k.demangledName WHERE s.runId = ?1 AND "
        "s.exec = ?2 ORDER BY k.start, o.kernelRow");
    sqlite3_bind_int64(s.sql, 1, g->run);
    sqlite3_bind_int64(s.sql, 2, g->exec);
    while (lab_stmt_next(&s)) {
        if (seen++ >= n)
            continue;
        struct lab_counted_item *item =
            &g->out->items[first + (size_t)seen - 1];
        item->kernel_row = lab_column_int(&s);
        s.st = lab_column_kept(&s, &item->kernel);
    }
    for (int i = 0; i < n && seen != n; i++) {
        g->out->items[first + (size_t)i].kernel_row = LAB_UNKNOWN;
        g->out->items[first + (size_t)i].kernel = NULL;
    }
    return lab_stmt_end(&s);
}

static enum lab_status end_exec(struct counting *g)
{
    enum lab_status st = LAB_OK;
    int n = g->rows - 1; /* kernels */
    struct lab_counted_item *item =
        g->rows > 0 ? add_item(g, LAB_UNKNOWN) : NULL;
    if (g->rows > 0 && !item)
        return lab_no_memory("the counters of a run");
    if (item)
        lab_counters_compute(&item->counters, g->names, g->n_metrics,
                             g->value[g->whole ? 0 : 1], LAB_MAX_METRICS,
                             g->whole ? 1 : n);
    size_t first = g->out->count;
    for (int k = 0; k < n; k++) {
        item = add_item(g, k);
        if (!item)
            return lab_no_memory("the counters of a run");
        lab_counters_compute(&item->counters, g->names, g->n_metrics,
                             g->value[k + 1], LAB_MAX_METRICS, 1);
    }
    if (n > 0)
        st = name_kernels(g, first, n);
    g->rows = g->n_metrics = 0;
    g->whole = false;
    return st;
}

/* ---- reading ---- */

static enum lab_status begin_exec(struct counting *g, int64_t exec,
                                  struct lab_stmt *s)
{
    enum lab_status st = end_exec(g);
    g->exec = exec;
    g->step_index = lab_column_int(s);
    if (st == LAB_OK)
        st = lab_column_kept(s, &g->step);
    if (st == LAB_OK)
        st = lab_column_kept(s, &g->variant);
    return st;
}

static enum lab_status read_value(struct counting *g, struct lab_stmt *s)
{
    const char *name;
    int64_t exec = lab_column_int(s);
    int64_t ordinal = lab_column_int(s);
    int64_t metric = lab_column_int(s);
    enum lab_status st = lab_column_kept(s, &name);
    double value = lab_column_real(s);
    if (st == LAB_OK && exec != g->exec)
        st = begin_exec(g, exec, s);
    return st || !name ? st : add_value(g, ordinal, metric, name, value);
}

static enum lab_status read_values(struct counting *g)
{
    struct lab_stmt s = lab_stmt_of_run(
        g->db,
        "SELECT m.stepExec, m.kernelOrdinal, m.metricId, n.value, m.value, "
        "s.stepIndex, step.value, variant.value FROM metric_value AS m LEFT "
        "JOIN StringIds AS n ON n.id = m.metricId LEFT JOIN step AS s ON "
        "s.runId = m.runId AND s.exec = m.stepExec LEFT JOIN StringIds AS step "
        "ON step.id = s.nameId LEFT JOIN StringIds AS variant ON variant.id = "
        "s.variantId WHERE m.runId = ?1 ORDER BY m.stepExec, m.rowid",
        g->run);
    while (lab_stmt_next(&s))
        s.st = read_value(g, &s);
    if (s.st == LAB_OK)
        s.st = end_exec(g);
    return lab_stmt_end(&s);
}

static int compare_by_row(const void *a, const void *b, void *user)
{
    const struct lab_counted_item *items = user;
    int64_t x = items[*(const size_t *)a].kernel_row;
    int64_t y = items[*(const size_t *)b].kernel_row;
    return (x > y) - (x < y);
}

static enum lab_status index_rows(struct lab_counted_run *c)
{
    if (c->count == 0)
        return LAB_OK;
    c->by_row = lab_alloc_array(c->count, sizeof(*c->by_row));
    if (!c->by_row)
        return lab_no_memory("the counters of a run");
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].kernel_row != LAB_UNKNOWN)
            c->by_row[c->rows++] = i;
    qsort_r(c->by_row, c->rows, sizeof(*c->by_row), compare_by_row, c->items);
    return LAB_OK;
}

enum lab_status lab_counted_load(struct lab_counted_run *out,
                                 struct lab_database *db, int64_t run)
{
    struct lab_counted_run c = {0};
    struct counting g = {.db = db, .run = run, .out = &c, .exec = LAB_UNKNOWN};
    enum lab_status st = read_values(&g);
    if (st == LAB_OK)
        st = index_rows(&c);
    lab_free(g.value);
    if (st)
        lab_counted_release(&c);
    else
        *out = c;
    return st;
}

/* ---- finding ---- */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const struct lab_counted_item *lab_counted_step(const struct lab_counted_run *c,
                                                int64_t step_index,
                                                const char *variant)
{
    for (size_t i = c->count; i > 0; i--) {
        const struct lab_counted_item *item = &c->items[i - 1];
        if (item->ordinal == LAB_UNKNOWN && item->step_index == step_index &&
            same(item->variant, variant))
            return item;
    }
    return NULL;
}

const struct lab_counted_item *
lab_counted_kernel(const struct lab_counted_run *c, int64_t kernel_row)
{
    size_t low = 0;
    size_t high = c->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct lab_counted_item *item = &c->items[c->by_row[middle]];
        if (item->kernel_row == kernel_row)
            return item;
        if (item->kernel_row < kernel_row)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool lab_counted_launch(const struct lab_counted_run *c, int64_t step_index,
                        const char *variant, const char *kernel,
                        struct lab_counters *out)
{
    enum { FIELDS = sizeof(*out) / sizeof(double) };
    const struct lab_counted_item *step =
        lab_counted_step(c, step_index, variant);
    double *sum = (double *)out;
    double launches = 0;
    double weights = 0;
    lab_counters_init(out);
    for (const struct lab_counted_item *k = step ? step + 1 : NULL;
         k && k < c->items + c->count && k->exec == step->exec; k++) {
        const double *v = (const double *)&k->counters;
        if (!k->kernel || !same(k->kernel, kernel))
            continue;
        double w = isnan(k->counters.time_ns) ? 1 : k->counters.time_ns;
        for (size_t f = 0; f < FIELDS; f++) {
            bool whole = lab_counter_is_sum(f * sizeof(double));
            double add = whole ? v[f] : v[f] * w;
            sum[f] = launches > 0 ? sum[f] + add : add;
        }
        launches++;
        weights += w;
    }
    for (size_t f = 0; f < FIELDS && launches > 0; f++)
        sum[f] /= lab_counter_is_sum(f * sizeof(double)) ? launches : weights;
    return launches > 0;
}

void lab_counted_fill(const struct lab_counted_run *c,
                      struct lab_time_sums *sums)
{
    for (size_t i = 0; i < sums->count && c->count > 0; i++) {
        struct lab_time_sum *s = &sums->items[i];
        const struct lab_counted_item *step =
            lab_counted_step(c, s->step_index, s->variant);
        if (s->level == LAB_SUM_KERNEL)
            lab_counted_launch(c, s->step_index, s->variant, s->kernel,
                               &s->counters);
        else if (s->level == LAB_SUM_STEP && step)
            s->counters = step->counters;
    }
}

/* ---- as columns ---- */

static double all_flop(const void *row)
{
    const struct lab_counted_row *r = row;
    return lab_counters_flop_beside(&r->counters, r->formula);
}

static double dram_bytes(const void *row)
{
    const struct lab_counters *c =
        &((const struct lab_counted_row *)row)->counters;
    return c->dram_read_bytes + c->dram_write_bytes;
}

#define FIELD(member, ...)                                                     \
    {                                                                          \
        .kind = LAB_FIELD_REAL,                                                \
        .at = offsetof(struct lab_counted_row, member), __VA_ARGS__            \
    }
#define SHOWN LAB_SHOWN

/* In the order of CSV and JSON. */
static const struct lab_field fields[] = {
    FIELD(counters.achieved_occupancy_pct, .key = "achieved_occupancy_pct",
          SHOWN(">achieved", 1, PCT)),
    FIELD(formula, .real = dram_bytes, SHOWN(">DRAM", 2, BYTES)),
    FIELD(formula, .key = "counted_flop", .real = all_flop,
          SHOWN(">counted", 3, FLOP)),
    FIELD(counters.fp32_flop, .key = "counted_fp32_flop"),
    FIELD(counters.tensor_flop, .key = "counted_tensor_flop"),
    FIELD(counters.tensor_active_pct, .key = "tensor_active_pct"),
    FIELD(counters.dram_read_bytes, .key = "dram_read_bytes"),
    FIELD(counters.dram_write_bytes, .key = "dram_write_bytes"),
    FIELD(counters.ipc, .key = "ipc"),
    FIELD(counters.sm_pct, .key = "sm_pct"),
    FIELD(counters.memory_pct, .key = "memory_pct"),
    FIELD(counters.dram_pct, .key = "dram_pct"),
    FIELD(counters.l1_hit_pct, .key = "l1_hit_pct"),
    FIELD(counters.l2_hit_pct, .key = "l2_hit_pct"),
    FIELD(counters.fp64_flop, .key = "counted_fp64_flop"),
    FIELD(counters.fp16_flop, .key = "counted_fp16_flop"),
    FIELD(formula, .real = all_flop,
          SHOWN(">counted", LAB_COUNTED_SIMULATED, FLOP)),
    FIELD(counters.load_requests, .key = "load_requests"),
    FIELD(counters.load_sectors, .key = "load_sectors"),
    FIELD(counters.sectors_per_load, .key = "sectors_per_load",
          SHOWN(">sectors/load", LAB_COUNTED_SIMULATED + 1, PLAIN)),
    FIELD(counters.store_requests, .key = "store_requests"),
    FIELD(counters.store_sectors, .key = "store_sectors"),
    FIELD(counters.sectors_per_store, .key = "sectors_per_store",
          SHOWN(">sectors/store", LAB_COUNTED_SIMULATED + 2, PLAIN)),
    FIELD(counters.shared_requests, .key = "shared_requests"),
    FIELD(counters.shared_wavefronts, .key = "shared_wavefronts"),
    FIELD(counters.bank_conflicts, .key = "bank_conflicts",
          SHOWN(">conflicts", LAB_COUNTED_SIMULATED + 3, PLAIN), .digits = 9),
    FIELD(counters.warp_inst, .key = "ptx_warp_instructions",
          SHOWN(">instructions", LAB_COUNTED_SIMULATED + 5, PLAIN),
          .digits = 9),
    FIELD(counters.thread_inst, .key = "ptx_thread_instructions"),
    FIELD(counters.lanes_per_inst, .key = "lanes_active",
          SHOWN(">lanes", LAB_COUNTED_SIMULATED + 4, PLAIN)),
    FIELD(counters.divergent_branches, .key = "divergent_branches"),
    FIELD(counters.atomics, .key = "atomics"),
    FIELD(counters.barriers, .key = "barriers"),
    {.kind = LAB_FIELD_TEXT,
     .at = offsetof(struct lab_counted_row, by),
     .key = "counted_by"},
};
LAB_FIELDS_TABLE(lab_counted_fields, lab_counted_row);

const char *lab_counted_by(const struct lab_counted_run *c)
{
    return c->count == 0 ? NULL : c->simulated ? "simulation" : "hardware";
}

struct lab_counted_row lab_counted_row_of(const struct lab_counted_run *c,
                                          const struct lab_counted_item *item,
                                          double formula)
{
    struct lab_counted_row row = {.formula = formula};
    lab_counters_init(&row.counters);
    if (item) {
        row.counters = item->counters;
        row.by = lab_counted_by(c);
    }
    return row;
}
