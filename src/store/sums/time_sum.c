/* time_sum.c -- what the steps and kernels of a run add up to: built from what
 * was recorded, kept in the database when the run ends, and read again. */
#include "store/time_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/record.h"
#include "db/row.h"
#include "store/row_fields.h"
#include "index/index.h"
#include "base/mem.h"
#include "index/varint.h"

/* ---- durations as a distribution, and the rank test of Mann and Whitney ---- */

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum lab_status lab_times_from(struct lab_times *out, int64_t *values, size_t n)
{
    struct lab_times t = {.value = values};
    t.count = lab_alloc_array(n ? n : 1, sizeof(*t.count));
    if (!t.count)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu times", n);
    if (n)
        qsort(values, n, sizeof(*values), compare_values);
    for (size_t i = 0; i < n; i++) {
        if (t.n == 0 || values[t.n - 1] != values[i]) {
            values[t.n] = values[i];
            t.n++;
        }
        t.count[t.n - 1]++;
    }
    t.total = (int64_t)n;
    *out = t;
    return LAB_OK;
}

void lab_times_release(struct lab_times *t)
{
    lab_free(t->value);
    lab_free(t->count);
    *t = (struct lab_times){0};
}

/* The middle of the values that share `bits` leading bits with v. */
static int64_t rounded(int64_t v, int bits)
{
    uint64_t u = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
    int length = 0;
    for (uint64_t x = u; x; x >>= 1)
        length++;
    int drop = length - bits;
    if (drop <= 0)
        return v;
    u = (u >> drop << drop) + ((uint64_t)1 << (drop - 1));
    return v < 0 ? -(int64_t)u : (int64_t)u;
}

static void keep_bits(struct lab_times *t, int bits)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        int64_t v = rounded(t->value[i], bits);
        if (n > 0 && t->value[n - 1] == v) {
            t->count[n - 1] += t->count[i];
            continue;
        }
        t->value[n] = v;
        t->count[n++] = t->count[i];
    }
    t->n = n;
    t->bits = bits;
}

void lab_times_coarsen(struct lab_times *t, size_t most)
{
    for (int bits = 12; t->n > most && bits > 0; bits--)
        keep_bits(t, bits);
}

/* The value at a place of the sorted list, counted from 0. */
static int64_t value_at(const struct lab_times *t, int64_t place)
{
    size_t i = 0;
    for (int64_t before = 0; i + 1 < t->n; i++) {
        before += t->count[i];
        if (before > place)
            break;
    }
    return t->value[i];
}

double lab_times_quantile(const struct lab_times *t, double q)
{
    if (t->n == 0)
        return NAN;
    double place = q * (double)(t->total - 1);
    double low = floor(place);
    int64_t first = (int64_t)low;
    double a = (double)value_at(t, first);
    if (place == low || first + 1 >= t->total)
        return a;
    return a + (place - low) * ((double)value_at(t, first + 1) - a);
}

/* Walks outwards from the median: the next nearest value is always at one of
 * two ends. */
double lab_times_mad(const struct lab_times *t)
{
    double middle = lab_times_quantile(t, 0.5);
    size_t right = 0;
    int64_t seen = 0;
    double last[2] = {NAN, NAN};
    if (t->total < 2)
        return NAN;
    while (right < t->n && (double)t->value[right] < middle)
        right++;
    size_t left = right; /* values below lie before it */
    int64_t want = (t->total - 1) / 2;
    bool even = t->total % 2 == 0;
    for (int found = 0; found < (even ? 2 : 1);) {
        double down = left > 0 ? middle - (double)t->value[left - 1] : INFINITY;
        double up = right < t->n ? (double)t->value[right] - middle : INFINITY;
        bool take_up = up <= down;
        seen += take_up ? t->count[right++] : t->count[--left];
        while (found < 2 && seen > want + found)
            last[found++] = take_up ? up : down;
    }
    return even ? (last[0] + last[1]) / 2 : last[0];
}

/* ---- as bytes: a version, the bits, then pairs of (difference to the value
 * before, count) as varint.h writes them ---- */

enum { PACK_VERSION = 1, PACK_HEAD = 2 };

