#include "insert.h"

#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "insert_rows.h"
#include "trace/intern.h"

enum { ROW_KERNEL, ROW_MEMCPY, ROW_MEMSET };

/* "?1" is the run and "?2" the process; the columns of all rows follow from ?3
 * on. */
static enum lab_status prepare_rows(struct lab_insert *in,
                                    const struct lab_row_kind *kind, int rows,
                                    sqlite3_stmt **out)
{
    struct lab_str sql;
    int parameter = 3;
    enum lab_status st;
    lab_str_init(&sql);
    lab_str_addf(&sql, "INSERT %sINTO %s (runId", kind->fail ? "OR FAIL " : "",
                 kind->table);
    if (kind->also)
        lab_str_addf(&sql, ", %s", kind->also);
    for (int i = 0; i < kind->count; i++)
        lab_str_addf(&sql, ", \"%s\"", kind->columns[i].name);
    lab_str_add(&sql, ") VALUES ");
    for (int i = 0; i < rows; i++) {
        lab_str_add(&sql, i ? ",\n(?1" : "\n(?1");
        if (kind->also)
            lab_str_addf(&sql, ",%s", kind->also_value);
        for (int c = 0; c < kind->count; c++)
            lab_str_addf(&sql, ",?%d", parameter++);
        lab_str_add_char(&sql, ')');
    }
    lab_str_add(&sql, kind->tail ? kind->tail : "");
    if (sql.failed)
        st = lab_no_memory("a statement");
    else
        st = lab_database_prepare(in->db, lab_str_text(&sql), out);
    lab_str_release(&sql);
    if (st == LAB_OK) {
        sqlite3_bind_int64(*out, 1, in->run);
        if (sqlite3_bind_parameter_count(*out) >= 2)
            sqlite3_bind_int64(*out, 2, in->global_pid);
    }
    return st;
}

static enum lab_status step_once(struct lab_insert *in, sqlite3_stmt *stmt,
                                 const char *doing)
{
    enum lab_status st = LAB_OK;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        st = lab_database_error(in->db, doing);
    sqlite3_reset(stmt);
    return st;
}

/* Statements are made when the first row of their kind comes: a CPU run needs
 * few of them. */
static enum lab_status write_rows(struct lab_insert *in,
                                  enum lab_insert_table table)
{
    const struct lab_row_kind *kind = &lab_row_kinds[table];
    struct lab_bulk *bulk = &in->bulk[table];
    bool full = bulk->count == LAB_BULK;
    sqlite3_stmt **stmt = full ? &bulk->many : &bulk->one;
    int per_step = full ? LAB_BULK : 1;
    enum lab_status st = LAB_OK;
    if (bulk->count == 0)
        return LAB_OK;
    if (!*stmt)
        st = prepare_rows(in, kind, per_step, stmt);
    for (int i = 0; i < bulk->count && st == LAB_OK; i += per_step) {
        int first = 3;
        for (int j = 0; j < per_step && st == LAB_OK; j++) {
            st = lab_row_bind(in, kind, *stmt, first, &bulk->rows[i + j]);
            first += kind->count;
        }
        if (st == LAB_OK)
            st = step_once(in, *stmt, "storing a record");
    }
    bulk->count = 0;
    return st;
}

static enum lab_status add_row(struct lab_insert *in,
                               enum lab_insert_table table,
                               const struct lab_record *record, int64_t row)
{
    struct lab_bulk *bulk = &in->bulk[table];
    bulk->rows[bulk->count].record = *record;
    bulk->rows[bulk->count].row = row;
    if (++bulk->count < LAB_BULK)
        return LAB_OK;
    return write_rows(in, table);
}

static enum lab_status add_kernel(struct lab_insert *in,
                                  const struct lab_record *record)
{
    const struct lab_kernel_record *k = &record->u.kernel;
    int64_t row = in->next_row[ROW_KERNEL]++;
    if (!in->first_kernel_row)
        in->first_kernel_row = row;
    in->last_kernel_row = row;
    enum lab_status st = add_row(in, LAB_INTO_KERNEL, record, row);
    if (st == LAB_OK)
        st = add_row(in, LAB_INTO_OP_KERNEL, record, row);
    if (st || k->exec == LAB_UNKNOWN || k->exec == LAB_EXEC_BETWEEN)
        return st;
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN &&
                 (k->start_ns != 0 || k->end_ns != 0);
    const struct lab_exec_sum part = {
        .exec = k->exec,
        .time_ns = timed ? k->end_ns - k->start_ns : LAB_UNKNOWN,
        .count = 1,
        .first_row = row,
        .last_row = row,
    };
    return lab_exec_sums_add(&in->sums, &part);
}

