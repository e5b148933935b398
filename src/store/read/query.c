#include "store/delete.h"
#include "store/query.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/row.h"
#include "write/run_stored.h"

/* Whether the process that records a run is gone. Only this machine can say
 * so of its own processes. */
static bool recorder_is_gone(const char *host, int64_t pid, int64_t start)
{
    char here[256];
    lab_host_name(here, sizeof(here));
    if (!host || strcmp(host, here) != 0 || pid == LAB_UNKNOWN)
        return false;
    int64_t now = lab_process_start(pid);
    return now < 0 || (start != LAB_UNKNOWN && now != start);
}

static void read_machine(struct lab_columns *c, struct lab_run_row *r)
{
    r->id = lab_column_int(c);
    r->lesson = lab_column_text(c);
    r->lesson_path = lab_column_text(c);
    r->title = lab_column_text(c);
    r->backend = lab_column_text(c);
    r->device = lab_column_text(c);
    r->chip = lab_column_text(c);
    r->compute_capability = lab_column_text(c);
    r->sm_count = lab_column_int(c);
    r->driver = lab_column_text(c);
    r->runtime = lab_column_text(c);
    r->precision = lab_column_text(c);
    r->seed = (uint64_t)lab_column_int(c);
    r->batch = lab_column_int(c);
    r->iterations = lab_column_int(c);
    r->variants = lab_column_text(c);
    r->version = lab_column_text(c);
    r->commit = lab_column_text(c);
    r->hostname = lab_column_text(c);
    r->user = lab_column_text(c);
}

static void read_run(sqlite3_stmt *stmt, struct lab_run_row *r)
{
    struct lab_columns c = {stmt, 0};
    *r = (struct lab_run_row){0};
    read_machine(&c, r);
    int64_t pid = lab_column_int(&c);
    int64_t process_start = lab_column_int(&c);
    r->started = lab_column_text(&c);
    r->ended = lab_column_text(&c);
    r->started_ns = lab_column_int(&c);
    r->ended_ns = lab_column_int(&c);
    r->status = lab_column_text(&c);
    r->time_source = lab_column_text(&c);
    r->counters = lab_column_text(&c);
    r->counters_reason = lab_column_text(&c);
    r->ring_drops = lab_column_int(&c);
    r->ring_waits = lab_column_int(&c);
    r->ring_wait_ns = lab_column_int(&c);
    r->ring_high_water = lab_column_int(&c);
    r->write_errors = lab_column_int(&c);
    r->write_error = lab_column_text(&c);
    r->samples_per_s = lab_column_real(&c);
    r->iteration_median_ns = lab_column_int(&c);
    r->loss_first = lab_column_real(&c);
    r->loss_last = lab_column_real(&c);
    r->accuracy = lab_column_real(&c);
    r->rank = lab_column_int(&c);
    r->uuid = lab_column_text(&c);
    r->label = lab_column_text(&c);
    r->imported_from = lab_column_text(&c);
    r->imported = lab_column_text(&c);
    r->kind = lab_column_text(&c);
    r->trace_state = lab_column_text(&c);
    r->learning_rate = lab_column_real(&c);
    r->lesson_learning_rate = lab_column_real(&c);
    r->gpu_ns = lab_column_int(&c);
    if (r->status && strcmp(r->status, "running") == 0 &&
        recorder_is_gone(r->hostname, pid, process_start))
        r->status = lab_run_status_text(LAB_RUN_INTERRUPTED);
}

bool lab_run_lr_was_set(const struct lab_run_row *run)
{
    return run->learning_rate < run->lesson_learning_rate ||
           run->learning_rate > run->lesson_learning_rate;
}

const char *lab_run_lr_text(const struct lab_run_row *run,
                            char out[LAB_RUN_LR_TEXT])
{
    out[0] = '\0';
    if (lab_run_lr_was_set(run))
        snprintf(out, LAB_RUN_LR_TEXT, "%g (the lesson: %g)",
                 run->learning_rate, run->lesson_learning_rate);
    else if (!isnan(run->learning_rate))
        snprintf(out, LAB_RUN_LR_TEXT, "%g", run->learning_rate);
    return out;
}

/* run LAB_UNKNOWN: all of them. */
static enum lab_status query_runs(struct lab_database *db, int64_t run,
                                  lab_run_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    struct lab_run_row row;
    int rc;
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_add(&sql, lab_sql_runs);
    lab_str_add(&sql, LAB_SQL_NEWEST_FIRST);
    enum lab_status st =
        sql.failed ? lab_fail(LAB_E_NOMEM, "no memory for a query")
                   : lab_database_prepare(db, lab_str_text(&sql), &stmt);
    lab_str_release(&sql);
    if (st)
        return st;
    lab_bind_int(stmt, 1, run);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        read_run(stmt, &row);
        if (row.status && strcmp(row.status, "running") != 0)
            st = lab_run_fill_from_rows(db, &row);
        if (st || !each(user, &row))
            break;
    }
    if (st) {
        sqlite3_finalize(stmt);
        return st;
    }
    return lab_query_end(db, stmt, rc);
}

