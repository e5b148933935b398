/* query_timeline.c -- the spans of one iteration for the timeline. */
#include "store/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "index/index.h"
#include "store/lab_names.h"
#include "timeline/timeline_priv.h"
#include "trace/intern.h"

struct owner { /* of a copy or set */
    int64_t row;
    int64_t exec;
};

struct load {
    struct lab_database *db;
    struct lab_timeline *t;
    struct lab_timeline_build b;
    bool part;                 /* a window was asked for */
    struct lab_growing copies; /* struct owner, by row */
    struct lab_growing sets;
    struct lab_bench_names rungs; /* of a lab: its steps are called so */
};

typedef enum lab_status read_fn(struct load *l, struct lab_stmt *c);

/* Names are made safe for a terminal once, here. */
static uint32_t safe_name(const char *text)
{
    struct lab_str s;
    bool plain = true;
    if (!text)
        return lab_intern("?");
    for (const char *p = text; *p; p++)
        plain = plain && *p >= ' ' && *p < 0x7F;
    if (plain)
        return lab_intern(text);
    lab_str_init(&s);
    lab_str_add_visible(&s, text, strlen(text), false);
    uint32_t id = lab_intern(lab_str_text(&s));
    lab_str_release(&s);
    return id;
}

/* Whether a step had begun and not ended; they come in the order of their
 * starts. */
static bool in_a_step(const struct load *l, int64_t moment)
{
    const struct lab_step_time *s = l->b.steps.items;
    int32_t lo = 0;
    int32_t hi = l->b.steps.count;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (s[mid].start_ns <= moment)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && s[lo - 1].end_ns >= moment;
}

/* Times first: a span of this iteration makes the iteration longer, unless a
 * window was asked for. One without times stays when it is the iteration's. */
static enum lab_status take(struct load *l, struct lab_span *s, bool own)
{
    struct lab_timeline *t = l->t;
    bool timed = lab_moment_known(s->start_ns) && lab_moment_known(s->end_ns) &&
                 s->end_ns >= s->start_ns;
    if (!timed)
        s->start_ns = s->end_ns = LAB_UNKNOWN;
    if (!timed && !own)
        return LAB_OK;
    if (timed && own) {
        lab_moments_widen(&t->start_ns, &t->end_ns, s->start_ns, s->end_ns);
        if (!l->part) {
            t->from_ns = t->start_ns;
            t->to_ns = t->end_ns;
        }
    }
    bool outside = s->start_ns >= t->to_ns || s->end_ns <= t->from_ns;
    /* Steps are few, and everything else points to them. */
    if (timed && outside && s->kind != LAB_SPAN_STEP)
        return LAB_OK;
    if (t->lab && !own && timed && s->kind != LAB_SPAN_RANGE &&
        !in_a_step(l, s->start_ns)) {
        t->set_up++;
        return LAB_OK;
    }
    return lab_timeline_add(&l->b, s);
}

static struct lab_span blank(enum lab_span_kind kind)
{
    return (struct lab_span){.kind = kind,
                             .exec = LAB_UNKNOWN,
                             .correlation = LAB_UNKNOWN,
                             .process = LAB_UNKNOWN,
                             .step_phase = LAB_UNKNOWN,
                             .bytes = LAB_UNKNOWN,
                             .graph_node = LAB_UNKNOWN,
                             .where = LAB_UNKNOWN,
                             .device = LAB_UNKNOWN,
                             .gap_ns = LAB_UNKNOWN,
                             .latency_ns = LAB_UNKNOWN,
                             .phase = LAB_UNKNOWN,
                             .call = -1,
                             .step = -1};
}

/* What this program recorded is of one process, and older versions kept other
 * numbers for its threads. nsys: the upper bytes of a thread are its process. */
static int64_t process_of(const struct load *l, int64_t global)
{
    if (l->t->of.steps > 0)
        return 0;
    return global == LAB_UNKNOWN ? LAB_UNKNOWN : global & ~INT64_C(0xFFFFFF);
}