static enum lab_status add_memory(struct lab_insert *in,
                                  const struct lab_record *record)
{
    bool set = record->kind == LAB_RECORD_MEMSET;
    int64_t exec = record->u.memcpy_.exec;
    int64_t row = in->next_row[set ? ROW_MEMSET : ROW_MEMCPY]++;
    enum lab_status st =
        add_row(in, set ? LAB_INTO_MEMSET : LAB_INTO_MEMCPY, record, row);
    if (st == LAB_OK && exec != LAB_UNKNOWN && exec != LAB_EXEC_BETWEEN)
        st = add_row(in, LAB_INTO_OP_MEMORY, record, row);
    return st;
}

/* The first range of a run brings the row that names the domain. */
static enum lab_status add_range(struct lab_insert *in,
                                 const struct lab_record *record)
{
    enum lab_status st = LAB_OK;
    if (!in->range_seen) {
        struct lab_record domain = *record;
        domain.u.range.level = LAB_RANGE_DOMAIN;
        domain.u.range.end_ns = LAB_UNKNOWN;
        domain.u.range.text = lab_intern("lapenna-lab");
        st = add_row(in, LAB_INTO_RANGE, &domain, 0);
        in->range_seen = true;
    }
    return st ? st : add_row(in, LAB_INTO_RANGE, record, 0);
}

enum lab_status lab_insert_record(struct lab_insert *in,
                                  const struct lab_record *record)
{
    switch (record->kind) {
    case LAB_RECORD_STEP:
        in->step_seen = true;
        return add_row(in, LAB_INTO_STEP, record, 0);
    case LAB_RECORD_KERNEL:
        return add_kernel(in, record);
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        return add_memory(in, record);
    case LAB_RECORD_API:
        return add_row(in, LAB_INTO_API, record, 0);
    case LAB_RECORD_SYNC:
        return add_row(in, LAB_INTO_SYNC, record, 0);
    case LAB_RECORD_RANGE:
        return add_range(in, record);
    case LAB_RECORD_OVERHEAD:
        return add_row(in, LAB_INTO_OVERHEAD, record, 0);
    case LAB_RECORD_LOSS:
        return add_row(in, LAB_INTO_LOSS, record, 0);
    case LAB_RECORD_METRIC:
        return add_row(in, LAB_INTO_METRIC, record, 0);
    case LAB_RECORD_MARK:
    case LAB_RECORD_KIND_COUNT:
        break;
    }
    return LAB_OK;
}

enum lab_status lab_insert_drain(struct lab_insert *in)
{
    enum lab_status st = LAB_OK;
    for (int t = 0; t < LAB_INTO_COUNT && st == LAB_OK; t++)
        st = write_rows(in, (enum lab_insert_table)t);
    return st;
}

/* A sum whose step is not stored yet stays for the next time. */
enum lab_status lab_insert_sums(struct lab_insert *in)
{
    struct lab_exec_sums waiting = {0};
    struct lab_exec_sums *sums = &in->sums;
    enum lab_status st = LAB_OK;
    if (sums->used == 0 || !in->step_seen)
        return LAB_OK;
    for (size_t i = 0; i < sums->places && st == LAB_OK; i++) {
        const struct lab_exec_sum *s = &sums->place[i];
        if (s->count == 0)
            continue;
        sqlite3_bind_int64(in->add_sum, 1, in->run);
        sqlite3_bind_int64(in->add_sum, 2, s->exec);
        lab_bind_int(in->add_sum, 3, s->time_ns);
        sqlite3_bind_int64(in->add_sum, 4, s->count);
        sqlite3_bind_int64(in->add_sum, 5, s->first_row);
        sqlite3_bind_int64(in->add_sum, 6, s->last_row);
        st = step_once(in, in->add_sum, "adding up kernel times");
        if (st == LAB_OK && sqlite3_changes(in->db->sql) == 0)
            st = lab_exec_sums_add(&waiting, s);
    }
    lab_exec_sums_release(sums);
    *sums = waiting;
    return st;
}

static enum lab_status grow_string_ids(struct lab_insert *in, uint32_t name)
{
    size_t want = in->n_string_ids ? in->n_string_ids : 256;
    while (want <= name)
        want *= 2;
    int64_t *ids = lab_realloc_array(in->string_ids, want, sizeof(*ids));
    if (!ids)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu names", want);
    memset(ids + in->n_string_ids, 0, (want - in->n_string_ids) * sizeof(*ids));
    in->string_ids = ids;
    in->n_string_ids = want;
    return LAB_OK;
}

