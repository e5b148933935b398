/* index.c -- what is stored with a long run: its zones of kernels, with the SQL
 * that picks those with the first rows of a sort, and the list of its
 * iterations, packed in rows of time_sum: a version, then the numbers of each
 * iteration as differences to those of the one before, the sign in the lowest
 * bit. */
#include "index.h"

#include <math.h>
#include <string.h>

#include "varint.h"

/* ---- iterations ---- */

enum {
    VERSION = 1,
    /* The tenth was a number that older programs read, and do without. */
    NUMBERS = 10,
    PER_ROW = 4096 /* iterations */
};

/* An iteration without steps. */
static void begin_iteration(struct lab_iteration_row *r, int64_t iteration,
                            int64_t exec)
{
    *r = (struct lab_iteration_row){.iteration = iteration,
                                    .start_ns = LAB_UNKNOWN,
                                    .end_ns = LAB_UNKNOWN,
                                    .kernels = LAB_UNKNOWN,
                                    .exec_first = exec,
                                    .exec_last = exec,
                                    .kernel_row_first = LAB_UNKNOWN,
                                    .kernel_row_last = LAB_UNKNOWN};
}

static void add_step(struct lab_iteration_row *r,
                     const struct lab_index_step *s)
{
    r->steps++;
    r->exec_last = s->exec;
    lab_moments_widen(&r->start_ns, &r->end_ns, s->start_ns, s->end_ns);
    lab_moments_widen(&r->kernel_row_first, &r->kernel_row_last,
                      s->kernel_row_first, s->kernel_row_last);
    if (s->kernels >= 0 && s->kernels <= INT32_MAX)
        r->kernels = (r->kernels == LAB_UNKNOWN ? 0 : r->kernels) + s->kernels;
}

/* A new one at the end; NULL: no memory. */
static struct lab_iteration_row *grow(struct lab_iterations *it)
{
    if (lab_grow(&it->list, it->count, &it->room, sizeof(*it->list),
                 "the iterations of a run"))
        return NULL;
    return &it->list[it->count++];
}

enum lab_status lab_iterations_add(struct lab_iterations *it,
                                   const struct lab_index_step *s)
{
    struct lab_iteration_row *r = it->count ? &it->list[it->count - 1] : NULL;
    if (!r || r->iteration != s->iteration) {
        r = grow(it);
        if (!r)
            return lab_no_memory("the iterations of a run");
        begin_iteration(r, s->iteration, s->exec);
    }
    add_step(r, s);
    it->steps++;
    return LAB_OK;
}

static void release_iterations(struct lab_iterations *it)
{
    lab_free(it->list);
    *it = (struct lab_iterations){0};
}

/* ---- as bytes ---- */

static size_t pack(unsigned char *bytes, const struct lab_iteration_row *r,
                   size_t count)
{
    int64_t before[NUMBERS] = {0};
    size_t n = 0;
    bytes[n++] = VERSION;
    for (; count > 0; count--, r++) {
        const int64_t now[NUMBERS] = {r->iteration,       r->start_ns,
                                      r->end_ns,          r->steps,
                                      r->kernels,         r->exec_first,
                                      r->exec_last,       r->kernel_row_first,
                                      r->kernel_row_last, LAB_UNKNOWN};
        for (int k = 0; k < NUMBERS; k++) {
            uint64_t d = (uint64_t)now[k] - (uint64_t)before[k];
            n += lab_varint_put(bytes + n, lab_zigzag(d));
            before[k] = now[k];
        }
    }
    return n;
}

static bool is_moment(int64_t v)
{
    return v == LAB_UNKNOWN || lab_moment_known(v);
}

/* Whether a run can have it, after the iteration `before` (NULL: as the first
 * one): its numbers can be added and subtracted, and iterations do not overlap.
 */
static bool is_sound(const struct lab_iteration_row *r,
                     const struct lab_iteration_row *before)
{
    return r->steps > 0 &&
           r->steps - 1 <= lab_span_ns(r->exec_first, r->exec_last) &&
           is_moment(r->start_ns) && is_moment(r->end_ns) &&
           is_moment(r->kernel_row_first) && is_moment(r->kernel_row_last) &&
           (r->kernels == LAB_UNKNOWN ||
            (r->kernels >= 0 && r->kernels / INT32_MAX <= r->steps)) &&
           (!before || before->exec_last < r->exec_first);
}