enum lab_status lab_times_pack(const struct lab_times *t, void **bytes,
                               size_t *size)
{
    unsigned char *p =
        lab_alloc_array(t->n + 1, (size_t)(PACK_HEAD + 2 * LAB_VARINT_MOST));
    if (!p)
        return lab_no_memory("times");
    size_t n = 0;
    uint64_t before = 0;
    p[n++] = PACK_VERSION;
    p[n++] = (unsigned char)t->bits;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t v = (uint64_t)t->value[i];
        n += lab_varint_put(p + n, v - before);
        n += lab_varint_put(p + n, (uint64_t)t->count[i]);
        before = v;
    }
    *bytes = p;
    *size = n;
    return LAB_OK;
}

static bool unpack_pairs(struct lab_times *t, const unsigned char *p,
                         const unsigned char *end)
{
    uint64_t value = 0;
    while (p < end) {
        uint64_t step;
        uint64_t count;
        if (!lab_varint_get(&p, end, &step) || !lab_varint_get(&p, end, &count))
            return false;
        value += step;
        int64_t v = (int64_t)value;
        bool ascending = t->n == 0 || v > t->value[t->n - 1];
        if (!ascending || count == 0 ||
            count > (uint64_t)(INT64_MAX / 4 - t->total))
            return false;
        t->value[t->n] = v;
        t->count[t->n++] = (int64_t)count;
        t->total += (int64_t)count;
    }
    return true;
}

enum lab_status lab_times_unpack(struct lab_times *out, const void *bytes,
                                 size_t size)
{
    const unsigned char *p = bytes;
    if (size < PACK_HEAD || p[0] != PACK_VERSION || p[1] > 63)
        return lab_fail(
            LAB_E_PARSE,
            "[db.times-unreadable] times that this program cannot read");
    struct lab_times t = {.bits = p[1]};
    size_t most = size / 2; /* a pair has two bytes at least */
    t.value = lab_alloc_array(most, sizeof(*t.value));
    t.count = lab_alloc_array(most, sizeof(*t.count));
    enum lab_status st = LAB_OK;
    if (!t.value || !t.count)
        st = lab_no_memory("times");
    else if (!unpack_pairs(&t, p + PACK_HEAD, p + size))
        st = lab_fail(LAB_E_PARSE, "[db.times-damaged] times that are damaged");
    if (st)
        lab_times_release(&t);
    else
        *out = t;
    return st;
}

/* ---- the test ---- */

static enum lab_status copy_times(struct lab_times *out,
                                  const struct lab_times *from)
{
    struct lab_times t = *from;
    t.value = lab_alloc_array(from->n + 1, sizeof(*t.value));
    t.count = lab_alloc_array(from->n + 1, sizeof(*t.count));
    if (!t.value || !t.count) {
        lab_times_release(&t);
        return lab_no_memory("times");
    }
    if (from->n) {
        memcpy(t.value, from->value, from->n * sizeof(*t.value));
        memcpy(t.count, from->count, from->n * sizeof(*t.count));
    }
    *out = t;
    return LAB_OK;
}

static double p_of(double u, double n1, double n2, double ties)
{
    double n = n1 + n2;
    double variance = n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1)));
    double far = fabs(u - n1 * n2 / 2) - 0.5;
    if (!(variance > 0) || far <= 0)
        return 1; /* all times are the same, or none is nearer to the middle */
    return erfc(far / sqrt(variance) / sqrt(2));
}

static void rank(struct lab_rank_result *out, const struct lab_times *a,
                 const struct lab_times *b)
{
    double u = 0;
    double ties = 0;
    double below = 0; /* of a */
    size_t i = 0;
    for (size_t j = 0; i < a->n || j < b->n;) {
        bool both = i < a->n && j < b->n;
        int64_t v = !both ? (i < a->n ? a->value[i] : b->value[j])
                    : a->value[i] < b->value[j] ? a->value[i]
                                                : b->value[j];
        double ca = i < a->n && a->value[i] == v ? (double)a->count[i++] : 0;
        double cb = j < b->n && b->value[j] == v ? (double)b->count[j++] : 0;
        double t = ca + cb;
        u += cb * (below + ca / 2);
        ties += t * t * t - t;
        below += ca;
    }
    out->u = u;
    out->p = p_of(u, (double)a->total, (double)b->total, ties);
}

