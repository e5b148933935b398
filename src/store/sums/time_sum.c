/* time_sum.c -- what the steps and kernels of a run add up to: built from what
 * was recorded, kept in the database when the run ends, and read again. */
#include "store/time_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/record.h"
#include "db/row.h"
#include "store/launch.h"
#include "index/index.h"
#include "db/store_priv.h"

/* Names as ids of StringIds; the phase and the time source as their own. */
struct lab_sum_ids {
    int64_t name;
    int64_t node;
    int64_t op;
    int64_t variant;
    int64_t backend;
    int64_t source;
    int64_t kernel;
    int64_t kernel_short;
};

struct lab_sum_row {
    struct lab_time_sum sum;
    struct lab_sum_ids ids;
    int64_t *values; /* times, as they come */
    size_t n;
    size_t room;
};

enum { LAB_SUM_KEY = 6, LAB_SUM_MOST_TIMES = 1024 };

/* Rows by what their members share. */
struct lab_sum_table {
    struct lab_sum_row *rows;
    int64_t (*keys)[LAB_SUM_KEY];
    size_t count;
    size_t room;
    size_t *place; /* open addressing: row + 1, 0 is free */
    size_t places;
    size_t last; /* the row that was found last: the next is often next */
};

enum { FIRST_ROWS = 64 };

static size_t hash_of(const int64_t *key)
{
    uint64_t h = 0;
    for (int i = 0; i < LAB_SUM_KEY; i++) {
        h = (h ^ (uint64_t)key[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return (size_t)h;
}

static bool same_key(const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, sizeof(int64_t[LAB_SUM_KEY])) == 0;
}

static bool grow(struct lab_sum_table *t)
{
    size_t room = t->room ? t->room * 2 : FIRST_ROWS;
    size_t *place = lab_alloc_array(room * 2, sizeof(*place));
    struct lab_sum_row *rows =
        place ? lab_realloc_array(t->rows, room, sizeof(*rows)) : NULL;
    if (rows)
        t->rows = rows;
    int64_t(*keys)[LAB_SUM_KEY] =
        rows ? lab_realloc_array(t->keys, room, sizeof(*keys)) : NULL;
    if (!keys) {
        lab_free(place);
        return false;
    }
    t->keys = keys;
    t->room = room;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = hash_of(keys[i]) & (room * 2 - 1);
        while (place[at])
            at = (at + 1) & (room * 2 - 1);
        place[at] = i + 1;
    }
    lab_free(t->place);
    t->place = place;
    t->places = room * 2;
    return true;
}

static void clear_row(struct lab_sum_row *row)
{
    *row = (struct lab_sum_row){0};
    int64_t *unknown[] = {&row->sum.step_index,
                          &row->sum.phase_id,
                          &row->sum.total_ns,
                          &row->sum.min_ns,
                          &row->sum.max_ns,
                          &row->sum.kernels,
                          &row->sum.launch.grid[0],
                          &row->sum.launch.grid[1],
                          &row->sum.launch.grid[2],
                          &row->sum.launch.block[0],
                          &row->sum.launch.block[1],
                          &row->sum.launch.block[2],
                          &row->sum.shared_bytes,
                          &row->sum.launch.registers_per_thread,
                          &row->ids.name,
                          &row->ids.node,
                          &row->ids.op,
                          &row->ids.variant,
                          &row->ids.backend,
                          &row->ids.source,
                          &row->ids.kernel,
                          &row->ids.kernel_short,
                          &row->sum.occupancy_limit};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        *unknown[i] = LAB_UNKNOWN;
    row->sum.flop = row->sum.bytes = row->sum.occupancy_pct = NAN;
}

static struct lab_sum_row *sum_find(struct lab_sum_table *t,
                                    const int64_t key[LAB_SUM_KEY])
{
    size_t next = t->last + 1 < t->count ? t->last + 1 : 0;
    if (t->count && same_key(t->keys[next], key)) {
        t->last = next;
        return &t->rows[next];
    }
    if (t->count == t->room && !grow(t))
        return NULL;
    size_t at = hash_of(key) & (t->places - 1);
    for (; t->place[at]; at = (at + 1) & (t->places - 1)) {
        if (same_key(t->keys[t->place[at] - 1], key)) {
            t->last = t->place[at] - 1;
            return &t->rows[t->last];
        }
    }
    t->last = t->count++;
    t->place[at] = t->count;
    memcpy(t->keys[t->last], key, sizeof(t->keys[0]));
    clear_row(&t->rows[t->last]);
    return &t->rows[t->last];
}

static enum lab_status sum_add_time(struct lab_sum_row *row, int64_t time_ns)
{
    if (lab_grow(&row->values, row->n, &row->room, sizeof(*row->values),
                 "the times of a step"))
        return LAB_E_NOMEM;
    row->values[row->n++] = time_ns;
    return LAB_OK;
}

static void sum_table_release(struct lab_sum_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        lab_times_release(&t->rows[i].sum.times);
        lab_free(t->rows[i].values);
    }
    lab_free(t->rows);
    lab_free(t->keys);
    lab_free(t->place);
    *t = (struct lab_sum_table){0};
}

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
    struct lab_sum_row *row = sum_find(&b->parts, key);
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
        struct lab_sum_row *row = sum_find(b->table, b->parts.keys[i]);
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
            st = sum_add_time(row, part->sum.total_ns);
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
    struct lab_sum_row *row = sum_find(b->table, key);
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
        st = sum_add_time(row, p.time_ns);
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

