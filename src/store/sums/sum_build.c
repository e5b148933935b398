#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "store/launch.h"
#include "sum_priv.h"

/* Places in a schedule that are taken for real: memory is taken for each. */
enum { MOST_PLACES = 1 << 20 };

/* One step of the iteration that is being read. */
struct place {
    int64_t stretch; /* the one that it was seen in; 0: in none */
    int64_t phase;
    int64_t node;
    int64_t time_ns;
    double flop;
    double bytes;
};

/* Which row a step's execution went to, for its kernels. */
struct exec_row {
    int64_t exec;
    size_t row;
};

struct build {
    struct lab_database *db;
    int64_t run;
    struct lab_sum_table *table;
    struct lab_sum_table parts; /* of that iteration */
    struct place *places;
    size_t room;
    size_t n_places; /* one more than the highest that was seen */
    size_t n_seen;
    bool beyond;     /* a place was seen that is not taken for real */
    int64_t stretch; /* of rows of one iteration, from 1: nothing is cleared
                        between two, whatever the places */
    int64_t iteration;
    int64_t last_phase; /* the highest of the run */
    struct exec_row *execs;
    size_t n_execs;
    size_t exec_room;
    size_t exec_at;
    struct lab_index *index; /* NULL: none is made */
};

/* ---- iterations, phases, nodes ---- */

/* Complete: every place of the schedule ran, up to the last phase. */
static bool iteration_is_complete(const struct build *b)
{
    int64_t last = LAB_UNKNOWN;
    if (b->n_places == 0 || b->beyond || b->n_seen != b->n_places)
        return false;
    for (size_t i = 0; i < b->n_places; i++)
        if (b->places[i].phase > last)
            last = b->places[i].phase;
    return last == b->last_phase;
}

/* Of one place, to what it is a part of. */
static enum lab_status add_place(struct build *b, enum lab_sum_level level,
                                 int64_t at)
{
    const struct place *p = &b->places[at];
    int64_t key[LAB_SUM_KEY] = {level, LAB_UNKNOWN, LAB_UNKNOWN};
    if (level >= LAB_SUM_PHASE)
        key[1] = p->phase;
    if (level >= LAB_SUM_NODE)
        key[2] = p->node;
    struct lab_sum_row *row = lab_sum_find(&b->parts, key);
    if (!row)
        return lab_no_memory("the times of a run");
    struct lab_time_sum *s = &row->sum;
    if (s->count++ == 0) {
        s->level = level;
        s->step_index = level == LAB_SUM_ITERATION ? LAB_UNKNOWN : at;
        s->phase_id = key[1];
        row->ids.node = key[2];
        s->total_ns = 0;
        s->flop = s->bytes = 0;
    }
    s->total_ns = lab_add_known(s->total_ns, p->time_ns);
    s->flop += p->flop;
    s->bytes += p->bytes;
    return LAB_OK;
}

/* What the parts of this iteration add up to becomes a time of the run's. */
static enum lab_status add_parts(struct build *b)
{
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < b->parts.count && st == LAB_OK; i++) {
        const struct lab_sum_row *part = &b->parts.rows[i];
        if (part->sum.count == 0)
            continue;
        struct lab_sum_row *row = lab_sum_find(b->table, b->parts.keys[i]);
        if (!row)
            return lab_no_memory("the times of a run");
        if (row->sum.count == 0) {
            row->sum = part->sum;
            row->ids = part->ids;
            row->sum.count = 0;
        }
        row->sum.count++;
        row->sum.flop = part->sum.flop;
        row->sum.bytes = part->sum.bytes;
        if (part->sum.total_ns != LAB_UNKNOWN)
            st = lab_sum_add_time(row, part->sum.total_ns);
        b->parts.rows[i].sum.count = 0;
    }
    return st;
}

static enum lab_status end_iteration(struct build *b)
{
    enum lab_status st = LAB_OK;
    bool complete = iteration_is_complete(b);
    for (size_t i = 0; complete && i < b->n_places && st == LAB_OK; i++)
        for (int level = 0; level <= LAB_SUM_NODE && st == LAB_OK; level++)
            st = add_place(b, (enum lab_sum_level)level, (int64_t)i);
    if (complete && st == LAB_OK)
        st = add_parts(b);
    b->n_places = b->n_seen = 0;
    b->beyond = false;
    b->stretch++;
    return st;
}