enum lab_status lab_rank_test(struct lab_rank_result *out,
                              const struct lab_times *a,
                              const struct lab_times *b)
{
    struct lab_times coarse = {0};
    if (a->total == 0 || b->total == 0) {
        *out = (struct lab_rank_result){NAN, NAN};
        return LAB_OK;
    }
    if (a->bits == b->bits) {
        rank(out, a, b);
        return LAB_OK;
    }
    bool second = b->bits == 0 || (a->bits != 0 && b->bits > a->bits);
    enum lab_status st = copy_times(&coarse, second ? b : a);
    if (st)
        return st;
    keep_bits(&coarse, second ? a->bits : b->bits);
    rank(out, second ? a : &coarse, second ? &coarse : b);
    lab_times_release(&coarse);
    return LAB_OK;
}

double lab_rank_best(int64_t n1, int64_t n2)
{
    return n1 < 1 || n2 < 1 ? 1 : p_of(0, (double)n1, (double)n2, 0);
}

int64_t lab_rank_least(double alpha)
{
    int64_t n = 2;
    while (n < 1000 && lab_rank_best(n, n) > alpha)
        n++;
    return n;
}

static int compare_p(const void *a, const void *b, void *user)
{
    const double *p = user;
    double x = p[*(const size_t *)a];
    double y = p[*(const size_t *)b];
    return (x > y) - (x < y);
}

enum lab_status lab_rank_holm(double *p, size_t n)
{
    size_t *order = lab_alloc_array(n + 1, sizeof(*order));
    size_t m = 0;
    double least = 0;
    if (!order)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu tests", n);
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            order[m++] = i;
    qsort_r(order, m, sizeof(*order), compare_p, p);
    for (size_t k = 0; k < m; k++) {
        double adjusted = p[order[k]] * (double)(m - k);
        if (adjusted > least)
            least = adjusted > 1 ? 1 : adjusted;
        p[order[k]] = least;
    }
    lab_free(order);
    return LAB_OK;
}

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

enum { LAB_SUM_KEY = 6, LAB_SUM_MOST_TIMES = 1024 };

struct lab_sum_row {
    int64_t key[LAB_SUM_KEY]; /* what its members share */
    struct lab_time_sum sum;
    struct lab_sum_ids ids;
    int64_t *values; /* times, as they come */
    size_t n;
    size_t room;
};

/* What time_sum has of a row, beside run, place, level and times. */
#define FIELD(kind_, column_, member)                                          \
    {                                                                          \
        .column = column_, .kind = LAB_FIELD_##kind_,                          \
        .at = offsetof(struct lab_sum_row, member)                             \
    }
static const struct lab_field sum_columns[] = {
    FIELD(INT, "stepIndex", sum.step_index),
    FIELD(INT, "phase", sum.phase_id),
    FIELD(INT, "nameId", ids.name),
    FIELD(INT, "nodeId", ids.node),
    FIELD(INT, "opId", ids.op),
    FIELD(INT, "variantId", ids.variant),
    FIELD(INT, "backendId", ids.backend),
    FIELD(INT, "timeSource", ids.source),
    FIELD(INT, "demangledName", ids.kernel),
    FIELD(INT, "shortName", ids.kernel_short),
    FIELD(INT, "count", sum.count),
    FIELD(INT, "timed", sum.timed),
    FIELD(INT, "total_ns", sum.total_ns),
    FIELD(INT, "min_ns", sum.min_ns),
    FIELD(INT, "max_ns", sum.max_ns),
    FIELD(REAL, "quarter_ns", sum.quarter_ns),
    FIELD(REAL, "median_ns", sum.median_ns),
    FIELD(REAL, "threeQuarters_ns", sum.three_quarters_ns),
    FIELD(REAL, "mad_ns", sum.mad_ns),
    FIELD(REAL, "flop", sum.flop),
    FIELD(REAL, "bytes", sum.bytes),
    FIELD(INT, "kernels", sum.kernels),
    FIELD(DIMS, "gridX, gridY, gridZ", sum.launch.grid),
    FIELD(DIMS, "blockX, blockY, blockZ", sum.launch.block),
    FIELD(INT, "registersPerThread", sum.launch.registers_per_thread),
    FIELD(INT, "shared_bytes", sum.shared_bytes),
    FIELD(REAL, "occupancy_pct", sum.occupancy_pct),
    FIELD(INT, "occupancyLimit", sum.occupancy_limit),
};
static const struct lab_fields sum_fields = {
    .table = "time_sum",
    .list = sum_columns,
    .count = (int)(sizeof(sum_columns) / sizeof(sum_columns[0]))};