/* A launch's values are kept where all launches have the same. */
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
    value[LAB_KERNEL_BY_GRID] = read_size(s->launch.grid, c, first);
    value[LAB_KERNEL_BY_BLOCK] = read_size(s->launch.block, c, first);
    value[LAB_KERNEL_BY_REGISTERS] = lab_column_int(c);
    merge(&s->launch.registers_per_thread, value[LAB_KERNEL_BY_REGISTERS],
          first);
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
    struct lab_sum_row *row = sum_find(b->table, key);
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
    return time_ns == LAB_UNKNOWN ? LAB_OK : sum_add_time(row, time_ns);
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

static enum lab_status sum_build(struct lab_database *db, int64_t run,
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
    sum_table_release(&b.parts);
    lab_free(b.places);
    lab_free(b.execs);
    if (st) {
        sum_table_release(&table);
        return st;
    }
    if (table.count)
        qsort(table.rows, table.count, sizeof(*table.rows), compare_rows);
    *out = table;
    return LAB_OK;
}

/* The texts that rows point to, by what they are an id of. */
struct lab_sum_texts {
    struct text {
        int table; /* of the queries below */
        int64_t id;
        char *text; /* NULL: there is none */
    } * list;
    size_t count;
    size_t room;
};

enum { TEXT_PHASE, TEXT_NAME, TEXT_SOURCE, TEXT_TABLES };
static const char *const text_sql[TEXT_TABLES] = {
    "SELECT name FROM ENUM_LAB_PHASE WHERE id = ?1",
    "SELECT value FROM StringIds WHERE id = ?1",
    "SELECT name FROM ENUM_LAB_TIME_SOURCE WHERE id = ?1",
};

static void texts_free(struct lab_sum_texts *t)
{
    for (size_t i = 0; t && i < t->count; i++)
        lab_free(t->list[i].text);
    if (t)
        lab_free(t->list);
    lab_free(t);
}

void lab_time_sums_release(struct lab_time_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        lab_times_release(&sums->items[i].times);
    lab_free(sums->items);
    lab_bench_names_release(&sums->rungs);
    texts_free(sums->texts);
    *sums = (struct lab_time_sums){0};
}