static void read_place(struct lab_span *s, struct lab_stmt *c)
{
    s->row = lab_column_int(c);
    s->start_ns = lab_column_int(c);
    s->end_ns = lab_column_int(c);
}

static enum lab_status read_step(struct load *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_STEP);
    read_place(&s, c);
    s.exec = s.row;
    s.phase = lab_column_int(c);
    const char *name = lab_column_text(c);
    s.name = safe_name(lab_bench_name_or(&l->rungs, lab_column_int(c), name));
    return take(l, &s, true);
}

/* The range of the iteration itself begins before its first step. */
static enum lab_status read_range(struct load *l, struct lab_stmt *c)
{
    enum { LEVEL_RUN, LEVEL_ITERATION };
    struct lab_span s = blank(LAB_SPAN_RANGE);
    const struct lab_timeline *t = l->t;
    read_place(&s, c);
    s.where = lab_column_int(c);
    s.name = safe_name(lab_column_text(c));
    if (s.where == LEVEL_RUN && t->of.steps > 0)
        return LAB_OK;
    bool own = t->of.steps == 0;
    own |= s.where == LEVEL_ITERATION && s.start_ns != LAB_UNKNOWN &&
           s.end_ns != LAB_UNKNOWN && s.start_ns < t->of.end_ns &&
           s.end_ns > t->of.start_ns;
    return take(l, &s, own);
}

static enum lab_status read_call(struct load *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_CALL);
    read_place(&s, c);
    s.where = lab_column_int(c);
    s.process = process_of(l, s.where);
    s.correlation = lab_column_int(c);
    s.name = safe_name(lab_column_text(c));
    return take(l, &s, l->t->of.steps == 0);
}

/* Of a call that lies outside of the window: its moment alone. */
static enum lab_status read_launch(struct load *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_CALL);
    s.correlation = lab_column_int(c);
    s.start_ns = lab_column_int(c);
    s.process = process_of(l, lab_column_int(c));
    if (!lab_moment_known(s.start_ns))
        return LAB_OK;
    return lab_timeline_add_call(&l->b, &s);
}

static void read_device(const struct load *l, struct lab_span *s,
                        struct lab_stmt *c)
{
    read_place(s, c);
    s->device = lab_column_int(c);
    s->where = lab_column_int(c);
    s->correlation = lab_column_int(c);
    s->graph_node = lab_column_int(c);
    s->process = process_of(l, lab_column_int(c));
}

static enum lab_status read_kernel(struct load *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_KERNEL);
    read_device(l, &s, c);
    s.exec = lab_column_int(c);
    s.name = safe_name(lab_column_text(c));
    return take(l, &s, lab_pass_owns(&l->t->of, s.exec));
}

static int compare_owners(const void *a, const void *b)
{
    const struct owner *x = a;
    const struct owner *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

static enum lab_status read_memory(struct load *l, struct lab_span *s,
                                   struct lab_stmt *c,
                                   const struct lab_growing *owners)
{
    read_device(l, s, c);
    s->bytes = lab_column_int(c);
    s->name = safe_name(lab_column_text(c));
    const struct owner key = {s->row, 0};
    const struct owner *o = NULL;
    if (owners->count)
        o = bsearch(&key, owners->items, (size_t)owners->count, sizeof(key),
                    compare_owners);
    if (o)
        s->exec = o->exec;
    return take(l, s, o != NULL || l->t->of.steps == 0);
}

static enum lab_status read_copy(struct load *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_COPY);
    return read_memory(l, &s, c, &l->copies);
}

static enum lab_status read_set(struct load *l, struct lab_stmt *c)
{
    struct lab_span s = blank(LAB_SPAN_SET);
    return read_memory(l, &s, c, &l->sets);
}

