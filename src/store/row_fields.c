#include "store/row_fields.h"

#include "row.h"

static const void *member(const void *row, const struct lab_field *f)
{
    return (const char *)row + f->at;
}

static void add_columns(struct lab_str *sql, const struct lab_fields *fields)
{
    for (int i = 0; i < fields->count; i++)
        lab_str_addf(sql, "%s%s", i ? ", " : "", fields->list[i].column);
}

static enum lab_status prepare(struct lab_database *db, struct lab_str *sql,
                               int64_t run, sqlite3_stmt **out)
{
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK && sql->failed)
        st = lab_fail(LAB_E_NOMEM, "no memory for a query");
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_str_text(sql), out);
    lab_str_release(sql);
    if (st == LAB_OK)
        sqlite3_bind_int64(*out, 1, run);
    return st;
}

enum lab_status lab_fields_add(struct lab_database *db, int64_t run,
                               const struct lab_fields *fields, const void *row)
{
    sqlite3_stmt *stmt;
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql, "INSERT INTO %s (runId, ", fields->table);
    add_columns(&sql, fields);
    lab_str_add(&sql, ") VALUES (?1");
    for (int i = 0; i < fields->count; i++)
        lab_str_addf(&sql, ", ?%d", i + 2);
    lab_str_add(&sql, ")");
    enum lab_status st = prepare(db, &sql, run, &stmt);
    if (st)
        return st;
    for (int i = 0; i < fields->count; i++) {
        const void *m = member(row, &fields->list[i]);
        if (fields->list[i].kind == LAB_FIELD_INT)
            lab_bind_int(stmt, i + 2, *(const int64_t *)m);
        else if (fields->list[i].kind == LAB_FIELD_TEXT)
            lab_bind_text(stmt, i + 2, *(const char *const *)m);
        else
            lab_bind_real(stmt, i + 2, *(const double *)m);
    }
    return lab_query_end(db, stmt, sqlite3_step(stmt));
}

static void read_row(sqlite3_stmt *stmt, const struct lab_fields *fields,
                     void *row)
{
    struct lab_columns c = {.stmt = stmt};
    for (int i = 0; i < fields->count; i++) {
        void *m = (char *)row + fields->list[i].at;
        if (fields->list[i].kind == LAB_FIELD_INT)
            *(int64_t *)m = lab_column_int(&c);
        else if (fields->list[i].kind == LAB_FIELD_TEXT)
            *(const char **)m = lab_column_text(&c);
        else
            *(double *)m = lab_column_real(&c);
    }
}

enum lab_status lab_fields_read(struct lab_database *db, int64_t run,
                                const struct lab_fields *fields,
                                lab_fields_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    struct lab_str sql;
    int rc = SQLITE_DONE;
    bool more = true;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT ");
    add_columns(&sql, fields);
    lab_str_addf(&sql, " FROM %s WHERE runId = ?1 ORDER BY %s", fields->table,
                 fields->order);
    enum lab_status st = prepare(db, &sql, run, &stmt);
    if (st)
        return st;
    void *row = lab_alloc(fields->row_bytes);
    if (!row) {
        sqlite3_finalize(stmt);
        return lab_fail(LAB_E_NOMEM, "no memory for a row");
    }
    while (more && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        read_row(stmt, fields, row);
        more = each(user, row);
    }
    st = lab_query_end(db, stmt, more ? rc : SQLITE_DONE);
    lab_free(row);
    return st;
}