const char *lab_time_sum_step(const struct lab_time_sum *sum)
{
    return lab_bench_name_text(sum->rung, sum->name);
}

/* ---- texts ---- */

struct texts {
    struct lab_database *db;
    struct lab_sum_texts *kept;
    sqlite3_stmt *stmt[TEXT_TABLES];
};

static enum lab_status read_text(struct texts *t, int table, int64_t id,
                                 char **out)
{
    enum lab_status st = LAB_OK;
    sqlite3_stmt *stmt = t->stmt[table];
    sqlite3_bind_int64(stmt, 1, id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        *out = text ? lab_strdup(text) : NULL;
        if (text && !*out)
            st = lab_no_memory("a name");
    } else if (rc != SQLITE_DONE) {
        st = lab_database_error(t->db, "reading a name");
    }
    sqlite3_reset(stmt);
    return st;
}

static enum lab_status find_text(struct texts *t, int table, int64_t id,
                                 const char **out)
{
    struct lab_sum_texts *k = t->kept;
    *out = NULL;
    if (id == LAB_UNKNOWN)
        return LAB_OK;
    for (size_t i = k->count; i > 0; i--) { /* the newest is often meant */
        if (k->list[i - 1].id == id && k->list[i - 1].table == table) {
            *out = k->list[i - 1].text;
            return LAB_OK;
        }
    }
    if (lab_grow(&k->list, k->count, &k->room, sizeof(*k->list),
                 "the names of a run"))
        return LAB_E_NOMEM;
    struct text *fresh = &k->list[k->count];
    *fresh = (struct text){.table = table, .id = id};
    enum lab_status st = read_text(t, table, id, &fresh->text);
    if (st)
        return st;
    k->count++;
    *out = fresh->text;
    return LAB_OK;
}

static enum lab_status name_sum(struct texts *t, struct lab_time_sum *s,
                                const struct lab_sum_ids *ids)
{
    const struct {
        int table;
        int64_t id;
        const char **to;
    } names[] = {
        {TEXT_PHASE, s->phase_id, &s->phase},
        {TEXT_NAME, ids->name, &s->name},
        {TEXT_NAME, ids->node, &s->node},
        {TEXT_NAME, ids->op, &s->op},
        {TEXT_NAME, ids->variant, &s->variant},
        {TEXT_NAME, ids->backend, &s->backend},
        {TEXT_SOURCE, ids->source, &s->time_source},
        {TEXT_NAME, ids->kernel, &s->kernel},
        {TEXT_NAME, ids->kernel_short, &s->kernel_short},
    };
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !st; i++)
        st = find_text(t, names[i].table, names[i].id, names[i].to);
    return st;
}

/* Takes the rows of the wanted levels over. */
static enum lab_status name_rows(struct lab_database *db,
                                 struct lab_sum_table *table, unsigned levels,
                                 struct lab_time_sums *out)
{
    struct texts t = {.db = db, .kept = lab_alloc(sizeof(*t.kept))};
    struct lab_time_sum *items =
        lab_alloc_array(table->count + 1, sizeof(*items));
    enum lab_status st = LAB_OK;
    size_t n = 0;
    if (!t.kept || !items)
        st = lab_no_memory("the times of a run");
    for (int i = 0; i < TEXT_TABLES && st == LAB_OK; i++)
        st = lab_database_prepare(db, text_sql[i], &t.stmt[i]);
    for (size_t i = 0; i < table->count && st == LAB_OK; i++) {
        struct lab_sum_row *row = &table->rows[i];
        if (!(levels & 1u << row->sum.level))
            continue;
        items[n] = row->sum;
        st = name_sum(&t, &items[n], &row->ids);
        if (st)
            break;
        row->sum.times = (struct lab_times){0};
        n++;
    }
    for (int i = 0; i < TEXT_TABLES; i++)
        sqlite3_finalize(t.stmt[i]);
    struct lab_time_sums sums = {.items = items, .count = n, .texts = t.kept};
    if (st)
        lab_time_sums_release(&sums);
    else
        *out = sums;
    return st;
}