static enum lab_status note_place(struct build *b, int64_t index,
                                  const struct place *p)
{
    if (index < 0 || index >= MOST_PLACES) {
        b->beyond = true; /* not complete, whatever comes */
        return LAB_OK;
    }
    size_t i = (size_t)index;
    if (i >= b->room) {
        size_t room = b->room ? b->room * 2 : 64;
        while (room <= i)
            room *= 2;
        struct place *places =
            lab_realloc_array(b->places, room, sizeof(*places));
        if (!places)
            return lab_no_memory("the times of a run");
        memset(places + b->room, 0, (room - b->room) * sizeof(*places));
        b->places = places;
        b->room = room;
    }
    b->n_seen += b->places[i].stretch != b->stretch;
    b->places[i] = *p; /* after going back the last execution counts */
    b->places[i].stretch = b->stretch;
    if (b->n_places <= i)
        b->n_places = i + 1;
    return LAB_OK;
}

/* ---- steps ---- */

static enum lab_status note_exec(struct build *b, int64_t exec, size_t row)
{
    if (lab_grow(&b->execs, b->n_execs, &b->exec_room, sizeof(*b->execs),
                 "the sums of a run"))
        return LAB_E_NOMEM;
    b->execs[b->n_execs++] = (struct exec_row){exec, row};
    return LAB_OK;
}

/* The same row once more, from its kernelCount on. */
static enum lab_status add_to_index(struct build *b, sqlite3_stmt *stmt,
                                    int64_t exec, int64_t iteration)
{
    struct lab_columns c = {stmt, 13};
    struct lab_index_step s = {.exec = exec, .iteration = iteration};
    if (!b->index)
        return LAB_OK;
    s.kernels = lab_column_int(&c);
    s.start_ns = lab_column_int(&c);
    s.end_ns = lab_column_int(&c);
    s.kernel_row_first = lab_column_int(&c);
    s.kernel_row_last = lab_column_int(&c);
    return lab_index_add_step(b->index, &s);
}

/* The lesson's text for a step of a phase, each text once a phase: the phase's
 * own, then the step's part for it (else its node's), between blank lines.
 * Prints nothing when there is nothing new. */
static enum lab_status read_step(struct build *b, sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    struct place p = {0};
    int64_t exec = lab_column_int(&c);
    int64_t iteration = lab_column_int(&c);
    int64_t key[LAB_SUM_KEY] = {LAB_SUM_STEP};
    enum lab_status st = LAB_OK;
    for (int i = 1; i < LAB_SUM_KEY; i++)
        key[i] = lab_column_int(&c); /* index, phase, name, variant, backend */
    struct lab_sum_row *row = lab_sum_find(b->table, key);
    if (!row)
        return lab_no_memory("the times of a run");
    row->sum.level = LAB_SUM_STEP;
    row->sum.step_index = key[1];
    row->sum.phase_id = p.phase = key[2];
    row->ids.name = key[3];
    row->ids.variant = key[4];
    row->ids.backend = key[5];
    row->ids.node = p.node = lab_column_int(&c);
    row->ids.op = lab_column_int(&c);
    row->ids.source = lab_column_int(&c);
    p.time_ns = lab_column_int(&c);
    row->sum.flop = p.flop = lab_column_real(&c);
    row->sum.bytes = p.bytes = lab_column_real(&c);
    row->sum.kernels = lab_column_int(&c);
    row->sum.count++;
    if (p.time_ns != LAB_UNKNOWN)
        st = lab_sum_add_time(row, p.time_ns);
    if (st == LAB_OK)
        st = note_exec(b, exec, b->table->last);
    if (st == LAB_OK)
        st = add_to_index(b, stmt, exec, iteration);
    if (st == LAB_OK && iteration != b->iteration) {
        st = end_iteration(b);
        b->iteration = iteration;
    }
    return st ? st : note_place(b, key[1], &p);
}

