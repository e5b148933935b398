/* What a file holds that is imported: its tables, their columns, and whether
 * the values are what they should be. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "import_priv.h"

/* ---- what is there ---- */

enum lab_status lab_import_has_table(struct lab_import *in, const char *name,
                                     bool *out)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        in->db,
        "SELECT type = 'table' AND rootpage > 0 FROM src.sqlite_master WHERE "
        "name = ?1 COLLATE NOCASE AND type IN ('table', 'view')",
        &stmt);
    if (st)
        return st;
    lab_bind_text(stmt, 1, name);
    int rc = sqlite3_step(stmt);
    bool real = rc == SQLITE_ROW && sqlite3_column_int(stmt, 0);
    st = lab_query_end(in->db, stmt, rc);
    if (st == LAB_OK && rc == SQLITE_ROW && !real)
        st = lab_fail(LAB_E_DB, "%s: %s is a view, or virtual: refused",
                      in->path, name);
    *out = real;
    return st;
}

enum lab_status lab_import_column(struct lab_import *in, const char *table,
                                  const char *name, bool *out)
{
    char sql[128];
    sqlite3_stmt *stmt;
    int rc;
    bool hidden = false;
    sqlite3_snprintf(sizeof(sql), sql, "PRAGMA src.table_xinfo(%s)", table);
    enum lab_status st = lab_database_prepare(in->db, sql, &stmt);
    *out = false;
    if (st)
        return st;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *is = (const char *)sqlite3_column_text(stmt, 1);
        if (!is || sqlite3_stricmp(is, name) != 0)
            continue;
        *out = true;
        hidden = sqlite3_column_int(stmt, 6) != 0;
    }
    st = lab_query_end(in->db, stmt, rc);
    if (st == LAB_OK && hidden)
        st = lab_fail(LAB_E_DB, "%s: the column %s of %s is computed: refused",
                      in->path, name, table);
    return st;
}

enum lab_status lab_import_find_table(struct lab_import *in, const char *name,
                                      int since, bool *there)
{
    enum lab_status st = lab_import_has_table(in, name, there);
    if (st == LAB_OK && !*there && !in->nsys && in->schema >= since)
        st = lab_fail(LAB_E_DB,
                      "%s: it has no table %s, which every database of schema "
                      "%d has: refused",
                      in->path, name, (int)in->schema);
    return st;
}

/* ---- columns and their values ---- */

bool lab_import_next_column(struct lab_import_columns *c)
{
    static const char kinds[] = {
        [LAB_FIELD_INT] = 'i', [LAB_FIELD_TEXT] = 't', [LAB_FIELD_REAL] = 'r'};
    if (c->fields) {
        if (c->next == c->fields->count)
            return false;
        const struct lab_field *f = &c->fields->list[c->next++];
        c->kind = kinds[f->kind];
        snprintf(c->name, sizeof(c->name), "%s", f->column);
        return true;
    }
    if (!*c->list)
        return false;
    c->kind = *c->list++;
    int n = (int)strcspn(c->list, " ");
    snprintf(c->name, sizeof(c->name), "%.*s", n, c->list);
    c->list += n + (c->list[n] == ' ');
    return true;
}

/* What is wrong with a value of a kind, as SQL; %1$s is the column. */
static void add_complaint(struct lab_str *sql, char kind, const char *column)
{
    switch (kind) {
    case 'r':
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('real','integer','null')",
                     column);
        break;
    case 't':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('text','null') OR "
                     "length(\"%s\") > %d",
                     column, column, LAB_IMPORT_MOST_BYTES);
        break;
    case 'm': /* so that sums and differences have room */
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('integer','null') OR \"%s\" NOT "
                     "BETWEEN -0x1FFFFFFFFFFFFFFF AND 0x1FFFFFFFFFFFFFFF",
                     column, column);
        break;
    case 'p':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('integer','null') OR \"%s\" NOT "
                     "BETWEEN 0 AND 3",
                     column, column);
        break;
    case 'K':
    case 'C':
    case 'S':
        lab_str_addf(sql,
                     "typeof(\"%s\") NOT IN ('integer','null') OR \"%s\" NOT "
                     "BETWEEN 1 AND 0x1FFFFFFFFFFFFF",
                     column, column);
        break;
    case 'a':
        lab_str_add(sql, "0");
        break;
    default:
        lab_str_addf(sql, "typeof(\"%s\") NOT IN ('integer','null')", column);
    }
}