struct lab_sum_table {
    struct lab_sum_row *rows;
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
    if (!rows) {
        lab_free(place);
        return false;
    }
    t->rows = rows;
    t->room = room;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = hash_of(rows[i].key) & (room * 2 - 1);
        while (place[at])
            at = (at + 1) & (room * 2 - 1);
        place[at] = i + 1;
    }
    lab_free(t->place);
    t->place = place;
    t->places = room * 2;
    return true;
}

static void clear_row(struct lab_sum_row *row, const int64_t key[LAB_SUM_KEY])
{
    *row = (struct lab_sum_row){
        .sum.launch = {.cluster = {LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN},
                       .static_shared_bytes = LAB_UNKNOWN,
                       .dynamic_shared_bytes = LAB_UNKNOWN}};
    memcpy(row->key, key, sizeof(row->key));
    lab_fields_clear(&sum_fields, row);
    row->sum.count = row->sum.timed = 0;
}

static struct lab_sum_row *sum_find(struct lab_sum_table *t,
                                    const int64_t key[LAB_SUM_KEY])
{
    size_t next = t->last + 1 < t->count ? t->last + 1 : 0;
    if (t->count && same_key(t->rows[next].key, key)) {
        t->last = next;
        return &t->rows[next];
    }
    if (t->count == t->room && !grow(t))
        return NULL;
    size_t at = hash_of(key) & (t->places - 1);
    for (; t->place[at]; at = (at + 1) & (t->places - 1)) {
        if (same_key(t->rows[t->place[at] - 1].key, key)) {
            t->last = t->place[at] - 1;
            return &t->rows[t->last];
        }
    }
    t->last = t->count++;
    t->place[at] = t->count;
    clear_row(&t->rows[t->last], key);
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
        struct lab_sum_row *row = sum_find(b->table, part->key);
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
static enum lab_status add_to_index(struct build *b, struct lab_stmt *stmt,
                                    int64_t exec, int64_t iteration)
{
    struct lab_index_step s = {.exec = exec, .iteration = iteration};
    if (!b->index)
        return LAB_OK;
    stmt->next--;
    s.kernels = lab_column_int(stmt);
    s.start_ns = lab_column_int(stmt);
    s.end_ns = lab_column_int(stmt);
    s.kernel_row_first = lab_column_int(stmt);
    s.kernel_row_last = lab_column_int(stmt);
    return lab_iterations_add(&b->index->iterations, &s);
}

static enum lab_status read_step(struct build *b, struct lab_stmt *s)
{
    struct place p = {0};
    int64_t exec = lab_column_int(s);
    int64_t iteration = lab_column_int(s);
    int64_t key[LAB_SUM_KEY] = {LAB_SUM_STEP};
    enum lab_status st = LAB_OK;
    for (int i = 1; i < LAB_SUM_KEY; i++)
        key[i] = lab_column_int(s); /* index, phase, name, variant, backend */
    struct lab_sum_row *row = sum_find(b->table, key);
    if (!row)
        return lab_no_memory("the times of a run");
    row->sum.level = LAB_SUM_STEP;
    row->sum.step_index = key[1];
    row->sum.phase_id = p.phase = key[2];
    row->ids.name = key[3];
    row->ids.variant = key[4];
    row->ids.backend = key[5];
    row->ids.node = p.node = lab_column_int(s);
    row->ids.op = lab_column_int(s);
    row->ids.source = lab_column_int(s);
    p.time_ns = lab_column_int(s);
    row->sum.flop = p.flop = lab_column_real(s);
    row->sum.bytes = p.bytes = lab_column_real(s);
    row->sum.kernels = lab_column_int(s);
    row->sum.count++;
    if (p.time_ns != LAB_UNKNOWN)
        st = sum_add_time(row, p.time_ns);
    if (st == LAB_OK)
        st = note_exec(b, exec, b->table->last);
    if (st == LAB_OK)
        st = add_to_index(b, s, exec, iteration);
    if (st == LAB_OK && iteration != b->iteration) {
        st = end_iteration(b);
        b->iteration = iteration;
    }
    return st ? st : note_place(b, key[1], &p);
}

static enum lab_status read_steps(struct build *b)
{
    struct lab_stmt s = lab_stmt_new(
        b->db,
        "SELECT exec, iteration, stepIndex, phase, nameId, variantId, "
        "backendId, nodeId, opId, timeSource, time_ns, flop, bytes, "
        "kernelCount, start_ns, end_ns, kernelRowFirst, kernelRowLast FROM "
        "step WHERE runId = ?1");
    sqlite3_bind_int64(s.sql, 1, b->run);
    while (lab_stmt_next(&s))
        s.st = read_step(b, &s);
    if (!s.st)
        s.st = end_iteration(b);
    return lab_stmt_end(&s);
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

static int64_t read_size(int64_t kept[3], struct lab_stmt *s, bool first)
{
    int64_t v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = lab_column_int(s);
        merge(&kept[i], v[i], first);
    }
    return lab_launch_size(v);
}

static void read_launch(struct lab_time_sum *s, struct lab_stmt *c,
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
    value[LAB_KERNEL_BY_OCCUPANCY] = lab_zone_value(occupancy);
    s->occupancy_pct = first || s->occupancy_pct == occupancy ? occupancy : NAN;
    merge(&s->occupancy_limit, lab_column_int(c), first);
}

static void copy_step(struct lab_sum_row *to, const struct lab_sum_row *step)
{
    to->ids = step->ids;
    to->sum.step_index = step->sum.step_index;
    to->sum.phase_id = step->sum.phase_id;
}

static enum lab_status read_kernel(struct build *b, struct lab_stmt *s)
{
    int64_t exec = lab_column_int(s);
    size_t step = row_of_exec(b, exec);
    int64_t name = lab_column_int(s);
    int64_t short_name = lab_column_int(s);
    int64_t start = lab_column_int(s);
    int64_t end = lab_column_int(s);
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
    read_launch(&row->sum, s, k.value);
    row->sum.count++;
    int64_t time_ns = lab_span_ns(start, end);
    k.row = lab_column_int(s);
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
    struct lab_stmt s = lab_stmt_new(b->db, lab_sql_kernel_times);
    sqlite3_bind_int64(s.sql, 1, b->run);
    while (lab_stmt_next(&s))
        s.st = read_kernel(b, &s);
    return lab_stmt_end(&s);
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

static int compare_rows(const void *a, const void *b)
{
    const struct lab_sum_row *x = a;
    const struct lab_sum_row *y = b;
    const int64_t by[][2] = {
        {x->sum.level, y->sum.level},
        {x->sum.step_index == LAB_UNKNOWN, y->sum.step_index == LAB_UNKNOWN},
        {x->sum.step_index, y->sum.step_index},
        {x->sum.phase_id, y->sum.phase_id},
        {x->ids.name, y->ids.name},
        {x->ids.variant, y->ids.variant},
        {x->ids.backend, y->ids.backend},
        {x->ids.kernel, y->ids.kernel},
    };
    size_t i = 0;
    while (i + 1 < sizeof(by) / sizeof(by[0]) && by[i][0] == by[i][1])
        i++;
    return (by[i][0] > by[i][1]) - (by[i][0] < by[i][1]);
}

static enum lab_status sum_build(struct lab_database *db, int64_t run,
                                 struct lab_sum_table *out,
                                 struct lab_index *index)
{
    struct lab_sum_table table = {0};
    struct build b = {.db = db, .run = run, .table = &table, .index = index};
    b.stretch = 1;
    b.iteration = LAB_UNKNOWN;
    enum lab_status st =
        lab_database_int_of(db, "SELECT max(phase) FROM step WHERE runId = ?1",
                            run, LAB_UNKNOWN, &b.last_phase);
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

enum { TEXT_PHASE, TEXT_NAME, TEXT_SOURCE, TEXT_TABLES };
static const char *const text_sql[TEXT_TABLES] = {
    "SELECT name FROM ENUM_LAB_PHASE WHERE id = ?1",
    "SELECT value FROM StringIds WHERE id = ?1",
    "SELECT name FROM ENUM_LAB_TIME_SOURCE WHERE id = ?1",
};

void lab_time_sums_release(struct lab_time_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        lab_times_release(&sums->items[i].times);
    lab_free(sums->items);
    lab_bench_names_release(&sums->bench_names);
    *sums = (struct lab_time_sums){0};
}

const char *lab_time_sum_step(const struct lab_time_sum *sum)
{
    return lab_bench_name_text(sum->bench_name, sum->name);
}

/* ---- texts ---- */

/* What has been looked up; texts are those of trace/intern.h. */
struct texts {
    struct lab_stmt stmt[TEXT_TABLES];
    struct text {
        int table; /* of the queries above */
        int64_t id;
        const char *text; /* NULL: there is none */
    } * list;
    size_t count;
    size_t room;
};

static enum lab_status find_text(struct texts *t, int table, int64_t id,
                                 const char **out)
{
    struct lab_stmt *s = &t->stmt[table];
    *out = NULL;
    if (id == LAB_UNKNOWN)
        return LAB_OK;
    for (size_t i = t->count; i > 0; i--) { /* the newest is often meant */
        if (t->list[i - 1].id == id && t->list[i - 1].table == table) {
            *out = t->list[i - 1].text;
            return LAB_OK;
        }
    }
    if (lab_grow(&t->list, t->count, &t->room, sizeof(*t->list),
                 "the names of a run"))
        return LAB_E_NOMEM;
    sqlite3_bind_int64(s->sql, 1, id);
    if (lab_stmt_next(s))
        s->st = lab_column_kept(s, out);
    sqlite3_reset(s->sql);
    t->list[t->count++] = (struct text){table, id, *out};
    return s->st;
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
    struct texts t = {.count = 0};
    struct lab_time_sums sums = {
        .items = lab_alloc_array(table->count + 1, sizeof(*sums.items))};
    enum lab_status st =
        sums.items ? LAB_OK : lab_no_memory("the times of a run");
    for (int i = 0; i < TEXT_TABLES; i++)
        t.stmt[i] = lab_stmt_new(db, text_sql[i]);
    for (size_t i = 0; i < table->count && st == LAB_OK; i++) {
        struct lab_sum_row *row = &table->rows[i];
        if (!(levels & 1u << row->sum.level))
            continue;
        struct lab_time_sum *item = &sums.items[sums.count++];
        *item = row->sum;
        row->sum.times = (struct lab_times){0};
        st = name_sum(&t, item, &row->ids);
    }
    for (int i = 0; i < TEXT_TABLES; i++)
        lab_stmt_end(&t.stmt[i]);
    lab_free(t.list);
    if (st)
        lab_time_sums_release(&sums);
    else
        *out = sums;
    return st;
}

/* ---- as rows of time_sum ---- */

static enum lab_status insert_rows(struct lab_database *db, int64_t run,
                                   const struct lab_sum_table *table)
{
    struct lab_stmt s =
        lab_fields_insert(db, &sum_fields, ", runId, place, level, times");
    for (size_t i = 0; i < table->count && !s.st; i++) {
        const struct lab_sum_row *row = &table->rows[i];
        void *bytes;
        size_t size;
        s.st = lab_times_pack(&row->sum.times, &bytes, &size);
        if (s.st)
            break;
        int n = lab_fields_bind(&s, &sum_fields, row);
        sqlite3_bind_int64(s.sql, n, run);
        sqlite3_bind_int64(s.sql, n + 1, (int64_t)i);
        sqlite3_bind_int(s.sql, n + 2, (int)row->sum.level);
        sqlite3_bind_blob64(s.sql, n + 3, bytes, size, SQLITE_STATIC);
        lab_stmt_run(&s, "storing the times of a run");
        lab_free(bytes);
    }
    return lab_stmt_end(&s);
}

static enum lab_status read_row(struct lab_sum_table *table, struct lab_stmt *s)
{
    const int64_t key[LAB_SUM_KEY] = {(int64_t)table->count};
    struct lab_sum_row *row = sum_find(table, key);
    if (!row)
        return lab_no_memory("the times of a run");
    lab_fields_take(s, &sum_fields, row);
    row->sum.level = (enum lab_sum_level)lab_column_int(s);
    if (row->sum.timed < 2) /* one time has no spread, in an older file too */
        row->sum.mad_ns = NAN;
    const void *bytes = sqlite3_column_blob(s->sql, s->next);
    size_t size = (size_t)sqlite3_column_bytes(s->sql, s->next);
    return lab_times_unpack(&row->sum.times, bytes, bytes ? size : 0);
}

/* Other levels than those of enum lab_sum_level: index/index.h. */
static enum lab_status read_rows(struct lab_database *db, int64_t run,
                                 unsigned levels, struct lab_sum_table *out)
{
    struct lab_sum_table table = {0};
    struct lab_str sql;
    lab_str_init(&sql);
    lab_fields_select(&sql, &sum_fields);
    lab_str_add(&sql, ", level, times FROM time_sum WHERE runId = ?1 AND ?2 >> "
                      "level & 1 ORDER BY place");
    struct lab_stmt s = lab_stmt_built(db, &sql);
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int64(s.sql, 2, levels & ((1u << LAB_SUM_LEVELS) - 1));
    while (lab_stmt_next(&s))
        s.st = read_row(&table, &s);
    if (s.st)
        sum_table_release(&table);
    else
        *out = table;
    return lab_stmt_end(&s);
}

static enum lab_status is_summed(struct lab_database *db, int64_t run,
                                 int64_t *summed, bool *running)
{
    struct lab_stmt s = lab_stmt_of_run(
        db, "SELECT summed, status = 'running' FROM run WHERE id = ?1", run);
    if (lab_stmt_next(&s)) {
        *summed = sqlite3_column_int64(s.sql, 0);
        *running =
            sqlite3_column_int64(s.sql, 1) != 0 || *summed == LAB_SUMMED_LATER;
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_time_sums_are_kept(struct lab_database *db, int64_t run,
                                       bool *kept)
{
    int64_t summed = 0;
    bool running = false;
    enum lab_status st = is_summed(db, run, &summed, &running);
    *kept = st == LAB_OK && summed == 1;
    return st;
}

/* Which variant each row is of. */
static void take_variants(struct lab_time_sums *sums,
                          struct lab_bench_names *bench_names)
{
    sums->bench_names = *bench_names;
    *bench_names = (struct lab_bench_names){0};
    for (size_t i = 0; i < sums->count; i++) {
        sums->items[i].bench_name =
            lab_bench_name_find(&sums->bench_names, sums->items[i].step_index);
        lab_counters_init(&sums->items[i].counters);
        sums->items[i].share = sums->items[i].cumulative = NAN;
        sums->items[i].of_roof = NAN;
    }
}

/* ---- shares ---- */

double lab_time_sum_ns(const struct lab_time_sum *sum)
{
    return sum->median_ns * lab_to_real(sum->count);
}

/* For qsort: the longest first, unknown ones last. */
static int compare_times(const void *a, const void *b)
{
    double x = lab_time_sum_ns(*(struct lab_time_sum *const *)a);
    double y = lab_time_sum_ns(*(struct lab_time_sum *const *)b);
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x < y) - (x > y);
}

enum lab_status lab_time_sums_share(struct lab_time_sum *items, size_t count)
{
    struct lab_time_sum **order = lab_alloc_array(count + 1, sizeof(*order));
    double all = 0;
    double before = 0;
    if (!order)
        return lab_no_memory("the shares of a run's time");
    for (size_t i = 0; i < count; i++) {
        double ns = lab_time_sum_ns(&items[i]);
        order[i] = &items[i];
        all += ns > 0 ? ns : 0;
    }
    qsort(order, count, sizeof(struct lab_time_sum *), compare_times);
    for (size_t i = 0; i < count; i++) {
        struct lab_time_sum *s = order[i];
        s->share = all > 0 ? lab_time_sum_ns(s) / all : (double)NAN;
        before += s->share;
        s->cumulative = before;
    }
    lab_free(order);
    return LAB_OK;
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
    struct lab_bench_names bench_names = {0};
    enum lab_status st = lab_bench_names_load(&bench_names, db, run);
    if (st)
        return st;
    if (bench_names.count > 0)
        levels &= 1u << LAB_SUM_STEP | 1u << LAB_SUM_KERNEL;
    st = load_rows(db, run, levels, out);
    if (st == LAB_OK)
        take_variants(out, &bench_names);
    lab_bench_names_release(&bench_names);
    return st;
}

static enum lab_status keep(struct lab_database *db, int64_t run)
{
    struct lab_sum_table table = {0};
    struct lab_index index;
    enum lab_status st = lab_index_begin(&index, db, run);
    if (st == LAB_OK)
        st = sum_build(db, run, &table, &index);
    if (st == LAB_OK)
        st = insert_rows(db, run, &table);
    st = lab_index_end(&index, st, (int64_t)table.count);
    if (st == LAB_OK)
        st = lab_database_exec_of(db, "UPDATE run SET summed = 1 WHERE id = ?1",
                                  run, "storing the times of a run");
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
        st = lab_database_int_of(db,
                                 "SELECT min(id) FROM run WHERE id > ?1 AND "
                                 "summed IS NULL AND status <> 'running'",
                                 run, LAB_UNKNOWN, &run);
        if (st == LAB_OK && run != LAB_UNKNOWN)
            st = lab_time_sums_keep(db, run);
    }
    return st;
}