/* ---- as rows of time_sum ---- */

static const char insert_sql[] =
    "INSERT INTO time_sum (runId, place, level, stepIndex, phase, nameId, "
    "nodeId, opId, variantId, backendId, timeSource, demangledName, shortName, "
    "count, timed, total_ns, min_ns, max_ns, quarter_ns, median_ns, "
    "threeQuarters_ns, mad_ns, flop, bytes, kernels, gridX, gridY, gridZ, "
    "blockX, blockY, blockZ, registersPerThread, shared_bytes, occupancy_pct, "
    "occupancyLimit, times) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
    "?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, "
    "?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36)";

static const char select_sql[] =
    "SELECT level, stepIndex, phase, nameId, nodeId, opId, variantId, "
    "backendId, timeSource, demangledName, shortName, count, timed, total_ns, "
    "min_ns, max_ns, quarter_ns, median_ns, threeQuarters_ns, mad_ns, flop, "
    "bytes, kernels, gridX, gridY, gridZ, blockX, blockY, blockZ, "
    "registersPerThread, shared_bytes, occupancy_pct, occupancyLimit, times "
    "FROM time_sum WHERE runId = ?1 AND level < ?2 ORDER BY place";

static enum lab_status insert_row(struct lab_database *db, sqlite3_stmt *s,
                                  const struct lab_sum_row *row)
{
    const struct lab_time_sum *t = &row->sum;
    const int64_t facts[] = {
        t->level,         t->step_index,         t->phase_id,
        row->ids.name,    row->ids.node,         row->ids.op,
        row->ids.variant, row->ids.backend,      row->ids.source,
        row->ids.kernel,  row->ids.kernel_short, t->count,
        t->timed,         t->total_ns,           t->min_ns,
        t->max_ns};
    const double reals[] = {t->quarter_ns, t->median_ns, t->three_quarters_ns,
                            t->mad_ns,     t->flop,      t->bytes};
    const int64_t launch[] = {
        t->kernels,         t->launch.grid[0],
        t->launch.grid[1],  t->launch.grid[2],
        t->launch.block[0], t->launch.block[1],
        t->launch.block[2], t->launch.registers_per_thread,
        t->shared_bytes};
    void *bytes;
    size_t size;
    int i = 3;
    enum lab_status st = lab_times_pack(&t->times, &bytes, &size);
    if (st)
        return st;
    for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
        lab_bind_int(s, i++, facts[k]);
    for (size_t k = 0; k < sizeof(reals) / sizeof(reals[0]); k++)
        lab_bind_real(s, i++, reals[k]);
    for (size_t k = 0; k < sizeof(launch) / sizeof(launch[0]); k++)
        lab_bind_int(s, i++, launch[k]);
    lab_bind_real(s, i++, t->occupancy_pct);
    lab_bind_int(s, i++, t->occupancy_limit);
    sqlite3_bind_blob64(s, i, bytes, size, SQLITE_TRANSIENT);
    if (sqlite3_step(s) != SQLITE_DONE)
        st = lab_database_error(db, "storing the times of a run");
    sqlite3_reset(s);
    lab_free(bytes);
    return st;
}

static enum lab_status insert_rows(struct lab_database *db, int64_t run,
                                   const struct lab_sum_table *table)
{
    sqlite3_stmt *s;
    enum lab_status st = lab_database_prepare(db, insert_sql, &s);
    if (st)
        return st;
    sqlite3_bind_int64(s, 1, run);
    for (size_t i = 0; i < table->count && st == LAB_OK; i++) {
        sqlite3_bind_int64(s, 2, (int64_t)i);
        st = insert_row(db, s, &table->rows[i]);
    }
    sqlite3_finalize(s);
    return st;
}