static enum lab_status read_owner(struct load *l, struct lab_stmt *c)
{
    struct owner o = {.exec = lab_column_int(c)};
    int64_t copy = lab_column_int(c);
    int64_t set = lab_column_int(c);
    struct lab_growing *list = copy != LAB_UNKNOWN ? &l->copies : &l->sets;
    o.row = copy != LAB_UNKNOWN ? copy : set;
    struct owner *place = lab_timeline_grow(list, sizeof(o));
    if (!place)
        return lab_no_memory("the copies of a run");
    *place = o;
    return LAB_OK;
}

/* What a query may ask for. */
struct asked {
    struct lab_rowid_range rows;
    int64_t first; /* of what is the iteration's: rows, or execs */
    int64_t last;
    int64_t from;
    int64_t to;
};

static void bind(sqlite3_stmt *stmt, const char *name, int64_t v)
{
    int i = sqlite3_bind_parameter_index(stmt, name);
    if (i > 0)
        sqlite3_bind_int64(stmt, i, v);
}

static enum lab_status read_rows(struct load *l, const char *sql,
                                 const struct asked *asked, read_fn *read)
{
    struct lab_stmt s = lab_stmt_new(l->db, sql);
    sqlite3_bind_int64(s.sql, 1, l->t->run);
    sqlite3_bind_int64(s.sql, 2, asked->rows.first);
    sqlite3_bind_int64(s.sql, 3, asked->rows.last);
    bind(s.sql, ":first", asked->first);
    bind(s.sql, ":last", asked->last);
    bind(s.sql, ":from", asked->from);
    bind(s.sql, ":to", asked->to);
    while (lab_stmt_next(&s))
        s.st = read(l, &s);
    return lab_stmt_end(&s);
}

/* Another tool's tables need not lie in the order of time. */
static enum lab_status find_rows(struct load *l, const char *table,
                                 const char *column, int64_t from, int64_t to,
                                 struct lab_rowid_range *rows)
{
    bool sorted = l->t->of.steps > 0;
    return lab_rowid_range_find(l->db, l->t->run, table, column,
                                sorted ? from : 0, sorted ? to : INT64_MAX / 2,
                                rows);
}

static enum lab_status read_table(struct load *l, const char *table,
                                  const char *sql, read_fn *read)
{
    const struct lab_timeline *t = l->t;
    struct asked asked = {.from = t->from_ns, .to = t->to_ns};
    if (t->of.steps == 0 && !l->part) {
        asked.from = 0;
        asked.to = INT64_MAX / 2;
    }
    enum lab_status st =
        find_rows(l, table, "\"end\"", asked.from, asked.to, &asked.rows);
    return st ? st : read_rows(l, sql, &asked, read);
}

static void sort_owners(struct lab_growing *list)
{
    if (list->count)
        qsort(list->items, (size_t)list->count, sizeof(struct owner),
              compare_owners);
}

static enum lab_status read_owners(struct load *l)
{
    const struct lab_iteration_row *of = &l->t->of;
    struct asked asked = {.first = of->exec_first, .last = of->exec_last};
    enum lab_status st = find_rows(l, "op_memory", "stepExec", asked.first,
                                   asked.last, &asked.rows);
    if (st == LAB_OK)
        st = read_rows(l, lab_sql_timeline_memory, &asked, read_owner);
    sort_owners(&l->copies);
    sort_owners(&l->sets);
    return st;
}

static enum lab_status read_steps(struct load *l)
{
    const struct asked asked = {
        .rows = {l->t->of.exec_first, l->t->of.exec_last}};
    return read_rows(l, lab_sql_timeline_steps, &asked, read_step);
}

/* The rows of the steps' kernels, and of what else ran then. A part has those
 * of its time only: there may be very many. */
