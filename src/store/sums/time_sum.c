#include "store/time_sum.h"

#include <math.h>
#include <string.h>

#include "db/row.h"
#include "sum_priv.h"

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
        t->kernels,     t->grid[0],  t->grid[1],  t->grid[2],
        t->block[0],    t->block[1], t->block[2], t->registers_per_thread,
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
        &t->kernels,     &t->grid[0],  &t->grid[1],  &t->grid[2],
        &t->block[0],    &t->block[1], &t->block[2], &t->registers_per_thread,
        &t->shared_bytes};
    for (size_t k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
        *facts[k] = lab_column_int(c);
    for (size_t k = 0; k < sizeof(reals) / sizeof(reals[0]); k++)
        *reals[k] = lab_column_real(c);
    for (size_t k = 0; k < sizeof(launch) / sizeof(launch[0]); k++)
        *launch[k] = lab_column_int(c);
    if (t->timed < 2) /* one time has no spread, whatever an older file says */
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
    struct lab_sum_row *row = lab_sum_find(table, key);
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
        lab_sum_table_release(&table);
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
    for (size_t i = 0; i < sums->count; i++)
        sums->items[i].rung =
            lab_bench_name_find(&sums->rungs, sums->items[i].step_index);
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
        st = lab_sum_build(db, run, &table, NULL);
    }
    if (st == LAB_OK)
        st = name_rows(db, &table, levels, out);
    if (st == LAB_OK)
        out->stored = summed == 1;
    lab_sum_table_release(&table);
    return st;
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
        st = lab_sum_build(db, run, &table, &index);
    if (st == LAB_OK)
        st = insert_rows(db, run, &table);
    if (st == LAB_OK)
        st = lab_index_store(&index, (int64_t)table.count);
    lab_index_release(&index);
    sqlite3_snprintf(sizeof(sql), sql,
                     "UPDATE run SET summed = 1 WHERE id = %lld", run);
    if (st == LAB_OK)
        st = lab_database_exec(db, sql, "storing the times of a run");
    lab_sum_table_release(&table);
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