static enum lab_status read_steps(struct build *b)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(
        b->db,
        "SELECT exec, iteration, stepIndex, phase, nameId, variantId, "
        "backendId, nodeId, opId, timeSource, time_ns, flop, bytes, "
        "kernelCount, start_ns, end_ns, kernelRowFirst, kernelRowLast FROM "
        "step WHERE runId = ?1",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, b->run);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_step(b, stmt);
    enum lab_status end = lab_query_end(b->db, stmt, rc);
    if (st == LAB_OK)
        st = end;
    return st ? st : end_iteration(b);
}

static enum lab_status find_last_phase(struct build *b)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        b->db, "SELECT max(phase) FROM step WHERE runId = ?1", &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, b->run);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    if (rc == SQLITE_ROW)
        b->last_phase = lab_column_int(&c);
    return lab_query_end(b->db, stmt, rc);
}

/* ---- kernels ---- */

/* Kernels come nearly in the order of their steps. */
static size_t row_of_exec(struct build *b, int64_t exec)
{
    size_t low = 0;
    size_t high = b->n_execs;
    for (size_t i = b->exec_at; i < b->n_execs && i < b->exec_at + 4; i++) {
        if (b->execs[i].exec == exec) {
            b->exec_at = i;
            return b->execs[i].row;
        }
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->execs[middle].exec < exec)
            low = middle + 1;
        else
            high = middle;
    }
    if (exec == LAB_UNKNOWN || low == b->n_execs || b->execs[low].exec != exec)
        return SIZE_MAX;
    b->exec_at = low;
    return b->execs[low].row;
}

/* What a launch says is kept where all launches say the same. */
static void merge(int64_t *kept, int64_t v, bool first)
{
    *kept = first || *kept == v ? v : LAB_UNKNOWN;
}

static int64_t read_size(int64_t kept[3], struct lab_columns *c, bool first)
{
    int64_t v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = lab_column_int(c);
        merge(&kept[i], v[i], first);
    }
    return lab_launch_size(v);
}

/* The bits of a double, turned so that integers compare as it does; NaN:
 * LAB_UNKNOWN. */
static int64_t order_of(double v)
{
    int64_t bits;
    if (isnan(v))
        return LAB_UNKNOWN;
    memcpy(&bits, &v, sizeof(bits));
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static void read_launch(struct lab_time_sum *s, struct lab_columns *c,
                        int64_t value[LAB_KERNEL_SORT_COUNT])
{
    bool first = s->count == 0;
    value[LAB_KERNEL_BY_ROW] = LAB_UNKNOWN;
    value[LAB_KERNEL_BY_NAME] = LAB_UNKNOWN;
    value[LAB_KERNEL_BY_GRID] = read_size(s->grid, c, first);
    value[LAB_KERNEL_BY_BLOCK] = read_size(s->block, c, first);
    value[LAB_KERNEL_BY_REGISTERS] = lab_column_int(c);
    merge(&s->registers_per_thread, value[LAB_KERNEL_BY_REGISTERS], first);
    int64_t of_static = lab_column_int(c);
    value[LAB_KERNEL_BY_SHARED] = lab_add_known(of_static, lab_column_int(c));
    merge(&s->shared_bytes, value[LAB_KERNEL_BY_SHARED], first);
    double occupancy = lab_column_real(c);
    value[LAB_KERNEL_BY_OCCUPANCY] = order_of(occupancy);
    s->occupancy_pct = first || s->occupancy_pct == occupancy ? occupancy : NAN;
    merge(&s->occupancy_limit, lab_column_int(c), first);
}

static void copy_step(struct lab_sum_row *to, const struct lab_sum_row *step)
{
    to->ids = step->ids;
    to->sum.step_index = step->sum.step_index;
    to->sum.phase_id = step->sum.phase_id;
}

static enum lab_status read_kernel(struct build *b, sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    int64_t exec = lab_column_int(&c);
    size_t step = row_of_exec(b, exec);
    int64_t name = lab_column_int(&c);
    int64_t short_name = lab_column_int(&c);
    int64_t start = lab_column_int(&c);
    int64_t end = lab_column_int(&c);
    const int64_t key[LAB_SUM_KEY] = {
        LAB_SUM_KERNEL, step == SIZE_MAX ? -1 : (int64_t)step, name};
    struct lab_sum_row *row = lab_sum_find(b->table, key);
    if (!row)
        return lab_no_memory("the times of a run");
    if (row->sum.count == 0 && step != SIZE_MAX)
        copy_step(row, &b->table->rows[step]);
    row->sum.level = LAB_SUM_KERNEL;
    row->ids.kernel = name;
    row->ids.kernel_short = short_name;
    struct lab_index_kernel k = {.name = name};
    read_launch(&row->sum, &c, k.value);
    row->sum.count++;
    int64_t time_ns = lab_span_ns(start, end);
    k.row = lab_column_int(&c);
    k.value[LAB_KERNEL_BY_START] = start;
    k.value[LAB_KERNEL_BY_TIME] = time_ns;
    k.value[LAB_KERNEL_BY_STEP] = row->sum.step_index;
    enum lab_status st = b->index ? lab_index_add_kernel(b->index, &k) : LAB_OK;
    if (st)
        return st;
    return time_ns == LAB_UNKNOWN ? LAB_OK : lab_sum_add_time(row, time_ns);
}

static enum lab_status read_kernels(struct build *b)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st =
        lab_database_prepare(b->db, lab_sql_kernel_times, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, b->run);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_kernel(b, stmt);
    enum lab_status end = lab_query_end(b->db, stmt, rc);
    return st ? st : end;
}

