#include "store/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "row.h"

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

/* What executions must share to be one row; all by id. */
enum { KEY_INDEX, KEY_PHASE, KEY_NAME, KEY_VARIANT, KEY_BACKEND, KEYS };

struct group {
    int64_t key[KEYS];
    int64_t node;
    int64_t op;
    int64_t source;
    double flop;
    double bytes;
    int64_t kernels;
    int64_t count;
    int64_t *times;
    size_t timed;
    size_t room;
    char *texts[7]; /* phase, name, variant, backend, node, op, source */
    struct lab_step_row row;
};

struct groups {
    struct group *list;
    size_t count;
    size_t room;
    size_t last; /* where the row before was found */
};

static void groups_release(struct groups *g)
{
    for (size_t i = 0; i < g->count; i++) {
        for (int t = 0; t < 7; t++)
            lab_free(g->list[i].texts[t]);
        lab_free(g->list[i].times);
    }
    lab_free(g->list);
}

/* Steps come in the order of the schedule, so the group that follows the last
 * one is nearly always the right one. */
static struct group *find_group(struct groups *g, const int64_t *key)
{
    for (size_t i = 0; i < g->count; i++) {
        size_t at = (g->last + 1 + i) % g->count;
        if (memcmp(g->list[at].key, key, KEYS * sizeof(*key)) == 0) {
            g->last = at;
            return &g->list[at];
        }
    }
    if (g->count == g->room) {
        size_t room = g->room ? g->room * 2 : 64;
        struct group *list = lab_realloc_array(g->list, room, sizeof(*g->list));
        if (!list)
            return NULL;
        g->list = list;
        g->room = room;
    }
    g->last = g->count++;
    struct group *fresh = &g->list[g->last];
    *fresh = (struct group){0};
    memcpy(fresh->key, key, KEYS * sizeof(*key));
    return fresh;
}

static bool add_time(struct group *group, int64_t time_ns)
{
    if (time_ns == LAB_UNKNOWN)
        return true;
    if (group->timed == group->room) {
        size_t room = group->room ? group->room * 2 : 16;
        int64_t *times = lab_realloc_array(group->times, room, sizeof(*times));
        if (!times)
            return false;
        group->times = times;
        group->room = room;
    }
    group->times[group->timed++] = time_ns;
    return true;
}

static enum lab_status add_execution(struct groups *groups, sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    int64_t key[KEYS];
    for (int i = 0; i < KEYS; i++)
        key[i] = lab_column_int(&c);
    struct group *group = find_group(groups, key);
    if (!group)
        return lab_fail(LAB_E_NOMEM, "no memory for the steps of a run");
    group->node = lab_column_int(&c);
    group->op = lab_column_int(&c);
    group->source = lab_column_int(&c);
    int64_t time_ns = lab_column_int(&c);
    group->flop = lab_column_real(&c);
    group->bytes = lab_column_real(&c);
    group->kernels = lab_column_int(&c);
    group->count++;
    if (!add_time(group, time_ns))
        return lab_fail(LAB_E_NOMEM, "no memory for the times of a step");
    return LAB_OK;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_up(struct group *g)
{
    struct lab_step_row *r = &g->row;
    size_t n = g->timed;
    r->index = g->key[KEY_INDEX];
    r->count = g->count;
    r->timed = (int64_t)n;
    r->flop = g->flop;
    r->bytes = g->bytes;
    r->kernels = g->kernels;
    r->median_ns = r->min_ns = r->max_ns = r->total_ns = LAB_UNKNOWN;
    r->gflop_per_s = r->gbyte_per_s = NAN;
    if (n == 0)
        return;
    qsort(g->times, n, sizeof(*g->times), compare_times);
    r->total_ns = 0;
    for (size_t i = 0; i < n; i++)
        r->total_ns += g->times[i];
    r->min_ns = g->times[0];
    r->max_ns = g->times[n - 1];
    r->median_ns =
        g->times[(n - 1) / 2] + (g->times[n / 2] - g->times[(n - 1) / 2]) / 2;
    if (r->median_ns > 0) { /* flop per ns is Gflop per s */
        r->gflop_per_s = g->flop / (double)r->median_ns;
        r->gbyte_per_s = g->bytes / (double)r->median_ns;
    }
}

static enum lab_status load_text(struct lab_database *db, sqlite3_stmt *stmt,
                                 int64_t id, char **out)
{
    enum lab_status st = LAB_OK;
    if (id == LAB_UNKNOWN)
        return LAB_OK;
    sqlite3_bind_int64(stmt, 1, id);
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        *out = text ? lab_strdup(text) : NULL;
        if (text && !*out)
            st = lab_fail(LAB_E_NOMEM, "no memory for a name");
    } else if (rc != SQLITE_DONE) {
        st = lab_database_error(db, "reading a name");
    }
    sqlite3_reset(stmt);
    return st;
}