static enum lab_status read_kernels(struct load *l)
{
    const struct lab_timeline *t = l->t;
    struct asked asked = {.first = t->of.kernel_row_first,
                          .last = t->of.kernel_row_last,
                          .from = t->from_ns,
                          .to = t->to_ns};
    enum lab_status st = find_rows(l, "CUPTI_ACTIVITY_KIND_KERNEL", "\"end\"",
                                   asked.from, asked.to, &asked.rows);
    if (st)
        return st;
    if (l->part)
        asked.first = asked.last = LAB_UNKNOWN;
    if (asked.first != LAB_UNKNOWN) {
        if (asked.rows.first > asked.first)
            asked.rows.first = asked.first;
        if (asked.rows.last < asked.last)
            asked.rows.last = asked.last;
    }
    return read_rows(l, lab_sql_timeline_kernels, &asked, read_kernel);
}

/* What runs in a part of the time may have been launched long before. Ids of
 * calls grow as the calls are made. */
static enum lab_status read_launches(struct load *l)
{
    struct asked asked = {.first = LAB_UNKNOWN, .last = LAB_UNKNOWN};
    const struct lab_device_time *d = l->b.device.items;
    for (int32_t i = 0; i < l->b.device.count; i++)
        lab_moments_widen(&asked.first, &asked.last, d[i].correlation,
                          d[i].correlation);
    if (asked.first == LAB_UNKNOWN)
        return LAB_OK;
    enum lab_status st =
        find_rows(l, "CUPTI_ACTIVITY_KIND_RUNTIME", "correlationId",
                  asked.first, asked.last, &asked.rows);
    return st ? st
              : read_rows(l, lab_sql_timeline_launches, &asked, read_launch);
}

/* What makes the iteration longer comes first. */
static enum lab_status read_all(struct load *l)
{
    enum lab_status st = lab_bench_names_load(&l->rungs, l->db, l->t->run);
    l->t->lab = l->rungs.count > 0;
    if (st == LAB_OK)
        st = read_owners(l);
    if (st == LAB_OK)
        st = read_steps(l);
    if (st == LAB_OK)
        st = read_table(l, "NVTX_EVENTS", lab_sql_timeline_ranges, read_range);
    if (st == LAB_OK)
        st = read_kernels(l);
    if (st == LAB_OK)
        st = read_table(l, "CUPTI_ACTIVITY_KIND_MEMCPY",
                        lab_sql_timeline_copies, read_copy);
    if (st == LAB_OK)
        st = read_table(l, "CUPTI_ACTIVITY_KIND_MEMSET", lab_sql_timeline_sets,
                        read_set);
    if (st == LAB_OK)
        st = read_table(l, "CUPTI_ACTIVITY_KIND_RUNTIME",
                        lab_sql_timeline_calls, read_call);
    if (st == LAB_OK && l->part)
        st = read_launches(l);
    return st ? st : lab_timeline_finish(&l->b);
}

enum lab_status lab_timeline_load(struct lab_timeline **out,
                                  struct lab_database *db, int64_t run,
                                  const struct lab_iteration_row *of,
                                  const struct lab_timeline_filter *filter)
{
    struct load l = {.db = db};
    enum lab_status st = lab_query_require_run(db, run);
    if (st)
        return st;
    l.t = lab_alloc(sizeof(*l.t));
    if (!l.t)
        return lab_no_memory("a timeline");
    l.b.t = l.t;
    l.b.most = filter && filter->most > 0 ? filter->most : LAB_TIMELINE_MOST;
    l.part = filter && filter->from_ns != LAB_UNKNOWN &&
             filter->to_ns != LAB_UNKNOWN;
    *l.t = (struct lab_timeline){.run = run, .of = *of};
    l.t->start_ns = of->start_ns;
    l.t->end_ns = of->end_ns;
    l.t->from_ns = l.part ? filter->from_ns : of->start_ns;
    l.t->to_ns = l.part ? filter->to_ns : of->end_ns;
    st = read_all(&l);
    lab_timeline_build_release(&l.b);
    lab_free(l.copies.items);
    lab_free(l.sets.items);
    lab_bench_names_release(&l.rungs);
    if (st) {
        lab_timeline_free(l.t);
        return st;
    }
    *out = l.t;
    return LAB_OK;
}