/* ---- all ---- */

static enum lab_status finish_row(struct lab_sum_row *row)
{
    struct lab_time_sum *s = &row->sum;
    size_t n = row->n;
    s->timed = (int64_t)n;
    int64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total = lab_add_known(total, row->values[i]);
    int64_t *values = row->values;
    if (!values)
        values = lab_alloc(sizeof(*values));
    row->values = NULL;
    enum lab_status st = values ? lab_times_from(&s->times, values, n)
                                : lab_no_memory("the times of a run");
    if (st) {
        lab_free(values);
        return st;
    }
    if (n) {
        s->total_ns = total;
        s->min_ns = s->times.value[0];
        s->max_ns = s->times.value[s->times.n - 1];
    }
    s->quarter_ns = lab_times_quantile(&s->times, 0.25);
    s->median_ns = lab_times_quantile(&s->times, 0.5);
    s->three_quarters_ns = lab_times_quantile(&s->times, 0.75);
    s->mad_ns = lab_times_mad(&s->times);
    lab_times_coarsen(&s->times, LAB_SUM_MOST_TIMES);
    return LAB_OK;
}

static int by_number(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_rows(const void *a, const void *b)
{
    const struct lab_sum_row *x = a;
    const struct lab_sum_row *y = b;
    int by = by_number(x->sum.level, y->sum.level);
    if (!by)
        by = by_number(x->sum.step_index == LAB_UNKNOWN,
                       y->sum.step_index == LAB_UNKNOWN);
    if (!by)
        by = by_number(x->sum.step_index, y->sum.step_index);
    if (!by)
        by = by_number(x->sum.phase_id, y->sum.phase_id);
    if (!by)
        by = by_number(x->ids.name, y->ids.name);
    if (!by)
        by = by_number(x->ids.variant, y->ids.variant);
    if (!by)
        by = by_number(x->ids.backend, y->ids.backend);
    return by ? by : by_number(x->ids.kernel, y->ids.kernel);
}

enum lab_status lab_sum_build(struct lab_database *db, int64_t run,
                              struct lab_sum_table *out,
                              struct lab_index *index)
{
    struct lab_sum_table table = {0};
    struct build b = {.db = db, .run = run, .table = &table, .index = index};
    b.stretch = 1;
    b.iteration = LAB_UNKNOWN;
    b.last_phase = LAB_UNKNOWN;
    enum lab_status st = find_last_phase(&b);
    if (st == LAB_OK)
        st = read_steps(&b);
    if (st == LAB_OK)
        st = read_kernels(&b);
    for (size_t i = 0; i < table.count && st == LAB_OK; i++)
        st = finish_row(&table.rows[i]);
    lab_sum_table_release(&b.parts);
    lab_free(b.places);
    lab_free(b.execs);
    if (st) {
        lab_sum_table_release(&table);
        return st;
    }
    if (table.count)
        qsort(table.rows, table.count, sizeof(*table.rows), compare_rows);
    *out = table;
    return LAB_OK;
}