/* LAB_E_PARSE: the bytes are not `count` iterations. */
static enum lab_status unpack(struct lab_iterations *out, const void *bytes,
                              size_t size, int64_t count)
{
    const unsigned char *p = bytes;
    int64_t n[NUMBERS] = {0};
    if (size < 1 || *p != VERSION)
        return LAB_E_PARSE; /* of size 0 there are no bytes at all: NULL */
    const unsigned char *end = p++ + size;
    for (; count > 0; count--) {
        for (int k = 0; k < NUMBERS; k++) {
            uint64_t v;
            if (!lab_varint_get(&p, end, &v))
                return LAB_E_PARSE;
            n[k] = (int64_t)((uint64_t)n[k] + lab_unzigzag(v));
        }
        struct lab_iteration_row *r = grow(out);
        if (!r)
            return lab_no_memory("the iterations of a run");
        *r = (struct lab_iteration_row){n[0], n[1], n[2], n[3], n[4],
                                        n[5], n[6], n[7], n[8]};
        if (!is_sound(r, out->count > 1 ? r - 1 : NULL))
            return LAB_E_PARSE;
        out->steps = lab_add_known(out->steps, r->steps);
    }
    return p == end ? LAB_OK : LAB_E_PARSE;
}

/* ---- in the database ---- */

/* A list of iterations of few steps would save nothing. */
static enum lab_status store_iterations(const struct lab_iterations *it,
                                        struct lab_database *db, int64_t run,
                                        int64_t place)
{
    enum { FEW = 4 };
    if (it->steps < LAB_ITERATION_LEAST_STEPS ||
        it->steps / FEW < (int64_t)it->count)
        return LAB_OK;
    unsigned char *bytes =
        lab_alloc_array(PER_ROW + 1, NUMBERS * LAB_VARINT_MOST);
    if (!bytes)
        return lab_no_memory("the iterations of a run");
    struct lab_stmt s = lab_stmt_new(
        db, "INSERT INTO time_sum (runId, level, place, count, timed, times) "
            "VALUES (?1, ?2, ?3, ?4, 0, ?5)");
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int(s.sql, 2, LAB_ITERATION_LEVEL);
    for (size_t i = 0; i < it->count && !s.st; i += PER_ROW) {
        size_t left = it->count - i;
        size_t n = left < PER_ROW ? left : PER_ROW;
        sqlite3_bind_int64(s.sql, 3, place++);
        sqlite3_bind_int64(s.sql, 4, (int64_t)n);
        sqlite3_bind_blob64(s.sql, 5, bytes, pack(bytes, it->list + i, n),
                            SQLITE_STATIC);
        lab_stmt_run(&s, "storing the iterations of a run");
    }
    lab_free(bytes);
    return lab_stmt_end(&s);
}

static enum lab_status read_rows(struct lab_iterations *out,
                                 struct lab_database *db, int64_t run)
{
    struct lab_stmt s = lab_stmt_new(
        db, "SELECT count, times FROM time_sum WHERE runId = ?1 AND level = ?2 "
            "ORDER BY place");
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int(s.sql, 2, LAB_ITERATION_LEVEL);
    while (lab_stmt_next(&s)) {
        const void *bytes = sqlite3_column_blob(s.sql, 1);
        size_t size = (size_t)sqlite3_column_bytes(s.sql, 1);
        s.st = unpack(out, bytes, bytes ? size : 0,
                      sqlite3_column_int64(s.sql, 0));
    }
    return lab_stmt_end(&s);
}

/* count 0: none are stored, or not those of the run's steps. */
static enum lab_status load_iterations(struct lab_iterations *out,
                                       struct lab_database *db, int64_t run)
{
    int64_t steps = 0;
    *out = (struct lab_iterations){0};
    _Static_assert(LAB_SUM_STEP == 3, "the level in the query");
    enum lab_status st = read_rows(out, db, run);
    if (st == LAB_OK && out->count)
        st = lab_database_int_of(db,
                                 "SELECT sum(count) FROM time_sum WHERE runId "
                                 "= ?1 AND level = 3",
                                 run, 0, &steps);
    if (st || out->steps != steps) /* rows of the list were lost */
        release_iterations(out);
    return st == LAB_E_PARSE ? LAB_OK : st;
}

/* ---- listed ---- */