enum lab_status lab_insert_string(struct lab_insert *in, uint32_t name,
                                  int64_t *out)
{
    enum lab_status st = LAB_OK;
    if (name >= in->n_string_ids)
        st = grow_string_ids(in, name);
    if (st)
        return st;
    if (in->string_ids[name] == 0) {
        const char *text = lab_intern_text(name);
        sqlite3_bind_text(in->find_string, 1, text, -1, SQLITE_STATIC);
        int rc = sqlite3_step(in->find_string);
        if (rc == SQLITE_ROW)
            in->string_ids[name] = sqlite3_column_int64(in->find_string, 0);
        else if (rc != SQLITE_DONE)
            st = lab_database_error(in->db, "looking for a name");
        sqlite3_reset(in->find_string);
        if (st == LAB_OK && rc == SQLITE_DONE) {
            sqlite3_bind_text(in->add_string, 1, text, -1, SQLITE_STATIC);
            st = step_once(in, in->add_string, "storing a name");
            if (st == LAB_OK)
                in->string_ids[name] = sqlite3_last_insert_rowid(in->db->sql);
        }
    }
    *out = in->string_ids[name];
    return st;
}

static const char add_sum_sql[] =
    "UPDATE step SET"
    " time_ns = CASE WHEN timeSource <> 2 THEN time_ns"
    "  WHEN kernelCount > 0 THEN time_ns + ?3 ELSE ?3 END,"
    " kernelCount = ifnull(kernelCount, 0) + ?4,"
    " kernelRowFirst = min(ifnull(kernelRowFirst, ?5), ?5),"
    " kernelRowLast = max(ifnull(kernelRowLast, ?6), ?6) "
    "WHERE runId = ?1 AND exec = ?2";

enum lab_status lab_insert_init(struct lab_insert *in, struct lab_database *db,
                                int64_t run)
{
    static const char *const last_row[3] = {
        "SELECT max(kernelRow) FROM CUPTI_ACTIVITY_KIND_KERNEL",
        "SELECT max(memcpyRow) FROM CUPTI_ACTIVITY_KIND_MEMCPY",
        "SELECT max(memsetRow) FROM CUPTI_ACTIVITY_KIND_MEMSET",
    };
    _Static_assert(LAB_TIME_CUPTI == 2, "add_sum_sql and ENUM_LAB_TIME_SOURCE");
    *in = (struct lab_insert){.db = db, .run = run};
    in->global_pid = (int64_t)getpid() << 24;
    enum lab_status st = lab_database_prepare(
        db, "SELECT id FROM StringIds WHERE value = ?1", &in->find_string);
    if (st == LAB_OK)
        st = lab_database_prepare(
            db, "INSERT INTO StringIds (value) VALUES (?1)", &in->add_string);
    if (st == LAB_OK)
        st = lab_database_prepare(db, add_sum_sql, &in->add_sum);
    for (int i = 0; i < 3 && st == LAB_OK; i++)
        st = lab_database_prepare(db, last_row[i], &in->last_row[i]);
    return st;
}

void lab_insert_release(struct lab_insert *in)
{
    for (int t = 0; t < LAB_INTO_COUNT; t++) {
        sqlite3_finalize(in->bulk[t].many);
        sqlite3_finalize(in->bulk[t].one);
    }
    sqlite3_finalize(in->find_string);
    sqlite3_finalize(in->add_string);
    sqlite3_finalize(in->add_sum);
    for (int i = 0; i < 3; i++)
        sqlite3_finalize(in->last_row[i]);
    lab_exec_sums_release(&in->sums);
    lab_free(in->string_ids);
    *in = (struct lab_insert){0};
}

/* Another process may have added rows since our last transaction. */
enum lab_status lab_insert_begin(struct lab_insert *in)
{
    enum lab_status st = lab_database_begin(in->db, "storing records");
    for (int i = 0; i < 3 && st == LAB_OK; i++) {
        if (sqlite3_step(in->last_row[i]) == SQLITE_ROW)
            in->next_row[i] = sqlite3_column_int64(in->last_row[i], 0) + 1;
        else
            st = lab_database_error(in->db, "storing records");
        sqlite3_reset(in->last_row[i]);
    }
    return st;
}

enum lab_status lab_insert_commit(struct lab_insert *in)
{
    enum lab_status st = lab_insert_drain(in);
    if (st == LAB_OK)
        st = lab_database_exec(in->db, "COMMIT", "storing records");
    return st;
}