/* The first text that is too long: SQLite does not say where it found it. It is
 * measured, and for that read, without the limit. */
static enum lab_status blame_long_text(struct lab_import *in, const char *table,
                                       struct lab_import_columns columns)
{
    sqlite3_stmt *stmt;
    enum lab_status st = LAB_OK;
    bool there;
    int limit = sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, INT_MAX);
    while (st == LAB_OK && lab_import_next_column(&columns)) {
        char sql[256];
        if (columns.kind != 't')
            continue;
        st = lab_import_column(in, table, columns.name, &there);
        if (st || !there)
            continue;
        sqlite3_snprintf(sizeof(sql), sql,
                         "SELECT rowid FROM src.%s WHERE length(CAST(\"%w\" AS "
                         "BLOB)) > %d LIMIT 1",
                         table, columns.name, LAB_IMPORT_MOST_BYTES);
        st = lab_database_prepare(in->db, sql, &stmt);
        if (st)
            break;
        int rc = sqlite3_step(stmt);
        if (rc == SQLITE_ROW)
            st = lab_fail(LAB_E_DB,
                          "%s: the text %s.%s of row %lld is longer than %d "
                          "bytes: refused",
                          in->path, table, columns.name,
                          (long long)sqlite3_column_int64(stmt, 0),
                          LAB_IMPORT_MOST_BYTES);
        enum lab_status end = lab_query_end(in->db, stmt, rc);
        st = st ? st : end;
    }
    sqlite3_limit(in->db->sql, SQLITE_LIMIT_LENGTH, limit);
    return st ? st
              : lab_fail(LAB_E_DB,
                         "%s: a value of %s is longer than %d bytes: "
                         "refused",
                         in->path, table, LAB_IMPORT_MOST_BYTES);
}

static enum lab_status check_values(struct lab_import *in, const char *table,
                                    struct lab_import_columns columns,
                                    struct lab_str *sql)
{
    sqlite3_stmt *stmt;
    enum lab_status st = LAB_OK;
    lab_str_addf(sql, " END AS bad FROM src.%s WHERE bad IS NOT NULL LIMIT 1",
                 table);
    if (sql->failed)
        return lab_no_memory("a query");
    st = lab_database_prepare(in->db, lab_str_text(sql), &stmt);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    if ((rc & 0xFF) == SQLITE_TOOBIG) {
        sqlite3_finalize(stmt);
        return blame_long_text(in, table, columns);
    }
    if (rc == SQLITE_ROW)
        st = lab_fail(LAB_E_DB,
                      "%s: a value of %s.%s is not what it should be (its "
                      "type or its range): refused",
                      in->path, table,
                      (const char *)sqlite3_column_text(stmt, 0));
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

enum lab_status lab_import_check_columns(struct lab_import *in,
                                         const char *table,
                                         struct lab_import_columns columns)
{
    struct lab_import_columns all = columns;
    struct lab_str sql;
    bool there;
    bool any = false;
    enum lab_status st = LAB_OK;
    lab_str_init(&sql);
    lab_str_add(&sql, "SELECT CASE");
    while (st == LAB_OK && lab_import_next_column(&columns)) {
        st = lab_import_column(in, table, columns.name, &there);
        if (st || !there)
            continue;
        any = true;
        lab_str_add(&sql, " WHEN ");
        add_complaint(&sql, columns.kind, columns.name);
        lab_str_addf(&sql, " THEN '%s'", columns.name);
    }
    if (st == LAB_OK && any)
        st = check_values(in, table, all, &sql);
    lab_str_release(&sql);
    return st;
}