/* A run of another tool has no steps: all of it is one pass. */
static enum lab_status whole_run(struct lab_database *db, int64_t run,
                                 lab_iteration_row_fn *each, void *user)
{
    struct lab_iteration_row whole;
    struct lab_stmt s = lab_stmt_new(db, lab_sql_timeline_whole);
    sqlite3_bind_int64(s.sql, 1, run);
    begin_iteration(&whole, LAB_UNKNOWN, 1);
    whole.exec_last = 0; /* no step is its */
    if (lab_stmt_next(&s)) {
        int64_t start = lab_column_int(&s);
        int64_t end = lab_column_int(&s);
        whole.kernels = lab_column_int(&s);
        int64_t first = lab_column_int(&s);
        lab_moments_widen(&whole.start_ns, &whole.end_ns, start, end);
        lab_moments_widen(&whole.kernel_row_first, &whole.kernel_row_last,
                          first, lab_column_int(&s));
    }
    enum lab_status st = lab_stmt_end(&s);
    if (st == LAB_OK && whole.kernels > 0)
        each(user, &whole);
    return st;
}

static enum lab_status read_steps(struct lab_database *db, int64_t run,
                                  struct lab_iterations *out)
{
    struct lab_stmt s = lab_stmt_new(db, lab_sql_timeline_passes);
    sqlite3_bind_int64(s.sql, 1, run);
    while (lab_stmt_next(&s)) {
        struct lab_index_step step;
        step.exec = lab_column_int(&s);
        step.iteration = lab_column_int(&s);
        step.start_ns = lab_column_int(&s);
        step.end_ns = lab_column_int(&s);
        step.kernels = lab_column_int(&s);
        step.kernel_row_first = lab_column_int(&s);
        step.kernel_row_last = lab_column_int(&s);
        s.st = lab_iterations_add(out, &step);
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_query_iterations(struct lab_database *db, int64_t run,
                                     lab_iteration_row_fn *each, void *user)
{
    struct lab_iterations all = {0};
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = load_iterations(&all, db, run);
    if (st == LAB_OK && all.count == 0)
        st = read_steps(db, run, &all);
    if (st == LAB_OK && all.count == 0)
        st = whole_run(db, run, each, user);
    for (size_t i = 0; !st && i < all.count && each(user, &all.list[i]); i++)
        ;
    release_iterations(&all);
    return st;
}

static int worth(const struct lab_iteration_row *row)
{
    return row->kernels > 0 ? 2 : row->start_ns != LAB_UNKNOWN;
}

bool lab_iteration_prefer(const struct lab_iteration_row *best,
                          const struct lab_iteration_row *row)
{
    return worth(row) >= worth(best);
}

struct wanted {
    int64_t iteration;
    struct lab_iteration_row found;
    struct lab_iteration_row last;
    int64_t first;
    bool any; /* one was found; some are there */
    bool some;
};

static bool look_at(void *user, const struct lab_iteration_row *row)
{
    struct wanted *w = user;
    if (!w->some)
        w->first = row->iteration;
    w->last = *row;
    w->some = true;
    if (w->iteration != LAB_UNKNOWN
            ? row->iteration == w->iteration
            : !w->any || lab_iteration_prefer(&w->found, row)) {
        w->found = *row;
        w->any = true;
    }
    return true;
}

enum lab_status lab_query_iteration(struct lab_database *db, int64_t run,
                                    int64_t iteration,
                                    struct lab_iteration_row *out)
{
    struct wanted w = {.iteration = iteration};
    enum lab_status st = lab_query_iterations(db, run, look_at, &w);
    if (st)
        return st;
    if (!w.some)
        return lab_fail(
            LAB_E_NOTFOUND,
            "[timeline.empty] %s: run %lld has no recorded steps or kernels",
            db->path, (long long)run);
    if (!w.any && w.last.steps == 0)
        return lab_fail(LAB_E_NOTFOUND,
                        "[timeline.no-iterations] %s: run %lld has no "
                        "iterations: all of it is one timeline",
                        db->path, (long long)run);
    if (!w.any)
        return lab_fail(LAB_E_NOTFOUND,
                        "[timeline.iteration] %s: iteration %lld of run %lld "
                        "was not recorded; the first is %lld, the last %lld, "
                        "and of a long training some between them",
                        db->path, (long long)iteration, (long long)run,
                        (long long)w.first, (long long)w.last.iteration);
    *out = w.found;
    return LAB_OK;
}

/* ---- zones ---- */

static const char storing[] = "storing the zones of a run";

enum lab_status lab_index_begin(struct lab_index *x, struct lab_database *db,
                                int64_t run)
{
    int64_t kernels;
    *x = (struct lab_index){.db = db, .run = run};
    enum lab_status st =
        lab_database_exec_of(db,
                             "DELETE FROM kernel_zone WHERE runId = ?1; DELETE "
                             "FROM kernel_zone_name WHERE runId = ?1",
                             run, storing);
    if (st == LAB_OK)
        st = lab_database_int_of(
            db, "SELECT kernelRowLast - kernelRowFirst FROM run WHERE id = ?1",
            run, 0, &kernels);
    x->zones = st == LAB_OK && kernels >= LAB_ZONE_LEAST_KERNELS - 1;
    if (!x->zones)
        return st;
    x->add_zone = lab_stmt_new(
        db, "INSERT INTO kernel_zone (runId, sort, kernelRowFirst, "
            "kernelRowLast, least, greatest) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    x->add_name = lab_stmt_new(db, "INSERT INTO kernel_zone_name (runId, "
                                   "nameId, kernelRowFirst) VALUES (?1, ?2, "
                                   "?3)");
    sqlite3_bind_int64(x->add_zone.sql, 1, run);
    sqlite3_bind_int64(x->add_name.sql, 1, run);
    return x->add_zone.st ? x->add_zone.st : x->add_name.st;
}

static void widen_range(struct lab_zone_range *r, int64_t v)
{
    if (v == LAB_UNKNOWN)
        return;
    if (!r->known || v < r->least)
        r->least = v;
    if (!r->known || v > r->greatest)
        r->greatest = v;
    r->known = true;
}

/* Another part of it, with the rows `first` to `last`. */
static void lengthen(struct lab_zone *z, int64_t first, int64_t last)
{
    if (z->parts++ == 0)
        z->first = first;
    z->last = last;
}

/* Stores a zone or a group, which is empty then. */
static void store_zone(struct lab_index *x, struct lab_zone *z, int level)
{
    struct lab_stmt *s = &x->add_zone;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++) {
        if (!z->range[i].known)
            continue;
        sqlite3_bind_int(s->sql, 2, level + i);
        sqlite3_bind_int64(s->sql, 3, z->first);
        sqlite3_bind_int64(s->sql, 4, z->last);
        sqlite3_bind_int64(s->sql, 5, z->range[i].least);
        sqlite3_bind_int64(s->sql, 6, z->range[i].greatest);
        lab_stmt_run(s, storing);
    }
    *z = (struct lab_zone){0};
}

/* Stores the open zone, and its group where that is whole. */
static enum lab_status close_zone(struct lab_index *x)
{
    struct lab_stmt *name = &x->add_name;
    for (int i = 0; i < x->names; i++) {
        sqlite3_bind_int64(name->sql, 2, x->name[i]);
        sqlite3_bind_int64(name->sql, 3, x->zone.first);
        lab_stmt_run(name, storing);
    }
    x->names = 0;
    lengthen(&x->group, x->zone.first, x->zone.last);
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++) {
        if (!x->zone.range[i].known)
            continue;
        widen_range(&x->group.range[i], x->zone.range[i].least);
        widen_range(&x->group.range[i], x->zone.range[i].greatest);
    }
    store_zone(x, &x->zone, 0);
    if (x->group.parts == LAB_GROUP_ZONES)
        store_zone(x, &x->group, LAB_ZONE_GROUP);
    return x->add_zone.st ? x->add_zone.st : name->st;
}

int64_t lab_zone_value(double v)
{
    int64_t bits;
    if (isnan(v))
        return LAB_UNKNOWN;
    memcpy(&bits, &v, sizeof(bits));
    return bits < 0 ? -(bits & INT64_MAX) : bits;
}

static void add_name(struct lab_index *x, int64_t name)
{
    for (int i = x->names; i > 0; i--)
        if (x->name[i - 1] == name)
            return;
    x->name[x->names++] = name;
}

enum lab_status lab_index_add_kernel(struct lab_index *x,
                                     const struct lab_index_kernel *k)
{
    if (!x->zones)
        return LAB_OK;
    lengthen(&x->zone, k->row, k->row);
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++)
        widen_range(&x->zone.range[i], k->value[i]);
    if (k->name != LAB_UNKNOWN)
        add_name(x, k->name);
    return x->zone.parts == LAB_ZONE_ROWS ? close_zone(x) : LAB_OK;
}

enum lab_status lab_index_end(struct lab_index *x, enum lab_status st,
                              int64_t place)
{
    if (st == LAB_OK && x->zone.parts)
        st = close_zone(x);
    if (st == LAB_OK && x->group.parts) {
        store_zone(x, &x->group, LAB_ZONE_GROUP);
        st = x->add_zone.st;
    }
    if (st == LAB_OK)
        st = store_iterations(&x->iterations, x->db, x->run, place);
    lab_stmt_end(&x->add_zone);
    lab_stmt_end(&x->add_name);
    release_iterations(&x->iterations);
    return st;
}