static void read_facts(struct lab_columns *c, struct lab_sum_row *row)
{
    struct lab_time_sum *t = &row->sum;
    int64_t *const facts[] = {
        &t->step_index,         &t->phase_id,     &row->ids.name,
        &row->ids.node,         &row->ids.op,     &row->ids.variant,
        &row->ids.backend,      &row->ids.source, &row->ids.kernel,
        &row->ids.kernel_short, &t->count,        &t->timed,
        &t->total_ns,           &t->min_ns,       &t->max_ns};
    double *const reals[] = {
        &t->quarter_ns, &t->median_ns, &t->three_quarters_ns,
        &t->mad_ns,     &t->flop,      &t->bytes};
    int64_t *const launch[] = {
        &t->kernels,         &t->launch.grid[0],
        &t->launch.grid[1],  &t->launch.grid[2],
        &t->launch.block[0], &t->launch.block[1],
        &t->launch.block[2], &t->launch.registers_per_thread,
        &t->shared_bytes};
    for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
        *facts[k] = lab_column_int(c);
    for (size_t k = 0; k < sizeof(reals) / sizeof(reals[0]); k++)
        *reals[k] = lab_column_real(c);
    for (size_t k = 0; k < sizeof(launch) / sizeof(launch[0]); k++)
        *launch[k] = lab_column_int(c);
    if (t->timed < 2) /* one time has no spread, whatever an older file has */
        t->mad_ns = NAN;
    t->occupancy_pct = lab_column_real(c);
    t->occupancy_limit = lab_column_int(c);
}

static enum lab_status read_row(struct lab_sum_table *table, sqlite3_stmt *stmt,
                                unsigned levels)
{
    struct lab_columns c = {stmt, 0};
    int64_t level = lab_column_int(&c);
    if (level < 0 || level >= LAB_SUM_LEVELS || !(levels & 1u << level))
        return LAB_OK;
    const int64_t key[LAB_SUM_KEY] = {level, (int64_t)table->count};
    struct lab_sum_row *row = sum_find(table, key);
    if (!row)
        return lab_no_memory("the times of a run");
    row->sum.level = (enum lab_sum_level)level;
    read_facts(&c, row);
    const void *bytes = sqlite3_column_blob(stmt, c.next);
    size_t size = (size_t)sqlite3_column_bytes(stmt, c.next);
    return lab_times_unpack(&row->sum.times, bytes, bytes ? size : 0);
}

static enum lab_status read_rows(struct lab_database *db, int64_t run,
                                 unsigned levels, struct lab_sum_table *out)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    struct lab_sum_table table = {0};
    enum lab_status st = lab_database_prepare(db, select_sql, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int(stmt, 2, LAB_SUM_LEVELS); /* others: index/index.h */
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_row(&table, stmt, levels);
    enum lab_status end = lab_query_end(db, stmt, rc);
    if (st == LAB_OK)
        st = end;
    if (st)
        sum_table_release(&table);
    else
        *out = table;
    return st;
}

static enum lab_status is_summed(struct lab_database *db, int64_t run,
                                 int64_t *summed, bool *running)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(
            db, "SELECT summed, status = 'running' FROM run WHERE id = ?1",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *summed = sqlite3_column_int64(stmt, 0);
        *running = sqlite3_column_int64(stmt, 1) != 0;
    }
    return lab_query_end(db, stmt, rc);
}

/* Which rung each row is of. */
static void take_rungs(struct lab_time_sums *sums,
                       struct lab_bench_names *rungs)
{
    sums->rungs = *rungs;
    *rungs = (struct lab_bench_names){0};
    for (size_t i = 0; i < sums->count; i++) {
        sums->items[i].rung =
            lab_bench_name_find(&sums->rungs, sums->items[i].step_index);
        lab_counters_init(&sums->items[i].counters);
    }
}