static enum lab_status load_texts(struct lab_database *db,
                                  sqlite3_stmt *const stmt[3], struct group *g)
{
    const int64_t ids[7] = {g->key[KEY_PHASE],
                            g->key[KEY_NAME],
                            g->key[KEY_VARIANT],
                            g->key[KEY_BACKEND],
                            g->node,
                            g->op,
                            g->source};
    enum lab_status st = LAB_OK;
    for (int t = 0; t < 7 && st == LAB_OK; t++)
        st = load_text(db,
                       stmt[t == 0   ? 0
                            : t == 6 ? 2
                                     : 1],
                       ids[t], &g->texts[t]);
    g->row.phase = g->texts[0];
    g->row.name = g->texts[1];
    g->row.variant = g->texts[2];
    g->row.backend = g->texts[3];
    g->row.node = g->texts[4];
    g->row.op = g->texts[5];
    g->row.time_source = g->texts[6];
    return st;
}

static enum lab_status name_groups(struct lab_database *db, struct groups *g)
{
    static const char *const sql[3] = {
        "SELECT name FROM ENUM_LAB_PHASE WHERE id = ?1",
        "SELECT value FROM StringIds WHERE id = ?1",
        "SELECT name FROM ENUM_LAB_TIME_SOURCE WHERE id = ?1",
    };
    sqlite3_stmt *stmt[3] = {NULL, NULL, NULL};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < 3 && st == LAB_OK; i++)
        st = lab_database_prepare(db, sql[i], &stmt[i]);
    for (size_t i = 0; i < g->count && st == LAB_OK; i++)
        st = load_texts(db, stmt, &g->list[i]);
    for (int i = 0; i < 3; i++)
        sqlite3_finalize(stmt[i]);
    return st;
}

/* A number or a text to sort by; NaN and NULL when it is unknown. */
static double sort_number(const struct group *g, enum lab_step_sort sort)
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
        v = g->key[KEY_PHASE];
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

struct order {
    enum lab_step_sort sort;
    int sign; /* -1: descending */
};

static int compare_groups(const void *a, const void *b, void *user)
{
    const struct group *x = a;
    const struct group *y = b;
    const struct order *order = user;
    int by = 0;
    if (order->sort == LAB_STEP_BY_NAME || order->sort == LAB_STEP_BY_VARIANT) {
        bool name = order->sort == LAB_STEP_BY_NAME;
        const char *s = name ? x->row.name : x->row.variant;
        const char *t = name ? y->row.name : y->row.variant;
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
    for (int k = 0; k < KEYS && by == 0; k++)
        by = (x->key[k] > y->key[k]) - (x->key[k] < y->key[k]);
    return by;
}

static enum lab_status read_groups(struct lab_database *db, int64_t run,
                                   struct groups *groups)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(db, lab_sql_steps, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = add_execution(groups, stmt);
    enum lab_status end = lab_query_end(db, stmt, rc);
    if (st == LAB_OK)
        st = end;
    return st ? st : name_groups(db, groups);
}

enum lab_status lab_query_steps(struct lab_database *db, int64_t run,
                                enum lab_step_sort sort, bool descending,
                                lab_step_row_fn *each, void *user)
{
    struct groups groups = {0};
    struct order order = {sort, descending ? -1 : 1};
    if ((unsigned)sort >= LAB_STEP_SORT_COUNT)
        return lab_fail(LAB_E_ARG, "steps have no such column to sort by");
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = read_groups(db, run, &groups);
    if (st == LAB_OK && groups.count > 0) {
        for (size_t i = 0; i < groups.count; i++)
            add_up(&groups.list[i]);
        qsort_r(groups.list, groups.count, sizeof(*groups.list), compare_groups,
                &order);
        for (size_t i = 0; i < groups.count; i++)
            if (!each(user, &groups.list[i].row))
                break;
    }
    groups_release(&groups);
    return st;
}