enum lab_status lab_query_runs(struct lab_database *db, lab_run_row_fn *each,
                               void *user)
{
    return query_runs(db, LAB_UNKNOWN, each, user);
}

enum lab_status lab_query_run(struct lab_database *db, int64_t run,
                              lab_run_row_fn *each, void *user)
{
    enum lab_status st = lab_query_require_run(db, run);
    return st ? st : query_runs(db, run, each, user);
}

enum lab_status lab_query_last_run(struct lab_database *db, int64_t *out)
{
    int64_t run;
    enum lab_status st = lab_database_int(
        db, "SELECT id FROM run" LAB_SQL_NEWEST_FIRST " LIMIT 1", LAB_UNKNOWN,
        &run);
    if (st)
        return st;
    if (run == LAB_UNKNOWN)
        return lab_fail(LAB_E_NOTFOUND, "%s: no run has been recorded yet",
                        db->path);
    *out = run;
    return LAB_OK;
}

enum lab_status lab_query_losses(struct lab_database *db, int64_t run,
                                 lab_loss_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    struct lab_loss_row row;
    int rc;
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_sql_losses, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_columns c = {stmt, 0};
        row.iteration = lab_column_int(&c);
        row.loss = lab_column_real(&c);
        row.accuracy = lab_column_real(&c);
        row.moment_ns = lab_column_int(&c);
        if (!each(user, &row))
            break;
    }
    return lab_query_end(db, stmt, rc);
}

struct delete_check {
    bool running;
};

static bool check_run(void *user, const struct lab_run_row *row)
{
    struct delete_check *check = user;
    check->running = row->status && strcmp(row->status, "running") == 0;
    return true;
}

/* The statements of delete_run.sql, one after the other. To find the names that
 * nothing uses any more takes a look at every row: 15 s for ten million
 * kernels. In such a database a few unused names stay. */
static enum lab_status delete_rows(struct lab_database *db, int64_t run,
                                   struct lab_deleted *out)
{
    enum { MANY_KERNELS = 1000000 };
    const char *sql = lab_sql_delete_run;
    int64_t kernels_there;
    enum lab_status st = lab_database_int(
        db, "SELECT max(kernelRow) FROM CUPTI_ACTIVITY_KIND_KERNEL", 0,
        &kernels_there);
    while (st == LAB_OK) {
        sqlite3_stmt *stmt = NULL;
        if (sqlite3_prepare_v2(db->sql, sql, -1, &stmt, &sql) != SQLITE_OK)
            return lab_database_error(db, "deleting a run");
        if (!stmt)
            break;
        const char *text = sqlite3_sql(stmt);
        bool names = sqlite3_bind_parameter_count(stmt) == 0;
        if (names && kernels_there > MANY_KERNELS) {
            sqlite3_finalize(stmt);
            break;
        }
        bool steps = strstr(text, "FROM step WHERE runId") && !names;
        bool kernels = strstr(text, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL");
        sqlite3_bind_int64(stmt, 1, run);
        if (sqlite3_step(stmt) != SQLITE_DONE)
            st = lab_database_error(db, "deleting a run");
        int64_t n = sqlite3_changes64(db->sql);
        out->steps += steps ? n : 0;
        out->kernels += kernels ? n : 0;
        out->rows += names ? 0 : n;
        sqlite3_finalize(stmt);
    }
    return st;
}

enum lab_status lab_run_delete(struct lab_database *db, int64_t run,
                               struct lab_deleted *out)
{
    struct delete_check check = {false};
    struct lab_deleted deleted = {0};
    enum lab_status st = lab_database_begin(db, "deleting a run");
    if (st)
        return st;
    st = lab_query_run(db, run, check_run, &check);
    if (st == LAB_OK && check.running)
        st = lab_fail(LAB_E_STATE,
                      "%s: run %lld is still being recorded; end that program "
                      "first",
                      db->path, (long long)run);
    if (st == LAB_OK)
        st = delete_rows(db, run, &deleted);
    if (st == LAB_OK)
        st = lab_database_exec(db, "COMMIT", "deleting a run");
    if (st) {
        lab_database_rollback(db);
        return st;
    }
    *out = deleted;
    return LAB_OK;
}

enum lab_status lab_database_free_bytes(struct lab_database *db, int64_t *out)
{
    return lab_database_int(db,
                            "SELECT freelist_count * page_size FROM "
                            "pragma_freelist_count, pragma_page_size",
                            0, out);
}

/* In WAL mode the shorter file is in the log until a checkpoint moves it. */
enum lab_status lab_database_vacuum(struct lab_database *db)
{
    enum lab_status st = lab_database_exec(db, "VACUUM", "making it smaller");
    return st ? st
              : lab_database_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)",
                                  "making it smaller");
}