static enum lab_status load_rows(struct lab_database *db, int64_t run,
                                 unsigned levels, struct lab_time_sums *out)
{
    struct lab_sum_table table = {0};
    int64_t summed = 0;
    bool running = false;
    enum lab_status st = is_summed(db, run, &summed, &running);
    if (st)
        return st;
    if (summed == 1)
        st = read_rows(db, run, levels, &table);
    /* What does not read is put together anew. */
    if (summed != 1 || st == LAB_E_PARSE) {
        summed = 0;
        st = sum_build(db, run, &table, NULL);
    }
    if (st == LAB_OK)
        st = name_rows(db, &table, levels, out);
    if (st == LAB_OK)
        out->stored = summed == 1;
    sum_table_release(&table);
    return st;
}

double lab_time_sum_flop_per_s(const struct lab_time_sum *sum)
{
    return sum && sum->median_ns > 0 ? sum->flop / sum->median_ns * 1e9
                                     : (double)NAN;
}

enum lab_status lab_time_sums_load(struct lab_time_sums *out,
                                   struct lab_database *db, int64_t run,
                                   unsigned levels)
{
    struct lab_bench_names rungs = {0};
    enum lab_status st = lab_bench_names_load(&rungs, db, run);
    if (st)
        return st;
    if (rungs.count > 0)
        levels &= 1u << LAB_SUM_STEP | 1u << LAB_SUM_KERNEL;
    st = load_rows(db, run, levels, out);
    if (st == LAB_OK)
        take_rungs(out, &rungs);
    lab_bench_names_release(&rungs);
    return st;
}

static enum lab_status keep(struct lab_database *db, int64_t run)
{
    struct lab_sum_table table = {0};
    struct lab_index index;
    char sql[80];
    enum lab_status st = lab_index_begin(&index, db, run);
    if (st == LAB_OK)
        st = sum_build(db, run, &table, &index);
    if (st == LAB_OK)
        st = insert_rows(db, run, &table);
    if (st == LAB_OK)
        st = lab_index_store(&index, (int64_t)table.count);
    lab_index_release(&index);
    sqlite3_snprintf(sizeof(sql), sql,
                     "UPDATE run SET summed = 1 WHERE id = %lld", run);
    if (st == LAB_OK)
        st = lab_database_exec(db, sql, "storing the times of a run");
    sum_table_release(&table);
    return st;
}

enum lab_status lab_time_sums_keep(struct lab_database *db, int64_t run)
{
    int64_t summed = 0;
    bool running = false;
    bool own = sqlite3_get_autocommit(db->sql) != 0;
    enum lab_status st = LAB_OK;
    if (own)
        st = lab_database_begin(db, "adding up a run");
    if (st)
        return st;
    st = is_summed(db, run, &summed, &running);
    if (st == LAB_OK && summed != 1 && !running)
        st = keep(db, run);
    if (st == LAB_OK && own)
        st = lab_database_exec(db, "COMMIT", "adding up a run");
    if (st && own)
        lab_database_rollback(db);
    return st;
}

void lab_time_sums_keep_later(const char *path, int64_t run)
{
    const struct lab_database_options soon = {.busy_timeout_ms = 100};
    struct lab_database *db;
    if (lab_database_open(&db, path, &soon))
        return;
    lab_time_sums_keep(db, run);
    lab_database_close(db);
}

enum lab_status lab_time_sums_keep_all(struct lab_database *db)
{
    enum lab_status st = LAB_OK;
    int64_t run = -1;
    while (st == LAB_OK && run != LAB_UNKNOWN) {
        char sql[120];
        sqlite3_snprintf(
            sizeof(sql), sql,
            "SELECT min(id) FROM run WHERE id > %lld AND summed IS "
            "NULL AND status <> 'running'",
            run);
        st = lab_database_int(db, sql, LAB_UNKNOWN, &run);
        if (st == LAB_OK && run != LAB_UNKNOWN)
            st = lab_time_sums_keep(db, run);
    }
    return st;
}
